"""Indices that are computed at run time: gathers, scatters and slices that begin anywhere.

No index leads outside of a tensor: what is read lies at the nearest element, and what would be
written is left out.
"""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels import integers
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, check_moves, compute, helper, render
from mcu_deploy.backends.CpuRef.kernels.pointwise import narrow
from mcu_deploy.backends.CpuRef.kernels.shape_checks import refusing
from mcu_deploy.backends.interface import STATUS, YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.loops import counters, plus, times
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.backends.kit.strides import memory_strides
from mcu_deploy.ir import DType
from mcu_deploy.operators.indexing import REDUCTIONS, batch_dims, misfit
from mcu_deploy.operators.selection import slice_axes, slice_steps

_INDEX_TYPES = (DType.INT32, DType.INT64)

# The position of an index along an axis, moved to the nearest one that is not above `last`.
_NEAREST = helper("nearest.c.j2")


def _nearest(index: str, size: int) -> str:
    return f"$nearest({index}, {size}, 0, {size - 1})"


def supports_gather(layer: Layer) -> Support:
    """Whether Gather can be computed with indices that are known at run time only."""
    x, indices, y = layer.input(0).type, layer.input(1).type, layer.output.type
    if indices.dtype not in _INDEX_TYPES:
        return no("its indices are no integers")
    if not x.rank or not x.elements:
        return no("it indexes a tensor without axes or elements")
    axis = layer.call.axis()
    if y.shape != (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]):
        return no("its shapes do not fit together")
    return check_moves(layer, layer.input(0))


def gather(layer: Layer) -> Workload:
    """Blocks behind the axis, one for each index."""
    x, indices = layer.input(0).type, layer.input(1).type
    axis = layer.call.axis()
    size, block = x.shape[axis], math.prod(x.shape[axis + 1 :])
    extents = (math.prod(x.shape[:axis]), indices.elements, block)
    i, k, j = counters("i", extents)
    at = times(_nearest(f"indices[{plus(k)}]", size), block)
    source = f"x[{plus(times(i, size * block), at, j)}]"
    return _read(layer, extents, render("copy.c.j2", extents=extents, source=source))


def _read(layer: Layer, extents: tuple[int, ...], body: str) -> Workload:
    """A kernel that reads `x` at `indices`."""
    kind = f"{layer.input(0).type.dtype.value}_{layer.input(1).type.dtype.value}"
    name = stem(layer.op.lower(), kind, *sizes(extents))
    operands = {"x": 0, "indices": 1}
    return compute(layer, name, body, helpers=(_NEAREST,), operands=operands)


def _gather_elements(layer: Layer) -> Workload:
    x, y, axis = layer.input(0).type, layer.output.type, layer.call.axis()
    strides = memory_strides(x)
    terms = []
    for k, at in enumerate(counters("i", y.shape)):
        place = _nearest("*indices++", x.shape[axis]) if k == axis else at
        terms.append(times(place, strides[k]))
    source = f"x[{plus(*terms)}]"
    return _read(layer, y.shape, render("copy.c.j2", extents=y.shape, source=source))


def _gather_nd(layer: Layer) -> Workload:
    x, indices, batch = layer.input(0).type, layer.input(1).type, batch_dims(layer.call)
    depth, strides = indices.shape[-1], memory_strides(x)
    axes = range(batch, batch + depth)
    terms = [
        times(_nearest(f"indices[{k}]", x.shape[axis]), strides[axis])
        for k, axis in enumerate(axes)
    ]
    batches, rows = math.prod(x.shape[:batch]), math.prod(indices.shape[batch:-1])
    block = math.prod(x.shape[batch + depth :])
    body = render(
        "gather_nd.c.j2", ctype=x.dtype.c_type, batches=batches, rows=rows, block=block,
        stride=math.prod(x.shape[batch:]), depth=depth, terms=terms,
    )  # fmt: skip
    return _read(layer, (batches, rows, block), body)


def _supports_elements(layer: Layer) -> Support:
    if layer.input(1).type.dtype not in _INDEX_TYPES:
        return no("its indices are no integers")
    given = layer.inputs[:1] if layer.op.startswith("Gather") else layer.inputs[:3:2]
    support = check_moves(layer, *given)
    if not support:
        return support
    reduction = layer.attributes.get("reduction", "none")
    if reduction not in REDUCTIONS:
        return no(f"it does not know the reduction {reduction!r}")
    if reduction != "none" and (layer.output.type.is_quantized or _is_bool(layer)):
        return no(f"it does not reduce {layer.output.type}")
    clause = misfit(layer.call)
    return YES if clause is None else no(clause)


def _is_bool(layer: Layer) -> bool:
    return layer.output.type.dtype is DType.BOOL


def _update(layer: Layer) -> str:
    """C for the new value of the element `old` of the output, with the element `new`."""
    dtype, reduction = layer.output.type.dtype, layer.attributes.get("reduction", "none")
    if reduction == "none":
        return "new"
    if reduction in ("add", "mul"):
        symbol = "+" if reduction == "add" else "*"
        if dtype.is_integer:
            return integers.wrapped(dtype, "old", symbol, "new")
        return f"old {symbol} new"
    nan = " || old != old" if dtype.is_float else ""
    return narrow(dtype, f"old {'>=' if reduction == 'max' else '<='} new{nan} ? old : new")


