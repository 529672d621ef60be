"""Lists that are loaded between products, as loads of single words and one addition to their base
behind them: of such loads a Cortex-M7 issues two at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcu_deploy.backends.isa.accesses import Resource, accesses_of, resources_of
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.operands import Memory, Mode, Moving, Register, Registers
from mcu_deploy.backends.isa.pipeline import M7

_FEWEST_PRODUCTS = 4  # of a piece whose lists are split
_FARTHEST = 1000  # bytes from a base


def split(code: Sequence[Instruction]) -> list[Instruction]:
    """A straight piece without lists that are loaded, if it has products to load beside. Bases move
    on at the end, or before anything else is done with them."""
    has_lists = any(_loaded(instruction) for instruction in code)
    if not has_lists or sum(M7.issue_of(i).is_product for i in code) < _FEWEST_PRODUCTS:
        return [*code]
    made: list[Instruction] = []
    ahead: dict[Resource, tuple[Register, int]] = {}

    def settle(place: Resource) -> None:
        if place in ahead:
            base, by = ahead.pop(place)
            made.append(Instruction("add", (base, base, by)))

    for instruction in code:
        split = _loaded(instruction)
        if split is not None:
            base, registers, moves = split
            (at,) = resources_of(base)
            for register in registers:
                settle(*resources_of(register))
            if at in ahead and ahead[at][1] + 4 * len(registers) > _FARTHEST:
                settle(at)
            first = ahead[at][1] if at in ahead else 0
            made += [
                Instruction("ldr", (register, Memory(base, first + 4 * n)))
                for n, register in enumerate(registers)
            ]
            if moves:
                ahead[at] = base, first + 4 * len(registers)
            continue
        if not ahead:
            made.append(instruction)
            continue
        moved = _moved_by(instruction, ahead)
        found = accesses_of(moved)
        base_alone = _base_of(moved) if moved is not instruction else None
        for resource in sorted(ahead):
            is_written = resource in found.writes
            if is_written or (resource in found.reads and resource != base_alone):
                settle(resource)
                moved, base_alone = _moved_by(instruction, ahead), None
        made.append(moved)
    for place in [*ahead]:
        settle(place)
    return made


def _loaded(instruction: Instruction) -> tuple[Register, tuple[Register, ...], bool] | None:
    """Of an LDMIA of core registers that leaves its base: the base, the registers, and whether the
    base moves on."""
    if instruction.mnemonic.removesuffix(".w") not in ("ldmia", "ldm"):
        return None
    base, registers = instruction.operands
    assert isinstance(registers, Registers)
    of = base.register if isinstance(base, Moving) else base
    assert isinstance(of, Register)
    if any(r.place == of.place for r in registers.registers):
        return None
    return of, registers.registers, isinstance(base, Moving)


def _base_of(instruction: Instruction) -> Resource | None:
    """The base of its memory where it is no other operand of it as well."""
    memory = instruction.operands[-1]
    assert isinstance(memory, Memory)
    (base,) = resources_of(memory.base)
    others = [w for o in instruction.operands if isinstance(o, Register) for w in resources_of(o)]
    return None if base in others else base


def _moved_by(
    instruction: Instruction, ahead: Mapping[Resource, tuple[Register, int]]
) -> Instruction:
    """A load or store of a word, by how far its base has still to move."""
    memory = instruction.operands[-1] if instruction.operands else None
    if instruction.mnemonic not in ("ldr", "str") or not isinstance(memory, Memory):
        return instruction
    (base,) = resources_of(memory.base)
    if base not in ahead or memory.mode is not Mode.OFFSET:
        return instruction
    if not isinstance(memory.offset, int) or memory.offset < 0:
        return instruction
    moved = Memory(memory.base, memory.offset + ahead[base][1])
    return Instruction(instruction.mnemonic, (*instruction.operands[:-1], moved))
