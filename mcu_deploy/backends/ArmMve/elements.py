"""Kernels that go over elements one after the other, whatever their number, as proposals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcu_deploy.backends.ArmMve.workloads import ID
from mcu_deploy.backends.interface import (
    Argument,
    Constant,
    Costs,
    InPlace,
    Layer,
    LayoutRule,
    Parameter,
    Price,
    Proposal,
    Role,
    SubgraphView,
    Workload,
)
from mcu_deploy.backends.isa import Assembly, Register, kernel
from mcu_deploy.backends.kit.arguments import OUTPUT, constant_argument, passed, pointer, scalar

ALIKE = (LayoutRule.SAME,)


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
    scratch_bytes: int = 0,
    count: tuple[str, int] | None = None,
) -> Proposal:
    """A layer that one kernel computes. The code gets its operands, the output, the constants, the
    scratch where there is some, and a count where there is one. operands: which inputs they are, by
    what the code calls them; x, the first one, where None. count: what it is called, and its
    value."""
    which = operands or {"x": 0}
    arrays = sum(
        node.input(k).type.bytes for k in which.values() if node.input(k).constant is not None
    )
    price = Price(
        Costs(0, cycles=code.time(node.target),
              flash=arrays + sum(constant.value.nbytes for constant in constants)),
        {f"{stem} {code.digest}": code.bytes},
        scratch_bytes, tuple(in_place),
    )  # fmt: skip

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        (layer,) = layers
        given, kept = passed(layer, [*which.values()])
        parameters = [pointer(layer.input(k), name) for name, k in which.items()]
        parameters.append(pointer(layer.output, "y", const=False))
        parameters += [Parameter(f"const {c.ctype} *", c.stem) for c in constants]
        places = range(len(kept), len(kept) + len(constants))
        arguments = [*given, OUTPUT, *map(constant_argument, places)]
        if scratch_bytes:
            parameters.append(Parameter("uint8_t *", "scratch"))
            arguments.append(Argument(Role.SCRATCH))
        if count is not None:
            parameters.append(Parameter("uint32_t", count[0]))
            arguments.append(scalar(count[1]))
        function = kernel(stem, parameters, code, layer.target)
        return (
            Workload(
                ID, function, tuple(arguments), (*kept, *constants),
                scratch_bytes=scratch_bytes, in_place=price.in_place, costs=price.costs,
            ),
        )  # fmt: skip

    return Proposal(view.part([node.node.id]), price, make, None, layouts, title)


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
