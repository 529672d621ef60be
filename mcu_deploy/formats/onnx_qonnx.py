"""Quant and BipolarQuant of QONNX, as Brevitas exports and FINN reads them: numbers of some bits,
held as float32. What they compute is in qonnx's src/qonnx/custom_op/general/quant.py and
bipolar_quant.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from mcu_deploy.formats.onnx_body import Body, NoBody

# ONNX's operators that round as a mode says.
_ROUNDINGS = {"ROUND": "Round", "CEIL": "Ceil", "FLOOR": "Floor"}


def _quant(b: Body) -> str:
    """The integer of so many bits that is next to x / scale + zero point, as what it stands for."""
    bits, signed = b.number(3), bool(b.attributes.get("signed", 1))
    rounding = _ROUNDINGS.get(b.attributes.get("rounding_mode", b"ROUND").decode().upper())
    if not bits or not rounding or b.opset < 11:
        raise NoBody
    x, scale, zero = b.inputs[:3]
    narrow = int(b.attributes.get("narrow", 0))
    low = narrow - (1 << bits - 1) if signed else 0
    high = (1 << bits - signed) - 1 - (0 if signed else narrow)
    is_binary, step = bits == 1 and signed, _one(b, 1) or 0.0
    if not is_binary and bits <= 8 and step > 0 and _one(b, 2) == 0 and rounding == "Round":
        return _between_integers(b, step, low, high, np.int8 if signed else np.uint8)
    steps = b("Add", b("Div", x, scale), zero)
    if is_binary:
        integers = _sign(b, steps)
    else:
        integers = b(rounding, b("Clip", steps, b.constant(low), b.constant(high)))
    return b("Mul", b("Sub", integers, zero), scale)


def _between_integers(b: Body, scale: float, low: int, high: int, dtype: type) -> str:
    """The same by ONNX's conversions, so that what lies around them is computed in integers."""
    x, limits = b.inputs[0], np.iinfo(dtype)
    if (low, high) != (limits.min, limits.max):
        x = b("Clip", x, b.constant(low * scale), b.constant(high * scale))
    step, zero = b.constant(scale), b.constant(0, dtype)
    return b("DequantizeLinear", b("QuantizeLinear", x, step, zero), step, zero)


def _one(b: Body, index: int) -> float | None:
    """A constant input of one number; None where it is another."""
    value = b.values[index]
    return None if value is None or value.size != 1 else float(value.reshape(()))


def _sign(b: Body, x: str) -> str:
    """1, or -1 where x is negative."""
    is_negative = b("Less", x, b.constant(0))
    return b("Where", is_negative, b.constant(-1), b.constant(1))


_OPERATORS: Mapping[str, Callable[[Body], str]] = {
    "Quant": _quant,
    "BipolarQuant": lambda b: b("Mul", _sign(b, b.inputs[0]), b.inputs[1]),
}
QONNX = {
    f"{domain}::{name}": build
    for domain in ("onnx.brevitas", "qonnx.custom_op.general")
    for name, build in _OPERATORS.items()
}
