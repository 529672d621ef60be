"""Puts a kernel's instructions into an order in which a core waits little, by its model.

Straight pieces by themselves: labels, branches and what IT makes conditional stay where they are;
what VPST predicates stays behind it. For a core that is quicker so, lists are split (lists.py), and
values may have other registers (renaming.py). What comes of it is proven to do the same (same.py).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mcu_deploy.backends.isa.flow import Flow, begins
from mcu_deploy.backends.isa.instruction import Instruction, Item, Note
from mcu_deploy.backends.isa.listing import Listing
from mcu_deploy.backends.isa.lists import split
from mcu_deploy.backends.isa.model import Model, rounds
from mcu_deploy.backends.isa.operands import LR, Label, Register, by_name
from mcu_deploy.backends.isa.plain import plain
from mcu_deploy.backends.isa.renaming import Values, places_in
from mcu_deploy.backends.isa.same import do_the_same

# r0 to r3 and r12, which no function saves; SP and PC, which hold no values.
_FREE, _SPECIAL = 0x100F, 0xA000
# Jumps, and what begins a loop that predicates its last round.
_STAYING = ("b", "bl", "bx", "cbz", "cbnz", "dlstp.8", "dlstp.16", "dlstp.32")


@functools.lru_cache(1 << 6)  # kernels of layers that are alike are the same
def scheduled(items: tuple[Item, ...], model: Model, read: int = 0) -> Sequence[Item]:
    """The same items in another order; all registers have their places. read: the core registers
    that are read behind them, as bits."""
    if model.ordering is None:
        return items
    found: list[Item] = []
    for _, _, parts in pieces(items, model, read):
        for part in parts:
            found += _put_in_order(part, model)
    return found


def edges(items: Sequence[Item]) -> list[tuple[int, int]]:
    return [*itertools.pairwise([*begins(items), len(items)])]


class Room(NamedTuple):
    """Of a straight run: whether its instructions may have other sizes than before, and then lists
    may be split; the core registers that are read behind it, and those that it may use, as bits."""

    may_grow: bool
    read: int
    usable: int


# An order that takes so much of the least that any does is good enough for a price.
_AS_GOOD = 17 / 16

# What goes back to the beginning of a run that is all that a loop has: a branch, or nothing that
# takes time; None where it is no loop.
Back = tuple[Instruction, ...] | None


class StraightPart(NamedTuple):
    """Of a straight piece: a run, or items that stay where they are, which have no room."""

    items: Sequence[Item]
    room: Room | None = None
    back: Back = None

    @property
    def code(self) -> tuple[Instruction, ...]:
        return tuple([item for item in self.items if isinstance(item, Instruction)])


def pieces(
    items: Sequence[Item], model: Model, read: int = 0
) -> Iterator[tuple[int, int, list[StraightPart]]]:
    """The straight pieces, [begin, end) by the items' numbers, each by its parts."""
    first, last = _measured(items)
    ordering = model.ordering
    live: Sequence[int] = [0] * len(items)
    usable = 0
    if ordering is not None and ordering.valued is not None:
        live, usable = _live(tuple(items), read), _used(items)
    for begin, end in edges(items):
        may_grow = ordering is not None and not first <= begin < last
        yield begin, end, [*_parts(items[begin:end], may_grow, live[begin:end], usable)]


def _measured(items: Sequence[Item]) -> tuple[int, int]:
    """The items from the first to the last one of the labels that jumps by an address go to, which
    is found by counting bytes: those between them keep their sizes."""
    targets = {
        label for item in items if isinstance(item, Instruction) and item.targets
        if item.operands[0] is not LR for label in item.targets
    }  # fmt: skip
    labels = [n for n, item in enumerate(items) if isinstance(item, Label)]
    found = [n for n in labels if items[n] in targets]
    if not found:
        return 0, 0
    return found[0], min((n for n in labels if n > found[-1]), default=len(items))


def _parts(
    items: Sequence[Item], may_grow: bool, read: Sequence[int], usable: int
) -> Iterator[StraightPart]:
    """Its straight runs, between what stays where it is. read: behind each item, as bits."""
    begin = conditional = 0
    for n, item in enumerate(items):
        is_instruction = isinstance(item, Instruction)
        stays = not isinstance(item, Note) and (not is_instruction or conditional > 0)
        if isinstance(item, Instruction) and not stays:
            is_condition = item.name.startswith("it")
            stays = is_condition or bool(item.jumps_to) or item.name in _STAYING
            if is_condition:
                conditional = len(item.name)
        if stays:
            if begin < n:
                room = Room(may_grow, read[n - 1], usable)
                yield _run(items[begin:n], room, _back(items, begin, n))
            begin = n + 1
            yield StraightPart([item])
            conditional -= is_instruction and conditional > 0
    if begin < len(items):
        yield _run(items[begin:], Room(may_grow, read[-1], usable), None)


def _back(items: Sequence[Item], begin: int, end: int) -> Back:
    """Of a run, by what it begins and ends behind."""
    last = items[end]
    if begin != 1 or not isinstance(last, Instruction) or items[0] not in last.jumps_to:
        return None
    return () if last.name in ("le", "letp") else (last,)


def _run(items: Sequence[Item], room: Room, back: Back) -> StraightPart:
    is_short = sum(isinstance(item, Instruction) for item in items) < 3
    return StraightPart(items) if is_short else StraightPart(items, room, back)


