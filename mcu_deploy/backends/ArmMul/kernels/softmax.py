"""Softmax of ONNX on bytes, over the axis that lies last in memory, with one division a row.

As CpuRef's, it sums a table of exp at the distances from the row's maximum. The contract divides a
term by the sum and by the scale, in float32. A term times the reciprocal of both, in integers, is
off by a few units of its fraction; unless it is next to the middle of two elements, it rounds to
the same one. What is next to it is divided as the contract says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array, exponential_table
from mcu_deploy.backends.ArmMul.rounding import is_armv6m
from mcu_deploy.backends.ArmMul.workloads import KIT, RunCost, proposal
from mcu_deploy.backends.interface import Constant, Layer, LayoutRule, Proposal, SubgraphView
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import signature
from mcu_deploy.backends.kit.c_functions import QUANTIZE
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.requantization import output_quantization
from mcu_deploy.backends.quantized.layers import types_refusal
from mcu_deploy.operators.normalization import softmax_extent

OPERATORS = ("Softmax",)

_WORD = 32
_MOST_FRACTION, _LEAST_FRACTION = 16, 10  # bits of a product
_MOST_NEAR = 1 / 64  # of a step
# The reciprocal is rounded three times, the contract's quotient four times; both are cut once.
_ROUNDINGS, _CUT = 7 * 1.01, 2


class _Model(NamedTuple):
    """Cycles of a row, of an element, and of one that is divided; bytes of the function. Counted in
    QEMU."""

    row: float
    element: float
    divided: float
    code: int


_M3 = _Model(265, 46, 330, 290)
_M0_PLUS = _Model(790, 124, 1000, 330)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    x, y = node.input(0).type, node.output.type
    if reason := types_refusal(x, y):
        return reason
    outer, size, inner = softmax_extent(node.call)
    is_of_channels = (outer, size) == x.shape[:2] and x.rank <= 4
    if inner > 1 and not is_of_channels:
        return "it takes the last axis, or channels"
    if not y.elements:
        return "there is nothing to compute"
    table, _ = exponential_table(x.scaling.scale[0], size)
    scale = y.scaling.scale[0]
    # The sum has the maximum's term, at least, and the reciprocal is a word.
    most = math.floor(math.log2(float(table[0]) * scale * 0.999))
    fraction = min(most, _MOST_FRACTION)
    near = math.ceil(_ROUNDINGS * 2.0 ** (fraction - 24) / scale) + _CUT
    if fraction < _LEAST_FRACTION or 2 * near > _MOST_NEAR * 2**fraction:
        return "its output has too fine a scale, or too long an axis"
    return [_proposal(view, node, size, np.trim_zeros(table, "b"), fraction, near)]


def _proposal(
    view: SubgraphView, node: Layer, size: int, table: Array, fraction: int, near: int
) -> Proposal:
    x, y = node.input(0).type, node.output.type
    rows, out = x.elements // size, output_quantization(node)
    body = KIT.render(
        "softmax.c.j2", size=size, x_ctype=x.dtype.c_type, y_ctype=y.dtype.c_type,
        entries=len(table), fraction=fraction, half=1 << fraction - 1, near=near,
        scale=out.scale, store=out.store, zero=y.scaling.zero_point[0], high=y.dtype.range[1],
        one=float_literal(2.0 ** (_WORD + fraction) / y.scaling.scale[0]),
    )  # fmt: skip
    of = _M0_PLUS if is_armv6m(node.target) else _M3
    again = 2 * near / 2**fraction
    cycles = rows * (of.row + size * (of.element + again * of.divided))
    constant = Constant("exponential", table)
    return proposal(
        view, node, f"softmax_{size}_{x.dtype.value}", body,
        lambda layer: signature(layer, (constant,)).numbers({"rows": rows}),
        work=RunCost(cycles, 2 * x.elements), flash=table.nbytes, code={body: of.code},
        title="softmax",
        layout=LayoutRule.CHANNELS_LAST if softmax_extent(node.call)[2] > 1 else LayoutRule.NATURAL,
        helpers=(QUANTIZE,), in_place=overlap.in_place(node, np.arange(x.elements)),
    )  # fmt: skip
