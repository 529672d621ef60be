"""The kernel: its C text with a layer's numbers filled in, and the constants as it reads them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from mcu_deploy.arithmetic import multiplier
from mcu_deploy.backends.interface import CFunction, Constant, Layer, Parameter
from mcu_deploy.backends.kit.kit import Kit
from mcu_deploy.backends.kit.requantization import output_quantization
from mcu_deploy.backends.kit.zero_points import folded_bias

KIT = Kit("Pointwise", Path(__file__).parent)

PARAMETERS = (
    Parameter("const int8_t *", "x"),
    Parameter("int8_t *", "y"),
    Parameter("const int8_t *", "weights"),
    Parameter("const int32_t *", "bias"),
    Parameter("const float *", "factor"),
)


def function(layer: Layer) -> CFunction:
    """The C function of a layer. Layers of the same shape and output share one."""
    y, channels = layer.output.type, layer.input(0).type.shape[1]
    body = KIT.render(
        "pointwise.c.j2",
        pixels=math.prod(y.shape) // y.shape[1],
        channels=channels,
        filters=y.shape[1],
        step=math.gcd(channels, 4),  # channels in one turn of the loop
        store=output_quantization(layer).store,
    )
    return CFunction("pointwise", PARAMETERS, body)


def constants(layer: Layer) -> tuple[Constant, ...] | str:
    """The constants in the order of the function's parameters; or why there are none."""
    x, w, y, bias = layer.input(0).type, layer.input(1), layer.output.type, layer.optional(2)
    assert w.constant is not None
    assert x.quantization is not None
    assert w.type.quantization is not None
    assert y.quantization is not None
    start, reason = folded_bias(None if bias is None else bias.constant, w.constant, x)
    if start is None:
        return reason
    filters, channels = w.constant.shape[:2]
    packed = w.constant.reshape(filters // 4, 4, channels).transpose(0, 2, 1)
    factor = multiplier(x.quantization, w.type.quantization, y.quantization)
    return (
        Constant("weights", np.ascontiguousarray(packed)),
        Constant("bias", start),
        Constant("factor", np.broadcast_to(factor, filters).astype(np.float32)),
    )
