"""Support vectors of ai.onnx.ml: sums of what a kernel makes of the features and each vector."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import numpy as np

from mcu_deploy.formats.onnx_body import Body, require
from mcu_deploy.formats.onnx_coupling import coupled
from mcu_deploy.formats.onnx_scores import as_float, as_rows, labels_of, transform_of

# The least probability that one class of two has.
_LEAST = 1e-7


def _kernels(b: Body, vectors: np.ndarray) -> str:
    """[rows, n]: the kernel of each row and each of [n, columns] vectors."""
    x, rows, columns = as_rows(b)
    x, kind = as_float(b, x), b.attributes.get("kernel_type", b"LINEAR")
    gamma, offset, degree = (*b.attributes.get("kernel_params", ()), 0.0, 0.0, 0.0)[:3]
    if kind == b"RBF":
        # The squares of differences, which lose nothing where features are large.
        apart = b("Sub", b.reshape(x, (rows, 1, columns)), b.real(vectors))
        distance = b.reduced("ReduceSum", b("Mul", apart, apart), [2], 0)
        return b("Exp", b("Mul", distance, b.real(-gamma)))
    product = b("MatMul", x, b.real(vectors.T))
    if kind == b"LINEAR":
        return product
    moved = b("Add", b("Mul", product, b.real(gamma)), b.real(offset))
    if kind == b"POLY":
        return b("Pow", moved, b.real(degree))
    require(kind == b"SIGMOID")
    return b("Tanh", moved)


def _vectors(b: Body, count: int) -> np.ndarray:
    given = np.array(b.attributes.get("support_vectors", ()), np.float32)
    _, _, columns = as_rows(b)
    require(count and given.size == count * columns)
    return given.reshape(count, -1)


def _regressor(b: Body) -> str:
    """SVMRegressor-1, of vectors or linear; of one class 1 inside, -1 outside."""
    weights = np.array(b.attributes.get("coefficients", ()), np.float32)
    rho, count = b.attributes.get("rho", ()), int(b.attributes.get("n_supports", 0))
    require(len(rho) and transform_of(b.attributes) == "NONE")
    if count:
        require(weights.size == count)
        kernels = _kernels(b, _vectors(b, count))
    else:
        x, _, columns = as_rows(b)
        require(weights.size == columns and b.attributes.get("kernel_type", b"LINEAR") == b"LINEAR")
        kernels = as_float(b, x)
    product = b("MatMul", kernels, b.real(weights.reshape(-1, 1)))
    total = b("Add", product, b.real(rho[0]))
    if not b.attributes.get("one_class", 0):
        return total
    inside = b("Greater", total, b.real(0))
    return b("Where", inside, b.real(1), b.real(-1))


def _classifier(b: Body) -> list[str]:
    """SVMClassifier-1 of vectors: a score for each two classes, or probabilities of all that these
    are made to, and the class that most of the scores are for."""
    labels = labels_of(b, "classlabels_ints")
    sizes = b.attributes.get("vectors_per_class", ())
    require(len(sizes) == len(labels) >= 2)
    classes, total = len(labels), sum(sizes)
    pairs = [*itertools.combinations(range(classes), 2)]
    weights = np.array(b.attributes.get("coefficients", ()), np.float32)
    rho = b.attributes.get("rho", ())
    require(weights.size == (classes - 1) * total and len(rho) == len(pairs))
    require(transform_of(b.attributes) == "NONE")
    kernels = _kernels(b, _vectors(b, total))
    table, starts = weights.reshape(classes - 1, total), np.cumsum([0, *sizes])
    of_pairs = np.zeros((total, len(pairs)), np.float32)
    votes = np.zeros((len(pairs), classes), np.float32)
    for place, (i, j) in enumerate(pairs):
        for this, other in ((i, j - 1), (j, i)):
            part = slice(starts[this], starts[this + 1])
            of_pairs[part, place] = table[other, part]
        votes[place, i], votes[place, j] = 1, -1
    product = b("MatMul", kernels, b.real(of_pairs))
    scores = b("Add", product, b.real(rho))
    won = b.cast(b("Greater", scores, b.real(0)))
    # Of each two classes the first one's vote is a 1, the second one's is counted from 1 down.
    found = b("Add", b("MatMul", won, b.real(votes)), b.real((votes < 0).sum(axis=0)))
    label = b("Gather", b.constant(labels, np.int64), b("ArgMax", found, axis=1, keepdims=0))
    if not len(b.attributes.get("prob_a", ())):
        return [label, scores if classes > 2 else b("Concat", b("Neg", scores), scores, axis=1)]
    slopes, offsets = (b.attributes.get(f"prob_{which}", ()) for which in "ab")
    require(len(slopes) == len(offsets) == len(pairs))
    line = b("Add", b("Mul", scores, b.real(slopes)), b.real(offsets))
    shares = b("Clip", b("Sigmoid", b("Neg", line)), b.real(_LEAST), b.real(1 - _LEAST))
    return [label, coupled(b, shares, as_rows(b)[1], classes)]


SVM: Mapping[str, Callable[[Body], str | list[str]]] = {
    "ai.onnx.ml::SVMClassifier": _classifier,
    "ai.onnx.ml::SVMRegressor": _regressor,
}
