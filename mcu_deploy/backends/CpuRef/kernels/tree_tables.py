"""An ensemble of trees as tables in flash.

`nodes` is of words. A node has two: the first is its feature and, in the `bits` lowest ones, its
split or the place of that in `splits`; the second is how many words it is from behind it to where
it leads from above the split. What is below it stands behind it. A leaf is one word, its highest
bit set, and leads to a weight, or, where leaves have several or there are several targets, to the
first of its `items`: a weight's place, a bit that says whether another one follows, and in the
lowest bits its target.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.trees import Forest


@dataclass(frozen=True)
class Tables:
    """The tables, and what it takes to read them.

    splits: None where the nodes have them. bits: of a split, or its place. is_marked: whether the
    bit above these says where NaN goes. items: None where a leaf has its weight's place.
    target_bits: of a target in an item.
    """

    nodes: Array
    roots: Array
    splits: Array | None
    bits: int
    is_marked: bool
    items: Array | None
    target_bits: int
    weights: Array

    @property
    def bytes(self) -> int:
        tables = (self.nodes, self.roots, self.splits, self.items, self.weights)
        return sum(table.nbytes for table in tables if table is not None)


def tables_of(forest: Forest, targets: int) -> Tables | None:
    """The smallest tables of an ensemble; None where it is too large for words of 32 bits."""
    is_marked = len({*forest.lost_below.tolist()}) > 1
    items, starts, weights, target_bits = _items(forest, targets)
    direct = forest.splits.dtype.kind in "iu" and forest.splits.itemsize <= 2
    found = []
    for splits in (None, _distinct(forest.splits)[0]) if direct else (_distinct(forest.splits)[0],):
        for size in (np.uint16, np.uint32):
            packed = _packed(forest, splits, is_marked, starts, size)
            if packed is not None:
                nodes, roots, bits = packed
                found.append(
                    Tables(nodes, roots, splits, bits, is_marked, items, target_bits, weights)
                )
    return min(found, key=lambda t: t.bytes, default=None)


def _distinct(values: Array) -> tuple[Array, Array]:
    """Numbers, each once, in the order in which they come, and of each value its place there."""
    raw = values.view(f"u{values.itemsize}")
    _, first, inverse = np.unique(raw, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return values[np.sort(first)], places[inverse]


def _bits(most: int) -> int:
    return int(most).bit_length()


def _items(forest: Forest, targets: int) -> tuple[Array | None, Array, Array, int]:
    """The items, of each leaf its first one or its weight, the weights, and the bits of a target.

    A leaf without weights has one of 0.
    """
    lengths = np.diff(forest.starts)
    empty = np.flatnonzero(lengths == 0)
    at = forest.starts[empty]
    given = np.insert(forest.weights, at, 0).astype(forest.weights.dtype)
    of = np.insert(forest.targets, at, 0)
    ends = np.cumsum(np.maximum(lengths, 1))
    starts = np.concatenate([[0], ends[:-1]])
    weights, places = _distinct(given)
    if targets == 1 and lengths.max(initial=1) <= 1:
        return None, places, weights, 0
    bits = _bits(targets - 1)
    follows = np.ones(len(given), np.int64)
    follows[ends - 1] = 0
    items = (places << (bits + 1)) | (follows << bits) | of
    return items.astype(_smallest(items.max(initial=0))), starts, weights, bits


def _smallest(most: int) -> type[np.uint16] | type[np.uint32]:
    return np.uint16 if most < 1 << 16 else np.uint32


def _packed(
    forest: Forest, splits: Array | None, is_marked: bool, leaves: Array, size: type[np.generic]
) -> tuple[Array, Array, int] | None:
    """The words of all nodes, where the roots lie, and the bits of a split; None where a word of
    this size does not hold them."""
    bits = 8 * forest.splits.itemsize if splits is None else _bits(len(splits) - 1)
    flag = 1 << (8 * np.dtype(size).itemsize - 1)
    if splits is None:
        places = forest.splits.astype(np.int64) & ((1 << bits) - 1)
    else:
        places = _distinct(forest.splits)[1]
    marks = forest.lost_below.astype(np.int64) << bits if is_marked else 0
    heads = (forest.features << (bits + is_marked)) | marks | places
    if heads.max(initial=0) >= flag or leaves.max(initial=0) >= flag:
        return None
    emitted = _Emitted(forest, heads.tolist(), (leaves | flag).tolist())
    words, at = emitted.emit()
    if any(not -flag <= way < flag for way in emitted.ways):
        return None
    return np.array(words).astype(size), np.array(at, _smallest(max(at))), bits


class _Emitted:
    """Nodes in the order in which they stand: each with what is below it behind it.

    A node that is below several ones stands behind each; one that is above several stands once.
    """

    def __init__(self, forest: Forest, heads: list[int], leaves: list[int]) -> None:
        self.forest, self.heads, self.leaves = forest, heads, leaves
        self.words: list[int] = []
        self.places: dict[int, list[int]] = {}
        self.ways: list[int] = []

    def emit(self) -> tuple[list[int], list[int]]:
        """The words, and where the roots lie. What leads above is in `ways` too."""
        roots = self.forest.roots.tolist()
        for place, node in [*self._all(r for r in roots if r >= 0)]:
            self.words[place] = self._place(node, place + 1) - place - 1
            self.ways.append(self.words[place])
        places = [self._place(root, 0) for root in roots]
        self.words.append(0)  # narrow words are read in pairs
        return self.words, places

    def _all(self, roots: Iterable[int]) -> Iterable[tuple[int, int]]:
        """Emits all nodes that roots lead to; gives the words that are open, and their nodes."""
        above = self.forest.above.tolist()
        for root in roots:
            way = [root]
            while way:
                node = way.pop()
                if node in self.places:
                    continue
                for place, inner in self._line(node):
                    yield place, above[inner]
                    if above[inner] >= 0:
                        way.append(above[inner])

    def _line(self, node: int) -> list[tuple[int, int]]:
        """Emits a node, what is below it, what is below that, and so on to a leaf."""
        open_ = []
        below = self.forest.below
        while node >= 0:
            self._emit(node, self.heads[node], 0)
            open_.append((len(self.words) - 1, node))
            node = int(below[node])
        self._emit(node, self.leaves[~node])
        return open_

    def _emit(self, node: int, *words: int) -> None:
        self.places.setdefault(node, []).append(len(self.words))
        self.words += words

    def _place(self, node: int, near: int) -> int:
        """Where a node or a leaf lies, the nearest one; a leaf that is not there is emitted."""
        if node not in self.places:
            self._emit(node, self.leaves[~node])
        places = self.places[node]
        at = bisect.bisect(places, near)
        return min(places[max(at - 1, 0) : at + 1], key=lambda place: abs(place - near))
