"""A row of a depthwise convolution of int16: two channels of up to three neighbouring pixels.

A word of x is two channels of a pixel. A word of weights is two taps of both: bytes f[t], f[t + 1],
g[t], g[t + 1], of which SXTB16 has f[t] and g[t], and turned by a byte f[t + 1] and g[t + 1].
SMLABB and SMLATT are a product each. The last pixels of a row may be some of those before, computed
again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp.int16_sums import finish, formula, store_pair
from mcu_deploy.backends.isa.dsp.tile import numbered
from mcu_deploy.backends.isa.kept import counted, move
from mcu_deploy.backends.quantized.int16 import Int16Products

_FARTHEST = 4092  # bytes that LDR and STR reach


@dataclass(frozen=True, eq=False)
class Int16Depthwise:
    """products: their weights are [channel, row, column], of an even number of channels. pixels: of
    the output's row; together: that a word of weights meets, no more than there are. stride: pixels
    of x from one window to the next; line: elements of x from one row to the next.
    """

    products: Int16Products
    pixels: int
    together: int
    stride: int
    line: int

    @property
    def channels(self) -> int:
        return int(self.products.weights.shape[0])

    @property
    def kernel(self) -> tuple[int, int]:
        rows, columns = self.products.weights.shape[1:]
        return int(rows), int(columns)

    @property
    def reaches(self) -> bool:
        """Whether all that is read and written lies near enough."""
        pixel = 2 * self.channels
        apart = (self.together - 1) * self.stride + self.kernel[1] - 1
        return apart * pixel <= _FARTHEST and self.together * self.channels * 2 <= _FARTHEST

    @property
    def _words(self) -> int:
        """Of two channels."""
        return 2 + math.ceil(math.prod(self.kernel) / 2) + 2

    @property
    def constant_bytes(self) -> int:
        return 4 * self._words * (self.channels // 2)

    def pack(self) -> Array:
        """The stream of words: of each two channels the biases, the weights and what rounds."""
        count, taps = self.channels // 2, math.prod(self.kernel)
        weights = np.zeros((self.channels, taps + taps % 2), np.int8)
        weights[:, :taps] = self.products.weights.reshape(self.channels, taps)
        # [two channels, channel, word, tap] to [two channels, word, channel, tap].
        apart = weights.reshape(count, 2, -1, 2).swapaxes(1, 2)
        words = np.ascontiguousarray(apart).reshape(count, -1).view(np.uint32)
        bias = self.products.bias.astype(np.int32).view(np.uint32).reshape(count, 2)
        rounding = self.products.rounding.reshape(count, 2)
        return np.concatenate([bias, words, rounding], 1).reshape(-1)

    def assemble(self) -> Assembly:
        """The kernel: x, y, the packed stream."""
        code, size = Assembly(), self.products.y.dtype.bytes
        groups, rest = math.ceil(self.pixels / self.together), self.pixels % self.together
        of_two, end = code.registers("stream_of_two stream_end", kind=Kind.SINGLE)
        x_two, y_two, x_at, y_at, left = code.registers(
            "x_of_two y_of_two x_at y_at groups_left", kind=Kind.SINGLE
        )
        self._describe(code)
        source, y, constants = code.arguments("x y weights")
        at, stream = code.registers("at stream")
        code.vmov(x_two, source)
        code.vmov(y_two, y)
        code.vmov(of_two, constants)
        code.offset(at, self.constant_bytes, code.register("free"), constants)
        code.vmov(end, at)
        code.reads(self.constant_bytes)

        def shorter() -> None:
            """The last pixels, where fewer are left than are together."""
            by = self.together - rest
            for pointer, step in ((x_at, 2 * self.stride), (y_at, size)):
                code.vmov(at, pointer)
                code.it("eq")
                code.subeq(at, at, by * step * self.channels)
                code.vmov(pointer, at)

        with code.repeat(self.channels // 2):
            for pointer, begin in ((x_at, x_two), (y_at, y_two)):
                code.vmov(at, begin)
                code.vmov(pointer, at)
            with counted(code, left, groups, shorter if rest else None):
                code.vmov(stream, of_two)
                self._pixels(code, x_at, stream, y_at)
                if groups > 1:
                    move(code, x_at, 2 * self.together * self.stride * self.channels)
                    move(code, y_at, size * self.together * self.channels)
            code.note("The next two channels.")
            move(code, x_two, 4)
            move(code, y_two, 2 * size)
            code.vmov(of_two, stream)
            code.vmov(at, end)
            code.cmp(stream, at)
        return code

    def _describe(self, code: Assembly) -> None:
        rows, columns = self.kernel
        code.note(
            f"y[p][f] = {formula(self.products)}, with sum = bias[f] + sum of w[f][t] times f of "
            f"x, of {self.pixels} pixels p, {self.channels} channels f and {rows} x {columns} taps "
            f"t. Windows are {self.stride} pixels apart, and rows of x {self.line} int16."
        )
        code.note(
            "weights: of each two channels f and g the biases; of each two taps bytes w[f][t], "
            "w[f][t + 1], w[g][t], w[g][t + 1]; the factors, "
            f"{'integers' if self.products.is_fixed else 'float32'}."
        )

    def _pixels(self, code: Assembly, x_at: Register, stream: Register, y_at: Register) -> None:
        """Two channels of the pixels that are together."""
        even, odd = (numbered(code, name, self.together) for name in ("even", "odd"))
        x, word, turned = numbered(code, "x", self.together), *code.registers("w w_turned")
        at = code.register("x_row")
        code.vmov(at, x_at)
        code.ldmia(stream.moving, [even[0], odd[0]])
        for of in (even, odd):
            for acc in of[1:]:
                code.mov(acc, of[0])
        (rows, columns), pixel = self.kernel, 2 * self.channels
        farthest = ((self.together - 1) * self.stride + columns - 1) * pixel
        begin, taps = 0, rows * columns
        for tap in range(taps):
            row, column = divmod(tap, columns)
            if not column and 2 * self.line * row - begin + farthest > _FARTHEST:
                code.offset(at, 2 * self.line * row - begin, x[0])
                begin = 2 * self.line * row
            if tap % 2 == 0:
                code.ldr(word, stream.after(4))
            for n, value in enumerate(x):
                offset = 2 * self.line * row - begin + (column + n * self.stride) * pixel
                code.ldr(value, at[offset])
            now = turned if tap % 2 == 0 and tap + 1 < taps else word
            code.sxtb16(now, word.ror(8) if tap % 2 else word)
            for n, value in enumerate(x):
                code.smlabb(even[n], now, value, even[n])
                code.smlatt(odd[n], now, value, odd[n])
        factors = code.registers("factor_even factor_odd")
        code.ldmia(stream.moving, factors)
        finish(code, self.products, [(even, factors[:1]), (odd, factors[1:])])
        size = self.products.y.dtype.bytes
        code.vmov(at, y_at)
        for n, (low, high) in enumerate(zip(even, odd, strict=True)):
            store_pair(code, size, low, high, at, size * self.channels * n)
