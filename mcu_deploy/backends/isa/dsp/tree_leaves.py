"""What leaves of trees add to sums in S registers, as code.

Most leaves of a forest of classifiers say one thing: a class, by the same weight, which a register
holds. Such a leaf is one addition. Any other is a place among items that follow the weights in
memory, read by a routine: which weight, to which sum, and whether another item follows. Where there
is one sum, to which each leaf adds one weight, the items are the weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa.assembly import Assembly
from mcu_deploy.backends.isa.operands import LR, Kind, Label, Register
from mcu_deploy.operators.trees import Forest

# Weights in registers, and how many leaves want one at least; the most items of a group, which a
# MOVS counts, with those of a leaf; how far its leaves are from where it ends (tree_code.py).
_KEPT, _OFTEN, _GROUP, _REACH = 4, 4, 224, 1950
_WAY = 3  # an addition that the routine jumps to has 2 to the third bytes
MOST_SUMS = 24  # with what else is in S registers, and as far as the jumps are short


@dataclass
class _Group:
    """Leaves that lead to one place, which gives the routine the first of their items. at: where
    the first of them is."""

    label: Label
    at: int
    base: int


class Leaves:
    """table: where weights and items lie. backs: where trees go on to when they have a leaf."""

    def __init__(
        self, code: Assembly, forest: Forest, sums: int, table: Register, backs: Sequence[Label]
    ) -> None:
        self._code, self._forest, self._table, self._backs = code, forest, table, backs
        self.sums = [code.register(f"sum{n}", kind=Kind.SINGLE) for n in range(sums)]
        # What is in no short instruction leaves r0 to r7 to what trees compare.
        self._ways, self._item = code.registers("additions item", "r9", "r10")
        self._index, self._routine = code.register("place"), code.label()
        self._is_direct = sums == 1 and int(np.diff(forest.starts).max(initial=0)) <= 1
        self._bits = (sums - 1).bit_length() + 1  # of an item, below its weight
        self._kept = self._often()
        found = [w.tobytes() for w in (() if self._is_direct else forest.weights)]
        self._weights = {w: n for n, w in enumerate(dict.fromkeys([*self._kept, *found]))}
        self._items: list[int] = []
        is_short = len(self._weights) << self._bits <= 1 << 16
        self._type = np.dtype(np.uint16 if is_short and not self._is_direct else np.uint32)
        self._group: _Group | None = None

    def _often(self) -> dict[bytes, Register]:
        """The weights of most leaves that have one."""
        forest, found = self._forest, Counter[bytes]()
        ways = np.concatenate([forest.below, forest.above])
        for leaf in ~ways[ways < 0]:
            says = forest.weights[slice(*forest.starts[leaf : leaf + 2])]
            if len(says) == 1:
                found[says.tobytes()] += 1
        often = [weight for weight, count in found.most_common(_KEPT) if count >= _OFTEN]
        return {w: self._code.register(f"weight{n}", kind=Kind.SINGLE) for n, w in enumerate(often)}

    @property
    def table(self) -> Array:
        """The words in memory."""
        items = np.array(self._items, self._type).tobytes()
        words = b"".join(self._weights) + items
        return np.frombuffer(words + bytes(-len(words) % 4), np.uint32)

    def load(self) -> None:
        """What a run needs, before its first row."""
        code = self._code
        for weight, register in self._kept.items():
            code.vldr(register, self._table[4 * self._weights[weight]])
        if len(self.sums) > 1:
            self._first = code.label()
            code.adr_w(self._ways, self._first)
            code.orr(self._ways, self._ways, 1)

    def write(self, leaf: int, at: int) -> int:
        """A leaf, which is so many bytes behind the first tree; gives its bytes."""
        code, (begin, end) = self._code, self._forest.starts[leaf : leaf + 2].tolist()
        if not self._is_addition(leaf):
            code.movs(self._index, self._place(leaf, at))
            assert self._group is not None
            code.b(self._group.label)
            return 4
        for item in range(begin, end):
            total = self.sums[self._forest.targets[item]]
            code.vadd_f32(total, total, self._kept[self._forest.weights[item].tobytes()])
        code.bx(LR, to=self._backs)
        return 2 + 4 * int(end - begin)

    def _is_addition(self, leaf: int) -> bool:
        """Whether it is one, or nothing."""
        says = self._forest.weights[slice(*self._forest.starts[leaf : leaf + 2])]
        return not len(says) or (len(says) == 1 and says.tobytes() in self._kept)

    def _place(self, leaf: int, at: int) -> int:
        if self._group is None:
            self._group = _Group(self._code.label(), at, len(self._items))
        base, said = self._group.base, self._of_leaf(leaf)
        for at in range(base, len(self._items)):
            if self._items[at : at + len(said)] == said:  # another leaf, or where it ends
                return at - base
        self._items += said
        return len(self._items) - len(said) - base

    def _of_leaf(self, leaf: int) -> list[int]:
        begin, end = self._forest.starts[leaf : leaf + 2].tolist()
        weights = self._forest.weights[begin:end]
        if self._is_direct:
            return [*map(int, weights.view(np.uint32))]
        follows = 1 << self._bits - 1
        return [
            self._weights[weight.tobytes()] << self._bits | (n + 1 < end) * follows | int(target)
            for n, weight, target in zip(
                range(begin, end), weights, self._forest.targets[begin:end], strict=True
            )
        ]

    def ended(self, at: int, is_last: bool = False) -> int:
        """Ends the group where it is large or its first leaf is far; gives the bytes of that."""
        code, group = self._code, self._group
        if group is None or not (
            is_last or at - group.at > _REACH or len(self._items) - group.base > _GROUP
        ):
            return 0
        self._group = None
        code.place(group.label)
        code.offset(
            self._item, 4 * len(self._weights) + self._type.itemsize * group.base, self._item,
            self._table,
        )  # fmt: skip
        code.b(self._routine)
        return 8

    def routine(self) -> None:
        """What reads items."""
        times, items = self._come()
        code, weight = self._code, self._code.register("weight", kind=Kind.SINGLE)
        place, said, target = code.registers("weight_at said target")
        again, ways = code.label(), [code.label() for _ in self.sums]
        with code.times(times):
            code.place(self._routine)
            code.add(self._item, self._item, self._index.lsl(self._type.itemsize // 2))
            if self._is_direct:
                code.vldr(weight, self._item[0])
                code.vadd_f32(self.sums[0], self.sums[0], weight)
                code.bx(LR, to=self._backs)
                return
        with code.times(items):
            code.place(again)
            load = code.ldrh if self._type.itemsize == 2 else code.ldr
            load(said, self._item.after(self._type.itemsize))
            code.lsrs(place, said, self._bits)
            code.add(place, self._table, place.lsl(2))
            code.vldr(weight, place[0])
            if len(ways) > 1:
                code.and_(target, said, (1 << self._bits - 1) - 1)
                code.add(target, self._ways, target.lsl(_WAY))
                code.bx(target, to=ways)
                code.place(self._first)
        for way, total in zip(ways, self.sums, strict=True):
            with code.times(items / len(ways)):
                code.place(way)
                code.vadd_f32(total, total, weight)
                code.bcs(again)
                code.bx(LR, to=self._backs)

    def _come(self) -> tuple[float, float]:
        """How many leaves of a row are read, and how many items."""
        lengths, leaves, items = np.diff(self._forest.starts), 0.0, 0.0
        for way, share in self._forest.shares().items():
            if way < 0 and not self._is_addition(~way):
                leaves += share
                items += share * int(lengths[~way])
        return leaves, items
