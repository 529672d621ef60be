"""Instructions as a core sees them: registers that have one place and region are one, whatever they
are called, and so are labels."""

from __future__ import annotations

import functools

from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.operands import Label, Operand

_ANYWHERE = Label(0)


class _Plain(Instruction):
    """Of equal ones there is one, so that to be equal is to be the same: caches are asked by runs
    of many thousands."""

    __eq__, __hash__ = object.__eq__, object.__hash__


@functools.lru_cache(1 << 14)
def plain(instruction: Instruction) -> Instruction:
    """One value for all that are equal so."""
    found = instruction.renamed(lambda register: register.plain)
    operands = tuple([_ANYWHERE if isinstance(o, Label) else o for o in found.operands])
    return _one(found.mnemonic, operands, bool(found.targets))


@functools.lru_cache(1 << 14)
def _one(mnemonic: str, operands: tuple[Operand, ...], has_targets: bool) -> Instruction:
    return _Plain(mnemonic, operands, (_ANYWHERE,) if has_targets else ())
