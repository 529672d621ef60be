"""Pools over any number of axes in ONNX's order, LpPool, and where the maxima lie."""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import BYTES, Kernel, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.CpuRef.kernels.window_any import Loops, loops
from mcu_deploy.backends.interface import YES, Constant, Layer, Support, Workload, no
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.backends.kit.requantization import clamp_lines
from mcu_deploy.ir import DType
from mcu_deploy.operators.pool import average_counts, norm_of, pool_window


def supports(layer: Layer) -> Support:
    """Whether a pool of float32, or a maximum of bytes, is computed."""
    x = layer.input(0)
    is_max = "Max" in layer.op
    if x.type.dtype is not DType.FLOAT32 and not (is_max and x.type.dtype in BYTES):
        return no(f"it computes float32 over these axes, not {x.type}")
    if layer.output.type.dtype is not x.type.dtype or x.constant is not None:
        return no(f"it does not compute {layer.output.type} of {x.type}")
    if len(layer.outputs) > 1 and layer.outputs[1].type.dtype is not DType.INT64:
        return no("its places are not int64")
    return YES if x.type.rank >= 3 else no("its input has no spatial axis")


def create(layer: Layer) -> Workload:
    """One window after another, its elements in the order of their indices."""
    x, call, geometry = layer.input(0).type, layer.call, pool_window(layer.call)
    found = loops(geometry)
    plane = math.prod(geometry.input)
    p = counter("p", x.shape[0] * x.shape[1])
    constants: tuple[Constant, ...] = ()
    values: dict[str, object] = {"ctype": x.dtype.c_type, "places": "", "clamp": ""}
    if "Max" in layer.op:
        lowest = str(x.dtype.range[0]) if x.dtype in BYTES else "-INFINITY"
        values |= {"first": lowest, "nan": " || v != v" if x.dtype.is_float else ""}
        values["places"] = (
            plus(times(p, plane), _place(layer, found)) if len(layer.outputs) > 1 else ""
        )
        kind = "max"
    elif layer.op == "LpPool":
        kind, norm = "norm", norm_of(call)
        values |= {"power": float_literal(norm), "root": float_literal(1 / norm), "p_norm": norm}
    else:
        kind, counts = "mean", average_counts(call, geometry)
        if np.all(counts == counts.reshape(-1)[0]):
            values["count"] = float_literal(float(counts.reshape(-1)[0]))
        else:
            constants = (Constant("count", counts.astype(np.float32)),)
            at = ""
            for o, size in zip(found.outputs, geometry.output, strict=True):
                at = plus(times(at, size), o)
            values["count"] = f"count[{at}]"
    values["clamp"] = clamp_lines(layer, "best" if kind == "max" else "sum")
    body = render("pool_any.c.j2", kind=kind, p=p, plane=plane, w=found, **values)
    return whole(layer, body, constants=constants, headers=("math.h",))


def _place(layer: Layer, found: Loops) -> str:
    """C for where the element that is read lies in its plane, as the indices are to count."""
    if not layer.attributes.get("storage_order", 0):
        return found.place
    sizes = layer.input(0).type.shape[2:]
    return plus(*(times(at, math.prod(sizes[:k])) for k, at in enumerate(found.positions)))


KERNELS = (Kernel("LpPool", supports, create),)
