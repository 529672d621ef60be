"""Element by element: sums, products and powers, of operands that are broadcast."""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.backends.CpuRef.costs.work import (
    Fit,
    Rule,
    Work,
    elements,
    is_unsigned,
    number_kind,
    quantized_kind,
    words,
)
from mcu_deploy.backends.CpuRef.kernels.exact import is_exact
from mcu_deploy.backends.interface import Layer

# float32 and quantized: of the model pack, two shapes and broadcasts of them. The others: 140 and
# 858 elements, every type, from -100 to 100, divisors from 1 to 30, exponents from 0 to 4. What
# float64 costs, and a division of int64, depends on the numbers.
FITS: Mapping[str, Fit] = {
    "Add tflite": Fit((46.8,), 0.04, 0.12),  # 24 layers
    "Mod float32": Fit((82.3, 17), 0.00, 0.01),  # 4 layers
    "Mod float64": Fit((112.9, 190.4), 0.01, 0.01),  # 4 layers
    "Mul tflite": Fit((25,), 0.00, 0.01),  # 1 layer
    "Pow float32": Fit((255.2,), 0.00, 0.01),  # 2 layers
    "Pow float64": Fit((6945.7,), 0.00, 0.01),  # 2 layers
    "Pow int": Fit((17.9,), 0.11, 0.22),  # 20 layers
    "Pow int64": Fit((35.1,), 0.12, 0.26),  # 8 layers
    "Sub tflite": Fit((33,), 0.00, 0.01),  # 1 layer
    "add float64": Fit((76.6,), 0.01, 0.03),  # 8 layers
    "arithmetic float32": Fit((6.1, 4.3), 0.01, 0.22),  # 129 layers
    "arithmetic quantized": Fit((29.9,), 0.07, 0.37),  # 43 layers
    "divide float64": Fit((582.1,), 0.00, 0.01),  # 6 layers
    "divide int": Fit((8.8, 7.2), 0.12, 0.28),  # 39 layers
    "divide int64": Fit((67.6, 14.3), 0.08, 0.11),  # 14 layers
    "elementwise int": Fit((3.3, 1.7), 0.10, 0.23),  # 42 layers
    "elementwise int64": Fit((6.8, 2.3), 0.13, 0.23),  # 25 layers
    "elementwise packed": Fit((12.7,), 0.05, 0.13),  # 5 layers
    "extremes float32": Fit((4.3, 5.7), 0.02, 0.05),  # 12 layers
    "extremes float64": Fit((12.8, 64), 0.02, 0.08),  # 12 layers
    "extremes int": Fit((3.1, 4.8), 0.04, 0.15),  # 42 layers
    "extremes int64": Fit((5.1, 7.8), 0.02, 0.04),  # 19 layers
    "extremes quantized": Fit((28.5, 6.6), 0.02, 0.08),  # 8 layers
    "multiply float64": Fit((56,), 0.01, 0.02),  # 4 layers
    "square float32": Fit((46.6,), 0.01, 0.03),  # 3 layers
    "square float64": Fit((109.4,), 0.00, 0.01),  # 2 layers
    "sums float32": Fit((3.8, 2.5, 0.2), 0.06, 0.15),  # 12 layers
    "sums float64": Fit((12.1, 73.1, 470.6), 0.07, 0.21),  # 12 layers
    "sums quantized": Fit((30.3, 2.2, 4.3), 0.01, 0.02),  # 8 layers
}

_FLOAT64 = {
    "Add": "add", "Sub": "add", "Mul": "multiply", "Div": "divide", "Reciprocal": "divide",
    "Abs": "sign", "Neg": "sign", "Floor": "round", "Ceil": "round",
}  # fmt: skip


def _binary(layer: Layer) -> Work:
    """Coefficients: for each element, each float that an activation clamps."""
    if is_exact(layer):
        return exact_work(layer)
    count = elements(layer)
    if layer.output.type.is_quantized:
        kind = quantized_kind(layer)
        return Work(f"{layer.op} {kind}" if layer.domain else f"arithmetic {kind}", (count,))
    return Work("arithmetic float32", (count, count * ("activation" in layer.attributes)))


def exact_work(layer: Layer) -> Work:
    """The work of a layer that `is_exact`.

    Coefficients: for each element; for some of integers, each element that is read as well.
    """
    y, count = layer.output.type, elements(layer)
    kind = number_kind(y)
    if kind == "float64":
        return Work(f"{_FLOAT64.get(layer.op, layer.op)} float64", (count,))
    if layer.op == "Abs" and is_unsigned(y.dtype):
        return Work("memcpy", (y.bytes, 1))
    if layer.op in ("Abs", "Sign"):
        return Work(f"sign {kind}", (count,))
    if layer.op == "Div":
        return Work(f"divide {kind}", (count, 0))
    packed = words(layer)
    if y.dtype.bytes == 1 and packed is not None and layer.op in ("Add", "Sub", "Neg"):
        return Work("elementwise packed", (packed,))
    return Work(f"elementwise {kind}", (count, count * len(layer.inputs)))


def _mod(layer: Layer) -> Work:
    """Coefficients: for each element, each one that is given the sign of the divisor."""
    dtype, kind = layer.output.type.dtype, number_kind(layer.output.type)
    corrected = not (layer.attributes.get("fmod", 0) or is_unsigned(dtype))
    name = "Mod" if dtype.is_float else "divide"
    return Work(f"{name} {kind}", (elements(layer), elements(layer) * corrected))


def _pow(layer: Layer) -> Work:
    """Coefficient: for each element. The C library knows squares."""
    base, exponent = layer.output.type, layer.input(1)
    kind, count = number_kind(base), (elements(layer),)
    if not base.dtype.is_float:
        return Work("Pow float64" if exponent.type.dtype.is_float else f"Pow {kind}", count)
    square = exponent.constant is not None and bool((exponent.constant == 2).all())
    return Work(f"{'square' if square else 'Pow'} {kind}", count)


def _variadic(layer: Layer) -> Work:
    """Coefficients: for each element, each operand's element behind the first, each division.

    The compiler divides by powers of two as it multiplies.
    """
    y, others, count = layer.output.type, len(layer.inputs) - 1, elements(layer)
    kind = "quantized" if y.is_quantized else number_kind(y)
    if layer.op in ("Max", "Min"):
        return Work(f"extremes {kind}", (count, count * others))
    divides = layer.op == "Mean" and (others + 1) & others != 0
    return Work(f"sums {kind}", (count, count * others, count * divides))


RULES: Mapping[tuple[str, str], Rule] = {
    **{("", op): _binary for op in ("Add", "Sub", "Mul", "Div")},
    **{("tflite", op): _binary for op in ("Add", "Sub", "Mul")},
    **{("", op): _variadic for op in ("Max", "Min", "Sum", "Mean")},
    ("", "Mod"): _mod,
    ("", "Pow"): _pow,
}
