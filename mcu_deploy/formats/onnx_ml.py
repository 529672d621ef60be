"""Operators of ai.onnx.ml that are a few of ONNX's own: what scikit-learn's pipelines put around a
model of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx
from onnx import numpy_helper

from mcu_deploy.formats.onnx_body import Body, NoBody, require
from mcu_deploy.formats.onnx_scores import (
    above,
    as_float,
    as_rows,
    both,
    chosen,
    either,
    labels_of,
    transform_of,
    transformed,
)


def _array_feature_extractor(b: Body) -> str:
    """ArrayFeatureExtractor-1: columns by their numbers; of a vector a matrix of one row."""
    picked = b("Gather", b.inputs[0], b.reshape(b.inputs[1], (-1,)), axis=len(b.shape) - 1)
    return picked if len(b.shape) > 1 else b.reshape(picked, (1, -1))


def _binarizer(b: Body) -> str:
    """Binarizer-1: 1 above the threshold, 0 elsewhere."""
    require(b.element == np.float32)
    return b.cast(above(b, b.inputs[0], b.attributes.get("threshold", 0.0)))


def _scaler(b: Body) -> str:
    """Scaler-1: (x - offset) * scale, one for all or one a column."""
    moved = b("Sub", as_float(b, b.inputs[0]), b.real(b.attributes.get("offset", [0.0])))
    return b("Mul", moved, b.real(b.attributes.get("scale", [1.0])))


def _product(b: Body, count: int) -> str:
    """[rows, count]: the features times the coefficients, and the intercepts."""
    x, _, columns = as_rows(b)
    given = np.array(b.attributes.get("coefficients", ()), np.float32)
    added = b.attributes.get("intercepts", ())
    require(count and given.size == count * columns and len(added) in (0, count))
    product = b("MatMul", as_float(b, x), b.real(given.reshape(count, -1).T))
    return b("Add", product, b.real(added)) if len(added) else product


def _linear_regressor(b: Body) -> str:
    """LinearRegressor-1."""
    targets = int(b.attributes.get("targets", 1))
    return transformed(b, _product(b, targets), transform_of(b.attributes), targets)


def _linear_classifier(b: Body) -> list[str]:
    """LinearClassifier-1: one score for two classes, or one for each."""
    labels, count = labels_of(b, "classlabels_ints"), len(b.attributes.get("intercepts", ()))
    scores, name = _product(b, count), transform_of(b.attributes)
    if count == 1 and len(labels) == 2:
        _, rows, _ = as_rows(b)
        pair = both(b, scores, name, are_shares=True)
        return [either(b, above(b, scores, 0.0), labels[1], labels[0], rows), pair]
    require(len(labels) == count >= 2)
    result = transformed(b, scores, name, count)
    return [chosen(b, scores, labels), result]


def _feature_vectorizer(b: Body) -> str:
    """FeatureVectorizer-1: columns of numbers side by side, as float32."""
    require(all(s is not None and len(s) == 2 for s in b.shapes))
    given = b.inputs if b.element == np.float32 else [b.cast(x) for x in b.inputs]
    return b("Concat", *given, axis=1)


def _normalizer(b: Body) -> str:
    """Normalizer-1: each row by its largest element, its sum without signs, or its length; a row
    of zeros stays."""
    ops = {b"MAX": "ReduceMax", b"L1": "ReduceL1", b"L2": "ReduceL2"}
    kind = b.attributes.get("norm", b"MAX")
    require(kind in ops and len(b.shape) == 2)
    x = as_float(b, b.inputs[0])
    norm, zero, one = b.reduced(ops[kind], x, [1]), b.real(0), b.real(1)
    return b("Div", x, b("Where", b("Equal", norm, zero), one, norm))


def _imputer(b: Body) -> str:
    """Imputer-1: what is missing, one number, is replaced by one for all or one a column."""
    kind = "floats" if np.issubdtype(b.element, np.floating) else "int64s"
    values = b.attributes.get(f"imputed_value_{kind}")
    require(values and len(b.shape) == 2 and len(values) in (1, b.shape[1]))
    missing = b.attributes.get(f"replaced_value_{kind[:-1]}", 0)
    x = b.inputs[0]
    lost = b("IsNaN", x) if missing != missing else b("Equal", x, b.constant(missing))
    return b("Where", lost, b.constant(values), x)


def _numbers(b: Body, which: str) -> np.ndarray:
    """The keys or values of a LabelEncoder. Raises NoBody where they are texts."""
    tensor = b.attributes.get(f"{which}_tensor")
    if tensor is not None:
        found = numpy_helper.to_array(tensor)
        require(found.dtype.kind in "fi")
        return found.reshape(-1)
    for name, dtype in (("int64s", np.int64), ("floats", np.float32)):
        if f"{which}_{name}" in b.attributes:
            return np.array(b.attributes[f"{which}_{name}"], dtype)
    raise NoBody


def _label_encoder(b: Body) -> str:
    """LabelEncoder-2 and -4 of numbers: the value of the first key that is equal."""
    keys, values = _numbers(b, "keys"), _numbers(b, "values")
    require(0 < len(keys) == len(values) and not np.isnan(keys).any())
    tensor = b.attributes.get("default_tensor")
    if tensor is not None:
        default = numpy_helper.to_array(tensor).reshape(-1)[0]
    elif values.dtype == np.int64:
        default = b.attributes.get("default_int64", -1)
    else:
        default = b.attributes.get("default_float", -0.0)
    equal = b.cast(_equal(b, b.inputs[0], keys.astype(b.element)))
    place = b("ArgMax", equal, axis=len(b.shape), keepdims=0)
    found = b("Gather", b.constant(values, values.dtype), place)
    known = above(b, b.reduced("ReduceMax", equal, [len(b.shape)], 0), 0)
    return b("Where", known, found, b.constant(default, values.dtype))


def _equal(b: Body, x: str, keys: np.ndarray) -> str:
    """[..., n]: which of n keys each element of x is, which has the first input's shape."""
    return b("Equal", b.reshape(x, (*b.shape, 1)), b.constant(keys, keys.dtype))


def _one_hot_encoder(b: Body) -> str:
    """OneHotEncoder-1 of integers, or of real numbers without what is behind the point."""
    categories = b.attributes.get("cats_int64s")
    require(categories)
    keys = np.array(categories, np.int64)
    whole = b.inputs[0] if b.element == np.int64 else b.cast(b.inputs[0], onnx.TensorProto.INT64)
    return b.cast(_equal(b, whole, keys))


ML: Mapping[str, Callable[[Body], str | list[str]]] = {
    "ai.onnx.ml::ArrayFeatureExtractor": _array_feature_extractor,
    "ai.onnx.ml::Binarizer": _binarizer,
    "ai.onnx.ml::FeatureVectorizer": _feature_vectorizer,
    "ai.onnx.ml::Imputer": _imputer,
    "ai.onnx.ml::LabelEncoder": _label_encoder,
    "ai.onnx.ml::LinearClassifier": _linear_classifier,
    "ai.onnx.ml::LinearRegressor": _linear_regressor,
    "ai.onnx.ml::Normalizer": _normalizer,
    "ai.onnx.ml::OneHotEncoder": _one_hot_encoder,
    "ai.onnx.ml::Scaler": _scaler,
}
