"""Sums to elements: exactly as float32 has them, or as TFLite rounds twice.

A sum becomes a float and is multiplied by its filter's factor; each is rounded once, as the
contract wants it. Adding 1.5 * 2**23 leaves the nearest integer, ties to even, in the lowest bits
of the word, and the zero point with it, if that is even (an odd one would turn ties to odd, and is
added behind). Where a product may be no halfword, it is rounded to a word (VCVTN) and saturated
twice. With factors of fused_rounding.py one instruction multiplies and adds. As TFLite rounds
(twice_rounded.py), words are multiplied and shifted, which leaves the integer, too.

All of it is steps: a tile has them among the products of the next one, a row one after the other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve import byte_lanes
from mcu_deploy.backends.quantized.vector_dense import GROUP, NARROWED, VectorDense
from mcu_deploy.backends.quantized.vector_product import TILE, VectorProduct
from mcu_deploy.backends.quantized.vector_rounding import VectorRounding

# What adds an instruction.
Step = Callable[[], None]
_SLOT = 16  # bytes of a tile's sums


def add_steps(steps: Sequence[Step]) -> None:
    for step in steps:
        step()


class Narrowing:
    """What makes elements of vectors of integers. zero_point: in all lanes, or in a core
    register."""

    def __init__(self, code: Assembly, of: VectorRounding, zero_point: Register) -> None:
        self._code, self._of, self._zero_point = code, of, zero_point
        self._is_plain = not of.layer.leaves_halfwords

    def to_halfwords(self, vectors: Sequence[Register]) -> list[Step]:
        """Integers that may be none become the nearest."""
        if self._is_plain:
            return []
        return [functools.partial(self._code.vqmovnb_s32, of, of) for of in vectors]

    def with_zero(self, vectors: Sequence[Register]) -> list[Step]:
        """Halfwords with the zero point, where integers were without it."""
        if not self._of.adds_zero:
            return []
        add = self._code.vadd_i16 if self._is_plain else self._code.vqadd_s16
        return [functools.partial(add, of, of, self._zero_point) for of in vectors]

    def to_bytes(self, vectors: Sequence[Register]) -> list[Step]:
        """The elements."""
        narrow = byte_lanes.saturate(self._code, self._of.layer.y.dtype)
        return [functools.partial(narrow, of, of) for of in vectors]


class Rounding(Narrowing):
    """What makes elements of vectors of sums, with their biases.

    factor: those of the vectors' filters, or a core register with that of all; number: the
    product's `rounding_number`; sign: a vector that is free while products are shifted; shifts:
    where `packed_shifts` are loaded to.
    """

    def __init__(
        self, code: Assembly, product: VectorProduct, factor: Register, number: Register,
        zero_point: Register, sign: Register, shifts: Register,
    ) -> None:  # fmt: skip
        super().__init__(code, product, zero_point)
        self._product, self._factor, self._number = product, factor, number
        self._sign, self._shifts = sign, shifts

    def integers(
        self, vectors: Sequence[Register], load_factors: Sequence[Step], load_shifts: Step
    ) -> list[Step]:
        """Integers of sums. load_factors: what comes before the factors are needed."""
        if self._product.fixed is not None:
            return [*load_factors, *self._twice_rounded(vectors, load_shifts)]
        code, step = self._code, functools.partial
        first, *others = (step(code.vcvt_f32_s32, of, of) for of in vectors)
        steps: list[Step] = [first, *load_factors, *others]
        if self._product.is_fused:
            return steps + [
                step(code.vfmas_f32, of, self._factor, self._number) for of in vectors
            ]  # fmt: skip
        steps += [step(code.vmul_f32, of, of, self._factor) for of in vectors]
        if self._is_plain:
            return steps + [step(code.vadd_f32, of, of, self._number) for of in vectors]
        return steps + [step(code.vcvtn_s32_f32, of, of) for of in vectors]

    def _twice_rounded(self, vectors: Sequence[Register], load_shifts: Step) -> list[Step]:
        """Integers of sums as TFLite has them, whose ties go up or away from zero."""
        code, product, step = self._code, self._product, functools.partial
        assert product.fixed is not None
        steps: list[Step] = [step(code.vqrdmulh_s32, of, of, self._factor) for of in vectors]
        if product.fixed.is_away:
            for of in vectors:
                steps.append(step(code.vshr_s32, self._sign, of, 31))
                steps.append(step(code.vadd_i32, of, of, self._sign))
        shifts = self._number
        if product.packed_shifts is not None:
            shifts = self._shifts
            steps.append(load_shifts)
        return steps + [step(code.vrshl_s32, of, of, shifts) for of in vectors]


class RowRounding(Rounding):
    """Of a row, 16 filters at a time: of two vectors of words the lowest halfwords become one
    (VMOVNT), which is saturated to bytes (VQMOVN), or the words are saturated to halfwords first.

    sums, ends: where sums, with their biases, and factors are read; output: where elements go.
    groups: how many of 16 filters, which the kernel does not know."""

    def __init__(
        self, code: Assembly, product: VectorDense,
        sums: Register, ends: Register, output: Register, groups: Register,
    ) -> None:  # fmt: skip
        self._dense = product
        self._sums, self._ends, self._output = sums, ends, output
        self._groups = groups
        # The last vector register is the caller's.
        self._even = code.register("even", "q0", kind=Kind.VECTOR)
        self._odd = code.register("odd", "q2", kind=Kind.VECTOR)
        self._others = code.registers("other_even other_odd", "q4", "q5", kind=Kind.VECTOR)
        factor = code.register("factor", "q6", kind=Kind.VECTOR)
        # Behind the products.
        shifts = code.register("shifts", "q6", kind=Kind.VECTOR)
        sign = code.register("sign", "q3", kind=Kind.VECTOR)
        number, zero_point = code.registers("rounding zero_point")
        if product.has_common_factor:
            factor = code.register("factor")
        super().__init__(code, product, factor, number, zero_point, sign, shifts)

    def begin(self) -> None:
        """What stays for all parts: one register."""
        if self._product.needs_number:
            self._code.number(self._number, self._product.rounding_number)

    def assemble(self) -> None:
        """All filters. Output and ends move on, and sums where there are several groups."""
        code, product = self._code, self._dense
        code.note("To elements of the output: scaled, rounded, saturated.")
        if product.has_common_factor:
            code.ldrd(self._factor, self._number, self._ends.after(8))
        if product.adds_zero:
            code.movw(self._zero_point, product.layer.zero_points[1] & 0xFFFF)
        if product.groups:
            with code.counted(product.rounded_groups, self._groups):
                self._group()
        for first in range(0, product.last, TILE):
            self._tile(min(TILE, product.last - first))

    def _words(self, words: Register, slot: int) -> None:
        """The sums of a tile to integers."""
        code = self._code
        if not self._dense.has_common_factor:
            code.vldrw_u32(self._factor, self._ends.after(16))
        code.vldrw_u32(words, self._sums[_SLOT * slot])
        load_shifts = functools.partial(code.vldrw_u32, self._shifts, self._ends.after(16))
        add_steps(self.integers([words], (), load_shifts))

    def _group(self) -> None:
        code, even, odd = self._code, self._even, self._odd
        for n, slot in enumerate(NARROWED):
            half = (even, odd)[n // 2]
            is_second = n % 2 == 1
            word = self._others[n // 2] if is_second else half
            self._words(word, slot)
            if not self._is_plain:
                (code.vqmovnt_s32 if is_second else code.vqmovnb_s32)(half, word)
            elif is_second:
                code.vmovnt_i32(half, word)
            if is_second:
                add_steps(self.with_zero([half]))
        dtype = self._product.layer.y.dtype
        byte_lanes.saturate(code, dtype)(even, even)
        byte_lanes.saturate(code, dtype, is_odd=True)(even, odd)
        code.vstrb_8(even, self._output.after(GROUP))
        if self._dense.groups > 1 or self._dense.last:
            code.add(self._sums, self._sums, 4 * _SLOT)

    def _tile(self, filters: int) -> None:
        """Four filters by themselves, or fewer."""
        code, words, output = self._code, self._others[0], self._output
        self._words(words, 0)
        count = code.register("filters_left")
        if filters < TILE:
            code.mov(count, filters)
            code.vctp_32(count)
        one = [words]
        add_steps([*self.to_halfwords(one), *self.with_zero(one), *self.to_bytes(one)])
        if filters < TILE:
            code.vpst()
            code.vstrbt_32(words, output[0])
            code.add(output, output, filters)
        else:
            code.vstrb_32(words, output.after(TILE))
        code.add(self._sums, self._sums, _SLOT)
