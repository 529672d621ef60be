"""Functions of the C library and of the FPU, softmax, and normalization."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mcu_deploy.backends.CpuRef.costs.arithmetic import exact_work
from mcu_deploy.backends.CpuRef.costs.work import (
    VIEW,
    Fit,
    Rule,
    Work,
    elements,
    per_element,
    quantized_kind,
)
from mcu_deploy.backends.CpuRef.kernels.exact import is_exact
from mcu_deploy.backends.interface import Layer
from mcu_deploy.operators.elementwise import UNARY
from mcu_deploy.operators.layer_normalization import normalized_axis

# The model pack's, and two sizes of each. What a function of the C library costs depends on its
# argument (sine: 44 instructions below pi/4, 94 around it): between -6 and 6, and within -0.95 to
# 0.95; Log and Acosh from 1.1 to 20.
FITS: Mapping[str, Fit] = {
    "Abs": Fit((5.5,), 0.09, 0.10),  # 4 layers
    "Acos": Fit((64.5,), 0.00, 0.01),  # 2 layers
    "Acosh": Fit((105.3,), 0.00, 0.01),  # 2 layers
    "Asin": Fit((71.3,), 0.01, 0.01),  # 2 layers
    "Asinh": Fit((102.1,), 0.03, 0.04),  # 4 layers
    "Atan": Fit((62.3,), 0.06, 0.07),  # 4 layers
    "Atanh": Fit((103.9,), 0.01, 0.01),  # 2 layers
    "Ceil": Fit((27.8,), 0.01, 0.02),  # 2 layers
    "Celu": Fit((129.6,), 0.08, 0.09),  # 4 layers
    "Clip": Fit((11.1,), 0.00, 0.01),  # 2 layers
    "Cos": Fit((61,), 0.28, 0.36),  # 4 layers
    "Cosh": Fit((94.7,), 0.05, 0.06),  # 4 layers
    "Elu": Fit((39.6,), 0.02, 0.02),  # 2 layers
    "Erf": Fit((67.1,), 0.29, 0.37),  # 4 layers
    "Exp": Fit((56.8,), 0.22, 0.27),  # 3 layers
    "Floor": Fit((27.7,), 0.01, 0.02),  # 2 layers
    "Gelu": Fit((70.5,), 0.02, 0.03),  # 2 layers
    "HardSigmoid": Fit((69.9,), 0.00, 0.01),  # 3 layers
    "HardSwish": Fit((70.6,), 0.01, 0.01),  # 5 layers
    "LeakyRelu": Fit((8.5,), 0.06, 0.07),  # 2 layers
    "Log": Fit((80.1,), 0.00, 0.01),  # 2 layers
    "LogSoftmax": Fit((101.2,), 0.03, 0.06),  # 4 layers
    "Mish": Fit((264,), 0.03, 0.04),  # 4 layers
    "Neg": Fit((5.2,), 0.04, 0.15),  # 4 layers
    "PRelu": Fit((9.6,), 0.06, 0.12),  # 4 layers
    "Reciprocal": Fit((5.4,), 0.10, 0.12),  # 2 layers
    "Relu": Fit((8,), 0.01, 0.02),  # 4 layers
    "Relu float64": Fit((51,), 0.00, 0.01),  # 2 layers
    "Round": Fit((38.2,), 0.02, 0.03),  # 4 layers
    "Selu": Fit((38.6,), 0.11, 0.15),  # 4 layers
    "Shrink": Fit((10,), 0.03, 0.05),  # 4 layers
    "Sigmoid": Fit((66.3,), 0.12, 0.16),  # 6 layers
    "Sign": Fit((8.5,), 0.00, 0.01),  # 2 layers
    "Sign float64": Fit((83.9,), 0.01, 0.01),  # 2 layers
    "Sin": Fit((53.6,), 0.32, 0.44),  # 4 layers
    "Sinh": Fit((113.2,), 0.08, 0.09),  # 4 layers
    "Softplus": Fit((138.2,), 0.00, 0.01),  # 2 layers
    "Softsign": Fit((7.5,), 0.07, 0.08),  # 2 layers
    "Sqrt": Fit((6,), 0.01, 0.02),  # 2 layers
    "Sqrt float64": Fit((476.8,), 0.03, 0.03),  # 2 layers
    "Swish": Fit((73,), 0.08, 0.09),  # 4 layers
    "Tan": Fit((88.7,), 0.22, 0.28),  # 4 layers
    "Tanh": Fit((96.2,), 0.10, 0.16),  # 3 layers
    "ThresholdedRelu": Fit((8.1,), 0.00, 0.01),  # 3 layers
    "batch normalization": Fit((10.1,), 0.08, 0.09),  # 2 layers
    "layer normalization": Fit((20.3, 7.4), 0.01, 0.04),  # 5 layers
    "round float64": Fit((111.5,), 0.00, 0.01),  # 4 layers
    "sign float64": Fit((6,), 0.01, 0.02),  # 4 layers
    "sign int": Fit((7.8,), 0.11, 0.15),  # 15 layers
    "sign int64": Fit((10.2,), 0.13, 0.22),  # 6 layers
    "softmax float32": Fit((79.9,), 0.11, 0.44),  # 12 layers
    "softmax quantized": Fit((37.5,), 0.07, 0.21),  # 12 layers
    "softmax tflite": Fit((55.6,), 0.09, 0.47),  # 8 layers
    "table": Fit((5,), 0.01, 0.02),  # 7 layers
}

# Those that have a kernel for float32 only.
_OF_FLOAT32 = (
    "Log", "Round", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh",
    "Atanh", "Mish", "Selu", "Celu", "ThresholdedRelu", "Shrink", "Swish", "PRelu", "LogSoftmax",
)  # fmt: skip


def _unary(layer: Layer) -> Work:
    """Coefficient: for each element. A function of quantized elements is a table."""
    x, y = layer.input(0), layer.output
    if layer.op == "Identity" and x.type.quantization == y.type.quantization:
        return VIEW if x.constant is None else Work("memcpy", (y.type.bytes, 1))
    if is_exact(layer):
        return exact_work(layer)
    return Work("table" if y.type.is_quantized else layer.op, (elements(layer),))


def _softmax(layer: Layer) -> Work:
    """Coefficient: for each element."""
    return Work(f"softmax {quantized_kind(layer)}", (elements(layer),))


def _layer_normalization(layer: Layer) -> Work:
    """Coefficients: for each element, each row."""
    shape = layer.input(0).type.shape
    rows = math.prod(shape[: normalized_axis(layer.call)])
    return Work("layer normalization", (math.prod(shape), rows))


RULES: Mapping[tuple[str, str], Rule] = {
    **{("", op): _unary for op in (*UNARY, "Clip", "Identity")},
    **{("", op): per_element(op) for op in _OF_FLOAT32},
    **{
        ("tflite", op): per_element("table")
        for op in ("Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSwish")
    },
    ("", "Softmax"): _softmax,
    ("tflite", "Softmax"): _softmax,
    ("", "LayerNormalization"): _layer_normalization,
    ("", "BatchNormalization"): per_element("batch normalization"),
}
