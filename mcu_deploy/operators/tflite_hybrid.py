"""TFLite's convolution of float32 with int8 weights ("dynamic range"), HybridConv.

The input is quantized at run time, symmetrically, to -127..127 by its largest magnitude; products
and sums are integers; the scales and the bias are float32. Inputs and attributes are those of Conv,
for a batch of one. Source: EvalHybrid of tensorflow/lite/kernels/conv.cc and
PortableSymmetricQuantizeFloats; TFLite-Micro has no such kernel.
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


def _hybrid_conv(call: Call) -> list[Array]:
    integers, scale = _quantize_symmetric(call.value(0))
    # Exact in float64: no partial sum of 8-bit products leaves 2**53 (and matmul is fast there).
    sums = convolved(call, integers, call.value(1).astype(np.float64)).astype(np.float32)
    return real_result(call, sums * along_channels(call, scale * call.type(1).scaling.scales))


OPERATORS = (Operator("HybridConv", _hybrid_conv, macs, domain="tflite"),)
