"""A device that runs the test firmware, as an object: models, tensors, runs.

with connect("socket://127.0.0.1:5000", expect=[expected]) as device:
    (scores,) = device.infer("kws", [sample])
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcu_deploy.device.line import messages
from mcu_deploy.device.line.codes import Capability, CounterKind, Provoke, RunFlag, TensorKind, Type
from mcu_deploy.device.line.framing import PROTOCOL_VERSION
from mcu_deploy.device.line.link import EventHandler, Link
from mcu_deploy.device.line.messages import Hello, LayerCrc, RunResult, TensorInfo
from mcu_deploy.device.line.models import (
    ModelInfo,
    Signature,
    describe,
    find_tensor,
    pack_array,
    unpack_array,
)
from mcu_deploy.device.line.transfers import read_tensor, write_state, write_tensor
from mcu_deploy.device.line.transport import LineClosed
from mcu_deploy.device.line.watching import LayerCrcs, LayerTimes, Watch
from mcu_deploy.device.line.wire import DeviceRestarted, other_version
from mcu_deploy.errors import DeviceError, RequestError

Array = NDArray[np.generic]

_RUN_ATTEMPTS = 20
"""Runs until every layer's event has arrived once, on a line that loses some."""


@dataclass(frozen=True)
class ProfiledRun:
    """What each layer cost: the least of the repetitions, in units of `counter_kind`."""

    counter_kind: CounterKind
    layers: tuple[int, ...]
    run: RunResult


