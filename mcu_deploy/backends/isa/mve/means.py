"""From the sums of a window to TFLite's means, as words: multiplied and shifted, each time rounded,
by the instructions of quantized/twice_rounded.py."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve.averages import Average, store
from mcu_deploy.backends.isa.mve.pools import Block, Window
from mcu_deploy.backends.quantized.pool_layer import Pool

# Bytes at which the constants are, behind those of sums.
_MOVED, _FACTOR, _SHIFT, _ZERO = range(8, 24, 4)


class Mean(Average):
    """The outputs of a mean."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @property
    def numbers(self) -> Sequence[int]:
        """As of an average, what sums get to be whole, factor, shift, zero point."""
        pool = self._pool
        assert pool.fixed is not None
        words = [*self.starts, pool.moved, *pool.fixed, pool.zero_points[1]]
        return [word & 0xFFFFFFFF for word in words]

    def end(self, window: Window, block: Block) -> None:
        code, constants = window.code, window.constants
        number = code.register("number")
        sign = code.register("sign", kind=Kind.VECTOR)
        words = [self._whole(code, block, sums) for sums in block.sums]
        every = [word for of in words for word in of]
        if self._pool.moved:
            code.ldr(number, constants[_MOVED])
            for word in every:
                code.vadd_i32(word, word, number)
        code.ldr(number, constants[_FACTOR])
        for word in every:
            code.vqrdmulh_s32(word, word, number)
        code.ldr(number, constants[_SHIFT])
        for word in every:
            code.vshr_s32(sign, word, 31)
            code.vadd_i32(word, word, sign)
            code.vrshl_s32(word, word, number)
        code.ldr(number, constants[_ZERO])
        for word in every:
            code.vqadd_s32(word, word, number)
        for vector, of in enumerate(words):
            store(self._pool, window, block, vector, of)

    def _whole(self, code: Assembly, block: Block, sums: Register) -> list[Register]:
        """Sums as words: their lanes, or the even and the odd ones."""
        if block.lanes == 4:
            return [sums]
        even, odd = code.registers("even odd", kind=Kind.VECTOR)
        code.vmovlb_s16(even, sums)
        code.vmovlt_s16(odd, sums)
        return [even, odd]
