"""Windows that leave the image are copied to a patch, with the zero point around what is inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mcu_deploy.backends.isa import Assembly, Kind, Memory, Register


class Numbers(Protocol):
    """Of a layer, by their names: in the code, or where a register points to. zeros: the zero
    point, in each byte at least of a half; patch: its bytes; row of a patch, down the image: from a
    row to the next one; span: columns of a window; rows: of a window; channels, width, height."""

    def __getitem__(self, name: str, /) -> Memory | int: ...


def copy_window(
    code: Assembly,
    place: Sequence[Register],
    into: Register,
    numbers: Numbers,
    unit: int,
    sizes: tuple[int, float, int],
    dilation: int = 1,
    saved: Sequence[tuple[Register, Register]] = (),
) -> None:
    """A window to the patch at `into`, which is lost.

    place: its first byte, column and row. unit: of 16, 4 and 1 the bytes that channels are a
    multiple of. sizes: bytes of a patch, units of a row that are copied, and rows. saved: what is
    kept in the FPU meanwhile where `unit` is 16.
    """
    (first, column, first_row), (patch_bytes, width, rows) = place, sizes

    def take(name: str, register: Register) -> None:
        value = numbers[name]
        if isinstance(value, int):
            code.number(register, value)
        else:
            code.ldr(register, value)

    end, at = code.registers("patch_end at")
    zeros = code.registers("zeros zeros1 zeros2 zeros3")
    take("patch", end)
    code.add(end, end, into)
    code.mov(at, into)
    take("zeros", zeros[0])
    code.pkhbt(zeros[0], zeros[0], zeros[0].lsl(16))
    for other in zeros[1:]:
        code.mov(other, zeros[0])
    with code.repeat(patch_bytes // 32):
        code.stmia(at.moving, zeros)
        code.stmia(at.moving, zeros)
        code.cmp(at, end)
    nothing = code.label()
    # What of its rows is inside, in columns first: how many are outside in front, and inside.
    outside, size, span = code.registers("outside inside span")
    code.rsb(outside, column, 0)
    code.bic(outside, outside, outside.asr(31))
    take("width", size)
    code.sub(size, size, column)
    take("span", span)
    code.cmp(size, span)
    code.it("gt")
    code.movgt(size, span)
    code.subs(size, size, outside)
    code.ble(nothing)
    channels, source, row = code.registers("channels inside_source patch_row")
    height, rows_left, pitch, into_pitch = code.registers("height rows_left pitch patch_pitch")
    take("channels", channels)
    code.mul(size, size, channels)
    code.mul(outside, outside, channels)
    code.add(source, first, outside)
    code.add(into, into, outside)
    code.mov(row, first_row)
    take("height", height)
    take("rows", rows_left)
    take("down the image", pitch)
    take("row of a patch", into_pitch)
    names = " ".join(f"saved{n}" for n in range(len(saved)))
    doubles = code.registers(names, kind=Kind.DOUBLE)
    if unit == 16:
        for double, pair in zip(doubles, saved, strict=True):
            code.vmov(double, *pair)
    with code.repeat(rows):
        above = code.label()
        code.cmp(row, height)
        code.bhs(above)
        if unit == 16:
            row_end, words = code.register("row_end"), code.registers("a b c d")
            code.add(row_end, source, size)
            with code.repeat(max(1.0, width)):
                code.ldmia(source.moving, words)
                code.stmia(into.moving, words)
                code.cmp(source, row_end)
            code.sub(source, source, size)
            code.sub(into, into, size)
        else:
            left = code.register("left")
            code.mov(left, size)
            _row(code, source, into, left, width, unit)
        code.place(above)
        code.add(source, source, pitch)
        code.add(into, into, into_pitch)
        code.add(row, row, dilation)
        code.subs(rows_left, rows_left, 1)
    if unit == 16:
        for double, pair in zip(doubles, saved, strict=True):
            code.vmov(*pair, double)
    code.place(nothing)


def _row(
    code: Assembly, source: Register, into: Register, left: Register, width: float, unit: int
) -> None:
    """Copies so many bytes as are left, from the last to the first: words, then bytes."""
    some, done, copied = code.label(), code.label(), code.register("copied")
    words = width * unit // 4
    if words:
        code.subs(left, left, 4)
        if unit == 1:
            code.blo(some)
        with code.repeat(words, "bhs"):
            code.ldr(copied, source[left])
            code.str(copied, into[left])
            code.subs(left, left, 4)
    if unit == 4:
        return
    if words:
        code.place(some)
        code.adds(left, left, 4)
        code.beq(done)
    with code.repeat(width % 4 or 1):
        code.subs(left, left, 1)
        code.ldrb(copied, source[left])
        code.strb(copied, into[left])
    code.place(done)
