"""Finds instructions that a core cannot run, by disassembling the code of objects.

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
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.elf.reader import Elf, Section
from mcu_deploy.errors import ToolError
from mcu_deploy.hygiene.features import Feature
from mcu_deploy.processes import programs

OBJDUMP = "arm-none-eabi-objdump"
_OBJDUMP_SECONDS = 120
_NOPS = b"\x00\xbf" * 4  # between ranges, so that no instruction or IT block reaches into the next

_MAPPING = re.compile(r"^\$([tadx])(\..*)?$")
_LINE = re.compile(r"^ *([0-9a-f]+):\t([0-9a-f]{4})( [0-9a-f]{4})?\s*\t([^\t]*)(?:\t([^\t]*))?")


@dataclass(frozen=True)
class CodeRange:
    """Bytes of code in a section: state is "t" (Thumb) or "a" (the A32 state, not in M cores)."""

    section: Section
    offset: int
    data: bytes
    state: str


@dataclass(frozen=True)
class Instruction:
    """A disassembled instruction; `mnemonic` is empty where the disassembler does not know it."""

    range: int
    offset: int
    encoding: str
    mnemonic: str
    operands: str

    @property
    def text(self) -> str:
        return self.mnemonic if self.mnemonic else f"0x{self.encoding.replace(' ', '')}"


def code_ranges(elf: Elf) -> tuple[list[CodeRange], list[Section]]:
    """The code of an Arm object by its mapping symbols, and the sections that have none."""
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
                ranges.append(CodeRange(section, start, content[start:end], state))
    return ranges, unmapped


def disassemble(ranges: Sequence[CodeRange]) -> Iterator[Instruction]:
    """Every instruction of Thumb ranges, with the number of its range and offset in its section.

    Raises ToolError where objdump is missing or fails.
    """
    if not ranges:
        return
    image, starts = bytearray(), []
    for piece in ranges:
        starts.append(len(image))
        image += piece.data + (b"\0" if len(piece.data) & 1 else b"") + _NOPS
    number = 0
    for line in _objdump(bytes(image)):
        match = _LINE.match(line)
        if match is None:
            continue
        address = int(match[1], 16)
        while number + 1 < len(starts) and starts[number + 1] <= address:
            number += 1
        offset, size = address - starts[number], 4 if match[3] else 2
        if offset >= len(ranges[number].data):
            continue
        mnemonic, operands = match[4].strip(), (match[5] or "").strip()
        coprocessor = _coprocessor(match[2], match[3])
        if offset + size > len(ranges[number].data):
            mnemonic = ""
        elif coprocessor is not None:
            mnemonic = f"cp{coprocessor}"
        elif not mnemonic[:1].isalpha():
            mnemonic = ""
        yield Instruction(
            number,
            ranges[number].offset + offset,
            match[2] + (match[3] or ""),
            mnemonic,
            operands.split("@")[0].split(";")[0].strip(),
        )


def _coprocessor(first: str, second: str | None) -> int | None:
    """The number of the coprocessor, 0 to 7, that an encoding is.

    objdump prints these as instructions of old coprocessors (FPA, Maverick) or not at all; the
    numbers from 8 on are those of the FPU and of Helium.
    """
    if second is None or int(first, 16) & 0xEC00 != 0xEC00 or int(first, 16) & 0x300 == 0x300:
        return None
    number = int(second, 16) >> 8 & 15
    return number if number < 8 else None


def _objdump(image: bytes) -> Iterator[str]:
    tool = shutil.which(OBJDUMP)
    if tool is None:
        raise ToolError(
            f"{OBJDUMP} is not on the PATH, and without it the instructions cannot be checked:"
            " install binutils-arm-none-eabi (it comes with gcc-arm-none-eabi)."
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "code.bin"
        path.write_bytes(image)
        command = [tool, "-D", "-z", "-b", "binary", "-m", "armv8.1-m.main", "-M", "force-thumb"]
        environment = {**os.environ, "LC_ALL": "C"}
        result = programs.run([*command, path], environment=environment, seconds=_OBJDUMP_SECONDS)
    if result.exhausted:
        raise ToolError(f"{OBJDUMP} {result.exhausted}: check fewer files at a time.")
    if result.returncode != 0:
        reason = result.stderr.strip().splitlines()
        raise ToolError(
            f"{OBJDUMP} failed ({reason[0] if reason else 'no reason given'}): binutils 2.35 or"
            " newer is needed, which knows Armv8.1-M."
        )
    yield from result.stdout.splitlines()


# ---- Which feature an instruction needs, by the names that objdump prints. The tests assemble
# instructions of each kind for each core: GNU as refuses them where this table says so.

_CONDITION = r"(?:eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?"
_DSP = re.compile(
    r"^(?:"
    r"q(?:add|sub|dadd|dsub)"
    r"|(?:s|q|sh|u|uq|uh)(?:add16|asx|sax|sub16|add8|sub8)"
    r"|ssat16|usat16|pkh(?:bt|tb)|sel|usada?8"
    r"|[su]xtab(?:16)?|[su]xtah|[su]xtb16"
    r"|sml(?:a|al)[bt][bt]|smlaw[bt]|smul[bt][bt]|smulw[bt]"
    r"|smlal?dx?|smlsl?dx?|smu[as]dx?"
    r"|smml[as]r?|smmulr?|umaal"
    r")" + _CONDITION + r"(?:\.[nw])?$"
)
_V8M = re.compile(
    r"^(?:sg|ttt?|ttat?|bxns|blxns|lda(?:b|h|ex|exb|exh)?|stl(?:b|h|ex|exb|exh)?"
    r"|v(?:lst|lld)m)" + _CONDITION + r"$"
)
_V81M = re.compile(
    r"^(?:csel|csinc|csinv|csneg|cset|csetm|cinc|cinv|cneg|clrm|vscclrm|bf|bfx|bfl|bflx|bfcsel"
    r"|dls|wls|le)" + r"(?:eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?$"
)
_MVE = re.compile(
    r"^(?:vpst|vpt|vpnot|vpsel|vctp)[te]*(?:\..*)?$"
    r"|^(?:dlstp|wlstp)(?:\..*)?$|^(?:letp|lctp)$"
    r"|^(?:asrl|lsll|lsrl|[su]qrsh[rl]l?|[su]qshll?|[su]rshrl?)" + _CONDITION + r"$"
)
_FPV5 = re.compile(r"^(?:vsel|vmaxnm|vminnm|vrint[anpmxzr]|vcvt[anpm]\.)")
_FP_ACCESS = re.compile(r"^(?:v(?:ldr|str|ldm|stm|push|pop|mrs|msr)|fldm|fstm)")
_FP_MOVE = re.compile(r"^vmov" + _CONDITION + r"(?:\.\w+)?$")
_COPROCESSOR = re.compile(r"^cp\d$|^(?:cdp|mcrr?|mrrc?|ldc|stc)2?l?" + _CONDITION + r"$")
_NOT_M = re.compile(
    r"^(?:hlt|setend|eret|hvc|smc|bxj|rfe|srs|dcps|crc32|setpan|pldw|enterx|leavex)"
)
_BASELINE_WIDE = re.compile(
    r"^(?:movw|movt|[us]div|(?:ld|st)rex[bh]?|clrex|b\.w|lda|stl)" + _CONDITION
)
_VECTOR_REGISTER = re.compile(r"\bq[0-7]\b")
_ALWAYS_WIDE = frozenset({"bl", "msr", "mrs", "dmb", "dsb", "isb", "udf.w"})


def needed_features(mnemonic: str, operands: str, wide: bool) -> Feature:
    """The features that a core must have to run an instruction; none for what Armv6-M has.

    mnemonic, operands: as objdump prints them; wide: a 32-bit encoding.
    """
    if _NOT_M.match(mnemonic):
        return Feature.NOT_M
    if _is_vector(mnemonic, operands):
        real = re.search(r"\.f(?:16|32)", mnemonic) is not None
        return Feature.MVE_FLOAT if real else Feature.MVE
    if _V81M.match(mnemonic):
        return Feature.V81M
    if _V8M.match(mnemonic):
        return Feature.V8M
    if mnemonic.startswith("v") or re.match(r"^f(?:ld|st)m", mnemonic):
        return _float_features(mnemonic, operands)
    if _DSP.match(mnemonic):
        return Feature.DSP
    if _COPROCESSOR.match(mnemonic):
        return Feature.COPROCESSOR
    if not wide:
        if re.match(r"^it[te]{0,3}$", mnemonic):
            return Feature.THUMB2
        return Feature.MID if re.match(r"^cbn?z$", mnemonic) else Feature(0)
    if mnemonic in _ALWAYS_WIDE:
        return Feature(0)
    return Feature.MID if _BASELINE_WIDE.match(mnemonic) else Feature.THUMB2


def _is_vector(mnemonic: str, operands: str) -> bool:
    if _MVE.match(mnemonic) or _VECTOR_REGISTER.search(operands):
        return True
    # P0 is the predicate register of Helium; VPR alone also appears in VSCCLRM.
    return bool(re.match(r"^v(?:msr|mrs)", mnemonic) and re.search(r"(?i)\b(p0|vpr)\b", operands))


def _float_features(mnemonic: str, operands: str) -> Feature:
    """FPU instructions. Loads, stores and moves of D registers run on single precision FPUs, and
    on cores that have Helium without floating point."""
    if re.search(r"(?i)\b(fpcxt|fpscr_nzcvqc)", operands):
        return Feature.V81M
    double = ".f64" in mnemonic
    immediate = "#" in operands.split(",")[-1]
    if _FP_ACCESS.match(mnemonic) or (_FP_MOVE.match(mnemonic) and not double and not immediate):
        half = mnemonic.endswith((".16", ".f16"))
        return Feature.HALF if half else Feature.FP_REGISTERS
    converts_half = mnemonic.startswith(("vcvtb", "vcvtt"))
    features = Feature.FPU
    if _FPV5.match(mnemonic) or (double and converts_half):
        features |= Feature.FPV5
    if double:
        features |= Feature.DOUBLE
    elif mnemonic.startswith(("vins", "vmovx")) or (".f16" in mnemonic and not converts_half):
        features |= Feature.HALF
    return features
