"""Kernels for cores without an FPU, whose registers most of them only keep values in.

These registers become words of the stack: a VMOV is a load or a store. The one computation that
may be left is `vcvtr(vcvt(sum) * factor)`, a sum to an output as ONNX rounds it where no integers
do: float32's own steps, by a subroutine of integers. Anything else of an FPU is a ValueError.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcu_deploy.backends.isa.instruction import Instruction, Item, parsed
from mcu_deploy.backends.isa.operands import SP, Kind, Label, Memory, Register, physical, words_of

_SAVED = 24  # bytes, of what the subroutine takes
_SUBROUTINE, _END = Label(90), Label(91)
# r0: the sum, then the output; r1: the bits of the factor, which is above zero. A mantissa of 24
# bits is rounded to nearest, ties to even, by half of its last place less one, and the last bit.
_TO_24_BITS = ("ubfx r3, r0, #7, #1", "add r0, r0, r3", "add r0, r0, #63", "bic r0, r0, #127")
_ROUNDED_PRODUCT = (
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
    "eor r0, r0, r12", "sub r0, r0, r12", "bx lr",
)  # fmt: skip


def soft(items: Sequence[Item]) -> list[Item]:
    """Instructions as they are without an FPU."""
    used = [
        word
        for item in items
        if isinstance(item, Instruction)
        for register in item.registers
        if register.kind is not Kind.CORE
        for word in _places(register)
    ]
    if not used:
        return [*items]
    first = min(used) & ~1
    size = 4 * (max(used) | 1) + 4 - 4 * first
    made: list[Item] = [parsed(f"sub sp, sp, #{size}")]
    for item in items:
        made += _converted(item, first) if isinstance(item, Instruction) else [item]
    if any(isinstance(item, Instruction) and item.name == "bl" for item in made):
        made += [Instruction("b", (_END,)), _SUBROUTINE, *map(parsed, _ROUNDED_PRODUCT), _END]
    return [*made, parsed(f"add sp, sp, #{size}")]


def _places(register: Register) -> range:
    """The S registers that a register is made of."""
    assert register.place is not None
    return words_of(register.kind, register.place)


def _converted(instruction: Instruction, first: int) -> Iterator[Item]:
    """first: the register of the word at the stack pointer."""
    mnemonic, operands = instruction.mnemonic, instruction.operands
    if not mnemonic.startswith("v"):
        yield instruction
        return

    def at(register: Register, above: int = 0) -> Memory:
        return Memory(SP, 4 * (_places(register)[0] - first) + above)

    registers = [operand for operand in operands if isinstance(operand, Register)]
    kinds = "".join(register.kind for register in registers)
    match mnemonic, kinds:
        case "vmov", "sr":
            yield Instruction("str", (registers[1], at(registers[0])))
        case "vmov", "rs":
            yield Instruction("ldr", (registers[0], at(registers[1])))
        case "vmov", "drr" | "ssrr":
            yield Instruction("strd", (*registers[-2:], at(registers[0])))
        case "vmov", "rrd" | "rrss":
            yield Instruction("ldrd", (*registers[:2], at(registers[2])))
        case "vcvt.f32.s32" | "vcvtr.s32.f32", "ss":
            pass  # of the subroutine, whose factor VMUL names
        case "vmul.f32", "sss":
            yield parsed("push {r0-r3, r12, lr}")
            yield Instruction("ldr", (physical("r0"), at(registers[1], _SAVED)))
            yield Instruction("ldr", (physical("r1"), at(registers[2], _SAVED)))
            yield Instruction("bl", (_SUBROUTINE,))
            yield Instruction("str", (physical("r0"), at(registers[0], _SAVED)))
            yield parsed("pop {r0-r3, r12, lr}")
        case _:
            raise ValueError(f"`{instruction}` has no form for cores without an FPU")