def _put_in_order(part: StraightPart, model: Model) -> Sequence[Item]:
    found = None if part.room is None else _fastest(model, part.code, part.room, part.back)
    return part.items if found is None else _noted(found, part.items)


# Kernels of one family have most of their straight runs in common.
@functools.lru_cache(1 << 12)
def _fastest(
    model: Model, code: tuple[Instruction, ...], room: Room, back: Back
) -> Sequence[Instruction] | None:
    """Of: as it is, in another order, so with its lists split, and with other registers. What is
    found is proven."""
    run = tuple([plain(instruction) for instruction in code])
    named = _split(model, code, room)
    behind = [model.issue_of(plain(instruction)) for instruction in back or ()]
    best, taken = None, _cost(model, [model.issue_of(i) for i in run], behind, back)
    for listing in _listings(model, run, room):
        for way in range(len(listing.ways)):
            order = listing.order(way)
            if order is None:
                continue
            issues = [listing.issues[n] for n in order.numbers]
            cost = _cost(model, issues, behind, back)
            if cost >= taken:
                continue
            found = order.of(named)
            if order.places is not None:  # two values that are never read may share a register
                issues = [model.issue_of(plain(instruction)) for instruction in found]
                cost = _cost(model, issues, behind, back)
            if cost < taken:
                best, taken = found, cost
    if best is not None and not do_the_same(code, best, room.read):
        raise AssertionError(f"the order of {code[0]} and what follows it does not do the same")
    return best


@functools.lru_cache(1 << 9)
def _listings(model: Model, code: tuple[Instruction, ...], room: Room) -> tuple[Listing, ...]:
    """What may be listed of plain code: as it is, or with its lists split, and with other
    registers."""
    ordering = model.ordering
    assert ordering is not None
    code = tuple([plain(instruction) for instruction in _split(model, code, room)])
    first = Listing(model.issue_of, ordering, code)
    if room.may_grow and ordering.valued is not None:
        values = Values(code, room.read, room.usable)
        if values.may_move:
            return first, Listing(model.issue_of, ordering, code, values)
    return (first,)


def _split(model: Model, code: tuple[Instruction, ...], room: Room) -> Sequence[Instruction]:
    """With the lists split that may be."""
    assert model.ordering is not None
    return split(code) if room.may_grow and model.ordering.pairs else code


@functools.lru_cache(1 << 12)
def good(
    model: Model, code: tuple[Instruction, ...], room: Room, back: Back
) -> tuple[list[Any], float]:
    """What is issued of a plain run in an order that is good, for its price alone, and its cycles,
    where it is a loop each time: other registers are tried where they may gain something."""
    assert model.ordering is not None
    behind = [model.issue_of(instruction) for instruction in back or ()]
    best, least = list[Any](), math.inf
    for listing in _listings(model, code, room):
        # Kernels add vectors in the order of their cycles, which may be better than any other.
        for way in range(len(listing.ways[: 3 if listing.has_vectors else 1])):
            order = listing.order(way)
            if order is not None:
                found = [listing.issues[n] for n in order.numbers]
                taken: float = order.alone
                if back is not None:
                    taken = model.cycles([*found, *behind], True)
                if taken < least:
                    best, least = found, taken
        if best and least <= _AS_GOOD * model.ordering.least([*best, *behind]):
            break
    assert best
    return best, least


def _cost(
    model: Model, issues: Sequence[Any], behind: Sequence[Any], back: Back
) -> tuple[float, float]:
    """What a loop takes each time; of other runs their time alone and behind themselves."""
    assert model.ordering is not None
    alone, each = rounds(model.ordering.pipeline(), [*issues, *behind], True)
    if behind:
        (alone,) = rounds(model.ordering.pipeline(), issues, False)
    return (alone + each, 0) if back is None else (each, alone)


def _noted(order: Sequence[Instruction], items: Sequence[Item]) -> list[Item]:
    """With the notes of the items in front of the first instruction that each spoke of."""
    of: dict[str, list[Note]] = {}
    found: list[Item] = []
    pending: list[Note] = []
    for item in items:
        if isinstance(item, Note):
            pending.append(item)
        elif pending and isinstance(item, Instruction):
            of.setdefault(item.printed(by_name), []).extend(pending)
            pending = []
    for instruction in order:
        if of:
            found += of.pop(instruction.printed(by_name), ())
        found.append(instruction)
    return [*found, *(note for notes in of.values() for note in notes), *pending]


@functools.lru_cache(1 << 6)
def _live(items: tuple[Item, ...], read: int) -> list[int]:
    """The core registers that are read behind each item, as bits."""
    written, needed = zip(*[
        _bits(item) if isinstance(item, Instruction) else (0, 0) for item in items
    ], strict=True)  # fmt: skip
    try:
        flow = Flow.of(items)
    except ValueError:  # a subroutine that does not say where it returns to
        return [-1] * len(items)
    return flow.live(written, needed, read)


@functools.lru_cache(1 << 14)
def _bits(instruction: Instruction) -> tuple[int, int]:
    """The core registers that it writes, and that it reads."""
    return _mask(instruction.written), _mask(instruction.read)


def _mask(registers: Sequence[Register]) -> int:
    return sum(1 << place for place in places_in(registers))


def _used(items: Sequence[Item]) -> int:
    """The core registers that a kernel may use without saving more than it does."""
    found = _FREE
    for item in items:
        if isinstance(item, Instruction):
            written, read = _bits(item)
            found |= written | read
    return found & ~_SPECIAL
