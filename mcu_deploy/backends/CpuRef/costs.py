"""What CpuRef's kernels cost: how often each part of a kernel's loops runs, times a coefficient.

The coefficients are instructions on a Cortex-M4 with its FPU (gcc 12, -O2), fitted by
benchmarks/fit_costs.py to the counts of 1,155 different layers, of the model pack and of networks
made for the operators that it lacks. The estimate is off by 9 % in the median, and by less than
25 % for nine layers of ten; behind each family in `FITS` stands how far it was off at worst (what
gcc makes of an inner loop depends on the shape). Two costs depend on the data as well: quantizing,
and functions of the C library. On a core without FPU the float32 families cost many times as much;
the order of CpuRef's kernels stays about the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcu_deploy.backends.interface import Costs, Layer
from mcu_deploy.ir import TensorType
from mcu_deploy.operators.conv import conv_window
from mcu_deploy.operators.conv_transpose import transposed_window
from mcu_deploy.operators.elementwise import UNARY
from mcu_deploy.operators.layer_normalization import normalized_axis
from mcu_deploy.operators.pool import pool_window
from mcu_deploy.operators.recurrent import GATES, R, X
from mcu_deploy.operators.windows import Window


@dataclass(frozen=True)
class Fit:
    """Instructions for each count of a family, and how far that was off where it was measured.

    median, worst: the error relative to the count, of the layers that the fit rests on.
    """

    coefficients: tuple[float, ...]
    median: float
    worst: float


@dataclass(frozen=True)
class Work:
    """What a kernel does: its family in `FITS`, and how often each coefficient of that counts."""

    family: str
    counts: tuple[int, ...]


FITS: Mapping[str, Fit] = {
    "Abs": Fit((5.4,), 0.10, 0.12),  # 2 layers
    "Add tflite": Fit((46.8,), 0.04, 0.12),  # 24 layers
    "Ceil": Fit((27.3,), 0.01, 0.02),  # 2 layers
    "Clip": Fit((11.1,), 0.00, 0.01),  # 2 layers
    "Elu": Fit((39.1,), 0.01, 0.01),  # 2 layers
    "Erf": Fit((67,), 0.29, 0.36),  # 4 layers
    "Exp": Fit((72.1,), 0.01, 0.01),  # 2 layers
    "Floor": Fit((27.7,), 0.02, 0.02),  # 2 layers
    "GRU": Fit((6, 314.2), 0.00, 0.01),  # 2 layers
    "Gelu": Fit((69.9,), 0.03, 0.03),  # 2 layers
    "HardSigmoid": Fit((69.6,), 0.01, 0.01),  # 3 layers
    "HardSwish": Fit((70.2,), 0.00, 0.02),  # 5 layers
    "LSTM": Fit((5.7, 499.1), 0.02, 0.06),  # 6 layers
    "LSTM quantized": Fit((5.4, 528.6), 0.03, 0.19),  # 21 layers of random sizes, TFLite's
    "LeakyRelu": Fit((8.5,), 0.06, 0.07),  # 2 layers
    "Mul tflite": Fit((25,), 0.00, 0.01),  # 1 layers
    "Neg": Fit((5.4,), 0.10, 0.12),  # 2 layers
    "RNN": Fit((6.6, 129.2), 0.00, 0.01),  # 2 layers
    "Reciprocal": Fit((6,), 0.01, 0.02),  # 2 layers
    "Relu": Fit((8,), 0.01, 0.01),  # 2 layers
    "Sigmoid": Fit((66.1,), 0.11, 0.16),  # 6 layers
    "Softplus": Fit((137.7,), 0.00, 0.01),  # 2 layers
    "Softsign": Fit((7.5,), 0.07, 0.08),  # 2 layers
    "Sqrt": Fit((5.4,), 0.10, 0.12),  # 2 layers
    "Sub tflite": Fit((33,), 0.00, 0.01),  # 1 layers
    "Tanh": Fit((96.1,), 0.11, 0.17),  # 3 layers
    "arithmetic float32": Fit((6.1, 4.3), 0.03, 0.42),  # 53 layers
    "arithmetic quantized": Fit((29.9,), 0.07, 0.37),  # 43 layers
    "average float32": Fit((5.3, 6), 0.09, 0.13),  # 6 layers
    "average float32 padded": Fit((10.4, 31.4), 0.12, 0.17),  # 4 layers
    "average quantized": Fit((7.6, 13.9), 0.06, 0.13),  # 15 layers
    "average quantized padded": Fit((16.5, 25.9), 0.13, 0.15),  # 4 layers
    "average tflite": Fit((5.5, 0), 0.12, 0.38),  # 6 layers
    "batch normalization": Fit((10.1,), 0.08, 0.09),  # 2 layers
    "conv float32": Fit((7, 18.2), 0.08, 0.35),  # 32 layers
    "conv quantized": Fit((6.8, 26.8), 0.25, 0.39),  # 8 layers
    "conv quantized offset": Fit((7.2, 39.8), 0.10, 0.37),  # 29 layers
    "conv tflite": Fit((8.2, 18), 0.02, 0.06),  # 3 layers
    "conv tflite offset": Fit((7.6, 29.4), 0.11, 0.29),  # 16 layers
    "conv transposed": Fit((6.7, 13.5, 7.7), 0.05, 0.09),  # 6 layers
    "depthwise float32": Fit((16.7,), 0.09, 0.37),  # 21 layers
    "depthwise quantized": Fit((16.1,), 0.19, 0.32),  # 6 layers
    "depthwise quantized offset": Fit((15.9,), 0.13, 0.39),  # 67 layers
    "depthwise tflite": Fit((12.4,), 0.00, 0.01),  # 4 layers
    "depthwise tflite offset": Fit((18.2,), 0.09, 0.25),  # 46 layers
    "dequantize": Fit((8.4,), 0.05, 0.35),  # 70 layers
    "extremum float32": Fit((7.2, 17.3), 0.03, 0.08),  # 5 layers
    "extremum quantized": Fit((6, 9.3), 0.00, 0.03),  # 4 layers
    "gather": Fit((5,), 0.32, 0.53),  # 12 layers
    "gemm float32": Fit((6.1, 8.2), 0.01, 0.07),  # 34 layers
    "gemm quantized": Fit((5.3, 21.9), 0.06, 0.25),  # 38 layers
    "gemm tflite": Fit((6.1, 25.3), 0.21, 0.36),  # 23 layers
    "grouped float32": Fit((9.1, 0.9), 0.13, 0.45),  # 6 layers
    "grouped quantized": Fit((11.2, 0), 0.12, 0.48),  # 4 layers
    "grouped quantized offset": Fit((15.1, 0), 0.13, 0.15),  # 2 layers
    "hybrid conv": Fit((5.8, 14.5, 0), 0.00, 0.01),  # 4 layers
    "layer normalization": Fit((20.3, 7.2), 0.01, 0.04),  # 5 layers
    "matmul float32": Fit((7.6, 13.9), 0.00, 0.03),  # 3 layers
    "matmul quantized": Fit((8.1, 23.6), 0.00, 0.01),  # 2 layers
    "maximum float32": Fit((9.3, 0), 0.06, 0.59),  # 16 layers
    "maximum float32 padded": Fit((10.8, 31.2), 0.05, 0.06),  # 4 layers
    "maximum quantized": Fit((4.6, 0), 0.11, 0.69),  # 14 layers
    "maximum quantized padded": Fit((19.6, 10.7), 0.11, 0.24),  # 4 layers
    "memcpy": Fit((0.6, 19.1), 0.11, 0.34),  # 16 layers
    "pad": Fit((9.7,), 0.37, 0.47),  # 9 layers
    "pointwise float32": Fit((6.1, 10.9), 0.02, 0.31),  # 27 layers
    "pointwise quantized": Fit((6.3, 16.4), 0.15, 0.39),  # 113 layers
    "pointwise tflite": Fit((5.4, 30.8), 0.07, 0.17),  # 86 layers
    "quantize": Fit((18,), 0.20, 0.96),  # 34 layers
    "quantize tflite": Fit((36,), 0.00, 0.01),  # 1 layers
    "reorder": Fit((4.7,), 0.14, 0.36),  # 95 layers
    "resize": Fit((8.9,), 0.07, 0.22),  # 6 layers
    "slice": Fit((5.2,), 0.18, 0.36),  # 6 layers
    "softmax float32": Fit((79.5,), 0.11, 0.44),  # 11 layers
    "softmax quantized": Fit((37.2,), 0.07, 0.20),  # 14 layers
    "softmax tflite": Fit((55.6,), 0.09, 0.47),  # 8 layers
    "sum float32": Fit((4.1, 18), 0.05, 0.32),  # 11 layers
    "sum quantized": Fit((8, 24.1), 0.01, 0.03),  # 8 layers
    "sum tflite": Fit((5.3, 0), 0.01, 0.01),  # 1 layers
    "table": Fit((5.1,), 0.00, 0.02),  # 3 layers
}

VIEW = Work("view", ())

# For each element that a kernel without a measured family writes: as much as a move and a little
# arithmetic on it.
OTHER = 10


def estimate(layer: Layer) -> Costs:
    """The costs of a layer. flash: the bytes of the constants that it reads, without code."""
    work = work_of(layer)
    if work == VIEW:
        instructions = 0.0
    elif work.family in FITS:
        coefficients = FITS[work.family].coefficients
        instructions = sum(n * c for n, c in zip(work.counts, coefficients, strict=True))
    else:
        instructions = OTHER * _elements(layer)
    constants = (o.type.bytes for o in layer.inputs if o is not None and o.constant is not None)
    return Costs(layer.macs, round(instructions), flash=sum(constants))


def work_of(layer: Layer) -> Work:
    """What the kernel of a layer does."""
    rule = RULES.get((layer.node.domain, layer.op))
    if not _elements(layer):
        return VIEW
    return Work("other", ()) if rule is None else rule(layer)


def _elements(layer: Layer) -> int:
    return sum(o.type.elements for o in layer.outputs)


def _kind(layer: Layer) -> str:
    """TFLite's requantization costs other than ONNX's."""
    if not layer.output.type.is_quantized:
        return "float32"
    return layer.domain or "quantized"


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
    kind = _kind(layer)
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
    """Coefficients: for each multiplication, each run over channels, each element of the input."""
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    geometry = conv_window(x, w, y, layer.attributes)
    filters, depth = w.shape[:2]
    runs = filters * taps(geometry, len(geometry.kernel))
    return Work("hybrid conv", (runs * depth, runs, x.elements))


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


def _gemm(layer: Layer) -> Work:
    """Coefficients: for each multiplication, each output."""
    y = layer.output.type
    name = "matmul" if layer.input(1).constant is None else "gemm"
    depth = layer.input(0).type.shape[-1]
    return Work(f"{name} {_kind(layer)}", (y.elements * depth, y.elements))


def _pool(layer: Layer) -> Work:
    """Coefficients: for each tap inside of the input, each kernel row."""
    x, y = layer.input(0).type, layer.output.type
    geometry = pool_window(layer.call)
    inside = x.shape[0] * x.shape[1] * taps(geometry, len(geometry.kernel))
    rows = y.elements * math.prod(geometry.kernel[:-1])
    name, kind = "maximum" if "Max" in layer.op else "average", _kind(layer)
    if name == "maximum" or geometry.padded:
        kind = kind.replace("tflite", "quantized")  # as above
    return Work(f"{name} {kind}{' padded' if geometry.padded else ''}", (inside, rows))


def _binary(layer: Layer) -> Work:
    """Coefficients: for each element, each float that an activation clamps."""
    elements = _elements(layer)
    if layer.output.type.is_quantized:
        kind = _kind(layer)
        return Work(f"{layer.op} {kind}" if layer.domain else f"arithmetic {kind}", (elements,))
    return Work("arithmetic float32", (elements, elements * ("activation" in layer.attributes)))


def _unary(layer: Layer) -> Work:
    """Coefficient: for each element. A function of quantized elements is a table."""
    x, y = layer.input(0), layer.output
    if layer.op == "Identity" and x.type.quantization == y.type.quantization:
        return VIEW if x.constant is None else Work("memcpy", (y.type.bytes, 1))
    return Work("table" if y.type.is_quantized else layer.op, (_elements(layer),))


def _view(layer: Layer) -> Work:
    """The output is the input's memory."""
    return VIEW


