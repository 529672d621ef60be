"""Pools and reductions of TFLite models: integer sums, rounded as TFLite-Micro does."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic.tflite import activation_bounds, scalar
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, compute, render
from mcu_deploy.backends.CpuRef.kernels.pool import over_windows
from mcu_deploy.backends.CpuRef.kernels.reduction import layout, reduction_loops
from mcu_deploy.backends.CpuRef.kernels.tflite_conv import supports_integers
from mcu_deploy.backends.interface import Constant, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.c_functions import CLAMP, MULTIPLY
from mcu_deploy.backends.kit.requantization import multiplied, saturated
from mcu_deploy.operators.pool import pool_window
from mcu_deploy.operators.tflite_pool import reduction_multiplier
from mcu_deploy.operators.windows import count_taps


def _supports_pool(layer: Layer) -> Support:
    if layer.input(0).type.rank not in (3, 4):
        return no(f"it pools over one or two spatial axes, not {layer.input(0).type.rank - 2}")
    if layer.input(0).type.quantization != layer.output.type.quantization:
        return no("a pool keeps its input's scale, but the output has another")
    return supports_integers(layer)


def _pool(layer: Layer) -> Workload:
    """The integers as they are: neither a zero point nor a scale plays a part."""
    y = layer.output.type
    low, high = activation_bounds(layer.call.activation, y)
    name = "best" if layer.op == "MaxPool" else "mean"
    values: dict[str, object] = {"element": f"({y.dtype.c_type})$clamp({name}, {low}, {high})"}
    if layer.op == "MaxPool":
        values["lowest"] = y.dtype.range[0]
        return over_windows(layer, "maximum.c.j2", values, helpers=(CLAMP,))
    counts = count_taps(pool_window(layer.call)).astype(np.int32)
    same = bool(np.all(counts == counts.reshape(-1)[0]))
    values["count"] = int(counts.reshape(-1)[0]) if same else 0
    constants = () if same else (Constant("count", counts),)
    return over_windows(layer, "tflite_average.c.j2", values, constants, (CLAMP,))


def _supports_sum(layer: Layer) -> Support:
    x = layer.input(0)
    if x.constant is not None or not x.type.elements:
        return no("its input is a constant or has no elements")
    return supports_integers(layer)


def _sum(layer: Layer) -> Workload:
    x = layer.input(0)
    loops = reduction_loops(layer)
    multiplier, shift, count = reduction_multiplier(layer.call)
    body = render(
        "tflite_sum.c.j2", outer=loops.outer.extents, inner=loops.inner.extents,
        start=-count * scalar(x.type)[1], element=loops.element,
        scaled=multiplied("sum", (multiplier, shift)), store=saturated(layer, "scaled"),
    )  # fmt: skip
    lowest = overlap.strided(loops.outer.extents, loops.outer.steps[0])
    return compute(
        layer, loops.stem(f"reduce_{layer.op[6:].lower()}", x.type.dtype), body,
        helpers=(MULTIPLY, CLAMP), in_place=overlap.in_place(layer, lowest),
    )  # fmt: skip


KERNELS = (
    *(
        Kernel(op, _supports_pool, _pool, LayoutRule.CHANNELS_LAST, "tflite")
        for op in ("AveragePool", "MaxPool")
    ),
    *(
        Kernel(op, _supports_sum, _sum, layout, "tflite")
        for op in ("ReduceMean", "ReduceSum")
    ),
)  # fmt: skip
