"""What a kernel's cost is told by: how often its loops run, in which family of kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from mcu_deploy.backends.interface import Layer
from mcu_deploy.ir import DType, TensorType


@dataclass(frozen=True)
class Fit:
    """Instructions for each count of a family, and how far that was off where it was measured.

    median, worst: the error relative to the count, of the layers that the fit rests on.
    """

    coefficients: tuple[float, ...]
    median: float
    worst: float


@dataclass(frozen=True)
class Work:
    """What a kernel does: its family in `FITS`, and how often each coefficient of that counts."""

    family: str
    counts: tuple[int, ...]


Rule = Callable[[Layer], Work]

VIEW = Work("view", ())


def elements(layer: Layer) -> int:
    """How many elements a layer writes."""
    return sum(o.type.elements for o in layer.outputs)


def quantized_kind(layer: Layer) -> str:
    """TFLite's requantization costs other than ONNX's, and 8-bit weights other than float32."""
    if layer.domain == "mcu":
        return "weights8"
    if not layer.output.type.is_quantized:
        return "float32"
    return layer.domain or "quantized"


def number_kind(type_: TensorType) -> str:
    """How a Cortex-M computes elements that stand for themselves.

    Integers and truth values in one register, 64-bit integers in two, float32 in the FPU, and
    float64 in the C library.
    """
    if type_.dtype.is_float:
        return type_.dtype.value
    return "int64" if type_.dtype.bytes == 8 else "int"


def is_unsigned(dtype: DType) -> bool:
    return dtype.value.startswith("uint")


def words(layer: Layer) -> int | None:
    """How many words the elements fill, where there are none left over and none is read twice.

    gcc then computes narrow integers a word at a time, with what the bits of a word allow.
    """
    y = layer.output.type
    each, rest = divmod(y.bytes, 4)
    alike = all(o is not None and o.type.elements == y.elements for o in layer.inputs)
    return None if rest or not alike or y.dtype.bytes >= 4 else each


def per_element(family: str) -> Rule:
    """A rule with one coefficient: for each element that is written."""
    return lambda layer: Work(family, (elements(layer),))


def per_element_of(family: str) -> Rule:
    """The same, for kernels whose cost depends on the type of the output."""
    return lambda layer: Work(f"{family} {number_kind(layer.output.type)}", (elements(layer),))


def view(layer: Layer) -> Work:
    """The output is the input's memory."""
    return VIEW


def behind(shape: tuple[int, ...], axis: int) -> int:
    """How many elements lie between two neighbours along an axis."""
    return math.prod(shape[axis + 1 :])
