"""Binds the names of a kernel's registers to those of the core.

A name holds its register from where it is written to where it is last read, over all ways that the
code may take. Two names whose lives meet have different registers; the registers of a list are in
the order of the list, as LDM and STM need it; pinned ones are where they are pinned. Of what is
left, names that are in most instructions with short forms get the lowest registers. There is no
spilling: a kernel that needs more than there are is an error at the name that is one too many.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mcu_deploy.backends.isa.encoding import may_be_short
from mcu_deploy.backends.isa.flow import Flow
from mcu_deploy.backends.isa.instruction import Instruction, Item
from mcu_deploy.backends.isa.operands import Kind, Register, Registers, by_place

# In the order in which they are taken: those that short instructions name, then those that cost no
# long PUSH. SP is never one.
_PLACES = {
    Kind.CORE: (*range(8), 12, 14, 8, 9, 10, 11),
    Kind.SINGLE: tuple(range(32)),
    Kind.DOUBLE: tuple(range(16)),
    Kind.VECTOR: tuple(range(8)),
}
# Of a register, the words of its file. S0 is the first word of D0 and Q0.
_WORDS = {Kind.CORE: 1, Kind.SINGLE: 1, Kind.DOUBLE: 2, Kind.VECTOR: 4}
_TRIES = (200,) * 20 + (1000,) * 10 + (10_000,)


class AllocationError(ValueError):
    """A kernel whose names cannot all have registers; the message names the place that asked."""


def allocated(items: Sequence[Item]) -> Sequence[Item]:
    """The same items; each register has its place. AllocationError: there are too few."""
    names = {
        r.whole or r: None for item in {id(item): item for item in items}.values()
        if isinstance(item, Instruction) for r in item.registers if not r.is_physical
    }  # fmt: skip
    if not names:
        return items
    lives = _lives(items, tuple(names))
    places = _solved(lives)
    if places is None:
        raise AllocationError(lives.complaint(items))
    bound = {r: replace(r, place=p) for r, p in zip(lives.names, places, strict=True)}

    def place(register: Register) -> Register:
        if register.whole is None or register.place is not None:
            return bound.get(register, register)
        return bound[register.whole].halves[register.index]

    # What is the same is one value before and after.
    unique = {id(i): i for i in items if isinstance(i, Instruction)}
    made: dict[int, Item] = {key: instruction.renamed(place) for key, instruction in unique.items()}
    return [made.get(id(item), item) for item in items]


@dataclass(frozen=True)
class _Lives:
    """names: of the kernel's registers that are not called as the core calls them. meets: of each,
    which of the others live at the same time, as bits. taken: of each, the words of the core's
    files that something else has while it lives, S registers from bit 16 on. lists: names in the
    order that a list gives them. rows: names of which the second is the register behind the first.
    owners, live: behind each item what is read later, as bits, and the name that each bit is of."""

    names: tuple[Register, ...]
    meets: tuple[int, ...]
    taken: tuple[int, ...]
    short: tuple[int, ...]
    lists: tuple[tuple[int | Register, ...], ...]
    rows: tuple[tuple[int, int], ...]
    owners: tuple[int, ...]
    live: tuple[int, ...]

    def complaint(self, items: Sequence[Item]) -> str:
        """Where the most names live, and which."""

        def alive(bits: int) -> list[Register]:
            found = dict.fromkeys(n for i, n in enumerate(self.owners) if bits >> i & 1)
            return [self.names[n] for n in found]

        most = max(range(len(items)), key=lambda i: len(alive(self.live[i])))
        here = alive(self.live[most])
        last = max(here, key=self.names.index)
        return (
            f"{last.asked}: no register is left for `{last.name}`: behind `{items[most]}` there "
            f"are {', '.join(r.name for r in here)}; reuse one, or keep one in an S or D register"
        )


def _lives(items: Sequence[Item], names: tuple[Register, ...]) -> _Lives:
    """By the liveness of names and of the core's registers, as bits: of each name one, of the
    halves of D registers one each, then 48 of the core's words."""
    owners = [n for n, r in enumerate(names) for _ in range(1 + (r.kind is Kind.DOUBLE))]
    base = len(owners)
    bits = dict.fromkeys(names, 0)
    for index, owner in enumerate(owners):
        bits[names[owner]] |= 1 << index

    @functools.cache
    def of_one(register: Register) -> int:
        found = 0
        if register.whole is not None and register.whole in bits:
            both = bits[register.whole]
            found |= both & -both if register.index == 0 else both & (both - 1)
        elif register in bits:
            found |= bits[register]
        if register.place is not None:
            found |= _units(register.kind, register.place) << base
        return found

    def mask(registers: Iterable[Register]) -> int:
        found = 0
        for register in registers:
            found |= of_one(register)
        return found

    flow = Flow.of(items)
    unique = {id(i): i for i in items if isinstance(i, Instruction)}
    masks = {key: (mask(i.written), mask(i.read)) for key, i in unique.items()}
    written, read = zip(*[masks.get(id(item), (0, 0)) for item in items], strict=True)
    live = flow.live(written, read)
    together = [0] * (base + 48)
    for now, behind in dict.fromkeys(zip(written, live, strict=True)):
        others, rest = behind | now, now
        while rest:
            bit = rest & -rest
            together[bit.bit_length() - 1] |= others
            rest ^= bit
    # Arguments are all there at the beginning.
    entry = flow.entry(written, read, live)
    for index, owner in enumerate(owners):
        if entry >> index & 1:
            if names[owner].place is None:
                raise AllocationError(
                    f"{names[owner].asked}: `{names[owner].name}` is read before it is written"
                )
            together[index] |= entry
    for one, others in enumerate(together):
        while others:
            bit = others & -others
            together[bit.bit_length() - 1] |= 1 << one
            others ^= bit
    meets, taken = [0] * len(names), [0] * len(names)
    of_names = _of_names(owners)
    for index, owner in enumerate(owners):
        meets[owner] |= of_names(together[index]) & ~(1 << owner)
        taken[owner] |= together[index] >> base
    number = {r: n for n, r in enumerate(names)}
    short = [0] * len(names)
    lists: dict[tuple[int | Register, ...], None] = {}
    rows: dict[tuple[int, int], None] = {}
    for item in unique.values():
        for operand in item.operands:
            if isinstance(operand, Registers):
                wholes = dict.fromkeys(r.whole or r for r in operand.registers)
                lists[tuple(number.get(r, r) for r in wholes)] = None
                if item.name.startswith("v"):  # of the FPU a list has no gaps
                    rows |= dict.fromkeys(pairwise(number[r] for r in wholes if r in number))
        for register in item.low:
            if register in number:
                taken[number[register]] |= 0x7F00  # r8 to lr
        if may_be_short(item.name):
            for register in item.registers:
                if register in number:
                    short[number[register]] += 1
    return _Lives(
        names,
        tuple(meets),
        tuple(taken),
        tuple(short),
        tuple(lists),
        tuple(rows),
        tuple(owners),
        tuple(live),
    )


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


