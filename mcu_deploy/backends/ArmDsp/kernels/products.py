"""Products of two int8 tensors, four elements at a time.

An element is `(((a - a_zero) * (b - b_zero) + move) * scale >> 32) + addend >> shift`: SMLABB and
SMMLA. The integers are those of a sum of products, found as for a convolution (requantization.py).
ONNX's contract rounds both operands to float32 first, so all 65,536 pairs of bytes are tried.

TFLite's products round twice and seldom have such integers. Theirs is
`((2 * product * multiplier + 2**31 >> 32) + addend - (product < 0)) >> shift`: SMMLAR.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array, tflite
from mcu_deploy.backends.ArmDsp import pairs
from mcu_deploy.backends.ArmDsp.layers import saturate
from mcu_deploy.backends.ArmDsp.pairs import Walk
from mcu_deploy.backends.ArmDsp.requantization import LARGEST_SHIFT, accumulate, shift_of
from mcu_deploy.backends.ArmDsp.staircases import Channel
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators import Call

OPERATORS = ("Mul", "tflite::Mul")

_AT_ONCE = 4


class Scaling(NamedTuple):
    """The integers of the first formula above, or of the second."""

    scale: int
    addend: int
    move: int
    shift: int
    is_twice: bool = False

    def elements(self, products: Array) -> Array:
        """Before they are saturated."""
        if not self.is_twice:
            return (((products + self.move) * self.scale >> 32) + self.addend) >> self.shift
        high = (2 * products * self.scale + (1 << 31) >> 32) + self.addend
        return (high - (products < 0)) >> self.shift


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A product by itself."""
    if reason := refusal(node):
        return reason
    scaling = solve(node.domain, node.call)
    if scaling is None:
        return "no integers round its products as the model says"
    y = node.output.type
    types = [node.input(k).type for k in (0, 1)]
    zeros = [(-t.scaling.zero_point[0] & 0xFFFF) * 0x10001 for t in types]
    rounds = f"{scaling.shift}{'_twice' if scaling.is_twice else ''}"
    kind = "_".join([*(t.dtype.value for t in (*types, y)), rounds])

    def make(walk: Walk) -> tuple[str, Assembly, Constant]:
        rest = walk.run % _AT_ONCE
        few, more = "_few" * (walk.run < _AT_ONCE), f"_and_{rest}" if rest else ""
        words = [
            scaling.move, *walk.ordered(zeros), scaling.scale, walk.run - rest, scaling.addend,
            *walk.words,
        ]  # fmt: skip
        constants = Constant("constants", np.array(words, np.int64).astype(np.int32))
        return f"mul_{kind}{walk.kind}{few}{more}_dsp", assemble(types, y, scaling, walk), constants

    return pairs.proposals(view, node, make)


def refusal(layer: Layer) -> str:
    """Why the kernel does not compute a layer, a clause; empty where it might."""
    return pairs.refusal(layer, "multiplies", _AT_ONCE)


def solve(domain: str, call: Call) -> Scaling | None:
    """Integers that give the oracle's element for every pair; None where none were found."""
    *pair, wanted = pairs.tried(domain, call)
    operands, y = (call.type(0), call.type(1)), call.results[0]
    a, b = (
        values - (t.scaling.zero_point[0] - (t.dtype.range[0] + 128))
        for values, t in zip(pair, operands, strict=True)
    )
    products = a * b
    with np.errstate(over="ignore"):  # of scales that no kernel takes
        factor = np.float32(np.prod([t.scaling.scale[0] for t in operands]) / y.scaling.scale[0])
    shift = shift_of(np.array([factor]))
    if shift < 0 or factor < np.finfo(np.float32).tiny:
        return None
    fixed = tflite.product_multiplier(*operands, y) if domain else None
    ends = int(products.min()), int(products.max())
    channel = Channel(factor, y.scaling.zero_point[0], y.dtype.range, ends, fixed)
    found = accumulate(channel, 1, shift)
    tries = []
    if found is not None:
        tries.append(Scaling(found.scale, found.addend, found.move, shift))
    if fixed is not None and -LARGEST_SHIFT <= fixed[1] < 0:
        by = -fixed[1]
        half = 1 << (by - 1)
        addend = (y.scaling.zero_point[0] << by) + half
        tries.append(Scaling(fixed[0], addend, 0, by, is_twice=True))
    gives = (s for s in tries if (s.elements(products).clip(*y.dtype.range) == wanted).all())
    return next(gives, None)


