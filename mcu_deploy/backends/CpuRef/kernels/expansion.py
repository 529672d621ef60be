"""Expand, Tile, ConstantOfShape, Range, OneHot, EyeLike and Trilu."""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels import integers
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, call, check_moves, compute, render
from mcu_deploy.backends.CpuRef.kernels.casting import from_real
from mcu_deploy.backends.CpuRef.kernels.pointwise import Expression, narrow, pointwise
from mcu_deploy.backends.CpuRef.kernels.shape_checks import checking
from mcu_deploy.backends.interface import YES, Constant, Layer, Support, Workload, no
from mcu_deploy.backends.kit.arguments import Prototype
from mcu_deploy.backends.kit.loops import counters, plus, times
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.backends.kit.strides import collapse, memory_strides
from mcu_deploy.ir import DType
from mcu_deploy.operators.expansion import fill_value, one_hot_axis

_MISFIT = no("its shapes do not fit together")


def _supports_expand(layer: Layer) -> Support:
    x, y = layer.input(0).type.shape, layer.output.type.shape
    tail = y[len(y) - len(x) :] if len(x) <= len(y) else ()
    fits = len(tail) == len(x) and all(a in (1, b) for a, b in zip(x, tail, strict=True))
    return check_moves(layer, layer.input(0)) if fits else _MISFIT


def _expand(layer: Layer) -> Workload:
    return pointwise(layer, layer.output.type.dtype.value, Expression("a"), (0,))


def _supports_tile(layer: Layer) -> Support:
    x, y = layer.input(0).type, layer.output.type
    fits = x.rank == y.rank and x.elements > 0
    fits = fits and all(new % old == 0 for old, new in zip(x.shape, y.shape, strict=True))
    return check_moves(layer, layer.input(0)) if fits else _MISFIT


def _tile(layer: Layer) -> Workload:
    """For each axis a loop over the repetitions, and one over what is repeated."""
    x, y = layer.input(0).type, layer.output.type
    strides = memory_strides(x)
    extents, steps = [], []
    for axis in range(x.rank):
        extents += [y.shape[axis] // x.shape[axis], x.shape[axis]]
        steps += [0, strides[axis]]
    loops = collapse(extents, [steps])
    return _copy(layer, loops.extents, f"x0[{loops.index()}]", (0,))


def _copy(
    layer: Layer, extents: tuple[int, ...], source: str, indices: tuple[int, ...]
) -> Workload:
    """Loops over the output that store an expression; the inputs are called x0, x1, ..."""
    y = layer.output
    return compute(
        layer, stem(layer.op.lower(), y.type.dtype.value, *sizes(extents)),
        render("copy.c.j2", extents=extents, source=source),
        operands={f"x{n}": k for n, k in enumerate(indices)},
    )  # fmt: skip


def _constant_of_shape(layer: Layer) -> Workload:
    y = layer.output
    value = fill_value(layer.call).reshape(1)
    given = Prototype(layer).array(Constant("value", value, max(4, y.type.dtype.bytes))).output()
    body = render("copy.c.j2", extents=(y.type.elements,), source="value[0]")
    return call(stem("fill", y.type.dtype.value, y.type.elements), body, given)


def _supports_range(layer: Layer) -> Support:
    y = layer.output.type
    given = [layer.input(k).type for k in (0, 2)]
    if any(t.dtype is not y.dtype or t.elements != 1 for t in given) or y.rank != 1:
        return _MISFIT
    return YES


def _range(layer: Layer) -> Workload:
    y = layer.output.type
    at = plus(*counters("i", y.shape))
    if y.dtype.is_integer:
        wide = integers.unsigned(y.dtype)
        source = f"({y.dtype.c_type})(({wide})x0[0] + ({wide}){at} * ({wide})x1[0])"
    else:
        source = f"x0[0] + ({y.dtype.c_type}){at} * x1[0]"
    return _copy(layer, y.shape, source, (0, 2))


def _supports_one_hot(layer: Layer) -> Support:
    indices, values, y = layer.input(0).type, layer.input(2).type, layer.output.type
    if values.dtype is not y.dtype or values.elements != 2 or y.rank != indices.rank + 1:
        return _MISFIT
    axis = one_hot_axis(layer.call)
    if indices.dtype is DType.BOOL or y.shape[:axis] + y.shape[axis + 1 :] != indices.shape:
        return _MISFIT
    return YES


def _one_hot(layer: Layer) -> Workload:
    """An index is compared with each place, as it is and, with a sign, counted from the end."""
    indices, y, axis = layer.input(0).type, layer.output.type, one_hot_axis(layer.call)
    depth, inner = y.shape[axis], math.prod(y.shape[axis + 1 :])
    extents = (math.prod(y.shape[:axis]), depth, inner)
    i, place, j = counters("i", extents)
    given = f"x0[{plus(times(i, inner), j)}]"
    at = given
    if indices.dtype.is_float:
        at = f"({from_real(indices.dtype, DType.INT64, given)})"
    elif indices.dtype is DType.UINT64:
        at = f"({given} > INT64_MAX ? INT64_MAX : (int64_t){given})"
    else:
        at = f"(int64_t){given}"
    matches = f"{at} == {plus(place)}"
    if indices.dtype.is_float or indices.dtype.range[0]:
        matches += f" || {at} == {plus(place, -depth)}"
    source = f"x1[{matches} ? 1 : 0]"
    return _copy(layer, extents, source, (0, 2))


def _supports_eye(layer: Layer) -> Support:
    return YES if layer.output.type.rank == 2 else _MISFIT


def _eye(layer: Layer) -> Workload:
    y = layer.output.type
    # Beyond the corners all diagonals are alike.
    k = min(max(int(layer.attributes.get("k", 0)), -y.shape[0]), y.shape[1])
    row, column = counters("i", y.shape)
    return _copy(layer, y.shape, f"{plus(column, times(row, -1))} == {k} ? 1 : 0", ())


def _supports_trilu(layer: Layer) -> Support:
    given = layer.optional(1)
    if given is not None and (given.type.dtype is not DType.INT64 or given.type.elements != 1):
        return _MISFIT
    x, y = layer.input(0).type, layer.output.type
    fits = x.rank >= 2 and x.shape == y.shape
    return check_moves(layer, layer.input(0)) if fits else _MISFIT


def _trilu(layer: Layer) -> Workload:
    y, given = layer.output.type, layer.optional(1)
    rows, columns = y.shape[-2:]
    symbol = ">=" if layer.attributes.get("upper", 1) else "<="
    k = "0" if given is None else "x1[0]"
    extents = (math.prod(y.shape[:-2]), rows, columns)
    i, row, column = counters("i", extents)
    element = f"x0[{plus(times(i, rows * columns), times(row, columns), column)}]"
    source = narrow(y.dtype, f"{plus(column, times(row, -1))} {symbol} {k} ? {element} : 0")
    return _copy(layer, extents, source, (0,) if given is None else (0, 1))


KERNELS = (
    checking(Kernel("Expand", _supports_expand, _expand)),
    checking(Kernel("Tile", _supports_tile, _tile)),
    checking(Kernel("ConstantOfShape", lambda layer: YES, _constant_of_shape)),
    checking(Kernel("Range", _supports_range, _range)),
    checking(Kernel("OneHot", _supports_one_hot, _one_hot)),
    Kernel("EyeLike", _supports_eye, _eye),
    Kernel("Trilu", _supports_trilu, _trilu),
)