class Device:
    """An open device; made by `connect`, a context manager, used by one thread.

    A model is named by its index or its name. Inputs and outputs are numpy arrays with the very
    dtype and shape that `models[i].inputs[j]` say. Every method may raise DeviceError: no answer,
    with a diagnosis; DeviceFault: the processor stopped; ProtocolError: the device refused.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._crcs: dict[tuple[int, int | None], dict[int, int]] = {}
        self.hello: Hello
        self.models: tuple[ModelInfo, ...]
        self._greet()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the line."""
        self._link.transport.close()

    @property
    def resent(self) -> int:
        """How many requests had to be repeated so far: 0 on a good line."""
        return self._link.resent

    def model(self, model: int | str) -> ModelInfo:
        """The model of that index or name; UsageError where the device has none."""
        for info in self.models:
            if model in (info.index, info.name):
                return info
        names = ", ".join(info.name for info in self.models) or "none at all"
        raise RequestError(f"The device has no model {model!r}; it has {names}.")

    def write_input(
        self, model: int | str, index: int, data: bytes, *, partition: int | str | None = None
    ) -> None:
        """Writes a whole input, of a partition if one is named.

        UsageError where the size is not the tensor's.
        """
        run = self.signature(model, partition)
        tensor = _tensor(run.inputs, index, f"{run.called} has no input {index}")
        if len(data) != tensor.bytes:
            raise RequestError(
                f"Input {tensor.name!r} of {run.called} has {tensor.bytes} bytes, {len(data)} "
                f"were given; give {tensor.dtype} of shape {tensor.shape}."
            )
        write_tensor(self._link, run.input(index), data)
        self._crcs.setdefault(run.key, {})[index] = zlib.crc32(data)

    def write_inputs(
        self, model: int | str, inputs: Sequence[Array], partition: int | str | None = None
    ) -> None:
        """Writes all inputs: arrays as the descriptor has them.

        Of a model whose size each run decides they may have any size that it has (`resize`).
        """
        if partition is None:
            self._fit(self.model(model), inputs)
        run = self.signature(model, partition)
        if len(inputs) != len(run.inputs):
            raise RequestError(
                f"{run.called[0].upper()}{run.called[1:]} takes {len(run.inputs)} inputs, "
                f"{len(inputs)} were given."
            )
        for index, (array, tensor) in enumerate(zip(inputs, run.inputs, strict=True)):
            data = pack_array(tensor, array, f"Input {tensor.name!r} of {run.called}")
            self.write_input(model, index, data, partition=partition)

    def read_output(
        self, model: int | str, index: int, *, partition: int | str | None = None
    ) -> bytes:
        """Reads a whole output of the last run."""
        run = self.signature(model, partition)
        _tensor(run.outputs, index, f"{run.called} has no output {index}")
        return read_tensor(self._link, run.output(index))

    def resize(self, model: int | str, size: int) -> ModelInfo:
        """Sets the size of the next runs of a model that lets each decide one; what it is then.

        `inputs` and `outputs` of the result, and of `models`, are those of this size. What the
        last run left can be read no more, where it was another. UsageError where the model has no
        such size.
        """
        info = self.model(model)
        if size == info.size_of(info.inputs):
            return info
        info = info.at(size, self._ask)
        self.models = tuple(info if m.index == info.index else m for m in self.models)
        self._crcs.pop((info.index, None), None)
        return info

    def kept(self, model: int | str, name: str) -> Array:
        """A kept tensor, as the last run that computes it has left it."""
        info = self.model(model)
        return self._read_array(info, info.kept, TensorKind.KEPT, name, "kept tensor")

    def state(self, model: int | str, name: str) -> Array:
        """A state, as it is between two runs."""
        info = self.model(model)
        return self._read_array(info, info.states, TensorKind.STATE, name, "state")

    def set_state(self, model: int | str, name: str, value: Array) -> None:
        """Replaces a state."""
        info = self.model(model)
        index = find_tensor(info.states, name, f"Model {info.name} has no state {name!r}")
        data = pack_array(info.states[index], value, f"State {name!r} of model {info.name}")
        write_state(self._link, messages.pack_tensor(info.index, TensorKind.STATE, index), data)

    def reset_states(self, model: int | str) -> None:
        """Gives every state of a model its initial value."""
        info = self.model(model)
        self._link.request(Type.RESET_STATE, info.index.to_bytes(2, "little"))
        self._crcs.clear()

    def signature(self, model: int | str, partition: int | str | None = None) -> Signature:
        """What is run: a model, or one of its partitions by index or name."""
        return Signature.of(self.model(model), partition)

    def tensor_crc(self, model: int | str, kind: TensorKind, index: int, output: int = 0) -> int:
        """The CRC-32 of a tensor as it is in the device's memory now."""
        reference = messages.pack_tensor(self.model(model).index, kind, index, output)
        return messages.unpack_crc(self._link.request(Type.TENSOR_CRC, reference))[0]

    def run(
        self,
        model: int | str,
        *,
        repeat: int = 1,
        stop_after: int | None = None,
        partition: int | str | None = None,
        bare: bool = False,
    ) -> RunResult:
        """Runs the network, or one partition, on the inputs that are written; they are gone then.

        repeat: so many times, to measure; the outputs are of use only if `outputs_valid`.
        stop_after: ends after that layer, so that its outputs can be read. bare: without the hook
        that gives signs of life, as an application runs it; lanes run at once only so.
        """
        flags = RunFlag(0) if stop_after is None else RunFlag.STOP_AFTER
        flags |= RunFlag.BARE if bare else RunFlag(0)
        return self._run(self.signature(model, partition), flags, repeat, stop_after or 0)

    def infer(
        self,
        model: int | str,
        inputs: Sequence[Array],
        *,
        partition: int | str | None = None,
        bare: bool = False,
    ) -> list[Array]:
        """Writes the inputs, runs, reads the outputs: arrays as the descriptor has them."""
        self.write_inputs(model, inputs, partition)
        self.run(model, partition=partition, bare=bare)
        return self.outputs(model, partition=partition)

    def outputs(self, model: int | str, *, partition: int | str | None = None) -> list[Array]:
        """Every output of the last run."""
        run = self.signature(model, partition)
        return [
            unpack_array(tensor, self.read_output(model, i, partition=partition))
            for i, tensor in enumerate(run.outputs)
        ]

    def watch(
        self, model: int | str, inputs: Sequence[Array]
    ) -> tuple[tuple[LayerCrc, ...], RunResult]:
        """Runs the network and returns the CRC-32 of each output of each layer, in order.

        Of a layer that runs several times the last, of one in a branch that is not taken none. With
        them comes the result of the run, whose outputs can be read afterwards.
        """
        crcs = LayerCrcs()
        result = self._watch(self.model(model), inputs, crcs, 1)
        return crcs.in_order(), result

    def read_layer_output(
        self, model: int | str, inputs: Sequence[Array], layer: int, output: int = 0
    ) -> bytes:
        """Runs the network up to the end of `layer` and reads output number `output` of it."""
        info = self.model(model)
        self.write_inputs(model, inputs)
        self.run(model, stop_after=layer)
        return read_tensor(
            self._link, messages.pack_tensor(info.index, TensorKind.LAYER, layer, output)
        )

    def profile(self, model: int | str, inputs: Sequence[Array], *, repeat: int = 1) -> ProfiledRun:
        """Runs the network and returns the counter's difference over each layer, the least of the
        repetitions.

        A layer that runs several times in one repetition counts with the sum, one that does not
        run with 0. DeviceError where the board has no counter.
        """
        if Capability.LAYER_TIME not in self.hello.capabilities:
            raise DeviceError(
                f"Board {self.hello.board} has no counter to profile with; use an emulator's."
            )
        info = self.model(model)
        watch = LayerTimes()
        result = self._watch(info, inputs, watch, repeat)
        return ProfiledRun(self.hello.counter_kind, watch.costs(info.num_layers), result)

    def echo(self, data: bytes) -> bytes:
        """Sends up to an MTU of bytes there and back."""
        return self._link.request(Type.ECHO, data, reply_bytes=len(data))

    def self_test(self) -> int:
        """Tests the device's CRC, models and workspaces: 0 when all is well (docs/protocol.md)."""
        self._crcs.clear()
        return messages.unpack_self_test(self._link.request(Type.SELF_TEST, patient=True))

    def provoke(self, what: Provoke, *, model: int = 0, layer: int | None = None) -> None:
        """Causes a fault, at once or in that layer of the next run (test commands only)."""
        self._link.request(Type.PROVOKE, messages.pack_provoke(what, model=model, layer=layer))

    def reset(self, patience: float = 10.0) -> None:
        """Restarts the device and waits until it answers again."""
        with contextlib.suppress(DeviceRestarted):  # only the reply was lost
            self._link.request(Type.RESET)
        self.await_restart(patience)

    def await_restart(self, patience: float = 10.0) -> None:
        """After a DeviceFault: waits up to `patience` seconds until the device answers again."""
        now = self._link.transport.now
        deadline = now() + patience
        while True:
            try:
                self._greet()
                return
            except LineClosed:
                self._link.transport.reopen(max(deadline - now(), 0.0))
            except DeviceError:
                if now() > deadline:
                    raise

    def _greet(self) -> None:
        self._crcs.clear()
        self._link.forget()
        self.hello = messages.unpack_hello(self._link.request(Type.HELLO, reply_bytes=160))
        if self.hello.protocol_version != PROTOCOL_VERSION:
            raise other_version(self.hello.protocol_version)
        self._link.adopt(self.hello)
        self.models = tuple(describe(i, self._ask) for i in range(self.hello.num_models))

    def _ask(self, kind: Type, data: bytes) -> bytes:
        return self._link.request(kind, data, reply_bytes=256)

    def _fit(self, info: ModelInfo, inputs: Sequence[Array]) -> None:
        """Sets the size that these inputs have."""
        wanted = info.size_of(inputs)
        if wanted is not None:
            self.resize(info.index, wanted)
        if Capability.RESIZE not in self.hello.capabilities:
            info.refuse_sizes(inputs, self.hello.board)

    def _read_array(
        self, info: ModelInfo, tensors: Sequence[TensorInfo], kind: TensorKind, name: str, what: str
    ) -> Array:
        index = find_tensor(tensors, name, f"Model {info.name} has no {what} {name!r}")
        data = read_tensor(self._link, messages.pack_tensor(info.index, kind, index))
        return unpack_array(tensors[index], data)

    def _run(
        self,
        run: Signature,
        flags: RunFlag,
        repeat: int,
        stop_after: int,
        on_event: EventHandler | None = None,
    ) -> RunResult:
        written = self._crcs.pop(run.key, {})
        crcs = [written[i] for i in range(len(run.inputs)) if i in written]
        if len(crcs) != len(run.inputs):
            missing = [t.name for i, t in enumerate(run.inputs) if i not in written]
            raise RequestError(
                f"Write input {missing[0]!r} of {run.called} before running it: a run uses its "
                "inputs up."
            )
        model, partition = run.key
        payload = messages.pack_run(model, flags, repeat, stop_after, crcs, partition)
        if len(payload) > self.hello.mtu:
            self._compare(run, crcs)
            payload = messages.pack_run(model, flags, repeat, stop_after, (), partition)
        try:
            reply = self._link.request(Type.RUN, payload, on_event=on_event, patient=True)
        except DeviceRestarted:
            raise DeviceRestarted(run.called) from None
        return messages.unpack_run(reply)

    def _compare(self, run: Signature, crcs: Sequence[int]) -> None:
        """Compares the inputs one by one, where their CRCs are too many for one request."""
        for index, crc in enumerate(crcs):
            reply = self._link.request(Type.TENSOR_CRC, run.input(index))
            if messages.unpack_crc(reply)[0] != crc:
                raise DeviceError(
                    f"Input {run.inputs[index].name!r} of {run.called} in memory is not the one "
                    "that was sent; write all inputs again."
                )

    def _watch(
        self, info: ModelInfo, inputs: Sequence[Array], watch: Watch, repeat: int
    ) -> RunResult:
        """Runs until no event is missing, each time from the states that there are now."""
        references = [
            messages.pack_tensor(info.index, TensorKind.STATE, index)
            for index in range(len(info.states))
        ]
        states = [(reference, read_tensor(self._link, reference)) for reference in references]
        for attempt in range(_RUN_ATTEMPTS):
            for reference, value in states if attempt else ():
                write_state(self._link, reference, value)
            self.write_inputs(info.index, inputs)
            result = self._run(Signature.of(info), watch.flag, repeat, 0, watch.note)
            if watch.is_complete(result, info.num_layers):
                return result
        raise DeviceError(
            f"In {_RUN_ATTEMPTS} runs of model {info.name} not every layer's report arrived: the "
            "line is too bad; use a lower baud rate or a shorter cable."
        )


def _tensor(tensors: Sequence[TensorInfo], index: int, message: str) -> TensorInfo:
    if not 0 <= index < len(tensors):
        raise RequestError(f"{message}; it has {len(tensors)}.")
    return tensors[index]
