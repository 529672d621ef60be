"""Conversions between float32 and bytes as kernels see them: quotients by a reciprocal.

With the reciprocal r of a scale, `q = x * r` and `e = x - q * scale`, which is exact when fused,
`q + e * r` is the rounded quotient (Markstein). Next to where another integer begins this is tried
when the model is compiled; anywhere else its error, below 2**-45 of the quotient, changes none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import Layer
from mcu_deploy.backends.quantized.layers import BYTES
from mcu_deploy.ir import DType, Quantization, TensorType
from mcu_deploy.operators.quantization import call_quantization

_LARGEST_SCALE = 2.0**60  # and the reciprocal of the smallest: no product overflows or vanishes


class Conversion(NamedTuple):
    """To bytes (quantizes) or back. integer: the tensor of bytes; ties_away: quotients between two
    integers are rounded away from zero, not to even."""

    quantizes: bool
    integer: TensorType
    how: Quantization
    ties_away: bool


def by_reciprocal(node: Layer) -> Conversion | str:
    """A layer as one that is computed in float32, or why it is none for a kernel, a clause."""
    if not node.target.fpu:
        return f"it computes in float32, which this {node.target.core} has no FPU for"
    found = conversion(node)
    if not isinstance(found, str) and found.quantizes and not divides(found.how.scale[0]):
        return "its quotients are not those of a product with the reciprocal of its scale"
    return found


def conversion(node: Layer) -> Conversion | str:
    """A layer as one, or why it is none for a kernel, a clause."""
    quantizes = node.op != "DequantizeLinear"
    real, integer = node.input(0).type, node.output.type
    if not quantizes:
        real, integer = integer, real
    if real.dtype is not DType.FLOAT32 or integer.dtype not in BYTES:
        return f"it converts between float32 and int8 or uint8, not {real} and {integer}"
    if node.input(0).constant is not None or not integer.elements:
        return "it converts tensors that are computed"
    if any(o is not None and o.constant is None for o in node.inputs[1:]):
        return "its scale is computed at run time"
    how = integer.scaling if node.domain else call_quantization(node.call, integer.rank)
    if not how.per_tensor:
        return "it converts tensors with one scale"
    return Conversion(quantizes, integer, how, node.domain == "tflite")


def divides(scale: float) -> bool:
    """Whether the product with the reciprocal, once corrected, is the quotient in float32 of all
    numbers next to where another integer begins."""
    if not 1 / _LARGEST_SCALE <= scale <= _LARGEST_SCALE:
        return False
    s = np.float32(scale)
    halves = np.arange(-511, 512, 2) / 2
    steps = (halves * float(s)).astype(np.float32).view(np.int32)
    x = (steps[:, None] + np.arange(-2, 3, dtype=np.int32)).view(np.float32)
    return bool((quotients(x, s) == x / s).all())


def quotients(x: Array, scale: np.float32) -> Array:
    """What the kernel makes of float32 numbers by the reciprocal."""
    reciprocal = np.float32(1) / scale
    q = x * reciprocal
    return _fused(_fused(-q, scale, x), reciprocal, q)


def _fused(a: Array, b: np.float32, c: Array) -> Array:
    """float32(a * b + c), rounded once: VFMA."""
    product = a.astype(np.float64) * np.float64(b)
    total = product + c
    back = total - product
    lost = (product - (total - back)) + (c - back)
    # Rounded to odd where float64 lost bits, so that float32 rounds as if they were there.
    is_even = total.view(np.int64) % 2 == 0
    beside = np.nextafter(total, np.copysign(np.inf, lost))
    return np.where((lost != 0) & is_even, beside, total).astype(np.float32)
