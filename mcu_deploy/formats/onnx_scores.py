"""What operators of ai.onnx.ml make of scores: their transforms, and labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx

from mcu_deploy.formats.onnx_body import Body, require

# TreeEnsemble-5's numbers of what the others have by name.
_NAMES = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
# What onnxruntime takes for no score.
_TINY = 1e-7
# Of the inverse error function that onnxruntime has: Winitzki, 2008.
_A, _PI = 0.147, 3.14159


def transform_of(attributes: Mapping[str, Any]) -> str:
    given = attributes.get("post_transform", 0)
    return _NAMES[given] if isinstance(given, int) else given.decode("utf-8", "replace")


def transformed(b: Body, scores: str, name: str, count: int) -> str:
    """[rows, count] scores behind a transform. A single one stays as it is, as onnxruntime has it,
    but for PROBIT. Raises NoBody where the transform is none that is known."""
    if name == "NONE" or (count == 1 and name in _TRANSFORMS and name != "PROBIT"):
        return scores
    require(name in _TRANSFORMS)
    return _TRANSFORMS[name](b, scores)


def _softmax(b: Body, scores: str) -> str:
    return b("Softmax", scores, axis=1)


def _logistic(b: Body, scores: str) -> str:
    return b("Sigmoid", scores)


def _softmax_zero(b: Body, scores: str) -> str:
    """Scores of nothing keep it, and do not count."""
    zero = b.real(0)
    least, most = (b.real(sign * _TINY) for sign in (-1, 1))
    top = b.reduced("ReduceMax", scores, [1])
    counts = b("Or", b("Greater", scores, most), b("Less", scores, least))
    powers = b("Exp", b("Sub", scores, top))
    total = b.reduced("ReduceSum", b("Where", counts, powers, zero), [1])
    others = b("Mul", scores, b("Exp", b("Neg", top)))
    return b("Div", b("Where", counts, powers, others), total)


def _probit(b: Body, scores: str) -> str:
    x = b("Sub", b("Mul", scores, b.real(2)), b.real(1))
    log = b("Log", b("Mul", b("Sub", b.real(1), x), b("Add", b.real(1), x)))
    v = b("Add", b("Mul", log, b.real(0.5)), b.real(2 / (_PI * _A)))
    root = b("Sqrt", b("Sub", b("Mul", v, v), b("Mul", log, b.real(1 / _A))))
    size = b("Sqrt", b("Sub", root, v))
    signed = b("Where", b("Less", x, b.real(0)), b("Neg", size), size)
    return b("Mul", signed, b.real(math.sqrt(2)))


_TRANSFORMS: Mapping[str, Callable[[Body, str], str]] = {
    "SOFTMAX": _softmax,
    "LOGISTIC": _logistic,
    "SOFTMAX_ZERO": _softmax_zero,
    "PROBIT": _probit,
}


def both(b: Body, scores: str, name: str, are_shares: bool) -> str:
    """[rows, 2] of [rows, 1] scores of the second of two classes. are_shares: those of both add up
    to 1, and not to 0. Raises NoBody."""
    require(name != "PROBIT")
    if name == "LOGISTIC":
        return b("Sigmoid", b("Concat", b("Neg", scores), scores, axis=1))
    other = b("Sub", b.real(1), scores) if are_shares else b("Neg", scores)
    return b("Concat", other, scores, axis=1)


def above(b: Body, scores: str, least: float) -> str:
    return b("Greater", scores, b.real(least))


def labels_of(b: Body, name: str) -> list[int]:
    """The classes' labels. Raises NoBody where they are strings."""
    require(not b.attributes.get("classlabels_strings"))
    return [*b.attributes.get(name, ())]


def chosen(b: Body, scores: str, labels: list[int]) -> str:
    """[rows]: the label of the largest of [rows, n] scores, the first of equal ones."""
    index = b("ArgMax", scores, axis=1, keepdims=0)
    if labels == [*range(len(labels))]:
        return index
    return b("Gather", b.constant(labels, np.int64), index)


def either(b: Body, holds: str, yes: int, no: int, rows: int) -> str:
    """[rows]: one label where [rows, 1] holds, else the other."""
    return b.reshape(
        b("Where", holds, b.constant(yes, np.int64), b.constant(no, np.int64)), (rows,)
    )


def as_float(b: Body, x: str) -> str:
    """float32 of the first input's elements."""
    return x if b.element == np.float32 else b.cast(x, onnx.TensorProto.FLOAT)


def as_rows(b: Body) -> tuple[str, int, int]:
    """The first input as a matrix, a vector as one row; its rows and columns."""
    rows, columns = b.shape if len(b.shape) == 2 else (1, math.prod(b.shape))
    x = b.inputs[0]
    return (x if len(b.shape) == 2 else b.reshape(x, (rows, columns))), rows, columns
