"""Fuzzing: many changed files of one format, each of which must give a value or one sentence.

A target is a module `target_<format>` beside this one with

- SUFFIX: the file name's ending; SEEDS(): sound files, as bytes;
- mutate(random, seed, seeds): a changed file;
- read(path): what reads the file; it may return anything and raise McuDeployError.

A case is a number: equal numbers give equal files on every machine. Cases run in child processes
with a limit of memory and of processor time a case; what ends such a process is a finding too.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import struct
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType

from mcu_deploy.errors import FormatFault, McuDeployError, Refusal

_DIAGNOSES = "protocol"  # of a line: several sentences
REGRESSIONS = Path(__file__).parent / "regressions"
MEMORY_BYTES = 1 << 30
CPU_SECONDS = 30.0
LONGEST_LINE, MOST_LINES = 1500, 30
_EDGES = (0, 1, 2, 3, 4, 7, 8, 16, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF,
          0x80000000, 0xFFFFFFF0, 0xFFFFFFFF)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """A file that was not answered by a value or one sentence."""

    case: int
    what: str
    data: bytes

    def __str__(self) -> str:
        return f"case {self.case} ({len(self.data)} bytes): {self.what}"


class _TooLong(BaseException):
    pass


def made(target: ModuleType, seeds: list[bytes], case: int) -> bytes:
    """The file of a case."""
    choose = random.Random(f"{target.__name__.rpartition('.')[2]} {case}")
    changed: bytes = target.mutate(choose, choose.choice(seeds), seeds)
    return changed


def complaint(target: ModuleType, path: Path) -> str:
    """What is wrong with the answer to a file; "" where nothing is."""
    try:
        target.read(path)
    except FormatFault:
        return traceback.format_exc(limit=-8)
    except McuDeployError as error:
        text = str(error)
        is_list = isinstance(error, Refusal) or target.__name__.endswith(_DIAGNOSES)
        lines = text.splitlines() if is_list else [text]
        if not all(line.isprintable() for line in lines):
            return f"a message of several lines: {text!r}"
        if len(lines) > MOST_LINES or max(map(len, lines), default=0) > LONGEST_LINE:
            return f"a message of {len(text)} characters: {text[:200]!r}"
        if "MemoryError" in text:
            return f"a message of memory, not of the file: {text!r}"
    except _TooLong:
        return f"longer than {CPU_SECONDS:g} seconds\n{traceback.format_exc(limit=-6)}"
    except BaseException:
        return traceback.format_exc(limit=-8)
    return ""


def run(target: ModuleType, cases: Iterable[int], keep: Path | None = None) -> list[Finding]:
    """Runs cases; what is found is returned, and kept as files in a folder."""
    seeds = target.SEEDS()
    found = []
    left = list(cases)
    while left:
        finding = _batch(target, seeds, left)
        if finding is None:
            break
        found.append(finding)
        left = left[left.index(finding.case) + 1 :]
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{finding.case}{target.SUFFIX}").write_bytes(finding.data)
            (keep / f"{finding.case}.txt").write_text(finding.what)
    return found


def _batch(target: ModuleType, seeds: list[bytes], cases: list[int]) -> Finding | None:
    """Runs cases in a child up to the first finding."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.setsid()
            os.close(reader)
            _serve(target, seeds, cases, folder, writer)
        os._exit(0)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
    finally:
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
    # Every case's number as it begins, then -1 at the end, or -2 and a complaint.
    numbers = [n for (n,) in struct.iter_unpack("<i", said[: len(said) // 4 * 4])]
    if -1 in numbers and status == 0:
        return None
    if -2 in numbers:
        place = numbers.index(-2)
        what = said[4 * place + 4 :].decode(errors="replace")
        case = numbers[place - 1]
    else:
        case, what = numbers[-1], f"the process ended with status {status}"
    return Finding(case, what, made(target, seeds, case))


def _serve(
    target: ModuleType, seeds: list[bytes], cases: list[int], folder: Path, writer: int
) -> None:
    taken = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (taken + MEMORY_BYTES, taken + 8 * MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, _raise_too_long)
    path = folder / f"case{target.SUFFIX}"
    for case in cases:
        os.write(writer, struct.pack("<i", case))
        path.write_bytes(made(target, seeds, case))
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        what = complaint(target, path)
        signal.setitimer(signal.ITIMER_PROF, 0)
        if what:
            os.write(writer, struct.pack("<i", -2) + what.encode())
            return
    os.write(writer, struct.pack("<i", -1))


def _raise_too_long(number: int, frame: FrameType | None) -> None:
    raise _TooLong


def regressions(name: str) -> Iterator[Path]:
    """The files that once were findings of a format."""
    yield from sorted(p for p in (REGRESSIONS / name).glob("*") if p.is_file())


# ---- Changes that fit every format ----


def change_bytes(choose: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """One to four changes of a file: bits, numbers, cuts, and stretches that are moved."""
    changed = bytearray(data)
    for _ in range(choose.choice((1, 1, 1, 2, 2, 3, 4))):
        _CHANGES[choose.randrange(len(_CHANGES))](choose, changed, others)
        if not changed:
            break
    return bytes(changed)


def _flip(choose: random.Random, data: bytearray, others: list[bytes]) -> None:
    data[choose.randrange(len(data))] ^= 1 << choose.randrange(8)


def _set(choose: random.Random, data: bytearray, others: list[bytes]) -> None:
    data[choose.randrange(len(data))] = choose.randrange(256)


def _number(choose: random.Random, data: bytearray, others: list[bytes]) -> None:
    size = choose.choice((1, 2, 4, 4, 4, 8))
    if len(data) <= size:
        return
    place = choose.randrange(len(data) - size)
    if choose.random() < 0.7:
        place -= place % size
    own = int.from_bytes(data[place : place + size], "little")
    value = choose.choice((*_EDGES, own + choose.randint(-16, 16), own * 2, own << 8))
    data[place : place + size] = (value % (1 << 8 * size)).to_bytes(size, "little")


def _cut(choose: random.Random, data: bytearray, others: list[bytes]) -> None:
    if choose.random() < 0.3:
        del data[choose.randrange(len(data)) :]


def _drop(choose: random.Random, data: bytearray, others: list[bytes]) -> None:
    place = choose.randrange(len(data))
    del data[place : place + choose.randint(1, 16)]


def _copy(choose: random.Random, data: bytearray, others: list[bytes]) -> None:
    source = choose.choice((bytes(data), choose.choice(others)))
    if not source:
        return
    start, size = choose.randrange(len(source)), choose.randint(1, 64)
    place = choose.randrange(len(data))
    replaced = size if choose.random() < 0.7 else 0
    data[place : place + replaced] = source[start : start + size]


_CHANGES = (_flip, _flip, _set, _number, _number, _number, _cut, _drop, _copy)
