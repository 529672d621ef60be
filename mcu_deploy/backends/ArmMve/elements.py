"""Kernels that go over elements one after the other, whatever their number, as proposals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from mcu_deploy.backends.ArmMve import workloads
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    LayoutRule,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.workloads import ALIKE
from mcu_deploy.backends.quantized.walks import Walk, laid


def proposal(
    view: SubgraphView,
    node: Layer,
    stem: str,
    code: Assembly,
    constants: Sequence[Constant],
    title: str,
    *,
    in_place: Sequence[InPlace] = (),
    layouts: tuple[LayoutRule, ...] = ALIKE,
    operands: Mapping[str, int] | None = None,
    count: tuple[str, int] | None = None,
) -> Proposal:
    """A layer that one kernel computes, without scratch. Its price has the flash of operands that
    are constants; the rest is as `Kernels.proposal` has it."""
    given = [node.input(k) for k in (operands or {"x": 0}).values()]
    arrays = sum(operand.type.bytes for operand in given if operand.constant is not None)
    made = workloads.proposal(
        view.part([node.node.id]), node.target, stem, code, constants, title,
        constant_bytes=arrays + sum(constant.value.nbytes for constant in constants),
        in_place=in_place, layouts=layouts, operands=operands, count=count,
    )  # fmt: skip
    (rule,) = layouts
    return replace(made, make=lambda layers, _: made.make([laid(of, rule) for of in layers], _))


def of_two(
    view: SubgraphView, node: Layer, stem: str, code: Assembly, constant: Constant, walk: Walk
) -> Proposal:
    """A layer of two operands, a and b in the walk's order. The output may lie on each that has its
    shape. stem: with a place for the names of their types, {}."""
    y, given = node.output.type, [node.input(k) for k in (0, 1)]
    types = [t.dtype.value for t in (*(operand.type for operand in given), y)]
    stem = stem.format("_".join(types if len({*types}) > 1 else types[:1]))
    return proposal(
        view, node, stem.replace("_mve", f"{walk.kind}_mve"), code, [constant], node.op.lower(),
        in_place=[InPlace(k, 0, 0) for k in walk.whole if given[k].constant is None],
        layouts=(walk.rule,), operands=dict(walk.ordered([("a", 0), ("b", 1)])),
        count=None if walk.turns else ("elements", walk.run),
    )  # fmt: skip


def arguments(code: Assembly, walk: Walk) -> tuple[Register, ...]:
    """Of a kernel of two operands: a, b, the output, constants, and what counts the elements, which
    is an argument where all is one run."""
    names = "a b y constants" if walk.turns else "a b y constants elements"
    given = code.arguments(names)
    return (*given, code.register("elements")) if walk.turns else tuple(given)


@contextmanager
def runs(
    code: Assembly, walk: Walk, places: Sequence[Register], count: Register, lanes: int
) -> Iterator[None]:
    """The loops around a run, which moves a, the output, and b where it has neighbours there, by
    whole vectors of so many lanes. places: a, b and the output; count: becomes the elements of a
    run where these are no argument. Turns are counted in the last vector register."""
    left, free = code.registers("turns_left step")
    kept = code.registers("outer_left inner_left", "s30", "s31", kind=Kind.SINGLE)
    with ExitStack() as loops:
        for which in (1, 0) if walk.turns else ():
            if walk.turns[which] > 1:
                loops.enter_context(_loop(code, walk, which, places, kept[1 - which], left, free))
        if walk.turns:
            code.number(count, walk.run)
        yield
        if walk.turns and (over := -walk.run % lanes):
            for place in (*places[: 1 if walk.is_fixed else 2], places[-1]):
                code.sub(place, place, over)


@contextmanager
def _loop(
    code: Assembly, walk: Walk, which: int, places: Sequence[Register],
    kept: Register, left: Register, free: Register,
) -> Iterator[None]:  # fmt: skip
    code.number(left, walk.turns[which])
    code.vmov(kept, left)
    with code.repeat(walk.turns[which]):
        yield
        for place, step in zip(places, walk.steps[which], strict=False):
            code.offset(place, step, free)
        code.vmov(left, kept)
        code.subs(left, left, 1)
        code.vmov(kept, left)


# Of one vector its instructions, each a function that adds it, and when it is issued: cycles behind
# the first.
Steps = Sequence[tuple[int, Callable[[], None]]]


def run(
    code: Assembly,
    count: Register,
    elements: int,
    lanes: int,
    unrolled: int,
    period: int,
    steps: Callable[[int], Steps],
) -> None:
    """The way over so many elements as a register says: whole rounds of so many vectors, one of
    which begins every `period` cycles, and what is left of them vector by vector, the last one by
    a predicate. elements: of which it is priced; steps: of the n-th vector of a round."""
    at_once = lanes * unrolled
    last, done = code.label(), code.label()
    whole, rest = divmod(elements, at_once)
    rounds = code.register("rounds")
    code.lsrs(rounds, count, at_once.bit_length() - 1)
    code.beq(last)
    with code.times(whole > 0), code.counted(max(1, whole), rounds):
        timed = [
            (period * n + at, add) for n in range(unrolled) for at, add in steps(n)
        ]  # fmt: skip
        for _, add in sorted(timed, key=lambda step: step[0]):
            add()
    code.place(last)
    code.ands(count, count, at_once - 1)
    code.beq(done)
    with (
        code.times(rest > 0),
        code.counted(-(-max(1, rest) // lanes), count, 128 // lanes),
    ):
        for _, add in steps(0):
            add()
    code.place(done)