def _concat(layer: Layer) -> Work:
    """Coefficients: for each byte, each block that is copied."""
    y = layer.output.type
    axis = int(layer.attributes["axis"]) % y.rank
    blocks = len(layer.inputs) * math.prod(y.shape[:axis])
    return Work("memcpy", (y.bytes, blocks))


def _softmax(layer: Layer) -> Work:
    """Coefficient: for each element."""
    return Work(f"softmax {_kind(layer)}", (_elements(layer),))


def _layer_normalization(layer: Layer) -> Work:
    """Coefficients: for each element, each row."""
    shape = layer.input(0).type.shape
    rows = math.prod(shape[: normalized_axis(layer.call)])
    return Work("layer normalization", (math.prod(shape), rows))


def _recurrent(layer: Layer) -> Work:
    """Coefficients: for each multiplication, each hidden unit at each step."""
    x, recurrent = layer.input(X).type, layer.input(R).type
    units = x.shape[0] * x.shape[1] * recurrent.shape[0] * recurrent.shape[2]
    return Work(layer.op, (layer.macs, units))


def _quantized_lstm(layer: Layer) -> Work:
    """Coefficients: for each multiplication, each hidden unit at each step."""
    return Work("LSTM quantized", (layer.macs, _elements(layer)))


def _reduce(layer: Layer) -> Work:
    """Coefficients: for each element of the input, each output."""
    name = "sum" if layer.op in ("ReduceMean", "ReduceSum") else "extremum"
    return Work(f"{name} {_kind(layer)}", (layer.input(0).type.elements, _elements(layer)))


