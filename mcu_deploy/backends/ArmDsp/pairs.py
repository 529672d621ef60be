"""What sums and products of two int8 tensors have in common, of which one may be constant.

Operands of other shapes are broadcast, in whichever order their axes lie: the output is gone over
in runs of neighbours, in which each operand has neighbours, too, or one of them a single element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from mcu_deploy.backends.ArmDsp.workloads import proposal
from mcu_deploy.backends.interface import (
    CFunction,
    Constant,
    InPlace,
    Layer,
    LayoutRule,
    Parameter,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa import Assembly, Kind, Register, kernel
from mcu_deploy.backends.kit.arguments import pointer
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

    @property
    def words(self) -> Sequence[int]:
        """The constants of the loops."""
        return [*(step for both in self.steps for step in both), *self.turns]

    def ordered(self, pair: Sequence[Any]) -> Sequence[Any]:
        """What belongs to the layer's operands, in the order of the kernel's."""
        return pair[::-1] if self.is_swapped else pair

    @contextmanager
    def runs(self, code: Assembly, given: Given) -> Iterator[None]:
        """The loops, around a run, at whose end the operands' addresses are behind it."""
        if not self.turns:
            yield
            return
        with self._loop(code, given, 1), self._loop(code, given, 0):
            yield

    @contextmanager
    def _loop(self, code: Assembly, given: Given, which: int) -> Iterator[None]:
        left, step_a, step_b = code.registers("turns_left step_a step_b")
        kept = given.left[which]
        code.vmov(left, given.turns.halves[which])
        code.vmov(kept, left)
        with code.repeat(self.turns[which]):
            yield
            code.vmov(step_a, step_b, given.steps[which])
            code.add(given.a, given.a, step_a)
            code.add(given.b, given.b, step_b)
            code.vmov(left, kept)
            code.subs(left, left, 1)
            code.vmov(kept, left)

    def load(self, code: Assembly, given: Given) -> None:
        """The constants of the loops."""
        if not self.turns:
            return
        words = code.registers("inner_a inner_b outer_a outer_b")
        code.ldmia(given.constants.moving, words)
        code.vmov(given.steps[0], *words[:2])
        code.vmov(given.steps[1], *words[2:])
        code.ldmia(given.constants, words[:2])
        code.vmov(given.turns, *words[:2])


class Given:
    """The arguments of a kernel, and what it keeps in the FPU's registers: bytes that the operands
    go on by behind each inner loop's turn, and each outer one's; turns of both; turns that are
    left; a constant that runs change; the bytes of a run's words."""

    def __init__(self, code: Assembly) -> None:
        self.a, self.b, self.y, self.constants = code.arguments("a b y constants")
        self.steps = code.registers("inner_steps outer_steps", kind=Kind.DOUBLE)
        self.turns = code.register("turns", kind=Kind.DOUBLE)
        self.left = code.registers("inner_left outer_left", kind=Kind.SINGLE)
        self.kept, self.run = code.registers("kept run_bytes", kind=Kind.SINGLE)

    def begin(
        self, code: Assembly, walk: Walk, words: Sequence[Register], end: Register, fixed: Register
    ) -> None:
        """Takes the constants. words: those of the kernel, of which `end` is the bytes of a run's
        words, and becomes where they end in the output where all is one run; fixed: what a run
        changes where one operand has a single element."""
        if walk.turns:
            code.ldmia(self.constants.moving, words)
            code.vmov(self.run, end)
            walk.load(code, self)
        else:
            code.ldmia(self.constants, words)
            code.add(end, end, self.y)
        if walk.is_fixed:
            code.vmov(self.kept, fixed)

    def begin_run(self, code: Assembly, walk: Walk, at_once: int, end: Register) -> None:
        """Of several runs, `end` becomes where the words of the next one end in the output."""
        if walk.turns and walk.run >= at_once:
            code.vmov(end, self.run)
            code.add(end, end, self.y)


def walks(layer: Layer) -> Sequence[Walk] | str:
    """The orders in which a kernel could go over a layer, or why there is none, a clause."""
    operands, y = [layer.input(k).type for k in (0, 1)], layer.output.type
    if all(o.shape == y.shape for o in operands):
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


def function(layer: Layer, stem: str, code: Assembly, walk: Walk) -> CFunction:
    """A kernel as a C function of both operands, the output and the constants."""
    parameters = (
        *walk.ordered([pointer(layer.input(k), name) for k, name in enumerate("ab")]),
        pointer(layer.output, "y", const=False), Parameter("const int32_t *", "constants"),
    )  # fmt: skip
    return kernel(stem, parameters, code, layer.target)


def _laid(layer: Layer, walk: Walk) -> Layer:
    """The layer with constants in the order in which the walk goes over them, not the model's."""

    def order(type_: TensorType) -> tuple[int, ...] | None:
        if walk.rule is LayoutRule.SAME:
            return layer.output.type.layout
        is_last = walk.rule is LayoutRule.CHANNELS_LAST and type_.rank > 2
        return channels_last(type_.rank) if is_last else None

    laid = (
        o if o is None or o.constant is None
        else replace(o, type=replace(o.type, layout=order(o.type)))
        for o in layer.inputs
    )  # fmt: skip
    return replace(layer, inputs=tuple(laid))


def proposals(
    view: SubgraphView, node: Layer, make: Callable[[Walk], tuple[str, Assembly, Constant]]
) -> Sequence[Proposal] | str:
    """Of a kernel that reads each element before it writes there. make: its stem, code and
    constants."""
    found = walks(node)
    if isinstance(found, str):
        return found
    return [_proposal(view, node, walk, *make(walk)) for walk in found]


def _proposal(
    view: SubgraphView, node: Layer, walk: Walk, stem: str, code: Assembly, constants: Constant
) -> Proposal:
    computed = [k for k in (0, 1) if node.input(k).constant is None]
    arrays = sum(node.input(k).type.bytes for k in (0, 1) if k not in computed)
    made = proposal(
        view.part([node.node.id]), node.target, stem, code, [constants], node.op.lower(),
        constant_bytes=constants.value.nbytes + arrays,
        in_place=[InPlace(k, 0, 0) for k in walk.whole if k in computed],
        layouts=(walk.rule,), operands=dict(walk.ordered([("a", 0), ("b", 1)])),
    )  # fmt: skip
    return replace(made, make=lambda layers, _: made.make([_laid(of, walk) for of in layers], _))
