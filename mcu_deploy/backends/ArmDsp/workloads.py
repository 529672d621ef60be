"""The workload of a kernel in assembler."""

from __future__ import annotations

from mcu_deploy.backends.interface import (
    Argument,
    CFunction,
    Constant,
    Layer,
    LayoutRule,
    Parameter,
    Price,
    Role,
    Workload,
)
from mcu_deploy.backends.kit.arguments import INPUT, OUTPUT, constant_argument, pointer

ID = "ArmDsp"
# The layouts of a proposal with one node.
CHANNELS_LAST = (LayoutRule.CHANNELS_LAST,)


def workload(
    layer: Layer,
    stem: str,
    body: str,
    constants: tuple[Constant, ...],
    price: Price,
    helpers: tuple[CFunction, ...] = (),
) -> Workload:
    """Of a layer with one input and one output: pointers to these, to the constants, and to the
    scratch where the price has some."""
    arrays = tuple(Parameter(f"const {c.ctype} *", c.stem) for c in constants)
    places = tuple(constant_argument(index) for index in range(len(constants)))
    ends = pointer(layer.input(0), "x"), pointer(layer.output, "y", const=False)
    scratch = (Parameter("uint8_t *", "scratch"),) if price.scratch_bytes else ()
    function = CFunction(stem, (*ends, *arrays, *scratch), body)
    arguments = (INPUT, OUTPUT, *places, *(Argument(Role.SCRATCH) for _ in scratch))
    return Workload(
        ID, function, arguments, constants, helpers,
        ("string.h",), price.scratch_bytes, price.in_place, price.costs,
    )  # fmt: skip
