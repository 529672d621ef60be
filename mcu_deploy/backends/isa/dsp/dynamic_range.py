"""How a tensor of float32 becomes int8 by what it holds when the network runs, as TFLite's dynamic
range has it: by its largest magnitude, or by its range, with a zero point."""

from __future__ import annotations

from collections.abc import Callable

from mcu_deploy.backends.isa import Assembly, Kind, Register

_BITS = 8


def extent(elements: int, has_zero: bool) -> Assembly:
    """The kernel: x, float32; ends; fours: whole ones of the elements. ends[0] and ends[1] become
    the least and the largest of x[i] and 0; of an input without a zero point ends[0] becomes the
    largest magnitude. The same code for as many elements as leave the same rest."""
    code = Assembly()
    found = "the least and the largest of all x[i] and 0" if has_zero else "the largest |x[i]|"
    code.note(f"ends: {found}, of 4 fours + {elements % 4} i.")
    x, ends, fours = code.arguments("x ends fours")
    if not has_zero:
        _each(code, x, fours, elements, _magnitude(code, largest := code.register("largest")))
        code.lsr(largest, largest, 1)
        code.str(largest, ends[0])
        return code
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


def _magnitude(code: Assembly, largest: Register) -> Callable[[Register], None]:
    """What compares bits without the sign."""
    code.mov(largest, 0)

    def compare(number: Register) -> None:
        code.lsl(number, number, 1)
        code.cmp(largest, number)
        code.it("lo")
        code.movlo(largest, number)

    return compare


def integers(elements: int, has_zero: bool) -> Assembly:
    """The kernel: x, float32; y, int8; numbers, float32: another, zero point, factor; fours: as
    `extent` has it.

    y[i] = sat(round(zero + x[i] * factor)), ties away from zero; without a zero point none is too
    large for a byte.
    """
    code = Assembly()
    formula = "sat(round(zero + x[i] * factor))" if has_zero else "round(x[i] * factor)"
    code.note(f"y[i] = {formula}, ties away from zero, of 4 fours + {elements % 4} i.")
    code.note("numbers: another, zero, factor.")
    x, y, numbers, fours = code.arguments("x y numbers fours")
    zero, factor = code.registers("zero factor", kind=Kind.SINGLE)
    code.vldr(factor, numbers[8])
    if has_zero:
        code.vldr(zero, numbers[4])
    _integers(code, x, y, fours, elements, factor, zero if has_zero else None)
    return code


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
    factor: Register, zero: Register | None = None,
) -> None:  # fmt: skip
    """Floats times a factor, plus a zero point, as bytes, four at a time; without a zero point
    none is too large for one."""
    code.note("Halves of integers, towards zero; then integers.")
    numbers, end = code.registers("n0 n1 n2 n3"), code.register("end")
    pairs = code.registers("q01 q23", kind=Kind.DOUBLE)
    floats = [half for pair in pairs for half in pair.halves]
    whole, rest = divmod(elements, 4)

    def integers(count: int) -> None:
        code.vldmia(x.moving, floats[:count])
        for value in floats[:count]:
            code.vmul_f32(value, value, factor)
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
