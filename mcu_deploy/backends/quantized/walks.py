"""How kernels of two operands go over them: in runs of neighbours, with loops around these.

Operands of other shapes are broadcast, in whichever order their axes lie: in a run of the output
each operand has neighbours, too, or one of them a single element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcu_deploy.backends.interface import Layer, LayoutRule
from mcu_deploy.backends.kit.strides import broadcast_loops
from mcu_deploy.ir import TensorType
from mcu_deploy.ir.types import channels_last

_LOOPS = 2  # around a run


@dataclass(frozen=True)
class Walk:
    """How a kernel goes over both operands and the output.

    run: elements. is_fixed: of the second operand a run has one element. turns, steps: of the loops
    around, the inner one first: how often, and by how many bytes each operand goes on behind a
    turn; none where all is one run. is_swapped: the layer's second operand is the first here.
    whole: the layer's operands that lie as the output does. rule: how all must lie for this.
    """

    run: int
    is_fixed: bool = False
    turns: tuple[int, ...] = ()
    steps: tuple[tuple[int, int], ...] = ()
    is_swapped: bool = False
    whole: tuple[int, ...] = (0, 1)
    rule: LayoutRule = LayoutRule.SAME

    @property
    def kind(self) -> str:
        """For a name that functions of different code do not share."""
        return "_fixed" * self.is_fixed + "_swapped" * self.is_swapped + "_runs" * bool(self.turns)

    def kind_by(self, at_once: int) -> str:
        """The same, of functions whose loop takes so many elements at once: whether a run has that
        many, and what is left of it."""
        rest = self.run % at_once
        return self.kind + "_few" * (self.run < at_once) + (f"_and_{rest}" if rest else "")

    @property
    def words(self) -> Sequence[int]:
        """The constants of the loops."""
        return [*(step for both in self.steps for step in both), *self.turns]

    def ordered(self, pair: Sequence[Any]) -> Sequence[Any]:
        """What belongs to the layer's operands, in the order of the kernel's."""
        return pair[::-1] if self.is_swapped else pair


def walks(layer: Layer) -> Sequence[Walk] | str:
    """The orders in which a kernel could go over a layer, or why there is none, a clause."""
    operands, y = [layer.input(k).type for k in (0, 1)], layer.output.type
    if y.elements == 1 or all(o.shape == y.shape for o in operands):
        return [Walk(y.elements)]
    rules = [LayoutRule.NATURAL, *([LayoutRule.CHANNELS_LAST] if y.rank > 2 else [])]
    found = [_walk(operands, y, rule) for rule in rules]
    return [one for one in found if one is not None] or "its operands are broadcast in many loops"


def _walk(operands: Sequence[TensorType], y: TensorType, rule: LayoutRule) -> Walk | None:
    """Of operands that lie as the rule says."""
    if rule is LayoutRule.CHANNELS_LAST:
        y, *operands = (
            replace(t, layout=channels_last(t.rank)) if t.rank > 2 else t for t in (y, *operands)
        )
    loops = broadcast_loops(y, (*operands, y))
    *around, run = loops.extents
    both = loops.steps[:2]
    moves = tuple(steps[-1] for steps in both)
    if moves not in ((1, 1), (1, 0), (0, 1)) or len(around) > _LOOPS:
        return None
    whole = tuple(k for k in (0, 1) if both[k] == loops.steps[2])
    walk = Walk(run, moves != (1, 1), is_swapped=moves == (0, 1), whole=whole, rule=rule)
    if not around:
        return walk
    turns = (*reversed(around), *(1 for _ in range(_LOOPS - len(around))))
    steps = []
    for strides in walk.ordered(both):
        moved = [extent * stride for extent, stride in zip(loops.extents, strides, strict=True)]
        inward = [stride - inner for stride, inner in zip(strides, moved[1:], strict=False)]
        steps.append((*reversed(inward), *(0 for _ in range(_LOOPS - len(around)))))
    return replace(walk, turns=turns, steps=tuple(zip(*steps, strict=True)))


def laid(layer: Layer, rule: LayoutRule) -> Layer:
    """The layer with constants in the order in which a kernel of this rule goes over them, not the
    model's."""

    def order(type_: TensorType) -> tuple[int, ...] | None:
        y = layer.output.type
        if rule is LayoutRule.SAME:
            return y.layout if type_.rank == y.rank else None
        is_last = rule is LayoutRule.CHANNELS_LAST and type_.rank > 2
        return channels_last(type_.rank) if is_last else None

    laid = (
        o if o is None or o.constant is None
        else replace(o, type=replace(o.type, layout=order(o.type)))
        for o in layer.inputs
    )  # fmt: skip
    return replace(layer, inputs=tuple(laid))
