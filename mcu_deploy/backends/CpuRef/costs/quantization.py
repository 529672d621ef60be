"""Between floats and integers with a scale, and from one scale to another."""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.backends.CpuRef.costs.work import Fit, Rule, per_element

# The model pack's. Quantizing depends on the data: what is clamped ends early.
FITS: Mapping[str, Fit] = {
    "dequantize": Fit((8.2,), 0.02, 0.24),  # 82 layers
    "quantize": Fit((18.7,), 0.15, 1.04),  # 45 layers
    "quantize tflite": Fit((36,), 0.00, 0.01),  # 1 layer
}

RULES: Mapping[tuple[str, str], Rule] = {
    ("", "QuantizeLinear"): per_element("quantize"),
    ("", "DequantizeLinear"): per_element("dequantize"),
    ("tflite", "Quantize"): per_element("quantize tflite"),
    ("tflite", "Requantize"): per_element("quantize tflite"),
}
