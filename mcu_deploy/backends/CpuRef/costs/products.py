"""Products of matrices and vectors, and the recurrent operators that are made of them."""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.backends.CpuRef.costs.work import Fit, Rule, Work, elements, quantized_kind
from mcu_deploy.backends.interface import Layer
from mcu_deploy.operators.recurrent import GATES, R, X

# Of the model pack, and of 4 and 16 rows or hidden units. "LSTM quantized" rests on TFLite
# files of random sizes, of which benchmarks/fit_costs.py has none.
FITS: Mapping[str, Fit] = {
    "GRU": Fit((6, 314.2), 0.00, 0.01),  # 2 layers
    "LSTM": Fit((5.7, 499.4), 0.01, 0.06),  # 7 layers
    "LSTM quantized": Fit((5.4, 528.6), 0.03, 0.19),  # 21 layers of random sizes, TFLite's
    "RNN": Fit((6.8, 125.2), 0.00, 0.01),  # 2 layers
    "gemm float32": Fit((6.1, 8.2), 0.01, 0.07),  # 37 layers
    "gemm quantized": Fit((5.2, 22.4), 0.04, 0.26),  # 37 layers
    "gemm tflite": Fit((6.1, 25.3), 0.21, 0.36),  # 23 layers
    "gemm weights8": Fit((7.7, 9.2), 0.01, 0.07),  # as float32, with a conversion
    "matmul float32": Fit((7.2, 16.8), 0.02, 0.03),  # 4 layers
    "matmul quantized": Fit((8.6, 16.4), 0.00, 0.01),  # 2 layers
}


def _gemm(layer: Layer) -> Work:
    """Coefficients: for each multiplication, each output."""
    y = layer.output.type
    a, b = layer.input(0), layer.input(1)
    packed = a.constant is None and b.constant is not None and b.type.rank == 2
    name = "gemm" if packed else "matmul"
    depth = layer.input(0).type.shape[-1]
    return Work(f"{name} {quantized_kind(layer)}", (y.elements * depth, y.elements))


def _recurrent(layer: Layer) -> Work:
    """Coefficients: for each multiplication, each hidden unit at each step."""
    x, recurrent = layer.input(X).type, layer.input(R).type
    units = x.shape[0] * x.shape[1] * recurrent.shape[0] * recurrent.shape[2]
    return Work(layer.op, (layer.macs, units))


def _quantized_lstm(layer: Layer) -> Work:
    """Coefficients: for each multiplication, each hidden unit at each step."""
    return Work("LSTM quantized", (layer.macs, elements(layer)))


RULES: Mapping[tuple[str, str], Rule] = {
    ("", "Gemm"): _gemm,
    ("", "MatMul"): _gemm,
    ("mcu", "Gemm"): _gemm,
    ("mcu", "MatMul"): _gemm,
    ("tflite", "FullyConnected"): _gemm,
    **{("", op): _recurrent for op in GATES},
    ("tflite", "LSTM"): _recurrent,
    ("tflite", "UnidirectionalSequenceLstm"): _quantized_lstm,
}
