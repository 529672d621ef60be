"""An ensemble of trees as code: a node is an `if`, and a leaf adds its weights.

Three instructions a level on integers, where a table takes nine; but four times the table's flash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcu_deploy.backends.CpuRef.kernels import trees
from mcu_deploy.backends.CpuRef.kernels.base import render
from mcu_deploy.backends.CpuRef.waits import for_code
from mcu_deploy.backends.interface import (
    Costs,
    Layer,
    Price,
    Proposal,
    SubgraphView,
    Workload,
)
from mcu_deploy.backends.kit.literals import literal
from mcu_deploy.backends.kit.loops import counter
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.operators.trees import Forest

# The most nodes and levels: of more gcc takes long, and C need not nest blocks deeper than 127.
_NODES, _LEVELS = 8192, 100
# What no integer literal of C is, as the sign in front of one is an operator.
_NO_LITERAL = np.iinfo(np.int64).min
# Targets whose sums are variables; those of more lie in memory.
_SUMS = 16
# Cycles of a node of integers and of real numbers, of a weight that a leaf adds, and of the rest;
# bytes of a node of either, of such a weight, and of the rest: of a Cortex-M4, as gcc makes it.
_LEVEL, _REAL_LEVEL, _ADDED, _CALL = 4.2, 5.5, 6, 60
_NODE, _REAL_NODE, _ITEM, _FUNCTION = 11, 21, 12, 100


def ways(view: SubgraphView, layer: Layer) -> Sequence[Proposal]:
    """The proposal for a supported layer, where it has not too many nodes."""
    if layer.op != "TreeEnsemble" or not layer.output.type.elements:
        return ()
    forest = trees.compared(layer)
    if not _is_small(forest):
        return ()
    costs = _costs(layer, forest)

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        (given,) = layers
        return (_create(given, costs),)

    return (Proposal(view.part([layer.node.id]), Price(costs), make, title="trees as code"),)


def _is_small(forest: Forest) -> bool:
    """Whether all splits are numbers of C that some values are above, and the trees not too large,
    in which a node stands behind each that leads to it."""
    splits = forest.splits
    if splits.dtype.kind == "f":
        fits = bool(np.isfinite(splits).all())
    else:
        fits = {_NO_LITERAL, int(np.iinfo(splits.dtype).max)}.isdisjoint(splits.tolist())
    return fits and forest.depth <= _LEVELS and forest.nodes_of_trees <= _NODES


def _leaves(forest: Forest, root: int) -> Counter[int]:
    """The leaves of a tree, and how many nodes lead to each, in the order of the code."""
    found, way = Counter[int](), [root]
    while way:
        node = way.pop()
        if node < 0:
            found[~node] += 1
        else:
            way += [int(forest.above[node]), int(forest.below[node])]
    return found


def _costs(layer: Layer, forest: Forest) -> Costs:
    """Cycles and bytes on a Cortex-M4, as gcc makes it; a way from a root to a leaf is code that no
    run before has brought into a cache."""
    is_float, rows = layer.input(0).type.dtype.is_float, layer.input(0).type.shape[0]
    level, node = (_REAL_LEVEL, _REAL_NODE) if is_float else (_LEVEL, _NODE)
    lengths, shares = np.diff(forest.starts), forest.shares()
    levels = sum(share for way, share in shares.items() if way >= 0)
    added = sum(share * int(lengths[~way]) for way, share in shares.items() if way < 0)
    items = sum(int(lengths[[*_leaves(forest, int(r))]].sum()) for r in forest.roots)
    waits = for_code(layer.target, node * levels + 2 * _ITEM * len(forest.roots))
    return Costs(
        cycles=round(rows * (level * levels + _ADDED * added + waits)) + _CALL,
        flash=node * forest.nodes_of_trees + _ITEM * items + _FUNCTION,
        waits=round(rows * waits),
    )


def _create(layer: Layer, costs: Costs) -> Workload:
    x, y, forest = layer.input(0).type, layer.output.type, trees.compared(layer)
    targets = y.shape[1]
    sums = [f"y{n}" for n in range(targets)] if targets <= _SUMS else []
    writing = _Writing(layer, forest, sums)
    text = "".join(writing.tree(number) for number in range(len(forest.roots)))
    body = render(
        "trees_code.c.j2", r=counter("r", x.shape[0]), n=counter("n", targets),
        k=counter("k", targets), sums=sums,
        columns=x.shape[1], targets=targets, trees=text, ctype=y.dtype.c_type,
        asks=bool((forest.roots >= 0).any()),
        zero=literal(y.dtype.numpy.type(0)), nothing=trees.nothing(layer), keeps=trees.keeps(layer),
    )  # fmt: skip
    name = stem("trees_code", x.dtype.value, *sizes(y.shape))
    return replace(trees.computed(layer, name, body), costs=costs)


class _Writing:
    """The C of trees. sums: the variables of the targets' sums; empty: they lie in memory."""

    def __init__(self, layer: Layer, forest: Forest, sums: Sequence[str]) -> None:
        self.forest, self.sums, self.keeps = forest, sums, trees.keeps(layer)
        self.is_ranked = trees.rank(layer) is not None
        self.splits = [literal(split) for split in forest.splits]
        self.weights = [literal(weight) for weight in forest.weights]

    def tree(self, number: int) -> str:
        """A tree. A leaf to which several nodes lead stands behind it, once."""
        counts = _leaves(self.forest, int(self.forest.roots[number]))
        shared = [leaf for leaf, count in counts.items() if count > 1]

        def leaf(leaf: int, pad: str) -> str:
            if counts[leaf] > 1:
                return f"{pad}goto leaf_{number}_{leaf};\n"
            return self._leaf(leaf, pad)

        text = f"        /* tree {number} */\n"
        text += self._node(int(self.forest.roots[number]), "        ", leaf)
        for at in shared:
            text += f"        goto tree_{number}_done;\n"
            text += f"    leaf_{number}_{at}:\n{self._leaf(at, '        ')}"
        # a label stands in front of a statement, also where no sum is stored
        return text + (f"    tree_{number}_done:;\n" if shared else "")

    def _node(self, node: int, pad: str, leaf: Callable[[int, str], str]) -> str:
        if node < 0:
            return leaf(~node, pad)
        below, above = (int(way[node]) for way in (self.forest.below, self.forest.above))
        text = (
            f"{pad}if ({self._asks(node)}) {{\n{self._node(below, f'{pad}    ', leaf)}{pad}}} else "
        )
        if above >= 0:
            return text + self._node(above, pad, leaf).removeprefix(pad)
        return f"{text}{{\n{leaf(~above, f'{pad}    ')}{pad}}}\n"

    def _asks(self, node: int) -> str:
        value, split = f"x[{self.forest.features[node]}]", self.splits[node]
        if self.is_ranked:
            value = f"$tree_rank({value})"
        if self.forest.lost_below[node] and self.forest.splits.dtype.kind == "f":
            return f"!({value} > {split})"
        return f"{value} <= {split}"

    def _leaf(self, leaf: int, pad: str) -> str:
        begin, end = self.forest.starts[leaf : leaf + 2]
        text = ""
        for item in range(begin, end):
            target = self.forest.targets[item]
            place = self.sums[target] if self.sums else f"y[{target}]"
            weight = self.weights[item]
            if self.keeps:
                text += f"{pad}if (!({place} {self.keeps} {weight})) {{\n"
                text += f"{pad}    {place} = {weight};\n{pad}}}\n"
            else:
                text += f"{pad}{place} += {weight};\n"
        return text or f"{pad};\n"
