"""Kernels in assembler as proposals, and the workloads of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mcu_deploy.backends.interface import (
    Argument,
    CFunction,
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
    Target,
    Workload,
)
from mcu_deploy.backends.isa import Assembly, kernel
from mcu_deploy.backends.kit.arguments import OUTPUT, constant_argument, passed, pointer, scalar
from mcu_deploy.backends.kit.kit import Kit
from mcu_deploy.ir import Graph, TensorType

ID = "ArmDsp"
# For the C of drivers.
KIT = Kit(ID, Path(__file__).parent)
# The layouts of a proposal with one node.
CHANNELS_LAST = (LayoutRule.CHANNELS_LAST,)
ALIKE = (LayoutRule.SAME,)

# What is packed already, or is if the proposal wins.
Constants = Sequence[Constant] | Callable[[], Sequence[Constant]]


def proposal(
    part: SubgraphView,
    target: Target,
    stem: str,
    code: Assembly,
    constants: Constants,
    title: str,
    *,
    macs: int = 0,
    constant_bytes: int | None = None,
    scratch_bytes: int = 0,
    in_place: Sequence[InPlace] = (),
    layouts: tuple[LayoutRule, ...] = (LayoutRule.NATURAL,),
    replacement: Graph | None = None,
    only_for: str = "",
    operands: Mapping[str, int] | None = None,
    count: tuple[str, int] | None = None,
) -> Proposal:
    """A part that one kernel computes. constant_bytes: of constants that are not packed yet, or of
    all; operands, count: as `workload` has them; the rest is as in `Proposal` and `Price`."""
    price = Price(
        Costs(macs, cycles=code.time(target), flash=_bytes(constants, constant_bytes)),
        {f"{stem} {code.digest}": code.bytes},
        scratch_bytes, tuple(in_place),
    )  # fmt: skip

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        (layer,) = layers
        return (workload(layer, stem, code, _packed(constants), price, (), operands, count),)

    return Proposal(part, price, make, replacement, layouts, title, only_for)


def chain(
    part: SubgraphView,
    replacement: Graph,
    stem: str,
    body: str,
    constants: Constants,
    helpers: Callable[[Target], Sequence[CFunction]],
    title: str,
    *,
    code: Mapping[str, int],
    macs: int,
    cycles: int,
    scratch_bytes: int,
    in_place: Sequence[InPlace],
    constant_bytes: int | None = None,
) -> Proposal:
    """A part of several layers, by a driver in C. helpers: what it calls, which is made if the
    proposal wins; the rest is as `proposal` and `Price` have it."""
    costs = Costs(macs, cycles=cycles, flash=_bytes(constants, constant_bytes))
    price = Price(costs, code, scratch_bytes, tuple(in_place))

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        (layer,) = layers
        once = {helper.stem: helper for helper in helpers(layer.target)}
        return (workload(layer, stem, body, _packed(constants), price, (*once.values(),)),)

    return Proposal(part, price, make, replacement, CHANNELS_LAST, title)


def _bytes(constants: Constants, known: int | None) -> int:
    if known is not None:
        return known
    assert not callable(constants)
    return sum(constant.value.nbytes for constant in constants)


def _packed(constants: Constants) -> tuple[Constant, ...]:
    return tuple(constants() if callable(constants) else constants)


def workload(
    layer: Layer,
    stem: str,
    code: Assembly | str,
    constants: tuple[Constant, ...],
    price: Price,
    helpers: tuple[CFunction, ...] = (),
    operands: Mapping[str, int] | None = None,
    count: tuple[str, int] | None = None,
) -> Workload:
    """Of a layer with one output: pointers to its operands, to that, to the constants, and to the
    scratch where the price has some. code: the function, or the body of one in C. operands: which
    inputs they are, by what the code calls them; x, the first one, where None. count: the last
    argument, of code of no count of elements or rows, and what it is called."""
    operands = operands or {"x": 0}
    given, arrays = passed(layer, [*operands.values()])
    ends = (pointer(layer.input(which), name) for name, which in operands.items())
    arguments = [*given, OUTPUT]
    arguments += [constant_argument(n) for n in range(len(arrays), len(arrays) + len(constants))]
    parameters = [*ends, pointer(layer.output, "y", const=False)]
    parameters += [Parameter(f"const {c.ctype} *", c.stem) for c in constants]
    if price.scratch_bytes:
        arguments.append(Argument(Role.SCRATCH))
        parameters.append(Parameter("uint8_t *", "scratch"))
    if count is not None:
        arguments.append(scalar(count[1]))
        parameters.append(Parameter("uint32_t", count[0]))
    if is_c := isinstance(code, str):
        function = CFunction(stem, tuple(parameters), code)
    else:
        function = kernel(stem, parameters, code, layer.target)
    return Workload(
        ID, function, tuple(arguments), (*arrays, *constants), helpers,
        ("string.h",) if is_c else (), price.scratch_bytes, price.in_place, price.costs,
    )  # fmt: skip


def function_of(
    stem: str,
    x: TensorType,
    y: TensorType,
    code: Assembly,
    target: Target,
    constants: str = "weights",
    calls: int = 1,
) -> CFunction:
    """A kernel from an image to another one. constants: what it calls these. calls: as `kernel`
    has it."""
    parameters = (
        Parameter(f"const {x.dtype.c_type} *", "x"),
        Parameter(f"{y.dtype.c_type} *", "y"),
        Parameter("const uint32_t *", constants), Parameter("uint8_t *", "scratch"),
    )  # fmt: skip
    return kernel(stem, parameters, code, target, calls)
