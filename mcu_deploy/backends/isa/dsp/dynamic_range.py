"""How a tensor of float32 becomes int8 by what it holds when the network runs, as TFLite's dynamic
range has it: by its largest magnitude, or by its range, with a zero point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mcu_deploy.backends.isa import Assembly, Kind, Register

_LARGEST = 127.0
_BITS = 8


def symmetric(elements: int) -> Assembly:
    """The kernel: x, float32; y, int8; scale, of one float32; fours: whole ones of the elements.
    The same code for as many elements as leave the same rest.

    y[i] = round(x[i] * (127 / largest)), ties away from zero, with the largest magnitude of x;
    scale is largest / 127. All is 0, and scale 1, where that is 0.
    """
    code = Assembly()
    code.note("y[i] = round(x[i] * (127 / largest)), ties away from zero, with the largest |x[i]|,")
    code.note(f"of 4 fours + {elements % 4} i. scale: largest / 127; 1 where that is 0.")
    x, y, scale, fours = code.arguments("x y scale fours")
    largest, bits = code.registers("largest bits")
    begin = code.register("x_begin", kind=Kind.SINGLE)
    code.vmov(begin, x)
    code.mov(largest, 0)
    code.note("The largest magnitude, by bits without the sign.")

    def compare(number: Register) -> None:
        code.lsl(number, number, 1)
        code.cmp(largest, number)
        code.it("lo")
        code.movlo(largest, number)

    _each(code, x, fours, elements, compare)
    code.vmov(x, begin)
    inverse, most, all_ = code.registers("inverse most all", kind=Kind.SINGLE)
    none = code.label()
    code.lsr(largest, largest, 1)
    code.mov(bits, 0)
    code.vmov(inverse, bits)
    code.number(bits, _bits(1))
    code.cbz(largest, none)
    code.vmov(all_, largest)
    code.number(bits, _bits(_LARGEST))
    code.vmov(most, bits)
    code.vdiv_f32(inverse, most, all_)
    code.vdiv_f32(most, all_, most)
    code.vmov(bits, most)
    code.place(none)
    code.str(bits, scale[0])
    _integers(code, x, y, fours, elements, inverse)
    return code


def extent(elements: int) -> Assembly:
    """The kernel: x, float32; ends, of two: the least and the largest x[i], or 0 where that is
    less, or larger; fours: whole ones of the elements. The same code for as many of them as leave
    the same rest."""
    code = Assembly()
    code.note(f"ends: the least and the largest of x[i] and 0, of 4 fours + {elements % 4} i.")
    x, ends, fours = code.arguments("x ends fours")
    low, high = code.registers("low high")
    code.mov(low, 0)
    code.mov(high, 0)
    code.note("As integers bits are in the order of positive floats, without a sign in that of")
    code.note("negative magnitudes, behind all positive ones.")

    def compare(number: Register) -> None:
        code.cmp(high, number)
        code.it("lt")
        code.movlt(high, number)
        code.cmp(low, number)
        code.it("lo")
        code.movlo(low, number)

    _each(code, x, fours, elements, compare)
    code.note("Without a negative one the least is 0.")
    code.cmp(low, 0)
    code.it("ge")
    code.movge(low, 0)
    code.strd(low, high, ends[0])
    return code


def affine(elements: int) -> Assembly:
    """The kernel: x, float32; y, int8; numbers, float32: scale, zero point; fours: as `extent` has
    it.

    y[i] = sat(round(zero + x[i] * (1 / scale))), ties away from zero.
    """
    code = Assembly()
    code.note("y[i] = sat(round(zero + x[i] * (1 / scale))), ties away from zero, of")
    code.note(f"4 fours + {elements % 4} i. numbers: scale, zero.")
    x, y, numbers, fours = code.arguments("x y numbers fours")
    bits = code.register("bits")
    scale, inverse, zero = code.registers("scale inverse zero", kind=Kind.SINGLE)
    code.number(bits, _bits(1))
    code.vmov(inverse, bits)
    code.vldr(scale, numbers[0])
    code.vldr(zero, numbers[4])
    code.vdiv_f32(inverse, inverse, scale)
    _integers(code, x, y, fours, elements, inverse, zero)
    return code


def _bits(number: float) -> int:
    return int(np.float32(number).view(np.uint32))


def _each(
    code: Assembly, x: Register, fours: Register, elements: int,
    compare: Callable[[Register], None],
) -> None:  # fmt: skip
    """The bits of all elements, four at a time."""
    numbers, end = code.registers("n0 n1 n2 n3"), code.register("end")
    whole, rest = divmod(elements, 4)
    if whole:
        code.add(end, x, fours.lsl(4))
        with code.repeat(whole):
            code.ldmia(x.moving, numbers)
            for number in numbers:
                compare(number)
            code.cmp(x, end)
    for number in numbers[:rest]:
        code.ldr(number, x.after(4))
        compare(number)


def _integers(
    code: Assembly, x: Register, y: Register, fours: Register, elements: int,
    inverse: Register, zero: Register | None = None,
) -> None:  # fmt: skip
    """Floats times `inverse`, plus a zero point, as bytes, four at a time; without a zero point
    none is too large for one."""
    code.note("Halves of integers, towards zero; then integers.")
    numbers, end = code.registers("n0 n1 n2 n3"), code.register("end")
    pairs = code.registers("q01 q23", kind=Kind.DOUBLE)
    floats = [half for pair in pairs for half in pair.halves]
    whole, rest = divmod(elements, 4)

    def integers(count: int) -> None:
        code.vldmia(x.moving, floats[:count])
        for value in floats[:count]:
            code.vmul_f32(value, value, inverse)
        for value in floats[:count] if zero is not None else []:
            code.vadd_f32(value, value, zero)
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
            if zero is None:
                code.asr(number, number, 1)
            else:
                code.ssat(number, _BITS, number.asr(1))

    if whole:
        code.add(end, y, fours.lsl(2))
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
