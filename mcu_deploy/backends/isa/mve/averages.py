"""From the sums of a window to its averages, as words, by the integers of
quantized/pool_rounding.py.

Where float32 sums of a window may round to either of two outputs, a block with a sum that is next
to the middle of two is summed again in floats, as the contract says it, and divided by VDIV.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve import byte_lanes
from mcu_deploy.backends.isa.mve.pools import Block, Window, block_of
from mcu_deploy.backends.isa.operands import Label
from mcu_deploy.backends.quantized.pool_layer import Pool
from mcu_deploy.backends.quantized.pool_rounding import Rounding

# Bytes at which the constants are.
_START, _EACH, _SCALE, _ADDEND, _X_SCALE, _COUNT, _Y_SCALE = range(0, 28, 4)


class Average:
    """The outputs of an average."""

    def __init__(self, pool: Pool, rounding: Rounding) -> None:
        self._pool, self._rounding = pool, rounding

    @property
    def _counts(self) -> bool:
        """Whether sums begin with what depends on how many elements are inside."""
        return self._pool.window.padded and self._pool.start[1] != 0

    @property
    def starts(self) -> Sequence[int]:
        """What sums start from, for each element inside."""
        begin, each = self._pool.start
        return begin if self._counts else begin + self._pool.taps * each, each

    @property
    def numbers(self) -> Sequence[int]:
        """What sums start from, for each element inside, scale, addend; of float32 the scale of x,
        a window's elements, the scale of y."""
        pool, rounding = self._pool, self._rounding
        reals = [pool.x.scaling.scale[0], pool.taps, pool.y.scaling.scale[0]]
        bits = np.array(reals, np.float32).view(np.uint32)
        words = [*self.starts, rounding.scale, rounding.addend, *map(int, bits)]
        return [word & 0xFFFFFFFF for word in words]

    def begin(self, window: Window, block: Block) -> None:
        code, free = window.code, window.free
        start = code.register("start")
        code.ldr(start, window.constants[_START])
        if self._counts:
            count = code.register("inside")
            code.mul(count, window.rows, window.columns)
            code.ldr(free, window.constants[_EACH])
            code.mla(start, count, free, start)
        for sums in block.sums:
            (code.vdup_16 if block.lanes == 8 else code.vdup_32)(sums, start)

    def take(self, window: Window, block: Block, vector: int, of: Register) -> None:
        add = window.code.vadd_i16 if block.lanes == 8 else window.code.vadd_i32
        add(block.sums[vector], block.sums[vector], of)

    def end(self, window: Window, block: Block) -> None:
        code, pool, rounding, free = window.code, self._pool, self._rounding, window.free
        scale, addend = code.registers("scale addend")
        code.ldr(scale, window.constants[_SCALE])
        code.ldr(addend, window.constants[_ADDEND])
        if pool.is_of_inside:
            code.mul(free, window.rows, window.columns)
            code.udiv(scale, scale, free)
        scales = code.register("scales", kind=Kind.VECTOR)
        code.vdup_32(scales, scale)
        words = [self._words(code, block, sums) for sums in block.sums]
        for word in (word for of in words for word in of):
            code.vmulh_s32(word, word, scales)
            code.vadd_i32(word, word, addend)
        stored = code.label()
        if rounding.margin:
            self._again(window, block, words, stored)
        for vector, of in enumerate(words):
            for word in of:
                code.vshr_s32(word, word, rounding.shift)
            store(self._pool, window, block, vector, of)
        code.place(stored)

    def _words(self, code: Assembly, block: Block, sums: Register) -> list[Register]:
        """Sums as words: their lanes, or the even and the odd ones; times a power of two."""
        by = self._pool.lanes.bit_length() - 1
        if block.lanes == 4:
            code.vshl_i32(sums, sums, by)
            return [sums]
        even, odd = code.registers("even odd", kind=Kind.VECTOR)
        code.vshl_i32(even, sums, 16)
        code.vmovlt_s16(odd, sums)
        code.vshl_i32(odd, odd, 16)
        return [even, odd]

    def _again(
        self, window: Window, block: Block, words: Sequence[Sequence[Register]], stored: Label
    ) -> None:  # fmt: skip
        """Where a sum is next to the middle of two outputs, all outputs, which go on at a label.
        What a vector has too much may have them computed so, too."""
        code, rounding, free = window.code, self._rounding, window.free
        moved, mask = code.registers("moved mask", kind=Kind.VECTOR)
        nearest, rounds = code.register("nearest"), code.label()
        code.number(free, rounding.fraction & 0xFFFFFFFF)
        code.vdup_32(mask, free)
        code.number(free, rounding.margin)
        code.mvn(nearest, 0)
        for vector, of in enumerate(words):
            for word in of:
                code.vadd_i32(moved, word, free)
                code.vand(moved, moved, mask)
                if block.is_cut(vector):
                    code.vpst()
                    code.vminvt_u32(nearest, moved)
                else:
                    code.vminv_u32(nearest, moved)
        code.cmp(nearest, 0)
        code.bne(rounds)
        code.note("A sum is next to the middle of two outputs: all again, in floats.")
        channels = min(block_of(self._pool), self._pool.channels)
        with code.times(1 - (1 - rounding.again) ** channels):
            self._in_floats(code, window, Block.of(code, 4, block.channels))
            code.b(stored)
        code.place(rounds)

    def _in_floats(self, code: Assembly, window: Window, block: Block) -> None:
        pool, free = self._pool, window.free
        scale, zero = code.registers("x_scale zero_point")
        code.ldr(scale, window.constants[_X_SCALE])
        code.number(zero, pool.x.scaling.zero_point[0] & 0xFFFFFFFF)
        for sums in block.sums:
            code.vmov_i32(sums, 0)

        def take(vector: int, of: Register) -> None:
            code.vsub_i32(of, of, zero)
            code.vcvt_f32_s32(of, of)
            code.vmul_f32(of, of, scale)
            code.vadd_f32(block.sums[vector], block.sums[vector], of)

        window.each_pixel(block, take)
        count, y_scale = code.registers("count y_scale", kind=Kind.SINGLE)
        code.ldr(scale, window.constants[_Y_SCALE])
        if pool.is_of_inside:
            code.mul(free, window.rows, window.columns)
        else:
            code.ldr(free, window.constants[_COUNT])
        code.vmov(count, free)
        if pool.is_of_inside:
            code.vcvt_f32_s32(count, count)
        code.vmov(y_scale, scale)
        for sums in block.sums:
            for word in sums.words:
                code.vdiv_f32(word, word, count)
                code.vdiv_f32(word, word, y_scale)
        code.number(zero, pool.y.scaling.zero_point[0] & 0xFFFFFFFF)
        for sums in block.sums:
            code.vcvtn_s32_f32(sums, sums)
            code.vqadd_s32(sums, sums, zero)
        for vector, sums in enumerate(block.sums):
            store(pool, window, block, vector, [sums])


def store(
    pool: Pool, window: Window, block: Block, vector: int, words: Sequence[Register]
) -> None:  # fmt: skip
    """Words as the outputs of a vector of a block: its lanes, or the even and the odd ones."""
    code, first = window.code, words[0]
    code.vqmovnb_s32(first, first)
    for odd in words[1:]:
        code.vqmovnt_s32(first, odd)
    byte_lanes.saturate(code, pool.y.dtype)(first, first)
    window.store(block, vector, first)