def _units(kind: Kind, place: int) -> int:
    if kind is Kind.CORE:
        return 1 << place
    words = _WORDS[kind]
    return ((1 << words) - 1) << 16 + words * place


def _solved(lives: _Lives) -> tuple[int, ...] | None:
    """A place for each name."""
    kinds = tuple(r.kind for r in lives.names)
    pins = tuple(r.place for r in lives.names)
    for one, (register, others) in enumerate(zip(lives.names, lives.meets, strict=True)):
        for other in range(one) if register.place is not None else ():
            twin = lives.names[other]
            if others >> other & 1 and twin.place is not None and _overlap(register, twin):
                raise AllocationError(
                    f"{register.asked}: `{register.name}` and `{twin.name}`, which live at the "
                    f"same time, are both to be {by_place(register)}"
                )
    orders = {pair for of in lives.lists for pair in pairwise(of)}
    ordered = tuple(sorted(orders, key=str))
    return _search(kinds, pins, lives.meets, lives.taken, lives.short, ordered, lives.rows)


def _overlap(one: Register, other: Register) -> bool:
    assert one.place is not None and other.place is not None
    return bool(_units(one.kind, one.place) & _units(other.kind, other.place))


@functools.cache
def _barred(other: Kind, kind: Kind, place: int) -> int:
    """The places of one kind that a register of another takes, as bits."""
    units = _units(kind, place)
    return sum(1 << p for p in _PLACES[other] if _units(other, p) & units)


