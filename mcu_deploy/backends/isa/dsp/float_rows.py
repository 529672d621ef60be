"""Three rows of int8 times int8 filters to float32, and how a tensor of float32 becomes such rows:
what TFLite's dynamic range has of convolutions.

The products are those of a tile (tile.py); the six sums of two filters become float32, are scaled,
biased and stored. A Relu is BIC by the sign; an upper bound is a minimum of bits, for floats that
are not negative are in the order of their bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp.tile import Sums, WordStep, multiply, take_apart
from mcu_deploy.backends.isa.dsp.widening import widen
from mcu_deploy.backends.quantized.dense_product import words

ROWS = 3
SCALE_BYTES = 4  # of the scratch, in front of the taps
_MOST_UNROLLED = 40  # pairs of taps
_ROUND = 16  # pairs of a round of a loop over more
_LANES = 256
_LARGEST = 127.0
_NEAR = 1020  # bytes that STRD reaches


@dataclass(frozen=True, eq=False)
class FloatRows:
    """weights: int8 [filter, tap], an even number of filters, taps by 4; factors, bias: float32 of
    each filter; is_wide: a word of weights is two taps of one filter. low, high: the activation:
    0 or minus infinity; any that is positive."""

    weights: Array
    factors: Array
    bias: Array
    is_wide: bool
    low: float
    high: float

    @property
    def filters(self) -> int:
        return int(self.weights.shape[0])

    @property
    def taps(self) -> int:
        return int(self.weights.shape[1])

    @property
    def pairs(self) -> int:
        """Of taps, with those that fill the last round of a loop."""
        pairs = self.taps // 2
        return pairs if pairs <= _MOST_UNROLLED else -(-pairs // _ROUND) * _ROUND

    @property
    def scratch_bytes(self) -> int:
        return SCALE_BYTES + 4 * ROWS * self.pairs

    def pack(self) -> Array:
        """The stream of words: of each two filters the weights, factors and biases."""
        padded = np.zeros((self.filters, 2 * self.pairs), np.int64)
        order = np.arange(0, self.taps, 4)[:, None] + np.array([0, 2, 1, 3])
        padded[:, : self.taps] = self.weights[:, order.reshape(-1)]
        of_filters = words(padded[::2], padded[1::2], self.is_wide)
        lanes = np.array([1, 1 if self.is_wide else _LANES], np.float32)
        factors = (self.factors.reshape(-1, 2) / lanes).astype(np.float32).view(np.uint32)
        bias = self.bias.astype(np.float32).reshape(-1, 2).view(np.uint32)
        return np.concatenate([of_filters, factors, bias], 1).reshape(-1)

    def assemble(self) -> Assembly:
        """The kernel: x, y, the packed stream, scratch."""
        code = Assembly()
        taps, stream = code.registers("taps stream")
        sums, x = Sums.of(code), code.registers("x0 x1 x2")
        weights = code.registers("weights0 weights1 weights2")
        first, out, scale, end = code.registers("first_taps out scale end", kind=Kind.SINGLE)
        self._describe(code)
        source, y, constants, scratch = code.arguments("x y weights scratch")
        into, at_end = code.registers("into at_end")
        code.vmov(out, y)
        code.ldr(at_end, scratch[0])
        code.vmov(scale, at_end)
        code.add(into, scratch, SCALE_BYTES)
        code.vmov(first, into)
        self._widen(code, source, into)
        code.mov(stream, constants)
        words_ = self.filters // 2 * (self.pairs * (2 if self.is_wide else 1) + 4)
        code.reads(4 * words_)
        code.offset(at_end, 4 * words_, taps, stream)
        code.vmov(end, at_end)
        with code.repeat(self.filters // 2):
            code.note("Two filters, an even and an odd one, for three rows.")
            code.vmov(taps, first)
            self._multiply(code, taps, stream, sums, x, weights)
            if not self.is_wide:
                take_apart(code, zip(*sums, strict=True))
            self._finish(code, stream, sums, scale)
            self._store(code, sums, out)
            code.vmov(at_end, end)
            code.cmp(stream, at_end)
        return code

    def _describe(self, code: Assembly) -> None:
        code.note(
            "y[r][f] = clamp(float32(sum of w[f][t] x[r][t]) * (scale * factor[f]) + bias[f]), of "
            f"{ROWS} rows r of {self.taps} bytes, filters f and taps t. Each f and the next, g, "
            "share a stream of words:"
        )
        if self.is_wide:
            code.note("for each two taps one of w[f], one of w[g], in halves;")
        else:
            code.note("for each two taps one, in halves 256 w[g] + w[f];")
        code.note(
            f"factor[f]; factor[g]{'' if self.is_wide else ' / 256'}; bias[f]; bias[g], float32. t "
            "are in the order 0 2 1 3 of each four."
        )
        code.note("scratch: scale, float32; the taps, two a word, of all rows in turn.")

    def _widen(self, code: Assembly, source: Register, into: Register) -> None:
        """The rows, four taps at a time, to pairs of int16."""
        low, high = code.registers("a0 a1 a2"), code.registers("b0 b1 b2")
        others, end = code.registers("source1 source2"), code.register("source_end")
        code.offset(others[0], self.taps, low[0], source)
        code.offset(others[1], self.taps, low[0], others[0])
        code.mov(end, others[0])
        with code.repeat(self.taps // 4):
            for word, row in zip(low, (source, *others), strict=True):
                code.ldr(word, row.after(4))
            widen(code, "sxtb16", low, high)
            code.stmia(into.moving, [*low, *high])
            code.cmp(source, end)

    def _multiply(
        self, code: Assembly, taps: Register, stream: Register, sums: Sums,
        x: list[Register], weights: list[Register],
    ) -> None:  # fmt: skip
        """The six sums; of narrow words 256 times the odd ones' with the even ones'."""
        of_words = [(0, 1), (1, 2)] if self.is_wide else [(0, 2)]
        is_loop = self.taps // 2 > _MOST_UNROLLED
        steps = [
            WordStep(sums[a:b], x, a == 0, (None,) * (b - a) if not (pair or is_loop) else ())
            for pair in range(_ROUND if is_loop else self.pairs) for a, b in of_words
        ]  # fmt: skip
        if not is_loop:
            multiply(code, taps, stream, steps, weights)
            return
        end = code.register("taps_end")
        for acc in sums.all:
            code.mov(acc, 0)
        code.offset(end, 4 * ROWS * self.pairs, x[0], taps)
        kept = code.register("end_of_taps", kind=Kind.SINGLE)
        code.vmov(kept, end)
        with code.repeat(self.pairs // _ROUND):
            multiply(code, taps, stream, steps, weights)
            code.vmov(end, kept)
            code.cmp(taps, end)

    def _finish(self, code: Assembly, stream: Register, sums: Sums, scale: Register) -> None:
        """Sums to bits of float32."""
        doubles = code.registers("sums01 sums23 sums45", kind=Kind.DOUBLE)
        numbers = [half for double in doubles for half in double.halves]
        both = code.registers("factors biases", kind=Kind.DOUBLE)
        factors, biases = (double.halves for double in both)
        for n, double in enumerate(doubles):
            code.vmov(double, *sums.all[2 * n : 2 * n + 2])
        code.vldmia(stream.moving, [*factors])
        code.vldmia(stream.moving, [*biases])
        for factor in factors:
            code.vmul_f32(factor, scale, factor)
        for number in numbers:
            code.vcvt_f32_s32(number, number)
        for n, number in enumerate(numbers):
            code.vmul_f32(number, number, factors[n // ROWS])
        for n, number in enumerate(numbers):
            code.vadd_f32(number, number, biases[n // ROWS])
        for n, double in enumerate(doubles):
            code.vmov(*sums.all[2 * n : 2 * n + 2], double)
        if self.low == 0:
            for acc in sums.all:
                code.bic(acc, acc, acc.asr(31))
        if np.isfinite(self.high):
            most = code.register("most")
            code.number(most, int(np.float32(self.high).view(np.uint32)))
            for acc in sums.all:
                code.cmp(acc, most)
                code.it("gt")
                code.movgt(acc, most)

    def _store(self, code: Assembly, sums: Sums, out: Register) -> None:
        y = code.register("y_at")
        code.vmov(y, out)
        for row, (even, odd) in enumerate(zip(*sums, strict=True)):
            at = 4 * self.filters * row
            if at <= _NEAR:
                code.strd(even, odd, y[at])
            else:
                code.str(even, y[at])
                code.str(odd, y[at + 4])
        code.add(y, y, 8)
        code.vmov(out, y)


def symmetric(elements: int) -> Assembly:
    """The kernel: x, float32; y, int8; scale, of one float32.

    y[i] = round(x[i] * (127 / largest)), ties away from zero, with the largest magnitude of x;
    scale is largest / 127. All is 0, and scale 1, where that is 0.
    """
    code = Assembly()
    code.note("y[i] = round(x[i] * (127 / largest)), ties away from zero, with the largest |x[i]|.")
    code.note("scale: largest / 127; 1 where that is 0.")
    x, y, scale = code.arguments("x y scale")
    numbers = code.registers("n0 n1 n2 n3")
    largest, end, bits = code.registers("largest end bits")
    begin = code.register("x_begin", kind=Kind.SINGLE)
    whole, rest = divmod(elements, 4)
    code.vmov(begin, x)
    code.mov(largest, 0)
    code.note("The largest magnitude, by bits without the sign.")

    def compare(of: list[Register]) -> None:
        for number in of:
            code.lsl(number, number, 1)
            code.cmp(largest, number)
            code.it("lo")
            code.movlo(largest, number)

    if whole:
        code.offset(end, 16 * whole, bits, x)
        with code.repeat(whole):
            code.ldmia(x.moving, numbers)
            compare(numbers)
            code.cmp(x, end)
    for number in numbers[:rest]:
        code.ldr(number, x.after(4))
    compare(numbers[:rest])
    code.vmov(x, begin)
    inverse, most, all_ = code.registers("inverse most all", kind=Kind.SINGLE)
    none = code.label()
    code.lsr(largest, largest, 1)
    code.mov(bits, 0)
    code.vmov(inverse, bits)
    code.number(bits, int(np.float32(1).view(np.uint32)))
    code.cbz(largest, none)
    code.vmov(all_, largest)
    code.number(bits, int(np.float32(_LARGEST).view(np.uint32)))
    code.vmov(most, bits)
    code.vdiv_f32(inverse, most, all_)
    code.vdiv_f32(most, all_, most)
    code.vmov(bits, most)
    code.place(none)
    code.str(bits, scale[0])
    code.note("Halves of integers, towards zero; then integers.")
    pairs = code.registers("q01 q23", kind=Kind.DOUBLE)
    floats = [half for pair in pairs for half in pair.halves]

    def integers(count: int) -> None:
        code.vldmia(x.moving, floats[:count])
        for value in floats[:count]:
            code.vmul_f32(value, value, inverse)
        for value in floats[:count]:
            code.vcvt_s16_f32(value, value, 1)
        if count == 4:
            for n, pair in enumerate(pairs):
                code.vmov(numbers[2 * n], numbers[2 * n + 1], pair)
        else:
            for number, value in zip(numbers, floats[:count], strict=False):
                code.vmov(number, value)
        for number in numbers[:count]:
            code.sub(number, number, number.lsr(31))
            code.add(number, number, 1)
            code.asr(number, number, 1)

    if whole:
        code.offset(end, 4 * whole, bits, y)
        with code.repeat(whole):
            integers(4)
            code.bfi(numbers[0], numbers[1], 8, 8)
            code.bfi(numbers[2], numbers[3], 8, 8)
            code.pkhbt(numbers[0], numbers[0], numbers[2].lsl(16))
            code.str(numbers[0], y.after(4))
            code.cmp(y, end)
    if rest:
        integers(rest)
        for number in numbers[:rest]:
            code.strb(number, y.after(1))
    return code
