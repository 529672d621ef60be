"""Float32 to int8 or uint8 and back: QuantizeLinear, DequantizeLinear, and TFLite's Quantize.

The contract is a quotient in float32, for which VDIV takes 14 cycles. Four elements at a time get
it by the reciprocal: `q = x * r`, and with `e = x - q * scale`, which is exact when fused,
`q + e * r` is the rounded quotient (Markstein). Next to where another integer begins this is tried
when the model is compiled; anywhere else its error, below 2**-45 of the quotient, changes none.
Where a sum of four quotients is no number, one of them may be none: these four are divided.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.workloads import ALIKE, proposal
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized.conversions import by_reciprocal
from mcu_deploy.backends.quantized.layers import saturate
from mcu_deploy.ir import DType, Quantization, TensorType

OPERATORS = ("QuantizeLinear", "DequantizeLinear", "tflite::Quantize")

_LOWEST = 4096  # whose complement is below every element, whatever its zero point


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A conversion by itself."""
    read = by_reciprocal(node)
    if isinstance(read, str):
        return read
    quantizes, integer, how, ties_away = read
    elements = integer.elements
    if quantizes:
        code = quantizing(elements, integer, ties_away)
    else:
        code = dequantizing(elements, integer)
    rounding = "_ties_away" if ties_away else ""
    stem = f"{'' if quantizes else 'de'}quantize_{integer.dtype.value}{rounding}_dsp"
    made = proposal(
        view.part([node.node.id]), node.target, stem, code,
        [Constant("constants", constants_of(how, quantizes, ties_away))],
        "quantize" if quantizes else "dequantize",
        in_place=overlap.in_place(node, np.arange(elements)), layouts=ALIKE,
        count=("elements", elements),
    )  # fmt: skip
    return [made]


def constants_of(how: Quantization, quantizes: bool, ties_away: bool) -> Array:
    """int32 [3]: the bits of the reciprocal and of the scale, and what is added to an integer."""
    scale, zero = np.float32(how.scale[0]), how.zero_point[0]
    # Of half units, and a half more: then they are rounded down.
    added = 2 * zero + 1 if ties_away else zero if quantizes else -zero
    with np.errstate(over="ignore"):  # of scales that dequantizing alone takes, without the first
        bits = np.array([np.float32(1) / scale, scale], np.float32).view(np.int32)
    return np.array([*bits, added], np.int32)


def quantizing(elements: int, y: TensorType, ties_away: bool) -> Assembly:
    """The kernel, of no count of elements: input, output, constants, elements.

    y[i] = sat(round(x[i] / scale) + zero_point), one division in float32; y may lie on x.
    """
    rounds, rest = divmod(elements, 4)
    code = Assembly()
    again, last, single, odd, done = (code.label() for _ in range(5))
    code.note("y[i] = sat(round(x[i] / scale) + zero_point). constants: 1 / scale and scale, of")
    code.note("float32, and what is added to the integer. y may lie on x.")
    given = _Given(code, "y", 4)
    x, out = given.x, given.y
    numbers = [r for pair in code.registers("x01 x23", kind=Kind.DOUBLE) for r in pair.halves]
    pairs = code.registers("q01 q23", kind=Kind.DOUBLE)
    quotients_ = [r for pair in pairs for r in pair.halves]
    sums = code.register("sums", kind=Kind.DOUBLE).halves
    integers = code.registers("y0 y1 y2 y3")
    end = code.register("end_of_these")
    code.cmp(out, given.end_of_groups)
    code.beq(last)
    code.note("Quotients by the reciprocal, corrected by their remainders; what is no number shows")
    code.note("in their sum, and these four are divided one by one.")
    with code.times(rounds > 0), code.repeat(max(1, rounds)):
        code.vldmia(x.moving, numbers)
        for q, number in zip(quotients_, numbers, strict=True):
            code.vmul_f32(q, number, given.reciprocal)
        for q, number in zip(quotients_, numbers, strict=True):
            code.vfms_f32(number, q, given.scale)
        for q, number in zip(quotients_, numbers, strict=True):
            code.vfma_f32(q, number, given.reciprocal)
        code.vadd_f32(sums[0], quotients_[0], quotients_[1])
        code.vadd_f32(sums[1], quotients_[2], quotients_[3])
        code.vadd_f32(sums[0], sums[0], sums[1])
        code.vcmp_f32(sums[0], sums[0])
        code.vmrs("APSR_nzcv", "fpscr")
        code.bvs(odd)
        for q in quotients_:
            _integer(code, q, ties_away)
        for n, pair in enumerate(pairs):
            code.vmov(integers[2 * n], integers[2 * n + 1], pair)
        for integer in integers:
            _element(code, integer, given.added, y, ties_away)
        code.bfi(integers[0], integers[1], 8, 8)
        code.bfi(integers[2], integers[3], 8, 8)
        code.pkhbt(integers[0], integers[0], integers[2].lsl(16))
        code.str(integers[0], out.after(4))
        code.place(again)
        code.cmp(out, given.end_of_groups)
    code.place(last)
    code.mov(end, given.end)
    code.cmp(out, given.end)
    code.beq(done)
    code.place(single)
    with code.times(rest > 0), code.repeat(max(1, rest)):
        q, element = quotients_[0], integers[0]
        code.vldmia(x.moving, [q])
        code.vdiv_f32(q, q, given.scale)
        code.vcmp_f32(q, q)
        code.vmrs("APSR_nzcv", "fpscr")
        _integer(code, q, ties_away)
        code.vmov(element, q)
        code.it("vs")
        code.mvnvs(element, _LOWEST)  # what is no number
        _element(code, element, given.added, y, ties_away)
        code.strb(element, out.after(1))
        code.cmp(out, end)
    code.cmp(out, given.end_of_groups)
    code.bls(again)
    code.b(done)
    code.place(odd)
    with code.rarely():
        code.sub(x, x, 16)
        code.add(end, out, 4)
        code.b(single)
    code.place(done)
    return code


