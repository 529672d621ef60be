"""NonZero, Compress, Unique, NonMaxSuppression: elements, zeros behind them, and their number."""

from __future__ import annotations

import math
from dataclasses import replace

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, check_moves, helper, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.loops import counter, counters
from mcu_deploy.ir import DType
from mcu_deploy.operators.counted import given

_STRING = ("string.h",)


def _counts(layer: Layer) -> Support:
    """Whether the last output is a count, and the places before it are int64."""
    count = layer.outputs[-1].type
    if len(layer.outputs) < 2 or count.dtype is not DType.INT64 or count.elements != 1:
        return no("it gives the number of its elements as the last output, int64")
    return YES


def _compares(layer: Layer) -> Support:
    dtype = layer.input(0).type.dtype
    if dtype.wide is not dtype:
        return no(f"it does not compare {dtype.value}")
    return _counts(layer)


def _non_zero(layer: Layer) -> Workload:
    shape = layer.input(0).type.shape
    body = render("non_zero.c.j2", loops=counters("i", shape), bound=layer.output.type.shape[1])
    return whole(layer, body, headers=_STRING)


def _supports_compress(layer: Layer) -> Support:
    if layer.input(1).type.dtype is not DType.BOOL:
        return no("its condition is no bool")
    return _counts(layer) and check_moves(layer, layer.input(0))


def _around(layer: Layer) -> tuple[int, int, int]:
    """The elements before the axis, along it, and behind it; of all where there is no axis."""
    x, axis = layer.input(0).type, layer.attributes.get("axis")
    if axis is None:
        return 1, x.elements, 1
    axis %= x.rank
    return math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1 :])


def _compress(layer: Layer) -> Workload:
    outer, extent, inner = _around(layer)
    size = min(layer.input(1).type.elements, extent)
    body = render(
        "compress.c.j2", i=counter("i", outer), k=counter("k", size), outer=outer, extent=extent,
        inner=inner, bound=layer.output.type.elements // (outer * inner),
    )  # fmt: skip
    return whole(layer, body, headers=_STRING)


def _unique(layer: Layer) -> Workload:
    outer, n, inner = _around(layer)
    x = layer.input(0).type.dtype
    places = given(layer.call)
    names = {place: f"y{k}" for k, place in enumerate(places)}
    i, j = counter("i", outer), counter("j", inner)
    compare = helper(
        "unique_compare.c.j2", i=i, j=j, n=n, inner=inner, ctype=x.c_type, is_float=x.is_float
    )
    body = render(
        "unique.c.j2", i=i, k=counter("k", n), n=n, inner=inner, y=names, count=f"y{len(places)}",
        is_sorted=layer.attributes.get("sorted", 1),
        zeroed=[name for place, name in names.items() if place != 2],
        sizes={f"y{k}": output.type.elements for k, output in enumerate(layer.outputs)},
    )  # fmt: skip
    return whole(
        layer, body, headers=_STRING, helpers=(compare,), scratch="int32_t", scratch_bytes=4 * n
    )


def _supports_suppression(layer: Layer) -> Support:
    boxes, scores = layer.input(0).type, layer.input(1).type
    if {boxes.dtype, scores.dtype} != {DType.FLOAT32}:
        return no("its boxes and scores are not float32")
    fits = boxes.rank == scores.rank == 3 and boxes.shape[2] == 4
    if not fits or (boxes.shape[0], boxes.shape[1]) != (scores.shape[0], scores.shape[2]):
        return no("its shapes do not fit together")
    return _counts(layer)


def _non_max_suppression(layer: Layer) -> Workload:
    batches, classes, boxes = layer.input(1).type.shape
    is_center = layer.attributes.get("center_point_box", 0)
    overlap = replace(helper("box_overlap.c.j2", is_center=is_center), inline=False)
    body = render(
        "non_max_suppression.c.j2", n=counter("n", batches), c=counter("c", classes),
        k=counter("k", boxes), classes=classes, boxes=boxes,
        bound=layer.output.type.shape[0], most="*x2",
        threshold="*x3" if layer.optional(3) else "0.0F", least=layer.optional(4) is not None,
    )  # fmt: skip
    return whole(
        layer, body, headers=(*_STRING, "stdbool.h"), helpers=(overlap,), scratch="uint8_t",
        scratch_bytes=boxes,
    )  # fmt: skip


KERNELS = (
    Kernel("NonZero", _compares, _non_zero),
    Kernel("Compress", _supports_compress, _compress),
    Kernel("Unique", _compares, _unique),
    Kernel("NonMaxSuppression", _supports_suppression, _non_max_suppression),
)
