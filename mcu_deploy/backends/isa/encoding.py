"""Which instructions of a kernel get an encoding of 16 bits.

The rules are those of Armv7-M (Arm Architecture Reference Manual DDI 0403, chapter A7) for what
kernels are written of; what they do not name is taken for 32 bits.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate

from mcu_deploy.backends.isa.instruction import Instruction, Item
from mcu_deploy.backends.isa.operands import Label, Register
from mcu_deploy.backends.isa.ranges import EncodingError
from mcu_deploy.backends.isa.table import TABLE, split

_LOW = r"r[0-7]"
_ANY = r"(?:r\d+|sp|lr)"
_LIST = rf"{{{_LOW}(?:[-,]{_LOW})*"

# Operands without spaces. \1 again: the first source is the destination.
_NARROW = {
    name: re.compile(pattern)
    for names, pattern in {
        "mov": rf"{_ANY},{_ANY}",
        "movs": rf"{_LOW},(?:{_LOW}|#\d+)",
        "add": rf"({_ANY}),(?:\1,)?{_ANY}|{_LOW},sp,#\d+|sp,(?:sp,)?#\d+",
        "sub": r"sp,(?:sp,)?#\d+",
        "adds subs": rf"{_LOW},{_LOW},(?:{_LOW}|#[0-7])|({_LOW}),(?:\1,)?#\d+",
        "ands orrs eors bics adcs sbcs": rf"({_LOW}),(?:\1,)?{_LOW}",
        "muls": rf"({_LOW}),(?:{_LOW},)?\1|{_LOW},{_LOW}",
        "mvns rsbs negs": rf"{_LOW},{_LOW}(?:,#0)?",
        "lsls lsrs asrs": rf"{_LOW},{_LOW},#\d+|({_LOW}),(?:\1,)?{_LOW}",
        "cmp": rf"{_ANY},{_ANY}|{_LOW},#\d+",
        "tst cmn sxtb sxth uxtb uxth rev rev16": rf"{_LOW},{_LOW}",
        "ldr str": rf"{_LOW},\[(?:{_LOW}(?:,{_LOW})?|(?:{_LOW}|sp)(?:,#(\d+))?)\]",
        "ldrb strb ldrh strh": rf"{_LOW},\[{_LOW}(?:,{_LOW}|,#(\d+))?\]",
        "ldrsb ldrsh": rf"{_LOW},\[{_LOW},{_LOW}\]",
        "ldm ldmia stm stmia": rf"{_LOW}!,{_LIST}}}",
        "push": rf"{_LIST}(?:,lr)?}}",
        "pop": rf"{_LIST}(?:,pc)?}}",
        "bx blx": _ANY,
        "cbz cbnz nop it ite itt itte ittt": r".*",
    }.items()
    for name in names.split()
}
# Of numbers the largest, and the steps that they are in.
_REACH = {"ldr": (124, 4), "str": (124, 4), "ldrh": (62, 2), "strh": (62, 2)}
_REACH |= dict.fromkeys(("ldrb", "strb"), (31, 1))
_REACH |= dict.fromkeys(("movs", "cmp", "adds", "subs"), (255, 1))
_OF_STACK, _TO_STACK, _ANY_NUMBER = (1020, 4), (508, 4), (1020, 1)


# How far behind itself (PC, four bytes on) an instruction reaches its label. Of branches by a
# condition and without one it is further than any kernel.
_REACHED = dict.fromkeys(("cbz", "cbnz"), (-2, 126))
_REACHED |= dict.fromkeys(("le", "letp"), (-4094, 0))
_REACHED |= dict.fromkeys(("wls", "wlstp.8", "wlstp.16", "wlstp.32"), (0, 4094))
_REACHED |= {"adr": (-4095, 4095)}


def require_near(items: Sequence[Item], at: Sequence[int]) -> None:
    """EncodingError: an instruction does not reach its label. at: as `addresses` has them."""
    labels = {item: n for n, item in enumerate(items) if isinstance(item, Label)}
    for n, item in enumerate(items):
        if not isinstance(item, Instruction) or item.name not in _REACHED:
            continue
        label = next(o for o in item.operands if isinstance(o, Label))
        if label not in labels:
            continue
        first, last = _REACHED[item.name]
        distance = at[labels[label]] - at[n] - 4
        if not first <= distance <= last:
            raise EncodingError(
                f"`{item}` has no encoding: its label is {distance} bytes from PC, which is not "
                f"one of {first} to {last}; branch by B to what is further"
            )


def addresses(items: Sequence[Item]) -> list[int]:
    """Of each item, in bytes from the first; and the size of all. Labels and notes have none."""
    unique = {id(item): item for item in items}
    # A branch has none until it is known where it goes.
    sizes = {
        key: 0 if not isinstance(item, Instruction) else
        4 if item.mnemonic.endswith(".w") else
        None if item.name == "b" else _of_no_branch(item.text)
        for key, item in unique.items()
    }  # fmt: skip
    taken = [sizes[id(item)] for item in items]
    branches = [n for n, size in enumerate(taken) if size is None]
    known = [4 if size is None else size for size in taken]
    labels = {item: n for n, item in enumerate(items) if isinstance(item, Label)}
    while True:  # which branches are short is known when all others are taken for long
        at = [*accumulate(known, initial=0)]
        short = [n for n in branches if _is_near(items[n], at[n], at, labels)]
        if not short:
            return at
        for n in short:
            known[n] = 2
        branches = [n for n in branches if known[n] > 2]


def size(items: Sequence[Item]) -> int:
    """The bytes of instructions."""
    return addresses(items)[-1]


def _is_near(item: Item, begin: int, at: Sequence[int], labels: Mapping[Label, int]) -> bool:
    """Whether a branch that begins there reaches its label in 16 bits. at: of all items."""
    assert isinstance(item, Instruction)
    label = item.operands[0]
    if not isinstance(label, Label) or label not in labels:
        return False
    return abs(at[labels[label]] - begin) < (250 if item.condition else 2040)


def may_be_short(name: str) -> bool:
    """Whether an instruction of that name has an encoding of 16 bits for some operands."""
    return name in _NARROW or f"{name}s" in _NARROW


def takes_high(instruction: Instruction) -> bool:
    """Whether its encoding of 16 bits takes r8 and up."""
    pattern = _NARROW.get(instruction.name)
    is_of_registers = all(isinstance(operand, Register) for operand in instruction.operands)
    return pattern is not None and is_of_registers and _ANY in pattern.pattern


def is_wide(instruction: Instruction) -> bool:
    """Whether its encoding has 32 bits, and Armv6-M lacks it."""
    if instruction.name == "b":
        return instruction.mnemonic.endswith(".w")
    row = TABLE[split(instruction.mnemonic)[0]]
    return bool(row.wide | row.features) and _of_no_branch(instruction.text) == 4


@functools.lru_cache(1 << 14)
def _of_no_branch(statement: str) -> int:
    mnemonic, _, operands = statement.partition(" ")
    name, condition = split(mnemonic)
    # In an IT block the short forms that set the flags elsewhere do not.
    forms = (name, f"{name}s") if condition else (mnemonic,)
    text = re.sub(r"\s", "", operands)
    if not any(form in _NARROW and _NARROW[form].fullmatch(text) for form in forms):
        return 4
    numbers = re.findall(r"#(-?\d+)", operands)
    most, step = (
        _TO_STACK if text.startswith("sp,") else
        _OF_STACK if "sp" in text else _REACH.get(forms[-1], _ANY_NUMBER)
    )  # fmt: skip
    return 2 if all(0 <= int(n) <= most and int(n) % step == 0 for n in numbers) else 4
