"""What the kernels share: the description of a kernel, templates, and common checks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jinja2
import numpy as np

from mcu_deploy.arithmetic import activation_bounds
from mcu_deploy.backends.c_functions import helper
from mcu_deploy.backends.CpuRef.kernels.loops import counter, each, plus, signed, times
from mcu_deploy.backends.interface import (
    YES,
    Argument,
    CFunction,
    Constant,
    Costs,
    InPlace,
    Layer,
    LayoutRule,
    Operand,
    Parameter,
    Role,
    Support,
    Workload,
    no,
)
from mcu_deploy.files import cache
from mcu_deploy.ir import DType

BYTES = (DType.INT8, DType.UINT8)
# The backend's folder, with its C files.
FOLDER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Kernel:
    """One operator's kernel: does it support a layer, how must tensors lie, and the workload."""

    op: str
    supports: Callable[[Layer], Support]
    layout: Callable[[Layer], LayoutRule]
    create: Callable[[Layer], Workload]
    domain: str = ""


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        bytecode_cache=cache.templates(),
        loader=jinja2.PackageLoader("mcu_deploy.backends.CpuRef", "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.globals |= {"counter": counter, "each": each, "plus": plus, "times": times}
    return environment


def render(template: str, **values: object) -> str:
    """A C function body from a template of `templates/`."""
    return _environment().get_template(template).render(**values)


def without_zero(value: str, zero_point: int) -> str:
    """A quantized element minus its zero point, in C."""
    return value if zero_point == 0 else f"({value}{signed(-zero_point)})"


def float_literal(value: float) -> str:
    """A float32 as a C literal that reads back as the same bits (no infinities)."""
    number = np.float32(value)
    if number == 0 or 1e-4 <= abs(number) < 1e7:
        text = np.format_float_positional(number, unique=True, trim="0")
    else:
        text = np.format_float_scientific(number, unique=True, trim="0", exp_digits=1)
    return f"{text}F"


# Rounds to nearest, ties to even, without the C library and without touching FPSCR.
QUANTIZE = helper(FOLDER, "c/quantize.c")


@dataclass(frozen=True)
class OutputQuantization:
    """How a kernel ends: the numbers that `quantize` and the store need."""

    low: str
    high: str
    zero_point: int
    scale: str
    ctype: str

    def store(self, scaled: str) -> str:
        """C for the output element of a float that was divided by the output's scale."""
        rounded = f"$quantize({scaled}, {self.low}, {self.high})"
        return f"({self.ctype})({rounded}{signed(self.zero_point)})"


def output_quantization(layer: Layer) -> OutputQuantization:
    """For a layer with a quantized output: clamp bounds without the zero point, as C literals."""
    y = layer.output.type
    assert y.quantization is not None
    zero = y.quantization.zero_point[0]
    low, high = activation_bounds(layer.call.activation, y)
    return OutputQuantization(
        float_literal(low - zero),
        float_literal(high - zero),
        zero,
        float_literal(y.quantization.scale[0]),
        y.dtype.c_type,
    )


def clamp_lines(layer: Layer, name: str, indent: str) -> str:
    """C statements that clamp a float variable to the layer's fused activation."""
    import math

    low, high = layer.call.activation
    lines = []
    if math.isfinite(low):
        bound = float_literal(low)
        lines.append(f"{indent}{name} = {name} < {bound} ? {bound} : {name};")
    if math.isfinite(high):
        bound = float_literal(high)
        lines.append(f"{indent}{name} = {name} > {bound} ? {bound} : {name};")
    return "\n".join(lines)


def pointer(operand: Operand, name: str, const: bool = True) -> Parameter:
    """A pointer parameter to an operand's elements."""
    qualifier = "const " if const else ""
    return Parameter(f"{qualifier}{operand.type.dtype.c_type} *", name)


def workload(
    layer: Layer,
    function: CFunction,
    arguments: tuple[Argument, ...],
    constants: tuple[Constant, ...] = (),
    helpers: tuple[CFunction, ...] = (),
    headers: tuple[str, ...] = (),
    in_place: tuple[InPlace, ...] = (),
    scratch_bytes: int = 0,
) -> Workload:
    """A workload of CpuRef."""
    return Workload(
        "CpuRef", function, arguments, constants, helpers, headers, scratch_bytes,
        in_place=in_place, costs=Costs(macs=layer.macs),
    )  # fmt: skip


def view() -> Workload:
    """The workload of a layer whose output is its input's memory."""
    return Workload("CpuRef", None)


INPUT = Argument(Role.INPUT)
OUTPUT = Argument(Role.OUTPUT)


def nothing(layer: Layer) -> Workload:
    """The workload of a layer whose output has no elements."""
    function = CFunction("nothing", (Parameter("void *", "y"),), "{\n    (void)y;\n}")
    return workload(layer, function, (OUTPUT,))


def constant_argument(index: int) -> Argument:
    return Argument(Role.CONSTANT, index)


def rule(value: LayoutRule) -> Callable[[Layer], LayoutRule]:
    """A layout function that always says the same."""
    return lambda layer: value


def check_moves(layer: Layer, *operands: Operand | None) -> Support:
    """Whether operands of which elements are moved to the output have its element type.

    Bytes are copied: what scale they have is a matter of who reads them.
    """
    y = layer.output.type.dtype
    given = {y if o is None else o.type.dtype for o in operands} - {y}
    return no(f"it moves {given.pop().value} to {y.value}") if given else YES


def check_weights(layer: Layer, weights: Operand) -> Support:
    """Whether a layer of the domain "mcu" computes float32 with 8-bit weights of one zero point."""
    for type_ in (layer.input(0).type, layer.output.type):
        if type_.dtype is not DType.FLOAT32:
            return no(f"it computes float32 with 8-bit weights, not {type_}")
    quantization = weights.type.quantization
    if weights.type.dtype not in BYTES or quantization is None:
        return no(f"its weights have 8 bits and a scale, unlike {weights.type}")
    return YES if len(set(quantization.zero_point)) == 1 else no("its weights' zero points differ")


def real_weight(weights: Operand, name: str) -> str:
    """C for the integer weight `name` as a float, which the scale is still missing from."""
    assert weights.type.quantization is not None
    return f"(float){without_zero(name, weights.type.quantization.zero_point[0])}"


def weight_scaling(weights: Operand, index: str) -> tuple[str, tuple[Constant, ...]]:
    """C that multiplies `sum` by the scale of its weights, and the scales.

    A single one is an array too, so that layers of one shape have one function.
    """
    assert weights.type.quantization is not None
    scales = weights.type.quantization.scales
    return f"sum *= scale[{index if scales.size > 1 else 0}];", (Constant("scale", scales),)


def check_types(layer: Layer, *operands: Operand | None) -> Support:
    """Whether all operands are float32, or all are 8-bit integers quantized per tensor."""
    kinds = set()
    for operand in operands:
        if operand is None:
            continue
        type_ = operand.type
        if type_.dtype is DType.FLOAT32:
            kinds.add("float32")
        elif type_.dtype in BYTES and type_.quantization is not None:
            kinds.add("quantized")
        else:
            return no(f"it computes float32 and quantized int8/uint8, not {type_}")
    if len(kinds) > 1:
        return no("it does not mix float32 and quantized tensors in one operator")
    return YES
