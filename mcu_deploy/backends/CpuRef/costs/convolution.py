"""Convolutions: sums of products over windows."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mcu_deploy.backends.CpuRef.costs.work import Fit, Rule, Work, quantized_kind
from mcu_deploy.backends.interface import Layer
from mcu_deploy.ir import TensorType
from mcu_deploy.operators.conv import conv_window
from mcu_deploy.operators.conv_transpose import transposed_window
from mcu_deploy.operators.windows import Window

# Of the model pack, and of 4 and 16 channels of 6x6 and 13x13 with 3x3 weights.
FITS: Mapping[str, Fit] = {
    "conv float32": Fit((6.8, 18.9), 0.10, 0.37),  # 32 layers
    "conv quantized": Fit((6.5, 37.8), 0.18, 0.30),  # 8 layers
    "conv quantized offset": Fit((7.6, 31.2), 0.14, 0.32),  # 29 layers
    "conv tflite": Fit((8.2, 18), 0.02, 0.06),  # 3 layers
    "conv tflite offset": Fit((7.6, 29.4), 0.11, 0.29),  # 16 layers
    "conv transposed": Fit((6.6, 13.3, 9), 0.06, 0.11),  # 6 layers
    "depthwise float32": Fit((16.6,), 0.10, 0.38),  # 22 layers
    "depthwise quantized": Fit((15.5,), 0.03, 0.20),  # 6 layers
    "depthwise quantized offset": Fit((15.9,), 0.14, 0.48),  # 67 layers
    "depthwise tflite": Fit((12.4,), 0.00, 0.01),  # 4 layers
    "depthwise tflite offset": Fit((18.2,), 0.09, 0.25),  # 46 layers
    "grouped float32": Fit((9, 2.4), 0.07, 0.34),  # 6 layers
    "grouped quantized": Fit((11.2, 0), 0.12, 0.43),  # 4 layers
    "grouped quantized offset": Fit((14.4, 0), 0.08, 0.08),  # 2 layers
    "hybrid conv": Fit((5, 22, 43), 0.00, 0.32),  # 5 layers
    "pointwise weights8": Fit((8, 18.2), 0.00, 0.01),  # 4 layers
    # Those of float32, with the conversion of a weight that pointwise ones show.
    "conv weights8": Fit((8.4, 18.9), 0.10, 0.37),
    "depthwise weights8": Fit((18.2,), 0.10, 0.38),
    "grouped weights8": Fit((10.6, 2.4), 0.07, 0.34),
    "pointwise float32": Fit((6.4, 8.4), 0.06, 0.29),  # 25 layers
    "pointwise quantized": Fit((6.4, 17.1), 0.18, 0.39),  # 113 layers
    "pointwise tflite": Fit((5.4, 30.8), 0.07, 0.17),  # 86 layers
}


def _zero_point(type_: TensorType) -> int:
    return 0 if type_.quantization is None else type_.quantization.zero_point[0]


def _conv(layer: Layer) -> Work:
    """Coefficients: for each multiplication, each run over neighbours in memory (pointwise: each
    output)."""
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    geometry = conv_window(x, w, y, layer.attributes)
    group = int(layer.attributes.get("group", 1))
    filters, depth = w.shape[:2]
    per_position = x.shape[0] * filters
    macs = per_position * depth * taps(geometry, len(geometry.kernel))
    rows = per_position * taps(geometry, len(geometry.kernel) - 1)
    kind = quantized_kind(layer)
    if math.prod(geometry.kernel) == group == 1 and not geometry.padded:
        return Work(f"pointwise {kind}", (macs, y.elements))
    # A zero point that is not folded into the bias is subtracted in the innermost loop.
    if y.is_quantized and (_zero_point(w) or (geometry.padded and _zero_point(x))):
        kind += " offset"
    if depth == 1 and group == x.shape[1] and group > 1:
        return Work(f"depthwise {kind}", (macs,))
    if group > 1 or geometry.dilations[-1] > 1:
        # No TFLite model of the pack has one; what ends an output is the least of its costs.
        kind = kind.replace("tflite", "quantized")
        return Work(f"grouped {kind}", (macs, macs // depth))
    return Work(f"conv {kind}", (macs, rows))


def _hybrid(layer: Layer) -> Work:
    """Coefficients: for each multiplication, each output, each element under the kernel."""
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    filters, area = w.shape[0], math.prod(w.shape[2:])
    under = y.elements // filters * area * x.shape[1]
    return Work("hybrid conv", (y.elements * area * w.shape[1], y.elements, under))


def _conv_transpose(layer: Layer) -> Work:
    """Coefficients: for each multiplication, each tap that is tried, each output."""
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    geometry = transposed_window(x, w, y, layer.attributes)
    depth = w.shape[0] // int(layer.attributes.get("group", 1))
    macs = x.shape[0] * y.shape[1] * depth * taps(geometry, len(geometry.kernel))
    return Work("conv transposed", (macs, y.elements * math.prod(geometry.kernel), y.elements))


def taps(geometry: Window, axes: int) -> int:
    """How many taps of all output positions lie inside of the input, over the leading axes.

    Along the other axes every position counts once.
    """
    count = 1
    for axis, (kernel, positions) in enumerate(zip(geometry.kernel, geometry.output, strict=True)):
        if axis >= axes:
            count *= positions
            continue
        step, stride = geometry.dilations[axis], geometry.strides[axis]
        inside = 0
        for position in range(positions):
            start = position * stride - geometry.begin[axis]
            first = max(0, -(start // step))
            last = min(kernel, -((start - geometry.input[axis]) // step))
            inside += max(0, last - first)
        count *= inside
    return count


RULES: Mapping[tuple[str, str], Rule] = {
    ("", "Conv"): _conv,
    ("", "ConvTranspose"): _conv_transpose,
    ("mcu", "Conv"): _conv,
    ("tflite", "Conv"): _conv,
    ("tflite", "HybridConv"): _hybrid,
}
