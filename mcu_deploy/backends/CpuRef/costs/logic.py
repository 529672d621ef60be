"""Comparisons, truth values, bits of integers, and casts."""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.backends.CpuRef.costs.work import (
    Fit,
    Rule,
    Work,
    elements,
    number_kind,
    per_element,
    per_element_of,
    view,
    words,
)
from mcu_deploy.backends.interface import Layer
from mcu_deploy.ir import DType

# 140 and 858 elements of every type; all casts from one type to another, of numbers from -100 to
# 100. Zeros cost the C library less: int64 to float32 is three times as fast then, its worst error.
FITS: Mapping[str, Fit] = {
    "IsInf float64": Fit((70.1,), 0.00, 0.01),  # 2 layers
    "IsNaN float64": Fit((18.1,), 0.00, 0.01),  # 2 layers
    "bits int": Fit((5.7,), 0.13, 0.43),  # 36 layers
    "bits int64": Fit((9,), 0.11, 0.13),  # 7 layers
    "cast float32 float64": Fit((14.7,), 0.05, 0.18),  # 43 layers
    "cast float32 int": Fit((17.6,), 0.04, 0.25),  # 99 layers
    "cast float32 int64": Fit((151.9,), 0.02, 0.73),  # 183 layers
    "cast float64 float32": Fit((19.3,), 0.02, 0.19),  # 96 layers
    "cast float64 int": Fit((157.5,), 0.02, 0.04),  # 10 layers
    "cast float64 int64": Fit((242.5,), 0.20, 0.24),  # 4 layers
    "cast int": Fit((4.6,), 0.13, 0.35),  # 19 layers
    "cast int float32": Fit((6.2,), 0.03, 0.31),  # 82 layers
    "cast int float64": Fit((31.8,), 0.20, 0.51),  # 11 layers
    "cast int64 float32": Fit((29.7,), 0.11, 1.97),  # 306 layers
    "cast int64 float64": Fit((46.3,), 0.01, 0.02),  # 4 layers
    "choice": Fit((8.9,), 0.02, 0.33),  # 13 layers
    "compare float32": Fit((9.7,), 0.07, 0.18),  # 25 layers
    "compare float64": Fit((51.8,), 0.06, 0.11),  # 17 layers
    "compare int": Fit((9.1,), 0.08, 0.30),  # 49 layers
    "compare int64": Fit((12.1,), 0.10, 0.35),  # 20 layers
    "shift int": Fit((9.4,), 0.04, 0.07),  # 7 layers
    "shift int64": Fit((20.1,), 0.00, 0.01),  # 3 layers
    "truth": Fit((8,), 0.12, 0.34),  # 14 layers
}


def _compare(layer: Layer) -> Work:
    """Coefficient: for each element."""
    return Work(f"compare {number_kind(layer.input(0).type)}", (elements(layer),))


def _classify(layer: Layer) -> Work:
    """Coefficient: for each element."""
    kind = number_kind(layer.input(0).type)
    return Work(
        "compare float32" if kind == "float32" else f"{layer.op} {kind}", (elements(layer),)
    )


def _bits(layer: Layer) -> Work:
    """Coefficient: for each element, or for each word of them."""
    kind, packed = number_kind(layer.output.type), words(layer)
    return Work(f"bits {kind}", (elements(layer) if packed is None else packed,))


def _cast(layer: Layer) -> Work:
    """Coefficient: for each element. Truth values are compared with zero."""
    x, y = layer.input(0).type, layer.output.type
    source, target, count = number_kind(x), number_kind(y), elements(layer)
    if x.dtype is y.dtype:
        return Work("memcpy", (y.bytes, 1))
    if y.dtype is DType.BOOL:
        return Work(f"compare {source}", (count,))
    if x.dtype is DType.BOOL and y.dtype is DType.UINT8:
        return Work("memcpy", (y.bytes, 1))
    if not x.dtype.is_float and not y.dtype.is_float:
        narrow = x.dtype.bytes == y.dtype.bytes < 4
        return _bits(layer) if narrow else Work("cast int", (count,))
    return Work(f"cast {source} {target}", (count,))


RULES: Mapping[tuple[str, str], Rule] = {
    **{("", op): _compare for op in ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")},
    **{("", op): _classify for op in ("IsNaN", "IsInf")},
    **{("", op): per_element("truth") for op in ("And", "Or", "Xor", "Not")},
    **{("", op): _bits for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot")},
    **{("", op): _cast for op in ("Cast", "CastLike")},
    ("", "BitShift"): per_element_of("shift"),
    ("", "BitCast"): view,
    ("", "Where"): per_element("choice"),
}
