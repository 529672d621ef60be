"""What CpuRef's kernels cost: modelled cycles on a Cortex-M4F, a pair of numbers for each family.

A kernel is taken to need so many cycles for each multiply-accumulate and so many for each element
(that it writes; of a pool, each that lies under its window; of a reduction, each that it reads).
That is enough for a backend that others are to beat; on other cores it gives the order of layers.

The numbers are fitted to 3,689 different layers, of the model pack and of networks made for the
operators that it lacks. The instructions of a layer were counted in QEMU (gcc 12, -O2), and
multiplied by the cycles for an instruction of its C function: from the function's histogram of
addresses and Arm's timings (Cortex-M4 manual 100166, table 3-1), without wait states, a branch
being taken as often as the instruction behind it was not executed. Nothing was measured on a chip.

Of the pack's 815 layers half are off by less than 12 %, nine of ten by less than 34 %. The sum
over a model is off by 6 % in the median of 57 models, and by 42 % at worst. Of all layers half are
off by less than 22 %: rare operators on 64-bit and plain integers can be off several times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import exponential_table
from mcu_deploy.backends.interface import Costs, Layer
from mcu_deploy.operators import label
from mcu_deploy.operators.normalization import softmax_extent
from mcu_deploy.operators.pool import pool_window
from mcu_deploy.operators.tflite_softmax import terms


class _Cycles(NamedTuple):
    """For each multiply-accumulate and each element: of quantized tensors, and of float32 or
    integers that a register holds."""

    quantized: tuple[float, float]
    plain: tuple[float, float]


def _elements(operators: str, quantized: float, plain: float) -> dict[str, _Cycles]:
    return dict.fromkeys(operators.split(), _Cycles((0, quantized), (0, plain)))


_OTHER = _Cycles((0, 10), (0, 12))  # a table, or a few instructions
_GROUPED = _Cycles((11, 60), (11, 80))  # few multiply-accumulates for each element
_GEMM = _Cycles((8.1, 30), (10.1, 11))
_RECURRENT = _Cycles((10.6, 0), (13.2, 175))
_CYCLES: Mapping[str, _Cycles] = {
    **dict.fromkeys(("Conv", "HybridConv"), _Cycles((9.5, 22), (11, 8))),
    "ConvTranspose": _Cycles((11.4, 79), (11.4, 79)),
    **dict.fromkeys(("Gemm", "MatMul", "FullyConnected"), _GEMM),
    **dict.fromkeys(("LSTM", "GRU", "RNN", "UnidirectionalSequenceLstm"), _RECURRENT),
    **_elements("Reshape Flatten Squeeze Unsqueeze Transpose Identity BitCast", 0, 0),
    **_elements("Concat Split Slice Gather Expand Tile", 2, 5),
    **_elements("Reorder", 8, 8),
    **_elements("Pad", 20, 12),
    **_elements("Add Sub Mul Div Max Min Sum Mean", 48, 12),
    **_elements("QuantizeLinear Quantize Requantize", 30, 30),
    **_elements("MaxPool GlobalMaxPool", 5, 14),
    **_elements("AveragePool GlobalAveragePool", 13, 10),
    **_elements("LayerNormalization", 34, 34),
    **_elements("Softmax LogSoftmax", 67, 205),
    **_elements("Ceil Floor Round Elu Celu Selu", 10, 70),
    **_elements(
        "Acos Acosh Asin Asinh Atan Atanh Cos Cosh Erf Exp Gelu Log Mish Pow ReduceLogSumExp "
        "Sigmoid Sin Sinh Softplus Swish Tan Tanh", 10, 180,
    ),
}  # fmt: skip

# Bytes of a function for a Cortex-M4, as gcc makes it for the quantized models of MLPerf Tiny; the
# middle of what it is for different shapes.
_CODE = {"Conv": 320, "tflite::Softmax": 400, "Softmax": 200}
_FUNCTION = 160

# Of what no register holds, and the C library computes in part.
_WIDE = {"int64": 1.5, "uint64": 1.5, "float64": 10}


def estimate(layer: Layer) -> Costs:
    """The costs of a layer. flash: the bytes of the constants that it reads, of the factors that
    are made of its weights' scales, and of the table of a Softmax."""
    family = _CYCLES.get(layer.op, _OTHER)
    if layer.op == "Conv" and layer.attributes.get("group", 1) > 1:
        family = _GROUPED
    per_mac, per_element = family.quantized if layer.output.type.is_quantized else family.plain
    wide = max(_WIDE.get(o.type.dtype.value, 1) for o in (layer.input(0), *layer.outputs))
    cycles = wide * (per_mac * layer.macs + per_element * _count(layer))
    constants = [o.type for o in layer.inputs if o is not None and o.constant is not None]
    scales = (4 * t.quantization.scales.size for t in constants[:1] if t.quantization is not None)
    name = label(layer.domain, layer.op)
    code = next((size for op, size in _CODE.items() if name.endswith(op)), _FUNCTION)
    return Costs(
        layer.macs,
        cycles=round(cycles),
        flash=sum(t.bytes for t in constants) + sum(scales) + _table(layer),
        code=code if cycles else 0,
    )


def _count(layer: Layer) -> int:
    """The elements that are counted."""
    written = sum(o.type.elements for o in layer.outputs)
    if layer.op.endswith("Pool"):
        return written * math.prod(pool_window(layer.call).kernel)
    if layer.op.startswith(("Reduce", "Arg")):
        return layer.input(0).type.elements
    return written


def _table(layer: Layer) -> int:
    """The bytes of the table of exp that a Softmax has."""
    x = layer.input(0).type
    if layer.op != "Softmax" or not x.is_quantized:
        return 0
    if layer.domain:
        return 4 * terms(layer.call).size
    table, _ = exponential_table(x.scaling.scale[0], softmax_extent(layer.call)[1])
    return 4 * np.trim_zeros(table, "b").size
