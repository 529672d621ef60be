"""An instruction of a kernel as a value: mnemonic and operands, and what follows from them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from mcu_deploy.backends.isa.meaning import Meaning, meaning_of
from mcu_deploy.backends.isa.operands import (
    LR,
    PC,
    SP,
    Kind,
    Label,
    Lane,
    Memory,
    Mode,
    Moving,
    Namer,
    Operand,
    Register,
    Registers,
    Shifted,
    by_place,
    is_physical_name,
    physical,
    text,
)
from mcu_deploy.backends.isa.table import split
from mcu_deploy.backends.isa.vector_meaning import VECTOR_MEANINGS, unpredicated

_WIDTH = re.compile(r"\.[wn]$")
_LABEL = re.compile(r"(\d+)([bf])")
_SHIFT = re.compile(r"(lsl|lsr|asr|ror|uxtw) #(\d+)")
_PART = re.compile(r"\{[^}]*\}|\[[^\]]*\]!?|[^,\s][^,]*")
_LIST = re.compile(r"([rsdq])(\d+)-[rsdq](\d+)")
_LANE = re.compile(r"(q[0-7])\[(\d)\]")
NOTE = "/*"
Renamer = Callable[[Register], Register]
_LAST_BRANCHES = ("b", "bx")
_ON_STACK = ("push", "pop", "vpush", "vpop")
# Of an operand that is a register, by its role, whether it is read (false) and written (true).
_DOES = {
    "d": (True,), "b": (False, True), "B": (False,), "u": (False,), "l": (False,),
    "E": (True,), "e": (False, True),
}  # fmt: skip


class Shape(NamedTuple):
    """What the time of an instruction depends on: how many operands, how many words a list of
    registers has, whether it writes PC as an operand, or in its list."""

    operands: int
    words: int
    is_jump: bool
    lists_pc: bool


class _Accesses(NamedTuple):
    """The registers of an instruction."""

    written: tuple[Register, ...]
    read: tuple[Register, ...]
    named: tuple[Register, ...]


@dataclass(frozen=True)
class Instruction:
    """mnemonic: as assemblers have it, with condition, types and width. targets: the labels that a
    jump by a register may go to."""

    mnemonic: str
    operands: tuple[Operand, ...] = ()
    targets: tuple[Label, ...] = ()

    def __hash__(self) -> int:  # known after the first time, as those of strings are
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.mnemonic, self.operands, self.targets))

    @cached_property
    def name(self) -> str:
        """Its row's name: without condition and width, with S and types."""
        return _split(self.mnemonic)[0]

    @property
    def condition(self) -> str:
        """Empty where it has none."""
        return _split(self.mnemonic)[1]

    @cached_property
    def is_vector(self) -> bool:
        """Whether it names a Q register."""
        if not self.mnemonic.startswith("v"):
            return False
        return any(r.kind is Kind.VECTOR for o in self.operands for r in _registers_of(o))

    @property
    def is_predicated(self) -> bool:
        """Whether it runs by the predicate of a VPST before it."""
        return self.name != _WIDTH.sub("", self.mnemonic) and not self.condition

    @cached_property
    def shape(self) -> Shape:
        words, lists_pc = 0, False
        for operand in self.operands:
            if type(operand) is Registers:
                words += sum(r.kind.words for r in operand.registers)
                lists_pc = lists_pc or PC in operand.registers
        is_jump = bool(self.operands) and self.operands[0] is PC
        return Shape(len(self.operands), words, is_jump, lists_pc)

    @cached_property
    def meaning(self) -> Meaning:
        """ValueError, a sentence: its row is missing, or has other operands."""
        name, kinds = self.name, ""
        if name == "vmov":
            kinds = "".join(_kind(o) for o in self.operands)
        found = None if self.is_vector and "l" not in kinds else meaning_of(name, kinds)
        found = found or VECTOR_MEANINGS.get(name)
        if found is None or len(found.roles) != len(self.operands):
            raise ValueError(
                f"`{self}` has no meaning: correct it, or give {self.name} a row with these "
                "operands in backends/isa/meaning.py"
            )
        return found

    @property
    def written(self) -> tuple[Register, ...]:
        """The registers that it writes."""
        return self._accesses.written

    @property
    def read(self) -> tuple[Register, ...]:
        """The registers that it reads; where it may not run, those that it would write, too."""
        return self._accesses.read

    @property
    def registers(self) -> tuple[Register, ...]:
        """All that its operands name, in their order."""
        return self._accesses.named

    @cached_property
    def _accesses(self) -> _Accesses:
        found: list[tuple[Register, bool]] = []
        for role, operand in zip(self.meaning.roles, self.operands, strict=True):
            kind = type(operand)  # by identity: this is asked of every operand of every kernel
            if kind is Register:
                found += [(operand, is_in) for is_in in _DOES.get(role, ())]  # type: ignore[misc]
            elif kind is not int and kind is not str and kind is not Label:
                found += _accesses(role, operand)
        name = self.name
        if name in _ON_STACK:
            found += [(SP, False), (SP, True)]
        if name == "bl":
            found.append((LR, True))
        written = tuple([register for register, is_written in found if is_written])
        read = tuple([register for register, is_written in found if not is_written])
        named = tuple(dict.fromkeys([register for register, _ in found]))
        return _Accesses(written, read + written if self.condition else read, named)

    @cached_property
    def names(self) -> tuple[Register, ...]:
        """Its registers that have names; of a word of a D or Q register the whole."""
        named = [r.whole or r for r in self.registers if not r.is_physical]
        return tuple(dict.fromkeys(named))

    @cached_property
    def even(self) -> tuple[Register, ...]:
        """The core registers whose number must be even."""
        roles = zip(self.meaning.roles, self.operands, strict=True)
        return tuple(o for role, o in roles if role in "eE" and isinstance(o, Register))

    @cached_property
    def low(self) -> tuple[Register, ...]:
        """The registers that must be one of r0 to r7."""
        found: list[Register] = []
        for role, operand in zip(self.meaning.roles, self.operands, strict=True):
            if role == "l" and isinstance(operand, Register):
                found.append(operand)
            elif role == "w" and isinstance(operand, Memory):
                found += [operand.base] if operand.base.kind is Kind.CORE else []
        return tuple(found)

    @cached_property
    def label(self) -> Label | None:
        """The first of its operands that is one."""
        return next((o for o in self.operands if type(o) is Label), None)

    @cached_property
    def jumps_to(self) -> tuple[Label, ...]:
        """Where it may go on besides behind itself."""
        is_address = self.name == "adr"
        return (*(o for o in self.operands if isinstance(o, Label) and not is_address),
                *self.targets)  # fmt: skip

    @property
    def ends(self) -> bool:
        """Whether it never goes on behind itself."""
        if self.name == "pop" and isinstance(self.operands[0], Registers):
            return PC in self.operands[0].registers
        return self.name in _LAST_BRANCHES and not self.condition

    def renamed(self, new: Renamer) -> Instruction:
        """With other registers."""
        operands = tuple([_renamed(o, new) for o in self.operands])
        return Instruction(self.mnemonic, operands, self.targets)

    @cached_property
    def text(self) -> str:
        """As assemblers read it, but for the direction of its label."""
        return self._printed(by_place, "")

    def printed(self, namer: Namer = by_place, direction: str = "") -> str:
        """As assemblers read it, its operands called so. direction: of its label, f or b."""
        if namer is by_place and not direction:
            return self.text
        return self._printed(namer, direction)

    def _printed(self, namer: Namer, direction: str) -> str:
        operands = ", ".join([text(o, namer, direction) for o in self.operands])
        return f"{self.mnemonic} {operands}" if operands else self.mnemonic

    def __str__(self) -> str:
        return self.printed(lambda r: by_place(r) if r.is_physical else r.name)


