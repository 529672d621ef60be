"""The firmware at the far end of a line that damages bytes, on a clock of its own.

Everything is real but the line and the time: the C code of the device runs as a process that takes
its bytes in lock step, so a seed gives the same run on every machine, however busy.
"""

from __future__ import annotations

import contextlib
import math
import random
import struct
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from mcu_deploy import resources
from mcu_deploy.boards import load_board
from mcu_deploy.device import Device
from mcu_deploy.device.line.link import Link
from mcu_deploy.device.line.transport import Transport

_PLATFORM = Path(__file__).parent / "stepped" / "platform.c"
_RESET = 1 << 31
_BITS_PER_BYTE = 10


def build_stepped_firmware(elf: Path, sources: Sequence[Path], *flags: str) -> Path:
    """The firmware with these networks (a firmware_models.c, and what it needs of the runtime)."""
    crt = resources.crt()
    firmware = [path for path in sorted((crt / "firmware").glob("*.c")) if "bench" not in path.name]
    command = [
        *("gcc", "-std=c99", "-g", "-O0", *load_board("host").cflags, *flags),
        f"-I{crt / 'include'}",
        *(_PLATFORM, *firmware, *sources, "-lm", "-o", elf),
    ]
    subprocess.run(command, check=True)
    return elf


def runtime_sources() -> list[Path]:
    """What of the runtime the firmware calls."""
    names = ("runtime.c", "instance.c", "tensor.c", "error.c", "resize.c")
    return [resources.crt() / "src" / name for name in names]


class VirtualLine(Transport):
    """A line on a clock of its own: time passes as bytes and waiting take it, and not else."""

    def __init__(self, url: str = "virtual") -> None:
        self.url, self.baud, self.emulator = url, 115200, ""
        self.delay = 0.0
        """Seconds that each answer is held back."""
        self.sent = 0
        """Bytes that went to the device."""
        self._time = 0.0
        self._coming: list[tuple[float, bytes]] = []

    def now(self) -> float:
        return self._time

    def write(self, data: bytes) -> None:
        self.sent += len(data)
        self._time += len(data) * _BITS_PER_BYTE / self.baud
        self.answer(data)

    def answer(self, data: bytes) -> None:
        """What the other end does with these bytes."""
        raise NotImplementedError

    def say(self, data: bytes, after: float = 0.0) -> None:
        """Lets `data` come from the other end."""
        begin = self._time + self.delay + after
        if self._coming:
            begin = max(begin, self._coming[-1][0])
        self._coming.append((begin + len(data) * _BITS_PER_BYTE / self.baud, data))

    def read(self, timeout: float) -> bytes:
        if not self._coming or self._coming[0][0] > self._time + timeout:
            self._time += timeout
            return b""
        at, data = self._coming.pop(0)
        self._time = max(self._time, at)
        return data

    def lose_all(self) -> None:
        """What was on the way to the host is gone."""
        self._coming.clear()

    def reopen(self, patience: float) -> None:
        raise AssertionError("the line was never closed")

    def close(self) -> None:
        pass


class DamagedLine(VirtualLine):
    """A line to a firmware in lock step.

    rate: the probability that a byte is flipped, dropped or doubled, in either direction.
    """

    def __init__(self, elf: Path, *, rate: float, seed: int) -> None:
        super().__init__(f"damaged:{rate}")
        self.rate = rate
        self._rng = random.Random(seed)
        self._process = subprocess.Popen(
            [elf], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._hear()

    def answer(self, data: bytes) -> None:
        arrived = self.damage(data)
        assert self._process.stdin is not None
        self._process.stdin.write(struct.pack("=I", len(arrived)) + arrived)
        self._hear()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def damage(self, data: bytes) -> bytes:
        """What of these bytes arrives."""
        if not self.rate:
            return data
        out = bytearray()
        at = 0
        while True:
            good = int(math.log(1.0 - self._rng.random()) / math.log(1.0 - self.rate))
            out += data[at : at + good]
            at += good
            if at >= len(data):
                return bytes(out)
            flipped = bytes([data[at] ^ self._rng.randrange(1, 256)])
            out += self._rng.choice([flipped, b"", data[at : at + 1] * 2])
            at += 1

    def _hear(self) -> None:
        """Puts what the device says onto the line back."""
        assert self._process.stdout is not None
        head = _RESET
        while head & _RESET:
            (head,) = struct.unpack("=I", self._process.stdout.read(4))
            data = b""
            while len(data) < head & ~_RESET:
                data += self._process.stdout.read((head & ~_RESET) - len(data))
            if data:
                self.say(self.damage(data))


def device_on(
    line: Transport, *, latency: float = 3.0, retries: int = 100, run_timeout: float = 60.0
) -> Device:
    """The client in front of a line."""
    return Device(
        Link(line, latency=latency, retries=retries, run_timeout=run_timeout, log=lambda text: None)
    )


@contextlib.contextmanager
def damaged(elf: Path, rate: float, seed: int) -> Iterator[tuple[Device, DamagedLine]]:
    """A device behind a damaged line."""
    line = DamagedLine(elf, rate=rate, seed=seed)
    try:
        yield device_on(line), line
    finally:
        line.close()
