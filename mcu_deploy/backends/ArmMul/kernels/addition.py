"""Sums and differences of two tensors of 8 bits, in integers.

An element is `(a * a_scale + b * b_scale + offset) >> shift`. The contract is in float32, with a
division, or rounds three times (TFLite's); the integers are tried on all 65,536 pairs of bytes when
the model is compiled.

Elements are counted from the lowest one, so that they are clamped at 0: the M3 has an instruction
for 0 to 255, and the M0 none that jumps. The numbers are loaded: gcc multiplies by those that it
knows in shifts and sums, which take longer on the M0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.backends.ArmMul.rounding import is_armv6m
from mcu_deploy.backends.ArmMul.workloads import KIT, RunCost, proposal
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa.clamps import opened
from mcu_deploy.backends.kit.arguments import Prototype, signature
from mcu_deploy.backends.kit.loops import plus
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.quantized import byte_pairs, layers
from mcu_deploy.backends.quantized.linear_sums import LinearSum, solve
from mcu_deploy.backends.quantized.walks import Walk, laid, walks
from mcu_deploy.ir import DType

OPERATORS = ("Add", "Sub", "tflite::Add", "tflite::Sub")

_ROOM = 256  # by less than that elements are counted from another one


class _Model(NamedTuple):
    """Cycles of a call, of a turn of the loops around a run, of an element, of one that is added to
    the same along its run, and what int8 adds to these; bytes of the function, and what loops add
    to it. Counted in QEMU."""

    call: float
    turn: float
    element: float
    fixed: float
    signed: float
    code: int
    loops: int


_M3 = _Model(40, 14, 13, 10, 1, 60, 32)
_M0_PLUS = _Model(40, 20, 22.6, 16.4, 2.8, 90, 40)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A sum or a difference by itself, with its clamp."""
    layer = opened(node)
    if reason := byte_pairs.refusal(layer, "adds", 2):
        return reason
    found = walks(layer)
    if isinstance(found, str):
        return found
    sums = solve(layer.domain, layer.call, _ROOM)
    if sums is None:
        return "no integers give its elements of all pairs of bytes"
    return [_proposal(view, node, walk, sums) for walk in found]


def _proposal(view: SubgraphView, node: Layer, walk: Walk, sums: LinearSum) -> Proposal:
    y, (low, high) = node.output.type, layers.clamp(node)
    computed = [k for k in (0, 1) if node.input(k).constant is None]
    numbers = [sums.a, sums.b, sums.offset - (low << sums.shift)]
    scales = Constant("scales", np.array(numbers, np.int32))
    body = KIT.render(
        "addition.c.j2", walk=walk, names=walk.ordered("ab"), shift=sums.shift,
        bound=high - low, element=_element(low), y_ctype=y.dtype.c_type,
    )  # fmt: skip
    of = _M0_PLUS if is_armv6m(node.target) else _M3
    turns = math.prod(walk.turns)
    element = of.fixed if walk.is_fixed else of.element
    element += of.signed if y.dtype is DType.INT8 else 0
    cycles = of.call + turns * of.turn + y.elements * element
    constants = sum(node.input(k).type.bytes for k in (0, 1) if k not in computed)
    # A constant's elements are loaded one by one.
    loads = constants and (turns if walk.is_fixed else y.elements)
    sizes = (*reversed(walk.turns), walk.run) if walk.turns else ()

    def give(made: Layer) -> Prototype:
        """Layers of one run share their function, but for how many elements it has."""
        given = signature(laid(made, walk.rule), (scales,), {"a": 0, "b": 1})
        return given if sizes else given.numbers({"count": walk.run})

    return proposal(
        view, node, stem(node.op.lower(), y.dtype.value, *sizes), body, give,
        work=RunCost(cycles, loads), flash=constants + scales.value.nbytes,
        code={body: of.code + (of.loops if walk.turns else 0)},
        title=node.op.lower(), layout=walk.rule,
        in_place=tuple(InPlace(k, 0, 0) for k in walk.whole if k in computed),
    )  # fmt: skip


def _element(low: int) -> str:
    """C for the lower 8 bits of `low + counted`."""
    # gcc would clamp behind a sum.
    return "counted ^ 128" if low == -128 else plus("counted", low)