def _per_element(family: str) -> Callable[[Layer], Work]:
    return lambda layer: Work(family, (_elements(layer),))


RULES: Mapping[tuple[str, str], Callable[[Layer], Work]] = {
    ("", "Conv"): _conv,
    ("", "ConvTranspose"): _conv_transpose,
    ("", "Gemm"): _gemm,
    ("", "MatMul"): _gemm,
    **{("", op): _pool for op in ("AveragePool", "GlobalAveragePool", "MaxPool", "GlobalMaxPool")},
    **{("", op): _binary for op in ("Add", "Sub", "Mul", "Div")},
    **{("", op): _unary for op in (*UNARY, "Clip", "Identity")},
    **{("", op): _view for op in ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose")},
    ("", "Concat"): _concat,
    ("", "Softmax"): _softmax,
    ("", "LayerNormalization"): _layer_normalization,
    **{("", op): _recurrent for op in GATES},
    ("tflite", "LSTM"): _recurrent,
    ("tflite", "Conv"): _conv,
    ("tflite", "HybridConv"): _hybrid,
    ("tflite", "FullyConnected"): _gemm,
    **{("tflite", op): _pool for op in ("AveragePool", "MaxPool")},
    **{("tflite", op): _binary for op in ("Add", "Sub", "Mul")},
    **{("tflite", op): _reduce for op in ("ReduceMean", "ReduceSum")},
    ("tflite", "Softmax"): _softmax,
    ("tflite", "Quantize"): _per_element("quantize tflite"),
    ("tflite", "Requantize"): _per_element("quantize tflite"),
    **{
        ("tflite", op): _per_element("table")
        for op in ("Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSwish")
    },
    ("tflite", "UnidirectionalSequenceLstm"): _quantized_lstm,
    **{("", op): _reduce for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin")},
    ("", "QuantizeLinear"): _per_element("quantize"),
    ("", "DequantizeLinear"): _per_element("dequantize"),
    ("", "BatchNormalization"): _per_element("batch normalization"),
    ("", "Pad"): _per_element("pad"),
    ("", "Slice"): _per_element("slice"),
    ("", "Split"): _per_element("slice"),
    ("", "Gather"): _per_element("gather"),
    ("", "Resize"): _per_element("resize"),
    ("mcu", "Reorder"): _per_element("reorder"),
}
