"""Kernels in assembler as proposals, and the workloads of these, of all backends that have some."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mcu_deploy.backends.interface import (
    CFunction,
    Constant,
    Costs,
    InPlace,
    Layer,
    LayoutRule,
    Parameter,
    Price,
    Proposal,
    SubgraphView,
    Target,
    Workload,
)
from mcu_deploy.backends.isa.assembly import Assembly
from mcu_deploy.backends.isa.function import kernel
from mcu_deploy.backends.kit.arguments import scalar, signature
from mcu_deploy.ir import Graph, TensorType

# The layouts of a proposal with one node.
CHANNELS_LAST = (LayoutRule.CHANNELS_LAST,)
ALIKE = (LayoutRule.SAME,)
NATURAL = (LayoutRule.NATURAL,)

# What is packed already, or is if the proposal wins.
Constants = Sequence[Constant] | Callable[[], Sequence[Constant]]


class Callee(Protocol):
    """What a driver calls. bytes: as `Price` has the code."""

    @property
    def stem(self) -> str: ...

    @property
    def bytes(self) -> Mapping[str, int]: ...

    def function(self, target: Target) -> CFunction: ...


@dataclass(frozen=True)
class Called:
    """A kernel that a driver calls, so many times a run."""

    stem: str
    parameters: Sequence[Parameter]
    code: Assembly
    calls: int = 1

    @property
    def bytes(self) -> Mapping[str, int]:
        return {f"{self.stem} {self.code.digest}": self.code.bytes}

    def function(self, target: Target) -> CFunction:
        return kernel(self.stem, self.parameters, self.code, target, self.calls)


def called(
    stem: str,
    x: TensorType,
    y: TensorType,
    code: Assembly,
    constants: str = "weights",
    calls: int = 1,
) -> Called:
    """A kernel from an image to another one. constants: what it calls these."""
    parameters = (
        Parameter(f"const {x.dtype.c_type} *", "x"),
        Parameter(f"{y.dtype.c_type} *", "y"),
        Parameter("const uint32_t *", constants), Parameter("uint8_t *", "scratch"),
    )  # fmt: skip
    return Called(stem, parameters, code, calls)


@dataclass(frozen=True)
class Kernels:
    """Those of one backend. id: its own."""

    id: str

    def proposal(
        self,
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
        layouts: tuple[LayoutRule, ...] = NATURAL,
        replacement: Graph | None = None,
        only_for: str = "",
        operands: Mapping[str, int] | None = None,
        count: tuple[str, int] | None = None,
    ) -> Proposal:
        """A part that one kernel computes. constant_bytes: of constants that are not packed yet, or
        of all; operands, count: as `workload` has them; the rest is as in `Proposal` and `Price`.
        """
        costs = Costs(
            macs, cycles=code.time(target), flash=_bytes(constants, constant_bytes),
            waits=round(code.waits(target)),
        )  # fmt: skip
        key = f"{stem} {code.digest}"
        price = Price(costs, {key: code.bytes}, scratch_bytes, tuple(in_place))

        def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
            (layer,) = layers
            return (
                self.workload(layer, stem, code, _packed(constants), price, (), operands, count),
            )

        return Proposal(part, price, make, replacement, layouts, title, only_for)

    def driver(
        self,
        part: SubgraphView,
        stem: str,
        body: tuple[str, int],
        constants: Constants,
        called: Sequence[Callee],
        title: str,
        *,
        macs: int,
        cycles: float,
        constant_bytes: int | None = None,
        scratch_bytes: int = 0,
        in_place: Sequence[InPlace] = (),
        layouts: tuple[LayoutRule, ...] = CHANNELS_LAST,
        replacement: Graph | None = None,
        operands: Mapping[str, int] | None = None,
    ) -> Proposal:
        """A part that is computed by a driver in C. body: its text, and about how many bytes that
        is; called: kernels, of which functions are made if the proposal wins; the rest is as
        `proposal` and `Price` have it."""
        text, size = body
        costs = Costs(macs, cycles=round(cycles), flash=_bytes(constants, constant_bytes))
        code = {key: value for one in called for key, value in one.bytes.items()}
        price = Price(costs, {**code, text: size}, scratch_bytes, tuple(in_place))

        def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
            (layer,) = layers
            once = {one.stem: one for one in called}
            helpers = tuple(one.function(layer.target) for one in once.values())
            packed = _packed(constants)
            return (self.workload(layer, stem, text, packed, price, helpers, operands),)

        return Proposal(part, price, make, replacement, layouts, title)

    def workload(
        self,
        layer: Layer,
        stem: str,
        code: Assembly | str,
        constants: tuple[Constant, ...],
        price: Price,
        helpers: tuple[CFunction, ...] = (),
        operands: Mapping[str, int] | None = None,
        count: tuple[str, int] | None = None,
    ) -> Workload:
        """Of a layer with one output, as `signature` has it, and a pointer to the scratch where the
        price has some. code: the function, or the body of one in C. count: the last argument, of
        code of no count of elements or rows, and what it is called."""
        given = signature(layer, constants, operands)
        if price.scratch_bytes:
            given.scratch("uint8_t")
        if count is not None:
            given.add(Parameter("uint32_t", count[0]), scalar(count[1]))
        if is_c := isinstance(code, str):
            function = CFunction(stem, tuple(given.parameters), code)
        else:
            function = kernel(stem, given.parameters, code, layer.target)
        return Workload(
            self.id, function, tuple(given.arguments), tuple(given.constants), helpers,
            ("string.h",) if is_c else (), price.scratch_bytes, price.in_place, price.costs,
        )  # fmt: skip


def _bytes(constants: Constants, known: int | None) -> int:
    if known is not None:
        return known
    assert not callable(constants)
    return sum(constant.value.nbytes for constant in constants)


def _packed(constants: Constants) -> tuple[Constant, ...]:
    return tuple(constants() if callable(constants) else constants)
