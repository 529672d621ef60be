"""Float32 to int8 or uint8 and back: QuantizeLinear, DequantizeLinear, and TFLite's Quantize.

The contract is a quotient in float32, for which VDIV takes 14 cycles. Four elements at a time get
it by the reciprocal: `q = x * r`, and with `e = x - q * scale`, which is exact when fused,
`q + e * r` is the rounded quotient (Markstein). Next to where another integer begins this is tried
when the model is compiled; anywhere else its error, below 2**-45 of the quotient, changes none.
Where a sum of four quotients is no number, one of them may be none: these four are divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.layers import BYTES, saturate
from mcu_deploy.backends.ArmDsp.workloads import workload
from mcu_deploy.backends.interface import (
    Constant,
    Costs,
    Layer,
    LayoutRule,
    Price,
    Proposal,
    SubgraphView,
    Workload,
)
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.kit import overlap
from mcu_deploy.ir import DType, Quantization, TensorType
from mcu_deploy.operators.quantization import call_quantization

OPERATORS = ("QuantizeLinear", "DequantizeLinear", "tflite::Quantize")

_LARGEST_SCALE = 2.0**60  # and the reciprocal of the smallest: no product overflows or vanishes
_LOWEST = 4096  # whose complement is below every element, whatever its zero point


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A conversion by itself."""
    quantizes = node.op != "DequantizeLinear"
    real, integer = node.input(0).type, node.output.type
    if not quantizes:
        real, integer = integer, real
    if real.dtype is not DType.FLOAT32 or integer.dtype not in BYTES:
        return f"it converts between float32 and int8 or uint8, not {real} and {integer}"
    if node.input(0).constant is not None or not integer.elements:
        return "it converts tensors that are computed"
    if any(o is not None and o.constant is None for o in node.inputs[1:]):
        return "its scale is computed at run time"
    if not node.target.fpu:
        return f"it computes in float32, which this {node.target.core} has no FPU for"
    how = integer.scaling if node.domain else call_quantization(node.call, integer.rank)
    if not how.per_tensor:
        return "it converts tensors with one scale"
    if quantizes and not divides(how.scale[0]):
        return "its quotients are not those of a product with the reciprocal of its scale"
    ties_away = node.domain == "tflite"
    elements = integer.elements
    if quantizes:
        code = quantizing(elements, integer, ties_away)
    else:
        code = dequantizing(elements, integer)
    rounding = "_ties_away" if ties_away else ""
    stem = f"{'' if quantizes else 'de'}quantize_{integer.dtype.value}{rounding}_dsp"
    constant = Constant("constants", constants_of(how, quantizes, ties_away))
    price = Price(
        Costs(cycles=round(code.cycles), flash=constant.value.nbytes),
        {f"{stem} {code.digest}": code.bytes},
        in_place=overlap.in_place(node, np.arange(elements)),
    )

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        return (workload(layers[0], stem, code, (constant,), price, elements=elements),)

    part = view.part([node.node.id])
    title = "quantize" if quantizes else "dequantize"
    return [Proposal(part, price, make, layouts=(LayoutRule.SAME,), title=title)]


def constants_of(how: Quantization, quantizes: bool, ties_away: bool) -> Array:
    """int32 [3]: the bits of the reciprocal and of the scale, and what is added to an integer."""
    scale, zero = np.float32(how.scale[0]), how.zero_point[0]
    # Of half units, and a half more: then they are rounded down.
    added = 2 * zero + 1 if ties_away else zero if quantizes else -zero
    bits = np.array([np.float32(1) / scale, scale], np.float32).view(np.int32)
    return np.array([*bits, added], np.int32)


def divides(scale: float) -> bool:
    """Whether the product with the reciprocal, once corrected, is the quotient in float32 of all
    numbers next to where another integer begins."""
    if not 1 / _LARGEST_SCALE <= scale <= _LARGEST_SCALE:
        return False
    s = np.float32(scale)
    halves = np.arange(-511, 512, 2) / 2
    steps = (halves * float(s)).astype(np.float32).view(np.int32)
    x = (steps[:, None] + np.arange(-2, 3, dtype=np.int32)).view(np.float32)
    return bool((quotients(x, s) == x / s).all())


def quotients(x: Array, scale: np.float32) -> Array:
    """What the kernel makes of float32 numbers by the reciprocal."""
    reciprocal = np.float32(1) / scale
    q = x * reciprocal
    return _fused(_fused(-q, scale, x), reciprocal, q)


def _fused(a: Array, b: np.float32, c: Array) -> Array:
    """float32(a * b + c), rounded once: VFMA."""
    product = a.astype(np.float64) * np.float64(b)
    total = product + c
    back = total - product
    lost = (product - (total - back)) + (c - back)
    # Rounded to odd where float64 lost bits, so that float32 rounds as if they were there.
    is_even = total.view(np.int64) % 2 == 0
    beside = np.nextafter(total, np.copysign(np.inf, lost))
    return np.where((lost != 0) & is_even, beside, total).astype(np.float32)


