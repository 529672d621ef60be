"""Kernels for cores without an FPU, whose registers most of them only keep values in.

These registers become words of the stack: a VMOV is a load or a store. The one computation that
may be left is `vcvtr(vcvt(sum) * factor)`, a sum to an output as ONNX rounds it where no integers
do: float32's own steps, by a subroutine of integers. Anything else of an FPU is a ValueError.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcu_deploy.backends.isa.assembly import NOTE

_FLOATS = re.compile(r"(?<![.\w])([sd])(\d+)\b")
_SAVED = 24  # bytes, of what the subroutine takes
_SUBROUTINE, _END = "90", "91"
# r0: the sum, then the output; r1: the bits of the factor, which is above zero. A mantissa of 24
# bits is rounded to nearest, ties to even, by half of its last place less one, and the last bit.
_TO_24_BITS = ("ubfx r3, r0, #7, #1", "add r0, r0, r3", "add r0, r0, #63", "bic r0, r0, #127")
_ROUNDED_PRODUCT = (
    f"b {_END}f", f"{_SUBROUTINE}:",
    # The sum as float32: its magnitude, moved up to bit 30, of which 24 bits are left.
    "asr r12, r0, #31", "eor r0, r0, r12", "sub r0, r0, r12",
    "clz r2, r0", "sub r2, r2, #1", "lsl r0, r0, r2", *_TO_24_BITS,
    # The product of the mantissas, with a last bit that is set where bits are lost below it.
    "sub r2, r2, r1, lsr #23", "add r2, r2, #125", "lsl r1, r1, #8", "orr r1, r1, #0x80000000",
    "umull r3, r0, r1, r0", "tst r0, #0x40000000",
    "itttt eq", "lsleq r0, r0, #1", "orreq r0, r0, r3, lsr #31", "lsleq r3, r3, #1",
    "addeq r2, r2, #1", "cmp r3, #0", "it ne", "orrne r0, r0, #1", *_TO_24_BITS,
    # To an integer, r2 + 1 bits further down. Beyond 32 it is 0, and below 1 it is out of range.
    "usat r2, #5, r2", "lsr r3, r0, r2", "ubfx r3, r3, #1, #1", "add r0, r0, r3", "mov r3, #1",
    "lsl r3, r3, r2", "sub r3, r3, #1", "add r0, r0, r3", "lsr r0, r0, r2", "lsr r0, r0, #1",
    "eor r0, r0, r12", "sub r0, r0, r12", "bx lr", f"{_END}:",
)  # fmt: skip


def soft(lines: Sequence[str]) -> list[str]:
    """Statements (`Assembly.lines`) as they are without an FPU."""
    used = [
        (kind, int(number))
        for line in lines if not line.startswith(NOTE)
        for kind, number in _FLOATS.findall(line)
    ]  # fmt: skip
    if not used:
        return [*lines]
    last = max(number if kind == "s" else 2 * number + 1 for kind, number in used)
    first = min(number if kind == "s" else 2 * number for kind, number in used) & ~1
    size = 4 * (last | 1) + 4 - 4 * first
    made = [f"sub sp, sp, #{size}"]
    for line in lines:
        made += _converted(line, first)
    if f"bl {_SUBROUTINE}f" in made:
        made += _ROUNDED_PRODUCT
    return [*made, f"add sp, sp, #{size}"]


def _converted(statement: str, first: int) -> Iterator[str]:
    """first: the register of the word at the stack pointer."""
    mnemonic, _, operands = statement.partition(" ")
    if not mnemonic.startswith("v"):
        yield statement
        return

    def at(register: str, above: int = 0) -> str:
        number = int(register[1:]) * (2 if register[0] == "d" else 1)
        return f"[sp, #{4 * (number - first) + above}]"

    names = operands.split(", ")
    is_float = [_FLOATS.fullmatch(name) is not None for name in names]
    match mnemonic, *is_float:
        case "vmov", True, False:
            yield f"str {names[1]}, {at(names[0])}"
        case "vmov", False, True:
            yield f"ldr {names[0]}, {at(names[1])}"
        case ("vmov", True, False, False) | ("vmov", True, True, False, False):
            yield f"strd {names[-2]}, {names[-1]}, {at(names[0])}"
        case ("vmov", False, False, True) | ("vmov", False, False, True, True):
            yield f"ldrd {names[0]}, {names[1]}, {at(names[2])}"
        case (("vcvt.f32.s32" | "vcvtr.s32.f32"), True, True):
            pass  # of the subroutine, whose factor VMUL names
        case "vmul.f32", True, True, True:
            yield from ("push {r0-r3, r12, lr}", f"ldr r0, {at(names[1], _SAVED)}")
            yield from (f"ldr r1, {at(names[2], _SAVED)}", f"bl {_SUBROUTINE}f")
            yield from (f"str r0, {at(names[0], _SAVED)}", "pop {r0-r3, r12, lr}")
        case _:
            raise ValueError(f"`{statement}` has no form for cores without an FPU")
