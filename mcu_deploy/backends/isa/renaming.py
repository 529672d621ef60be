"""The values of a straight run of instructions, and which core registers they may have when these
are put into another order: what another value no longer needs is free.

A value is what is written to a register until that is written again; a sum that a product adds to,
and an address that moves on, are the same value before and behind it. In its place stays what is
there before the run, what is read behind it, and what a list of registers loads or stores.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from mcu_deploy.backends.isa.accesses import Resource
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.isa.operands import (
    Kind,
    Memory,
    Mode,
    Moving,
    Operand,
    Register,
    Registers,
    Shifted,
    physical,
    physical_name,
)  # fmt: skip

# Where values may be, in the order in which places are taken: short instructions name the first.
_PLACES = (*range(8), 12, 14, *range(8, 12))
_CORE = Kind.CORE


@dataclass(eq=False)
class Lifetime:
    """place: where it was. begin, end: the first and the last instruction that know it, by their
    numbers as they were: -1 where it is there before, the number of all where it is read behind
    them. knowers: how many instructions know it. stays: in its place."""

    number: int
    place: int
    begin: int
    end: int
    knowers: int = 0
    stays: bool = False


class _Parts(NamedTuple):
    """The core registers of an instruction by their places: read; written anew; written with what
    goes on to be the same value; and what nothing else may be."""

    read: tuple[int, ...]
    made: tuple[int, ...]
    kept: tuple[int, ...]
    staying: tuple[int, ...]


@functools.lru_cache(1 << 14)
def _parts(instruction: Instruction) -> _Parts:
    read, written = places_in(instruction.read), places_in(instruction.written)
    kept: set[int | None] = set()
    staying: set[int | None] = set()
    operands, roles = instruction.operands, instruction.meaning.roles
    for role, operand in zip(roles, operands, strict=True):
        match operand:
            case Register(kind=Kind.CORE, place=place):
                if role == "b":
                    kept.add(place)
                elif role not in "du":
                    staying.add(place)
            case Memory(base, _, mode):
                if mode is not Mode.OFFSET:
                    kept.add(base.place)
            case Moving(register):
                kept.add(register.place)
                staying.add(register.place)
            case Registers(registers):
                staying.update(places_in(registers))
    if roles == "duuu":
        kept.update(r.place for r in operands[3:] if isinstance(r, Register))
    return _Parts(
        read,
        tuple([p for p in written if p not in kept]),
        tuple([p for p in written if p in kept]),
        tuple([p for p in (*read, *written) if p in staying or p not in _PLACES]),
    )


def places_in(registers: Iterable[Register]) -> tuple[int, ...]:
    """Those of core registers, each once."""
    return tuple({
        r.place: None for r in registers if r.kind is _CORE and r.place is not None
    })  # fmt: skip


class Values:
    """Of a run. live: the core registers that are read behind it; usable: those that values may
    have; as bits. read, written: of each instruction the values by their places; made: those of
    them that begin with it."""

    def __init__(self, code: Sequence[Instruction], live: int, usable: int) -> None:
        self.all: list[Lifetime] = []
        self.read: list[dict[int, Lifetime]] = []
        self.written: list[dict[int, Lifetime]] = []
        self.made: list[list[Lifetime]] = []
        now: dict[int, Lifetime] = {}
        for n, instruction in enumerate(code):
            parts = _parts(instruction)
            for place in parts.read:
                if place not in now:
                    now[place] = self._new(place, -1)
            read = {place: now[place] for place in parts.read}
            made = [self._new(place, n) for place in parts.made]
            now.update((value.place, value) for value in made)
            written = {place: now[place] for place in (*parts.made, *parts.kept)}
            for place in parts.staying:
                for of in (read, written):
                    if place in of:
                        of[place].stays = True
            for value in (*read.values(), *made):
                value.end = n
                value.knowers += 1
            self.read.append(read)
            self.written.append(written)
            self.made.append(made)
        for place in range(16):
            if live >> place & 1:
                value = now.get(place) or self._new(place, -1)
                value.stays, value.end = True, len(code)
        self.places = [p for p in _PLACES if usable >> p & 1]
        self.staying: dict[int, list[Lifetime]] = {p: [] for p in range(16)}
        for value in self.all:
            if value.stays:
                self.staying[value.place].append(value)

    def _new(self, place: int, begin: int) -> Lifetime:
        value = Lifetime(len(self.all), place, begin, begin, stays=begin < 0)
        self.all.append(value)
        return value

    @property
    def may_move(self) -> bool:
        return not all(value.stays for value in self.all)

    @functools.cached_property
    def crowd(self) -> list[int]:
        """How many there are behind each instruction."""
        found = [0] * len(self.made)
        for value in self.all:
            for n in range(max(value.begin, 0), value.end):
                found[n] += 1
        return found

    def names(self) -> Iterator[tuple[dict[Resource, Resource], dict[Resource, Resource]]]:
        """Of each instruction what stands for the core registers that it reads and writes, so that
        different values are different."""
        for read, written in zip(self.read, self.written, strict=True):
            yield _names(read), _names(written)


def _names(values: Mapping[int, Lifetime]) -> dict[Resource, Resource]:
    return {(_CORE, at): ("value", v.number) for at, v in values.items() if not v.stays}


class Whereabouts:
    """Where values are while a run is issued in another order. A value may have a place that it
    could keep if all that is left were issued in the order that it had."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._count = len(values.made)
        self._at = {v: v.place for v in values.all if v.stays}
        self._holders: dict[int, Lifetime] = {}  # of places, those that do not stay
        self._left = [v.knowers for v in values.all]
        self._has_begun = [v.begin < 0 for v in values.all]
        self._crowd = [*values.crowd]
        self._is_issued = [False] * self._count
        self._oldest = 0  # of what is not issued
        self._asked: tuple[int, list[int] | None] = -1, None  # the last, and what was found for it

    def may(self, n: int) -> bool:
        """Whether what an instruction makes has places now."""
        made = self._values.made[n]
        if not made:
            return True
        # What was behind others, and is in front of them now, lives beside what these make.
        moving = sum(not value.stays for value in made)
        most = len(self._values.places) - moving
        if moving and n > self._oldest and max(self._crowd[self._oldest : n]) > most:
            return False
        self._asked = n, self._found(n, made)
        return self._asked[1] is not None

    def issue(self, n: int) -> bool:
        """Whether what it makes has places."""
        oldest, made = self._oldest, self._values.made[n]
        found = self._asked[1] if self._asked[0] == n else self._found(n, made) if made else []
        if found is None:
            return False
        for value in self._values.read[n].values():
            self._known(value)
        for value, place in zip(made, found, strict=True):
            self._has_begun[value.number] = True
            for k in range(oldest, n):
                self._crowd[k] += 1
            if not value.stays:
                self._at[value] = place
                self._holders[place] = value
        for value in made:
            self._known(value)
        self._is_issued[n] = True
        while self._oldest < self._count and self._is_issued[self._oldest]:
            self._oldest += 1
        return True

    def _known(self, value: Lifetime) -> None:
        """One instruction more has known a value."""
        self._left[value.number] -= 1
        if not self._left[value.number] and value.end < self._count:
            place = self._at[value]
            if self._holders.get(place) is value:
                del self._holders[place]
            for k in range(self._oldest, value.end):
                self._crowd[k] -= 1

    def _found(self, n: int, made: Sequence[Lifetime]) -> list[int] | None:
        """Places for what an instruction makes, where nobody else has yet to read what is there."""
        written, left = self._values.written[n].values(), self._left
        ending = [
            v for v in self._values.read[n].values()
            if left[v.number] == 1 and v.end < self._count and v not in written
        ]  # fmt: skip
        found: list[int] = []
        for value in made:
            holder = self._holders.get(value.place)
            is_free = holder is None or holder in ending
            if value.stays:
                if not is_free:
                    return None
                found.append(value.place)
                continue
            for place in (value.place, *self._values.places):
                holder = self._holders.get(place)
                is_free = (holder is None or holder in ending) and place not in found
                if is_free and self._fits(value, place, ending):
                    found.append(place)
                    break
            else:
                return None
        return found

    def _fits(self, value: Lifetime, place: int, ending: Sequence[Lifetime]) -> bool:
        """Whether what stays in a place is over, or does not begin before a value ends."""
        for other in self._values.staying[place]:
            if other.end <= value.begin:
                is_there = self._left[other.number] > 0 and other not in ending
            else:
                is_there = other.begin < value.end or other.begin == value.begin
                is_there = is_there or self._has_begun[other.number]
            if is_there:
                return False
        return True

    def renamed(self, n: int, instruction: Instruction) -> Instruction:
        """With the places of its values, when all are issued."""
        read, written, at = self._values.read[n], self._values.written[n], self._at
        if all(at[v] == v.place for v in (*read.values(), *written.values())):
            return instruction
        return _moved(
            instruction,
            tuple([(place, at[v]) for place, v in read.items()]),
            tuple([(place, at[v]) for place, v in written.items()]),
        )


