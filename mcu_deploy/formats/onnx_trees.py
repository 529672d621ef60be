"""TreeEnsemble-5 of ai.onnx.ml as what it is made of: tables of nodes, gathered step by step.

Leaves stand behind the nodes in the tables and lead to themselves, so each tree goes as many steps
as the deepest one has. The tables are of int64, as indices are in ONNX: 24 bytes a node and more.
"""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from mcu_deploy.arithmetic import Array
from mcu_deploy.formats.onnx_body import Body

_COMPARISONS = ("LessOrEqual", "Less", "GreaterOrEqual", "Greater", "Equal")
_NOT_EQUAL, _MEMBER = 5, 6
_SUM, _AVERAGE = 1, 0
# Deeper trees are no trees: the nodes lead in a circle.
_DEEPEST = 64


class _Trees:
    """The tables of an ensemble, each with an entry for each node, and then for each leaf."""

    def __init__(self, b: Body) -> None:
        self.b = b
        self.nodes = len(b.attributes["nodes_featureids"])
        self.weights = self._tensor("leaf_weights")
        self.targets = self._ints("leaf_targetids")
        self.leaves = len(self.weights)
        self.features = self._table(self._ints("nodes_featureids"), 0)
        self.splits = self._table(self._tensor("nodes_splits"), 0)
        self.modes = self._table(self._tensor("nodes_modes"), 0)
        self.ways = [self._way(side) for side in ("true", "false")]
        given = b.attributes.get("nodes_missing_value_tracks_true")
        self.missing = self._table(np.array(given or [0] * self.nodes, bool), False)

    def _tensor(self, name: str) -> Array:
        given = self.b.attributes.get(name)
        return np.zeros(0) if given is None else np.asarray(numpy_helper.to_array(given))

    def _ints(self, name: str) -> Array:
        return np.array(self.b.attributes[name], np.int64)

    def _table(self, nodes: Array, leaf: float) -> Array:
        return np.concatenate([nodes, np.full(self.leaves, leaf, nodes.dtype)])

    def _way(self, side: str) -> Array:
        """Where each entry leads on that side; leaves to themselves."""
        is_leaf = self._ints(f"nodes_{side}leafs") > 0
        ids = self._ints(f"nodes_{side}nodeids") + np.where(is_leaf, self.nodes, 0)
        return np.concatenate([ids, self.nodes + np.arange(self.leaves)])

    def depth(self, roots: Array) -> int | None:
        """The steps until all are at leaves; None where some never are, or lead nowhere."""
        at = roots
        size = self.nodes + self.leaves
        for step in range(_DEEPEST):
            if not at.size or at.min() < 0 or at.max() >= size:
                return None
            if at.min() >= self.nodes:
                return step
            at = np.unique(np.concatenate([way[at] for way in self.ways]))
        return None

    def members(self) -> Array:
        """[entries, most]: the values of each set, filled up with NaN, which nothing equals."""
        sets: list[list[float]] = [[]]
        for value in self._tensor("membership_values").tolist():
            if np.isnan(value):
                sets.append([])
            else:
                sets[-1].append(value)
        most = max(map(len, sets))
        table = np.full((self.nodes + self.leaves, most), np.nan)
        for row, values in zip(np.flatnonzero(self.modes == _MEMBER), sets, strict=False):
            table[row, : len(values)] = values
        return table

    def step(self, at: str) -> str:
        """The entries that follow those in `at` [rows, trees]."""
        b, modes = self.b, sorted({int(m) for m in self.modes[: self.nodes]})
        value = b("GatherElements", b.inputs[0], self.gather(self.features, at), axis=1)
        split = self.gather(self.splits.astype(b.element), at)
        holds = self._holds(modes[0], value, split, at)
        for mode in modes[1:]:
            here = self.gather(self.modes == mode, at)
            holds = b("Where", here, self._holds(mode, value, split, at), holds)
        if self.missing.any():
            lost = b("And", b("IsNaN", value), self.gather(self.missing, at))
            holds = b("Or", holds, lost)
        return b("Where", holds, *(self.gather(way, at) for way in self.ways))

    def _holds(self, mode: int, value: str, split: str, at: str) -> str:
        b = self.b
        if mode < _NOT_EQUAL:
            return b(_COMPARISONS[mode], value, split)
        if mode == _NOT_EQUAL:
            return b("Not", b("Equal", value, split))
        rows, trees = b.shape[0], len(b.attributes["tree_roots"])
        members = self.gather(self.members().astype(b.element), at)
        equal = b("Equal", b.reshape(value, (rows, trees, 1)), members)
        any_ = b.reduced("ReduceMax", b.cast(equal), [2], 0)
        return b("Greater", any_, b.constant(0, np.float32))

    def gather(self, table: Array, at: str) -> str:
        return self.b("Gather", self.b.constant(table, table.dtype), at)


def tree_ensemble(b: Body) -> str | None:
    """Sums and averages of weights, without a transform of the results."""
    aggregate = int(b.attributes.get("aggregate_function", _SUM))
    if aggregate not in (_SUM, _AVERAGE) or b.attributes.get("post_transform", 0):
        return None
    if len(b.shape) != 2 or "tree_roots" not in b.attributes or b.opset < 16:
        return None
    trees, roots = _Trees(b), np.array(b.attributes["tree_roots"], np.int64)
    depth, columns = trees.depth(roots), trees.features
    if depth is None or columns.min() < 0 or columns.max() >= b.shape[1]:
        return None
    at = b.constant(np.tile(roots, (b.shape[0], 1)), np.int64)
    for _ in range(depth):
        at = trees.step(at)
    total = _sums(b, trees, at, len(roots))
    return total if aggregate == _SUM else b("Div", total, b.constant(len(roots)))


def _sums(b: Body, trees: _Trees, at: str, count: int) -> str:
    """[rows, targets]: the weights of the leaves, each for its target."""
    targets, rows = int(b.attributes.get("n_targets", 1)), b.shape[0]
    table = np.zeros((trees.nodes + trees.leaves, targets))
    table[trees.nodes + np.arange(trees.leaves), trees.targets] = trees.weights
    weights = trees.gather(table.astype(b.element), at)
    return b.reduced("ReduceSum", b.reshape(weights, (rows, count, targets)), [1], 0)
