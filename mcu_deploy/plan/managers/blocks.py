"""The model of crt/src/memory_block.c, which mru and bestfit share."""

from __future__ import annotations

from dataclasses import dataclass

from mcu_deploy.plan.alignment import ALIGNMENT, aligned
from mcu_deploy.plan.managers.interface import (
    WORD,
    Configuration,
    EntryPoints,
    Manager,
)


class BlockManager(Manager):
    """Blocks of any size behind headers of two words, split when given, joined when freed."""

    def __init__(self, begin: int, size: int, word: int, start: int, nearest: bool) -> None:
        """begin: offset of the first header. start: the address of offset 0."""
        super().__init__()
        self._header = 2 * word
        self._start = start
        self._nearest = nearest
        self._sizes = {begin: size}  # of all blocks with their headers, by offset
        self._free = [begin]  # the most recently freed first
        self._end = begin + size

    def allocate(self, size: int, alignment: int) -> int | None:
        header = self._header
        size = aligned(max(size, 1), header)
        chosen = self._choose(size, alignment)
        if chosen is None:
            return None
        index = self._free.index(chosen)
        gap = self._gap(chosen, alignment)
        given, room = chosen + gap, self._sizes.pop(chosen) - gap
        parts = []  # what stays free: in front for the alignment, and behind
        if gap:
            self._sizes[chosen] = gap
            parts.append(chosen)
        spare = room - header - size
        if spare >= 2 * header:
            parts.append(given + header + size)
            self._sizes[parts[-1]] = spare
            room -= spare
        elif given + room == self._end:
            self._changes_at(2 * header - spare)  # it would be split
        self._free[index : index + 1] = parts
        self._sizes[given] = room
        self._count(room)
        return given + header

    def free(self, address: int) -> None:
        block = address - self._header
        if block not in self._sizes or block in self._free:
            raise ValueError(f"nothing was given at {address}")
        self.used -= self._sizes[block]
        behind = block + self._sizes[block]
        if behind in self._free:
            self._join(block, behind)
        before = next((b for b in self._free if b + self._sizes[b] == block), None)
        if before is not None:
            self._free.remove(before)
            self._sizes[before] += self._sizes.pop(block)
            block = before
        self._free.insert(0, block)

    def _join(self, block: int, behind: int) -> None:
        self._free.remove(behind)
        self._sizes[block] += self._sizes.pop(behind)

    def _choose(self, size: int, alignment: int) -> int | None:
        fitting = []
        for block in self._free:
            missing = self._header + self._gap(block, alignment) + size - self._sizes[block]
            if missing <= 0:
                fitting.append(block)
            elif block + self._sizes[block] == self._end:
                self._changes_at(missing)  # it would fit
        if not fitting:
            return None
        if not self._nearest:
            return fitting[0]
        chosen = min(fitting, key=self._sizes.__getitem__)  # the first of the smallest
        if chosen + self._sizes[chosen] == self._end:
            for other in fitting:
                if other != chosen:  # it would be the nearer one
                    self._changes_at(max(self._sizes[other] - self._sizes[chosen], 1))
        return chosen

    def _gap(self, block: int, alignment: int) -> int:
        """How far behind its header a block's first payload with this alignment is."""
        return -(self._start + block + self._header) % alignment

    def _changes_at(self, growth: int) -> None:
        """An answer is another one where the block, and so its last part, is so much larger."""
        self.growth = min(self.growth, growth)


@dataclass(frozen=True)
class BlockConfiguration(Configuration):
    """nearest: the smallest free block that is large enough (bestfit); else the latest (mru)."""

    nearest: bool

    @property
    def entry_points(self) -> EntryPoints:
        begin = "_mcu_bestfit_begin" if self.nearest else "_mcu_mru_begin"
        return EntryPoints(begin, "_mcu_block_take", "_mcu_block_give")

    @property
    def block_alignment(self) -> int:
        return ALIGNMENT

    def manager(self, size: int, word: int = WORD, start: int = 0) -> BlockManager | None:
        header = 2 * word
        padding = -start % header
        whole = (size - padding) // header * header
        if whole < 2 * header:
            return None
        return BlockManager(padding, whole, word, start, self.nearest)

    def rounded(self, size: int, word: int = WORD) -> int:
        header = 2 * word
        return header + aligned(max(size, 1), header)
