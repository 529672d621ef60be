"""Windows of strips: their sums, and what rounds four of them at a time.

A sum becomes a float and is multiplied by its channel's factor, each rounded once. Where sums below
0 are the least element, a sum of 0 and more with the bits of 2**23 added is the float 2**23 + sum
as it stands, and one VFMA, rounded once, leaves sum times factor. Adding 1.5 * 2**23 leaves the
nearest integer, and the zero point with it, in the lowest bits (rounding.py). Words of TFLite are
multiplied and shifted (twice_rounded.py).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve.rounding import Narrowing
from mcu_deploy.backends.isa.mve.strip_frame import Frame
from mcu_deploy.backends.isa.mve.tiles import add_number
from mcu_deploy.backends.quantized.strips import PAIR_BYTES, WORDS, Strips

_REACH = 508
LAST = 15
# What adds an instruction, and when that is issued at best: cycles behind the first product of four
# sums, or of the next four for what rounds them.
Steps = list[tuple[int, Callable[[], None]]]
# Products wait for what rounds the last four, so that its store is out of the next gather's way.
_PRODUCTS = (0, 7, 9, 11)


class Sums:
    """The registers of a channel."""

    def __init__(self, code: Assembly, of: Strips, frame: Frame) -> None:
        self._code, self._of, self._frame = code, of, frame
        self._is_plain, self._fixed = not of.layer.leaves_halfwords, of.fixed
        self._taps = code.register("taps", region="weights")
        self._bias, self._factor, self._less = code.registers("bias factor less")
        self._number, self._zero_point = code.registers("rounding zero_point")
        self._narrowing = Narrowing(code, of, self._zero_point)
        self._shift = code.register("shift")
        self.output, self._window = (
            code.register("output"),
            code.register("window", region="strips"),
        )
        self.next_output = code.register("next_output")
        self.is_one = len(of.gathers) == 1
        weights = len(of.outputs) if self.is_one else 2
        at = itertools.count()

        def vectors(name: str, count: int, region: str = "") -> list[Register]:
            names = " ".join(f"{name}{n}" for n in range(count))
            places = [f"q{next(at)}" for _ in range(count)]
            return code.registers(names, *places, kind=Kind.VECTOR, region=region)

        self._weights = vectors("w", weights)
        (self._words,) = vectors("words", 1, "strips")
        self._loaded = vectors("x", 8 - weights - 3)
        self._rounded, self._free = vectors("y", 2)
        # Six, so that four can be rounded while two are summed; of windows of more vectors four.
        even = ("r0", "r2", "r4", "r6", "r8", "r12") if self.is_one else ()
        names = " ".join(f"sum{n}" for n in range(len(even) or 4))
        self._sums = code.registers(names, *even)
        self.summed = 0
        self._turns = {"w": 0, "x": 0}

    def begin(self) -> None:
        """What is equal for all channels."""
        code, zero = self._code, self._of.layer.zero_points[1]
        if self._is_plain and self._fixed is None:
            code.number(self._number, self._of.magic)
        if self._of.adds_zero:
            code.movw(self._zero_point, zero & 0xFFFF)
        if not self.is_one:
            code.vldrw_u32(self._words, self._frame.offsets(0))
        if self._of.is_any:
            self._frame.get(self.next_output, "next_output")

    def begin_channel(self) -> None:
        """Its bias, factor and weights, and where its words and outputs are."""
        code, of, frame = self._code, self._of, self._frame
        following = code.register("following")
        frame.get(self._taps, "taps")
        code.ldrd(self._bias, self._factor, self._taps[0])
        if self._fixed is not None:
            code.ldr(self._shift, self._taps[8])
        if of.is_clipped:
            code.note("-2**23 times the factor: the bits of floats.")
            code.add(self._less, self._factor, 23 << 23)
            code.eor(self._less, self._less, 1 << 31)
        code.add(following, self._taps, of.channel_bytes)
        frame.put(following, "taps")
        code.add(self._taps, self._taps, of.head_bytes)
        if of.is_shared:
            self._share()
        elif self.is_one:
            for n, weights in enumerate(self._weights):
                code.vldrw_u32(weights, self._taps[16 * n])
        frame.get(self._window, "strip_at")
        code.add(following, self._window, 4)
        frame.put(following, "strip_at")
        if self.is_one:
            code.vldrw_u32(self._words, frame.offsets(0))
            code.vadd_i32(self._words, self._words, self._window)
        frame.get(self.output, "place_at")
        code.add(following, self.output, 1)
        frame.put(following, "place_at")

    def _share(self) -> None:
        """The weights of four outputs from those of one. Halfwords are columns of two rows: the row
        below is a byte farther, the column on the right two bytes."""
        code, frame, (first, right, below, both) = self._code, self._frame, self._weights
        code.vldrw_u32(first, self._taps[0])
        code.vstrw_32(first, frame.weights(0))
        code.vldrb_u8(self._free, frame.weights(-8))
        code.vldrb_u8(right, frame.weights(-2))
        code.vshl_i16(below, first, 8)
        code.vshr_u16(self._free, self._free, 8)
        code.vorr(below, below, self._free)
        code.vstrw_32(below, frame.weights(16))
        code.vldrb_u8(both, frame.weights(14))

    def _next(self, kind: str, of: Sequence[Register]) -> Register:
        self._turns[kind] += 1
        return of[self._turns[kind] % len(of)]

    def of_window(
        self, by: int, outputs: Sequence[int], number: int, is_last: bool
    ) -> tuple[list[Register], Steps]:
        """Of a window so far behind the last one, and what computes them. number: of the first of
        the four; is_last: whether the window has the last one."""
        found = [self._sums[(self.summed + n) % len(self._sums)] for n in range(len(outputs))]
        self.summed += len(outputs)
        if self.is_one:
            times = _PRODUCTS[number:] if is_last else range(number, WORDS)
            return found, self._one(by, outputs, found, times)
        return found, [(0, functools.partial(self._more, by, outputs, found))]

    def _one(
        self, by: int, outputs: Sequence[int], sums: Sequence[Register], times: Sequence[int]
    ) -> Steps:
        """A window is a vector, whose weights are there."""
        code, words, x = self._code, self._words, self._next("x", self._loaded)
        steps: Steps = []
        early = times[0] - 3 if times[0] in (0, _PRODUCTS[0]) else times[0] - 1
        if abs(by) > _REACH:
            far = code.register("far")
            steps.append((early, functools.partial(code.number, far, by & 0xFFFF_FFFF)))
            steps.append((early, functools.partial(code.vadd_i32, words, words, far)))
            by = 0
        place = words.before(by) if by else words[0]
        steps.append((early, functools.partial(code.vldrw_u32, x, place)))
        for at, acc, n in zip(times, sums, outputs, strict=False):
            steps.append((at, functools.partial(code.vmladav_s8, acc, x, self._weights[n])))
        return steps

    def _more(self, by: int, outputs: Sequence[int], sums: Sequence[Register]) -> None:
        """A window is vectors, whose weights are loaded for each window."""
        code, of = self._code, self._of
        add_number(code, self._window, by)
        ahead, weights_at = 0, 0
        for g, (row, column) in enumerate(of.gathers):
            at = row * of.pitch + column * PAIR_BYTES
            add_number(code, self._window, at - ahead)
            ahead = at
            x = self._next("x", self._loaded)
            code.vldrw_u32(x, self._window[self._words])
            for acc, n in zip(sums, outputs, strict=True):
                place = 16 * (g * len(of.outputs) + n)
                if place - weights_at > _REACH:
                    add_number(code, self._taps, place - weights_at)
                    weights_at = place
                weights = self._next("w", self._weights)
                code.vldrw_u32(weights, self._taps[place - weights_at])
                (code.vmladava_s8 if g else code.vmladav_s8)(acc, x, weights)
        add_number(code, self._window, -ahead)
        add_number(code, self._taps, -weights_at)

    def finish(self, sums: Sequence[Register], offsets: int, moved: int) -> Steps:
        """What rounds four sums and stores their bytes. offsets: the vector of these, from an
        output that is so far behind the last one."""
        code, of, y, free = self._code, self._of, self._rounded, self._free
        steps: Steps = []

        def add(at: int, step: Callable[..., None], *operands: object) -> None:
            steps.append((at, functools.partial(step, *operands)))

        if of.is_clipped:
            add(-5, code.vdup_32, free, self._less)
        for n in (0, 1):
            add(-2, code.vmov, y.lane(2 + n), y.lane(n), sums[n], sums[2 + n])
        add(1, code.vadd_i32, y, y, self._bias)
        if of.is_clipped:
            add(2, code.vfma_f32, free, y, self._factor)
            y, free = free, y
        elif self._fixed is not None:
            if self._fixed.is_mixed:
                add(1, code.vdup_32, free, self._shift)
            add(2, code.vqrdmulh_s32, y, y, self._factor)
            below = y
            if self._fixed.is_mixed:  # also the shift is below 0
                below = free
                add(3, code.vand, free, free, y)
            if self._fixed.is_away:
                add(3, code.vshr_s32, free, below, 31)
                add(3, code.vadd_i32, y, y, free)
        else:
            add(2, code.vcvt_f32_s32, y, y)
            add(3, code.vmul_f32, y, y, self._factor)
        add(3, code.vldrw_u32, free, self._frame.offsets(1 + offsets))
        if self._fixed is not None:
            add(4, code.vrshl_s32, y, y, self._shift)
        elif self._is_plain:
            add(4, code.vadd_f32, y, y, self._number)
        else:
            add(4, code.vcvtn_s32_f32, y, y)
        narrow = self._narrowing
        steps += [(5, step) for step in (*narrow.to_halfwords([y]), *narrow.with_zero([y]))]
        steps += [(6, step) for step in narrow.to_bytes([y])]
        if moved:
            add(8, add_number, code, self.output, moved)
        add(8, code.vstrb_32, y, self.output[free])
        return steps
