"""Sums of a pixel or two to elements, exactly as float32 has them: 16 filters at a time.

A sum becomes a float and is multiplied by its filter's factor; each is rounded once, as the
contract wants it. Adding 1.5 * 2**23 leaves the nearest integer, ties to even, in the lowest bits
of the word, and the zero point with it, if that is even (an odd one would turn ties to odd, and is
added behind). The lowest halfwords are taken (VMOVNT), and saturated to bytes (VQMOVN). Where a
product may be no halfword, it is rounded to a word (VCVTN) and saturated twice. With factors of
fused_rounding.py one instruction multiplies and adds. As TFLite rounds (twice_rounded.py), words
are multiplied and shifted, which leaves the integer, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.quantized.vector_product import (
    GROUP,
    NARROWED,
    TILE,
    VectorProduct,
)
from mcu_deploy.ir import DType

SLOT = 32  # bytes of a tile's sums of two pixels


class Rounding:
    """sums, ends: where sums and biases and factors are read; outputs: where elements of either
    pixel go, or of the only one, whose sums are a tile's then. groups: how many of 16 filters, for
    a kernel that does not know it."""

    def __init__(
        self, code: Assembly, product: VectorProduct,
        sums: Register, ends: Register, outputs: Sequence[Register],
        groups: Register | None = None,
    ) -> None:  # fmt: skip
        self._code, self._product = code, product
        self._sums, self._ends, self._outputs = sums, ends, outputs
        self._zero = product.layer.zero_points[1]
        self._is_plain, self._fixed = not product.saturates_words, product.fixed
        self._adds_zero = self._zero != 0
        if self._is_plain and self._fixed is None:
            self._adds_zero = bool(self._zero % 2)
        self._needs_number = self._is_plain
        if self._fixed is not None:
            self._needs_number = product.packed_shifts is None
        self._groups = groups
        pixels = len(outputs)
        self._slot = SLOT // 2 * pixels
        even = code.registers("even0 even1", "q0", "q1", kind=Kind.VECTOR)
        odd = code.registers("odd0 odd1", "q2", "q3", kind=Kind.VECTOR)
        self._halves = even[:pixels], odd[:pixels]
        other = code.registers("other0 other1", "q4", "q5", kind=Kind.VECTOR)
        self._others = [[one] for one in other] if pixels == 1 else [other, other]
        # Of one pixel, whose sums have their biases, the last vector register is the caller's.
        self._bias = code.register("bias", "q6", kind=Kind.VECTOR)
        factor = "q7" if pixels > 1 else "q6"
        self._factor = code.register("factor", factor, kind=Kind.VECTOR)
        # Behind the products.
        self._shifts = code.register("shifts", factor, kind=Kind.VECTOR)
        self._sign = code.register("sign", "q6" if pixels > 1 else "q3", kind=Kind.VECTOR)
        self._number, self._zero_point = code.registers("rounding zero_point")
        if product.has_common_factor:
            self._factor = code.register("factor")

    def begin(self, stream: Register | None = None) -> None:
        """What stays for all pixels: one register. stream: with the number in front."""
        if self._needs_number and stream is not None:
            self._code.ldr(self._number, stream[0])
        elif self._needs_number:
            self._code.number(self._number, self._product.rounding_number)

    def assemble(self) -> None:
        """All filters. Outputs and ends move on, and sums where there are several groups."""
        code, product = self._code, self._product
        code.note("To elements of the output: scaled, rounded, saturated.")
        if product.has_common_factor:
            code.ldrd(self._factor, self._number, self._ends.after(8))
        if self._adds_zero:
            code.movw(self._zero_point, self._zero & 0xFFFF)
        if self._groups is not None and product.groups:
            with code.counted(product.rounded_groups, self._groups):
                self._group()
        elif product.groups > 1:
            with code.counted(product.groups, product.groups):
                self._group()
        elif product.groups:
            self._group()
        for first in range(0, product.last, TILE):
            self._tile(min(TILE, product.last - first))

    def _scaled(self, into: Sequence[Register], slot: int) -> None:
        """The sums of a tile."""
        code = self._code
        if self._product.adds_bias:
            code.vldrw_u32(self._bias, self._ends.after(16))
        if not self._product.has_common_factor:
            code.vldrw_u32(self._factor, self._ends.after(16))
        for pixel, words in enumerate(into):
            code.vldrw_u32(words, self._sums[self._slot * slot + 16 * pixel])
            if self._product.adds_bias:
                code.vadd_i32(words, words, self._bias)
            if self._fixed is not None:
                code.vqrdmulh_s32(words, words, self._factor)
                continue
            code.vcvt_f32_s32(words, words)
            if self._product.is_fused:
                code.vfmas_f32(words, self._factor, self._number)
                continue
            code.vmul_f32(words, words, self._factor)
            if self._is_plain:
                code.vadd_f32(words, words, self._number)
            else:
                code.vcvtn_s32_f32(words, words)

        if self._fixed is not None:
            self._shift(into, is_away=self._fixed.is_away)

    def _shift(self, into: Sequence[Register], *, is_away: bool) -> None:
        """Products of TFLite, whose ties go up or away from zero."""
        code = self._code
        for words in into:
            if is_away:
                code.vshr_s32(self._sign, words, 31)
                code.vadd_i32(words, words, self._sign)
        shifts = self._number
        if self._product.packed_shifts is not None:
            shifts = self._shifts
            code.vldrw_u32(shifts, self._ends.after(16))
        for words in into:
            code.vrshl_s32(words, words, shifts)

    def _with_zero(self, halves: Register) -> None:
        if self._adds_zero:
            add = self._code.vadd_i16 if self._is_plain else self._code.vqadd_s16
            add(halves, halves, self._zero_point)

    def _to_bytes(self, into: Register, halves: Register, end: str) -> None:
        kind = "vqmovn" if self._product.layer.y.dtype is DType.INT8 else "vqmovun"
        getattr(self._code, f"{kind}{end}_s16")(into, halves)

    def _group(self) -> None:
        code = self._code
        for n, slot in enumerate(NARROWED):
            halves = self._halves[n // 2]
            is_second = n % 2 == 1
            words = self._others[n // 2] if is_second else halves
            self._scaled(words, slot)
            for half, word in zip(halves, words, strict=True):
                if not self._is_plain:
                    (code.vqmovnt_s32 if is_second else code.vqmovnb_s32)(half, word)
                elif is_second:
                    code.vmovnt_i32(half, word)
                if is_second:
                    self._with_zero(half)
        for output, even, odd in zip(self._outputs, *self._halves, strict=True):
            self._to_bytes(even, even, "b")
            self._to_bytes(even, odd, "t")
            code.vstrb_8(even, output.after(GROUP))
        if self._product.groups > 1 or self._product.last:
            code.add(self._sums, self._sums, 4 * self._slot)

    def _tile(self, filters: int) -> None:
        """Four filters by themselves, or fewer."""
        code = self._code
        words_of = self._others[0]
        self._scaled(words_of, 0)
        count = code.register("filters_left")
        if filters < TILE:
            code.mov(count, filters)
            code.vctp_32(count)
        for output, words in zip(self._outputs, words_of, strict=True):
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
        code.add(self._sums, self._sums, self._slot)
