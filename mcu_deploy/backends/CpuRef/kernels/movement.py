"""Moves of elements: views where the memory stays, strided copies where it does not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.CpuRef.kernels import padding, positioned, shape_checks
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, call, check_moves, compute, render, view
from mcu_deploy.backends.interface import (
    YES,
    Constant,
    InPlace,
    Layer,
    LayoutRule,
    Support,
    Workload,
    no,
)
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import INPUT, Prototype, pointer
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counters, plus, times
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.backends.kit.strides import collapse, memory_strides
from mcu_deploy.operators.movement import PAD_MODES, pad_amounts, pad_positions, pad_value


def _supports_view(layer: Layer) -> Support:
    if layer.input(0).constant is not None:
        return no("it reshapes a constant into an output of the model")
    return YES


def _view(layer: Layer) -> Workload:
    """The input's memory; a copy of it where a run must check what the shape is computed from."""
    x, y = layer.input(0), layer.output
    if not shape_checks.is_at_run_time(layer):
        return view()
    name = stem(layer.op.lower(), x.type.dtype.value, y.type.elements)
    body = f"{{\n    memmove(y, x, {y.type.bytes});\n}}"
    # memmove reads all before it writes, wherever the output lies.
    anywhere = overlap.fact(layer, 0, -x.type.bytes)
    return compute(layer, name, body, headers=("string.h",), in_place=anywhere)


def _reorder(layer: Layer) -> Workload:
    """A copy into another memory order; logical axes and values stay."""
    x, y = layer.input(0), layer.output
    x_strides = memory_strides(x.type)
    order = y.type.order
    loops = collapse([y.type.shape[a] for a in order], [[x_strides[a] for a in order]])
    name = stem("reorder", x.type.dtype.value, *loops.extents)
    body = render("copy.c.j2", extents=loops.extents, source=f"x[{loops.index()}]")
    lowest = overlap.strided(loops.extents, loops.steps[0])
    return compute(layer, name, body, in_place=overlap.in_place(layer, lowest))


def _supports_concat(layer: Layer) -> Support:
    if any(o is None for o in layer.inputs):
        return no("it lacks one of its parts")
    return check_moves(layer, *layer.inputs)


def _concat(layer: Layer) -> Workload:
    """Each part is a run of blocks; a block is what lies behind the axis in memory."""
    y = layer.output
    axis = int(layer.attributes["axis"]) % y.type.rank
    position = y.type.order.index(axis)
    shape = y.type.physical_shape
    outer = math.prod(shape[:position])
    parts, given = [], Prototype(layer)
    for index, operand in enumerate(layer.inputs):
        assert operand is not None
        parts.append((f"x{index}", operand.type.bytes // max(outer, 1)))
        ordered = replace(operand.type, layout=y.type.layout)
        array = operand.constant
        part = None if array is None else Constant("part", ordered.stored(array))
        given.input(index, f"x{index}", part)
    return call(
        stem("concat", y.type.dtype.value, *sizes((outer, y.type.elements // max(outer, 1)))),
        render("concat.c.j2", outer=outer, parts=parts, size=y.type.dtype.bytes), given.output(),
        headers=("string.h",), in_place=_concat_in_place(layer, outer, [size for _, size in parts]),
    )  # fmt: skip


def _concat_in_place(layer: Layer, outer: int, sizes: list[int]) -> tuple[InPlace, ...]:
    """memcpy reads in any order, so a block must end before what it is copied from.

    The last block of a part is the one that has run ahead farthest.
    """
    facts: list[InPlace] = []
    for index, size in enumerate(sizes):
        ahead = (outer - 1) * (sum(sizes) - size) + sum(sizes[: index + 1])
        facts += overlap.fact(layer, index, ahead)
    return tuple(facts)


def _supports_pad(layer: Layer) -> Support:
    if layer.attributes.get("mode", "constant") not in ("constant", *PAD_MODES):
        return no(f"it does not know the mode {layer.attributes['mode']!r}")
    if any((o := layer.optional(k)) is not None and o.constant is None for k in (1, 3)):
        return no("its amounts are computed at run time")
    if layer.attributes.get("mode", "constant") != "constant" and not layer.input(0).type.elements:
        return no("its input has no elements")
    return check_moves(layer, layer.input(0), layer.optional(2))


def _pad(layer: Layer) -> Workload:
    x, y = layer.input(0), layer.output
    if layer.attributes.get("mode", "constant") != "constant":
        positions = [at.tolist() for at in pad_positions(layer.call)]
        return positioned.positioned(layer, "pad", positions)
    if (lines := padding.lines(layer)) is not None:
        return lines
    pads = pad_amounts(layer.call)
    order = y.type.order
    strides = memory_strides(x.type)
    extents = y.type.physical_shape
    axes = [
        (plus(i), a, pads[a][0], x.type.shape[a], strides[a])
        for i, a in zip(counters("i", extents), order, strict=True)
    ]
    inside = " && ".join(
        f"{name} >= {before} && {name} < {before + size}"
        for name, axis, before, size, _ in axes
        if pads[axis] != (0, 0)
    )
    source = plus(*(times(plus(name, -before), stride) for name, _, before, _, stride in axes))
    element = f"x[{source}]"
    filled = layer.optional(2)
    at_run_time = filled is not None and filled.constant is None
    if inside:
        fill = "fill[0]" if at_run_time else _fill(pad_value(layer.call).reshape(-1)[0])
        element = f"{inside} ? {element} : ({y.type.dtype.c_type}){fill}"
    given = Prototype(layer).add(pointer(x, "x"), INPUT).output()
    if at_run_time:
        given.input(2, "fill")
        element = element if inside else f"(void)fill, {element}"
    lowest = overlap.nested(
        *(
            _inside(y.type.shape[axis], before, size) * stride
            for _, axis, before, size, stride in axes
        )
    )
    return call(
        stem("pad", x.type.dtype.value, *sizes(extents)),
        render("copy.c.j2", extents=extents, source=element), given,
        in_place=overlap.in_place(layer, lowest),
    )  # fmt: skip


def _fill(value: np.generic) -> str:
    """What is padded with, in C; in front of a maximum that is often minus infinity."""
    number = value.item()
    if not isinstance(number, float):
        return str(int(number))
    return f"{number!r}F" if math.isfinite(number) else float_literal(number)


def _inside(extent: int, before: int, size: int) -> Array:
    """For each position along a padded axis the input's position, or that nothing is read."""
    at = np.arange(extent) - before
    return np.where((at >= 0) & (at < size), at, overlap.NOTHING)


KERNELS = (
    *(
        shape_checks.checking(Kernel(op, _supports_view, _view))
        for op in ("Reshape", "Flatten", "Squeeze", "Unsqueeze")
    ),
    Kernel("Transpose", _supports_view, _view, LayoutRule.VIEW),
    Kernel("Reorder", lambda layer: YES, _reorder, LayoutRule.VIEW, "mcu"),
    Kernel("Concat", _supports_concat, _concat, LayoutRule.SAME),
    Kernel("Pad", _supports_pad, _pad, LayoutRule.SAME),
)