class _Given:
    """The arguments and the constants, which are read here; and where groups of so many elements
    and all of them end in the tensor of bytes, which is `counted`."""

    def __init__(self, code: Assembly, counted: str, at_once: int) -> None:
        self.x, self.y, constants, count = code.arguments("x y constants elements")
        self.reciprocal, self.scale = code.register("factors", kind=Kind.DOUBLE).halves
        self.added, self.end, self.end_of_groups = code.registers("added end end_of_groups")
        along = self.x if counted == "x" else self.y
        code.vldmia(constants.moving, [self.reciprocal, self.scale])
        code.ldr(self.added, constants[0])
        code.add(self.end, along, count)
        code.bic(count, count, at_once - 1)
        code.add(self.end_of_groups, along, count)


def _integer(code: Assembly, quotient: Register, ties_away: bool) -> None:
    """Of a quotient: the integer, or with ties away from zero its halves."""
    if ties_away:
        code.vcvt_s16_f32(quotient, quotient, 1)
    else:
        code.vcvtr_s32_f32(quotient, quotient)


def _element(
    code: Assembly, integer: Register, added: Register, y: TensorType, ties_away: bool
) -> None:
    """Of an integer."""
    limit = getattr(code, saturate(y))
    if ties_away:
        code.sub(integer, integer, integer.lsr(31))
        code.add(integer, integer, added)
        limit(integer, 8, integer.asr(1))
    else:
        code.qadd(integer, integer, added)
        limit(integer, 8, integer)


def dequantizing(elements: int, x: TensorType) -> Assembly:
    """The kernel, of no count of elements: input, output, constants, elements.

    y[i] = float32(x[i] - zero_point) * scale.
    """
    rounds, rest = divmod(elements, 8)
    code = Assembly()
    extend = code.sxtab if x.dtype is DType.INT8 else code.uxtab
    last, done = code.label(), code.label()
    code.note(
        "y[i] = float32(x[i] - zero_point) * scale. constants: 1 / scale and scale, of float32,"
    )
    code.note("and the zero point's complement.")
    given = _Given(code, "x", 8)
    pairs = code.registers("y01 y23 y45 y67", kind=Kind.DOUBLE)
    numbers = [r for pair in pairs for r in pair.halves]
    words, integers = code.registers("x0123 x4567"), code.registers("x0 x1 x2 x3")
    code.cmp(given.x, given.end_of_groups)
    code.beq(last)
    code.note("Without the zero point, as float32, times the scale.")
    with code.times(rounds > 0), code.repeat(max(1, rounds)):
        code.ldmia(given.x.moving, words)
        for word, halves in zip(words, (pairs[:2], pairs[2:]), strict=True):
            for n, integer in enumerate(integers):
                extend(integer, given.added, word.ror(8 * n) if n else word)
            code.vmov(halves[0], integers[0], integers[1])
            code.vmov(halves[1], integers[2], integers[3])
        for number in numbers:
            code.vcvt_f32_s32(number, number)
        for number in numbers:
            code.vmul_f32(number, number, given.scale)
        code.vstmia(given.y.moving, numbers)
        code.cmp(given.x, given.end_of_groups)
    code.place(last)
    code.cmp(given.x, given.end)
    code.beq(done)
    with code.times(rest > 0), code.repeat(max(1, rest)):
        code.ldrb(words[0], given.x.after(1))
        extend(words[0], given.added, words[0])
        code.vmov(numbers[0], words[0])
        code.vcvt_f32_s32(numbers[0], numbers[0])
        code.vmul_f32(numbers[0], numbers[0], given.scale)
        code.vstmia(given.y.moving, [numbers[0]])
        code.cmp(given.x, given.end)
    code.place(done)
    return code
