"""Thumb code as a list of instructions, and what one instruction does to SP and to the flow.

The text comes from `arm-none-eabi-objdump -d`, which knows where code ends and literal pools begin
by the `$t` and `$d` mapping symbols. An instruction whose effect on SP cannot be told raises
UnknownEffect: nothing is guessed.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.errors import ToolError
from mcu_deploy.processes import programs

_LINE = re.compile(
    r"^\s*(?P<address>[0-9a-f]+):\t(?P<code>(?:[0-9a-f]{4} ?){1,2})\s*\t"
    r"(?P<mnemonic>\S+)(?:\t(?P<operands>[^@;]*))?"
)
_CONDITIONS = "eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le"
_PLAIN = re.compile(
    r"^(?P<base>push|pop|stmdb|stmfd|ldmia|ldmfd|ldm|vpush|vpop|vstmdb|vldmia|addw|subw|add|sub"
    r"|adds|subs|mov|bl|blx|bx|ldr|cbz|cbnz|wls|dls|le|letp|wlstp|tbb|tbh)"
    rf"(?P<condition>{_CONDITIONS})?(?:\.\w+)*$"
)
_BRANCH = re.compile(rf"^b(?P<condition>{_CONDITIONS})?(?:\.[nw])?$")
_TARGET = re.compile(r"(?:^|[\s,])(?P<address>[0-9a-f]+) <")
_IMMEDIATE = re.compile(r"^sp, (?:sp, )?#(?P<bytes>-?\d+)\s*$")
_PRE_INDEXED = re.compile(r"\[sp, #(?P<bytes>-?\d+)\]!")
_POST_INDEXED = re.compile(r"\[sp\], #(?P<bytes>-?\d+)")
_LITERAL = re.compile(r"^pc, \[pc(?:, #(?P<offset>-?\d+))?\]")
_TABLE = re.compile(r"^pc, \[\w+, \w+, lsl #2\]")
# Instructions whose first operand is a register that they only read.
_READS_FIRST = re.compile(r"^(cmp|cmn|tst|teq|str|stm|push|vstr|vstm|vst|msr|pld|vpush)")


class UnknownEffect(Exception):
    """An instruction changes SP in a way that cannot be told from its text."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: its address, its size (2 or 4 bytes) and objdump's text."""

    address: int
    size: int
    mnemonic: str
    operands: str

    @property
    def next(self) -> int:
        return self.address + self.size

    def __str__(self) -> str:
        return f"{self.mnemonic} {self.operands}".strip()


@dataclass(frozen=True)
class Flow:
    """Where control goes after an instruction.

    calls/jumps: an address; indirect: through a register or memory; table: a switch's jump;
    literal: the address of the word that PC is loaded from; falls: to the next instruction too.
    """

    calls: int | None = None
    jumps: int | None = None
    literal: int | None = None
    indirect_call: bool = False
    indirect_jump: bool = False
    table: bool = False
    falls: bool = True


def disassemble(
    elf: Path, start: int, stop: int, *, machine: str | None, objdump: str
) -> dict[int, Instruction]:
    """The instructions of a linked ELF between two addresses, by address.

    machine: objdump's `-m`, for a core that it does not find out by itself. Raises ToolError where
    objdump is missing or fails.
    """
    program = shutil.which(objdump)
    if program is None:
        raise ToolError(
            f"{objdump} was not found, and the stack cannot be bounded without it; "
            "install it with: sudo apt install binutils-arm-none-eabi"
        )
    command = [program, "-d", "-w", f"--start-address={start:#x}", f"--stop-address={stop:#x}"]
    if machine is not None:
        command += ["-m", machine]
    result = programs.run([*command, elf])
    if result.exhausted:
        raise ToolError(f"{objdump} cannot read {elf.name}: it {result.exhausted}.")
    if result.returncode != 0:
        reason = result.stderr.strip().splitlines()
        raise ToolError(f"{objdump} cannot read {elf.name}: {reason[0] if reason else 'no reason'}")
    instructions: dict[int, Instruction] = {}
    for line in result.stdout.splitlines():
        if (found := _LINE.match(line)) and not found["mnemonic"].startswith("."):
            address = int(found["address"], 16)
            instructions[address] = Instruction(
                address=address,
                size=len(found["code"].replace(" ", "")) // 2,
                mnemonic=found["mnemonic"],
                operands=(found["operands"] or "").strip(),
            )
    return instructions


