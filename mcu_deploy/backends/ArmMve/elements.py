"""Kernels that go over elements one after the other, whatever their number, as proposals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mcu_deploy.backends.ArmMve import workloads
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    LayoutRule,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.workloads import ALIKE


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
    return workloads.proposal(
        view.part([node.node.id]), node.target, stem, code, constants, title,
        constant_bytes=arrays + sum(constant.value.nbytes for constant in constants),
        in_place=in_place, layouts=layouts, operands=operands, count=count,
    )  # fmt: skip


def of_two(
    view: SubgraphView, node: Layer, stem: str, code: Assembly, constant: Constant
) -> Proposal:
    """A layer of two operands, a and b, of one shape, either of which the output may lie on.
    stem: with a place for the names of their types, {}."""
    y, given = node.output.type, [node.input(k) for k in (0, 1)]
    types = [t.dtype.value for t in (*(operand.type for operand in given), y)]
    return proposal(
        view, node, stem.format("_".join(types if len({*types}) > 1 else types[:1])), code,
        [constant], node.op.lower(),
        in_place=[InPlace(k, 0, 0) for k in (0, 1) if given[k].constant is None],
        operands={"a": 0, "b": 1}, count=("elements", y.elements),
    )  # fmt: skip


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
