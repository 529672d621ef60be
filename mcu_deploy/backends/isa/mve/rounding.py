"""Sums of a row to elements, as tiles.py makes them: 16 filters at a time.

Of two vectors of words the lowest halfwords become one (VMOVNT), which is saturated to bytes
(VQMOVN), or the words are saturated to halfwords first.
"""

from __future__ import annotations

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.quantized.vector_dense import GROUP, NARROWED, VectorDense
from mcu_deploy.backends.quantized.vector_product import TILE
from mcu_deploy.ir import DType

_SLOT = 16  # bytes of a tile's sums


class Rounding:
    """sums, ends: where sums, with their biases, and factors are read; output: where elements go.
    groups: how many of 16 filters, which the kernel does not know."""

    def __init__(
        self, code: Assembly, product: VectorDense,
        sums: Register, ends: Register, output: Register, groups: Register,
    ) -> None:  # fmt: skip
        self._code, self._product = code, product
        self._sums, self._ends, self._output = sums, ends, output
        self._zero = product.layer.zero_points[1]
        self._is_plain, self._fixed = not product.saturates_words, product.fixed
        self._groups = groups
        # The last vector register is the caller's.
        self._even = code.register("even", "q0", kind=Kind.VECTOR)
        self._odd = code.register("odd", "q2", kind=Kind.VECTOR)
        self._others = code.registers("other_even other_odd", "q4", "q5", kind=Kind.VECTOR)
        self._factor = code.register("factor", "q6", kind=Kind.VECTOR)
        # Behind the products.
        self._shifts = code.register("shifts", "q6", kind=Kind.VECTOR)
        self._sign = code.register("sign", "q3", kind=Kind.VECTOR)
        self._number, self._zero_point = code.registers("rounding zero_point")
        if product.has_common_factor:
            self._factor = code.register("factor")

    def begin(self) -> None:
        """What stays for all parts: one register."""
        if self._product.needs_number:
            self._code.number(self._number, self._product.rounding_number)

    def assemble(self) -> None:
        """All filters. Output and ends move on, and sums where there are several groups."""
        code, product = self._code, self._product
        code.note("To elements of the output: scaled, rounded, saturated.")
        if product.has_common_factor:
            code.ldrd(self._factor, self._number, self._ends.after(8))
        if product.adds_zero:
            code.movw(self._zero_point, self._zero & 0xFFFF)
        if product.groups:
            with code.counted(product.rounded_groups, self._groups):
                self._group()
        for first in range(0, product.last, TILE):
            self._tile(min(TILE, product.last - first))

    def _scaled(self, words: Register, slot: int) -> None:
        """The sums of a tile."""
        code = self._code
        if not self._product.has_common_factor:
            code.vldrw_u32(self._factor, self._ends.after(16))
        code.vldrw_u32(words, self._sums[_SLOT * slot])
        if self._fixed is not None:
            code.vqrdmulh_s32(words, words, self._factor)
            self._shift(words, is_away=self._fixed.is_away)
            return
        code.vcvt_f32_s32(words, words)
        if self._product.is_fused:
            code.vfmas_f32(words, self._factor, self._number)
            return
        code.vmul_f32(words, words, self._factor)
        if self._is_plain:
            code.vadd_f32(words, words, self._number)
        else:
            code.vcvtn_s32_f32(words, words)

    def _shift(self, words: Register, *, is_away: bool) -> None:
        """Products of TFLite, whose ties go up or away from zero."""
        code = self._code
        if is_away:
            code.vshr_s32(self._sign, words, 31)
            code.vadd_i32(words, words, self._sign)
        shifts = self._number
        if self._product.packed_shifts is not None:
            shifts = self._shifts
            code.vldrw_u32(shifts, self._ends.after(16))
        code.vrshl_s32(words, words, shifts)

    def _with_zero(self, halves: Register) -> None:
        if self._product.adds_zero:
            add = self._code.vadd_i16 if self._is_plain else self._code.vqadd_s16
            add(halves, halves, self._zero_point)

    def _to_bytes(self, into: Register, halves: Register, end: str) -> None:
        kind = "vqmovn" if self._product.layer.y.dtype is DType.INT8 else "vqmovun"
        getattr(self._code, f"{kind}{end}_s16")(into, halves)

    def _group(self) -> None:
        code, even, odd = self._code, self._even, self._odd
        for n, slot in enumerate(NARROWED):
            half = (even, odd)[n // 2]
            is_second = n % 2 == 1
            word = self._others[n // 2] if is_second else half
            self._scaled(word, slot)
            if not self._is_plain:
                (code.vqmovnt_s32 if is_second else code.vqmovnb_s32)(half, word)
            elif is_second:
                code.vmovnt_i32(half, word)
            if is_second:
                self._with_zero(half)
        self._to_bytes(even, even, "b")
        self._to_bytes(even, odd, "t")
        code.vstrb_8(even, self._output.after(GROUP))
        if self._product.groups > 1 or self._product.last:
            code.add(self._sums, self._sums, 4 * _SLOT)

    def _tile(self, filters: int) -> None:
        """Four filters by themselves, or fewer."""
        code, words, output = self._code, self._others[0], self._output
        self._scaled(words, 0)
        count = code.register("filters_left")
        if filters < TILE:
            code.mov(count, filters)
            code.vctp_32(count)
        if not self._is_plain:
            code.vqmovnb_s32(words, words)
        self._with_zero(words)
        self._to_bytes(words, words, "b")
        if filters < TILE:
            code.vpst()
            code.vstrbt_32(words, output[0])
            code.add(output, output, filters)
        else:
            code.vstrb_32(words, output.after(TILE))
        code.add(self._sums, self._sums, _SLOT)
