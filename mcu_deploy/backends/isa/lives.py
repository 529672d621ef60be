"""What lives where in a kernel, and what that asks of the places of its names.

Liveness is found as bits: of each name one a word, so that the halves of a D register and the words
of a Q register live and die by themselves, then those of the core's registers (`bits_of`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mcu_deploy.backends.isa.encoding import may_be_short, takes_high
from mcu_deploy.backends.isa.flow import Flow
from mcu_deploy.backends.isa.instruction import Instruction, Item
from mcu_deploy.backends.isa.operands import (
    CORE_BITS,
    FILE_BITS,
    Kind,
    Label,
    Register,
    Registers,
    bits_of,
)  # fmt: skip

_LOW, _EVEN, _CORE, _FLOATS = (
    0x00FF,
    0x5555,
    0x5FFF,
    FILE_BITS & ~CORE_BITS,
)  # SP and PC are not for names
_NARROW = 0x50FF  # without r8 to r11


@dataclass(frozen=True)
class Demands:
    """Of the names of a kernel, in their order. meets: which of the others live at the same time,
    as bits. taken: the words of the core's files that something else has meanwhile, or that its
    instructions cannot name. short: in how many instructions with short forms it is. lists: names
    in the order that a list gives them. rows: names of which the second is the register behind the
    first."""

    meets: tuple[int, ...]
    taken: tuple[int, ...]
    short: tuple[int, ...]
    lists: tuple[tuple[int | Register, ...], ...]
    rows: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Lives:
    """names: of the kernel's registers that are not called as the core calls them. owners: the name
    that each bit is of, below those of the core's registers. written, live: of each item, what it
    writes, and what is read behind it. entry: what lives before the first, as arguments do.
    """

    items: Sequence[Item]
    names: tuple[Register, ...]
    owners: tuple[int, ...]
    written: Sequence[int]
    live: Sequence[int]
    entry: int
    is_narrow: bool

    @staticmethod
    def of(items: Sequence[Item], names: tuple[Register, ...], is_narrow: bool) -> Lives:
        """ValueError, a sentence: what `Flow.of` finds."""
        owners = tuple(n for n, r in enumerate(names) for _ in range(r.kind.words))
        mask = _masks(names, owners)
        flow = Flow.of(items)
        unique = {id(i): i for i in items if isinstance(i, Instruction)}
        masks = {key: (mask(i.written), mask(i.read)) for key, i in unique.items()}
        written, read = zip(*[masks.get(id(item), (0, 0)) for item in items], strict=True)
        live = flow.live(written, read)
        entry = flow.entry(written, read, live)
        return Lives(items, names, owners, written, live, entry, is_narrow)

    @property
    def unwritten(self) -> Register | None:
        """A name that is read before it is written, and no argument."""
        for index, owner in enumerate(self.owners):
            if self.entry >> index & 1 and self.names[owner].place is None:
                return self.names[owner]
        return None

    @property
    def _base(self) -> int:
        return len(self.owners)

    def demands(self, until: int) -> Demands:
        """Of the first items, with the lives that names have in the whole kernel."""
        together = [0] * (self._base + FILE_BITS.bit_length())
        for now, behind in dict.fromkeys(zip(self.written[:until], self.live, strict=False)):
            _each(now, behind | now, together)
        # Arguments are all there at the beginning.
        _each(self.entry & (1 << self._base) - 1, self.entry, together)
        for one, others in enumerate(together):
            while others:
                bit = others & -others
                together[bit.bit_length() - 1] |= 1 << one
                others ^= bit
        meets, taken = [0] * len(self.names), [*self._unreachable(until)]
        of_names = _of_names(self.owners)
        for index, owner in enumerate(self.owners):
            meets[owner] |= of_names(together[index]) & ~(1 << owner)
            taken[owner] |= together[index] >> self._base
        number = {r: n for n, r in enumerate(self.names)}
        short = [0] * len(self.names)
        lists: dict[tuple[int | Register, ...], None] = {}
        rows: dict[tuple[int, int], None] = {}
        for item in _instructions(self.items[:until]):
            for operand in item.operands:
                if isinstance(operand, Registers):
                    wholes = dict.fromkeys(r.whole or r for r in operand.registers)
                    if len({r.kind for r in wholes}) == 1:  # whose places compare
                        lists[tuple(number.get(r, r) for r in wholes)] = None
                    if item.name.startswith("v"):  # of the FPU a list has no gaps
                        rows |= dict.fromkeys(pairwise(number[r] for r in wholes if r in number))
            if may_be_short(item.name):
                for register in item.registers:
                    if register in number:
                        short[number[register]] += 1
        return Demands(tuple(meets), tuple(taken), tuple(short), tuple(lists), tuple(rows))

    def _unreachable(self, until: int) -> Iterator[int]:
        """Of each name the core registers that it cannot be."""
        low: set[Register] = set()
        even: set[Register] = set()
        for item in _instructions(self.items[:until]):
            is_low = self.is_narrow and not takes_high(item)
            low.update(item.registers if is_low else item.low)
            even.update(item.even)
        reach = _NARROW if self.is_narrow else _CORE
        for name in self.names:
            is_core = name.kind is Kind.CORE
            places = reach & (_LOW if name in low else reach) & (_EVEN if name in even else reach)
            yield CORE_BITS & ~places if is_core else 0

    @functools.cached_property
    def crowded(self) -> tuple[int, bool] | None:
        """The first item behind which more words live than there are, and whether they are of core
        registers; None where none is."""
        files = (_LOW, _NARROW if self.is_narrow else _CORE, _FLOATS)
        inside, barred = [0] * len(files), [*self._unreachable(len(self.items))]
        for bit, owner in enumerate(self.owners):
            name = self.names[owner]
            if name.place is None:
                reach = CORE_BITS & ~barred[owner] if name.kind is Kind.CORE else _FLOATS
                for n, file in enumerate(files):
                    inside[n] |= (reach & ~file == 0) << bit
        for at, (now, behind) in enumerate(zip(self.written, self.live, strict=True)):
            alive = now | behind
            for file, bits in zip(files, inside, strict=True):
                held = alive >> self._base & file
                if (alive & bits).bit_count() + held.bit_count() > file.bit_count():
                    return at, file is not _FLOATS
        return None

    def complaint(self, at: int) -> str:
        """Of the item that is the first to find no registers."""
        item, alive = self.items[at], self.written[at] | self.live[at]
        here = {self.names[n]: None for bit, n in enumerate(self.owners) if alive >> bit & 1}
        if isinstance(item, Instruction):
            here |= {r.whole or r: None for r in item.registers if not r.is_physical}
            asks = [r.whole or r for r in (*item.written, *item.registers[::-1])]
        else:
            asks = []
        if self.crowded is not None:
            here = {r: None for r in here if (r.kind is Kind.CORE) == self.crowded[1]}
        last = next((r for r in asks if r in here), max(here, key=self.names.index))
        is_core = last.kind is Kind.CORE
        said = f"label {item}" if isinstance(item, Label) else f"`{item}`"
        there = ", ".join(r.name for r in self.names if r in here)
        if self.crowded is None:
            return (
                f"{last.asked}: {said} finds no registers as it wants them among {there}: a list "
                "wants them in its order, one of the FPU without gaps, a D or Q register as one, "
                "some instructions r0 to r7; give it a copy"
            )
        low = " of r0 to r7" if is_core and self.is_narrow else ""
        keep = ", or keep one in an S or D register" if is_core and not self.is_narrow else ""
        return (
            f"{last.asked}: no register{low} is left for `{last.name}`: behind {said} there are "
            f"{there}; reuse one{keep}"
        )


def _masks(names: Sequence[Register], owners: Sequence[int]) -> Callable[[Iterable[Register]], int]:
    """Makes registers bits."""
    base, first = len(owners), dict[Register, int]()
    for index, owner in enumerate(owners):
        first.setdefault(names[owner], index)

    @functools.cache
    def of_one(register: Register) -> int:
        found = 0
        if register.whole is not None and register.whole in first:
            found |= 1 << first[register.whole] + register.index
        elif register in first:
            found |= (1 << register.kind.words) - 1 << first[register]
        if register.place is not None:
            found |= bits_of(register.kind, register.place) << base
        return found

    def mask(registers: Iterable[Register]) -> int:
        found = 0
        for register in registers:
            found |= of_one(register)
        return found

    return mask


def _each(bits: int, others: int, together: list[int]) -> None:
    """Adds others to what is there of each bit."""
    while bits:
        bit = bits & -bits
        together[bit.bit_length() - 1] |= others
        bits ^= bit


def _instructions(items: Sequence[Item]) -> Iterator[Instruction]:
    """Each once."""
    unique = {id(i): i for i in items if isinstance(i, Instruction)}
    return iter(unique.values())


def _of_names(owners: Sequence[int]) -> Callable[[int], int]:
    """Makes bits of registers bits of names."""
    every = (1 << len(owners)) - 1

    def moved(bits: int) -> int:
        found, rest = 0, bits & every
        while rest:
            bit = rest & -rest
            found |= 1 << owners[bit.bit_length() - 1]
            rest ^= bit
        return found

    return moved if len(owners) > owners[-1] + 1 else every.__and__
