"""Rows of int16 times filters of int8: three rows with two filters, or one row with four.

A word of weights is two taps of two filters: bytes f[t], g[t], f[t + 1], g[t + 1]. SXTB16 of it has
those of f as int16, and SXTB16 of it, turned by a byte, those of g. Three rows are put into the
scratch first, two taps a word, of all rows in turn, so that one pointer reads them, and the output
may lie on what they were; a single row is read where it lies.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp.int16_sums import finish, formula, store_pair
from mcu_deploy.backends.isa.dsp.tile import numbered
from mcu_deploy.backends.quantized.int16 import Int16Products

_MOST_UNROLLED, _LEAST_IN_ROUND = 16, 9  # pairs of taps
_AT_ONCE = 2


@dataclass(frozen=True, eq=False)
class Int16Rows:
    """products: their weights are [filter, tap], an even number of taps. rows: 3, of an even number
    of filters, or 1."""

    products: Int16Products
    rows: int

    @property
    def filters(self) -> int:
        return int(self.products.weights.shape[0])

    @property
    def taps(self) -> int:
        return int(self.products.weights.shape[1])

    @property
    def together(self) -> int:
        """Filters of a group."""
        return 2 if self.rows > 1 else 4

    @property
    def groups(self) -> int:
        return math.ceil(self.filters / self.together)

    @property
    def written(self) -> int:
        """Elements of a row of the output, with those that the last group has too many."""
        return self.groups * self.together

    @functools.cached_property
    def in_round(self) -> int:
        """Pairs of taps that stand one behind the other: all of few; of many as many as leave the
        last round of a loop the fewest without use."""
        pairs = self.taps // 2
        if pairs <= _MOST_UNROLLED:
            return pairs
        rounds = range(_LEAST_IN_ROUND, _MOST_UNROLLED + 1)
        return min(rounds, key=lambda n: (-(-pairs // n) * n, -n))

    @property
    def pairs(self) -> int:
        """Of taps, with those that fill the last round."""
        return math.ceil(self.taps / 2 / self.in_round) * self.in_round

    @property
    def is_whole(self) -> bool:
        """Whether the rounds read no more of a row than it has."""
        return 2 * self.pairs == self.taps

    @property
    def scratch_bytes(self) -> int:
        return 4 * self.rows * self.pairs if self.rows > 1 else 0

    @property
    def constant_bytes(self) -> int:
        return 4 * self.groups * (2 * self.together + self.together // 2 * self.pairs)

    def pack(self) -> Array:
        """The stream of words: of each group the biases, the weights and what rounds."""
        count, of_group = self.written, self.together
        weights = np.zeros((count, 2 * self.pairs), np.int8)
        weights[: self.filters, : self.taps] = self.products.weights
        # [group, two filters, filter, pair, tap] to [group, pair, two filters, tap, filter].
        apart = weights.reshape(self.groups, of_group // 2, 2, self.pairs, 2)
        words = np.ascontiguousarray(apart.transpose(0, 3, 1, 4, 2)).reshape(self.groups, -1)
        each = [
            np.resize(of, count).reshape(self.groups, of_group)
            for of in (self.products.bias.astype(np.int32).view(np.uint32), self.products.rounding)
        ]
        return np.concatenate([each[0], words.view(np.uint32), each[1]], 1).reshape(-1)

    def assemble(self) -> Assembly:
        """The kernel: x, y, the packed stream, and of three rows the scratch."""
        code, size = Assembly(), self.products.y.dtype.bytes
        taps, stream = code.registers("taps stream")
        sums = [numbered(code, f"{name}_row", self.rows) for name in "fghi"[: self.together]]
        first, out, end = code.registers("first_taps out stream_end", kind=Kind.SINGLE)
        self._describe(code)
        if self.rows > 1:
            source, y, constants, scratch = code.arguments("x y weights scratch")
            code.vmov(out, y)
            code.vmov(first, scratch)
            self._gather(code, source, scratch)
        else:
            source, y, constants = code.arguments("x y weights")
            code.vmov(out, y)
            code.vmov(first, source)
        code.mov(stream, constants)
        at_end = code.register("at_end")
        code.reads(self.constant_bytes)
        code.offset(at_end, self.constant_bytes, taps, stream)
        code.vmov(end, at_end)
        with code.repeat(self.groups):
            code.note(f"{self.together} filters, {self.rows} row{'s' * (self.rows > 1)}.")
            code.vmov(taps, first)
            code.ldmia(stream.moving, [of[0] for of in sums])
            for of in sums:
                for acc in of[1:]:
                    code.mov(acc, of[0])
            self._multiply(code, taps, stream, sums)
            factors = code.registers(" ".join(f"factor{n}" for n in range(self.together)))
            code.ldmia(stream.moving, factors)
            if self.rows > 1:
                groups = [(of, [factor]) for of, factor in zip(sums, factors, strict=True)]
            else:
                groups = [([of[0] for of in sums], factors)]
            finish(code, self.products, groups)
            at = code.register("y_at")
            code.vmov(at, out)
            for n in range(0, self.together, 2):
                for row, (even, odd) in enumerate(zip(sums[n], sums[n + 1], strict=True)):
                    store_pair(code, size, even, odd, at, size * (self.filters * row + n))
            code.add(at, at, size * self.together)
            code.vmov(out, at)
            code.vmov(at_end, end)
            code.cmp(stream, at_end)
        return code

    def _describe(self, code: Assembly) -> None:
        code.note(
            f"y[r][f] = {formula(self.products)}, with sum = bias[f] + sum of w[f][t] x[r][t], of "
            f"{self.rows} row{'s' * (self.rows > 1)} r of {self.taps} int16, filters f and taps t."
        )
        code.note(
            f"weights: of each {self.together} filters the biases; of each two taps, for each two "
            "filters f and g, bytes w[f][t], w[g][t], w[f][t + 1], w[g][t + 1]; the factors, "
            f"{'integers' if self.products.is_fixed else 'float32'}."
        )
        if self.rows > 1:
            code.note("scratch: the taps, two a word, of all rows in turn.")

    def _gather(self, code: Assembly, source: Register, into: Register) -> None:
        """The rows, in turn."""
        pairs = self.taps // 2
        at_once = 2 if pairs % 2 == 0 else 1
        words = code.registers("a0 a1 a2 b0 b1 b2")[: self.rows * at_once]
        sources, end = [source, *code.registers("source1 source2")], code.register("source_end")
        for before, row in itertools.pairwise(sources):
            code.offset(row, 2 * self.taps, words[0], before)
        code.mov(end, sources[1])
        with code.repeat(pairs // at_once):
            for n, word in enumerate(words):
                code.ldr(word, sources[n % self.rows].after(4))
            code.stmia(into.moving, words)
            code.cmp(source, end)

    def _multiply(
        self, code: Assembly, taps: Register, stream: Register, sums: list[list[Register]]
    ) -> None:
        rounds = self.pairs // self.in_round
        if rounds == 1:
            self._round(code, taps, stream, sums)
            return
        end, kept = code.register("taps_end"), code.register("end_of_taps", kind=Kind.SINGLE)
        code.offset(end, 4 * self.rows * self.pairs, code.register("free"), taps)
        code.vmov(kept, end)
        with code.repeat(rounds):
            self._round(code, taps, stream, sums)
            code.vmov(end, kept)
            code.cmp(taps, end)

    def _round(
        self, code: Assembly, taps: Register, stream: Register, sums: list[list[Register]]
    ) -> None:
        in_word = self.together // 2
        words = numbered(code, "w", _AT_ONCE * in_word)
        x, turned = numbered(code, "x", max(self.rows, _AT_ONCE)), code.register("widened")
        for pair in range(0, self.in_round, _AT_ONCE):
            count = min(_AT_ONCE, self.in_round - pair)
            _load(code, stream, words[: count * in_word])
            if self.rows == 1:
                _load(code, taps, x[:count])
            for n in range(count):
                if self.rows > 1:
                    _load(code, taps, x)
                of_rows = x[n : n + 1] if self.rows == 1 else x
                for k in range(in_word):
                    word = words[n * in_word + k]
                    code.sxtb16(turned, word)
                    for acc, row in zip(sums[2 * k], of_rows, strict=True):
                        code.smlad(acc, turned, row, acc)
                    code.sxtb16(word, word.ror(8))
                    for acc, row in zip(sums[2 * k + 1], of_rows, strict=True):
                        code.smlad(acc, word, row, acc)


def _load(code: Assembly, pointer: Register, into: list[Register]) -> None:
    if len(into) > 1:
        code.ldmia(pointer.moving, into)
    else:
        code.ldr(into[0], pointer.after(4))
