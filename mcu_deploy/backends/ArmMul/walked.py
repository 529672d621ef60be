"""Layers of two tensors of 8 bits, element by element, in integers.

Elements are counted from the lowest one, so that they are clamped at 0: the M3 has an instruction
for 0 to 255, and the M0 none that jumps. The numbers are loaded: gcc multiplies by those that it
knows in shifts and sums, which take longer on the M0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.backends.ArmMul.workloads import KIT, RunCost, proposal
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa.clamps import opened
from mcu_deploy.backends.kit.arguments import Prototype, signature
from mcu_deploy.backends.kit.loops import plus
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.quantized import byte_pairs, layers
from mcu_deploy.backends.quantized.walks import Walk, laid, walks
from mcu_deploy.ir import DType


class WalkPrices(NamedTuple):
    """Cycles of a call, of a turn of the loops around a run, of an element, of one that meets the
    same along its run, and what int8 adds to these; bytes of the function, and what loops add to
    it. Counted in QEMU."""

    call: float
    turn: float
    element: float
    fixed: float
    signed: float
    code: int
    loops: int


class ElementFormula(NamedTuple):
    """numbers: those that are loaded, by their names. kept: C for what is made once of an element
    that a run has one of. steps: C for what is made of each pair, by its name: `a[i]`, `b[i]`, and
    `kept`; the last is `sum`, the output counted from the lowest one."""

    numbers: Mapping[str, int]
    kept: str
    steps: Mapping[str, str]


Formulas = Callable[[Walk], ElementFormula]


def propose(
    view: SubgraphView, node: Layer, verb: str, of: WalkPrices,
    solve: Callable[[Layer], Formulas | None],
) -> Sequence[Proposal] | str:  # fmt: skip
    """A layer by itself, with its clamp, which `solve` does not see: what gives its elements in
    each order of them, if there are integers that do. verb: of a refusal, "adds"."""
    layer = opened(node)
    if reason := byte_pairs.refusal(layer, verb, 2):
        return reason
    found = walks(layer)
    if isinstance(found, str):
        return found
    formulas = solve(layer)
    if formulas is None:
        return "no integers give its elements of all pairs of bytes"
    return [_proposal(view, node, walk, formulas(walk), of) for walk in found]


def _proposal(
    view: SubgraphView, node: Layer, walk: Walk, formula: ElementFormula, of: WalkPrices
) -> Proposal:
    y, (low, high) = node.output.type, layers.clamp(node)
    computed = [k for k in (0, 1) if node.input(k).constant is None]
    numbers = Constant("numbers", np.array([*formula.numbers.values()], np.int32))
    body = KIT.render(
        "walked.c.j2", walk=walk, names=walk.ordered("ab"), bound=high - low,
        element=_element(low), y_ctype=y.dtype.c_type, **formula._asdict(),
    )  # fmt: skip
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
        given = signature(laid(made, walk.rule), (numbers,), {"a": 0, "b": 1})
        return given if sizes else given.numbers({"count": walk.run})

    return proposal(
        view, node, stem(node.op.lower(), y.dtype.value, *sizes), body, give,
        work=RunCost(cycles, loads), flash=constants + numbers.value.nbytes,
        code={body: of.code + (of.loops if walk.turns else 0)},
        title=node.op.lower(), layout=walk.rule,
        in_place=tuple(InPlace(k, 0, 0) for k in walk.whole if k in computed),
    )  # fmt: skip


def _element(low: int) -> str:
    """C for the lower 8 bits of `low + counted`."""
    # gcc would clamp behind a sum.
    return "counted ^ 128" if low == -128 else plus("counted", low)
