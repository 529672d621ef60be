"""Resize in the modes linear and cubic, in any memory order: a sum over the taps of each output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, check_types, compute, render
from mcu_deploy.backends.interface import (
    CFunction,
    Constant,
    Layer,
    LayoutRule,
    Support,
    Workload,
    no,
)
from mcu_deploy.backends.kit.c_functions import CLAMP, QUANTIZE
from mcu_deploy.backends.kit.literals import float_literal, signed
from mcu_deploy.backends.kit.loops import counter, counters, plus, times
from mcu_deploy.backends.kit.requantization import output_quantization
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.backends.kit.strides import memory_strides
from mcu_deploy.backends.kit.zero_points import without_zero
from mcu_deploy.operators.interpolation import (
    BITS,
    Taps,
    in_integers,
    integer_factor,
    refusal,
    taps,
)


def _supports(layer: Layer) -> Support:
    if any(o is not None and o.constant is None for o in layer.inputs[1:]):
        return no("its region, scales or sizes are computed at run time")
    x = layer.input(0)
    if x.constant is not None or not x.type.elements:
        return no("its input is a constant or has no elements")
    clause = refusal(layer.call)
    return no(clause) if clause else check_types(layer, x, layer.output)


def _create(layer: Layer) -> Workload:
    x, y = layer.input(0), layer.output
    strides, extents = memory_strides(x.type), y.type.physical_shape
    in_steps = in_integers(layer.call) if y.type.is_quantized else None
    if in_steps is not None:
        return _by_integers(layer, in_steps)
    along = taps(layer.call)
    constants: list[Constant] = []
    terms, inside, loops = [], [], []
    for axis, at in zip(y.type.order, counters("i", extents), strict=True):
        if axis not in along:
            terms.append(times(at, strides[axis]))
            continue
        found = along[axis]
        count = found.positions.shape[1]
        tap = counter(f"k{axis}", count)
        loops.append(
            (axis, tap, plus(times(at, count), tap), f"at{axis}[{plus(times(at, count))}]")
        )
        places = found.positions * np.int32(strides[axis])
        places[found.outside] = -1
        constants += [Constant(f"at{axis}", places), Constant(f"weight{axis}", found.weights)]
        if found.outside.any():
            inside.append(loops[-1][3] + " >= 0")
    # The taps of the axes in index order, whatever order they have in memory.
    loops.sort(key=lambda loop: loop[0])
    terms += [f"at{axis}[{place}]" for axis, _, place, _ in loops]
    weights = [f"weight{axis}[{place}]" for axis, _, place, _ in loops]
    element = f"x[{plus(*terms)}]"
    values: dict[str, object] = {"store": "sum", "scale": ""}
    beyond = float_literal(layer.attributes.get("extrapolation_value", 0.0))
    if y.type.is_quantized:
        xq, out = x.type.scaling, output_quantization(layer)
        real = without_zero(element, xq.zero_point[0])
        element = f"((float){real} * {float_literal(xq.scale[0])})"
        values |= {"store": out.store("sum"), "scale": out.scale}
    body = render(
        "interpolate.c.j2", extents=extents, taps=[loop[1] for loop in loops],
        product=" * ".join([*weights, element]), **values,
        inside=" && ".join(inside), beyond=beyond,
    )  # fmt: skip
    helpers = (QUANTIZE,) if y.type.is_quantized else ()
    name = stem("interpolate", x.type.dtype.value, *sizes(extents))
    return compute(layer, name, body, constants, helpers)


def _by_integers(layer: Layer, along: Mapping[int, Taps]) -> Workload:
    """The sum of what up to four pointers lead to, times their weights: these are found behind the
    innermost axis that is resized, before what lies behind it is gone through."""
    x, y = layer.input(0), layer.output
    strides, extents = memory_strides(x.type), y.type.physical_shape
    names = dict(zip(y.type.order, counters("i", extents), strict=True))
    last = max((y.type.order.index(axis) for axis in along), default=-1) + 1
    around, within = y.type.order[:last], y.type.order[last:]
    constants: list[Constant] = []
    fixed = [times(names[a], strides[a]) for a in around if a not in along]
    ways: list[tuple[list[str], list[str]]] = [(fixed, [])]
    for axis, found in along.items():
        count = found.positions.shape[1]
        constants.append(Constant(f"at{axis}", found.positions * np.int32(strides[axis])))
        constants.append(Constant(f"weight{axis}", found.weights, 2))
        places = [plus(times(names[axis], count), tap) for tap in range(count)]
        ways = [
            ([*terms, f"at{axis}[{place}]"], [*weights, f"weight{axis}[{place}]"])
            for terms, weights in ways
            for place in places
        ]
    inner = plus(*(times(names[axis], strides[axis]) for axis in within))
    ending = _ending(layer, BITS * len(along))
    body = render(
        "interpolate_integers.c.j2", ctype=x.type.dtype.c_type,
        around_=[names[a] for a in around], within=[names[a] for a in within], inner=inner,
        ways=[(plus("x", *terms), " * ".join(weights) or "1") for terms, weights in ways],
        **ending.values,
    )  # fmt: skip
    name = stem("interpolate_integers", x.type.dtype.value, *sizes(extents))
    return compute(layer, name, body, constants, ending.helpers)


class _Ending(NamedTuple):
    """values: what a sum begins with, what is made of it, the element, for the template."""

    values: Mapping[str, object]
    helpers: tuple[CFunction, ...] = ()


def _ending(layer: Layer, bits: int) -> _Ending:
    x, y = layer.input(0).type, layer.output.type
    zero, y_zero = x.scaling.zero_point[0], y.scaling.zero_point[0]
    factor = integer_factor(layer.call, bits)
    if factor is not None:
        stored = output_quantization(layer).store(f"(float)sum * {float_literal(factor)}")
        return _Ending({"start": -zero << bits, "rounded": "", "element": stored}, (QUANTIZE,))
    # From the least element on all sums are positive, and a half is added from the beginning; ties
    # go to what is even from the zero point on.
    low = x.dtype.range[0]
    start = (-low << bits) + max(0, ((1 << bits) >> 1) - 1)
    odd = "~" if (zero - low) % 2 else ""
    rounded = f"(sum + ({odd}(sum >> {bits}) & 1)) >> {bits}" if bits else "sum"
    moved = low - zero + y_zero
    element, helpers = f"rounded{signed(moved)}", tuple[CFunction, ...]()
    if zero != y_zero or x.dtype is not y.dtype:
        least, most = y.dtype.range
        element, helpers = f"$clamp({element}, {least}, {most})", (CLAMP,)
    values = {"start": start, "rounded": rounded, "element": f"({y.dtype.c_type})({element})"}
    return _Ending(values, helpers)


KERNELS = (Kernel("Resize", _supports, _create, LayoutRule.SAME, "mcu"),)
