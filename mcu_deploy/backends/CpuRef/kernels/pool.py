"""Pools in channel-last order: averages in float32, maxima in the element type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from mcu_deploy.backends.CpuRef.kernels.elementwise import real_operand
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


def over_windows(
    layer: Layer, template: str, values: Mapping[str, object], constants: Sequence[Constant] = (),
    helpers: tuple[CFunction, ...] = (), headers: tuple[str, ...] = (),
) -> Workload:  # fmt: skip
    """A pool by a template that slides its window over planes whose channels are innermost."""
    x = layer.input(0).type
    window, (batch, channels) = plane(pool_window(layer.call)), x.shape[:2]
    body = render(
        template, channels=channels, c=counter("c", channels), ctype=x.dtype.c_type,
        **window.values(batch), **values,
    )  # fmt: skip
    word = "max_pool" if "Max" in layer.op else "avg_pool"
    name = stem(word, x.dtype.value, channels, window=window)
    in_place = overlap.in_place(layer, overlap.window(batch, channels, window, np.arange(channels)))
    return compute(layer, name, body, constants, helpers, headers, in_place)


def _maximum(layer: Layer) -> Workload:
    dtype = layer.input(0).type.dtype
    if dtype in QUANTIZED:
        return over_windows(layer, "maximum.c.j2", {"lowest": dtype.range[0]})
    values = {"lowest": "-INFINITY", "nan": " || v != v"}
    return over_windows(layer, "maximum.c.j2", values, headers=("math.h",))


def _average(layer: Layer) -> Workload:
    x, quantized = layer.input(0), layer.output.type.is_quantized
    counts = average_counts(layer.call, pool_window(layer.call)).astype(np.float32)
    same = counts.size and np.all(counts == counts.reshape(-1)[0])
    values: dict[str, object] = {
        "count": float_literal(counts.reshape(-1)[0]) if same else "", "quantized": quantized,
        "element": real_operand(x, f"x[{plus('at', counter('c', x.type.shape[1]))}]"),
        "clamp": clamp_lines(layer, "mean"),
    }  # fmt: skip
    if quantized:
        out = output_quantization(layer)
        values |= {"store": out.store, "scale": out.scale}
    return over_windows(
        layer, "average.c.j2", values, () if same else (Constant("count", counts),),
        (QUANTIZE,) if quantized else (),
    )  # fmt: skip


KERNELS = tuple(
    either(
        Kernel(f"{prefix}{op}", _supports, create, LayoutRule.CHANNELS_LAST),
        Kernel(f"{prefix}{op}", pool_any.supports, pool_any.create),
    )
    for prefix in ("", "Global")
    for op, create in (("AveragePool", _average), ("MaxPool", _maximum))
)
