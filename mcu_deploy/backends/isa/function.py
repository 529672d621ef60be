"""A kernel in assembler as a C function: naked, by the procedure call standard (AAPCS32).

The compiler adds nothing to such a function and knows nothing of its inside, so that gcc and clang
compile it to the same instructions at every level of optimisation, with and without frame pointers.
It has its own prologue, which saves what it uses of r4-r11, lr and s16-s31.
"""

from __future__ import annotations

import functools
import itertools
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from mcu_deploy.backends.interface import CFunction, Fetched, Parameter
from mcu_deploy.backends.isa.assembly import Assembly
from mcu_deploy.backends.isa.encoding import size
from mcu_deploy.backends.isa.framing import framed
from mcu_deploy.backends.isa.instruction import NOTE, Instruction, Item, Note, direction
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.isa.operands import LR, Label, Register, by_name
from mcu_deploy.backends.isa.schedule import scheduled
from mcu_deploy.backends.isa.soft import soft
from mcu_deploy.backends.layer import Target

_INDENT = len("    __asm__(")
_WIDTH = 100
_NAMES_AT = 40  # where the comments with names begin
_ARGUMENTS = 5  # of which registers hold four


def kernel(
    stem: str,
    parameters: Sequence[Parameter],
    code: Assembly,
    target: Target,
    calls: int = 1,
) -> CFunction:
    """The function; the code finds its arguments in r0-r3, and a fifth in r12, which the prologue
    loads from the stack. Notes before the first instruction stand over it. target: what it
    is for: without an FPU, that one's registers are words of the stack (`soft`), and for a core
    whose pipeline is known its instructions are ordered (`scheduled`). calls: in one run of a
    layer, each of which waits for its code as `code` says.
    """
    if len(parameters) > _ARGUMENTS:
        raise ValueError(f"{stem} has {len(parameters)} parameters, and a kernel has five at most")
    above = [item.text for item in itertools.takewhile(_is_note, code.items) if _is_note(item)]
    moving = [item for item in code.items[len(above) :] if not _moves_nothing(item)]
    items = moving if target.fpu else soft(moving)
    if target.core in MODELS:
        items = [*scheduled(tuple(items), MODELS[target.core])]
    items = _numbered(framed(items, len(parameters)))
    text = "\n".join(_strings(items))
    body = f'{{\n    __asm__(".syntax unified\\n"\n{text});\n}}'
    comment = tuple(line for text in above for line in textwrap.wrap(text, _WIDTH - 6))
    waited = calls * round(code.waited_for_code(target))
    fetched = Fetched(size(items), waited, code.digest) if waited else None
    return CFunction(
        stem, tuple(parameters), body, naked=True, comment=comment, fetched=fetched
    )  # fmt: skip


def _is_note(item: Item) -> TypeGuard[Note]:
    return isinstance(item, Note)


def _moves_nothing(item: Item) -> bool:
    """Whether it moves a register to itself, as a copy does that got its original's place."""
    if not isinstance(item, Instruction) or item.mnemonic != "mov":
        return False
    places = [o.place if isinstance(o, Register) else None for o in item.operands]
    return places[0] is not None and places[0] == places[1]


def _numbered(items: Sequence[Item]) -> list[Item]:
    """With the labels that something goes to, numbered as they come."""
    code = [item for item in items if isinstance(item, Instruction)]
    used = {label for item in code for label in (item.label, *item.targets)}
    kept = [item for item in items if not isinstance(item, Label) or item in used]
    labels = (item for item in kept if isinstance(item, Label))
    new = {label: Label(number) for number, label in enumerate(labels, 1)}
    return [_relabelled(item, new) for item in kept]


def _relabelled(item: Item, new: Mapping[Label, Label]) -> Item:
    match item:
        case Label():
            return new[item]
        case Instruction() if item.label is not None or item.targets:
            operands = tuple(new[o] if isinstance(o, Label) else o for o in item.operands)
            return Instruction(item.mnemonic, operands, tuple(new[label] for label in item.targets))
    return item


def _strings(items: Sequence[Item]) -> Iterator[str]:
    """A C string literal for each instruction, behind which stands what its registers hold, and
    comments between them."""
    at = " " * _INDENT
    placed: set[Label] = set()
    # Where computed jumps go to, which the object says by symbols: the analysis of the stack
    # follows such jumps there alone. What a subroutine returns to is none of them.
    stated = {
        label for item in items if isinstance(item, Instruction) and item.operands
        if item.operands[0] is not LR for label in item.targets
    }  # fmt: skip
    names = itertools.count(1)
    for item in items:
        match item:
            case Note(text):
                yield from (f"{at}{row}" for row in _comment(text))
            case Label():
                placed.add(item)
                if item in stated:
                    yield f'{at}"$.to{next(names)}:\\n"'
                yield f'{at}"{item}:\\n"'
            case Instruction():
                row = f'{at}"    {item.printed(direction=direction(item, placed))}\\n"'
                held = _held(item)
                whole = f"{row:{_INDENT + _NAMES_AT - 1}} {NOTE} {held} */"
                if held and len(whole) > _WIDTH:  # of a long list
                    yield from (f"{at}{part}" for part in _comment(held))
                yield row if not held or len(whole) > _WIDTH else whole


def _held(instruction: Instruction) -> str:
    """The operands but labels by the names of their registers; empty where these have none."""
    if all(r.is_physical for r in instruction.registers):
        return ""
    operands = tuple(o for o in instruction.operands if not isinstance(o, Label))
    return Instruction(instruction.mnemonic, operands).printed(by_name).partition(" ")[2]


@functools.lru_cache(1 << 10)
def _comment(note: str) -> list[str]:
    return [f"{NOTE} {part} */" for part in textwrap.wrap(note, _WIDTH - _INDENT - 6)]