@dataclass(frozen=True)
class Note:
    """A comment between instructions."""

    text: str


Item = Instruction | Label | Note


def printed(items: Iterable[Item]) -> list[str]:
    """Instructions as assemblers read them, labels ("1:") and comments, each one a line. Branches
    say whether their label is in front of them or behind."""
    placed: set[Label] = set()
    lines: list[str] = []
    for item in items:
        match item:
            case Label():
                placed.add(item)
                lines.append(f"{item}:")
            case Note(text):
                lines.append(f"{NOTE} {text} */")
            case Instruction():
                has_label = item.label is not None
                lines.append(
                    item.printed(by_place, direction(item, placed)) if has_label else item.text
                )
    return lines


def direction(instruction: Instruction, placed: Container[Label]) -> str:
    """Where the label of an instruction is, if it has one: f, in front of it, or b."""
    label = instruction.label
    return "" if label is None else "b" if label in placed else "f"


@functools.cache
def _split(mnemonic: str) -> tuple[str, str]:
    """The name of a mnemonic's row in the tables of meanings, and its condition."""
    if name := unpredicated(_WIDTH.sub("", mnemonic)):
        return name, ""
    condition = split(mnemonic)[1]
    whole, dot, types = _WIDTH.sub("", mnemonic).partition(".")
    return whole.removesuffix(condition) + dot + types, condition


