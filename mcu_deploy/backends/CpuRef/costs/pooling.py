"""Pools: the mean or the largest of a window."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mcu_deploy.backends.CpuRef.costs.convolution import taps
from mcu_deploy.backends.CpuRef.costs.work import Fit, Rule, Work, quantized_kind
from mcu_deploy.backends.interface import Layer
from mcu_deploy.operators.pool import pool_window

# Of the model pack, and windows of 2x2 and 3x3 over 4 and 16 channels of 6x6 and 13x13.
FITS: Mapping[str, Fit] = {
    "average float32": Fit((5.3, 4.9), 0.07, 0.15),  # 7 layers
    "average float32 padded": Fit((4.7, 43.3), 0.07, 0.09),  # 4 layers
    "average quantized": Fit((8.1, 10.4), 0.04, 0.11),  # 15 layers
    "average quantized padded": Fit((16.7, 25.6), 0.13, 0.16),  # 4 layers
    "average tflite": Fit((5.5, 0), 0.12, 0.38),  # 6 layers
    "maximum float32": Fit((9.3, 0), 0.06, 0.59),  # 16 layers
    "maximum float32 padded": Fit((11.6, 28.3), 0.05, 0.09),  # 4 layers
    "maximum quantized": Fit((4.6, 0), 0.12, 0.70),  # 14 layers
    "maximum quantized padded": Fit((18.2, 13), 0.10, 0.26),  # 4 layers
}


def _pool(layer: Layer) -> Work:
    """Coefficients: for each tap inside of the input, each kernel row."""
    x, y = layer.input(0).type, layer.output.type
    geometry = pool_window(layer.call)
    inside = x.shape[0] * x.shape[1] * taps(geometry, len(geometry.kernel))
    rows = y.elements * math.prod(geometry.kernel[:-1])
    name, kind = "maximum" if "Max" in layer.op else "average", quantized_kind(layer)
    if name == "maximum" or geometry.padded:
        kind = kind.replace("tflite", "quantized")  # as in convolution.py
    return Work(f"{name} {kind}{' padded' if geometry.padded else ''}", (inside, rows))


RULES: Mapping[tuple[str, str], Rule] = {
    **{("", op): _pool for op in ("AveragePool", "GlobalAveragePool", "MaxPool", "GlobalMaxPool")},
    **{("tflite", op): _pool for op in ("AveragePool", "MaxPool")},
}
