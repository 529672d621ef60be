"""Steps of training as what they are made of: optimizers, and BatchNormalization that learns.

A network on a microcontroller that adapts itself holds its parameters as states, or its caller
hands them in and takes them back; a step is arithmetic like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import onnx

from mcu_deploy.formats.onnx_body import Body, require

_DOUBLE = onnx.TensorProto.DOUBLE


def trains(node: onnx.NodeProto) -> bool:
    """Whether a BatchNormalization learns from what it is given: before opset 14 those do that have
    more than one output."""
    wants = len(node.output) > 1 or any(a.name == "training_mode" and a.i for a in node.attribute)
    return wants and node.op_type == "BatchNormalization" and node.domain in ("", "ai.onnx")


def _tensors(b: Body, count: int) -> Iterator[list[str]]:
    """Of each tensor that is optimized its value, its gradient, and what belongs to it."""
    given = b.inputs[2:]
    step = len(given) // count
    return ([given[k * step + n] for k in range(count)] for n in range(step))


def _regularized(b: Body, x: str, gradient: str) -> str:
    return b("Add", b("Mul", b.constant(b.attributes.get("norm_coefficient", 0.0)), x), gradient)


def _in_order(found: list[list[str]]) -> list[str]:
    """All new values, then all of the next kind, and so on."""
    return [name for kind in zip(*found, strict=True) for name in kind]


def _adagrad(b: Body) -> list[str]:
    """Adagrad-1."""
    decay, epsilon = b.attributes.get("decay_factor", 0.0), b.attributes.get("epsilon", 1e-6)
    one, count = b.constant(1), b.cast(b.inputs[1])
    rate = b("Div", b.inputs[0], b("Add", one, b("Mul", count, b.constant(decay))))
    found = []
    for x, gradient, squares in _tensors(b, 3):
        g = _regularized(b, x, gradient)
        new = b("Add", squares, b("Mul", g, g))
        root = b("Add", b("Sqrt", new), b.constant(epsilon))
        found.append([b("Sub", x, b("Div", b("Mul", rate, g), root)), new])
    return _in_order(found)


def _adam(b: Body) -> list[str]:
    """Adam-1. The rate of a step is computed in float64: 1 - beta ** t cancels."""
    alpha, beta = b.attributes.get("alpha", 0.9), b.attributes.get("beta", 0.999)
    after = 1 - b.attributes.get("norm_coefficient_post", 0.0)
    count = b.cast(b.inputs[1], _DOUBLE)

    def left(base: float) -> str:
        power = b("Pow", b.constant(base, np.float64), count)
        return b("Sub", b.constant(1, np.float64), power)

    corrected = b("Mul", b.cast(b.inputs[0], _DOUBLE), b("Div", b("Sqrt", left(beta)), left(alpha)))
    begun = b("Greater", b.inputs[1], b.constant(0, np.int64))
    rate = b("Where", begun, b.cast(corrected), b.inputs[0])
    found = []
    for x, gradient, first, second in _tensors(b, 4):
        g = _regularized(b, x, gradient)
        v = _mixed(b, first, alpha, g)
        h = _mixed(b, second, beta, b("Mul", g, g))
        root = b("Add", b("Sqrt", h), b.constant(b.attributes.get("epsilon", 1e-6)))
        new = b("Sub", x, b("Mul", rate, b("Div", v, root)))
        found.append([b("Mul", b.constant(after), new), v, h])
    return _in_order(found)


def _mixed(b: Body, old: str, share: float, new: str) -> str:
    """The old value with its share, and the new one with the rest."""
    return b("Add", b("Mul", b.constant(share), old), b("Mul", b.constant(1 - share), new))


def _momentum(b: Body) -> list[str]:
    """Momentum-1, both modes. The first gradient counts whole."""
    alpha, beta = b.constant(b.attributes["alpha"]), b.constant(b.attributes["beta"])
    begun = b("Greater", b.inputs[1], b.constant(0, np.int64))
    share = b("Where", begun, beta, b.constant(1))
    found = []
    for x, gradient, velocity in _tensors(b, 3):
        g = _regularized(b, x, gradient)
        v = b("Add", b("Mul", alpha, velocity), b("Mul", share, g))
        way = v
        if b.attributes["mode"] == b"nesterov":
            way = b("Add", g, b("Mul", alpha, v))
        found.append([b("Sub", x, b("Mul", b.inputs[0], way)), v])
    return _in_order(found)


def _batch_normalization(b: Body) -> list[str]:
    """BatchNormalization-7 to -15 in training: by the mean and variance of what it is given, which
    before -14 are outputs too, and the running ones moved towards these."""
    axes = [0, *range(2, len(b.shape))]
    require(len(b.shape) >= 2 and b.opset >= 7)
    x, scale, bias, mean, variance = b.inputs
    channels = (1, b.shape[1], *(1,) * (len(b.shape) - 2))
    of_batch = b.reduced("ReduceMean", x, axes)
    around = b("Sub", x, of_batch)
    spread = b.reduced("ReduceMean", b("Mul", around, around), axes)
    epsilon = b.constant(b.attributes.get("epsilon", 1e-5))
    normal = b("Div", around, b("Sqrt", b("Add", spread, epsilon)))
    y = b("Add", b("Mul", normal, b.reshape(scale, channels)), b.reshape(bias, channels))
    share = b.attributes.get("momentum", 0.9)
    of_slice = b.shape[1:2]
    moved = [
        _mixed(b, old, share, b.reshape(new, of_slice))
        for old, new in ((mean, of_batch), (variance, spread))
    ]
    saved = [b.reshape(new, of_slice) for new in (of_batch, spread)]
    return [y, *moved, *saved][: len(b.outputs)]


TRAINING: Mapping[str, Callable[[Body], list[str]]] = {
    "BatchNormalization": _batch_normalization,
    "ai.onnx.preview.training::Adagrad": _adagrad,
    "ai.onnx.preview.training::Adam": _adam,
    "ai.onnx.preview.training::Momentum": _momentum,
}
