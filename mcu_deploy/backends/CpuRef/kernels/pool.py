"""Pools in channel-last order: averages in float32, maxima in the element type."""

from __future__ import annotations

import numpy as np

from mcu_deploy.backends.CpuRef.kernels import pool_any
from mcu_deploy.backends.CpuRef.kernels.base import (
    QUANTIZED,
    Kernel,
    check_moves,
    check_types,
    compute,
    either,
    render,
)
from mcu_deploy.backends.interface import (
    CFunction,
    Constant,
    Layer,
    LayoutRule,
    Support,
    Workload,
    no,
)
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.c_functions import QUANTIZE
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter, plus
from mcu_deploy.backends.kit.requantization import clamp_lines, output_quantization
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import plane
from mcu_deploy.backends.kit.zero_points import without_zero
from mcu_deploy.ir import DType
from mcu_deploy.operators.pool import average_counts, pool_window


def _supports(layer: Layer) -> Support:
    x = layer.input(0).type
    if x.rank not in (3, 4):
        return no(f"it pools over one or two spatial axes, not {x.rank - 2}")
    if len(layer.outputs) > 1:
        return no("it does not compute the indices of maxima")
    if "Max" in layer.op:
        known = x.dtype is DType.FLOAT32 or x.dtype in QUANTIZED
        return check_moves(layer, layer.input(0)) if known else no(f"it does not compute {x}")
    return check_types(layer, layer.input(0), layer.output, known=QUANTIZED)


def _create(layer: Layer) -> Workload:
    x, y = layer.input(0), layer.output
    geometry = pool_window(layer.call)
    window, (batch, channels) = plane(geometry), x.type.shape[:2]
    c = counter("c", channels)
    values: dict[str, object] = {
        "channels": channels,
        "c": c,
        **window.values(batch),
        "ctype": x.type.dtype.c_type,
        "quantized": y.type.is_quantized,
        "count": "",
        "nan": " || v != v" if x.type.dtype.is_float else "",
    }
    constants: tuple[Constant, ...] = ()
    helpers: tuple[CFunction, ...] = ()
    if "Max" in layer.op:
        lowest = str(x.type.dtype.range[0]) if x.type.dtype in QUANTIZED else "-INFINITY"
        values |= {"lowest": lowest, "clamp": clamp_lines(layer, "best")}
        body = render("maximum.c.j2", **values)
        headers = ("math.h",) if lowest == "-INFINITY" else ()
    else:
        headers = ()
        counts = average_counts(layer.call, geometry)
        if counts.size and np.all(counts == counts.reshape(-1)[0]):
            values["count"] = float_literal(float(counts.reshape(-1)[0]))
        else:
            constants = (Constant("count", counts.astype(np.float32)),)
        element = f"x[{plus('at', c)}]"
        if y.type.is_quantized:
            xq = x.type.scaling
            out = output_quantization(layer)
            element = (
                f"(float){without_zero(element, xq.zero_point[0])} * {float_literal(xq.scale[0])}"
            )
            values |= {"store": out.store, "scale": out.scale}
            helpers = (QUANTIZE,)
        values |= {"element": element, "clamp": clamp_lines(layer, "mean")}
        body = render("average.c.j2", **values)
    word = "max_pool" if "Max" in layer.op else "avg_pool"
    name = stem(word, x.type.dtype.value, channels, window=window)
    reads = overlap.window(batch, channels, window, np.arange(channels))
    in_place = overlap.in_place(layer, reads)
    return compute(layer, name, body, constants, helpers, headers, in_place)


KERNELS = tuple(
    either(
        Kernel(op, _supports, _create, LayoutRule.CHANNELS_LAST),
        Kernel(op, pool_any.supports, pool_any.create),
    )
    for op in ("AveragePool", "GlobalAveragePool", "MaxPool", "GlobalMaxPool")
)
