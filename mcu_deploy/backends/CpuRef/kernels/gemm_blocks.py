"""Gemm and MatMul of float32 with weights of 4 bits, a scale for each block of a column.

Two weights lie in a byte, the first in its low half, each plus 8, column by column. Order of the
sums: the products of a block along the depth, times its scale; the blocks; then the bias.
"""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.CpuRef.kernels.base import compute, render
from mcu_deploy.backends.interface import YES, Constant, Layer, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.backends.kit.requantization import clamp_lines
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import DType
from mcu_deploy.operators.weight_only import BLOCK, SCALES

# A half of a byte is a weight plus this.
_OFFSET = 8


def has_blocks(layer: Layer) -> bool:
    """Whether a layer of the domain "mcu" has weights with a scale for each block."""
    return BLOCK in layer.attributes


def supports(layer: Layer) -> Support:
    """Whether the kernel computes such a Gemm or MatMul."""
    for operand in (layer.input(0), layer.output):
        if operand.type.dtype is not DType.FLOAT32:
            return no(f"it computes float32 with 4-bit weights, not {operand.type}")
    bias = layer.optional(2)
    if layer.input(1).constant is None or layer.input(SCALES).constant is None:
        return no("its weights or their scales are computed at run time")
    if bias is not None and bias.constant is None:
        return no("its bias is computed at run time")
    return no("it does not transpose the first matrix") if layer.attributes.get("transA") else YES


def create(layer: Layer) -> Workload:
    """y[r][n] = clamp(alpha * sum_b scale[n][b] * sum_k x[r][b][k] * w[n][b][k] + bias[r][n])."""
    weights, scales, y = layer.input(1).constant, layer.input(SCALES).constant, layer.output
    assert weights is not None
    assert scales is not None
    if not layer.attributes.get("transB", 0):
        weights, scales = weights.T, scales.T
    (columns, depth), block = weights.shape, int(layer.attributes[BLOCK])
    rows = math.prod(y.type.shape[:-1])
    r, n = counter("r", rows), counter("n", columns)
    b, k = counter("b", depth // block), counter("k", block // 2)
    offsets, step = _bias(layer), plus(n)
    if offsets.ndim > 1:
        step = plus(times(r, columns), n)
    alpha = float(layer.attributes.get("alpha", 1.0))
    body = render(
        "gemm_blocks.c.j2", r=r, n=n, b=b, k=k, depth=depth, block=block, bias_step=step,
        alpha="" if alpha == 1.0 else float_literal(alpha), clamp=clamp_lines(layer, "sum"),
        offset=_OFFSET,
    )  # fmt: skip
    constants = (
        Constant("weights", packed(weights)),
        Constant("scale", np.ascontiguousarray(scales.astype(np.float32))),
        Constant("bias", offsets),
    )
    # A row is read again for each of its columns.
    lowest = overlap.strided((rows, columns), (depth, 0))
    return compute(
        layer, stem("dense", "weights4", depth, columns), body, constants,
        in_place=overlap.in_place(layer, lowest),
    )  # fmt: skip


def packed(weights: Array) -> Array:
    """[columns, depth], of -8 to 7, as bytes."""
    halves = (weights.astype(np.int16) + _OFFSET).astype(np.uint8).reshape(-1, 2)
    return np.asarray(halves[:, 0] | halves[:, 1] << 4)


def _bias(layer: Layer) -> Array:
    """[columns], or [rows, columns] where these differ."""
    bias, shape = layer.optional(2), layer.output.type.shape
    if bias is None or bias.constant is None:
        return np.zeros(shape[-1], np.float32)
    beta = np.float32(layer.attributes.get("beta", 1.0))
    whole = np.broadcast_to(bias.constant * beta, shape).reshape(-1, shape[-1])
    same = bool(np.all(whole == whole[:1]))
    return np.ascontiguousarray(whole[0] if same else whole, np.float32)
