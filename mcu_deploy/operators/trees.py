"""Ensembles of decision trees, in one form: every node asks whether a feature is at most a split.

TreeEnsemble of ai.onnx.ml has seven questions, and its older forms have leaves of several weights;
`formats/onnx_trees.py` makes this form of all of them. Its attributes have ONNX's names, and
`leaf_starts` beside them, which ONNX's do not have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import ModelError
from mcu_deploy.operators.base import Call, Operator

# TreeEnsemble-5's numbers of what is done with the weights of a target.
AVERAGE, SUM, MIN, MAX = range(4)


# What a leaf says: pairs of a target and a weight.
Leaf = tuple[tuple[int, float], ...]


class NoForest(ValueError):
    """What is wrong with the tables of an ensemble, as a clause."""


@dataclass(frozen=True, eq=False)
class Forest:
    """The tables of an ensemble of n nodes and m leaves.

    features, splits: [n]. below, above: [n], where a node leads whose feature is at most its split,
    and where else: a node, or the complement of a leaf (~leaf). lost_below: [n], whether NaN goes
    below, and not above. roots: of the trees, as in `below`. starts: [m + 1], where the leaves'
    weights begin in `targets` and `weights`: leaf k has those from starts[k] to starts[k + 1].
    """

    features: Array
    splits: Array
    below: Array
    above: Array
    lost_below: Array
    roots: Array
    starts: Array
    targets: Array
    weights: Array

    @classmethod
    def of(cls, attributes: Mapping[str, Any]) -> Forest:
        """The tables in a node's attributes. Raises NoForest where they are not of this form."""

        def ints(name: str) -> Array:
            return np.array(attributes.get(name, ()), np.int64)

        if "leaf_starts" not in attributes:
            raise NoForest("its trees were not understood when the model was read")

        def way(side: str) -> Array:
            ids, leafs = ints(f"nodes_{side}nodeids"), ints(f"nodes_{side}leafs")
            if len(ids) != len(leafs):
                raise NoForest("its tables have different lengths")
            return np.where(leafs > 0, ~ids, ids)

        forest = cls(
            ints("nodes_featureids"), np.asarray(attributes["nodes_splits"]), way("true"),
            way("false"), ints("nodes_missing_value_tracks_true") > 0, ints("tree_roots"),
            ints("leaf_starts"), ints("leaf_targetids"), np.asarray(attributes["leaf_weights"]),
        )  # fmt: skip
        forest._check()
        return forest

    def attributes(self) -> dict[str, Any]:
        """The tables under ONNX's names; `nodes_modes` says that all nodes ask for `<=`."""
        found: dict[str, Any] = {
            "nodes_featureids": self.features, "nodes_splits": self.splits,
            "nodes_modes": np.zeros(len(self.splits), np.uint8),
            "nodes_missing_value_tracks_true": self.lost_below.astype(np.int64),
            "tree_roots": self.roots, "leaf_starts": self.starts, "leaf_targetids": self.targets,
            "leaf_weights": self.weights,
        }  # fmt: skip
        for side, way in (("true", self.below), ("false", self.above)):
            found[f"nodes_{side}nodeids"] = np.where(way < 0, ~way, way)
            found[f"nodes_{side}leafs"] = (way < 0).astype(np.int64)
        tensors = ("nodes_splits", "nodes_modes", "leaf_weights")
        return {k: v if k in tensors else tuple(v.tolist()) for k, v in found.items()}

    def _check(self) -> None:
        nodes = (self.features, self.splits, self.below, self.above, self.lost_below)
        if len({len(table) for table in nodes}) > 1 or len(self.targets) != len(self.weights):
            raise NoForest("its tables have different lengths")
        ways = np.concatenate([self.below, self.above, self.roots])
        if ways.size and (ways.max() >= len(self.splits) or ways.min() < -self.leaves):
            raise NoForest("its nodes lead to nodes that are not there")
        starts = self.starts
        if not len(starts) or starts[0] or (np.diff(starts) < 0).any():
            raise NoForest("its leaves' weights are out of order")
        if starts[-1] != len(self.weights):
            raise NoForest("its tables have different lengths")
        if not len(self.roots):
            raise NoForest("it has no tree")
        _ = self.depth

    def check(self, columns: int, targets: int) -> None:
        """Raises NoForest where it asks for more features or speaks of more targets than these."""
        if self.features.min(initial=0) < 0 or self.features.max(initial=0) >= columns:
            raise NoForest("its nodes ask for features that are not there")
        if self.targets.min(initial=0) < 0 or self.targets.max(initial=0) >= targets:
            raise NoForest("its leaves have targets that are not there")

    @property
    def leaves(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def depth(self) -> int:
        """The most nodes on a way from a root to a leaf."""
        at, depth = np.unique(self.roots[self.roots >= 0]), 0
        while at.size:
            depth += 1
            if depth > len(self.splits):
                raise NoForest("its nodes lead in a circle")
            found = np.concatenate([self.below[at], self.above[at]])
            at = np.unique(found[found >= 0])
        return depth

    def children_first(self) -> list[int]:
        """The nodes that roots lead to, each behind those to which it leads."""
        order, done, way = list[int](), set[int](), [int(r) for r in self.roots[::-1]]
        while way:
            node = way[-1]
            ways = (int(self.below[node]), int(self.above[node])) if node >= 0 else ()
            open_ = [child for child in ways if child >= 0 and child not in done]
            if open_:
                way += open_
                continue
            way.pop()
            if node >= 0 and node not in done:
                done.add(node)
                order.append(node)
        return order

    @cached_property
    def sizes(self) -> dict[int, int]:
        """Of each node how many leaves are behind it, each as often as nodes lead there."""
        below, above = self.below.tolist(), self.above.tolist()
        found: dict[int, int] = {}
        for node in self.children_first():
            found[node] = found.get(below[node], 1) + found.get(above[node], 1)
        return found

    @property
    def nodes_of_trees(self) -> int:
        """How many there are where none is shared."""
        return sum(self.sizes.get(root, 1) - 1 for root in self.roots.tolist())

    def shares(self) -> Mapping[int, float]:
        """Of each node, and of each leaf's complement, how often one row comes there, where each
        leaf of a tree is as likely as any other."""
        found = defaultdict[int, float](float)
        for root in self.roots.tolist():
            found[root] += 1
        for node in reversed(self.children_first()):
            for way in (int(self.below[node]), int(self.above[node])):
                found[way] += found[node] * self.sizes.get(way, 1) / self.sizes[node]
        return found

    def leaves_of(self, x: Array) -> Array:
        """[rows, trees]: the leaves to which rows of features lead."""
        at = np.tile(self.roots, (len(x), 1))
        rows = np.arange(len(x))[:, None]
        for _ in range(self.depth):
            node = np.maximum(at, 0)
            value = x[rows, self.features[node]]
            goes = value <= self.splits[node]
            if x.dtype.kind == "f":
                goes = np.where(np.isnan(value), self.lost_below[node], goes)
            at = np.where(at < 0, at, np.where(goes, self.below[node], self.above[node]))
        return np.asarray(~at)

    def results(self, x: Array, count: int, aggregate: int) -> Array:
        """[rows, count]: of each target the sum of its weights, tree by tree, or the least or the
        largest; 0 where there is none."""
        leaves, none = self.leaves_of(x), aggregate in (MIN, MAX)
        total = np.full((len(x), count), np.nan if none else 0, self.weights.dtype)
        most = int(np.diff(self.starts).max(initial=0))
        for leaf in leaves.T:
            for k in range(most):
                rows = np.flatnonzero(self.starts[leaf] + k < self.starts[leaf + 1])
                item = self.starts[leaf[rows]] + k
                at, weight = (rows, self.targets[item]), self.weights[item]
                old = total[at]
                if not none:
                    total[at] = old + weight
                else:
                    stays = old <= weight if aggregate == MIN else old >= weight
                    total[at] = np.where(stays, old, weight)
        return np.where(np.isnan(total), 0, total).astype(total.dtype) if none else total


@dataclass
class Grown:
    """A forest that grows from its leaves to its roots; nodes and leaves that are alike are one.

    split, weight: their numpy types.
    """

    split: Any
    weight: Any
    nodes: dict[tuple[int, bytes, int, int, bool], int] = field(default_factory=dict)
    leaves: dict[tuple[tuple[int, bytes], ...], int] = field(default_factory=dict)

    def leaf(self, says: Leaf) -> int:
        key = tuple((target, _bytes(weight, self.weight)) for target, weight in says)
        return ~self.leaves.setdefault(key, len(self.leaves))

    def ask(self, feature: int, split: Any, below: int, above: int, lost_below: bool) -> int:
        """A node; where both ways are one, where they lead."""
        if below == above:
            return below
        key = (feature, _bytes(split, self.split), below, above, bool(lost_below))
        return self.nodes.setdefault(key, len(self.nodes))

    def forest(self, roots: Sequence[int]) -> Forest:
        if not self.nodes:  # each tree is a leaf: ONNX wants a node
            self.nodes[0, _bytes(0, self.split), -1, -1, False] = 0
        says = [*self.leaves]
        if not any(says):  # and a weight
            says[-1] = ((0, _bytes(0, self.weight)),)
        keys = [*self.nodes]
        features, below, above = np.array([(k[0], *k[2:4]) for k in keys], np.int64).T
        weights = b"".join(weight for leaf in says for _, weight in leaf)
        return Forest(
            features, np.frombuffer(b"".join(k[1] for k in keys), self.split), below, above,
            np.array([k[4] for k in keys], bool), np.array(roots, np.int64),
            np.cumsum([0, *map(len, says)]),
            np.array([target for leaf in says for target, _ in leaf], np.int64),
            np.frombuffer(weights, self.weight),
        )  # fmt: skip


def _bytes(number: Any, dtype: Any) -> bytes:
    return bytes(np.array(number, dtype).tobytes())


def aggregate_of(attributes: Mapping[str, Any]) -> int:
    """What is done with the weights of a target: SUM, MIN or MAX."""
    return int(attributes.get("aggregate_function", SUM))


def _trees(call: Call) -> list[Array]:
    try:
        forest = Forest.of(call.attributes)
    except NoForest as wrong:
        raise ModelError(
            f"A TreeEnsemble of the model cannot be computed: {wrong}. Export the model again."
        ) from None
    count = int(call.attributes.get("n_targets", 1))
    return [forest.results(call.value(0), count, aggregate_of(call.attributes))]


OPERATORS = (Operator("TreeEnsemble", _trees, domain="ai.onnx.ml"),)
