"""Max and Min of two int8 tensors of one scale and zero point, four elements at a time: SSUB8 and
SEL, USUB8 for uint8. Whatever the scale, the larger byte is the larger number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.backends.ArmDsp import pairs
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.quantized import byte_pairs
from mcu_deploy.backends.quantized.walks import Walk
from mcu_deploy.ir import DType

OPERATORS = ("Max", "Min")

_AT_ONCE = 4


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if len(node.inputs) != 2:
        return "it compares two tensors"
    if reason := byte_pairs.refusal(node, "compares", _AT_ONCE):
        return reason
    y = node.output.type
    if any((t.dtype, t.quantization) != (y.dtype, y.quantization) for t in node.call.types if t):
        return "it compares tensors of the output's scale and zero point"

    def make(walk: Walk) -> tuple[str, Assembly, Constant]:
        rest = walk.run % _AT_ONCE
        stem = f"{node.op.lower()}_{y.dtype.value}{walk.kind_by(_AT_ONCE)}_dsp"
        words = np.array([walk.run - rest, *walk.words], np.int32)
        return stem, assemble(node.op, y.dtype, walk), Constant("constants", words)

    return pairs.proposals(view, node, make)


def assemble(op: str, dtype: DType, walk: Walk) -> Assembly:
    """The kernel: the operands in the walk's order, output, constants.

    y may lie on either operand that has its shape.
    """
    code = Assembly()
    given = pairs.Given(code)
    code.note(f"y = {op.lower()}(a, b). constants: the bytes of a run's whole words; the loops'.")
    end, a, b, difference = code.registers("end a_word b_word difference")
    given.begin(code, walk, [end], end)
    subtract = code.ssub8 if dtype is DType.INT8 else code.usub8

    def choose() -> None:
        subtract(difference, a, b)
        code.sel(a, *((a, b) if op == "Max" else (b, a)))

    with given.runs(code, walk):
        if walk.is_fixed:
            code.ldrb(b, given.b[0])
            code.orr(b, b, b.lsl(8))
            code.orr(b, b, b.lsl(16))
        given.begin_run(code, walk, _AT_ONCE, end)
        if walk.run >= _AT_ONCE:
            with code.repeat(walk.run // _AT_ONCE):
                code.ldr(a, given.a.after(4))
                if not walk.is_fixed:
                    code.ldr(b, given.b.after(4))
                choose()
                code.str(a, given.y.after(4))
                code.cmp(given.y, end)
        for _ in range(walk.run % _AT_ONCE):
            code.ldrb(a, given.a.after(1))
            if not walk.is_fixed:
                code.ldrb(b, given.b.after(1))
            choose()
            code.strb(a, given.y.after(1))
    return code
