"""TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor as the ensemble, and what the
operators do behind it: averages, base values, transforms, labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from onnx import numpy_helper

from mcu_deploy.arithmetic import Array
from mcu_deploy.formats.onnx_body import Body, NoBody, require
from mcu_deploy.formats.onnx_scores import (
    above,
    as_float,
    both,
    chosen,
    either,
    labels_of,
    transform_of,
    transformed,
)
from mcu_deploy.formats.onnx_trees import Ensemble, aggregate_of, newer, node_attributes, older
from mcu_deploy.operators.trees import AVERAGE, MAX, MIN, NoForest

_FLOATS = (np.float32, np.float64)


def _ensemble(b: Body, says: Ensemble, count: int) -> str:
    """[rows, count]: what the trees give before base values; of integers as of float32. Raises
    NoForest."""
    aggregate = aggregate_of(b.attributes)
    if b.element not in _FLOATS:
        x, b.element = as_float(b, b.inputs[0]), np.dtype(np.float32)
    else:
        x = b.inputs[0]
    columns = b.shape[-1] if b.shape else 0
    x = x if len(b.shape) == 2 else b.reshape(x, (1, columns))
    forest = says.forest(b.element, keep_zeros=aggregate in (MIN, MAX))
    forest.check(columns, count)
    attributes = node_attributes(forest, count, aggregate)
    total = b("TreeEnsemble", x, domain="ai.onnx.ml", **attributes)
    return b("Div", total, b.constant(len(forest.roots))) if aggregate == AVERAGE else total


def _based(b: Body, scores: str, count: int) -> str:
    """Scores with the base values added, as float32, in which the older forms give their results.
    Raises NoBody where there are other base values than one for each."""
    given = _base_values(b)
    require(len(given) in (0, count))
    return as_float(b, b("Add", scores, b.constant(given)) if len(given) else scores)


def _base_values(b: Body) -> Array:
    tensor = b.attributes.get("base_values_as_tensor")
    given = b.attributes.get("base_values", ()) if tensor is None else numpy_helper.to_array(tensor)
    return np.asarray(given)


def _tree_ensemble(b: Body) -> str:
    """TreeEnsemble-5."""
    require("leaf_starts" not in b.attributes)  # it is what is computed already
    require(len(b.shape) == 2 and b.element in _FLOATS)
    count = int(b.attributes.get("n_targets", 1))
    scores = _ensemble(b, newer(b.attributes), count)
    return transformed(b, scores, transform_of(b.attributes), count)


def _tree_regressor(b: Body) -> str:
    """TreeEnsembleRegressor-1 and -3."""
    count = int(b.attributes.get("n_targets", 1))
    scores = _based(b, _ensemble(b, older(b.attributes, "target"), count), count)
    return transformed(b, scores, transform_of(b.attributes), count)


def _tree_classifier(b: Body) -> list[str]:
    """TreeEnsembleClassifier-1 and -3, as onnxruntime computes them."""
    labels = labels_of(b, "classlabels_int64s")
    says, count = older(b.attributes, "class"), len(labels)
    if count == 2:
        return _of_two(b, says, labels)
    require(count > 2 and _all_speak_of(says, count))
    scores = _based(b, _ensemble(b, says, count), count)
    result = transformed(b, scores, transform_of(b.attributes), count)
    return [chosen(b, scores, labels), result]


def _of_two(b: Body, says: Ensemble, labels: list[int]) -> list[str]:
    """Two classes. Where leaves speak of the first alone, its score is that of the second class,
    and the first one's follows from it; so exporters write a binary model."""
    rows = b.shape[0] if len(b.shape) == 2 else 1
    weights = [w for leaf in says.leaves.values() for _, w in leaf]
    spoken = {target for leaf in says.leaves.values() for target, _ in leaf}
    based = len(_base_values(b))
    name = transform_of(b.attributes)
    enough = 0.5 if min(weights, default=0) >= 0 else 0.0
    if spoken == {0} and based < 2:
        scores = _based(b, _ensemble(b, says, 1), 1)
        pair = both(b, scores, name, bool(enough))
        return [either(b, above(b, scores, enough), labels[1], labels[0], rows), pair]
    require(spoken == {0, 1} and based == 0 and _all_speak_of(says, 2))
    scores = as_float(b, _ensemble(b, says, 2))
    second = b("Gather", scores, b.constant([1], np.int64), axis=1)
    result = transformed(b, scores, name, 2)
    # onnxruntime gives the numbers of the classes here, and no labels.
    return [either(b, above(b, second, 0.0), 1, 0, rows), result]


def _all_speak_of(says: Ensemble, count: int) -> bool:
    """Whether every row gets a score of every class: onnxruntime treats those without apart."""
    every = set(range(count))
    of_all = set[int]()
    for root in says.roots:
        found: set[int] | None = None
        way, seen = [root], set()
        while way:
            key = way.pop()
            if key in seen:
                continue
            seen.add(key)
            if key in says.questions:
                way += [says.questions[key].yes, says.questions[key].no]
            else:
                here = {target for target, _ in says.leaves.get(key, ())}
                found = here if found is None else found & here
        of_all |= found or set()
    return of_all >= every


_Build = Callable[[Body], str | list[str]]


def _of_forest(build: _Build) -> _Build:
    """The same, of which no ensemble is no body, and none whose attributes do not fit together."""

    def built(b: Body) -> str | list[str]:
        try:
            return build(b)
        except (NoForest, KeyError, ValueError):
            raise NoBody from None

    return built


TREES: Mapping[str, _Build] = {
    "ai.onnx.ml::TreeEnsemble": _of_forest(_tree_ensemble),
    "ai.onnx.ml::TreeEnsembleClassifier": _of_forest(_tree_classifier),
    "ai.onnx.ml::TreeEnsembleRegressor": _of_forest(_tree_regressor),
}
