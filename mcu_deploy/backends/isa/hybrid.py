"""TFLite's convolution of float32 by int8 weights ("dynamic range"): integers within.

The input becomes int8 in the scratch, by what is found when the network runs: one scale, or its
range, with a zero point. Rows of bytes are 1x1 windows as they lie there, others gathered; some of
them at a time meet all filters. A row of a fully connected layer is an image of one window. The
driver is C; the kernels are a backend's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends import floats
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    Parameter,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa.assembly import Assembly
from mcu_deploy.backends.isa.workloads import Called, called
from mcu_deploy.backends.kit.dynamic_range import SCALED_BY_RANGE
from mcu_deploy.backends.kit.kit import Kit
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import Plane, plane, window_refusal
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.conv import conv_window

# In front of the scratch, float32: the scale, the zero point, and what an element is multiplied by.
HEAD_BYTES = 12

_KIT = Kit("floats", Path(floats.__file__).parent)
# Cycles of the driver: of a row of a window, what of it is a byte, and a scale in double.
_ROW, _BYTE, _DOUBLE = 60, 0.6, 1200
_DRIVER_BYTES = 200


class Rows(Protocol):
    """What multiplies rows of bytes with all filters. rows: at a time; taps: bytes that it reads of
    each; surplus: filters that it writes behind those that there are; scratch_bytes: with the head;
    assemble: the kernel of rows, outputs, packed constants and scratch."""

    @property
    def rows(self) -> int: ...
    @property
    def taps(self) -> int: ...
    @property
    def surplus(self) -> int: ...
    @property
    def scratch_bytes(self) -> int: ...
    @property
    def constant_bytes(self) -> int: ...

    def pack(self) -> Array: ...

    def assemble(self) -> Assembly: ...


@dataclass(frozen=True)
class Filters:
    """weights: int64 [filter, tap]; factors, bias: float32 of each filter; positions: windows of an
    image; has_zero: whether these have a zero point; low, high: the activation."""

    weights: Array
    factors: Array
    bias: Array
    positions: int
    has_zero: bool
    low: float
    high: float


@dataclass(frozen=True)
class HybridKernels:
    """What a backend has. suffix: of its functions; aligned: bytes that rows begin at a multiple
    of; rows: of a layer's filters; extent: of so many elements, with a zero point or without, the
    kernel of an input and the head, to whose begin it writes the least and the largest, or the
    largest magnitude; integers: alike the kernel of the input, its integers and the head; together:
    elements that their last argument counts at a time, of which they have code for a rest."""

    suffix: str
    aligned: int
    rows: Callable[[Filters], Rows]
    extent: Callable[[int, bool], Assembly]
    integers: Callable[[int, bool], Assembly]
    together: int


def propose(
    view: SubgraphView, node: Layer, kernels: HybridKernels, driver: Callable[..., Proposal]
) -> Sequence[Proposal] | str:
    """A convolution by itself. driver: as the backend's kernels are called."""
    if reason := refusal(node):
        return reason
    return [_proposal(view, node, kernels, driver)]


def refusal(layer: Layer) -> str:
    """Why the kernels do not compute a layer, a clause; empty where they do."""
    x, w, bias = layer.input(0).type, layer.input(1), layer.optional(2)
    if not layer.target.fpu:
        return f"it computes in float32, which this {layer.target.core} has no FPU for"
    if x.rank != 4 or not layer.output.type.elements:
        return "it convolves over two spatial axes"
    if w.constant is None or (bias is not None and bias.constant is None):
        return "its weights or its bias are computed at run time"
    scaling = w.type.quantization
    if w.type.dtype is not DType.INT8 or scaling is None or any(scaling.zero_point):
        return "it takes weights of int8 with the zero point 0"
    if w.type.shape[1] != x.shape[1]:
        return "it takes no groups"
    low, high = layer.call.activation
    if low not in (0, -math.inf) or high <= 0:
        return "of activations it takes those that begin at 0"
    return window_refusal(_window(layer))


def _window(layer: Layer) -> Plane:
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    return plane(conv_window(x, w, y, layer.attributes))


