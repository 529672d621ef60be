"""Activations of float32 that stand alone and are no function of a C library: four elements a
vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mcu_deploy.backends.ArmMve.elements import Steps, proposal, run
from mcu_deploy.backends.ArmMve.workloads import assembly
from mcu_deploy.backends.floats.layers import is_of_floats, types_refusal
from mcu_deploy.backends.interface import InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve.float_clamp import clamp
from mcu_deploy.operators.elementwise import clip_bounds

OPERATORS = ("Relu", "Clip", "LeakyRelu", "HardSigmoid", "HardSwish")

_UNROLLED = 4
_BYTES, _LANES = 16, 4
_ZERO_TO_ONE = (0.0, 1.0)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if not is_of_floats(node):
        return ""
    x, y = node.input(0), node.output.type
    if reason := types_refusal(x.type, y):
        return reason
    if any(bound is not None and bound.constant is None for bound in node.inputs[1:]):
        return "its bounds are computed at run time"
    if x.constant is not None or not y.elements:
        return "there is nothing to compute"
    made = proposal(
        view, node, f"{node.op.lower()}_f32_mve", assemble(node), (), node.op.lower(),
        in_place=[InPlace(0, 0, 0)], operands={"x": 0}, count=("elements", y.elements),
    )  # fmt: skip
    return [made]


def assemble(node: Layer) -> Assembly:
    """The kernel, of no count of elements: input, output, elements. y may lie on x."""
    code = assembly()
    x, y, count = code.arguments("x y elements")
    of = code.registers("x0 x1 x2", kind=Kind.VECTOR)
    free = code.registers("free0 free1 free2", kind=Kind.VECTOR)
    vector, number = code.register("bound", kind=Kind.VECTOR), code.register("number")
    code.note(f"y[n] = {_formula(node)}, float32; NaN stays. y may lie on x.")
    compute = _function(code, node, vector, number)

    def steps(n: int) -> Steps:
        at, other = of[n % 3], free[n % 3]
        return (
            (0, lambda: code.vldrw_u32(at, x.after(_BYTES))),
            (3, lambda: compute(at, other)),
            (8, lambda: code.vstrw_32(at, y.after(_BYTES))),
        )

    run(code, count, node.output.type.elements, _LANES, _UNROLLED, 6, steps)
    return code


def _formula(node: Layer) -> str:
    match node.op:
        case "LeakyRelu":
            return "x[n], or alpha * x[n] where it is below 0"
        case "HardSigmoid":
            return "clamp(alpha * x[n] + beta), from 0 to 1"
        case "HardSwish":
            return "x[n] * clamp(x[n] / 6 + 0.5), from 0 to 1"
    return "clamp(x[n])"


def _function(
    code: Assembly, node: Layer, vector: Register, number: Register
) -> Callable[[Register, Register], None]:
    """What adds the instructions of a vector that is loaded, with a free one. What stays for all
    vectors is added here."""
    if node.op in ("Relu", "Clip"):
        bounds = (0.0, np.inf) if node.op == "Relu" else clip_bounds(node.call)
        return lambda x, _: clamp(code, bounds, [x], vector, number, are_computed=False)
    attributes = node.attributes
    factor, addend = code.registers("factor addend")
    if node.op == "LeakyRelu":
        _set(code, factor, attributes.get("alpha", 0.01))
        zeros = code.register("zeros", kind=Kind.VECTOR)
        code.vmov_i32(zeros, 0)

        def leaky(x: Register, free: Register) -> None:
            code.vmul_f32(free, x, factor)
            code.vcmp_f32("gt", zeros, x)
            code.vpst()
            code.vmovt(x, free)

        return leaky
    is_swish = node.op == "HardSwish"
    _set(code, factor, 1 / 6 if is_swish else attributes.get("alpha", 0.2))
    _set(code, addend, 0.5 if is_swish else attributes.get("beta", 0.5))

    def hard(x: Register, free: Register) -> None:
        into = free if is_swish else x
        code.vmul_f32(into, x, factor)
        code.vadd_f32(into, into, addend)
        clamp(code, _ZERO_TO_ONE, [into], vector, number)
        if is_swish:
            code.vmul_f32(x, x, into)

    return hard


def _set(code: Assembly, register: Register, value: float) -> None:
    code.number(register, int(np.float32(value).view(np.uint32)))
