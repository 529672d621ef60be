"""Sums and differences of two tensors of bytes: four elements a vector of words.

An element is `(a_scale * a + b_scale * b + offset) >> shift` (quantized/linear_sums.py): a load
that widens, VMLAS and VMLA, and the sum is narrowed twice, of which the second time rounds: GNU as
2.40 encodes VQSHRN as VQRSHRN, so half of a step is taken from the offset instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.backends.ArmMve.elements import Steps, arguments, of_two, run, runs
from mcu_deploy.backends.ArmMve.workloads import assembly
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.isa.mve import byte_lanes
from mcu_deploy.backends.quantized import byte_pairs
from mcu_deploy.backends.quantized.linear_sums import LinearSum, solve
from mcu_deploy.backends.quantized.walks import Walk, walks
from mcu_deploy.ir import DType, TensorType

OPERATORS = ("Add", "Sub", "tflite::Add", "tflite::Sub")

_LANES, _UNROLLED = 4, 8
_FIRST_SHIFT = 16


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A sum or a difference by itself."""
    if reason := byte_pairs.refusal(node, "adds", 1):
        return reason
    y = node.output.type
    types = [node.input(k).type for k in (0, 1)]
    orders = walks(node)
    if isinstance(orders, str):
        return orders
    found = solve(node.domain, node.call)
    if found is None:
        return "no integers round its sums as the model says"
    stem = f"add_{{}}_{found.shift}_mve"
    return [
        of_two(
            view, node, stem, assemble(walk.ordered(types), y, found.shift, walk),
            constants_of(found, walk), walk,
        ) for walk in orders
    ]  # fmt: skip


def constants_of(found: LinearSum, walk: Walk) -> Constant:
    words = [*walk.ordered((found.a, found.b)), found.offset - (1 << found.shift - 1)]
    return Constant("constants", np.array(words, np.int32))


def assemble(operands: Sequence[TensorType], y: TensorType, shift: int, walk: Walk) -> Assembly:
    """The kernel, of no count of elements: the operands in the walk's order, output, constants,
    and where all is one run its elements.

    y = sat((a_scale * a + b_scale * b + offset) >> shift); y may lie on an operand of its shape.
    """
    code = assembly()
    a, b, out, constants, count = arguments(code, walk)
    a_scale, b_scale, offset = code.registers("a_scale b_scale offset")
    scales = code.register("a_scales", kind=Kind.VECTOR)
    of_a = code.registers("a0 a1 a2", kind=Kind.VECTOR)
    of_b = code.registers("b0 b1", kind=Kind.VECTOR)
    code.note(f"y = sat((a_scale * a + b_scale * b + offset) >> {shift}); y may lie on a or b.")
    if walk.is_fixed:
        code.note("Of a run b is one element.")
    code.note(
        f"constants: a_scale; b_scale; offset, less 2**{shift - 1}, as the last shift rounds."
    )
    code.ldmia(constants, [a_scale, b_scale, offset])
    code.vdup_32(scales, a_scale)
    added, fixed = offset, code.register("b_of_run")
    if walk.is_fixed:
        added = code.register("offset_of_b")
    loads = [byte_lanes.load(code, t.dtype) for t in operands]
    saturate = code.vqrshrnb_s16 if y.dtype is DType.INT8 else code.vqrshrunb_s16

    def steps(n: int) -> Steps:
        totals = [*of_a, *of_b[: walk.is_fixed]]
        total, other = totals[n % len(totals)], of_b[n % 2]
        second: Steps = (
            (2, lambda: loads[1](other, b.after(_LANES))),
            (10, lambda: code.vmla_s32(total, other, b_scale)),
        )
        return (
            (0, lambda: loads[0](total, a.after(_LANES))),
            (6, lambda: code.vmlas_s32(total, scales, added)),
            *(() if walk.is_fixed else second),
            (12, lambda: code.vshrnb_i32(total, total, _FIRST_SHIFT)),
            (15, lambda: saturate(total, total, shift - _FIRST_SHIFT)),
            (18, lambda: code.vstrb_32(total, out.after(_LANES))),
        )

    with runs(code, walk, (a, b, out), count, _LANES):
        if walk.is_fixed:
            (code.ldrsb if operands[1].dtype is DType.INT8 else code.ldrb)(fixed, b[0])
            code.mla(added, fixed, b_scale, offset)
        run(code, count, walk.run, _LANES, _UNROLLED, 5 if walk.is_fixed else 7, steps)
    return code