def filters_of(layer: Layer) -> Filters:
    """Those of a layer that the kernels compute."""
    w, bias = layer.input(1), layer.optional(2)
    weights = w.value.transpose(0, 2, 3, 1).reshape(len(w.value), -1).astype(np.int64)
    count = len(weights)
    offsets = np.zeros(count, np.float32) if bias is None else np.asarray(bias.constant)
    return Filters(
        weights, np.broadcast_to(w.type.scaling.scales, (count,)), offsets,
        math.prod(_window(layer).output), bool(layer.attributes.get("asymmetric", 0)),
        *layer.call.activation,
    )  # fmt: skip


def _proposal(
    view: SubgraphView, node: Layer, kernels: HybridKernels, driver: Callable[..., Proposal]
) -> Proposal:
    x, y, target = node.input(0).type, node.output.type, node.target
    window, of = _window(node), filters_of(node)
    rows, end = kernels.rows(of), kernels.suffix
    (batch, channels), filters = x.shape[:2], y.shape[1]
    elements = x.elements // batch
    whole, rest = divmod(of.positions, rows.rows)
    is_direct = {*window.kernel, *window.stride} == {1} and not any(window.padded)
    is_direct &= channels % kernels.aligned == 0 or of.positions == 1
    image = rows.scratch_bytes
    # The last row may be read beyond its channels, the last rows may be none of the image.
    patches = image + -(-(elements + is_direct * (rows.taps - channels)) // 4) * 4
    behind = patches + rows.rows * (channels if rest else 0) * is_direct
    behind += 0 if is_direct else rows.rows * rows.taps
    scratch = behind
    if rest or rows.surplus:
        scratch += 4 * rows.rows * (filters + rows.surplus)
    multiply = rows.assemble()
    extent, integers = (make(elements, of.has_zero) for make in (kernels.extent, kernels.integers))
    kind = "affine" if of.has_zero else "symmetric"
    fours = f"_by_{kernels.together}_{elements % kernels.together}" * (kernels.together > 1)
    names = (
        f"{kind}_extent{fours}{end}", f"{kind}{fours}{end}",
        f"float_rows_{rows.taps}x{filters}{end}",
    )  # fmt: skip
    body = _KIT.render(
        "hybrid_conv.c.j2", window=window.values(1), channels=channels, filters=filters,
        batch=batch, elements=elements, image=image, patches=None if is_direct else patches,
        behind=behind, taps=rows.taps, whole=whole, at_once=rows.rows, rest=rest,
        surplus=rows.surplus, has_zero=of.has_zero, names=names, scaled_by_range=SCALED_BY_RANGE,
        count=elements // kernels.together,
    )  # fmt: skip
    tiles = batch * (whole + (rest > 0))
    cycles = batch * (extent.time(target) + integers.time(target))
    cycles += tiles * multiply.time(target) + batch * _DOUBLE * of.has_zero
    if not is_direct:
        lines = batch * of.positions * window.kernel[0]
        cycles += round(lines * (_ROW + _BYTE * window.kernel[1] * channels))
    source, head = Parameter("const float *", "x"), Parameter("float *", "numbers")
    count = Parameter("uint32_t", "count")
    calls = [
        Called(names[0], (source, head, count), extent, batch),
        Called(names[1], (source, Parameter("int8_t *", "y"), head, count), integers, batch),
        called(names[2], TensorType(DType.INT8, x.shape), y, multiply, calls=tiles),
    ]
    # The image of bytes may lie on the one of floats, which is read before it; so may the output.
    in_place = [InPlace(0, 0, -x.bytes), InPlace(0, None, image - 12)] if batch == 1 else []
    return driver(
        view.part([node.node.id]), stem("hybrid_conv", end[1:], channels, filters, window=window),
        (body, _DRIVER_BYTES), lambda: [Constant("weights", rows.pack())], calls, "hybrid",
        macs=node.macs, cycles=cycles, constant_bytes=rows.constant_bytes, scratch_bytes=scratch,
        in_place=in_place,
    )  # fmt: skip
