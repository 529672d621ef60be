"""Objects, archives and images for `check`: fields of headers, sections and symbols, and bytes."""

from __future__ import annotations

import functools
import random
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

from fuzz.harness import change_bytes

from mcu_deploy.hygiene import check_files

SUFFIX = ".o"
_EDGES = (0, 1, 2, 3, 4, 16, 0xFF00, 0xFFF1, 0xFFF2, 0xFFFF, 1 << 20, 0x7FFFFFFF, 0x80000000,
          0xFFFFFFF0, 0xFFFFFFFF)  # fmt: skip
_SOURCE = """
#include <string.h>
static const int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static int counter;
__attribute__((weak)) int twice(int x) { return 2 * x; }
int run(int *x, unsigned n) {
    memset(x, 0, n);
    counter++;
    return twice(table[n & 7]) + counter;
}
int main(void) { int x[4]; return run(x, sizeof x); }
"""


@functools.cache
def SEEDS() -> list[bytes]:
    """An object with debug information, an archive of two, an image."""
    cross = shutil.which("arm-none-eabi-gcc") is not None
    prefix = "arm-none-eabi-" if cross else ""
    core = ["-mcpu=cortex-m4", "-mthumb"] if cross else []
    link = ["-nostartfiles", "-e", "main"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.c").write_text(_SOURCE)
        for command in (
            [f"{prefix}gcc", *core, "-g", "-Os", "-ffunction-sections", "-c", "a.c", "-o", "a.o"],
            [f"{prefix}gcc", *core, "-Os", "-c", "a.c", "-o", "b_with_a_long_name.o"],
            [f"{prefix}ar", "rcsD", "lib.a", "a.o", "b_with_a_long_name.o"],
            [f"{prefix}gcc", *core, *link, "a.o", "-o", "image.elf"],
        ):
            subprocess.run(command, cwd=folder, check=True)
        files = ("a.o", "b_with_a_long_name.o", "lib.a", "image.elf")
        return [(folder / file).read_bytes() for file in files]


def mutate(choose: random.Random, seed: bytes, seeds: list[bytes]) -> bytes:
    if not seed.startswith(b"\x7fELF") or choose.random() < 0.35:
        return change_bytes(choose, seed, seeds)
    changed = bytearray(seed)
    for _ in range(choose.choice((1, 1, 2, 3))):
        place, size = _field(choose, changed)
        own = int.from_bytes(changed[place : place + size], "little")
        value = choose.choice((*_EDGES, own + choose.randint(-8, 8), own * 2, len(seed)))
        changed[place : place + size] = (value % (1 << 8 * size)).to_bytes(size, "little")
    return bytes(changed)


def _field(choose: random.Random, data: bytearray) -> tuple[int, int]:
    """Place and size of a field of the header, of a section, a segment, a symbol or a content."""
    table = struct.unpack_from("<I", data, 32)[0]
    count, segments = struct.unpack_from("<H", data, 48)[0], struct.unpack_from("<H", data, 44)[0]
    way = choose.random()
    if way < 0.15 or not 0 < table <= len(data) - 40 or not count or data[4] != 1:
        return choose.choice([(p, 1) for p in range(4, 16)] + [(p, 2) for p in range(16, 20)]
                             + [(p, 4) for p in range(20, 40, 4)]
                             + [(p, 2) for p in range(40, 52, 2)])  # fmt: skip
    if way < 0.25 and segments:
        return 52 + 32 * choose.randrange(segments) + 4 * choose.randrange(8), 4
    header = table + 40 * choose.randrange(count)
    if way < 0.6 or header + 40 > len(data):
        return min(header + 4 * choose.randrange(10), len(data) - 4), 4
    start, size = struct.unpack_from("<II", data, header + 16)
    if size > 0 and start + size <= len(data):
        width = choose.choice((1, 2, 4))
        return min(start + choose.randrange(size), len(data) - width), width
    return header, 4


def read(path: Path) -> None:
    report = check_files([path])
    assert report.exit_code in (0, 1, 2)
    assert (report.exit_code == 0) == (report.findings == ())
    for finding in report.findings:
        assert finding.message.endswith(".") and finding.remedy.endswith("."), finding
        assert f"{finding.message}{finding.symbol}{finding.member}".isprintable(), finding
