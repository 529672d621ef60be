"""LayerNormalization, and BatchNormalization that no convolution takes in, which is float32 only.

Order of the sums of float32: in memory order, from 0; first the mean, then the squares of the
differences.
"""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.backends.CpuRef.kernels import instance_normalization
from mcu_deploy.backends.CpuRef.kernels.base import (
    Kernel,
    call,
    check_types,
    compute,
    either,
    render,
)
from mcu_deploy.backends.interface import YES, Constant, Layer, LayoutRule, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import Prototype
from mcu_deploy.backends.kit.c_functions import QUANTIZE
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter, plus
from mcu_deploy.backends.kit.requantization import clamp_lines, output_quantization
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import DType
from mcu_deploy.operators.normalization import in_steps, normalized_axis

# Bytes of which the squares of the distances from the mean, times how many there are of them, are
# below 2^32 (at most 127.5 each): their difference is right whatever its terms are above that.
_MOST_IN_32_BITS = 512


def _supports_layer(layer: Layer) -> Support:
    x = layer.input(0)
    if x.type.is_quantized and layer.output.type.is_quantized:
        return check_types(layer, x, layer.output)
    for operand in (x, *(layer.optional(k) for k in (1, 2)), *layer.outputs):
        if operand is not None and operand.type.dtype is not DType.FLOAT32:
            return no(f"it computes float32, not {operand.type}")
    if layer.output.type.is_quantized:
        return no(f"it computes float32, not {layer.output.type}")
    size = math.prod(x.type.shape[normalized_axis(layer.call) :])
    given = (o for k in (1, 2) if (o := layer.optional(k)) is not None and o.constant is None)
    if any(operand.type.elements not in (1, size) for operand in given):
        return no("it is given a parameter for some of its axes when it runs")
    return YES


def _of_integers(layer: Layer) -> Workload:
    x, steps = layer.input(0), in_steps(layer.call)
    size = math.prod(x.type.shape[normalized_axis(layer.call) :])
    outer, i = x.type.elements // size, counter("i", size)
    given, scaled = [("gain", "*", steps.gain)], "normal"
    if steps.bias.any():
        given.append(("bias", "+", steps.bias))
    for name, sign, value in given:
        scaled += f" {sign} {name}[{0 if value.size == 1 else plus(i)}]"
    constants = [Constant(name, value.reshape(-1)) for name, _, value in given]
    body = render(
        "layer_normalization_integers.c.j2", outer=outer, size=size, i=i,
        wide="int64_t" if size > _MOST_IN_32_BITS else "uint32_t",
        epsilon=float_literal(steps.epsilon), element=output_quantization(layer).store(scaled),
    )  # fmt: skip
    name = stem("layer_normalization", x.type.dtype.value, outer, size)
    return compute(
        layer, name, body, constants, (QUANTIZE,), headers=("math.h",),
        in_place=overlap.in_place(layer, np.arange(x.type.elements)),
    )  # fmt: skip


def _layer_normalization(layer: Layer) -> Workload:
    x = layer.input(0)
    if layer.output.type.is_quantized:
        return _of_integers(layer)
    axis = normalized_axis(layer.call)
    outer, size = math.prod(x.type.shape[:axis]), math.prod(x.type.shape[axis:])
    i = counter("i", size)
    given, factors = Prototype(layer).input(0, "x"), {"gain": "", "bias": ""}
    for index, name in enumerate(factors, 1):
        operand = layer.optional(index)
        if operand is None:
            continue
        factors[name] = f"{name}[{plus(i)}]"
        if operand.constant is not None:
            full = np.broadcast_to(operand.constant, x.type.shape[axis:]).reshape(-1)
            given.array(Constant(name, np.ascontiguousarray(full, dtype=np.float32)))
            continue
        given.input(index, name)
        if operand.type.elements == 1:
            factors[name] = f"{name}[0]"
    names = ("y", "means", "inverses")[: len(layer.outputs)]
    for k, name in enumerate(names):
        given.output(name, k)
    body = render(
        "layer_normalization.c.j2", outer=outer, size=size, i=i, count=float_literal(size),
        epsilon=float_literal(layer.attributes.get("epsilon", 1e-5)), **factors,
        clamp=clamp_lines(layer, "value"), means="means" in names,
        inverses="inverses" in names,
    )  # fmt: skip
    return call(
        stem("layer_normalization", "float32", outer, size), body, given, headers=("math.h",),
        in_place=overlap.in_place(layer, np.arange(x.type.elements)),
    )  # fmt: skip


def _supports(layer: Layer) -> Support:
    if any(o is not None and o.constant is None for o in layer.inputs[1:]):
        return no("its parameters are computed at run time")
    if layer.input(0).type.dtype is not DType.FLOAT32 or layer.output.type.is_quantized:
        return no(f"it computes float32, not {layer.input(0).type}")
    if layer.input(0).constant is not None:
        return no("its input is a constant")
    return YES


def _supports_batch(layer: Layer) -> Support:
    if layer.attributes.get("training_mode", 0):
        return no("it normalizes with given statistics, not in training mode")
    return _supports(layer)


def _batch(layer: Layer) -> Workload:
    """(x - mean) * factor + shift, the channels innermost."""
    x = layer.input(0)
    scale, shift, mean, variance = (layer.input(i).value for i in range(1, 5))
    epsilon = np.float32(layer.attributes.get("epsilon", 1e-5))
    factor = (scale / np.sqrt(variance + epsilon)).astype(np.float32)
    channels = scale.size
    body = render(
        "batch_normalization.c.j2", rows=x.type.elements // max(channels, 1), channels=channels,
        clamp=clamp_lines(layer, "value"),
    )  # fmt: skip
    constants = (
        Constant("mean", mean.astype(np.float32)),
        Constant("factor", factor),
        Constant("shift", shift.astype(np.float32)),
    )
    return compute(
        layer, stem("batch_normalization", "float32", channels), body, constants,
        in_place=overlap.in_place(layer, np.arange(x.type.elements)),
    )  # fmt: skip


KERNELS = (
    Kernel("LayerNormalization", _supports_layer, _layer_normalization),
    either(
        Kernel("BatchNormalization", _supports_batch, _batch, LayoutRule.CHANNELS_LAST),
        Kernel("BatchNormalization", instance_normalization.supports, instance_normalization.batch),
    ),
)  # fmt: skip
