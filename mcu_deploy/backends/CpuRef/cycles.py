"""Modelled cycles of CpuRef's kernels on a Cortex-M4F, one formula a family.

The numbers are fitted to 3,069 layers, 514 of 46 models of the pack and the others of networks made
for families and sizes that it lacks. Their instructions were counted in QEMU (gcc 12, -O2) and
multiplied by the cycles of `isa`'s table; `cores` makes them those of other cores, `waits` adds
those for a flash that answers late, and nothing was measured on a chip.
tests/device/test_cpu_ref_prices.py counts layers of each family again: a price is within 15 % of
the count.

Functions of the C library take what a normally distributed argument takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from mcu_deploy.arithmetic import activation_bounds
from mcu_deploy.backends.CpuRef import resize_cycles, signal_cycles, window_cycles
from mcu_deploy.backends.CpuRef.cores import core_of, factor
from mcu_deploy.backends.CpuRef.kernels import resizing
from mcu_deploy.backends.CpuRef.kernels.padding import lines_of
from mcu_deploy.backends.CpuRef.kernels.variadic import picks
from mcu_deploy.backends.interface import Layer
from mcu_deploy.backends.kit.strides import collapse, memory_strides
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.recurrent import GATES
from mcu_deploy.operators.reduction import reduced_axes
from mcu_deploy.operators.trees import Forest, NoForest

# Before a kernel's first element and behind its last.
_CALL = 20
# A byte that memcpy moves, and one where it cannot move words.
_COPIED, _COPIED_ALONE = 0.8, 6
_FARTHEST = 255  # bytes that a load moves its pointer by itself; more are an addition


def cycles(layer: Layer) -> float:
    """What one run takes where all memory answers at once; 0 for a view, or no elements."""
    if not any(operand.type.elements for operand in layer.outputs):
        return 0
    formula = _FORMULAS.get(layer.op, _elementwise)
    found = formula(layer)
    if not found:
        return 0
    is_table = formula is _elementwise and found <= _TABLE * layer.output.type.elements
    return found * factor(layer, is_table) + _CALL * core_of(layer.target).moved


# Of an element that is written, of float32; where there is a second number, of 8 bits.
_ELEMENT: Mapping[str, float | tuple[float, float]] = {
    **dict.fromkeys(("Abs", "Neg"), 9),
    **dict.fromkeys(("Relu", "LeakyRelu", "ThresholdedRelu"), 12),
    **dict.fromkeys(("Sqrt", "Reciprocal"), 22),
    **dict.fromkeys(("HardSigmoid", "HardSwish"), 17),
    "Sign": 12.5, "Clip": 14.2, "Shrink": 14.7, "PRelu": 14, "Softsign": 24, "Floor": 40,
    "Ceil": 39, "Round": 54, "Sigmoid": 59, "Tanh": 56, "Erf": 175, "Exp": 42, "Log": 106,
    "Softplus": 156, "Elu": 70, "Celu": 70, "Selu": 72, "Mish": 262, "Gelu": 205, "Swish": 66,
    "Pow": 284, "Sin": 113, "Cos": 117, "Tan": 183, "Asin": 145, "Acos": 129, "Atan": 134,
    "Sinh": 225, "Cosh": 195, "Asinh": 228, "Acosh": 95, "Atanh": 162,
    **dict.fromkeys(("Add", "Sub", "Mul"), (11, 51)),
    "Div": (24, 64), "Max": (15, 54), "Min": (15, 54), "Sum": (11, 54), "Mean": (12, 60),
    "QuantizeLinear": (41, 41), "DequantizeLinear": (12, 12), "Quantize": (53, 53),
    "Requantize": (21, 21), "Where": (15, 12), "BatchNormalization": (17.8, 60),
    "Resize": (11.7, 11.7), "Trilu": (12.3, 12.3), "Mod": (60, 23),
}  # fmt: skip
_TABLE = 8
_OTHER = 10
# What TFLite's arithmetic takes, where that is not a table.
_TFLITE = {"Add": 46, "Sub": 46, "SquaredDifference": 49, "Mul": 30, "Div": 378}
# Of integers that stand for themselves, what 64 bits of them take more, and a simple operation of
# float64, which the C library computes.
_INTEGER = {"Div": 19, "Mod": 23, "Sign": 12, "Max": 11, "Min": 11, "Where": 15, "Clip": 12}
_WIDE, _DOUBLE = 5, 70
# An element that is compared.
_COMPARED = {DType.FLOAT32: 14.0, DType.INT64: 16.0, DType.UINT64: 16.0, DType.FLOAT64: 40.0}
_COMPARISONS = ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
# A bound of a fused activation; what an operand of one element saves; a division by a power of two,
# which is a multiplication; and integers from the zero point on, which are compared with nothing.
_BOUND, _ONE_NUMBER, _NO_DIVISION, _NO_BOUND = 4, 2, 13, 7


def _elementwise(layer: Layer) -> float:
    y = layer.output.type
    x = layer.input(0).type if layer.inputs else y
    if layer.op in _COMPARISONS:
        return y.elements * (_COMPARED.get(x.dtype, 12) - _saved(layer))
    return y.elements * _element(layer, y)


def _element(layer: Layer, y: TensorType) -> float:
    """Of an element of the output."""
    if layer.domain == "tflite" and layer.op in _TFLITE:
        return _TFLITE[layer.op]
    each = _ELEMENT.get(layer.op, _OTHER)
    real, narrow = each if isinstance(each, tuple) else (each, _TABLE)
    more = max(0, len(layer.inputs) - 2) if layer.op in ("Max", "Min", "Sum", "Mean") else 0
    if layer.op == "DequantizeLinear" or (layer.op == "Resize" and y.dtype.bytes < 8):
        return narrow
    if y.is_quantized and not picks(layer):
        is_computed = narrow > _NO_DIVISION + _NO_BOUND  # what moves bytes has neither of these
        return narrow + 14 * more - (_easier(layer, y) if is_computed else 0)
    if y.dtype is DType.FLOAT32:
        bounds = sum(map(math.isfinite, layer.call.activation))
        return real + 5 * more + _BOUND * bounds - _saved(layer)
    if y.dtype is DType.FLOAT64:
        return _DOUBLE
    return _INTEGER.get(layer.op, 9) + (_WIDE if y.dtype.bytes == 8 else 0) + 4 * more


def _easier(layer: Layer, y: TensorType) -> float:
    """What an element less takes where its scale and its lowest value are convenient."""
    low, _ = activation_bounds(layer.call.activation, y)
    is_power = layer.domain == "" and math.frexp(y.scaling.scale[0])[0] == 0.5
    return _NO_DIVISION * is_power + _NO_BOUND * (low == y.scaling.zero_point[0])


def _saved(layer: Layer) -> float:
    """What is saved where an operand is one number, which is loaded once."""
    given = [o.type.elements for o in layer.inputs if o is not None]
    return _ONE_NUMBER if len(given) == 2 and min(given) == 1 < max(given) else 0


def _identity(layer: Layer) -> float:
    """A view, a copy of a constant, or a table where the scales differ."""
    x, y = layer.input(0), layer.output.type
    if x.type.quantization != y.quantization:
        return _TABLE * y.elements
    return 0 if x.constant is None else _COPIED * y.bytes


def _view(layer: Layer) -> float:
    """Nothing; a copy where the shape is checked when the network runs."""
    shape = layer.optional(1)
    is_checked = layer.op != "Transpose" and shape is not None and shape.constant is None
    return _COPIED * layer.output.type.bytes if is_checked else 0


def _row(type_: TensorType) -> int:
    """The elements that the innermost loop over a tensor writes."""
    return next((size for size in reversed(type_.physical_shape) if size > 1), 1)


def _strided(layer: Layer) -> float:
    """A nest of loops that copies elements; rows of two or three are written out."""
    total = 0.0
    for y in (operand.type for operand in layer.outputs):
        row, step = _reordered_row(layer) if layer.op == "Reorder" else (_row(y), 1)
        each = 3 + 5 / row if 1 < row <= (3 if y.dtype.bytes == 1 else 2) else 7.1 + 7 / row
        is_far = step * y.dtype.bytes > _FARTHEST
        total += y.elements * (each + 3 * (y.dtype.bytes == 8) + is_far)
    return total


def _reordered_row(layer: Layer) -> tuple[int, int]:
    """Of the innermost loop of a copy into another order: its elements, and their step in x."""
    x, y = layer.input(0).type, layer.output.type
    strides = memory_strides(x)
    loops = collapse([y.shape[a] for a in y.order], [[strides[a] for a in y.order]])
    return (loops.extents[-1], loops.steps[0][-1]) if loops.extents else (1, 1)


def _expanded(layer: Layer) -> float:
    y = layer.output.type
    if layer.input(0).type.elements > 1:
        return _strided(layer)
    return y.elements * min(7.3, 6 + 5.5 / _row(y))


def _padded(layer: Layer) -> float:
    """Lines by memcpy and memset, of which short ones are written out; or element by element."""
    found = lines_of(layer)
    if found is None:
        return layer.output.type.elements * 11.5
    is_of_words = not (found.copied % 4 or found.before % 4)
    if found.bytes <= 32:
        of_line = 8 + 0.48 * found.bytes if is_of_words else 14 + 0.6 * found.bytes
        return of_line * found.count
    each = 15 if found.bytes <= 64 else 30 if is_of_words else 55
    return _COPIED * layer.output.type.bytes + each * found.count


def _resized(layer: Layer) -> float:
    """To the nearest element: blocks, and lines from those before them; or element by element."""
    if layer.domain == "mcu":
        return resize_cycles.interpolated(layer)
    found = resizing.lines_of(layer)
    if found is None:
        return _elementwise(layer)
    size = layer.output.type.dtype.bytes
    block, line = found.block * size, found.block * found.blocks * size
    each = 12.5 if found.block == 1 else _memcpy(block, 10 if block % 4 == 0 else 15, 0.9)
    copied = found.copied * _memcpy(line, 12, 0.6, _COPIED)
    return (found.count - found.copied) * found.blocks * each + copied


def _memcpy(size: int, call: float, byte: float, long: float = 1.0) -> float:
    """Of so many bytes. call, byte: where the compiler writes it out; long: of a byte where not."""
    if size <= 64:
        return call + byte * size
    return 28 + (_COPIED_ALONE if size % 4 else long) * size


def _concatenated(layer: Layer) -> float:
    """A memcpy for each block of each part; short ones the compiler writes out."""
    y = layer.output.type
    position = y.order.index(int(layer.attributes["axis"]) % y.rank)
    outer = math.prod(y.physical_shape[:position])
    sizes = [o.type.bytes // max(1, outer) for o in layer.inputs if o is not None]
    aligned = outer == 1 or all(size % 4 == 0 for size in sizes)
    each = _COPIED if aligned else _COPIED_ALONE
    return outer * sum(6 + 0.45 * size if size <= 32 else 22 + each * size for size in sizes)


def _gathered(layer: Layer) -> float:
    x, indices, y = layer.input(0).type, layer.input(1), layer.output.type
    block = math.prod(x.shape[layer.call.axis() + 1 :])
    if indices.constant is not None and layer.input(0).constant is None:
        return y.elements * (7.2 + (2.3 if block == 1 else 8 / block))
    if block == 1:
        return y.elements * (19.5 if indices.type.dtype is DType.INT64 else 18.8)
    return y.elements * (16.6 if x.dtype.bytes > 1 else 19.6)


def _gathered_elements(layer: Layer) -> float:
    return layer.output.type.elements * 21


def _scattered(layer: Layer) -> float:
    x, indices, updates = (layer.input(k).type for k in range(3))
    copy = _COPIED * x.bytes
    if layer.op == "ScatterND":
        rows = indices.elements // max(1, indices.shape[-1])
        return copy + 10 * updates.elements + 25 * rows
    return copy + 25 * updates.elements


# From float32, to float32, and between integers.
_FROM_REAL = {
    DType.BOOL: 12, DType.INT64: 248, DType.UINT64: 248, DType.INT32: 19, DType.UINT32: 19
}  # fmt: skip


def _cast(layer: Layer) -> float:
    x, y = layer.input(0).type.dtype, layer.output.type.dtype
    if DType.FLOAT64 in (x, y):
        each: float = 40
    elif x is DType.FLOAT32 and y is not DType.FLOAT32:
        each = _FROM_REAL.get(y, 22)
    elif y is DType.FLOAT32 and x.bytes == 8:
        each = 43.5
    elif y is DType.FLOAT32:
        each = 10
    else:
        each = 9 if y.bytes == 8 else 7
    return each * layer.output.type.elements


def _matrices(layer: Layer) -> float:
    """With a constant matrix, which is packed; or of two that are computed."""
    a, b = layer.input(0), layer.input(1)
    packed = (
        b.constant is not None and b.type.rank == 2 and (a.type.rank > 1 or layer.op != "MatMul")
    )
    if packed and a.constant is None:
        return window_cycles.product(layer, layer.macs)
    return window_cycles.product_of_computed(layer)


_GATES = {"LSTM": 300, "GRU": 200, "RNN": 90, "UnidirectionalSequenceLstm": 544}
# Of weights of 8 bits: a multiply-accumulate, and the scales of a row.
_WIDENED, _SCALED_ROW = 11.95, 32


def _recurrent(layer: Layer) -> float:
    """The products of a step, and the gates of each unit."""
    y = layer.output.type
    units: float = y.elements
    if layer.op != "UnidirectionalSequenceLstm":
        # Of each step, direction and sequence, whichever outputs are asked for.
        directions, _, hidden = layer.input(2).type.shape
        units = math.prod(layer.input(0).type.shape[:2]) * directions * hidden
    if layer.domain == "mcu":
        return _WIDENED * layer.macs + (_GATES[layer.op] + _SCALED_ROW * GATES[layer.op]) * units
    if y.is_quantized:  # half of a unit's work are roundings by products of 64 bits
        core = core_of(layer.target)
        units *= (core.steps + core.wide) / 2
        return 8.5 * core.macs * layer.macs + _GATES[layer.op] * units
    return 10.35 * layer.macs + _GATES[layer.op] * units


def _softmax(layer: Layer) -> float:
    x = layer.input(0).type
    if not x.is_quantized:
        if layer.op == "LogSoftmax":
            return 64 * x.elements + 230 * x.elements / _row(x)
        return 76 * x.elements
    rows = x.elements // max(1, x.shape[-1] if x.rank else 1)
    if layer.op == "LogSoftmax":
        return 51 * x.elements + 2830 * rows  # most of it a logarithm of float64
    return 50 * x.elements + 150 * rows if layer.domain else 66 * x.elements + 20 * rows


def _normalized(layer: Layer) -> float:
    x = layer.input(0).type
    if x.is_quantized:
        return 45.2 * x.elements + 60 * x.elements / _row(x)
    return 32 * x.elements + 54 * x.elements // _row(x)


# Of an element that is read in its order, of one that is not, and of one that is written.
_REDUCED: Mapping[str, tuple[float, float, float]] = {
    "ReduceMean": (7, 8.7, 12), "ReduceSum": (7, 8.7, 10), "ReduceProd": (7, 8.7, 10),
    "ReduceMax": (13, 14.2, 5), "ReduceMin": (13, 14.2, 5), "ReduceLogSum": (7, 8.7, 100),
    "ReduceL1": (8, 9.6, 10), "ReduceSumSquare": (8, 9.6, 10), "ReduceL2": (8, 9.6, 24),
    "ReduceLogSumExp": (160, 162, 100), "ArgMax": (15, 15, 10), "ArgMin": (15, 15, 10),
}  # fmt: skip


def _reduced(layer: Layer) -> float:
    x, y = layer.input(0).type, layer.output.type
    straight, stepped, written = _REDUCED[layer.op]
    if layer.op.startswith("Arg"):
        is_straight = True
        if x.dtype.is_integer:
            straight = 12
    else:
        is_straight = not x.order or x.order[-1] in reduced_axes(layer.call)
    if x.is_quantized and layer.op in ("ReduceMean", "ReduceSum"):
        straight, stepped, written = (6, 7.8, 34) if layer.domain == "tflite" else (10.2, 10.6, 50)
    elif x.dtype.bytes == 1:
        straight, stepped, written = 9, 9.5, 8
    wide = 1.3 if x.dtype.bytes == 8 else 1
    return wide * x.elements * (straight if is_straight else stepped) + written * y.elements


def _cumulated(layer: Layer) -> float:
    y, axis = layer.output.type, layer.optional(1)
    is_last = axis is None or axis.constant is None or axis.constant.item() in (-1, y.rank - 1)
    return y.elements * (9.3 if is_last else 13.2)


_VIEWS = ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "BitCast")
# A tree, a step down it of integers and of float32, and which share of the deepest way is taken.
_TREE, _STEP, _REAL_STEP, _TAKEN = 40, 13, 18, 0.85


def _trees(layer: Layer) -> float:
    try:
        forest = Forest.of(layer.attributes)
    except NoForest:
        return 0
    x = layer.input(0).type
    step = _REAL_STEP if x.dtype.is_float else _STEP
    return x.shape[0] * len(forest.roots) * (_TREE + _TAKEN * step * forest.depth)


_FORMULAS: Mapping[str, Callable[[Layer], float]] = {
    **dict.fromkeys(("Conv", "HybridConv"), window_cycles.convolution),
    "ConvTranspose": window_cycles.transposed,
    **dict.fromkeys(
        ("MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"), window_cycles.pool
    ),
    **dict.fromkeys(("Gemm", "MatMul", "FullyConnected"), _matrices),
    **dict.fromkeys(_GATES, _recurrent),
    **dict.fromkeys(_VIEWS, _view),
    **dict.fromkeys(("Slice", "Split", "Tile", "Reorder"), _strided),
    "Expand": _expanded,
    "Identity": _identity,
    **dict.fromkeys(_REDUCED, _reduced),
    **dict.fromkeys(("Softmax", "Softmax16", "LogSoftmax"), _softmax),
    **dict.fromkeys(("ScatterND", "ScatterElements", "Scatter"), _scattered),
    **dict.fromkeys(("GatherElements", "GatherND"), _gathered_elements),
    **dict.fromkeys(("CumSum", "CumProd"), _cumulated),
    **dict.fromkeys(("Cast", "CastLike"), _cast),
    "LayerNormalization": _normalized,
    "Concat": _concatenated,
    "Gather": _gathered,
    "Pad": _padded,
    "Resize": _resized,
    "ResizeBilinear": resize_cycles.bilinear,
    "TreeEnsemble": _trees,
    **signal_cycles.FORMULAS,
}
