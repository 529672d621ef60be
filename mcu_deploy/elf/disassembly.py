"""The Thumb code of objects and images, as a list of instructions.

Only the bytes that the mapping symbols declare as Thumb code (`$t`) are disassembled; literal
pools and jump tables (`$d`) are left out. The bytes of all objects go to objdump in one raw image:
its ELF reader never sees a hostile file, and it decodes everything as Armv8.1-M, the one choice
with which binutils 2.40 knows all of FPv4, FPv5, DSP and Helium (for an ELF file it takes another,
and prints half of Helium as coprocessor instructions).
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mcu_deploy.elf.reader import Elf, Section
from mcu_deploy.errors import ToolError
from mcu_deploy.processes import programs

OBJDUMP = "arm-none-eabi-objdump"
_OBJDUMP_SECONDS = 120
_NOPS = b"\x00\xbf" * 4  # between ranges, so that no instruction or IT block reaches into the next

_MAPPING = re.compile(r"^\$([tadx])(\..*)?$")
_LINE = re.compile(
    r"^ *([0-9a-f]+):\t([0-9a-f]{4})( [0-9a-f]{4})?[ ]*\t([^\t\n]*)(?:\t([^\t\n@;]*))?",
    re.MULTILINE,
)
_TARGET = re.compile(r"(?<!\S)0x[0-9a-f]+$")


@dataclass(frozen=True)
class CodeRange:
    """Bytes of code in a section: state is "t" (Thumb) or "a" (the A32 state, not in M cores).

    offset: of the first byte in its section; address: in memory; of an object, which has no place
    there yet, the offset too."""

    section: Section
    offset: int
    address: int
    data: bytes
    state: str


class Disassembled(NamedTuple):
    """An instruction as objdump prints it; `mnemonic` is empty where objdump does not know it.

    encoding: its halfwords in hexadecimal. The target of a branch ends the operands, as 0x...
    """

    address: int
    encoding: str
    mnemonic: str
    operands: str

    @property
    def size(self) -> int:
        """2 or 4 bytes."""
        return 2 if len(self.encoding) == 4 else 4

    @property
    def next(self) -> int:
        return self.address + self.size

    def __str__(self) -> str:
        return f"{self.mnemonic} {self.operands}".strip()


def code_ranges(elf: Elf) -> tuple[list[CodeRange], list[Section]]:
    """The code of an Arm file by its mapping symbols, and the sections that have none."""
    marks: dict[int, list[tuple[int, str]]] = {}
    for symbol in elf.symbols:
        match = _MAPPING.match(symbol.name)
        section = elf.section_of(symbol)
        if match and section is not None and symbol.bind == "STB_LOCAL":
            offset = elf.offset_in_section(symbol, section)
            if 0 <= offset <= section.size:
                marks.setdefault(section.index, []).append((offset, match[1]))
    ranges, unmapped = [], []
    for section in elf.sections:
        if not section.code or not section.allocated:
            continue
        inside = sorted(marks.get(section.index, []), key=lambda mark: mark[0])
        content = elf.content(section)
        if not inside or inside[0][0] > 0:
            unmapped.append(section)
        for number, (start, state) in enumerate(inside):
            end = inside[number + 1][0] if number + 1 < len(inside) else len(content)
            if state in "ta" and end > start:
                address = section.address + start if elf.linked else start
                ranges.append(CodeRange(section, start, address, content[start:end], state))
    return ranges, unmapped


def disassemble(ranges: Sequence[CodeRange]) -> Iterator[tuple[CodeRange, Disassembled]]:
    """Every instruction of Thumb ranges.

    Raises ToolError where objdump is missing or fails.
    """
    if not ranges:
        return
    image, starts = bytearray(), []
    for piece in ranges:
        starts.append(len(image))
        image += piece.data + (b"\0" if len(piece.data) & 1 else b"") + _NOPS
    number, end = 0, 0
    for match in _LINE.finditer(_objdump(bytes(image))):
        at, first, second, mnemonic, operands = match.groups("")
        place = int(at, 16)
        end = place + (4 if second else 2)
        while number + 1 < len(starts) and starts[number + 1] <= place:
            number += 1
        piece, offset = ranges[number], place - starts[number]
        if offset >= len(piece.data):
            continue
        mnemonic, operands = mnemonic.strip(), operands.strip()
        coprocessor = _coprocessor(first, second) if first[0] in "ef" else None
        if offset + (4 if second else 2) > len(piece.data):
            mnemonic = ""
        elif coprocessor is not None:
            mnemonic = f"cp{coprocessor}"
        elif not mnemonic[:1].isalpha():
            mnemonic = ""
        if "0x" in operands and (target := _TARGET.search(operands)):
            real = int(target[0], 16) - starts[number] + piece.address
            operands = f"{operands[: target.start()]}{real & 0xFFFFFFFF:#x}"
        yield piece, Disassembled(piece.address + offset, first + second, mnemonic, operands)
    if end < len(image):
        raise ToolError(
            f"{OBJDUMP} printed {end:,} of {len(image):,} bytes of code and said nothing of the "
            "rest, so that the instructions cannot be checked: try it again."
        )


def _coprocessor(first: str, second: str) -> int | None:
    """The number of the coprocessor, 0 to 7, that an encoding is.

    objdump prints these as instructions of old coprocessors (FPA, Maverick) or not at all; the
    numbers from 8 on are those of the FPU and of Helium.
    """
    if not second or first[0] not in "ef" or first[1] not in "cde":
        return None
    number = int(second, 16) >> 8 & 15
    return number if number < 8 else None


def _objdump(image: bytes) -> str:
    tool = shutil.which(OBJDUMP)
    if tool is None:
        raise ToolError(
            f"{OBJDUMP} is not on the PATH, and without it the instructions cannot be checked:"
            " install binutils-arm-none-eabi (it comes with gcc-arm-none-eabi)."
        )
    command = [tool, "-D", "-z", "-b", "binary", "-m", "armv8.1-m.main", "-M", "force-thumb"]
    result = programs.run(
        [*command, "/dev/stdin"], environment={**os.environ, "LC_ALL": "C"},
        seconds=_OBJDUMP_SECONDS, given=image,
    )  # fmt: skip
    if result.exhausted:
        raise ToolError(f"{OBJDUMP} {result.exhausted}: check fewer files at a time.")
    if result.returncode != 0:
        reason = result.stderr.strip().splitlines()
        raise ToolError(
            f"{OBJDUMP} failed ({reason[0] if reason else 'no reason given'}): binutils 2.35 or"
            " newer is needed, which knows Armv8.1-M."
        )
    return result.stdout
