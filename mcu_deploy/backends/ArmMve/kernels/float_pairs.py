"""Products of two tensors of bytes, and sums and differences that no integers round: in floats,
four elements a vector (quantized/float_pairs.py).

Adding 1.5 * 2**23 leaves the nearest integer, ties to even, in the lowest bits, as in
isa/mve/rounding.py; it is at most a halfword, which is saturated to a byte.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMve.elements import Steps, arguments, of_two, run, runs
from mcu_deploy.backends.ArmMve.workloads import assembly
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve import byte_lanes
from mcu_deploy.backends.quantized import byte_pairs, linear_sums
from mcu_deploy.backends.quantized.float_pairs import FloatPair, solve
from mcu_deploy.backends.quantized.vector_rounding import MAGIC
from mcu_deploy.backends.quantized.walks import Walk, walks
from mcu_deploy.ir import DType, TensorType

OPERATORS = ("Add", "Sub", "Mul", "tflite::Mul")

_LANES, _UNROLLED = 4, 8


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if reason := byte_pairs.refusal(node, "computes", 1):
        return reason
    y = node.output.type
    types = [node.input(k).type for k in (0, 1)]
    orders = walks(node)
    if isinstance(orders, str):
        return orders
    if node.op != "Mul" and linear_sums.solve(node.domain, node.call) is not None:
        return ""  # addition.py
    found = solve(node.domain, node.call)
    if found is None:
        return "no float32 numbers round it as the model says"
    how = "_product" if found.factor is not None else "_corrected" * found.is_corrected
    stem = f"{node.op.lower()}_{{}}{how}_floats_mve"
    return [
        of_two(
            view, node, stem, assemble(node.op, walk.ordered(types), y, found, walk),
            Constant("constants", constants_of(found, walk)), walk,
        ) for walk in orders
    ]  # fmt: skip


def constants_of(found: FloatPair, walk: Walk) -> Array:
    """int32, in the order in which the kernel reads them."""
    *of_both, zero = found.zeros
    words = [-of for of in walk.ordered(of_both)] + [zero]
    if found.factor is not None:
        floats = [found.factor]
    else:
        *scales, scale = found.scales
        floats = [np.float32(1) / scale, *walk.ordered(scales)]
        floats += [-scale] if found.is_corrected else []
    return np.array([*words, *np.array(floats, np.float32).view(np.int32)], np.int32)


def assemble(
    op: str, operands: Sequence[TensorType], y: TensorType, found: FloatPair, walk: Walk
) -> Assembly:
    """The kernel, of no count of elements: the operands in the walk's order, output, constants,
    and where all is one run its elements.

    y may lie on an operand of its shape.
    """
    code = assembly()
    a, b, out, constants, count = arguments(code, walk)
    is_product = found.factor is not None
    names = "minus_a_zero minus_b_zero zero_point"
    names += " factor" if is_product else " reciprocal a_scale b_scale"
    names += " minus_scale" * found.is_corrected
    given = code.registers(names)
    a_zero, b_zero, zero, factor, *scales = given
    magic, fixed = code.register("rounding"), code.register("element")
    firsts = code.registers("a0 a1 a2", kind=Kind.VECTOR)
    seconds = code.registers("b0 b1 b2", kind=Kind.VECTOR)
    kept = code.register("b_of_run", kind=Kind.VECTOR)
    _describe(code, op, found, walk)
    code.ldmia(constants, given)
    code.number(magic, MAGIC)
    load_a, load_b = (byte_lanes.load(code, t.dtype) for t in operands)
    narrow = byte_lanes.saturate(code, y.dtype)

    def ended(q: Register, at: int) -> Steps:
        return (
            (at, lambda: code.vadd_f32(q, q, magic)),
            (at + 3, lambda: code.vadd_i16(q, q, zero)),
            (at + 5, lambda: narrow(q, q)),
            (at + 8, lambda: code.vstrb_32(q, out.after(_LANES))),
        )

    def begun(p: Register, q: Register) -> Steps:
        second: Steps = (
            (2, lambda: load_b(q, b.after(_LANES))),
            (6, lambda: code.vadd_i32(q, q, b_zero)),
        )
        return (
            (0, lambda: load_a(p, a.after(_LANES))),
            (4, lambda: code.vadd_i32(p, p, a_zero)),
            *(() if walk.is_fixed else second),
        )

    def product(n: int) -> Steps:
        products = [*firsts, *seconds[: walk.is_fixed]]
        p, q = products[n % len(products)], seconds[n % 3]
        return (
            *begun(p, q),
            (8, lambda: code.vmul_i32(p, p, fixed if walk.is_fixed else q)),
            (12, lambda: code.vcvt_f32_s32(p, p)),
            (15, lambda: code.vmul_f32(p, p, factor)),
            *ended(p, 18),
        )

    def exact(n: int) -> Steps:
        p, q = firsts[n % 3], seconds[n % 3]
        a_scale, b_scale, *minus_scale = scales
        operation = {"Add": code.vadd_f32, "Sub": code.vsub_f32, "Mul": code.vmul_f32}[op]
        of_b = kept if walk.is_fixed else q
        both = (of_b, p) if walk.is_swapped else (p, of_b)
        second: Steps = (
            (10, lambda: code.vcvt_f32_s32(q, q)),
            (14, lambda: code.vmul_f32(q, q, b_scale)),
        )
        steps = [
            *begun(p, q),
            (8, lambda: code.vcvt_f32_s32(p, p)),
            (12, lambda: code.vmul_f32(p, p, a_scale)),
            *(() if walk.is_fixed else second),
            (16, lambda: operation(p, *both)),
            (18, lambda: code.vmul_f32(q, p, factor)),
        ]
        if minus_scale:
            steps += [
                (20, lambda: code.vfma_f32(p, q, minus_scale[0])),
                (22, lambda: code.vfma_f32(q, p, factor)),
            ]
        return (*steps, *ended(q, 24 if minus_scale else 20))

    period = 10 if is_product else 18 if found.is_corrected else 14
    period -= (2 if is_product else 4) * walk.is_fixed
    with runs(code, walk, (a, b, out), count, _LANES):
        if walk.is_fixed:
            (code.ldrsb if operands[1].dtype is DType.INT8 else code.ldrb)(fixed, b[0])
            code.add(fixed, fixed, b_zero)
            if not is_product:
                code.vdup_32(kept, fixed)
                code.vcvt_f32_s32(kept, kept)
                code.vmul_f32(kept, kept, scales[1])
        run(code, count, walk.run, _LANES, _UNROLLED, period, product if is_product else exact)
    return code


def _describe(code: Assembly, op: str, found: FloatPair, walk: Walk) -> None:
    if found.factor is not None:
        code.note("y = sat(round((a - a_zero) * (b - b_zero) * factor) + zero_point), the product")
        code.note(
            "of integers a float32. constants: -a_zero; -b_zero; zero_point; factor, float32."
        )
    else:
        sign = {"Add": "+", "Sub": "-", "Mul": "*"}[op]
        pair = ["(a - a_zero) * a_scale", "(b - b_zero) * b_scale"]
        first, second = pair[::-1] if walk.is_swapped else pair
        code.note(f"y = sat(round(({first} {sign} {second}) / scale)")
        code.note("+ zero_point), all float32. constants: -a_zero; -b_zero; zero_point; of float32")
        code.note(f"1 / scale, a_scale, b_scale{', -scale' * found.is_corrected}.")
    code.note("y may lie on a or b.")
    if walk.is_fixed:
        code.note("Of a run b is one element.")
