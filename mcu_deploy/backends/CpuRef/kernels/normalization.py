"""LayerNormalization, and BatchNormalization that no convolution takes in; float32.

Order of the sums: in memory order, from 0; first the mean, then the squares of the differences.
"""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import Kernel, render, rule, workload
from mcu_deploy.backends.interface import (
    YES,
    CFunction,
    Constant,
    Layer,
    LayoutRule,
    Parameter,
    Support,
    Workload,
    no,
)
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import INPUT, OUTPUT, constant_argument, pointer
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.requantization import clamp_lines
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import DType
from mcu_deploy.operators.normalization import normalized_axis


def _supports(layer: Layer) -> Support:
    if any(o is not None and o.constant is None for o in layer.inputs[1:]):
        return no("its parameters are computed at run time")
    if len(layer.outputs) > 1:
        return no("it computes the normalized tensor only, not mean and variance")
    if layer.input(0).type.dtype is not DType.FLOAT32 or layer.output.type.is_quantized:
        return no(f"it computes float32, not {layer.input(0).type}")
    if layer.input(0).constant is not None:
        return no("its input is a constant")
    return YES


def _layer_normalization(layer: Layer) -> Workload:
    x, y = layer.input(0), layer.output
    axis = normalized_axis(layer.call)
    outer, size = math.prod(x.type.shape[:axis]), math.prod(x.type.shape[axis:])
    shape = x.type.shape[axis:]
    constants = []
    for name, index in (("gain", 1), ("bias", 2)):
        operand = layer.optional(index)
        if operand is not None and operand.constant is not None:
            full = np.broadcast_to(operand.constant, shape).reshape(-1)
            constants.append(Constant(name, np.ascontiguousarray(full, dtype=np.float32)))
    body = render(
        "layer_normalization.c.j2",
        outer=outer,
        size=size,
        count=float_literal(size),
        epsilon=float_literal(layer.attributes.get("epsilon", 1e-5)),
        biased=len(constants) > 1,
        clamp=clamp_lines(layer, "value", " " * 12),
    )
    function = CFunction(
        stem("layer_normalization", "float32", outer, size),
        (
            pointer(x, "x"),
            pointer(y, "y", const=False),
            *(Parameter("const float *", c.stem) for c in constants),
        ),
        body,
    )
    arguments = (INPUT, OUTPUT, *(constant_argument(i) for i in range(len(constants))))
    return workload(
        layer, function, arguments, tuple(constants), headers=("math.h",),
        in_place=overlap.in_place(layer, np.arange(x.type.elements)),
    )  # fmt: skip


def _supports_batch(layer: Layer) -> Support:
    if layer.attributes.get("training_mode", 0):
        return no("it normalizes with given statistics, not in training mode")
    return _supports(layer)


def _batch_normalization(layer: Layer) -> Workload:
    """(x - mean) * factor + shift, the channels innermost."""
    x, y = layer.input(0), layer.output
    scale, shift, mean, variance = (layer.input(i).constant for i in range(1, 5))
    assert scale is not None
    assert shift is not None
    assert mean is not None
    assert variance is not None
    epsilon = np.float32(layer.attributes.get("epsilon", 1e-5))
    factor = (scale / np.sqrt(variance + epsilon)).astype(np.float32)
    channels = x.type.shape[1]
    function = CFunction(
        stem("batch_normalization", "float32", channels),
        (
            pointer(x, "x"),
            pointer(y, "y", const=False),
            *(Parameter("const float *", name) for name in ("mean", "factor", "shift")),
        ),
        render(
            "batch_normalization.c.j2",
            rows=x.type.elements // max(channels, 1),
            channels=channels,
            clamp=clamp_lines(layer, "value", " " * 12),
        ),
    )
    constants = (
        Constant("mean", mean.astype(np.float32)),
        Constant("factor", factor),
        Constant("shift", shift.astype(np.float32)),
    )
    arguments = (INPUT, OUTPUT, *(constant_argument(i) for i in range(3)))
    return workload(
        layer, function, arguments, constants,
        in_place=overlap.in_place(layer, np.arange(x.type.elements)),
    )  # fmt: skip


KERNELS = (
    Kernel("LayerNormalization", _supports, rule(LayoutRule.NATURAL), _layer_normalization),
    Kernel(
        "BatchNormalization", _supports_batch, rule(LayoutRule.CHANNELS_LAST), _batch_normalization
    ),
)
