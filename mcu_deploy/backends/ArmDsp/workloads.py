"""The workload of a kernel in assembler."""

from __future__ import annotations

from pathlib import Path

from mcu_deploy.backends.interface import (
    Argument,
    CFunction,
    Constant,
    Layer,
    LayoutRule,
    Parameter,
    Price,
    Role,
    Target,
    Workload,
)
from mcu_deploy.backends.isa import Assembly, kernel
from mcu_deploy.backends.kit.arguments import OUTPUT, constant_argument, pointer, scalar
from mcu_deploy.backends.kit.kit import Kit
from mcu_deploy.ir import TensorType

ID = "ArmDsp"
# For the C of drivers.
KIT = Kit(ID, Path(__file__).parent)
# The layouts of a proposal with one node.
CHANNELS_LAST = (LayoutRule.CHANNELS_LAST,)


def workload(
    layer: Layer,
    stem: str,
    code: Assembly | str,
    constants: tuple[Constant, ...],
    price: Price,
    helpers: tuple[CFunction, ...] = (),
    which: int = 0,
    elements: int | None = None,
) -> Workload:
    """Of a layer with one input, or of a certain one, and one output: pointers to these, to the
    constants, and to the scratch where the price has some. code: the function, or the body of one
    in C. elements: the last argument, of code of no count of elements."""
    arrays = tuple(Parameter(f"const {c.ctype} *", c.stem) for c in constants)
    places = tuple(constant_argument(index) for index in range(len(constants)))
    ends = pointer(layer.input(which), "x"), pointer(layer.output, "y", const=False)
    scratch = (Parameter("uint8_t *", "scratch"),) if price.scratch_bytes else ()
    count = () if elements is None else (Parameter("uint32_t", "elements"),)
    counted = () if elements is None else (scalar(elements),)
    parameters = (*ends, *arrays, *scratch, *count)
    if isinstance(code, str):
        function = CFunction(stem, parameters, code)
    else:
        function = kernel(stem, parameters, code, layer.target)
    given = Argument(Role.INPUT, which), OUTPUT
    arguments = (*given, *places, *(Argument(Role.SCRATCH) for _ in scratch), *counted)
    return Workload(
        ID, function, arguments, constants, helpers,
        ("string.h",), price.scratch_bytes, price.in_place, price.costs,
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
