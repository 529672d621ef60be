"""Sums and differences of two tensors of 8 bits, by products of 32 bits.

An element is `(a * a_scale + b * b_scale + offset) >> down`: integers that give the oracle's
element, which is computed in float32, for all 65,536 pairs of bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mcu_deploy.backends.ArmMul.rounding import is_armv6m
from mcu_deploy.backends.ArmMul.workloads import KIT, Work, proposal
from mcu_deploy.backends.interface import (
    InPlace,
    Layer,
    LayoutRule,
    Parameter,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa.clamps import opened
from mcu_deploy.backends.kit.arguments import Prototype, scalar, signature
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.quantized import byte_pairs, layers, linear_sums

OPERATORS = ("Add", "Sub", "tflite::Add", "tflite::Sub")


class _Price(NamedTuple):
    """Cycles of a call and of an element, and the bytes of the function."""

    call: float
    element: float
    code: int


_M3, _M0_PLUS = _Price(60, 17.6, 90), _Price(70, 23.6, 100)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A sum or a difference of tensors of one shape, with its clamp."""
    layer = opened(node)
    if reason := byte_pairs.refusal(layer, "adds", 1):
        return reason
    operands, y = [layer.input(k) for k in (0, 1)], layer.output.type
    if any(o.constant is not None or o.type.shape != y.shape for o in operands):
        return "it adds computed tensors of one shape"
    found = linear_sums.solve(layer.domain, layer.call)
    if found is None:
        return "no integers give what float32 gives for all pairs of bytes"
    low, high = layers.clamp(node)
    types = [t.dtype.value for t in (operands[0].type, operands[1].type, y)]
    name = stem("add_mul", "_".join(types if len({*types}) > 1 else types[:1]))
    body = KIT.render("addition.c.j2", y_ctype=y.dtype.c_type)
    numbers = {
        "count": y.elements, "a_scale": found.a, "b_scale": found.b, "offset": found.offset,
        "down": found.shift, "low": low, "high": high,
    }  # fmt: skip

    def give(made: Layer) -> Prototype:
        given = signature(made, (), {"a": 0, "b": 1})
        for number, value in numbers.items():
            given.add(Parameter("int32_t", number), scalar(value))
        return given

    of = _M0_PLUS if is_armv6m(node.target) else _M3
    cycles = of.call + of.element * y.elements
    return [
        proposal(
            view, node, name, body, give, work=Work(cycles), flash=0,
            code={name: of.code}, title=node.op.lower(), layout=LayoutRule.SAME,
            in_place=(InPlace(0, 0, 0), InPlace(1, 0, 0)),
        )
    ]  # fmt: skip
