"""InstanceNormalization, LRN, and BatchNormalization by parameters that are computed; float32.

Order of the sums: in memory order, from 0; first the mean, then the squares of the differences.
"""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter
from mcu_deploy.backends.kit.requantization import clamp_lines
from mcu_deploy.ir import DType
from mcu_deploy.operators.instance_normalization import response_window


def supports(layer: Layer) -> Support:
    """Whether all tensors are float32, and the parameters have a number for each channel."""
    x = layer.input(0).type
    for operand in (*layer.inputs, *layer.outputs):
        if operand is not None and operand.type.dtype is not DType.FLOAT32:
            return no(f"it computes float32, not {operand.type}")
    if x.rank < 2 or len(layer.outputs) > 1 or x.shape != layer.output.type.shape:
        return no("its shapes do not fit together")
    wrong = any(o is not None and o.type.elements != x.shape[1] for o in layer.inputs[1:])
    return no("its parameters are not one a channel") if wrong else YES


def _planes(layer: Layer) -> dict[str, object]:
    """The loops over batch, channels and the elements of a plane."""
    shape = layer.input(0).type.shape
    size = math.prod(shape[2:])
    return {
        "n": counter("n", shape[0]), "c": counter("c", shape[1]), "i": counter("i", size),
        "channels": shape[1], "size": size,
        "epsilon": float_literal(layer.attributes.get("epsilon", 1e-5)),
    }  # fmt: skip


def _instance(layer: Layer) -> Workload:
    planes = _planes(layer)
    count = float_literal(math.prod(layer.input(0).type.shape[2:]))
    body = render("instance_normalization.c.j2", count=count, **planes)
    return whole(layer, body, headers=("math.h",))


def batch(layer: Layer) -> Workload:
    """(x - mean) * (scale / sqrt(variance + epsilon)) + shift."""
    clamp = clamp_lines(layer, "value")
    body = render("batch_normalization_any.c.j2", clamp=clamp, **_planes(layer))
    return whole(layer, body, headers=("math.h",))


def _local_response(layer: Layer) -> Workload:
    before, behind = response_window(layer.call)
    numbers = {
        name: float(layer.attributes.get(name, default))
        for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))
    }
    alpha = float_literal(numbers["alpha"] / int(layer.attributes["size"]))
    body = render(
        "lrn.c.j2", before=before, behind=behind, alpha=alpha,
        beta=float_literal(numbers["beta"]), bias=float_literal(numbers["bias"]), **_planes(layer),
    )  # fmt: skip
    return whole(layer, body, headers=("math.h",))


KERNELS = (
    Kernel("InstanceNormalization", supports, _instance),
    Kernel("LRN", supports, _local_response),
)
