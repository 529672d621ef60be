"""How room is made in a full arena: layouts that differ in where some of the blocks lie.

A layout is what lies where at one step. To place a block is to answer with layouts that hold it:
those in which nothing else moves where there are any, and otherwise several in which others slide
aside, hop into another gap, or are packed anew. Which of them is best is for the caller to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, order=True)
class Block:
    """`bytes` bytes of a buffer at `start`; a fixed one stays there."""

    start: int
    bytes: int
    buffer: int
    fixed: bool = False

    @property
    def end(self) -> int:
        return self.start + self.bytes

    def at(self, start: int) -> Block:
        """The block at another place."""
        return Block(start, self.bytes, self.buffer, self.fixed)

    def meets(self, other: Block) -> bool:
        """Whether the two share a byte."""
        return self.start < other.end and other.start < self.end


Layout = tuple[Block, ...]  # by address, none meets another


def gaps(layout: Layout, size: int) -> Iterator[tuple[int, int]]:
    """The stretches [start, end) of an arena of `size` bytes in which nothing lies."""
    at = 0
    for block in layout:
        if at < block.start:
            yield at, block.start
        at = block.end
    if at < size:
        yield at, size


def largest_gap(layout: Layout, size: int) -> int:
    return max((end - start for start, end in gaps(layout, size)), default=0)


def place(layout: Layout, new: Block, size: int) -> list[Layout]:
    """Layouts in an arena of `size` bytes that hold `new` too, none twice.

    A fixed block comes to its place, any other one to where there is room. No layout: there is
    none that this finds, however much is moved.
    """
    if new.fixed:
        if not any(block.meets(new) for block in layout):
            return [_with(layout, new)]
        return _distinct((*_cleared(layout, new, size), *_packed(layout, new, size)))
    fitting = [(start, end) for start, end in gaps(layout, size) if end - start >= new.bytes]
    if fitting:
        ends = [at for start, end in fitting for at in (start, end - new.bytes)]
        return _distinct(_with(layout, new.at(at)) for at in ends)
    windows = [new.at(start) for start in _windows(layout, new.bytes, size)]
    made = [found for window in windows for found in _cleared(layout, window, size)]
    return _distinct((*made, *_packed(layout, new, size)))


def ordered(before: Mapping[int, Block], after: Iterable[Block]) -> list[Block] | None:
    """The blocks of `after` that lie elsewhere than `before`, in an order in which to move them.

    None is written over what another one has yet to leave; its own former place it may meet. No
    answer where they would have to change places.
    """
    waiting = [b for b in after if b.buffer in before and before[b.buffer].start != b.start]
    done: list[Block] = []
    while waiting:
        free = next((b for b in waiting if not _blocked(b, waiting, before)), None)
        if free is None:
            return None
        waiting.remove(free)
        done.append(free)
    return done


def _blocked(block: Block, waiting: Sequence[Block], before: Mapping[int, Block]) -> bool:
    return any(o is not block and block.meets(before[o.buffer]) for o in waiting)


def _windows(layout: Layout, wanted: int, size: int) -> list[int]:
    """Where room for `wanted` bytes may be made: beside the blocks, as they are or slid down."""
    starts = {0, size - wanted}
    for first, block in enumerate(layout):
        starts |= {block.end, block.start - wanted}
        at = block.end
        for moved in layout[first + 1 :]:
            if moved.fixed:
                break
            at += moved.bytes
            starts.add(at)
    at = 0
    for moved in layout:
        if moved.fixed:
            break
        at += moved.bytes
        starts.add(at)
    return sorted(start for start in starts if 0 <= start <= size - wanted)


def _cleared(layout: Layout, window: Block, size: int) -> Iterator[Layout]:
    """Layouts in which the window is taken, and what lay there slid aside or hopped away."""
    met = [i for i, block in enumerate(layout) if block.meets(window)]
    if any(layout[i].fixed for i in met):
        return
    first, last = met[0], met[-1] + 1
    for split in range(first, last + 1):
        below = _pushed_down(layout[:split], window.start)
        above = _pushed_up(layout[split:], window.end, size)
        if below is not None and above is not None:
            yield (*below, window, *above)
    rest = _with((*layout[:first], *layout[last:]), window)
    hopped = _fitted(rest, sorted(layout[first:last], key=lambda b: (-b.bytes, b)), size)
    if hopped is not None:
        yield hopped


def _pushed_down(layout: Layout, limit: int) -> Layout | None:
    """The blocks with all that lies above `limit` moved below it, and others as far as needed."""
    pushed: list[Block] = []
    for block in reversed(layout):
        if block.end > limit:
            if block.fixed or limit < block.bytes:
                return None
            block = block.at(limit - block.bytes)
        pushed.append(block)
        limit = block.start
    return tuple(reversed(pushed))


def _pushed_up(layout: Layout, limit: int, size: int) -> Layout | None:
    pushed: list[Block] = []
    for block in layout:
        if block.start < limit:
            if block.fixed or limit + block.bytes > size:
                return None
            block = block.at(limit)
        pushed.append(block)
        limit = block.end
    return tuple(pushed)


def _packed(layout: Layout, new: Block, size: int) -> Iterator[Layout]:
    """Layouts in which all that may move lies close together, from either end."""
    movable = [block for block in layout if not block.fixed]
    base: Layout = tuple(block for block in layout if block.fixed)
    if new.fixed:
        if any(block.meets(new) for block in base):
            return
        base = _with(base, new)
    added = [] if new.fixed else [new]
    orders = (
        [*movable, *added],
        [*added, *movable],
        sorted([*movable, *added], key=lambda block: (-block.bytes, block.buffer)),
    )
    for order in orders:
        for from_the_top in (False, True):
            packed = _fitted(
                base, reversed(order) if from_the_top else order, size, from_the_top, first=True
            )
            if packed is not None:
                yield packed


def _fitted(
    layout: Layout,
    added: Iterable[Block],
    size: int,
    from_the_top: bool = False,
    first: bool = False,
) -> Layout | None:
    """The layout with more blocks, one after the other in the nearest gap in size, or the first."""
    for block in added:
        found = [(s, e) for s, e in gaps(layout, size) if e - s >= block.bytes]
        if not found:
            return None
        if not first:
            start, end = min(found, key=lambda gap: (gap[1] - gap[0], gap))
        else:
            start, end = found[-1] if from_the_top else found[0]
        layout = _with(layout, block.at(end - block.bytes if from_the_top else start))
    return layout


def _with(layout: Iterable[Block], block: Block) -> Layout:
    return tuple(sorted((*layout, block)))


def _distinct(layouts: Iterable[Layout]) -> list[Layout]:
    """Each once, and none in which two blocks meet (hopping into a window's own place cannot)."""
    found = dict.fromkeys(layouts)
    return [layout for layout in found if not any(a.meets(b) for a, b in pairwise(layout))]
