"""Many elements to one, or to where one of them lies; sums and products that run along an axis."""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.backends.CpuRef.costs.work import (
    Fit,
    Rule,
    Work,
    elements,
    is_unsigned,
    number_kind,
    per_element_of,
    quantized_kind,
)
from mcu_deploy.backends.CpuRef.kernels.folds import OWN, is_fold
from mcu_deploy.backends.interface import Layer

# Of two shapes, over the middle axis, the last, two and all, of every type; numbers from -100 to
# 100, on which float64 and logarithms depend.
FITS: Mapping[str, Fit] = {
    "ReduceL1 float64": Fit((64.5, 0), 0.01, 0.04),  # 8 layers
    "ReduceL1 int": Fit((8.2, 7.6), 0.16, 0.18),  # 21 layers
    "ReduceL1 int64": Fit((9.9, 6.6), 0.03, 0.10),  # 8 layers
    "ReduceL2 float32": Fit((5.6, 7.9), 0.11, 0.22),  # 8 layers
    "ReduceL2 float64": Fit((118.9, 834.3), 0.00, 0.01),  # 8 layers
    "ReduceLogSum float32": Fit((4.4, 94.3), 0.02, 0.03),  # 4 layers
    "ReduceLogSum float64": Fit((61.3, 2127), 0.00, 0.01),  # 4 layers
    "ReduceLogSumExp float32": Fit((67.1, 91.5), 0.02, 0.04),  # 8 layers
    "ReduceLogSumExp float64": Fit((2186.7, 0), 0.02, 0.06),  # 8 layers
    "ReduceMean float64": Fit((71.4, 527), 0.02, 0.04),  # 8 layers
    "ReduceProd float64": Fit((51, 6.5), 0.03, 0.16),  # 8 layers
    "ReduceSum float64": Fit((67.7, 0), 0.01, 0.05),  # 8 layers
    "ReduceSumSquare float64": Fit((118.5, 0), 0.00, 0.01),  # 8 layers
    "accumulate float32": Fit((6.6,), 0.19, 0.24),  # 11 layers
    "accumulate float64": Fit((61.2,), 0.12, 0.19),  # 12 layers
    "accumulate int": Fit((6.3,), 0.12, 0.20),  # 30 layers
    "accumulate int64": Fit((11,), 0.06, 0.29),  # 14 layers
    "extremum float32": Fit((7.2, 17.4), 0.03, 0.08),  # 6 layers
    "extremum float64": Fit((59, 49.6), 0.05, 0.10),  # 16 layers
    "extremum int": Fit((6.2, 8), 0.04, 0.12),  # 26 layers
    "extremum int64": Fit((9.1, 10.8), 0.01, 0.18),  # 12 layers
    "extremum quantized": Fit((6, 9.3), 0.00, 0.03),  # 4 layers
    "fold float32": Fit((5, 8), 0.16, 0.29),  # 21 layers
    "fold int": Fit((4.2, 10.3), 0.09, 0.21),  # 69 layers
    "fold int64": Fit((6.4, 19.8), 0.11, 0.25),  # 27 layers
    "product int64": Fit((9, 15.1), 0.06, 0.27),  # 19 layers
    "search float32": Fit((11.5, 0.2), 0.04, 0.07),  # 8 layers
    "search float64": Fit((76, 0), 0.08, 0.18),  # 8 layers
    "search int": Fit((9, 2.9), 0.01, 0.09),  # 28 layers
    "search int64": Fit((8.3, 8.8), 0.03, 0.06),  # 14 layers
    "sum float32": Fit((4.1, 18), 0.05, 0.32),  # 11 layers
    "sum quantized": Fit((8, 24.1), 0.01, 0.03),  # 8 layers
    "sum tflite": Fit((5.3, 0), 0.01, 0.01),  # 1 layer
}

_EXTREMES = ("ReduceMax", "ReduceMin")
# Those of float32 that take one instruction of the FPU for each element, and none at the end.
_SIMPLE = ("ReduceProd", "ReduceL1", "ReduceSumSquare")


def _reduce(layer: Layer) -> Work:
    """Coefficients: for each element of the input, each output."""
    counts = (layer.input(0).type.elements, elements(layer))
    if is_fold(layer):
        return Work(_fold(layer), counts)
    name = "extremum" if layer.op in _EXTREMES else "sum"
    return Work(f"{name} {quantized_kind(layer)}", counts)


def _fold(layer: Layer) -> str:
    """The family of a reduction in the element type."""
    dtype, kind = layer.input(0).type.dtype, number_kind(layer.input(0).type)
    if layer.op in _EXTREMES:
        return f"extremum {kind}"
    if dtype.is_float:
        simple = kind == "float32" and layer.op in _SIMPLE
        return f"fold {kind}" if simple else f"{layer.op} {kind}"
    if layer.op == "ReduceL1" and not is_unsigned(dtype):
        return f"ReduceL1 {kind}"
    product = kind == "int64" and layer.op in ("ReduceProd", "ReduceSumSquare")
    return f"{'product' if product else 'fold'} {kind}"


def _search(layer: Layer) -> Work:
    """Coefficients: for each element of the input, each output."""
    x = layer.input(0).type
    return Work(f"search {number_kind(x)}", (x.elements, elements(layer)))


RULES: Mapping[tuple[str, str], Rule] = {
    **{("", op): _reduce for op in ("ReduceMean", "ReduceSum", *_EXTREMES, *OWN)},
    **{("tflite", op): _reduce for op in ("ReduceMean", "ReduceSum")},
    **{("", op): _search for op in ("ArgMax", "ArgMin")},
    **{("", op): per_element_of("accumulate") for op in ("CumSum", "CumProd")},
}