def quantizing(elements: int, y: TensorType, ties_away: bool) -> Assembly:
    """The kernel, of no count of elements. r0: input, r1: output, r2: constants, r3: elements."""
    rounds, rest = divmod(elements, 4)
    code = Assembly()
    again, last, single, odd, done = (code.label() for _ in range(5))
    _begin(code, "r1", 4)
    code("cmp r1, r11", f"beq {last}f")
    code.note("Quotients by the reciprocal, corrected by their remainders; what is no number shows")
    code.note("in their sum, and these four are divided one by one.")
    with code.times(rounds > 0), code.repeat(max(1, rounds)):
        code("vldmia r0!, {s0-s3}", *(f"vmul.f32 s{4 + n}, s{n}, s14" for n in range(4)))
        code(*(f"vfms.f32 s{n}, s{4 + n}, s15" for n in range(4)))
        code(*(f"vfma.f32 s{4 + n}, s{n}, s14" for n in range(4)))
        code("vadd.f32 s8, s4, s5", "vadd.f32 s9, s6, s7", "vadd.f32 s8, s8, s9")
        code("vcmp.f32 s8, s8", "vmrs APSR_nzcv, fpscr", f"bvs {odd}f")
        code(*(_integer(n, ties_away) for n in range(4)))
        code("vmov r4, r5, s4, s5", "vmov r6, r7, s6, s7")
        for n in range(4):
            _element(code, f"r{4 + n}", y, ties_away)
        code("bfi r4, r5, #8, #8", "bfi r6, r7, #8, #8", "pkhbt r4, r4, r6, lsl #16")
        code("str r4, [r1], #4")
        code.place(again)
        code("cmp r1, r11")
    code.place(last)
    code("mov r10, r12", "cmp r1, r12", f"beq {done}f")
    code.place(single)
    with code.times(rest > 0), code.repeat(max(1, rest)):
        code("vldmia r0!, {s4}", "vdiv.f32 s4, s4, s15", "vcmp.f32 s4, s4")
        code("vmrs APSR_nzcv, fpscr", _integer(0, ties_away), "vmov r4, s4")
        code("it vs", f"mvnvs r4, #{_LOWEST}")  # what is no number
        _element(code, "r4", y, ties_away)
        code("strb r4, [r1], #1", "cmp r1, r10")
    code("cmp r1, r11", f"bls {again}b", f"b {done}f")
    code.place(odd)
    with code.rarely():
        code("sub r0, r0, #16", "add r10, r1, #4", f"b {single}b")
    code.place(done)
    return code


def _begin(code: Assembly, counted: str, at_once: int) -> None:
    """r0: input, r1: output; s14, s15, r9: the constants. r11, r12: where the groups of elements
    and all of them end in the tensor of bytes, which the register `counted` goes along."""
    code("vldmia r2!, {s14-s15}", "ldr r9, [r2]")
    code(f"add r12, {counted}, r3", f"bic r3, r3, #{at_once - 1}", f"add r11, {counted}, r3")


def _integer(n: int, ties_away: bool) -> str:
    """Of a quotient: the integer, or with ties away from zero its halves."""
    to = f"s{4 + n}, s{4 + n}"
    return f"vcvt.s16.f32 {to}, #1" if ties_away else f"vcvtr.s32.f32 {to}"


def _element(code: Assembly, r: str, y: TensorType, ties_away: bool) -> None:
    """Of an integer."""
    if ties_away:
        code(f"sub {r}, {r}, {r}, lsr #31", f"add {r}, {r}, r9")
        code(f"{saturate(y)} {r}, #8, {r}, asr #1")
    else:
        code(f"qadd {r}, {r}, r9", f"{saturate(y)} {r}, #8, {r}")


def dequantizing(elements: int, x: TensorType) -> Assembly:
    """The kernel, of no count of elements. r0: input, r1: output, r2: constants, r3: elements."""
    rounds, rest = divmod(elements, 8)
    extend = "sxtab" if x.dtype is DType.INT8 else "uxtab"
    code = Assembly()
    last, done = code.label(), code.label()
    _begin(code, "r0", 8)
    code("cmp r0, r11", f"beq {last}f")
    code.note("Without the zero point, as float32, times the scale.")
    with code.times(rounds > 0), code.repeat(max(1, rounds)):
        code("ldmia r0!, {r3, r4}")
        for first, word in ((0, "r3"), (4, "r4")):
            code(f"{extend} r5, r9, {word}")
            code(*(f"{extend} r{5 + n}, r9, {word}, ror #{8 * n}" for n in (1, 2, 3)))
            code(f"vmov s{first}, s{first + 1}, r5, r6", f"vmov s{first + 2}, s{first + 3}, r7, r8")
        code(*(f"vcvt.f32.s32 s{n}, s{n}" for n in range(8)))
        code(*(f"vmul.f32 s{n}, s{n}, s15" for n in range(8)))
        code("vstmia r1!, {s0-s7}", "cmp r0, r11")
    code.place(last)
    code("cmp r0, r12", f"beq {done}f")
    with code.times(rest > 0), code.repeat(max(1, rest)):
        code("ldrb r3, [r0], #1", f"{extend} r3, r9, r3", "vmov s0, r3", "vcvt.f32.s32 s0, s0")
        code("vmul.f32 s0, s0, s15", "vstmia r1!, {s0}", "cmp r0, r12")
    code.place(done)
    return code