@functools.lru_cache(1 << 10)  # kernels of one family often ask the same
def _search(
    kinds: tuple[Kind, ...],
    pins: tuple[int | None, ...],
    meets: tuple[int, ...],
    taken: tuple[int, ...],
    short: tuple[int, ...],
    orders: tuple[tuple[int | Register, int | Register], ...],
    rows: tuple[tuple[int, int], ...],
) -> tuple[int, ...] | None:
    """A place for each name; None where there are none. orders: of a list, which name or register
    of the core is below which; rows: which is right below which."""
    count = len(kinds)
    domains = [
        1 << pin if pin is not None else
        sum(1 << p for p in _PLACES[kind] if not _units(kind, p) & units)
        for kind, pin, units in zip(kinds, pins, taken, strict=True)
    ]  # fmt: skip
    below: list[list[int]] = [[] for _ in kinds]
    above: list[list[int]] = [[] for _ in kinds]
    for low, high in orders:
        if isinstance(low, int) and isinstance(high, int):
            below[high].append(low)
            above[low].append(high)
        elif isinstance(low, int) and isinstance(high, Register):
            domains[low] &= (1 << (high.place or 0)) - 1
        elif isinstance(high, int) and isinstance(low, Register):
            domains[high] &= -2 << (low.place or 0)
    others = [[o for o in range(count) if meets[n] >> o & 1] for n in range(count)]
    # How often a name was in the way: what is hardest to place is placed first (dom/wdeg of
    # Boussemart et al., Boosting systematic search by weighting constraints, 2004).
    weights = [1] * count
    tries = [0]

    def ordered(left: list[int], changed: list[int]) -> int | None:
        """Narrows what lists order; the name that has no place left."""
        while changed:
            one = changed.pop()
            for low, high in rows:
                if one in (low, high):
                    other = high if one == low else low
                    fits = left[other] & (left[one] << 1 if one == low else left[one] >> 1)
                    if not fits:
                        return other
                    if fits != left[other]:
                        left[other] = fits
                        changed.append(other)
            least = left[one] & -left[one]
            for other in above[one]:
                if left[other] & (2 * least - 1):
                    left[other] &= -2 * least
                    if not left[other]:
                        return other
                    changed.append(other)
            most = 1 << left[one].bit_length() - 1
            for other in below[one]:
                if left[other] >= most:
                    left[other] &= most - 1
                    if not left[other]:
                        return other
                    changed.append(other)
        return None

    def narrowed(left: list[int], name: int, place: int) -> list[int] | None:
        """The domains that are left when a name has its place; None where one is empty."""
        left, kind, changed = [*left], kinds[name], [name]
        left[name] = 1 << place
        failed = None
        for other in others[name]:
            barred = _barred(kinds[other], kind, place)
            if left[other] & barred:
                left[other] &= ~barred
                if not left[other]:
                    failed = other
                    break
                changed.append(other)
        if failed is None:
            failed = ordered(left, changed)
        if failed is None:
            return left
        weights[failed] += 1
        weights[name] += 1
        return None

    def search(left: list[int], open_: list[int]) -> list[int] | None:
        if not open_:
            return left
        name = min(open_, key=lambda n: (left[n].bit_count() / weights[n], -short[n], n))
        rest = [n for n in open_ if n != name]
        for place in _PLACES[kinds[name]] if pins[name] is None else (pins[name] or 0,):
            if left[name] >> place & 1:
                tries[0] -= 1
                if tries[0] < 0:
                    return None
                fits = narrowed(left, name, place)
                if fits is not None and (found := search(fits, rest)) is not None:
                    return found
        return None

    if not all(domains) or ordered(domains, list(range(count))) is not None:
        return None
    # A search that has lost its way begins again, with what it has learnt.
    for most in _TRIES:
        tries[0] = most
        found = search(domains, list(range(count)))
        if found is not None:
            return tuple(domain.bit_length() - 1 for domain in found)
    return None
