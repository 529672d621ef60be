"""The workload of a kernel in assembler."""

from __future__ import annotations

from mcu_deploy.backends.interface import (
    Argument,
    Constant,
    Layer,
    LayoutRule,
    Parameter,
    Price,
    Role,
    Workload,
)
from mcu_deploy.backends.isa import Assembly, kernel
from mcu_deploy.backends.isa.timing import TIMINGS
from mcu_deploy.backends.kit.arguments import INPUT, OUTPUT, constant_argument, pointer

ID = "ArmMve"
# The layouts of a proposal with one node.
CHANNELS_LAST = (LayoutRule.CHANNELS_LAST,)


def assembly() -> Assembly:
    """Of a kernel to write."""
    return Assembly(TIMINGS["cortex-m55"])


def workload(
    layer: Layer, stem: str, code: Assembly, constants: tuple[Constant, ...], price: Price
) -> Workload:
    """Of a layer with one input and one output: pointers to these, to the constants, and to the
    scratch where the price has some."""
    arrays = tuple(Parameter(f"const {c.ctype} *", c.stem) for c in constants)
    places = tuple(constant_argument(index) for index in range(len(constants)))
    ends = pointer(layer.input(0), "x"), pointer(layer.output, "y", const=False)
    scratch = (Parameter("uint8_t *", "scratch"),) if price.scratch_bytes else ()
    function = kernel(stem, (*ends, *arrays, *scratch), code, layer.target)
    arguments = (INPUT, OUTPUT, *places, *(Argument(Role.SCRATCH) for _ in scratch))
    return Workload(
        ID, function, arguments, constants,
        scratch_bytes=price.scratch_bytes, in_place=price.in_place, costs=price.costs,
    )  # fmt: skip