@functools.lru_cache(1 << 14)
def _moved(
    instruction: Instruction,
    read: tuple[tuple[int, int], ...],
    written: tuple[tuple[int, int], ...],
) -> Instruction:
    """With other places of what it reads and writes."""
    to_read, to_write = dict(read), dict(written)
    operands = tuple(
        _there(operand, to_write if role == "d" else to_read)
        for role, operand in zip(instruction.meaning.roles, instruction.operands, strict=True)
    )
    return Instruction(instruction.mnemonic, operands, instruction.targets)


def _there(operand: Operand, places: Mapping[int, int]) -> Operand:
    match operand:
        case Register():
            return _placed(operand, places)
        case Shifted(register, how, by):
            return Shifted(_placed(register, places), how, by)
        case Memory(base, offset, mode):
            by_what = _there(offset, places)
            assert isinstance(by_what, int | Register | Shifted)
            return Memory(_placed(base, places), by_what, mode)
    return operand


def _placed(register: Register, places: Mapping[int, int]) -> Register:
    if register.kind is not Kind.CORE or register.place is None:
        return register
    place = places.get(register.place, register.place)
    return register if place == register.place else _at(register, place)


@functools.lru_cache(1 << 14)
def _at(register: Register, place: int) -> Register:
    if register.is_physical:
        return physical(physical_name(Kind.CORE, place))
    return replace(register, place=place)
