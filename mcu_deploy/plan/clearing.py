"""How room is made in a full arena: layouts that differ in where some of the blocks lie.

A layout is what lies where at one step. To place a block is to answer with layouts that hold it:
those in which nothing else moves where there are any, and otherwise several in which others slide
aside or hop into another gap. Which of them is best is for the caller to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, order=True)
class Extent:
    """`bytes` bytes of a buffer at `start`; a fixed one stays there."""

    start: int
    bytes: int
    buffer: int
    fixed: bool = False

    @property
    def end(self) -> int:
        return self.start + self.bytes

    def at(self, start: int) -> Extent:
        """The block at another place."""
        return Extent(start, self.bytes, self.buffer, self.fixed)

    def meets(self, other: Extent) -> bool:
        """Whether the two share a byte."""
        return self.start < other.end and other.start < self.end


Layout = tuple[Extent, ...]  # by address, none meets another


def gaps(blocks: Iterable[Extent], size: int) -> Iterator[tuple[int, int]]:
    """The stretches [start, end) of an arena of `size` bytes in which none of the blocks lies.

    blocks: by their starts.
    """
    at = 0
    for block in blocks:
        if at < block.start:
            yield at, block.start
        at = max(at, block.end)
    if at < size:
        yield at, size


def place(layout: Layout, new: Extent, size: int) -> list[Layout]:
    """Layouts in an arena of `size` bytes that hold `new` too, none twice.

    A fixed block comes to its place, any other one to where there is room. No layout: there is
    none that this finds, however much is moved.
    """
    if new.fixed:
        if not any(block.meets(new) for block in layout):
            return [_with(layout, new)]
        return _distinct(_cleared(layout, new, size))
    fitting = [(start, end) for start, end in gaps(layout, size) if end - start >= new.bytes]
    if fitting:
        ends = [at for start, end in fitting for at in (start, end - new.bytes)]
        return _distinct(_with(layout, new.at(at)) for at in ends)
    windows = [new.at(start) for start in _windows(layout, new.bytes, size)]
    return _distinct(found for window in windows for found in _cleared(layout, window, size))


def ordered(before: Mapping[int, Extent], after: Iterable[Extent]) -> list[Extent] | None:
    """The blocks of `after` that lie elsewhere than `before`, in an order in which to move them.

    None is written over what another one has yet to leave; its own former place it may meet. No
    answer where they would have to change places.
    """
    waiting = [b for b in after if b.buffer in before and before[b.buffer].start != b.start]
    done: list[Extent] = []
    while waiting:
        for block in waiting:
            if not any(o is not block and block.meets(before[o.buffer]) for o in waiting):
                break
        else:
            return None
        waiting.remove(block)
        done.append(block)
    return done


def _windows(layout: Layout, wanted: int, size: int) -> list[int]:
    """Where room for `wanted` bytes may be made: beside the blocks, as they are or slid down."""
    starts = {0, size - wanted}
    packed = 0
    for block in layout:
        packed = block.end if block.fixed else packed + block.bytes
        starts |= {block.end, block.start - wanted, packed}
    return sorted(start for start in starts if 0 <= start <= size - wanted)


def _cleared(layout: Layout, window: Extent, size: int) -> Iterator[Layout]:
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
    pushed: list[Extent] = []
    for block in reversed(layout):
        if block.end > limit:
            if block.fixed or limit < block.bytes:
                return None
            block = block.at(limit - block.bytes)
        pushed.append(block)
        limit = block.start
    return tuple(reversed(pushed))


def _pushed_up(layout: Layout, limit: int, size: int) -> Layout | None:
    pushed: list[Extent] = []
    for block in layout:
        if block.start < limit:
            if block.fixed or limit + block.bytes > size:
                return None
            block = block.at(limit)
        pushed.append(block)
        limit = block.end
    return tuple(pushed)


def _fitted(layout: Layout, added: Iterable[Extent], size: int) -> Layout | None:
    """The layout with more blocks, one after the other in the nearest gap in size."""
    for block in added:
        found = [(s, e) for s, e in gaps(layout, size) if e - s >= block.bytes]
        if not found:
            return None
        start, _ = min(found, key=lambda gap: (gap[1] - gap[0], gap))
        layout = _with(layout, block.at(start))
    return layout


def _with(layout: Iterable[Extent], block: Extent) -> Layout:
    return tuple(sorted((*layout, block)))


def _distinct(layouts: Iterable[Layout]) -> list[Layout]:
    """Each once, and none in which two blocks meet (hopping into a window's own place cannot)."""
    found = dict.fromkeys(layouts)
    return [layout for layout in found if not any(a.meets(b) for a, b in pairwise(layout))]
