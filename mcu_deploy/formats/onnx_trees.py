"""Ensembles of trees of ai.onnx.ml, in all their forms, as the one that is computed: `Forest`.

A node's question becomes one or two of whether a feature is at most a split: what is below a number
is at most the number before it, what is equal to it is at most it and not at most that one. Nodes
and leaves that are alike become one, also those of different trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import numpy_helper

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.trees import AVERAGE, SUM, Forest, Grown, Leaf, NoForest

# TreeEnsemble-5's numbers of a node's questions, and the names that the older forms have for them.
_LEQ, _LT, _GTE, _GT, _EQ, _NEQ, _MEMBER = range(7)
_MODES = {
    name: number for number, name in enumerate(
        ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
    )
}  # fmt: skip
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


@dataclass(frozen=True)
class Question:
    """A node as the model has it. yes, no: keys of nodes or leaves. members: of a MEMBER alone."""

    mode: int
    feature: int
    split: float
    yes: Any
    no: Any
    lost_yes: bool
    members: tuple[float, ...] = ()


@dataclass(frozen=True)
class Ensemble:
    """What a model file says of an ensemble: nodes and leaves by their keys, and the roots."""

    questions: Mapping[Any, Question]
    leaves: Mapping[Any, Leaf]
    roots: Sequence[Any]

    def forest(self, element: Any, *, keep_zeros: bool = False) -> Forest:
        """The ensemble for features of this numpy type, which splits and weights get too. Raises
        NoForest.

        keep_zeros: weights that are 0, which add nothing to a sum, but may be the least.
        """
        made = _Made(element, element)
        known: dict[Any, int] = {}
        for key, leaf in self.leaves.items():
            known[key] = made.leaf(tuple(x for x in leaf if x[1] or keep_zeros))
        for root in self.roots:
            self._add(root, known, made)
        return made.forest([known[root] for root in self.roots])

    def _add(self, root: Any, known: dict[Any, int], made: _Made) -> None:
        """Adds what a root leads to, children before their parents."""
        way, open_ = [root], set[Any]()
        while way:
            key = way[-1]
            if key in known:
                way.pop()
                continue
            node = self.questions.get(key)
            if node is None:
                raise NoForest("its nodes lead to nodes that are not there")
            missing = [child for child in (node.yes, node.no) if child not in known]
            if not missing:
                known[key] = made.node(node, known[node.yes], known[node.no])
            elif key in open_ and any(child in open_ for child in missing):
                raise NoForest("its nodes lead in a circle")
            open_.add(key)
            way += missing


@dataclass
class _Made(Grown):
    """What a forest is made of, by the model's questions."""

    def node(self, node: Question, yes: int, no: int) -> int:
        if node.mode == _MEMBER:
            found = no
            for value in sorted(set(node.members), reverse=True):
                found = self._equal(node.feature, value, yes, found, node.lost_yes)
            return found
        if node.mode == _EQ:
            return self._equal(node.feature, node.split, yes, no, node.lost_yes)
        if node.mode == _NEQ:  # which is true of NaN
            return self._equal(node.feature, node.split, no, yes, False)
        split = np.array(node.split, self.split)
        if node.mode in (_LT, _GTE):
            split = self._before(split)
        # What a split of NaN is compared with is never so, whatever the question.
        if node.mode in (_LEQ, _LT) or np.isnan(node.split):
            return self.ask(node.feature, split, yes, no, node.lost_yes)
        return self.ask(node.feature, split, no, yes, not node.lost_yes)

    def _equal(self, feature: int, value: float, yes: int, no: int, lost_yes: bool) -> int:
        split = np.array(value, self.split)
        if np.isnan(split):
            return self.ask(feature, split, yes, no, lost_yes)
        less = self.ask(feature, self._before(split), no, yes, not lost_yes)
        return self.ask(feature, split, less, no, lost_yes)

    @staticmethod
    def _before(split: Array) -> Array:
        """The number before one; before the least there is none, and NaN is below nothing."""
        return np.where(split == -np.inf, np.nan, np.nextafter(split, -np.inf)).astype(split.dtype)


