"""What instructions work on: registers, shifted registers, memory, lists of registers, labels.

An integer is an immediate; a plain string is a condition, or a special register by its name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """A file of registers. D and Q registers are made of the words of S registers."""

    CORE = "r"
    SINGLE = "s"
    DOUBLE = "d"
    VECTOR = "q"

    @property
    def words(self) -> int:
        """How many words each of its registers has."""
        return _FILES[self][1]


# How many registers there are, and the words of each.
_FILES = {Kind.CORE: (16, 1), Kind.SINGLE: (32, 1), Kind.DOUBLE: (16, 2), Kind.VECTOR: (8, 4)}


def words_of(kind: Kind, place: int) -> range:
    """The words of a register by their numbers: core registers, or the S registers of which D and
    Q registers are made, the first of D1 being S2, of Q1 S4."""
    return range(kind.words * place, kind.words * (place + 1))


# Words as bits of one number: the core's, then the S registers.
CORE_BITS, FILE_BITS = (1 << 16) - 1, (1 << 48) - 1


@functools.cache
def bits_of(kind: Kind, place: int) -> int:
    """The words of a register as bits."""
    above = 0 if kind is Kind.CORE else CORE_BITS.bit_length()
    return sum(1 << above + word for word in words_of(kind, place))


@dataclass(eq=False)
class Register:
    """A register by a name that says what it holds. Which one of the core it is, is for the
    allocator to find, but where `place`, its number in its file, pins it.

    asked: the line of the kernel's source that wants it, for errors. whole: the D or Q register of
    which an S register is the word `index`, 0 being the lowest. region: a name of the memory that
    addresses in it lie in; what is in one region is in no other, so that loads may pass stores.
    """

    name: str
    kind: Kind = Kind.CORE
    place: int | None = None
    asked: str = ""
    whole: Register | None = None
    index: int = 0
    region: str = ""

    @functools.cached_property
    def words(self) -> tuple[Register, ...]:
        """The registers of a word that it is made of: of a D or Q register the S registers, called
        `name.low` and `name.high`, or `name.0` to `name.3`; of others itself."""
        count = self.kind.words
        if count == 1:
            return (self,)
        ends = ("low", "high") if count == 2 else map(str, range(count))
        places = [None] * count if self.place is None else words_of(self.kind, self.place)
        return tuple(
            Register(f"{self.name}.{end}", Kind.SINGLE, place, self.asked, self, n)
            for n, (end, place) in enumerate(zip(ends, places, strict=True))
        )

    @property
    def halves(self) -> tuple[Register, Register]:
        """Of a D register, the S registers that it is made of."""
        low, high = self.words
        return low, high

    def __getitem__(self, offset: int | Register | Shifted) -> Memory:
        """The memory that lies so many bytes behind the address in the register: `[x, #4]`."""
        return Memory(self, offset)

    def before(self, offset: int) -> Memory:
        """The same, to which the register then points: `[x, #4]!`."""
        return Memory(self, offset, Mode.BEFORE)

    def after(self, offset: int) -> Memory:
        """The memory at the register, which then moves on: `[x], #4`."""
        return Memory(self, offset, Mode.AFTER)

    @property
    def moving(self) -> Moving:
        """The base of a list, which moves on behind it: `x!`."""
        return Moving(self)

    def lane(self, index: int) -> Lane:
        """Of a Q register: `q0[2]`."""
        return Lane(self, index)

    def lsl(self, by: int) -> Shifted:
        return Shifted(self, "lsl", by)

    def lsr(self, by: int) -> Shifted:
        return Shifted(self, "lsr", by)

    def asr(self, by: int) -> Shifted:
        return Shifted(self, "asr", by)

    def ror(self, by: int) -> Shifted:
        return Shifted(self, "ror", by)

    @functools.cached_property
    def is_physical(self) -> bool:
        """Whether it has no name but the core's."""
        return self.place is not None and self.name == physical_name(self.kind, self.place)

    @functools.cached_property
    def plain(self) -> Register:
        """Without a name: the same for all of one place and region."""
        assert self.place is not None, self
        return _plain(self.kind, self.place, self.region)

    def __repr__(self) -> str:
        return self.name


# Operands are tuples, whose hashes are quick: kernels are made of hundreds of thousands.


