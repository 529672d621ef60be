"""Resize in the modes linear and cubic, in any memory order: a sum over the taps of each output."""

from __future__ import annotations

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, check_types, compute, nothing, render
from mcu_deploy.backends.interface import Constant, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit.c_functions import QUANTIZE
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter, counters, plus, times
from mcu_deploy.backends.kit.requantization import output_quantization
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.backends.kit.strides import memory_strides
from mcu_deploy.backends.kit.zero_points import without_zero
from mcu_deploy.operators.interpolation import refusal, taps


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
    if not y.type.elements:
        return nothing(layer)
    strides, extents = memory_strides(x.type), y.type.physical_shape
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


KERNELS = (Kernel("Resize", _supports, _create, LayoutRule.SAME, "mcu"),)
