"""TFLite's convolution of float32 with int8 weights ("dynamic range"), HybridConv.

Each image of a batch is quantized at run time, symmetrically, to -127..127 by its largest
magnitude, or where `asymmetric` is 1 by its range to all bytes, with a zero point; products and
sums are integers; the scales and the bias are float32. Inputs and other attributes are Conv's.
Source: EvalHybrid and EvalHybridPerChannel of tensorflow/lite/kernels/conv.cc, EvalHybrid of
fully_connected.cc, PortableSymmetricQuantizeFloats and PortableAsymmetricQuantizeFloats;
TFLite-Micro has no such kernel.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import round_half_away
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.conv import along_channels, convolved, macs, real_result

LARGEST = 127


def _quantize_symmetric(x: Array) -> tuple[Array, np.float32]:
    """Integers, and the scale of one; a tensor of zeros has the scale 1."""
    magnitude = np.float32(np.abs(x).max(initial=0.0))
    if magnitude == 0:
        return np.zeros(x.shape, np.float64), np.float32(1.0)
    inverse = np.float32(LARGEST) / magnitude
    integers = round_half_away((x * inverse).astype(np.float32))
    return np.clip(integers, -LARGEST, LARGEST).astype(np.float64), magnitude / np.float32(LARGEST)


def _quantize_asymmetric(x: Array) -> tuple[Array, np.float32]:
    """Integers without their zero point, and the scale of one; of zeros it is 1."""
    low, high = (np.float64(f(x, initial=0.0)) for f in (np.min, np.max))
    if low == high:
        return np.zeros(x.shape, np.float64), np.float32(1.0)
    step = (high - low) / 255
    below, above = low / step, high / step
    place = -128 - below if 128 - below < 127 + above else 127 - above
    zero = np.trunc(place + np.copysign(0.5, place))
    scale = np.float32(step)
    real = (np.float32(zero) + x * (np.float32(1) / scale)).astype(np.float32)
    return np.clip(round_half_away(real), -128, 127) - zero, scale


def _hybrid_conv(call: Call) -> list[Array]:
    asymmetric = call.attributes.get("asymmetric", 0)
    quantize = _quantize_asymmetric if asymmetric else _quantize_symmetric
    images = [quantize(image) for image in call.value(0)]
    integers = np.stack([image for image, _ in images])
    scales = np.array([scale for _, scale in images]).reshape((-1,) + (1,) * (integers.ndim - 1))
    # Exact in float64: no partial sum of 8-bit products leaves 2**53 (and matmul is fast there).
    sums = convolved(call, integers, call.value(1).astype(np.float64)).astype(np.float32)
    return real_result(call, sums * (scales * along_channels(call, call.type(1).scaling.scales)))


OPERATORS = (Operator("HybridConv", _hybrid_conv, macs, domain="tflite"),)