def assemble(
    operands: Sequence[TensorType], y: TensorType, scaling: Scaling, walk: Walk
) -> Assembly:
    """The kernel. r0, r1: the operands in the walk's order, r2: output, r3: constants."""
    code = Assembly()
    if walk.turns:
        code("ldmia r3!, {r8-r12, lr}", f"vmov {pairs.RUN}, r12")
        walk.load(code)
    else:
        code("ldmia r3, {r8-r12, lr}", "add r12, r12, r2")
    if walk.is_fixed:
        code(f"vmov {pairs.SAVED}, r10")
    code.note("Elements without their zero points, multiplied, scaled, shifted, saturated.")
    with walk.runs(code):
        _run(code, walk.ordered(operands), y, scaling, walk)
    return code


def _run(
    code: Assembly, operands: Sequence[TensorType], y: TensorType, scaling: Scaling, walk: Walk
) -> None:
    extend = ["sxtab16" if t.dtype is DType.INT8 else "uxtab16" for t in operands]
    is_twice, is_fixed = scaling.is_twice, walk.is_fixed

    def finish(*products: str) -> None:
        for p in products:
            if is_twice:  # r4 is free by now
                code(f"smmlar r4, {p}, r11, lr", f"add {p}, r4, {p}, asr #31")
            else:
                code(f"smmla {p}, {p}, r11, lr")
        shifted = f", asr #{scaling.shift}" if scaling.shift else ""
        code(*(f"{saturate(y)} {p}, #8, {p}{shifted}" for p in products))

    if is_fixed:  # r10: its element without the zero point, in the lower half
        code(f"vmov r10, {pairs.SAVED}", "ldrb r4, [r1]", f"{extend[1]} r10, r10, r4")
        if is_twice:
            code("sadd16 r10, r10, r10")
    if walk.turns and walk.run >= _AT_ONCE:
        code(f"vmov r12, {pairs.RUN}", "add r12, r12, r2")
    if walk.run >= _AT_ONCE:
        with code.repeat(walk.run // _AT_ONCE):
            code("ldr r3, [r0], #4", *([] if is_fixed else ["ldr r4, [r1], #4"]))
            code(f"{extend[0]} r5, r9, r3", f"{extend[0]} r3, r9, r3, ror #8")
            if not is_fixed:
                code(f"{extend[1]} r6, r10, r4", f"{extend[1]} r4, r10, r4, ror #8")
            if is_twice and not is_fixed:
                code("sadd16 r6, r6, r6", "sadd16 r4, r4, r4")
            even, odd, upper = ("r10", "r10", "tb") if is_fixed else ("r6", "r4", "tt")
            code(f"smlabb r7, r5, {even}, r8", f"smla{upper} r5, r5, {even}, r8")
            code(f"smlabb r6, r3, {odd}, r8", f"smla{upper} r3, r3, {odd}, r8")
            finish("r7", "r6", "r5", "r3")
            code("bfi r7, r6, #8, #8", "bfi r5, r3, #8, #8", "pkhbt r7, r7, r5, lsl #16")
            code("str r7, [r2], #4", "cmp r2, r12")
    twice = ["sadd16 r4, r4, r4"] if is_twice else []
    for _ in range(walk.run % _AT_ONCE):
        code("ldrb r3, [r0], #1", *([] if is_fixed else ["ldrb r4, [r1], #1"]))
        code(f"{extend[0]} r3, r9, r3")
        if not is_fixed:
            code(f"{extend[1]} r4, r10, r4", *twice)
        code(f"smlabb r3, r3, {'r10' if is_fixed else 'r4'}, r8")
        finish("r3")
        code("strb r3, [r2], #1")
