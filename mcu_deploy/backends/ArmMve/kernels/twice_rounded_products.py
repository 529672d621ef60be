"""Products of two tensors of bytes that TFLite rounds twice, where no floats round them: four
elements a vector, by the instructions of quantized/twice_rounded.py."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array, tflite
from mcu_deploy.backends.ArmMve.elements import Steps, arguments, of_two, run, runs
from mcu_deploy.backends.ArmMve.workloads import assembly
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.isa.mve import byte_lanes
from mcu_deploy.backends.quantized import byte_pairs
from mcu_deploy.backends.quantized.float_pairs import solve
from mcu_deploy.backends.quantized.walks import Walk, walks
from mcu_deploy.ir import DType, TensorType

OPERATORS = ("tflite::Mul",)

_LANES, _UNROLLED = 4, 8


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A product by itself."""
    if reason := byte_pairs.refusal(node, "multiplies", 1):
        return reason
    types, y = [node.input(k).type for k in (0, 1)], node.output.type
    multiplier, shift = tflite.product_multiplier(types[0], types[1], y)
    orders = walks(node)
    if isinstance(orders, str):
        return orders
    if shift >= 0:
        return "it multiplies by factors below a half"
    if solve(node.domain, node.call) is not None:
        return ""  # float_pairs.py
    return [
        of_two(
            view, node, "mul_{}_twice_mve", assemble(walk.ordered(types), y, walk),
            Constant("constants", constants_of(walk.ordered(types), y, multiplier, shift)), walk,
        ) for walk in orders
    ]  # fmt: skip


def constants_of(
    operands: Sequence[TensorType], y: TensorType, multiplier: int, shift: int
) -> Array:
    """int32, in the order in which the kernel reads them."""
    zeros = [t.scaling.zero_point[0] for t in (*operands, y)]
    return np.array([-zeros[0], -zeros[1], zeros[2], multiplier, shift], np.int32)


def assemble(operands: Sequence[TensorType], y: TensorType, walk: Walk) -> Assembly:
    """The kernel, of no count of elements: the operands in the walk's order, output, constants,
    and where all is one run its elements.

    y may lie on an operand of its shape.
    """
    code = assembly()
    a, b, out, constants, count = arguments(code, walk)
    given = code.registers("minus_a_zero minus_b_zero zero_point factor shift")
    a_zero, b_zero, zero, factor, shift = given
    fixed = code.register("element")
    firsts = code.registers("a0 a1", kind=Kind.VECTOR)
    seconds = code.registers("b0 b1", kind=Kind.VECTOR)
    products = code.registers("product0 product1 product2", kind=Kind.VECTOR)
    code.note(
        "y = sat(((a - a_zero) * (b - b_zero) * factor >> 31 >> shift) + zero_point); what is"
    )
    code.note("shifted is rounded to nearest, ties first up, then away from zero.")
    code.note("constants: -a_zero; -b_zero; zero_point; factor; -shift. y may lie on a or b.")
    if walk.is_fixed:
        code.note("Of a run b is one element.")
    code.ldmia(constants, given)
    load_a, load_b = (byte_lanes.load(code, t.dtype) for t in operands)
    narrow = byte_lanes.saturate(code, y.dtype)

    def steps(n: int) -> Steps:
        p, q, product = firsts[n % 2], seconds[n % 2], products[n % 3]
        first: Steps = (
            (0, lambda: load_a(p, a.after(_LANES))),
            (3, lambda: code.vadd_i32(p, p, a_zero)),
        )
        multiplied: Steps = (
            (1, lambda: load_b(q, b.after(_LANES))),
            (6, lambda: code.vmul_i32(product, p, q)),
            (8, lambda: code.vmla_s32(product, p, b_zero)),
        )
        if walk.is_fixed:
            multiplied = ((6, lambda: code.vmul_i32(product, p, fixed)),)
        return (
            *first, *multiplied,
            (11, lambda: code.vqrdmulh_s32(product, product, factor)),
            # Of q nothing is needed any more.
            (14, lambda: code.vshr_s32(q, product, 31)),
            (16, lambda: code.vadd_i32(product, product, q)),
            (18, lambda: code.vrshl_s32(product, product, shift)),
            (21, lambda: code.vqmovnb_s32(product, product)),
            (24, lambda: code.vqadd_s16(product, product, zero)),
            (26, lambda: narrow(product, product)),
            (29, lambda: code.vstrb_32(product, out.after(_LANES))),
        )  # fmt: skip

    with runs(code, walk, (a, b, out), count, _LANES):
        if walk.is_fixed:
            (code.ldrsb if operands[1].dtype is DType.INT8 else code.ldrb)(fixed, b[0])
            code.add(fixed, fixed, b_zero)
        run(code, count, walk.run, _LANES, _UNROLLED, 14, steps)
    return code
