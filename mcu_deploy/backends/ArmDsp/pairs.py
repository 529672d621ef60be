"""What sums, products and maxima of two int8 tensors have in common, of which one may be constant.

Operands of other shapes are broadcast (quantized/walks.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from mcu_deploy.backends.ArmDsp.workloads import Called, proposal
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    Parameter,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.kit.arguments import pointer
from mcu_deploy.backends.quantized.walks import Walk, laid, walks


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
        self, code: Assembly, walk: Walk, words: Sequence[Register], end: Register,
        fixed: Register | None = None,
    ) -> None:  # fmt: skip
        """Takes the constants. words: those of the kernel, of which `end` is the bytes of a run's
        words, and becomes where they end in the output where all is one run; fixed: what a run
        changes, if anything, where one operand has a single element."""
        if walk.turns:
            code.ldmia(self.constants.moving, words)
            code.vmov(self.run, end)
            self._load(code, walk)
        else:
            code.ldmia(self.constants, words)
            code.add(end, end, self.y)
        if walk.is_fixed and fixed is not None:
            code.vmov(self.kept, fixed)

    def begin_run(self, code: Assembly, walk: Walk, at_once: int, end: Register) -> None:
        """Of several runs, `end` becomes where the words of the next one end in the output."""
        if walk.turns and walk.run >= at_once:
            code.vmov(end, self.run)
            code.add(end, end, self.y)

    @contextmanager
    def runs(self, code: Assembly, walk: Walk) -> Iterator[None]:
        """The loops, around a run, at whose end the operands' addresses are behind it."""
        if not walk.turns:
            yield
            return
        with self._loop(code, walk, 1), self._loop(code, walk, 0):
            yield

    @contextmanager
    def _loop(self, code: Assembly, walk: Walk, which: int) -> Iterator[None]:
        left, step_a, step_b = code.registers("turns_left step_a step_b")
        kept = self.left[which]
        code.vmov(left, self.turns.halves[which])
        code.vmov(kept, left)
        with code.repeat(walk.turns[which]):
            yield
            code.vmov(step_a, step_b, self.steps[which])
            code.add(self.a, self.a, step_a)
            code.add(self.b, self.b, step_b)
            code.vmov(left, kept)
            code.subs(left, left, 1)
            code.vmov(kept, left)

    def _load(self, code: Assembly, walk: Walk) -> None:
        """The constants of the loops."""
        if not walk.turns:
            return
        words = code.registers("inner_a inner_b outer_a outer_b")
        code.ldmia(self.constants.moving, words)
        code.vmov(self.steps[0], *words[:2])
        code.vmov(self.steps[1], *words[2:])
        code.ldmia(self.constants, words[:2])
        code.vmov(self.turns, *words[:2])


def called(layer: Layer, stem: str, code: Assembly, walk: Walk) -> Called:
    """By a driver, a kernel of both operands, the output and the constants."""
    parameters = (
        *walk.ordered([pointer(layer.input(k), name) for k, name in enumerate("ab")]),
        pointer(layer.output, "y", const=False), Parameter("const int32_t *", "constants"),
    )  # fmt: skip
    return Called(stem, parameters, code)


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
    return replace(
        made, make=lambda layers, _: made.make([laid(of, walk.rule) for of in layers], _)
    )
