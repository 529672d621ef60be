"""Sums, differences and products of two tensors of float32, or of one and a number: four elements a
vector. The loads and the store take the time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.backends.ArmMve.elements import Steps, proposal, run
from mcu_deploy.backends.ArmMve.workloads import assembly
from mcu_deploy.backends.floats.layers import is_of_floats, types_refusal
from mcu_deploy.backends.interface import InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.isa.mve.float_clamp import clamp

OPERATORS = ("Add", "Sub", "Mul")

_LANES, _UNROLLED = 4, 4
_BYTES = 16  # of a vector


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if not is_of_floats(node):
        return ""
    a, b, y = node.input(0), node.input(1), node.output.type
    if reason := types_refusal(a.type, b.type, y):
        return reason
    numbers = [False, b.type.elements == 1 and y.elements > 1]
    if a.type.shape != y.shape or not (b.type.shape == y.shape or numbers[1]):
        return "it takes two tensors of one shape, a number behind one, or one for each channel"
    if not y.elements:
        return "there is nothing to compute"
    how = "_number" * numbers[1]
    bounds = node.call.activation
    limits = "_clamped" * bool(np.isfinite(bounds).any())
    made = proposal(
        view, node, f"{node.op.lower()}_f32{how}{limits}_mve",
        assemble(node.op, bounds, y.elements, is_of_number=numbers[1]), (), node.op.lower(),
        in_place=[InPlace(k, 0, 0) for k in (0, 1)
                  if node.input(k).constant is None and not numbers[k]],
        operands={"a": 0, "b": 1}, count=("elements", y.elements),
    )  # fmt: skip
    return [made]


def assemble(
    op: str, bounds: tuple[float, float], elements: int, *, is_of_number: bool
) -> Assembly:  # fmt: skip
    """The kernel, of no count of elements: both operands, output, elements. y may lie on either
    operand, but on no number."""
    code = assembly()
    a, b, out, count = code.arguments("a b y elements")
    firsts = code.registers("a0 a1 a2", kind=Kind.VECTOR)
    seconds = code.registers("b0 b1 b2", kind=Kind.VECTOR)
    vector, number = code.register("bound", kind=Kind.VECTOR), code.register("number")
    sign = {"Add": "+", "Sub": "-", "Mul": "*"}[op]
    what = "b[0], a number" if is_of_number else "b[n]"
    code.note(
        f"y[n] = clamp(a[n] {sign} {what}), float32. y may lie on a{' or b' * (not is_of_number)}."
    )
    if is_of_number:
        second = code.register("of_b")
        code.ldr(second, b[0])
    operation = {"Add": code.vadd_f32, "Sub": code.vsub_f32, "Mul": code.vmul_f32}[op]

    def steps(n: int) -> Steps:
        p, q = firsts[n % 3], seconds[n % 3]
        return (
            (0, lambda: code.vldrw_u32(p, a.after(_BYTES))),
            *([] if is_of_number else [(2, lambda: code.vldrw_u32(q, b.after(_BYTES)))]),
            (5, lambda: operation(p, p, second if is_of_number else q)),
            (8, lambda: clamp(code, bounds, [p], vector, number)),
            (10, lambda: code.vstrw_32(p, out.after(_BYTES))),
        )

    run(code, count, elements, _LANES, _UNROLLED, 6, steps)
    return code
