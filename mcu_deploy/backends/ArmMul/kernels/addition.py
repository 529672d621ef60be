"""Sums and differences of two tensors of 8 bits, in integers.

An element is `(a * a_scale + b * b_scale + offset) >> shift`. The contract is in float32, with a
division, or rounds three times (TFLite's); the integers are tried on all 65,536 pairs of bytes when
the model is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmMul import walked
from mcu_deploy.backends.ArmMul.rounding import is_armv6m
from mcu_deploy.backends.ArmMul.walked import ElementFormula, Formulas, WalkPrices
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView
from mcu_deploy.backends.quantized import layers
from mcu_deploy.backends.quantized.linear_sums import LinearSum, solve
from mcu_deploy.backends.quantized.walks import Walk

OPERATORS = ("Add", "Sub", "tflite::Add", "tflite::Sub")

_ROOM = 256  # by less than that elements are counted from another one
_M3 = WalkPrices(40, 14, 13, 10, 1, 60, 32)
_M0_PLUS = WalkPrices(40, 20, 22.6, 16.4, 2.8, 90, 40)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A sum or a difference by itself, with its clamp."""

    def formulas(layer: Layer) -> Formulas | None:
        sums, (low, _) = solve(layer.domain, layer.call, _ROOM), layers.clamp(node)
        return None if sums is None else lambda walk: _formula(sums, low, walk)

    of = _M0_PLUS if is_armv6m(node.target) else _M3
    return walked.propose(view, node, "adds", of, formulas)


def _formula(sums: LinearSum, low: int, walk: Walk) -> ElementFormula:
    first, second = walk.ordered("ab")
    offset = sums.offset - (low << sums.shift)
    parts = "a[i] * a_scale + b[i] * b_scale + offset"
    if walk.is_fixed:
        parts = f"{first}[i] * {first}_scale + kept"
    return ElementFormula(
        {"a_scale": sums.a, "b_scale": sums.b, "offset": offset},
        f"{second}[0] * {second}_scale + offset", {"sum": f"({parts}) >> {sums.shift}"},
    )  # fmt: skip
