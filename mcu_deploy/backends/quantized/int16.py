"""Layers of int16 with constant weights of 8 bits as kernels see them, and why one is none of
theirs.

int16 lies around 0, so that no sum has a zero point in it. Sums of products have 32 bits, also
those of TFLite's that have 64 there, where the weights let them. Of these the factor has 15 bits,
so that SMMULR rounds as TFLite does: `(sum * m + 2^(s-1)) >> s` is the upper word of
`sum * (m << 32 - s)`, rounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array, largest_sums, multiplier, tflite
from mcu_deploy.backends.interface import Layer
from mcu_deploy.backends.kit.requantization import is_per_tensor, sums_are_wide
from mcu_deploy.backends.quantized.layers import BYTES, centred, clamp
from mcu_deploy.ir import DType, TensorType

_KNOWN = (*BYTES, DType.INT16)
_LOW, _HIGH = DType.INT8.range


@dataclass(frozen=True, eq=False)
class Int16Products:
    """weights: int64 [filter, ...], without their zero point; bias: of each filter. rounding:
    uint32 of each: the float32 factor, or where it is fixed (TFLite's) what SMMULR multiplies by.
    y: the output's type; bounds: the least and the greatest element that the layer leaves."""

    weights: Array
    bias: Array
    rounding: Array
    is_fixed: bool
    y: TensorType
    bounds: tuple[int, int]

    @property
    def zero_point(self) -> int:
        return int(self.y.scaling.zero_point[0])


def read(layer: Layer) -> Int16Products | str:
    """A layer of int16, or why it is none for these kernels, a clause; empty where it is of another
    type."""
    x, w, y, bias = layer.input(0).type, layer.input(1), layer.output.type, layer.optional(2)
    if x.dtype is not DType.INT16 or x.quantization is None:
        return ""
    if w.constant is None or (bias is not None and bias.constant is None):
        return "its weights or its bias are computed at run time"
    if w.type.dtype not in BYTES or w.type.quantization is None:
        return f"it takes weights of int8 and uint8 that have a scale, not {w.type}"
    if y.dtype not in _KNOWN or not is_per_tensor(y) or not is_per_tensor(x):
        return f"it computes int8, uint8 and int16 that have one scale, not {y}"
    if any(type_.dtype is DType.INT16 and any(type_.scaling.zero_point) for type_ in (x, y)):
        return "its integers of 16 bits lie around 0"
    weights = centred(w)
    if layer.op == "MatMul" or (layer.op == "Gemm" and not layer.attributes.get("transB", 0)):
        weights = weights.T
    if weights.min(initial=0) < _LOW or weights.max(initial=0) > _HIGH:
        return "its weights, without their zero point, are no int8"
    filters = len(weights)
    given = np.zeros(1, np.int64) if bias is None else np.asarray(bias.constant, np.int64)
    if given.size not in (1, filters):
        return "it takes a bias for each output, not one for each row too"
    given = np.array(np.broadcast_to(given.reshape(-1), (filters,)))
    most = largest_sums(weights, 0, 2**15, given)
    if most.max(initial=0) >= 2**31:
        return "a sum of its weights could leave 32 bits"
    found = _fixed(layer) if layer.domain else _real(layer, most)
    if isinstance(found, str):
        return found
    rounding = np.array(np.broadcast_to(found, (filters,)))
    return Int16Products(weights, given, rounding, bool(layer.domain), y, clamp(layer))


def _real(layer: Layer, most: Array) -> Array | str:
    """ONNX's factors, as bits."""
    x, w, y = (o.type.scaling for o in (layer.input(0), layer.input(1), layer.output))
    factors = np.asarray(multiplier(x, w, y), np.float32)
    if (most * factors.astype(np.float64) >= 2**31 - 2**10).any():
        return "a sum of it times its factor could leave 32 bits"  # that VCVT gives
    return factors.reshape(-1).view(np.uint32)


def _fixed(layer: Layer) -> Array | str:
    """TFLite's factors for sums of 64 bits, as SMMULR takes them."""
    if not sums_are_wide(layer):
        return "it rounds as TFLite rounds sums of 64 bits, and its bias has 32"
    dense = layer.op == "FullyConnected"
    of = tflite.fully_connected_multipliers if dense else tflite.convolution_multipliers
    x, w, y = (o.type.scaling for o in (layer.input(0), layer.input(1), layer.output))
    factors, shifts = tflite.wide_factor(*of(x, w, y))
    if ((shifts < 16) | (shifts > 32)).any():
        return "a factor of it is a half or more, or tiny"
    return (factors << (32 - shifts)).astype(np.uint32)