def flow(instruction: Instruction) -> Flow:
    """Where control goes after `instruction`."""
    operands = instruction.operands
    if branch := _BRANCH.match(instruction.mnemonic):
        return Flow(jumps=_target(instruction), falls=branch["condition"] is not None)
    found = _PLAIN.match(instruction.mnemonic)
    if found is None:
        return Flow(falls=not instruction.mnemonic.startswith("udf"))
    base, conditional = found["base"], found["condition"] is not None
    if base == "bl" or (base == "blx" and "<" in operands):
        return Flow(calls=_target(instruction))
    if base == "blx":
        return Flow(indirect_call=True)
    if base == "bx":
        return Flow(indirect_jump=operands != "lr", falls=conditional)
    if base == "mov" and operands.startswith("pc, "):
        # gcc jumps into a switch's table like this on cores with Thumb-1 only.
        return Flow(table=operands != "pc, lr", falls=False)
    if base in {"cbz", "cbnz", "wls", "wlstp", "le", "letp"}:
        return Flow(jumps=_target(instruction))
    if base in {"tbb", "tbh"} or (base in {"add", "adds"} and operands.startswith("pc, ")):
        return Flow(table=True, falls=False)
    if base in {"pop", "ldmia", "ldmfd", "ldm"} and re.search(r"\bpc\b", operands):
        return Flow(falls=conditional)
    if base == "ldr" and operands.startswith("pc, "):
        return _load_pc(instruction, conditional)
    return Flow()


def _load_pc(instruction: Instruction, conditional: bool) -> Flow:
    operands = instruction.operands
    if _POST_INDEXED.search(operands):  # a return: ldr pc, [sp], #4
        return Flow(falls=conditional)
    if literal := _LITERAL.match(operands):  # a linker's veneer
        base = (instruction.address + 4) & ~3
        return Flow(literal=base + int(literal["offset"] or 0), falls=conditional)
    if _TABLE.match(operands):
        return Flow(table=True, falls=conditional)
    return Flow(indirect_jump=True, falls=conditional)


def _target(instruction: Instruction) -> int:
    found = _TARGET.search(instruction.operands)
    if found is None:
        raise UnknownEffect(f"`{instruction}` has no target")
    return int(found["address"], 16)


def is_conditional(instruction: Instruction) -> bool:
    """Whether the instruction, inside an IT block, may be skipped."""
    found = _PLAIN.match(instruction.mnemonic)
    return found is not None and found["condition"] is not None


def stack_effect(instruction: Instruction) -> int:
    """By how many bytes the stack grows with this instruction (negative: shrinks).

    Raises UnknownEffect where SP is written by an instruction that is none of the usual ones.
    """
    mnemonic, operands = instruction.mnemonic, instruction.operands
    found = _PLAIN.match(mnemonic)
    base = found["base"] if found else mnemonic
    if base in {"push", "vpush"}:
        return _list_bytes(operands)
    if base in {"pop", "vpop"}:
        return -_list_bytes(operands)
    if operands.startswith("sp!,"):
        if base in {"stmdb", "stmfd", "vstmdb"}:
            return _list_bytes(operands)
        if base in {"ldmia", "ldmfd", "ldm", "vldmia"}:
            return -_list_bytes(operands)
        raise UnknownEffect(f"`{instruction}` moves SP")
    if moved := _PRE_INDEXED.search(operands) or _POST_INDEXED.search(operands):
        return -int(moved["bytes"])
    if operands.startswith("sp,") and not _READS_FIRST.match(mnemonic):
        immediate = _IMMEDIATE.match(operands)
        if immediate and base in {"sub", "subs", "subw"}:
            return int(immediate["bytes"])
        if immediate and base in {"add", "adds", "addw"}:
            return -int(immediate["bytes"])
        raise UnknownEffect(f"`{instruction}` sets SP")
    if "[sp" in operands and (operands.endswith("!") or "[sp]," in operands):
        raise UnknownEffect(f"`{instruction}` moves SP")
    if mnemonic.startswith("msr") and "sp" in operands.lower():
        raise UnknownEffect(f"`{instruction}` sets SP")
    return 0


def _list_bytes(operands: str) -> int:
    """The bytes of a register list: `{r4, r5, lr}`, `{r4-r7}`, `{s16}`, `{d8-d9}`."""
    total = 0
    for item in operands[operands.index("{") + 1 : operands.index("}")].split(","):
        first, _, last = item.strip().partition("-")
        count = int(last[1:]) - int(first[1:]) + 1 if last else 1
        total += count * (8 if first.startswith("d") else 4)
    return total
