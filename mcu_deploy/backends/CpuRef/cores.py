"""What CpuRef's kernels take on other cores than the Cortex-M4F that `cycles` has its numbers for.

A kernel's work is of a few kinds, and each core has one factor for each. They are medians of counts
over prices: the layers of tests/cpu_ref_cases.py and those of int8 networks, counted in QEMU on
mps2-an385 (M3), mps2-an500 (M7), mps2-an505 (M33), mps3-an547 (M55) and, on a machine of the M3, as
nucleo_g0b1re (M0+), without what they wait for memory; of convolutions the factors that come
nearest to all counts at once. Nothing was measured on a chip.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mcu_deploy.backends.CpuRef.kernels.variadic import picks
from mcu_deploy.backends.interface import Layer, Target
from mcu_deploy.ir import DType
from mcu_deploy.operators import interpolation
from mcu_deploy.operators.recurrent import GATES
from mcu_deploy.operators.tflite_resize import integer_places


class Factors(NamedTuple):
    """Factors on the cycles of a Cortex-M4F, by what a kernel does, and cycles that are added.

    moved: elements as they are; steps: of tables and integers; windows: of loops over windows and
    what is around them; macs: of bytes; products: multiply-accumulates of floats; widened: of
    floats and bytes that become such, and sums of these; real: other floats, and bytes that become
    floats and bytes again; scaled: bytes that become floats, or floats bytes; compared: floats;
    whole: floats that are rounded to integers; library: functions of the C library; powers: of e,
    which the kit has (c/exponential.c); wide: TFLite's products of 64 bits. rounded, shifted:
    cycles more of an output of `macs` that a float rounds,
    or TFLite's arithmetic.
    """

    moved: float = 1
    steps: float = 1
    windows: float = 1
    macs: float = 1
    products: float = 1
    widened: float = 1
    real: float = 1
    scaled: float = 1
    compared: float = 1
    whole: float = 1
    library: float = 1
    powers: float = 1
    wide: float = 1
    rounded: float = 0
    shifted: float = 0


_M4F = Factors()
_CORES: Mapping[str, Factors] = {
    "cortex-m7": Factors(
        moved=0.45, steps=0.6, windows=0.73, macs=0.62, products=0.63, widened=0.87,
        real=0.63, scaled=0.58, compared=0.62, whole=0.1, library=0.54, powers=1.05,
        wide=0.73, rounded=12.6, shifted=4,
    ),
    "cortex-m33": Factors(
        moved=0.76, steps=0.87, windows=0.82, macs=0.75, products=0.79, widened=0.83,
        real=0.78, scaled=0.7, compared=0.75, whole=0.17, library=0.69, powers=0.88,
        wide=0.99, rounded=6, shifted=6.4,
    ),
    "cortex-m55": Factors(
        moved=0.7, steps=0.57, windows=0.85, macs=0.51, products=0.58, widened=1.15,
        real=1.3, scaled=1.15, compared=1.4, whole=0.23, library=0.7, powers=1.65,
        wide=1.04, rounded=26.7, shifted=30,
    ),
}  # fmt: skip
# Without an FPU the C library computes floats.
_M0_PLUS = Factors(
    moved=1.17, steps=1.3, windows=1.3, macs=1.23, products=23.5, widened=25.5,
    real=23.5, scaled=16.6, compared=7.5, whole=4.8, library=22.4, powers=49,
    wide=4.2, rounded=364, shifted=87,
)  # fmt: skip
_M3 = Factors(
    moved=1.05, steps=1, windows=1.06, macs=1.11, products=10.5, widened=11.4,
    real=11, scaled=7, compared=7, whole=3.55, library=10, powers=22,
    wide=1.2, rounded=249, shifted=9.3,
)  # fmt: skip
_WITHOUT_FPU: Mapping[str, Factors] = {"cortex-m0": _M0_PLUS, "cortex-m0plus": _M0_PLUS}


def core_of(target: Target) -> Factors:
    """The factors of a target: without an FPU those of the Cortex-M3 where nobody counted, else
    those of the Cortex-M4F."""
    return _CORES.get(target.core, _M4F) if target.fpu else _WITHOUT_FPU.get(target.core, _M3)


# By operator, where the types do not say it. The first ones, and TFLite's LSTM of integers, are
# priced for the core.
_WINDOWS = (
    "Conv", "HybridConv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalMaxPool",
    "GlobalAveragePool", "Gemm", "MatMul", "FullyConnected",
)  # fmt: skip
_MOVED = (
    "Slice", "Split", "Tile", "Reorder", "Expand", "Identity", "Concat", "Pad", "Gather",
    "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND", "Where", "Trilu",
    "Abs", "Neg", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "BitCast", "Resize",
)  # fmt: skip
_WHOLE = ("Floor", "Ceil", "Round")
_SCALED = ("QuantizeLinear", "DequantizeLinear", "Quantize", "Softmax")
_WIDE = (
    "Add", "Sub", "Mul", "Div", "Requantize", "Softmax", "Softmax16", "LogSoftmax",
)  # fmt: skip
_COMPARED = (
    "Relu", "LeakyRelu", "ThresholdedRelu", "Clip", "Shrink", "PRelu", "Max", "Min", "Sign",
    "ArgMax", "ArgMin", "ReduceMax", "ReduceMin", "Equal", "Less", "LessOrEqual", "Greater",
    "GreaterOrEqual",
)  # fmt: skip
_LIBRARY = (
    "Erf", "Log", "Elu", "Celu", "Selu", "Mish", "Gelu", "Pow", "Sin", "Cos", "Tan", "Asin", "Acos",
    "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Sqrt", "Softsign",
)  # fmt: skip
_POWERS = ("Sigmoid", "Tanh", "Exp", "Swish", "Softplus", "Softmax", "LogSoftmax")


def factor(layer: Layer, is_table: bool) -> float:
    """Of the cycles of a layer on a Cortex-M4F. is_table: bytes that are looked up."""
    core, op, y = core_of(layer.target), layer.op, layer.output.type
    x = layer.input(0).type if layer.inputs else y
    is_real = DType.FLOAT32 in (x.dtype, y.dtype)
    if op in _WINDOWS or (op == "UnidirectionalSequenceLstm" and y.is_quantized):
        return 1.0
    if op in _MOVED:
        if op != "Resize" or layer.domain != "mcu":
            return core.moved
        is_of_integers = y.is_quantized and interpolation.in_integers(layer.call) is not None
        return core.steps if is_of_integers else core.real
    if op == "ResizeBilinear":
        return core.real if integer_places(layer.call) is None else core.steps
    if op in GATES:
        return core.widened if layer.domain == "mcu" else core.products
    if op in _WHOLE:
        return core.whole
    if layer.domain == "tflite" and (op in _WIDE or op.startswith("Reduce")):
        return core.wide if op in _WIDE else core.steps
    if y.is_quantized and op in ("ReduceMean", "ReduceSum"):
        return core.widened
    is_scaled = y.is_quantized and not op.startswith("Reduce") and not picks(layer)
    if op in _COMPARED and (is_real or not is_scaled):
        return core.compared if is_real else core.steps
    if is_table or not (is_real or y.is_quantized):
        return core.steps
    if op in _LIBRARY and is_real:
        return core.library
    if op in _POWERS and is_real and not y.is_quantized:
        return core.powers
    return core.scaled if op in _SCALED else core.real
