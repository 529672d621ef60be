"""What stands around a kernel's instructions: the prologue, the epilogue, and the call.

A prologue saves what the kernel uses of r4-r11, lr and s16-s31; the epilogue returns."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from mcu_deploy.backends.isa.instruction import Instruction, Item
from mcu_deploy.backends.isa.model import Model
from mcu_deploy.backends.isa.operands import (
    CORE_BITS,
    LR,
    PC,
    SP,
    Memory,
    Register,
    Registers,
    bits_of,
    physical,
)  # fmt: skip

_FIRST_SAVED, _LAST_SAVED, _LR, _FIRST_SAVED_FLOAT = 4, 11, 14, 16
_CALL = 10  # cycles of its arguments and of BL

# Core registers, and D registers.
_Saved = tuple[tuple[Register, ...], tuple[Register, ...]]


def framed(items: Sequence[Item], arguments: int = 0) -> list[Item]:
    """Instructions between a prologue and an epilogue, which returns. A fifth argument is what the
    caller's stack ends with."""
    begin, end = _frame(_saved(items))
    if arguments > 4:
        begin = (Instruction("ldr", (physical("r12"), Memory(SP))), *begin)
    return [*begin, *items, *end]


def framing(items: Sequence[Item], model: Model, has_fpu: bool) -> float:
    """The cycles of a call of a kernel beside those of its own instructions."""
    core, floats = _saved(items)
    return _cycles((core, floats if has_fpu else ()), model)


@functools.lru_cache(1 << 8)
def _cycles(saved: _Saved, model: Model) -> float:
    return _CALL + sum(model.cycles([*map(model.issue_of, part)], False) for part in _frame(saved))


def _frame(saved: _Saved) -> tuple[tuple[Instruction, ...], tuple[Instruction, ...]]:
    core, floats = saved
    begin: list[Instruction] = []
    if core:
        begin.append(Instruction("push", (Registers(core),)))
    end = [Instruction("bx", (LR,))]
    if LR in core:
        end = [Instruction("pop", (Registers((*core[:-1], PC)),))]
    elif core:
        end = [Instruction("pop", (Registers(core),)), *end]
    if floats:
        begin.append(Instruction("vpush", (Registers(floats),)))
        end.insert(0, Instruction("vpop", (Registers(floats),)))
    return tuple(begin), tuple(end)


def _saved(items: Iterable[Item]) -> _Saved:
    """What instructions use that a caller wants back."""
    words = 0
    for item in items:
        if isinstance(item, Instruction):
            words |= _words(item)
    core = [physical(f"r{n}") for n in range(_FIRST_SAVED, _LAST_SAVED + 1) if words >> n & 1]
    core += [LR] * (words >> _LR & 1)
    last_float = (words >> CORE_BITS.bit_length()).bit_length() - 1
    doubles = range(_FIRST_SAVED_FLOAT // 2, last_float // 2 + 1)
    return tuple(core), tuple(physical(f"d{n}") for n in doubles)


@functools.lru_cache(1 << 14)
def _words(instruction: Instruction) -> int:
    """The words of its registers, which all have places, as bits."""
    found = 0
    for register in instruction.registers:
        assert register.place is not None, f"{register} has no place"
        found |= bits_of(register.kind, register.place)
    return found
