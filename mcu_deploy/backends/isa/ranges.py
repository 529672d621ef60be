"""Which numbers an instruction of 32 bits can hold: offsets, constants, shifts, fields of bits.

An assembler finds what is beyond late, in a network that is built; here it is found where a kernel
is written, by every proposal. What names its other half with a changed number (ADD and SUB, CMP and
CMN, MOV and MVN, AND and BIC) is taken as assemblers take it.

Sources: chapter A7.7 of the Armv7-M Architecture Reference Manual (DDI 0403) and C2.4 of that of
Armv8-M (DDI 0553) for Helium; encodings of 16 bits are in encoding.py.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.operands import Kind, Memory, Mode, Shifted
from mcu_deploy.backends.kit.families import NoKernelError

_WORD = 0xFFFF_FFFF


class _Range(NamedTuple):
    """From one number to another one, in steps from 0."""

    low: int
    high: int
    step: int = 1

    def has(self, number: int) -> bool:
        return self.low <= number <= self.high and number % self.step == 0

    def __str__(self) -> str:
        steps = f" in steps of {self.step}" if self.step > 1 else ""
        return f"{self.low} to {self.high}{steps}"


_BYTE_OFFSET, _UP, _NONE = _Range(-255, 255), _Range(-255, 4095), _Range(0, 0)
_WORD_OFFSET = _Range(-1020, 1020, 4)
_HALF, _BITS = _Range(0, 0xFFFF), _Range(0, 31)
_MOVED = {"lsl": _BITS, "lsr": _Range(1, 32), "asr": _Range(1, 32), "ror": _Range(1, 31)}
_INDEX_BITS = _Range(0, 3)
# Numbers in the order of the operands; of fields the last one is a width.
_NUMBERS = {
    "movw": (_HALF,), "movt": (_HALF,), "addw": (_Range(0, 4095),), "subw": (_Range(0, 4095),),
    "ssat": (_Range(1, 32),), "usat": (_BITS,), "ssat16": (_Range(1, 16),),
    "usat16": (_Range(0, 15),),
}  # fmt: skip
_FIELDS = ("bfc", "bfi", "sbfx", "ubfx")
# What takes a number of twelve bits, which is added where it is negative, or subtracted.
_WIDE = {"add": ("addw", "subw"), "sub": ("subw", "addw")}
# Operations on a constant of a byte that is moved or repeated, and what they take besides.
_NEGATED = ("add", "sub", "adds", "subs", "cmp", "cmn")
_INVERTED = ("mov", "mvn", "and", "ands", "bic", "bics")
_CONSTANTS = (*_NEGATED, *_INVERTED, "movs", "mvns", "tst", *(
    name + s for name in ("adc", "eor", "orr", "rsb", "sbc") for s in ("", "s")
))  # fmt: skip
_LANES_NARROWED = ("vshrn", "vrshrn", "vqrshrn", "vqrshrun")


class EncodingError(NoKernelError):
    """An instruction that has no encoding, in a sentence."""


@functools.lru_cache(1 << 16)
def encodable(instruction: Instruction) -> Instruction:
    """An instruction as assemblers take it: the number of an ADD or SUB by a condition, which is no
    byte that is moved, GNU as takes by the name of its encoding alone, ADDW or SUBW.

    EncodingError: a number of the instruction is beyond what it can hold.
    """
    for complaint in _complaints(instruction):
        raise EncodingError(f"`{instruction}` has no encoding: {complaint}")
    name, operands = instruction.name, instruction.operands
    number = operands[-1] if operands else None
    if name not in _WIDE or not instruction.condition or not isinstance(number, int):
        return instruction
    if is_constant(f"{name}s", number):
        return instruction
    wide = _WIDE[name][number < 0] + instruction.condition
    return Instruction(wide, (*operands[:-1], abs(number)))


def _complaints(instruction: Instruction) -> Iterator[str]:
    name = instruction.name
    numbers: list[int] = []
    for operand in instruction.operands:
        match operand:
            case Memory(_, int(offset), mode):
                allowed = _offsets(name, mode)
                if allowed is not None and not allowed.has(offset):
                    yield (
                        f"its offset is one of {allowed} ({_section(instruction)}); "
                        "add the rest to the base"
                    )
            case Memory(_, Shifted(index, _, by)) if index.kind is Kind.CORE:
                if not _INDEX_BITS.has(by):
                    yield f"an index is shifted by {_INDEX_BITS} ({_section(instruction)})"
            case Shifted(_, how, by) if not _MOVED[how].has(by):
                yield f"{how} is by {_MOVED[how]} (A7.4.2, Shift operations)"
            case int():
                numbers.append(operand)
    if numbers and (wanted := _wanted(name, numbers)):
        yield f"{wanted} ({_section(instruction)})"


def _offsets(name: str, mode: Mode) -> _Range | None:
    """Of the memory that an instruction names; None: it is not known."""
    if name in ("ldrd", "strd"):
        return _WORD_OFFSET
    if name in ("vldr", "vstr"):
        return _WORD_OFFSET if mode is Mode.OFFSET else _NONE
    if name.startswith("vst4"):
        return _NONE
    if name.startswith(("vldr", "vstr")):
        size = {"b": 1, "h": 2, "w": 4}[name[4]]
        return _Range(-127 * size, 127 * size, size)
    if name.startswith(("ldr", "str")):
        return _UP if mode is Mode.OFFSET else _BYTE_OFFSET
    return None


def _wanted(name: str, numbers: list[int]) -> str:
    """What the numbers of an instruction should be, in words; empty where they are."""
    number = numbers[0]
    if name in _CONSTANTS:
        return "" if is_constant(name, number) else _constants(name)
    if name in _FIELDS:
        first, width = numbers
        widths = _Range(1, 32 - first)
        return "" if _BITS.has(first) and widths.has(width) else "its bits lie in a word"
    allowed = _MOVED.get(name.removesuffix("s")) or _lanes(name)
    ranges = _NUMBERS.get(name) or ((allowed,) if allowed else ())
    wrong = [r for r, n in zip(ranges, numbers, strict=False) if not r.has(n)]
    return f"its number is one of {wrong[0]}" if wrong else ""


def _lanes(name: str) -> _Range | None:
    """By how many bits a vector instruction shifts its elements, or what it repeats."""
    whole, _, type_ = name.partition(".")
    if not name.startswith("v") or not type_[1:].isdigit():
        return None
    bits = int(type_[1:])
    if whole == "vshl":
        return _Range(0, bits - 1)
    if whole in ("vshr", "vrshr"):
        return _Range(1, bits)
    if whole[:-1] in _LANES_NARROWED:
        return _Range(1, bits // 2)
    return _Range(0, 255) if whole == "vmov" and bits == 8 else None


def _constants(name: str) -> str:
    """What constants an operation on words takes, in words."""
    more = "0 to 4095, " if name in ("add", "sub") else "0 to 65535, " if name == "mov" else ""
    return f"its number is one of {more}a byte, moved by bits, or repeated in a word"


def is_constant(name: str, number: int) -> bool:
    """Whether an operation on words takes a constant."""
    values = [number & _WORD]
    if name in _NEGATED:
        values.append(-number & _WORD)
    if name in _INVERTED:
        values.append(~number & _WORD)
    if name in ("add", "sub") and min(values) <= 4095:
        return True
    return (name == "mov" and _HALF.has(number)) or any(map(_is_modified, values))


def _is_modified(word: int) -> bool:
    """Whether a word is a byte, moved by bits, or repeated in it (A5.3.2, Modified immediate
    constants in Thumb instructions)."""
    low, second = word & 0xFF, word >> 8 & 0xFF
    if word in (low * 0x0001_0001, second * 0x0100_0100, low * 0x0101_0101):
        return True
    return word < 256 or word >> (word & -word).bit_length() - 1 < 256


def _section(instruction: Instruction) -> str:
    """Where a manual has the instruction."""
    title = instruction.name.partition(".")[0].upper()
    manual = "DDI 0553, C2.4" if instruction.is_vector else "DDI 0403, A7.7"
    return f"{title}, {manual}"