def older(attributes: Mapping[str, Any], prefix: str) -> Ensemble:
    """TreeEnsembleClassifier and TreeEnsembleRegressor, 1 and 3. prefix: of the attributes that say
    what leaves do, "class" or "target"."""

    def numbers(name: str) -> Array:
        tensor = attributes.get(f"{name}_as_tensor")
        return np.asarray(attributes.get(name, ()) if tensor is None else _array(tensor))

    keys = _keys(attributes, "nodes")
    trees = attributes.get("nodes_treeids", ())
    modes = [_MODES.get(mode.decode("utf-8", "replace")) for mode in attributes["nodes_modes"]]
    lost = attributes.get("nodes_missing_value_tracks_true") or [0] * len(keys)
    table = zip(
        keys, trees, modes, attributes["nodes_featureids"], numbers("nodes_values").tolist(),
        attributes["nodes_truenodeids"], attributes["nodes_falsenodeids"], lost, strict=True,
    )  # fmt: skip
    questions, leaves = {}, dict[Any, list[tuple[int, float]]]()
    for (key, tree, mode, feature, split, yes, no, way), name in zip(
        table, attributes["nodes_modes"], strict=True
    ):
        if name == b"LEAF":
            leaves[key] = []
        elif mode is None:
            raise NoForest(f"it does not know the mode {name.decode('utf-8', 'replace')[:40]!r}")
        else:
            questions[key] = Question(mode, feature, split, (tree, yes), (tree, no), way > 0)
    said = zip(
        _keys(attributes, prefix), attributes.get(f"{prefix}_ids", ()),
        numbers(f"{prefix}_weights").tolist(), strict=True,
    )  # fmt: skip
    for key, target, weight in said:
        if key in leaves:  # onnxruntime passes by what inner nodes say
            leaves[key].append((target, weight))
    led = {child for q in questions.values() for child in (q.yes, q.no)}
    return Ensemble(
        questions, {k: tuple(v) for k, v in leaves.items()}, [k for k in keys if k not in led]
    )


def _keys(attributes: Mapping[str, Any], prefix: str) -> list[tuple[int, int]]:
    trees, nodes = (attributes.get(f"{prefix}_{which}ids", ()) for which in ("tree", "node"))
    return [*zip(trees, nodes, strict=True)]


def newer(attributes: Mapping[str, Any]) -> Ensemble:
    """TreeEnsemble-5. A leaf has one weight; keys are (is it a leaf, its number)."""
    weights = _array(attributes["leaf_weights"]).tolist()
    targets = attributes["leaf_targetids"]
    modes, splits = (_array(attributes[f"nodes_{name}"]).tolist() for name in ("modes", "splits"))
    count = len(splits)
    lost = attributes.get("nodes_missing_value_tracks_true") or [0] * count
    yes, no = (
        [*zip(attributes[f"nodes_{side}leafs"], attributes[f"nodes_{side}nodeids"], strict=True)]
        for side in ("true", "false")
    )
    members = _members(attributes)
    table = zip(modes, attributes["nodes_featureids"], splits, yes, no, lost, strict=True)
    questions = {}
    for number, (mode, feature, split, true, false, way) in enumerate(table):
        if mode not in range(_MEMBER + 1):
            raise NoForest(f"it does not know the mode {mode}")
        of = next(members, ()) if mode == _MEMBER else ()
        ends = [(bool(leaf), at) for leaf, at in (true, false)]
        questions[False, number] = Question(mode, feature, split, ends[0], ends[1], way > 0, of)
    said = enumerate(zip(targets, weights, strict=True))
    leaves = {(True, number): (says,) for number, says in said}
    return Ensemble(questions, leaves, [(False, root) for root in attributes["tree_roots"]])


def _members(attributes: Mapping[str, Any]) -> Iterator[tuple[float, ...]]:
    """The sets that MEMBER nodes ask for, one behind the other; NaN ends each."""
    tensor = attributes.get("membership_values")
    of: list[float] = []
    for value in [] if tensor is None else _array(tensor).tolist():
        if not np.isnan(value):
            of.append(value)
            continue
        yield tuple(of)
        of = []
    yield tuple(of)


def _array(tensor: Any) -> Array:
    return np.asarray(numpy_helper.to_array(tensor))


def aggregate_of(attributes: Mapping[str, Any]) -> int:
    """The number that TreeEnsemble-5 has for it; the older forms say it by name."""
    given = attributes.get("aggregate_function", SUM)
    return int(given) if isinstance(given, int) else _AGGREGATES.index(given.decode())


def node_attributes(forest: Forest, count: int, aggregate: int) -> dict[str, Any]:
    """What a node of ONNX says of an ensemble whose sums, or least or largest weights, it gives."""
    found = forest.attributes()
    for name, value in found.items():
        if isinstance(value, np.ndarray):
            found[name] = numpy_helper.from_array(value)
    plain = SUM if aggregate == AVERAGE else aggregate
    return {**found, "n_targets": count, "aggregate_function": plain}
