"""`run`: a build folder's firmware on a device, real or emulated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.codegen.names import shorten
from mcu_deploy.device import Device, DeviceFault, connect, describe_fault
from mcu_deploy.device.emulator import choose_emulator, open_emulator
from mcu_deploy.errors import DeviceError
from mcu_deploy.folder import BuildFolder, as_folder
from mcu_deploy.samples import Array, Samples, load_samples
from mcu_deploy.session import Session


@dataclass(frozen=True)
class Connection:
    """How a device is reached.

    port: a serial device node or a pyserial URL; None starts an emulator. emulator: "qemu",
    "renode" or None for the board's own choice. arguments: passed on to the emulator.
    """

    port: str | None = None
    baud: int | None = None
    emulator: str | None = None
    arguments: tuple[str, ...] = ()
    latency: float = 3.0


def where(folder: BuildFolder, connection: Connection) -> str:
    """A sentence that says what the network runs on, and why."""
    if connection.port is not None:
        return f"Running on {folder.board.title} at {connection.port}."
    return choose_emulator(folder.board, connection.emulator).reason


@contextmanager
def open_device(
    build: BuildFolder | str | Path, connection: Connection | None = None
) -> Iterator[Device]:
    """Connects to the device that runs the folder's firmware, and to no other firmware.

    A fault of the device inside of the block becomes a DeviceError that names cause, function and
    layer.
    """
    folder = as_folder(build)
    chosen = connection or Connection()
    try:
        if chosen.port is not None:
            baud = chosen.baud or folder.board.serial.baud
            with connect(
                chosen.port, baud=baud, expect=folder.expected(), latency=chosen.latency
            ) as device:
                yield device
            return
        with (
            open_emulator(
                folder.board, folder.firmware, emulator=chosen.emulator,
                extra_args=chosen.arguments,
            ) as emulator,
            connect(emulator.url, expect=folder.expected(), latency=chosen.latency) as device,
        ):  # fmt: skip
            yield device
    except DeviceFault as fault:
        raise DeviceError(explain_fault(folder, fault)) from fault


def explain_fault(folder: BuildFolder, fault: DeviceFault) -> str:
    """What the device reported, with names from the ELF and the layer's from the report."""
    text = describe_fault(fault.report, folder.firmware)
    layer = fault.report.layer
    model = fault.report.model
    if layer is not None and model is not None and model < len(folder.networks):
        network = folder.networks[model]
        if layer < len(network["layers"]):
            entry = network["layers"][layer]
            name = shorten(entry["name"])
            text += f"\n  layer {layer} of {network['name']} is {entry['op']} {name!r}"
    return text


def run(
    build: BuildFolder | str | Path,
    samples: Samples | str | Path,
    *,
    model: str | None = None,
    connection: Connection | None = None,
    session: Session | None = None,
) -> list[list[Array]]:
    """Runs every sample on the device; result[s][o] is output o of sample s.

    session: with the backends of the build; needed where they are not found again by themselves.
    """
    folder = as_folder(build)
    name = folder.network(model)["name"]
    if isinstance(samples, (str, Path)):
        network = folder.compile_again(name, session)
        samples = load_samples(samples, network.graph, network.inputs)
    with open_device(folder, connection) as device:
        return [device.infer(name, list(inputs)) for inputs in samples.inputs]


def stack_outputs(results: Sequence[Sequence[Array]]) -> dict[str, Array]:
    """Outputs as an .npz holds them: out0, out1, ... with the sample on the first axis."""
    import numpy as np

    count = len(results[0]) if results else 0
    return {f"out{o}": np.stack([r[o] for r in results]) for o in range(count)}
