"""Every single fault of an exchange: each byte dropped, flipped and doubled, each frame lost, in
either direction. Whatever it is, all answers are those of a line without it."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from device.damaged_line import (
    DamagedLine,
    build_stepped_firmware,
    device_on,
    runtime_sources,
)
from device.protocol_lab import NETWORKS

from mcu_deploy.device import Device
from mcu_deploy.errors import McuDeployError

OF_BYTES = ("dropped", "flipped", "doubled")
OF_FRAMES = "lost"


class Fault(NamedTuple):
    """What becomes of a byte, or of a frame for OF_FRAMES, by its number from the beginning."""

    to_device: bool
    what: str
    number: int

    def __str__(self) -> str:
        unit = "frame" if self.what == OF_FRAMES else "byte"
        return f"{unit} {self.number} {'to' if self.to_device else 'from'} the device {self.what}"


class FaultyLine(DamagedLine):
    """A line with one fault, or none. bytes, frames: that came by, from and to the device."""

    _goes_to_device = False

    def __init__(self, elf: Path, fault: Fault | None = None) -> None:
        self.fault = fault
        self.bytes, self.frames = [0, 0], [0, 0]
        self._inside = [False, False]
        super().__init__(elf, rate=0.0, seed=0)

    def answer(self, data: bytes) -> None:
        self._goes_to_device = True
        super().answer(data)

    def damage(self, data: bytes) -> bytes:
        way, self._goes_to_device = int(self._goes_to_device), False
        arrived = bytearray()
        for byte in data:
            if byte and not self._inside[way]:
                self.frames[way] += 1
            self._inside[way] = byte != 0
            arrived += self._passed(way, byte)
            self.bytes[way] += 1
        return bytes(arrived)

    def _passed(self, way: int, byte: int) -> bytes:
        fault, here = self.fault, bytes([byte])
        if fault is None or fault.to_device != bool(way):
            return here
        if fault.what == OF_FRAMES:
            return b"" if byte and self.frames[way] == fault.number + 1 else here
        if self.bytes[way] != fault.number:
            return here
        flipped = bytes([byte ^ 1 << fault.number % 8])
        return {"dropped": b"", "flipped": flipped, "doubled": here * 2}[fault.what]


@functools.cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """Where a process of the campaign keeps what it compiles, until it ends."""
    return tempfile.TemporaryDirectory(prefix="campaign-")


@functools.cache
def _firmware() -> Path:
    elf = Path(folder().name) / "firmware.elf"
    return build_stepped_firmware(elf, [NETWORKS, *runtime_sources()])


def _exchange(device: Device) -> list[Any]:
    """Greeting, descriptions, runs, states, a layer's tensor: what came of each."""

    def byte(value: int) -> np.ndarray[Any, Any]:
        return np.array([value], np.uint8)

    found: list[Any] = [repr(device.models), bytes(device.echo(b"mcu"))]
    device.reset_states("parts")
    found += [device.infer("parts", [byte(n)])[0].tobytes() for n in (3, 4)]
    found += [repr(device.watch("parts", [byte(5)])[0]), repr(device.state("parts", "sum"))]
    found += [device.infer("tiny", [byte(9)])[0].tobytes()]
    found += [device.read_layer_output("parts", [byte(6)], 0)]
    return found


@functools.cache
def _clean() -> tuple[list[Any], list[int], list[int]]:
    """The answers on a line without a fault, and the bytes and frames from and to the device."""
    line = FaultyLine(_firmware())
    try:
        return _exchange(device_on(line)), line.bytes, line.frames
    finally:
        line.close()


def every() -> list[Fault]:
    """All faults of the exchange."""
    _, sizes, frames = _clean()
    found = []
    for way in (0, 1):
        found += [Fault(bool(way), what, n) for n in range(sizes[way]) for what in OF_BYTES]
        found += [Fault(bool(way), OF_FRAMES, n) for n in range(frames[way])]
    return found


def complaint(fault: Fault) -> str:
    """What is wrong behind a fault; "" where nothing is."""
    wanted = _clean()[0]
    line = FaultyLine(_firmware(), fault)
    try:
        found = _exchange(device_on(line))
    except McuDeployError as error:
        return f"{fault}: {error}"
    finally:
        line.close()
    if found != wanted:
        return f"{fault}: {found} in place of {wanted}"
    return ""