class Shifted(NamedTuple):
    """A register as an operand that is shifted or rotated on the way: `x, asr #8`."""

    register: Register
    how: str
    by: int


class Lane(NamedTuple):
    """A word of a Q register as an operand: `q0[2]`."""

    register: Register
    number: int


class Mode(StrEnum):
    """When an address is moved by its offset: for the access, or for good before or after it."""

    OFFSET = "offset"
    BEFORE = "before"
    AFTER = "after"


class Memory(NamedTuple):
    """offset: bytes, or a register, shifted or not."""

    base: Register
    offset: int | Register | Shifted = 0
    mode: Mode = Mode.OFFSET


class Moving(NamedTuple):
    """A base that a list of registers moves on."""

    register: Register


class Registers(NamedTuple):
    """A list of registers, the lowest of which is at the lowest address."""

    registers: tuple[Register, ...]


class Label(str):
    """A place in a kernel's code, by a number."""

    __slots__ = ()

    def __new__(cls, number: int | str) -> Label:
        return super().__new__(cls, str(number))


Operand = Register | Lane | Shifted | Memory | Moving | Registers | Label | int | str
Namer = Callable[[Register], str]

_SPECIAL = {13: "sp", 14: "lr", 15: "pc"}


@functools.cache
def physical_name(kind: Kind, place: int) -> str:
    """r0 to r12, sp, lr, pc; s0, d0 and q0 on."""
    return _SPECIAL.get(place, f"r{place}") if kind is Kind.CORE else f"{kind}{place}"


_PHYSICAL = {
    physical_name(kind, place): Register(physical_name(kind, place), kind, place)
    for kind, (count, _) in _FILES.items()
    for place in range(count)
}
SP, LR, PC = _PHYSICAL["sp"], _PHYSICAL["lr"], _PHYSICAL["pc"]


@functools.cache
def _plain(kind: Kind, place: int, region: str) -> Register:
    name = physical_name(kind, place)
    return Register(name, kind, place, region=region) if region else _PHYSICAL[name]


def physical(name: str) -> Register:
    """The register of the core that assemblers call so; a KeyError where there is none."""
    return _PHYSICAL[name]


def is_physical_name(name: str) -> bool:
    return name in _PHYSICAL


def by_place(register: Register) -> str:
    """How assemblers call a register that has its place."""
    assert register.place is not None, register
    return physical_name(register.kind, register.place)


def by_name(register: Register) -> str:
    return register.name


def text(operand: Operand, namer: Namer = by_place, direction: str = "") -> str:
    """An operand as assemblers read it. direction: of a label, f or b."""
    match operand:
        case Register():
            return namer(operand)
        case Label():
            return f"{operand}{direction}"
        case str():
            return operand
        case int():
            return f"#{operand:#x}" if operand >= 0xFFFF else f"#{operand}"
        case Shifted(register, how, by):
            return f"{namer(register)}, {how} #{by}"
        case Moving(register):
            return f"{namer(register)}!"
        case Lane(register, index):
            return f"{namer(register)}[{index}]"
        case Registers(registers):
            return f"{{{', '.join(_ranges(registers, namer))}}}"
        case Memory(base, offset, mode):
            inner = "" if offset == 0 and mode is Mode.OFFSET else f", {text(offset, namer)}"
            if mode is Mode.AFTER:
                return f"[{namer(base)}]{inner}"
            return f"[{namer(base)}{inner}]" + "!" * (mode is Mode.BEFORE)


def _ranges(registers: Sequence[Register], namer: Namer) -> Iterator[str]:
    """Of registers by their places, three and more that follow each other are a range, but for Q
    registers, which assemblers want one by one."""
    if namer is not by_place or registers[0].kind is Kind.VECTOR:
        yield from map(namer, registers)
        return
    at = 0
    while at < len(registers):
        end = at
        while end + 1 < len(registers) and _follows(registers[end], registers[end + 1]):
            end += 1
        if (end - at >= 1 and registers[at].kind is not Kind.CORE) or end - at >= 2:
            yield f"{namer(registers[at])}-{namer(registers[end])}"
        else:
            yield from map(namer, registers[at : end + 1])
        at = end + 1


def _follows(one: Register, other: Register) -> bool:
    assert one.place is not None and other.place is not None
    return other.place == one.place + 1 and other.place < (13 if one.kind is Kind.CORE else 99)
