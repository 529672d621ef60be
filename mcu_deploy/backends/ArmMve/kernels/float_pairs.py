"""Products of two tensors of bytes, and sums and differences that no integers round: in floats,
four elements a vector (quantized/float_pairs.py).

Adding 1.5 * 2**23 leaves the nearest integer, ties to even, in the lowest bits, as in
isa/mve/rounding.py; it is at most a halfword, which is saturated to a byte.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMve.elements import Steps, of_two, run
from mcu_deploy.backends.ArmMve.workloads import assembly
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.quantized import byte_pairs, linear_sums
from mcu_deploy.backends.quantized.float_pairs import FloatPair, solve
from mcu_deploy.ir import DType, TensorType

OPERATORS = ("Add", "Sub", "Mul", "tflite::Mul")

_LANES, _UNROLLED = 4, 8
_MAGIC = 0x4B40_0000  # 1.5 * 2**23, a float32


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if reason := byte_pairs.refusal(node, "computes", 1):
        return reason
    y = node.output.type
    types = [node.input(k).type for k in (0, 1)]
    if any(t.shape != y.shape for t in types):
        return "it takes tensors of one shape"
    if node.op != "Mul" and linear_sums.solve(node.domain, node.call) is not None:
        return ""  # addition.py
    found = solve(node.domain, node.call)
    if found is None:
        return "no float32 numbers round it as the model says"
    code = assemble(node.op, types, y, found, y.elements)
    how = "_product" if found.factor is not None else "_corrected" * found.is_corrected
    stem = f"{node.op.lower()}_{{}}{how}_floats_mve"
    return [of_two(view, node, stem, code, Constant("constants", constants_of(found)))]


def constants_of(found: FloatPair) -> Array:
    """int32, in the order in which the kernel reads them."""
    a_zero, b_zero, zero = found.zeros
    words = [-a_zero, -b_zero, zero]
    if found.factor is not None:
        floats = [found.factor]
    else:
        a_scale, b_scale, scale = found.scales
        floats = [np.float32(1) / scale, a_scale, b_scale]
        floats += [-scale] if found.is_corrected else []
    return np.array([*words, *np.array(floats, np.float32).view(np.int32)], np.int32)


def assemble(
    op: str, operands: Sequence[TensorType], y: TensorType, found: FloatPair, elements: int
) -> Assembly:
    """The kernel, of no count of elements: both operands, output, constants, elements.

    y may lie on either operand.
    """
    code = assembly()
    a, b, out, constants, count = code.arguments("a b y constants elements")
    is_product = found.factor is not None
    names = "minus_a_zero minus_b_zero zero_point"
    names += " factor" if is_product else " reciprocal a_scale b_scale"
    names += " minus_scale" * found.is_corrected
    given = code.registers(names)
    a_zero, b_zero, zero, factor, *scales = given
    magic = code.register("rounding")
    firsts = code.registers("a0 a1 a2", kind=Kind.VECTOR)
    seconds = code.registers("b0 b1 b2", kind=Kind.VECTOR)
    if is_product:
        code.note("y = sat(round((a - a_zero) * (b - b_zero) * factor) + zero_point), the product")
        code.note(
            "of integers a float32. constants: -a_zero; -b_zero; zero_point; factor, float32."
        )
    else:
        sign = {"Add": "+", "Sub": "-", "Mul": "*"}[op]
        code.note(f"y = sat(round(((a - a_zero) * a_scale {sign} (b - b_zero) * b_scale) / scale)")
        code.note("+ zero_point), all float32. constants: -a_zero; -b_zero; zero_point; of float32")
        code.note(f"1 / scale, a_scale, b_scale{', -scale' * found.is_corrected}.")
    code.note("y may lie on a or b.")
    code.ldmia(constants, given)
    code.number(magic, _MAGIC)
    load_a, load_b = (
        code.vldrb_s32 if t.dtype is DType.INT8 else code.vldrb_u32 for t in operands
    )  # fmt: skip
    narrow = code.vqmovnb_s16 if y.dtype is DType.INT8 else code.vqmovunb_s16

    def ended(q: Register, at: int) -> Steps:
        return (
            (at, lambda: code.vadd_f32(q, q, magic)),
            (at + 3, lambda: code.vadd_i16(q, q, zero)),
            (at + 5, lambda: narrow(q, q)),
            (at + 8, lambda: code.vstrb_32(q, out.after(_LANES))),
        )

    def begun(p: Register, q: Register) -> Steps:
        return (
            (0, lambda: load_a(p, a.after(_LANES))),
            (2, lambda: load_b(q, b.after(_LANES))),
            (4, lambda: code.vadd_i32(p, p, a_zero)),
            (6, lambda: code.vadd_i32(q, q, b_zero)),
        )

    def product(n: int) -> Steps:
        p, q = firsts[n % 3], seconds[n % 3]
        return (
            *begun(p, q),
            (8, lambda: code.vmul_i32(p, p, q)),
            (12, lambda: code.vcvt_f32_s32(p, p)),
            (15, lambda: code.vmul_f32(p, p, factor)),
            *ended(p, 18),
        )

    def exact(n: int) -> Steps:
        p, q = firsts[n % 3], seconds[n % 3]
        a_scale, b_scale, *minus_scale = scales
        operation = {"Add": code.vadd_f32, "Sub": code.vsub_f32, "Mul": code.vmul_f32}[op]
        steps = [
            *begun(p, q),
            (8, lambda: code.vcvt_f32_s32(p, p)),
            (10, lambda: code.vcvt_f32_s32(q, q)),
            (12, lambda: code.vmul_f32(p, p, a_scale)),
            (14, lambda: code.vmul_f32(q, q, b_scale)),
            (16, lambda: operation(p, p, q)),
            (18, lambda: code.vmul_f32(q, p, factor)),
        ]
        if minus_scale:
            steps += [
                (20, lambda: code.vfma_f32(p, q, minus_scale[0])),
                (22, lambda: code.vfma_f32(q, p, factor)),
            ]
        return (*steps, *ended(q, 24 if minus_scale else 20))

    period = 10 if is_product else 18 if found.is_corrected else 14
    run(code, count, elements, _LANES, _UNROLLED, period, product if is_product else exact)
    return code
