"""Slice, Split, Gather and Resize to the nearest element: copies of picked elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.backends.CpuRef.kernels import indexing, resizing
from mcu_deploy.backends.CpuRef.kernels.base import (
    Kernel,
    call,
    check_moves,
    compute,
    nothing,
    render,
)
from mcu_deploy.backends.CpuRef.kernels.positioned import picked, positioned
from mcu_deploy.backends.interface import (
    YES,
    Constant,
    InPlace,
    Layer,
    LayoutRule,
    Operand,
    Support,
    Workload,
    no,
)
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import Prototype
from mcu_deploy.backends.kit.loops import counters, plus, times
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.backends.kit.strides import memory_strides
from mcu_deploy.operators.selection import (
    gather_indices,
    nearest_positions,
    resize_refusal,
    slice_ranges,
    split_ranges,
)


def _supports(layer: Layer) -> Support:
    if layer.input(0).constant is not None:
        return no("its input is a constant")
    if any(o is not None and o.constant is None for o in layer.inputs[1:]):
        return no("its positions are computed at run time")
    return check_moves(layer, layer.input(0))


def _at_run_time(layer: Layer) -> bool:
    """Whether it picks from a constant, or what it picks is computed at run time."""
    given = [o for o in layer.inputs if o is not None]
    return given[0].constant is not None or any(o.constant is None for o in given[1:])


def _supports_slice(layer: Layer) -> Support:
    return indexing.supports_slice(layer) if _at_run_time(layer) else _supports(layer)


def _supports_gather(layer: Layer) -> Support:
    if _at_run_time(layer):
        return indexing.supports_gather(layer)
    support = _supports(layer)
    if not support:
        return support
    indices = gather_indices(layer.call)
    size = layer.input(0).type.shape[layer.call.axis()]
    if indices.size and (indices.min() < 0 or indices.max() >= size):
        return no("an index is outside of its input")
    return YES


def _supports_resize(layer: Layer) -> Support:
    support = _supports(layer)
    if not support:
        return support
    if not all(layer.input(0).type.shape):
        return no("its input has no elements")
    reason = resize_refusal(layer.call)
    return no(reason) if reason else YES


def _copy(x: Operand, y: Operand, ranges: Sequence[range], name: str) -> str:
    """Loops over `y` in memory order that read evenly spaced elements of `x`."""
    strides, order = memory_strides(x.type), y.type.order
    extents = y.type.physical_shape
    base = sum(ranges[axis].start * strides[axis] for axis in order)
    steps = [ranges[axis].step * strides[axis] for axis in order]
    source = plus(*map(times, counters("i", extents), steps), base)
    return render("copy.c.j2", extents=extents, source=f"{name}[{source}]")


def _slice(layer: Layer) -> Workload:
    if _at_run_time(layer):
        return indexing.slice_(layer)
    x, y = layer.input(0), layer.output
    if not y.type.elements:
        return nothing(layer)
    name = stem("slice", x.type.dtype.value, *sizes(y.type.physical_shape))
    ranges = slice_ranges(layer.call)
    in_place = overlap.in_place(layer, picked(x, y, ranges))
    return compute(layer, name, _copy(x, y, ranges, "x"), in_place=in_place)


def _split(layer: Layer) -> Workload:
    x = layer.input(0)
    blocks = []
    for index, (y, ranges) in enumerate(zip(layer.outputs, split_ranges(layer.call), strict=True)):
        if y.type.elements:
            blocks.append(_copy(x, y, ranges, "x").strip()[1:-1].replace("*y++", f"*y{index}++"))
    given = Prototype(layer).input(0, "x")
    for index in range(len(layer.outputs)):
        given.output(f"y{index}", index)
    text = "".join(block.rstrip() for block in blocks)
    empty = [i for i, y in enumerate(layer.outputs) if not y.type.elements]
    unused = "".join(f"\n    (void)y{i};" for i in empty)
    name = stem("split", x.type.dtype.value, *sizes(x.type.physical_shape))
    return call(name, f"{{{unused}{text}\n}}", given, in_place=_split_in_place(layer))


def _split_in_place(layer: Layer) -> tuple[InPlace, ...]:
    """Of each output: while it is written, what belongs to the ones behind it waits as well."""
    facts: list[InPlace] = []
    waiting = overlap.NOTHING
    for index, ranges in reversed(list(enumerate(split_ranges(layer.call)))):
        lowest = picked(layer.input(0), layer.outputs[index], ranges)
        facts += overlap.in_place(layer, np.append(lowest, waiting), output=index)
        waiting = min(waiting, int(lowest.min(initial=overlap.NOTHING)))
    return tuple(reversed(facts))


def _gather(layer: Layer) -> Workload:
    """Blocks behind the axis, one for each index."""
    if _at_run_time(layer):
        return indexing.gather(layer)
    x, axis = layer.input(0), layer.call.axis()
    shape = x.type.shape
    outer, size = int(np.prod(shape[:axis])), shape[axis]
    block = int(np.prod(shape[axis + 1 :]))
    indices = gather_indices(layer.call).reshape(-1).astype(np.int32)
    extents = (outer, indices.size, block)
    i, at, j = counters("i", extents)
    source = f"x[{plus(times(i, size * block), times(f'indices[{plus(at)}]', block), j)}]"
    lowest = overlap.nested(
        np.arange(outer) * size * block, indices.astype(np.int64) * block, np.arange(block)
    )
    return compute(
        layer, stem("gather", x.type.dtype.value, *sizes(extents)),
        render("copy.c.j2", extents=extents, source=source), (Constant("indices", indices),),
        in_place=overlap.in_place(layer, lowest),
    )  # fmt: skip


def _resize(layer: Layer) -> Workload:
    return resizing.lines(layer) or positioned(layer, "resize", nearest_positions(layer.call))


KERNELS = (
    Kernel("Slice", _supports_slice, _slice, LayoutRule.SAME, may_refuse=True),
    Kernel("Split", _supports, _split, LayoutRule.SAME),
    Kernel("Gather", _supports_gather, _gather),
    Kernel("Resize", _supports_resize, _resize, LayoutRule.SAME),
)
