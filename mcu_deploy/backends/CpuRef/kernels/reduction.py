"""Reductions over any axes, in any memory order; float32 sums run in the logical index order."""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels import empty, folds
from mcu_deploy.backends.CpuRef.kernels.base import (
    BYTES,
    QUANTIZED,
    Kernel,
    check_moves,
    check_types,
    compute,
    render,
)
from mcu_deploy.backends.CpuRef.kernels.elementwise import real_operand
from mcu_deploy.backends.CpuRef.kernels.folds import ReductionLoops
from mcu_deploy.backends.interface import CFunction, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.c_functions import QUANTIZE
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import plus
from mcu_deploy.backends.kit.requantization import clamp_lines, output_quantization
from mcu_deploy.backends.kit.strides import collapse, memory_strides
from mcu_deploy.operators.reduction import reduced_axes


def _supports(layer: Layer) -> Support:
    axes = layer.optional(1)
    if axes is not None and axes.constant is None:
        return no("its axes are computed at run time")
    x = layer.input(0)
    if x.constant is not None:
        return no("its input is a constant")
    if not x.type.elements:
        return empty.supports(layer)
    if folds.is_fold(layer):
        return folds.supports(layer)
    if layer.op in ("ReduceMax", "ReduceMin"):
        return check_moves(layer, x)
    known = QUANTIZED if layer.op == "ReduceMean" else BYTES
    return check_types(layer, x, layer.output, known=known)


def layout(layer: Layer) -> LayoutRule:
    """Channel-last tensors stay so where the output has the same axes."""
    same = layer.input(0).type.rank == layer.output.type.rank
    return LayoutRule.SAME if same else LayoutRule.NATURAL


def reduction_loops(layer: Layer) -> ReductionLoops:
    """The loops of a reduction, over outputs in their memory order."""
    x, y = layer.input(0), layer.output
    axes = reduced_axes(layer.call)
    strides = memory_strides(x.type)
    kept = [a for a in range(x.type.rank) if a not in axes]
    if x.type.rank == y.type.rank:
        kept = [a for a in y.type.order if a not in axes]
    outer = collapse([x.type.shape[a] for a in kept], [[strides[a] for a in kept]])
    inner = collapse([x.type.shape[a] for a in axes], [[strides[a] for a in axes]])
    first = outer.index()
    return ReductionLoops(
        outer,
        inner,
        f"x[{plus(first, inner.index(name='k'))}]",
        f"x[{first}]",
        math.prod(x.type.shape[a] for a in axes),
    )


def _create(layer: Layer) -> Workload:
    x, y = layer.input(0), layer.output
    if not x.type.elements:
        return empty.create(layer)
    loops = reduction_loops(layer)
    if folds.is_fold(layer):
        return folds.create(layer, loops)
    outer, count = loops.outer, loops.count
    quantized = y.type.is_quantized
    mean = layer.op in ("ReduceMean", "ReduceSum")
    values: dict[str, object] = {
        "outer": outer.extents, "inner": loops.inner.extents, "mean": mean,
        "element": loops.element,
        "first": loops.first, "ctype": x.type.dtype.c_type, "quantized": quantized,
        "count": float_literal(count) if layer.op == "ReduceMean" and count != 1 else "",
        "symbol": ">" if layer.op == "ReduceMax" else "<", "clamp": "",
        "nan": " || v != v" if x.type.dtype.is_float else "",
    }  # fmt: skip
    helpers: tuple[CFunction, ...] = ()
    if mean and quantized:
        out = output_quantization(layer)
        element = real_operand(x, loops.element)
        values |= {"element": element, "store": out.store, "scale": out.scale}
        helpers = (QUANTIZE,)
    elif x.type.dtype not in BYTES:
        values["clamp"] = clamp_lines(layer, "result")
    lowest = overlap.strided(outer.extents, outer.steps[0])
    return compute(
        layer, loops.stem(f"reduce_{layer.op[6:].lower()}", x.type.dtype),
        render("reduce.c.j2", **values), helpers=helpers, in_place=overlap.in_place(layer, lowest),
    )  # fmt: skip


KERNELS = tuple(
    Kernel(op, _supports, _create, layout)
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", *folds.OWN)
)