def _kind(operand: Operand) -> str:
    """Of an operand of VMOV."""
    if isinstance(operand, Lane):
        return "l"
    return operand.kind if isinstance(operand, Register) else "."


def _registers_of(operand: Operand) -> Iterator[Register]:
    match operand:
        case Register():
            yield operand
        case Shifted(register) | Moving(register) | Lane(register):
            yield register
        case Registers(registers):
            yield from registers
        case Memory(base, offset):
            yield base
            if not isinstance(offset, int):
                yield from _registers_of(offset)


def _accesses(role: str, operand: Operand) -> Iterator[tuple[Register, bool]]:
    """What an operand that is no register itself reads and, where it is true, writes."""
    match operand:
        case Shifted(register):
            yield register, False
        case Lane(register, index):
            yield register.words[index], role == "d"
        case Moving(register):
            yield from ((register, False), (register, True))
        case Registers(registers):
            yield from ((register, role == "L") for register in registers)
        case Memory(base, offset, mode):
            yield base, False
            if mode is not Mode.OFFSET:
                yield base, True
            match offset:
                case Register():
                    yield offset, False
                case Shifted(register):
                    yield register, False


def _renamed(operand: Operand, new: Renamer) -> Operand:
    match operand:
        case Register():
            return new(operand)
        case Shifted(register, how, by):
            return Shifted(new(register), how, by)
        case Moving(register):
            return Moving(new(register))
        case Lane(register, index):
            word = new(register.words[index])
            assert word.place is not None
            return Lane(replace(register, place=word.place // register.kind.words), index)
        case Registers(registers):
            return Registers(tuple(map(new, registers)))
        case Memory(base, offset, mode):
            moved = _renamed(offset, new)
            assert isinstance(moved, int | Register | Shifted)
            return Memory(new(base), moved, mode)
    return operand


@functools.lru_cache(1 << 14)  # the same statements are written for many layers and prices
def parsed(statement: str) -> Instruction:
    """The instruction of a statement, whose registers are the core's."""
    mnemonic, _, rest = statement.strip().partition(" ")
    operands: list[Operand] = []
    for part in _PART.findall(rest):
        part = part.strip()
        if (shift := _SHIFT.fullmatch(part)) and isinstance(operands[-1], Register):
            operands[-1] = Shifted(operands[-1], shift[1], int(shift[2]))
        elif part.startswith("#") and operands and _is_bare(operands[-1]):
            memory = operands[-1]
            assert isinstance(memory, Memory)
            operands[-1] = Memory(memory.base, int(part[1:], 0), Mode.AFTER)
        else:
            operands.append(_parsed(part))
    return Instruction(mnemonic, tuple(operands))


def _is_bare(operand: Operand) -> bool:
    return isinstance(operand, Memory) and operand.offset == 0 and operand.mode is Mode.OFFSET


def _parsed(part: str) -> Operand:
    if part.startswith("{"):
        return Registers(tuple(_listed(part[1:-1])))
    if part.startswith("["):
        inner, mode = part.strip("[]!"), Mode.BEFORE if part.endswith("!") else Mode.OFFSET
        base, _, offset = inner.partition(", ")
        if not offset:
            return Memory(physical(base), 0, mode)
        if offset.startswith("#"):
            return Memory(physical(base), int(offset[1:], 0), mode)
        index, _, shift = offset.partition(", ")
        if found := _SHIFT.fullmatch(shift):
            return Memory(physical(base), Shifted(physical(index), found[1], int(found[2])), mode)
        return Memory(physical(base), physical(index), mode)
    if part.startswith("#"):
        return int(part[1:], 0)
    if found := _LABEL.fullmatch(part):
        return Label(found[1])
    if found := _LANE.fullmatch(part):
        return Lane(physical(found[1]), int(found[2]))
    if part.endswith("!"):
        return Moving(physical(part[:-1]))
    return physical(part) if is_physical_name(part) else part


def _listed(text: str) -> Iterator[Register]:
    for part in text.split(","):
        if found := _LIST.fullmatch(part.strip()):
            kind, first, last = found[1], int(found[2]), int(found[3])
            yield from (physical(f"{kind}{n}") for n in range(first, last + 1))
        else:
            yield physical(part.strip())
