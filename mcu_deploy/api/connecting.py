"""`connect`: a build on a device, for a notebook: numpy in, numpy out, open from cell to cell."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from mcu_deploy.api.folder import AnyFolder, BuildFolder, as_folder
from mcu_deploy.api.running import Connection, explained, open_device, where
from mcu_deploy.api.tensors import Batch, Tensor, join
from mcu_deploy.device import Device, DeviceFault
from mcu_deploy.errors import RequestError
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.samples import extent
from mcu_deploy.report import NetworkReport
from mcu_deploy.report.tables import Table, Tabled


class RunningNetwork:
    """A network on a device. inputs, outputs: its tensors, in the model's order."""

    def __init__(self, device: OpenDevice, entry: NetworkReport) -> None:
        self._device, self._entry = device, entry
        self.name = entry.name
        self.inputs = tuple(map(Tensor.of, entry.inputs))
        self.outputs = tuple(map(Tensor.of, entry.outputs))

    def run(self, *inputs: npt.ArrayLike, **named: npt.ArrayLike) -> Array | dict[str, Array]:
        """Runs the network; returns its output, or where it has several a dict of them by name.

        inputs: in the model's order, or by name (`**{"x:0": x}` for names that Python lacks). Each
        is one sample, or a batch of as many as the others: with an axis in front that counts
        samples, or along the first axis of a tensor that has size 1 there. They are run one after
        the other, and the outputs are joined in the same way. States go on from run to run.

        Where each run decides a size, it is that of the arrays.

        RequestError: inputs that do not fit. DeviceError: the device is silent or faulted, with
        the cause and the layer; it is started anew by the next run.
        """
        given = self._ordered(inputs, named)
        tensors = self._tensors_for(given)
        made = [tensor.samples(array) for tensor, array in zip(tensors, given, strict=True)]
        shapes = {(len(array), batch) for array, batch in made}
        if len(shapes) > 1:
            said = ", ".join(
                f"{tensor.called} {len(array)}"
                for tensor, (array, _) in zip(tensors, made, strict=True)
            )
            raise RequestError(
                f"The inputs of {self.name} differ in their number of samples, or in the axis that "
                f"counts them ({said}). Give as many of each, in the same way."
            )
        count, batch = shapes.pop() if shapes else (1, Batch.NONE)
        # Lanes run at once only where no hook watches.
        bare = bool(self._entry.lanes)
        results = self._device.infer(
            self.name, [[array[s] for array, _ in made] for s in range(count)], bare
        )
        joined = [join(samples, batch) for samples in zip(*results, strict=True)]
        if len(joined) == 1:
            return joined[0]
        return dict(zip((tensor.name for tensor in self.outputs), joined, strict=True))

    def reset_states(self) -> None:
        """Gives every state its initial value."""
        self._device.line.reset_states(self.name)

    def _tensors_for(self, given: Sequence[npt.ArrayLike]) -> Sequence[Tensor]:
        """The inputs, of the size that these arrays have where each run decides one."""
        model = self._device.line.model(self.name)
        if model.size is None:
            return self.inputs
        self._device.make_ready()
        rank = len(model.inputs[model.size.input].shape)
        size = extent(np.shape(given[model.size.input]), rank, model.size.axis)
        if size is not None:
            model = self._device.line.resize(self.name, size)
        pairs = zip(self.inputs, model.inputs, strict=True)
        return [replace(tensor, shape=info.shape) for tensor, info in pairs]

    def _ordered(
        self, inputs: Sequence[npt.ArrayLike], named: dict[str, npt.ArrayLike]
    ) -> list[npt.ArrayLike]:
        names = [tensor.name for tensor in self.inputs]
        rest = names[len(inputs) :]
        if len(inputs) > len(names) or set(named) != set(rest):
            wants = ", ".join(f"{tensor.called} ({tensor})" for tensor in self.inputs)
            got = ", ".join([f"{len(inputs)} by place", *map(repr, named)])
            raise RequestError(
                f"{self.name} takes {wants}; {got} were given. Give each input once."
            )
        return [*inputs, *(named[name] for name in rest)]

    def __str__(self) -> str:
        takes, gives = (
            ", ".join(f"{tensor.called} {tensor}" for tensor in tensors)
            for tensors in (self.inputs, self.outputs)
        )
        return f"{self.name} takes {takes}, gives {gives}"

    def __repr__(self) -> str:
        return f"<{self}>"


