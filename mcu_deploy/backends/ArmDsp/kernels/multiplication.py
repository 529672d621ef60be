"""Products of two int8 tensors, four elements at a time, by the integers of quantized/products.py:
SMLABB and SMMLA, and SMMLAR where TFLite's are rounded twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.backends.ArmDsp import float_pairs, pairs
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.quantized import byte_pairs
from mcu_deploy.backends.quantized.layers import saturate
from mcu_deploy.backends.quantized.products import Scaling, solve
from mcu_deploy.backends.quantized.walks import Walk
from mcu_deploy.ir import DType, TensorType

OPERATORS = ("Mul", "tflite::Mul")

_AT_ONCE = 4


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A product by itself."""
    if reason := refusal(node):
        return reason
    scaling = solve(node.domain, node.call)
    if scaling is None:
        return float_pairs.propose(view, node)
    y = node.output.type
    types = [node.input(k).type for k in (0, 1)]
    zeros = [(-t.scaling.zero_point[0] & 0xFFFF) * 0x10001 for t in types]
    rounds = f"{scaling.shift}{'_twice' if scaling.is_twice else ''}"
    kind = "_".join([*(t.dtype.value for t in (*types, y)), rounds])

    def make(walk: Walk) -> tuple[str, Assembly, Constant]:
        rest = walk.run % _AT_ONCE
        stem = f"mul_{kind}{walk.kind_by(_AT_ONCE)}_dsp"
        words = [
            scaling.move, *walk.ordered(zeros), scaling.scale, walk.run - rest, scaling.addend,
            *walk.words,
        ]  # fmt: skip
        constants = Constant("constants", np.array(words, np.int64).astype(np.int32))
        return stem, assemble(types, y, scaling, walk), constants

    return pairs.proposals(view, node, make)


def refusal(layer: Layer) -> str:
    """Why the kernel does not compute a layer, a clause; empty where it might."""
    return byte_pairs.refusal(layer, "multiplies", _AT_ONCE)


class _Given(pairs.Given):
    """As in pairs.py, and the constants."""

    def __init__(self, code: Assembly) -> None:
        super().__init__(code)
        self.move = code.register("move")
        self.zeros = code.registers("minus_a_zero minus_b_zero")
        self.scale, self.end, self.addend = code.registers("scale end addend")


def assemble(
    operands: Sequence[TensorType], y: TensorType, scaling: Scaling, walk: Walk
) -> Assembly:
    """The kernel: the operands in the walk's order, output, constants.

    y = sat((((a - a_zero) * (b - b_zero) + move) * scale >> 32) + addend >> shift), or as TFLite
    rounds twice; y may lie on either operand that has its shape.
    """
    code = Assembly()
    given = _Given(code)
    product, shift = "(a - a_zero) * (b - b_zero)", scaling.shift
    if scaling.is_twice:
        high = f"({product} * 2 * scale >> 32, rounded)"
        code.note(f"y = sat({high} + addend - (product < 0) >> {shift}), without move.")
    else:
        code.note(f"y = sat((({product} + move) * scale >> 32) + addend >> {shift}).")
    code.note("constants: move; -a_zero, twice in a word; -b_zero, the same; scale; the bytes of a")
    code.note("run's whole words; addend; the loops'.")
    words = [given.move, *given.zeros, given.scale, given.end, given.addend]
    given.begin(code, walk, words, given.end, given.zeros[1])
    code.note("Elements without their zero points, multiplied, scaled, shifted, saturated.")
    with given.runs(code, walk):
        _run(code, given, walk.ordered(operands), y, scaling, walk)
    return code


def _run(
    code: Assembly,
    given: _Given,
    operands: Sequence[TensorType],
    y: TensorType,
    scaling: Scaling,
    walk: Walk,
) -> None:
    extend_a, extend_b = (code.sxtab16 if t.dtype is DType.INT8 else code.uxtab16 for t in operands)
    is_twice, is_fixed = scaling.is_twice, walk.is_fixed
    (a_zero, b_zero), move = given.zeros, given.move
    a, b, even_a, even_b, other = code.registers("a b a_even b_even product")

    def finish(*products: Register) -> None:
        for p in products:
            if is_twice:  # of b nothing is needed any more
                code.smmlar(b, p, given.scale, given.addend)
                code.add(p, b, p.asr(31))
            else:
                code.smmla(p, p, given.scale, given.addend)
        for p in products:
            getattr(code, saturate(y))(p, 8, p.asr(scaling.shift) if scaling.shift else p)

    if is_fixed:  # b_zero becomes its element without the zero point, in the lower half
        code.vmov(b_zero, given.kept)
        code.ldrb(b, given.b[0])
        extend_b(b_zero, b_zero, b)
        if is_twice:
            code.sadd16(b_zero, b_zero, b_zero)
    given.begin_run(code, walk, _AT_ONCE, given.end)
    if walk.run >= _AT_ONCE:
        with code.repeat(walk.run // _AT_ONCE):
            code.ldr(a, given.a.after(4))
            if not is_fixed:
                code.ldr(b, given.b.after(4))
            extend_a(even_a, a_zero, a)
            extend_a(a, a_zero, a.ror(8))
            if not is_fixed:
                extend_b(even_b, b_zero, b)
                extend_b(b, b_zero, b.ror(8))
            if is_twice and not is_fixed:
                code.sadd16(even_b, even_b, even_b)
                code.sadd16(b, b, b)
            evens, odds, upper = (
                (b_zero, b_zero, code.smlatb) if is_fixed else (even_b, b, code.smlatt)
            )
            code.smlabb(other, even_a, evens, move)
            upper(even_a, even_a, evens, move)
            code.smlabb(even_b, a, odds, move)
            upper(a, a, odds, move)
            finish(other, even_b, even_a, a)
            code.bfi(other, even_b, 8, 8)
            code.bfi(even_a, a, 8, 8)
            code.pkhbt(other, other, even_a.lsl(16))
            code.str(other, given.y.after(4))
            code.cmp(given.y, given.end)
    for _ in range(walk.run % _AT_ONCE):
        code.ldrb(a, given.a.after(1))
        if not is_fixed:
            code.ldrb(b, given.b.after(1))
        extend_a(a, a_zero, a)
        if not is_fixed:
            extend_b(b, b_zero, b)
            if is_twice:
                code.sadd16(b, b, b)
        code.smlabb(a, a, b_zero if is_fixed else b, move)
        finish(a)
        code.strb(a, given.y.after(1))
