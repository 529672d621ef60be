"""`run`: a build folder's firmware on a device, real or emulated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mcu_deploy.api.folder import AnyFolder, BuildFolder, as_folder
from mcu_deploy.api.sized import samples_in
from mcu_deploy.boards import Board
from mcu_deploy.device import Device, DeviceFault, EndlessRun, connect, describe_fault
from mcu_deploy.device.emulators import choose_emulator, open_emulator
from mcu_deploy.device.line.ports import AUTO, find_port
from mcu_deploy.errors import DeviceError, RequestError, shorten
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.samples import Samples, load_samples
from mcu_deploy.options.means import Connection as Connection
from mcu_deploy.session import Session

_PORT_SECONDS = 3.0  # a board that was just flashed, or plugged in, takes its time


def where(folder: BuildFolder, connection: Connection) -> str:
    """A sentence that says what the network runs on, and why."""
    if connection.port is not None:
        return f"Running on {folder.board.title} at {port_of(folder.board, connection.port)}."
    return choose_emulator(folder.board, connection.emulator).reason


def port_of(board: Board, port: str) -> str:
    """The port, found by the board's USB id where it is "auto". Errors: see `find_port`."""
    if port != AUTO:
        return port
    return find_port(board.name, board.usb, patience=_PORT_SECONDS, baud=board.serial.baud)


@contextmanager
def open_device(build: AnyFolder, connection: Connection | None = None) -> Iterator[Device]:
    """Connects to the device that runs the folder's firmware, and to no other firmware.

    A fault of the device inside of the block becomes a DeviceError that names cause, function and
    layer.
    """
    folder = as_folder(build)
    chosen = connection or Connection()
    reach = partial(
        connect,
        expect=folder.expected(),
        latency=chosen.latency,
        retries=chosen.retries,
        run_timeout=chosen.run_timeout,
    )
    with explained(folder):
        if chosen.port is not None:
            port = port_of(folder.board, chosen.port)
            with reach(port, baud=chosen.baud or folder.board.serial.baud) as device:
                yield device
            return
        with (
            open_emulator(
                folder.board, folder.firmware, emulator=chosen.emulator,
                extra_args=chosen.arguments,
            ) as emulator,
            reach(emulator.url, emulator=emulator.launcher.title) as device,
        ):  # fmt: skip
            yield device


@contextmanager
def explained(folder: BuildFolder) -> Iterator[None]:
    """Makes a fault of the device inside of the block a DeviceError that says where it was."""
    try:
        yield
    except DeviceFault as fault:
        raise DeviceError(explain_fault(folder, fault)) from fault


def explain_fault(folder: BuildFolder, fault: DeviceFault) -> str:
    """What the device reported, with names from the ELF and the layer's from the report."""
    text = describe_fault(fault.report, folder.firmware)
    layer = fault.report.layer
    model = fault.report.model
    if layer is not None and model is not None and model < len(folder.networks):
        network = folder.networks[model]
        if layer < len(network.layers):
            entry = network.layers[layer]
            text += (
                f"\n  layer {layer} of {network.name} is {entry.short}, the {entry.op} "
                f"{shorten(entry.name)!r}, by the backend {entry.backend}"
            )
    return f"{text}\n{fault.remedy}" if isinstance(fault, EndlessRun) else text


@dataclass(frozen=True)
class Results:
    """outputs[s][o] is output o of sample s; kept[s] holds the kept tensors by name."""

    outputs: list[list[Array]]
    kept: list[dict[str, Array]]

    def __iter__(self) -> Iterator[list[Array]]:
        return iter(self.outputs)

    def __len__(self) -> int:
        return len(self.outputs)

    def __getitem__(self, sample: int) -> list[Array]:
        return self.outputs[sample]


def run(
    build: AnyFolder,
    samples: Samples | str | Path,
    *,
    model: str | None = None,
    partition: str | None = None,
    connection: Connection | None = None,
    session: Session | None = None,
) -> Results:
    """Runs every sample on the device, one after the other.

    States have their initial values at the first sample and go on from sample to sample.
    partition: runs this part alone; the samples are its inputs. session: with the backends of the
    build; needed where they are not found again by themselves.
    """
    folder = as_folder(build)
    entry = folder.network(model)
    name = entry.name
    if isinstance(samples, (str, Path)):
        samples = load_for(folder, name, samples, partition, session)
    results = Results([], [])
    with open_device(folder, connection) as device:
        if entry.states:
            device.reset_states(name)
        for inputs in samples.inputs:
            # Lanes run at once only where no hook watches.
            results.outputs.append(
                device.infer(name, list(inputs), partition=partition, bare=bool(entry.lanes))
            )
            if partition is None:
                kept = {k.name: device.kept(name, k.name) for k in entry.kept}
                results.kept.append(kept)
    return results


def load_for(
    folder: BuildFolder,
    name: str,
    path: str | Path,
    partition: str | None = None,
    session: Session | None = None,
) -> Samples:
    """Samples from a file for a network of a build, or for one of its partitions."""
    network = folder.compile_again(name, session)
    if partition is None:
        return samples_in(path, network)
    for part in network.plan.parts:
        if part.name == partition:
            return load_samples(path, network.graph, part.inputs)
    names = ", ".join(part.name for part in network.plan.parts) or "none"
    raise RequestError(
        f"The network {name!r} has no partition {partition!r}; it has {names}. Build it with "
        "--partition NAME=IN,..:OUT,.."
    )


def stack_outputs(results: Results) -> dict[str, Array]:
    """Outputs as an .npz holds them: out0, out1, ... with the sample on the first axis.

    Kept tensors follow by their names, behind "keep:".
    """
    import numpy as np

    count = len(results[0]) if len(results) else 0
    stacked = {f"out{o}": np.stack([r[o] for r in results]) for o in range(count)}
    names = results.kept[0] if results.kept else ()
    return stacked | {f"keep:{n}": np.stack([k[n] for k in results.kept]) for n in names}