def _write(layer: Layer, extents: tuple[int, ...], body: str) -> Workload:
    """A kernel that copies `x` and writes `updates` at `indices`."""
    word = f"{layer.op.lower()}_{layer.attributes.get('reduction', 'none')}"
    kind = f"{layer.input(0).type.dtype.value}_{layer.input(1).type.dtype.value}"
    # memmove reads all before it writes, wherever the output lies.
    anywhere = overlap.fact(layer, 0, -layer.input(0).type.bytes)
    return compute(
        layer, stem(word, kind, *sizes(extents)), body, headers=("string.h",), in_place=anywhere,
        operands={"x": 0, "indices": 1, "updates": 2},
    )  # fmt: skip


def _scatter_elements(layer: Layer) -> Workload:
    x, indices, axis = layer.input(0).type, layer.input(1).type, layer.call.axis()
    strides = memory_strides(x)
    at = counters("i", indices.shape)
    terms = [times(i, strides[k]) for k, i in enumerate(at) if k != axis]
    body = render(
        "scatter_elements.c.j2", bytes=x.bytes, extents=indices.shape, size=x.shape[axis],
        place=plus(*terms, times("(int32_t)at", strides[axis])), ctype=x.dtype.c_type,
        update=_update(layer),
    )  # fmt: skip
    return _write(layer, indices.shape, body)


def _scatter_nd(layer: Layer) -> Workload:
    x, indices = layer.input(0).type, layer.input(1).type
    depth = indices.shape[-1]
    rows, block = math.prod(indices.shape[:-1]), math.prod(x.shape[depth:])
    body = render(
        "scatter_nd.c.j2", bytes=x.bytes, rows=rows, depth=depth, block=block,
        axes=list(zip(x.shape[:depth], memory_strides(x)[:depth], strict=True)),
        ctype=x.dtype.c_type, update=_update(layer),
    )  # fmt: skip
    return _write(layer, (rows, block), body)


def supports_slice(layer: Layer) -> Support:
    """Whether Slice can be computed with starts and ends that are known at run time only.

    The output's shape is static; a run whose bounds give another one ends with an error.
    """
    x, y = layer.input(0).type, layer.output.type
    bounds = [layer.optional(k) for k in (1, 2)]
    if any((o := layer.optional(k)) is not None and o.constant is None for k in (3, 4)):
        return no("its axes or steps are computed at run time")
    if any(o is None or o.type.dtype not in _INDEX_TYPES for o in bounds):
        return no("its starts and ends are no integers")
    moved = check_moves(layer, layer.input(0))
    if not moved:
        return moved
    axes, steps = slice_axes(layer.call), slice_steps(layer.call)
    counts = {o.type.elements for o in bounds if o is not None}
    if counts != {len(axes)} or x.rank != y.rank or len(set(axes)) != len(axes):
        return no("its starts, ends, axes and steps do not fit together")
    reach = {a: abs(s) * (y.shape[a] - 1) for a, s in zip(axes, steps, strict=True)}
    for axis, (size, count) in enumerate(zip(x.shape, y.shape, strict=True)):
        if reach.get(axis, size) >= size if axis in reach else size != count:
            return no("its output does not fit into its input")
    return YES


def slice_(layer: Layer) -> Workload:
    """Evenly spaced elements, as many as the bounds say: another number ends the run."""
    x, y = layer.input(0), layer.output
    strides = memory_strides(x.type)
    steps = dict(zip(slice_axes(layer.call), slice_steps(layer.call), strict=True))
    lines, terms, clauses = [], [], []
    for k, axis in enumerate(steps):
        step, size, count = steps[axis], x.type.shape[axis], y.type.shape[axis]
        first, last = (0, size) if step > 0 else (0, size - 1)
        low, high = (0, size) if step > 0 else (-1, size - 1)
        start, end = f"s{axis}", f"e{axis}"
        lines.append(f"const int32_t {start} = $nearest(starts[{k}], {size}, {first}, {last});")
        lines.append(f"const int32_t {end} = $nearest(ends[{k}], {size}, {low}, {high});")
        span = f"{end} - {start}" if step > 0 else f"{start} - {end}"
        if not count:
            clauses.append(f"{span} > 0")
        elif abs(step) == 1:
            clauses.append(f"{span} != {count}")
        else:
            # Between these bounds there are as many steps.
            most, least = count * abs(step), (count - 1) * abs(step)
            clauses += [f"{span} <= {least}", f"{span} > {most}"]
        terms.append(times(start, strides[axis]))
    extents = y.type.physical_shape
    for axis, i in zip(y.type.order, counters("i", extents), strict=True):
        terms.append(times(i, steps.get(axis, 1) * strides[axis]))
    copied = render("copy.c.j2", extents=extents, source=f"x[{plus(*terms)}]")
    body = refusing(clauses, copied, lines)
    kind = f"{x.type.dtype.value}_{layer.input(1).type.dtype.value}"
    return compute(
        layer, stem("slice", kind, *sizes(extents)), body, helpers=(_NEAREST,),
        operands={"x": 0, "starts": 1, "ends": 2}, result=STATUS,
    )  # fmt: skip


KERNELS = (
    Kernel("GatherElements", _supports_elements, _gather_elements),
    Kernel("GatherND", _supports_elements, _gather_nd),
    Kernel("ScatterElements", _supports_elements, _scatter_elements),
    Kernel("Scatter", _supports_elements, _scatter_elements),
    Kernel("ScatterND", _supports_elements, _scatter_nd),
)
