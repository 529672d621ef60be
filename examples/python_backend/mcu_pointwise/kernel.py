"""The kernel: its C text with a layer's numbers filled in, and the constants as it reads them."""

from __future__ import annotations

import math
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.arithmetic import activation_bounds, multiplier
from mcu_deploy.backends.interface import CFunction, Constant, Layer, Parameter

Array = npt.NDArray[Any]


def _text(file: str, **values: object) -> str:
    """A file of this package, with `@NAME@` replaced by values."""
    text = resources.files(__package__).joinpath(file).read_text(encoding="utf-8").rstrip()
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    return text


# `$requantize` in the kernel calls it: a helper is `static inline`.
REQUANTIZE = CFunction(
    "requantize",
    (
        Parameter("int32_t", "sum"),
        Parameter("float", "factor"),
        Parameter("float", "low"),
        Parameter("float", "high"),
    ),
    _text("requantize.c"),
    result="int32_t",
    inline=True,
)

PARAMETERS = (
    Parameter("const int8_t *", "x"),
    Parameter("int8_t *", "y"),
    Parameter("const int8_t *", "weights"),
    Parameter("const int32_t *", "bias"),
    Parameter("const float *", "factor"),
)


def function(layer: Layer) -> CFunction:
    """The C function of a layer. Layers of the same shape and output share one."""
    y = layer.output.type
    assert y.quantization is not None
    channels = layer.input(0).type.shape[1]
    zero = y.quantization.zero_point[0]
    # The bounds of the type, or of a fused Relu or Clip, as quantized numbers.
    low, high = activation_bounds(layer.call.activation, y)
    step = math.gcd(channels, 4)
    body = _text(
        "pointwise.c.in",
        PIXELS=math.prod(y.shape) // y.shape[1],
        CHANNELS=channels,
        FILTERS=y.shape[1],
        STEP=step,
        PRODUCTS="\n".join(_product(c, f) for c in range(step) for f in range(4)),
        LOW=f"{low - zero}.0F",
        HIGH=f"{high - zero}.0F",
        ZERO=f"({zero})" if zero < 0 else zero,
    )
    return CFunction("pointwise", PARAMETERS, body)


def _product(channel: int, filter_: int) -> str:
    return f"                sum{filter_} += x[c + {channel}] * w[{channel * 4 + filter_}];"


def constants(layer: Layer) -> tuple[Constant, ...]:
    """The constants in the order of the function's parameters."""
    x, w, y = layer.input(0).type, layer.input(1), layer.output.type
    assert w.constant is not None
    assert x.quantization is not None
    assert w.type.quantization is not None
    assert y.quantization is not None
    filters, channels = w.constant.shape[:2]
    packed = w.constant.reshape(filters // 4, 4, channels).transpose(0, 2, 1)
    factor = multiplier(x.quantization, w.type.quantization, y.quantization)
    return (
        Constant("weights", np.ascontiguousarray(packed)),
        Constant("bias", folded_bias(layer).astype(np.int32)),
        Constant("factor", np.broadcast_to(factor, filters).astype(np.float32)),
    )


def folded_bias(layer: Layer) -> Array:
    """bias - zero * sum(w), for each filter: sum((x - zero) * w) is sum(x * w) less zero * sum(w).

    So the loop reads x as it is. In int64, which holds it for all 8-bit weights.
    """
    x, w, bias = layer.input(0), layer.input(1), layer.optional(2)
    assert x.type.quantization is not None
    assert w.constant is not None
    offset = x.type.quantization.zero_point[0] * _sums(w.constant.astype(np.int64))
    if bias is None or bias.constant is None:
        return np.asarray(-offset)
    return np.asarray(bias.constant.astype(np.int64) - offset)


def fits(layer: Layer) -> bool:
    """Whether no sum of unshifted inputs can leave int32."""
    w = layer.input(1)
    assert w.constant is not None
    magnitude = _sums(np.abs(w.constant.astype(np.int64)))
    return bool(np.all(np.abs(folded_bias(layer)) + 128 * magnitude < 2**31))


def _sums(weights: Array) -> Array:
    """The sum over each filter."""
    return np.asarray(weights.reshape(len(weights), -1).sum(axis=1))
