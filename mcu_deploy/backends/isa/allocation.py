"""Binds the names of a kernel's registers to those of the core.

A name holds its register from where it is written to where it is last read, over all ways that the
code may take. Two names whose lives meet have different registers; the registers of a list are in
the order of the list, as LDM and STM need it; pinned ones are where they are pinned. Of what is
left, names that are in most instructions with short forms get the lowest registers. There is no
spilling: a kernel that needs more than there are is an error at the instruction that is the first
to find none.

Cores whose instructions have 16 bits (Armv6-M) reach r8 and up by MOV, ADD, CMP and BX alone: what
others name is in r0 to r7. Of the rest there are r12 and LR, as PUSH does not save r8 to r11.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from mcu_deploy.backends.isa.encoding import is_wide
from mcu_deploy.backends.isa.instruction import Instruction, Item
from mcu_deploy.backends.isa.lives import Demands, Lives
from mcu_deploy.backends.isa.operands import Kind, Register, bits_of, by_place, words_of

# In the order in which they are taken: those that short instructions name, then those that cost no
# long PUSH. SP is never one.
_PLACES = {
    Kind.CORE: (*range(8), 12, 14, 8, 9, 10, 11),
    Kind.SINGLE: tuple(range(32)),
    Kind.DOUBLE: tuple(range(16)),
    Kind.VECTOR: tuple(range(8)),
}
_TRIES = (200,) * 20 + (1000,) * 10 + (10_000,)


class AllocationError(ValueError):
    """A kernel whose names cannot all have registers; the message names the place that asked."""


def allocated(items: Sequence[Item], is_narrow: bool = False) -> Sequence[Item]:
    """The same items; each register has its place. is_narrow: for a core whose instructions have 16
    bits. AllocationError: there are too few registers, or an instruction has no such encoding."""
    unique = {id(item): item for item in items if isinstance(item, Instruction)}
    names = dict.fromkeys(name for instruction in unique.values() for name in instruction.names)
    bound = _bound(items, tuple(names), is_narrow) if names else items
    for item in bound if is_narrow else ():
        if isinstance(item, Instruction) and is_wide(item):
            raise AllocationError(
                f"`{item}` has no encoding of 16 bits, which is all that the core has: let it set "
                "the flags, write the first register that it reads, or have a smaller number"
            )
    return bound


def _bound(items: Sequence[Item], names: tuple[Register, ...], is_narrow: bool) -> Sequence[Item]:
    lives = Lives.of(items, names, is_narrow)
    if lives.unwritten is not None:
        raise AllocationError(
            f"{lives.unwritten.asked}: `{lives.unwritten.name}` is read before it is written"
        )
    places = _solved(names, lives.demands(len(items)))
    if places is None:
        raise AllocationError(lives.complaint(_first_without(lives)))
    at = dict(zip(names, places, strict=True))

    def place(register: Register) -> int | None:
        if register.place is not None:
            return register.place
        if register.whole is None:
            return at[register]
        return words_of(register.whole.kind, at[register.whole])[register.index]

    # What is the same is one value before and after.
    unique = {id(i): i for i in items if isinstance(i, Instruction)}
    made: dict[int, Item] = {
        key: _placed(instruction, tuple([place(r) for r in instruction.registers]))
        for key, instruction in unique.items()
    }
    return [made.get(id(item), item) for item in items]


# Kernels of one family are mostly the same, and what is known of an instruction is kept with it.
@functools.lru_cache(1 << 16)
def _placed(instruction: Instruction, places: tuple[int, ...]) -> Instruction:
    """An instruction whose registers are there."""
    new = dict(zip(instruction.registers, map(_at, instruction.registers, places), strict=True))
    return instruction.renamed(new.__getitem__)


@functools.lru_cache(1 << 14)
def _at(register: Register, place: int) -> Register:
    return register if register.is_physical else replace(register, place=place)


def _first_without(lives: Lives) -> int:
    """The first item up to which there are too few registers."""
    if lives.crowded is not None:
        return lives.crowded[0]
    fits, fails = 0, len(lives.items)
    while fits + 1 < fails:
        middle = (fits + fails) // 2
        if _solved(lives.names, lives.demands(middle)) is None:
            fails = middle
        else:
            fits = middle
    return fails - 1


def _solved(names: Sequence[Register], demands: Demands) -> tuple[int, ...] | None:
    """A place for each name."""
    kinds = tuple(r.kind for r in names)
    pins = tuple(r.place for r in names)
    for one, (register, others) in enumerate(zip(names, demands.meets, strict=True)):
        for other in range(one) if register.place is not None else ():
            twin = names[other]
            if others >> other & 1 and twin.place is not None and _overlap(register, twin):
                raise AllocationError(
                    f"{register.asked}: `{register.name}` and `{twin.name}`, which live at the "
                    f"same time, are both to be {by_place(register)}"
                )
    orders = {pair for of in demands.lists for pair in pairwise(of)}
    ordered = tuple(sorted(orders, key=str))
    return _search(kinds, pins, demands.meets, demands.taken, demands.short, ordered, demands.rows)


def _overlap(one: Register, other: Register) -> bool:
    assert one.place is not None and other.place is not None
    return bool(bits_of(one.kind, one.place) & bits_of(other.kind, other.place))


@functools.cache
def _free(kind: Kind, taken: int) -> int:
    """The places of a kind that need none of the words that are taken, as bits."""
    return sum(1 << p for p in _PLACES[kind] if not bits_of(kind, p) & taken)


@functools.cache
def _barred(other: Kind, kind: Kind, place: int) -> int:
    """The places of one kind that a register of another takes, as bits."""
    units = bits_of(kind, place)
    return sum(1 << p for p in _PLACES[other] if bits_of(other, p) & units)


def _beside(places: int, kind: Kind, other: Kind, is_behind: bool) -> int:
    """The places of another kind that are right behind some, or in front of them, as bits."""
    if kind is other:
        return places << 1 if is_behind else places >> 1
    found = 0
    for place in _PLACES[kind]:
        words = words_of(kind, place)
        begin = words.stop if is_behind else words.start - other.words
        if places >> place & 1 and begin >= 0 and begin % other.words == 0:
            found |= 1 << begin // other.words
    return found


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
        _free(kind, units) if pin is None else 1 << pin
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
    others = [[o for o, is_one in enumerate(f"{m:b}"[::-1]) if is_one == "1"] for m in meets]
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
                    fits = left[other] & _beside(left[one], kinds[one], kinds[other], one == low)
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
        rooms = [left[n].bit_count() / weights[n] for n in open_]
        least = min(rooms)
        tightest = [n for n, room in zip(open_, rooms, strict=True) if room == least]
        name = min(tightest, key=lambda n: (-short[n], n))
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
