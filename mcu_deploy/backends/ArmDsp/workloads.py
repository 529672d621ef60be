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
from mcu_deploy.backends.kit.arguments import OUTPUT, constant_argument, pointer, scalar

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
    which: int = 0,
    elements: int | None = None,
) -> Workload:
    """Of a layer with one input, or of a certain one, and one output: pointers to these, to the
    constants, and to the scratch where the price has some. elements: the last argument, of code of
    no count of elements."""
    arrays = tuple(Parameter(f"const {c.ctype} *", c.stem) for c in constants)
    places = tuple(constant_argument(index) for index in range(len(constants)))
    ends = pointer(layer.input(which), "x"), pointer(layer.output, "y", const=False)
    scratch = (Parameter("uint8_t *", "scratch"),) if price.scratch_bytes else ()
    count = () if elements is None else (Parameter("uint32_t", "elements"),)
    counted = () if elements is None else (scalar(elements),)
    function = CFunction(stem, (*ends, *arrays, *scratch, *count), body)
    given = Argument(Role.INPUT, which), OUTPUT
    arguments = (*given, *places, *(Argument(Role.SCRATCH) for _ in scratch), *counted)
    return Workload(
        ID, function, arguments, constants, helpers,
        ("string.h",), price.scratch_bytes, price.in_place, price.costs,
    )  # fmt: skip