class OpenDevice(Tabled):
    """A device with the networks of a build, made by `connect`; a context manager, used by one
    thread.

    line: the device as the serial protocol has it, for kept tensors, states and partitions.
    networks: by name. where: what they run on, and why, in a sentence.
    """

    def __init__(self, folder: BuildFolder, connection: Connection) -> None:
        self._folder = folder
        self._faulted = False
        self.where = where(folder, connection)
        stack = ExitStack()
        self.line: Device = stack.enter_context(open_device(folder, connection))
        # Also at the end of the program, or when a notebook forgets the device.
        self.close = weakref.finalize(self, stack.close)
        for entry in folder.networks:
            if entry.states:
                self.line.reset_states(entry.name)
        self.networks = {entry.name: RunningNetwork(self, entry) for entry in folder.networks}

    def __enter__(self) -> OpenDevice:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __getitem__(self, name: str) -> RunningNetwork:
        """The network of that name; RequestError where there is none."""
        if name in self.networks:
            return self.networks[name]
        raise RequestError(f"The device runs {', '.join(self.networks)}, and no {name!r}.")

    def run(self, *inputs: npt.ArrayLike, **named: npt.ArrayLike) -> Array | dict[str, Array]:
        """Runs the only network there is (RunningNetwork.run); of several, say which:
        `device["kws"].run(...)`."""
        if len(self.networks) > 1:
            names = ", ".join(self.networks)
            raise RequestError(
                f"The device runs {names}. Say which: device[{next(iter(self.networks))!r}].run()."
            )
        (network,) = self.networks.values()
        return network.run(*inputs, **named)

    def make_ready(self) -> None:
        """Waits for a device that has faulted to start anew. RequestError where it is closed."""
        if not self.close.alive:
            raise RequestError(
                f"The device that ran {self._folder.directory} is closed. Connect again."
            )
        if self._faulted:
            self.line.await_restart()
            self._faulted = False

    def infer(
        self, network: str, samples: Sequence[Sequence[Array]], bare: bool
    ) -> list[list[Array]]:
        """The outputs of each sample, of arrays with the tensors' very types and shapes."""
        self.make_ready()
        try:
            with explained(self._folder):
                return [self.line.infer(network, list(inputs), bare=bare) for inputs in samples]
        except BaseException as error:
            # Ctrl-C stops a run on the device by a fault, too.
            self._faulted = isinstance(error.__cause__, DeviceFault) or not isinstance(
                error, Exception
            )
            raise

    def table(self) -> Table:
        rows = [
            (network.name, kind, tensor.name, str(tensor), *_scaling(tensor))
            for network in self.networks.values()
            for kind, tensors in (("input", network.inputs), ("output", network.outputs))
            for tensor in tensors
        ]
        numbers = ("scale", "zero point")
        columns = ("network", "", "tensor", "type", *numbers)
        title = self._folder.board.title
        return Table(title, columns, tuple(rows), frozenset(numbers), (self.where,))

    def __repr__(self) -> str:
        networks = "; ".join(map(str, self.networks.values()))
        return f"<{self._folder.board.name}: {networks}{'' if self.close.alive else ', closed'}>"


def _scaling(tensor: Tensor) -> tuple[str, str]:
    if tensor.scale is None:
        return "", ""
    return f"{tensor.scale:.6g}", str(tensor.zero_point)


def connect(
    build: AnyFolder,
    *,
    port: str | None = None,
    baud: int | None = None,
    emulator: str | None = None,
    arguments: Sequence[str] = (),
    latency: float | None = None,
    retries: int | None = None,
    run_timeout: float | None = None,
) -> OpenDevice:
    """Connects to the device that runs a build, and to no other firmware.

    build: a build folder, or what `mcu_deploy.build` returned. port: a serial device node, a URL of
    pyserial, or "auto" for the port with the board's USB id; without one an emulator is started,
    that which `emulator` names ("qemu", "renode") or the best for the board. The rest: see
    `Connection`. What comes back is a context manager; a notebook may also keep it from cell to
    cell and call its close().

    Raises UsageError (no build folder, no such port or emulator), ToolError (the emulator) or
    DeviceError (no answer, or another firmware), each with a sentence.
    """
    if isinstance(build, str) and (build.startswith("/dev/") or "://" in build):
        raise RequestError(
            f"{build} is a port. Name the build that the device runs, too: connect(BUILD, "
            f"port={build!r})."
        )
    connection = Connection(port, baud, emulator, tuple(arguments), latency, retries, run_timeout)
    return OpenDevice(as_folder(build), connection)
