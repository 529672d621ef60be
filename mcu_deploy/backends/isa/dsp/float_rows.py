"""Three rows of int8 times int8 filters to float32, or one: what TFLite's dynamic range has of
convolutions and fully connected layers.

The products are those of a tile (tile.py); the sums of two filters, of one row of four, become
float32, are scaled, biased and stored. A zero point is taken from taps where they are widened. A
Relu is BIC by the sign; an upper bound is a minimum of bits, for floats that are not negative are
in the order of their bits.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp.tile import (
    WordStep,
    multiply,
    multiply_row,
    numbered,
    pairs,
    take_apart,
)
from mcu_deploy.backends.isa.dsp.widening import widen
from mcu_deploy.backends.isa.hybrid import HEAD_BYTES
from mcu_deploy.backends.quantized.dense_product import words

ROWS = 3
_MOST_UNROLLED = 40  # pairs of taps
_ROUND = 16  # pairs of a round of a loop over more
_IN_ROW = 4  # pairs of one row that its filters meet at a time
_LANES = 256
_NEAR = 1020  # bytes that STRD reaches

# Sums: of each filter those of all rows.
_Filters = list[list[Register]]


@dataclass(frozen=True, eq=False)
class FloatRows:
    """weights: int8 [filter, tap], of so many filters as are multiplied at a time or a multiple,
    taps by 4; factors, bias: float32 of each filter; is_wide: a word of weights is two taps of one
    filter. low, high: the activation: 0 or minus infinity; any that is positive. rows: 3, which two
    filters meet at a time, or 1, which four do; has_zero: taps have a zero point; surplus: filters
    at the end that there are not."""

    weights: Array
    factors: Array
    bias: Array
    is_wide: bool
    low: float
    high: float
    rows: int
    has_zero: bool
    surplus: int

    @property
    def filters(self) -> int:
        return int(self.weights.shape[0])

    @property
    def together(self) -> int:
        """Filters that are multiplied at a time."""
        return together(self.rows)

    @property
    def taps(self) -> int:
        return int(self.weights.shape[1])

    @property
    def pairs(self) -> int:
        """Of taps, with those that fill the last round of a loop."""
        pairs = self.taps // 2
        if self.rows == 1:
            return -(-pairs // _IN_ROW) * _IN_ROW
        return pairs if pairs <= _MOST_UNROLLED else -(-pairs // _ROUND) * _ROUND

    @property
    def _unrolled(self) -> int:
        """Pairs of taps in a row: of a round, where there is a loop."""
        if self.rows == 1:
            return next(n for n in (16, 12, 8, 4) if self.pairs % n == 0)
        return self.pairs if self.pairs <= _MOST_UNROLLED else _ROUND

    @property
    def scratch_bytes(self) -> int:
        return HEAD_BYTES + 4 * self.rows * self.pairs

    @property
    def constant_bytes(self) -> int:
        return 4 * self.filters * (self.pairs * (2 if self.is_wide else 1) + 4) // 2

    def pack(self) -> Array:
        """The stream of words: of the filters of a group the weights, factors and biases."""
        padded = np.zeros((self.filters, 2 * self.pairs), np.int64)
        order = np.arange(0, self.taps, 4)[:, None] + np.array([0, 2, 1, 3])
        padded[:, : self.taps] = self.weights[:, order.reshape(-1)]
        of_filters = words(padded[::2], padded[1::2], self.is_wide)
        groups = self.filters // self.together
        if self.rows == 1:
            # Of each four pairs of taps: words of both pairs of filters, or of four filters.
            blocks = (groups, 2, self.pairs // _IN_ROW, _IN_ROW, -1)
            of_filters = of_filters.reshape(blocks).transpose(0, 2, 1, 4, 3)
        lanes = np.array([1, 1 if self.is_wide else _LANES], np.float32)
        factors = (self.factors.reshape(-1, 2) / lanes).astype(np.float32).view(np.uint32)
        bias = self.bias.astype(np.float32).view(np.uint32)
        parts = (of.reshape(groups, -1) for of in (of_filters, factors, bias))
        return np.concatenate([*parts], 1).reshape(-1)

    def assemble(self) -> Assembly:
        """The kernel: x, y, the packed stream, scratch."""
        code = Assembly()
        taps, stream = code.registers("taps stream")
        names = "even0 even1 even2 odd0 odd1 odd2" if self.rows > 1 else "even0 odd0 even1 odd1"
        sums = _of_filters(code.registers(names), self.together)
        x = numbered(code, "x", self.rows if self.rows > 1 else _IN_ROW)
        weights = numbered(code, "weights", 3 if self.rows > 1 else _IN_ROW)
        first, out, scale, end = code.registers("first_taps out scale end", kind=Kind.SINGLE)
        self._describe(code)
        source, y, constants, scratch = code.arguments("x y weights scratch")
        into, at_end = code.registers("into at_end")
        code.vmov(out, y)
        code.vldr(scale, scratch[0])
        less = self._negated(code, scratch) if self.has_zero else None
        code.add(into, scratch, HEAD_BYTES)
        code.vmov(first, into)
        self._widen(code, source, into, less)
        code.mov(stream, constants)
        code.reads(self.constant_bytes)
        code.offset(at_end, self.constant_bytes, taps, stream)
        code.vmov(end, at_end)
        with code.repeat(self.filters // self.together):
            if self.rows > 1:
                code.note("Two filters, an even and an odd one, for three rows.")
            else:
                code.note("Four filters, even and odd ones in turn.")
            code.vmov(taps, first)
            if self.rows > 1:
                self._multiply(code, taps, stream, sums, x, weights)
            else:
                self._multiply_row(code, taps, stream, sums, x, weights)
            for even, odd in zip(sums[::2], sums[1::2], strict=True) if not self.is_wide else ():
                take_apart(code, zip(even, odd, strict=True))
            self._finish(code, stream, [acc for of in sums for acc in of], scale)
            self._store(code, sums, out)
            code.vmov(at_end, end)
            code.cmp(stream, at_end)
        return code

    def _describe(self, code: Assembly) -> None:
        zero = " - zero" if self.has_zero else ""
        taps = f"(x[r][t]{zero})" if zero else "x[r][t]"
        code.note(
            f"y[r][f] = clamp(float32(sum of w[f][t] {taps}) * (scale * factor[f]) + bias[f]), of "
            f"{self.rows} rows r of {self.taps} bytes, filters f and taps t. Each f and the next, "
            "g, share a stream of words:"
        )
        if self.is_wide:
            code.note("for each two taps one of w[f], one of w[g], in halves;")
        else:
            code.note("for each two taps one, in halves 256 w[g] + w[f];")
        if self.rows == 1:
            code.note("each eight taps with those of the next two filters;")
        code.note(
            f"factor[f]; factor[g]{'' if self.is_wide else ' / 256'}; bias[f]; bias[g], float32. t "
            "are in the order 0 2 1 3 of each four."
        )
        code.note(
            f"scratch: scale, zero, another, float32; the taps{zero}, two a word, of all rows in "
            "turn."
        )

    def _negated(self, code: Assembly, scratch: Register) -> Register:
        """Minus the zero point, in both halves."""
        less, zero = code.register("less"), code.register("zero", kind=Kind.SINGLE)
        code.vldr(zero, scratch[4])
        code.vcvtr_s32_f32(zero, zero)
        code.vmov(less, zero)
        code.rsb(less, less, 0)
        code.pkhbt(less, less, less.lsl(16))
        return less

    def _widen(
        self, code: Assembly, source: Register, into: Register, less: Register | None
    ) -> None:
        """The rows, four taps at a time, to pairs of int16."""
        low, high = numbered(code, "a", self.rows), numbered(code, "b", self.rows)
        rows, end = [source, *numbered(code, "source", self.rows)[1:]], code.register("source_end")
        for row, next_ in itertools.pairwise(rows):
            code.offset(next_, self.taps, low[0], row)
        code.offset(end, self.taps, low[0], source)
        with code.repeat(self.taps // 4):
            for word, row in zip(low, rows, strict=True):
                code.ldr(word, row.after(4))
            if less is None:
                widen(code, "sxtb16", low, high)
            for word, other in zip(low, high, strict=True) if less is not None else ():
                code.sxtab16(other, less, word.ror(8))
                code.sxtab16(word, less, word)
            code.stmia(into.moving, [*low, *high])
            code.cmp(source, end)

    def _multiply(
        self, code: Assembly, taps: Register, stream: Register, sums: _Filters,
        x: list[Register], weights: list[Register],
    ) -> None:  # fmt: skip
        """The six sums; of narrow words 256 times the odd ones' with the even ones'."""
        of_words = [(0, 1), (1, 2)] if self.is_wide else [(0, 2)]
        is_loop = self.taps // 2 > _MOST_UNROLLED
        steps = [
            WordStep(sums[a:b], x, a == 0, (None,) * (b - a) if not (pair or is_loop) else ())
            for pair in range(self._unrolled) for a, b in of_words
        ]  # fmt: skip
        with self._rounds(code, taps, sums, x) if is_loop else nullcontext():
            multiply(code, taps, stream, steps, weights)

    def _multiply_row(
        self, code: Assembly, taps: Register, stream: Register, sums: _Filters,
        x: list[Register], weights: list[Register],
    ) -> None:  # fmt: skip
        """The four sums of a row; of narrow words as of several rows."""
        with self._rounds(code, taps, sums, x):
            for _ in range(self._unrolled // _IN_ROW):
                row = [acc for of in sums for acc in of]
                multiply_row(code, taps, stream, row, x, weights, self.is_wide)

    @contextmanager
    def _rounds(
        self, code: Assembly, taps: Register, sums: _Filters, x: list[Register]
    ) -> Iterator[None]:
        """A loop over taps, of sums that begin with 0."""
        for of in sums:
            for acc in of:
                code.mov(acc, 0)
        rounds, kept = self.pairs // self._unrolled, code.register("end_of_taps", kind=Kind.SINGLE)
        if rounds == 1:
            yield
            return
        end = x[0]
        code.offset(end, 4 * self.rows * self.pairs, x[1], taps)
        code.vmov(kept, end)
        with code.repeat(rounds):
            yield
            code.vmov(end, kept)
            code.cmp(taps, end)

    def _finish(
        self, code: Assembly, stream: Register, sums: list[Register], scale: Register
    ) -> None:
        """Sums to bits of float32."""
        names = "sums01 sums23 sums45" if self.rows > 1 else "sums01 sums23"
        doubles = code.registers(names, kind=Kind.DOUBLE)
        numbers = [half for double in doubles for half in double.halves]
        twos = range(self.together // 2)
        factor_pairs, bias_pairs = (
            [code.register(f"{name}{n}", kind=Kind.DOUBLE) for n in twos]
            for name in ("factors", "biases")
        )
        for n, double in enumerate(doubles):
            code.vmov(double, *sums[2 * n : 2 * n + 2])
        for double in (*factor_pairs, *bias_pairs):
            code.vldmia(stream.moving, [*double.halves])
        factors = [half for double in factor_pairs for half in double.halves]
        biases = [half for double in bias_pairs for half in double.halves]
        for factor in factors:
            code.vmul_f32(factor, scale, factor)
        for number in numbers:
            code.vcvt_f32_s32(number, number)
        for n, number in enumerate(numbers):
            code.vmul_f32(number, number, factors[n // self.rows])
        for n, number in enumerate(numbers):
            code.vadd_f32(number, number, biases[n // self.rows])
        for n, double in enumerate(doubles):
            code.vmov(*sums[2 * n : 2 * n + 2], double)
        if self.low == 0:
            for acc in sums:
                code.bic(acc, acc, acc.asr(31))
        if np.isfinite(self.high):
            most = code.register("most")
            code.number(most, int(np.float32(self.high).view(np.uint32)))
            for acc in sums:
                code.cmp(acc, most)
                code.it("gt")
                code.movgt(acc, most)

    def _store(self, code: Assembly, sums: _Filters, out: Register) -> None:
        y = code.register("y_at")
        code.vmov(y, out)
        for row, of_row in enumerate(zip(*sums, strict=True)):
            for n, (even, odd) in enumerate(pairs(of_row)):
                at = 4 * self.filters * row + 8 * n
                if at <= _NEAR:
                    code.strd(even, odd, y[at])
                else:
                    code.str(even, y[at])
                    code.str(odd, y[at + 4])
        code.add(y, y, 4 * self.together)
        code.vmov(out, y)


def together(rows: int) -> int:
    """How many filters are multiplied at a time with so many rows: by how many registers there
    are for sums."""
    return 2 if rows > 1 else 4


def _of_filters(sums: list[Register], filters: int) -> _Filters:
    rows = len(sums) // filters
    return [sums[n * rows : (n + 1) * rows] for n in range(filters)]
