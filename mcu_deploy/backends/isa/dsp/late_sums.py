"""Sums of a 3x3 depthwise kernel that its integers round too late: their outputs are one too small.

A channel has hardly ever any, and few outputs are what a late sum gives. So all outputs of the
channel are written first; then those that look like it are looked at again, tap by tap.
"""

from __future__ import annotations

from mcu_deploy.backends.isa import Assembly, Label, Register
from mcu_deploy.backends.isa.dsp.fours import Fours
from mcu_deploy.backends.quantized.lines import BareLines

LATE_WORDS = 2  # of a late sum: the output and, from bit 8 on, whether another one follows; the sum
_BYTES = 4 * LATE_WORDS
_NUMBER_AT = 7  # the byte of a channel's taps that says which is its first one
_ALIKE = 0.04  # of all outputs are what a late sum gives


class LateSums:
    """The late sums of a channel whose outputs are written. late: how many it has, on average."""

    def __init__(
        self, code: Assembly, lines: BareLines, fours: Fours, words: int, late: float
    ) -> None:
        self._code, self._lines, self._fours, self._words, self._often = (
            code, lines, fours, words, late,
        )  # fmt: skip
        self._late, self._back = code.label(), code.label()
        self._at, self._line, self._column, self._value = code.registers("late line column value")

    def look(self) -> None:
        """Goes to `correct` if the channel has any, and comes back."""
        code, taps = self._code, self._fours.taps
        code.vmov(taps, self._fours.next_taps)
        code.ldrb(self._at, taps[_NUMBER_AT - 4 * self._words])
        code.cmp(self._at, 0)
        code.bne(self._late)
        code.place(self._back)

    def correct(self) -> None:
        """Adds one to the outputs of each late sum, which are behind the taps of all channels.
        Stands at the kernel's end."""
        code, lines, fours, y = self._code, self._lines, self._fours, self._fours.y
        at, line, column, value = self._at, self._line, self._column, self._value
        small, again, alike, go_on = (
            code.register("small"), code.label(), code.label(), code.label()
        )  # fmt: skip
        step, line_step = lines.pitch[1]
        done = code.label()
        code.b(done)
        with code.times(self._often):
            code.place(self._late)
            code.note("Sums that are rounded too late: outputs that look like theirs.")
            code.sub(fours.taps, fours.taps, 4 * self._words)
            code.vmov(value, fours.taps_end)
            code.add(at, value, at.lsl(_BYTES.bit_length() - 1))
            code.place(again)
            code.vmov(fours.plane, y, fours.filter)
            code.ldrb(small, at[-_BYTES])
            code.movs(line, 0)
            with code.repeat(lines.band):
                code.movs(column, 0)
                with code.repeat(lines.output[1]):
                    code.ldrb(value, y[0])
                    code.cmp(value, small)
                    code.beq(alike)
                    code.place(go_on)
                    code.offset(y, step, value)
                    self._next(column, lines.strides[1], lines.output[1])
                code.offset(y, line_step - lines.output[1] * step, value)
                self._next(line, lines.strides[0], lines.band)
            code.adds(at, at, _BYTES)
            code.ldrb(value, at[1 - 2 * _BYTES])
            code.cmp(value, 0)
            code.bne(again)
            code.b(self._back)
            with code.times(_ALIKE * lines.band * lines.output[1]):
                code.place(alike)
                self._sum(go_on)
                code.ldrb(value, y[0])
                code.adds(value, value, 1)
                code.strb(value, y[0])
                code.b(go_on)
        code.place(done)

    def _next(self, place: Register, stride: int, outputs: int) -> None:
        self._code.adds(place, place, stride)
        self._code.compare(place, outputs * stride, self._value)

    def _sum(self, go_on: Label) -> None:
        """Goes on unless the sum of the taps and what they meet is the late one."""
        code, lines, fours, value = self._code, self._lines, self._fours, self._value
        above, before = lines.before[0] - lines.above, lines.before[1]
        left, row, place, taps, column, pixel = code.registers("left row place taps3 tap_column x")
        code.ldr(left, self._at[4 - _BYTES])
        code.movs(row, 0)
        with code.repeat(3):
            outside = code.label()
            code.adds(place, self._line, row)
            if above:
                code.subs(place, place, above)
            code.compare(place, lines.held, value)
            code.bhs(outside)
            code.number(value, lines.line_bytes)
            code.mla(place, place, value, fours.plane)
            code.ldr(taps, fours.taps[row.lsl(2)])
            code.subs(column, self._column, before)
            with code.repeat(3):
                beside = code.label()
                code.compare(column, lines.input[1], value)
                code.bhs(beside)
                # Two pixels are neighbours, and four channels on are the next two.
                code.and_(value, column, 1)
                code.add(pixel, place, column.lsl(3))
                code.sub(pixel, pixel, value.lsl(2))
                code.sub(pixel, pixel, value.lsl(1))
                code.ldrsh(pixel, pixel[0])
                code.sxtb(value, taps)
                code.mls(left, pixel, value, left)
                code.place(beside)
                code.lsrs(taps, taps, 8)
                code.adds(column, column, 1)
                code.subs(value, column, self._column)
                code.cmp(value, 3 - before)
            code.place(outside)
            code.adds(row, row, 1)
            code.cmp(row, 3)
        code.cmp(left, 0)
        code.bne(go_on)
