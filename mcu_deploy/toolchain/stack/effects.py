"""What one Thumb instruction does to SP, and where control goes after it, by its text.

An instruction whose effect on SP cannot be told raises UnknownEffect: nothing is guessed.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from mcu_deploy.elf.disassembly import Disassembled

_CONDITIONS = "eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le"
_PLAIN = re.compile(
    r"^(?P<base>push|pop|stmdb|stmfd|ldmia|ldmfd|ldmdb|ldmea|ldm|vpush|vpop|vstmdb|vldmia|addw|subw"
    r"|add|sub|adds|subs|mov|bl|blx|blxns|bx|bxns|ldr|cbz|cbnz|wls|dls|le|letp|wlstp|tbb|tbh)"
    rf"(?P<condition>{_CONDITIONS})?(?:\.\w+)*$"
)
_BRANCH = re.compile(rf"^b(?P<condition>{_CONDITIONS})?(?:\.[nw])?$")
_TARGET = re.compile(r"(?<!\S)0x(?P<address>[0-9a-f]+)$")
_IMMEDIATE = re.compile(r"^sp, (?:sp, )?#(?P<bytes>-?\d+)\s*$")
_PRE_INDEXED = re.compile(r"\[sp, #(?P<bytes>-?\d+)\]!")
_POST_INDEXED = re.compile(r"\[sp\], #(?P<bytes>-?\d+)")
_LITERAL = re.compile(r"^pc, \[pc(?:, #(?P<offset>-?\d+))?\]")
_STACK_POINTER = re.compile(r"(?i)[mp]sp(?:_ns)?\b")  # and not MSPLIM, which limits it
_TABLE = re.compile(r"^pc, \[\w+, \w+, lsl #2\]")
# How gcc itself sets SP from a register: with a frame pointer, and for large frames on Thumb-1.
_AS_GCC = re.compile(r"^(?:mov sp, r7|add sp, (?:sp, )?r[0-7])\s*$")
_STORES_LR = re.compile(r"^str(?:\.w)? lr, \[sp, #-\d+\]!")
_WRITES_LR = re.compile(r"^lr\b|^\w+, lr, \[|\{.*\blr\b.*\}")
# Instructions whose first operand is a register that they only read.
_READS_FIRST = re.compile(r"^(cmp|cmn|tst|teq|str|stm|push|vstr|vstm|vst|msr|pld|vpush)")


class UnknownEffect(Exception):
    """An instruction changes SP in a way that cannot be told from its text."""


@dataclass(frozen=True)
class Successors:
    """Where control goes after an instruction.

    calls/jumps: an address; indirect: through a register or memory; table: a jump as a switch's is,
    to an address that is computed or read; literal: the address of the word that PC is loaded from;
    falls: to the next instruction too.
    """

    calls: int | None = None
    jumps: int | None = None
    literal: int | None = None
    indirect_call: bool = False
    indirect_jump: bool = False
    table: bool = False
    falls: bool = True


_ON = Successors()
_END = Successors(falls=False)
# What may go elsewhere than to the next instruction, beside branches.
_LEAVES = {
    "bl", "blx", "blxns", "bx", "bxns", "mov", "cbz", "cbnz", "wls", "wlstp", "le", "letp", "tbb",
    "tbh", "add", "adds", "pop", "ldmia", "ldmfd", "ldmdb", "ldmea", "ldm", "ldr",
}  # fmt: skip
# What goes elsewhere, or moves SP, whatever its operands are.
_NEVER_ORDINARY = {
    "b", "bl", "blx", "blxns", "bx", "bxns", "cbz", "cbnz", "wls", "wlstp", "dls", "le", "letp",
    "tbb", "tbh", "push", "pop", "vpush", "vpop",
}  # fmt: skip


@functools.lru_cache(4096)
def _parts(mnemonic: str) -> tuple[str, bool]:
    """A mnemonic without its condition and its width, and whether it has a condition; of those
    that do not matter here all of it."""
    found = _BRANCH.match(mnemonic)
    if found is not None:
        return "b", found["condition"] is not None
    found = _PLAIN.match(mnemonic)
    return (mnemonic, False) if found is None else (found["base"], found["condition"] is not None)


@functools.lru_cache(4096)
def _is_ordinary(mnemonic: str) -> bool:
    base, _ = _parts(mnemonic)
    return base not in _NEVER_ORDINARY and not mnemonic.startswith(("udf", "msr"))


def is_ordinary(instruction: Disassembled) -> bool:
    """Whether all that it does here is to go on behind itself: as nearly all do, which is found
    out quickly."""
    operands = instruction.operands
    names_none = "sp" not in operands and "lr" not in operands and "pc" not in operands
    return names_none and _is_ordinary(instruction.mnemonic)


def flow(instruction: Disassembled) -> Successors:
    """Where control goes after `instruction`."""
    operands = instruction.operands
    base, conditional = _parts(instruction.mnemonic)
    if base == "b":
        return Successors(jumps=_target(instruction), falls=conditional)
    if base not in _LEAVES:
        return _END if instruction.mnemonic.startswith("udf") else _ON
    if base == "bl" or (base == "blx" and _TARGET.search(operands)):
        return Successors(calls=_target(instruction))
    if base in {"blx", "blxns"}:
        return Successors(indirect_call=True)
    if base in {"bx", "bxns"}:
        return Successors(indirect_jump=operands != "lr", falls=conditional)
    if base == "mov" and operands.startswith("pc, "):
        # gcc jumps into a switch's table like this on cores with Thumb-1 only.
        return Successors(table=operands != "pc, lr", falls=False)
    if base in {"cbz", "cbnz", "wls", "wlstp", "le", "letp"}:
        return Successors(jumps=_target(instruction))
    if base in {"tbb", "tbh"} or (base in {"add", "adds"} and operands.startswith("pc, ")):
        return Successors(table=True, falls=False)
    if base in {"pop", "ldmia", "ldmfd", "ldmdb", "ldmea", "ldm"} and re.search(
        r"\bpc\b", operands
    ):
        upwards = base not in {"ldmdb", "ldmea"}
        is_return = base == "pop" or (upwards and operands.startswith("sp!,"))
        return Successors(indirect_jump=not is_return, falls=conditional)
    if base == "ldr" and operands.startswith("pc, "):
        return _load_pc(instruction, conditional)
    return _ON


def _load_pc(instruction: Disassembled, conditional: bool) -> Successors:
    operands = instruction.operands
    if _POST_INDEXED.search(operands):  # a return: ldr pc, [sp], #4
        return Successors(falls=conditional)
    if literal := _LITERAL.match(operands):  # a linker's veneer
        base = (instruction.address + 4) & ~3
        return Successors(literal=base + int(literal["offset"] or 0), falls=conditional)
    if _TABLE.match(operands):
        return Successors(table=True, falls=conditional)
    return Successors(indirect_jump=True, falls=conditional)


def _target(instruction: Disassembled) -> int:
    found = _TARGET.search(instruction.operands)
    if found is None:
        raise UnknownEffect(f"`{instruction}` has no target")
    return int(found["address"], 16)


def is_conditional(instruction: Disassembled) -> bool:
    """Whether the instruction, inside an IT block, may be skipped."""
    base, conditional = _parts(instruction.mnemonic)
    return conditional and base != "b"


def stack_effect(instruction: Disassembled) -> int:
    """By how many bytes the stack grows with this instruction (negative: shrinks).

    Raises UnknownEffect where SP is written by an instruction that is none of the usual ones.
    """
    mnemonic, operands = instruction.mnemonic, instruction.operands
    base, _ = _parts(mnemonic)
    if base in {"push", "vpush"}:
        return _list_bytes(operands)
    if base in {"pop", "vpop"}:
        return -_list_bytes(operands)
    if "sp" not in operands and not mnemonic.startswith("msr"):
        return 0
    if operands.startswith("sp!,"):
        if base in {"stmdb", "stmfd", "vstmdb"}:
            return _list_bytes(operands)
        if base in {"ldmia", "ldmfd", "ldm", "vldmia"}:
            return -_list_bytes(operands)
        raise UnknownEffect(f"`{instruction}` moves SP")
    if moved := _PRE_INDEXED.search(operands) or _POST_INDEXED.search(operands):
        return -int(moved["bytes"])
    # A list that SP is the address of, without "!", leaves it where it is.
    reads = operands.startswith("sp, {") or _READS_FIRST.match(mnemonic)
    if operands.startswith("sp,") and not reads:
        immediate = _IMMEDIATE.match(operands)
        if immediate and base in {"sub", "subs", "subw"}:
            return int(immediate["bytes"])
        if immediate and base in {"add", "adds", "addw"}:
            return -int(immediate["bytes"])
        raise UnknownEffect(f"`{instruction}` sets SP")
    if "[sp" in operands and (operands.endswith("!") or "[sp]," in operands):
        raise UnknownEffect(f"`{instruction}` moves SP")
    if mnemonic.startswith("msr") and _STACK_POINTER.match(operands):
        raise UnknownEffect(f"`{instruction}` sets SP")
    return 0


def is_by_lr(instruction: Disassembled) -> bool:
    """Whether it goes to where LR points."""
    base, _ = _parts(instruction.mnemonic)
    return f"{base} {instruction.operands}" in {"bx lr", "bxns lr", "mov pc, lr"}


def saves_lr(instruction: Disassembled, before: int) -> int | None:
    """How deep the stack is above the word that LR is saved in; None where it is not pushed."""
    base, _ = _parts(instruction.mnemonic)
    if base in {"push", "stmdb", "stmfd"} and re.search(r"\blr\b", instruction.operands):
        return before
    if _STORES_LR.match(f"{instruction.mnemonic} {instruction.operands}"):
        return before + stack_effect(instruction) - 4
    return None


def pops_pc(instruction: Disassembled, before: int) -> int | None:
    """How deep the stack is above the word that PC is loaded from; None where it is not popped."""
    base, _ = _parts(instruction.mnemonic)
    if not re.search(r"\bpc\b", instruction.operands):
        return None
    if base == "pop" or (base.startswith("ldm") and instruction.operands.startswith("sp!,")):
        return before + stack_effect(instruction)
    if base == "ldr" and _POST_INDEXED.search(instruction.operands):
        return before - 4
    return None


def sets_lr(instruction: Disassembled) -> bool | None:
    """Whether LR holds something else behind it than where the function returns to; None where it
    holds what it did. What comes from the stack is taken for what was saved there."""
    base, _ = _parts(instruction.mnemonic)
    if base in {"bl", "blx", "blxns"}:
        return True
    if _READS_FIRST.match(instruction.mnemonic) or not _WRITES_LR.search(instruction.operands):
        return None
    return not (base in {"pop", "ldm", "ldmia", "ldmfd"} or "[sp" in instruction.operands)


def is_as_gcc(instruction: Disassembled) -> bool:
    """Whether gcc, too, sets SP from a register like this, so that its number of the frame knows
    of it."""
    return _AS_GCC.match(f"{_parts(instruction.mnemonic)[0]} {instruction.operands}") is not None


def _list_bytes(operands: str) -> int:
    """The bytes of a register list: `{r4, r5, lr}`, `{r4-r7}`, `{s16}`, `{d8-d9}`."""
    total = 0
    for item in operands[operands.index("{") + 1 : operands.index("}")].split(","):
        first, _, last = item.strip().partition("-")
        count = int(last[1:]) - int(first[1:]) + 1 if last else 1
        total += count * (8 if first.startswith("d") else 4)
    return total
