"""Operators of ai.onnx.ml that are a few of ONNX's own: what scikit-learn's pipelines put around a
model of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from mcu_deploy.formats.onnx_body import Body


def _array_feature_extractor(b: Body) -> str | None:
    """ArrayFeatureExtractor-1: columns by their numbers; of a vector a matrix of one row."""
    picked = b("Gather", b.inputs[0], b.reshape(b.inputs[1], (-1,)), axis=len(b.shape) - 1)
    return picked if len(b.shape) > 1 else b.reshape(picked, (1, -1))


def _binarizer(b: Body) -> str | None:
    """Binarizer-1: 1 above the threshold, 0 elsewhere."""
    if b.element != np.float32:
        return None
    above = b("Greater", b.inputs[0], b.constant(b.attributes.get("threshold", 0.0)))
    return b("Cast", above, to=1)


def _scaler(b: Body) -> str | None:
    """Scaler-1: (x - offset) * scale, one for all or one a column."""
    x = b.inputs[0] if b.element == np.float32 else b("Cast", b.inputs[0], to=1)
    offset = b.constant(b.attributes.get("offset", [0.0]), np.float32)
    return b("Mul", b("Sub", x, offset), b.constant(b.attributes.get("scale", [1.0]), np.float32))


def _linear_regressor(b: Body) -> str | None:
    """LinearRegressor-1 without a transform of its results."""
    targets = int(b.attributes.get("targets", 1))
    if b.attributes.get("post_transform", b"NONE") != b"NONE" or b.element != np.float32:
        return None
    weights = np.array(b.attributes["coefficients"], np.float32).reshape(targets, -1)
    x = b.inputs[0] if len(b.shape) == 2 else b.reshape(b.inputs[0], (1, -1))
    product = b("MatMul", x, b.constant(weights.T, np.float32))
    given = b.attributes.get("intercepts")
    return product if given is None else b("Add", product, b.constant(given, np.float32))


def _feature_vectorizer(b: Body) -> str | None:
    """FeatureVectorizer-1: columns of float32 side by side."""
    if b.element != np.float32 or any(s is None or len(s) != 2 for s in b.shapes):
        return None
    return b("Concat", *b.inputs, axis=1)


ML: Mapping[str, Callable[[Body], str | None]] = {
    "ai.onnx.ml::ArrayFeatureExtractor": _array_feature_extractor,
    "ai.onnx.ml::Binarizer": _binarizer,
    "ai.onnx.ml::FeatureVectorizer": _feature_vectorizer,
    "ai.onnx.ml::LinearRegressor": _linear_regressor,
    "ai.onnx.ml::Scaler": _scaler,
}
