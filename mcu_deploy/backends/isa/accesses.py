"""What an instruction reads and writes, on whatever core: words of registers, flags, memory."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.operands import (
    Kind,
    Memory,
    Mode,
    Moving,
    Register,
    Registers,
    words_of,
)  # fmt: skip

Resource = tuple[str, int]
FLAGS, GREATER, FLOAT_FLAGS = ("nzcv", 0), ("ge", 0), ("fpscr", 0)
PREDICATE = ("p0", 0)
_FLAG_WRITTEN = re.compile(r"\b([nzcv]|n, z, c, v) = ")
_FLAG_READ = re.compile(r"[=(+] ?c\b|else c\b")


class Span(NamedTuple):
    """Bytes of memory from a number behind an address in a register on."""

    base: Resource
    offset: int
    bytes: int


class Accesses(NamedTuple):
    """reads, writes: words of registers in the order of the operands. flags_read, flags_written:
    those of the core, of the FPU, and the predicate of vectors. region: of memory, as `Register`
    has it. span: what it touches of memory, where that is known. moved: a register that goes on by
    a number, and by which."""

    reads: tuple[Resource, ...]
    writes: tuple[Resource, ...]
    flags_read: tuple[Resource, ...]
    flags_written: tuple[Resource, ...]
    loads: bool
    stores: bool
    region: str
    span: Span | None
    moved: tuple[Resource, int] | None


@functools.lru_cache(1 << 14)
def accesses_of(instruction: Instruction) -> Accesses:
    """ValueError, a sentence: the instruction has no meaning."""
    flags_read, flags_written = _flags(instruction.mnemonic, instruction.meaning.statement)
    name = instruction.name
    return Accesses(
        tuple([w for r in instruction.read for w in resources_of(r)]),
        tuple([w for r in instruction.written for w in resources_of(r)]),
        flags_read,
        flags_written,
        name.startswith(("ld", "vld", "pop", "vpop")),
        name.startswith(("st", "vst", "push", "vpush")),
        _region(instruction),
        _span(instruction),
        _moved(instruction),
    )


def resources_of(register: Register) -> tuple[Resource, ...]:
    """The words of its file that a register is made of."""
    assert register.place is not None, register
    return _resources(register.kind, register.place)


@functools.cache
def _resources(kind: Kind, place: int) -> tuple[Resource, ...]:
    file = Kind.CORE if kind is Kind.CORE else Kind.SINGLE
    return tuple([(file, word) for word in words_of(kind, place)])


def _region(instruction: Instruction) -> str:
    """Of the base of its memory."""
    operands = instruction.operands
    for operand in operands:
        if isinstance(operand, Memory):
            return operand.base.region
    if any(isinstance(operand, Registers) for operand in operands):
        first = operands[0]
        base = first.register if isinstance(first, Moving) else first
        return base.region if isinstance(base, Register) else ""
    return ""


_BYTES = {"b": 1, "h": 2, "w": 4, "d": 8}
_ACCESS = re.compile(r"v?(?:ldr|str)s?([bhwd]?)$")


def _span(instruction: Instruction) -> Span | None:
    memory = instruction.operands[-1] if instruction.operands else None
    if not isinstance(memory, Memory) or not isinstance(memory.offset, int):
        return None
    base, _, types = instruction.name.partition(".")
    found = _ACCESS.match(base)
    if found is None or memory.base.kind is not Kind.CORE:
        return None
    size = _BYTES[found[1] or "w"]
    if instruction.is_vector:
        size *= 128 // int(types.lstrip("us"))
    elif base.startswith("v"):
        size = sum(o.kind.words for o in instruction.operands if isinstance(o, Register)) * 4
    offset = 0 if memory.mode is Mode.AFTER else memory.offset
    return Span(resources_of(memory.base)[0], offset, size)


_ADDED = {"add": 1, "addw": 1, "adds": 1, "sub": -1, "subw": -1, "subs": -1}


def _moved(instruction: Instruction) -> tuple[Resource, int] | None:
    operands = instruction.operands
    if instruction.mnemonic in _ADDED and len(operands) == 3 and operands[0] is operands[1]:
        register, number = operands[0], operands[2]
        if isinstance(register, Register) and isinstance(number, int):
            return resources_of(register)[0], _ADDED[instruction.mnemonic] * number
    for operand in operands:
        match operand:
            case Memory(base, int(by), mode) if mode is not Mode.OFFSET and base.kind is Kind.CORE:
                return resources_of(base)[0], by
    return None


@functools.cache
def _flags(mnemonic: str, statement: str) -> tuple[tuple[Resource, ...], tuple[Resource, ...]]:
    """Those that it reads and writes. Who writes some of N, Z, C and V only reads the others."""
    instruction = Instruction(mnemonic)
    name = instruction.name
    read: list[Resource] = []
    written: list[Resource] = []
    changed = {flag for found in _FLAG_WRITTEN.findall(statement) for flag in found.split(", ")}
    if changed:
        written.append(FLAGS)
    is_partial = bool(changed) and changed != set("nzcv")
    if instruction.condition or name.startswith("it") or is_partial or _FLAG_READ.search(statement):
        read.append(FLAGS)
    if "ge = " in statement:
        written.append(GREATER)
    if name == "sel":
        read.append(GREATER)
    if "fn, fz" in statement:
        (read if name == "vmrs" else written).append(FLOAT_FLAGS)
    if statement.startswith("p0 = "):
        written.append(PREDICATE)
    if instruction.is_predicated or name.startswith("vpst"):
        read.append(PREDICATE)
    return tuple(read), tuple(written)
