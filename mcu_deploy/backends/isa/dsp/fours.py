"""The loops of depthwise kernels: four channels after the other, the bands of their lines, and the
filters of a band.

The lines of four channels go to planes in the scratch. Those of a band are there before its outputs
are written; what the next band reads, too, is moved to the front then. Where the image has no line
the planes have zeros.
"""

from __future__ import annotations

from collections.abc import Callable

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.kept import counted
from mcu_deploy.backends.quantized.lines import LANES, Lines


class Fours:
    """The registers of the loops.

    pixels: of the image, what is read next; planes: what is filled next. taps: a filter's, in the
    stream; plane, y: the channel that it convolves, the output. S registers: planes_begin;
    planes_end, of what is filled; numbers: the stream's begin; taps_end; next_taps. D registers:
    image and output of the four channels, and of a band of them; filter, its plane and output.
    """

    def __init__(
        self, code: Assembly, lines: Lines, words: int, channels: int, filters: int = 1
    ) -> None:
        """words: of a filter's taps; filters: of each channel."""
        self._code, self._lines, self._words = code, lines, words
        self._channels, self._each = channels, filters
        self.pixels, self.planes, self.taps, self.plane, self.y, self._end, self._free = (
            code.registers("pixels planes taps plane y end free")
        )
        self.planes_begin, self.planes_end, self.numbers, self.taps_end, self.next_taps = (
            code.registers("planes_begin planes_end numbers taps_end next_taps", kind=Kind.SINGLE)
        )
        self._four_taps, self._bytes_left, self._bands_left, self._filters_left, self._last = (
            code.registers(
                "four_taps bytes_left bands_left filters_left last_four", kind=Kind.SINGLE
            )
        )
        self._four, self._band, self.filter = code.registers(
            "four_x_y band_x_y plane_y", kind=Kind.DOUBLE
        )
        # Where there is a count in the stream, the last channels may be less than four.
        self._may_be_less = not lines.is_bare and channels >= LANES

    def begin(self, numbers: int = 0) -> None:
        """Takes the arguments. numbers: of the stream, in front of the taps, of which the first is
        how many channels there are; where there are none, this is the layer's."""
        code, end, words = self._code, self._end, self._words * self._each
        x, y, taps, planes = code.arguments("x y taps scratch")
        code.vmov(self._four, x, y)
        code.vmov(self.planes_begin, planes)
        if numbers:
            channels, size = code.registers("channels filters_bytes")
            code.vmov(self.numbers, taps)
            code.ldr(channels, taps[0])
            code.add(taps, taps, 4 * numbers)
            code.number(size, 4 * words)
            code.mla(end, channels, size, taps)
            if self._may_be_less:
                code.add(x, x, channels)
                code.sub(x, x, LANES)
                code.vmov(self._last, x)
        else:
            code.offset(end, 4 * words * self._channels, end, taps)
        code.vmov(self.taps_end, end)
        code.vmov(self.next_taps, taps)
        if self._lines.has_zeros:
            code.note("The planes are 0 where they get no pixel.")
            self._to_planes(self.planes)
            code.offset(end, self._lines.plane_bytes, end, self.planes)
            self._clear(self._lines.plane_bytes)

    def all(
        self, fill: Callable[[], None], convolve: Callable[[], None], finish: Callable[[], None]
    ) -> None:
        """fill: lines from `pixels` to `planes`, up to `planes_end`; both are behind them then.
        convolve: `plane` by `taps` to `y`. finish: with `y` in front of a band's outputs, leads it
        behind them, and writes them if they are staged."""
        code, lines, y = self._code, self._lines, self.y
        code.note("Four channels: their lines to the planes, from there to each filter's outputs.")
        fours = -(-self._channels // LANES)
        with code.repeat(fours):
            code.vmov(self.pixels, y, self._four)
            self._to_planes(self.planes)
            if self._may_be_less:
                code.note("Where less than four are left, those before them come again.")
                code.subs(self.pixels, self.pixels, self._repeated())
            code.vmov(self._band, self.pixels, y)
            if lines.bands > 1:
                self._begin_bands()
            elif lines.above:
                code.offset(self.planes, lines.above * lines.line_bytes, self._free)
            with counted(code, self._bands_left, lines.bands):
                code.reads(4 * self._words * LANES * self._each, streams=fours)
                self._fill(fill)
                self._filters(convolve)
                if lines.bands > 1 or lines.staged_bytes:
                    code.vmov(y, self._band.halves[1])
                    finish()
                if lines.bands > 1:
                    self._next_band()
            code.vmov(self.pixels, y, self._four)
            code.adds(self.pixels, self.pixels, LANES)
            code.offset(y, LANES * self._each, self._free)
            code.vmov(self._four, self.pixels, y)
            code.vmov(self.taps, self.next_taps)
            code.vmov(self._end, self.taps_end)
            code.cmp(self.taps, self._end)

    def _to_planes(self, register: Register, size: int = 0) -> None:
        """A register becomes the begin of the planes, or so much behind it."""
        self._code.vmov(register, self.planes_begin)
        self._code.offset(register, size, self._free)

    def _repeated(self) -> Register:
        """How many channels, from `pixels` on, are behind the last four: where less than four are
        left, so many of those before them are taken again."""
        code, count = self._code, self._free
        code.vmov(count, self._last)
        code.subs(count, self.pixels, count)
        code.bic(count, count, count.asr(31))
        return count

    def _clear(self, size: float) -> None:
        """Zeros from `planes` up to `end`, or on average so many bytes."""
        code, zeros = self._code, self._code.registers("zero0 zero1 zero2 zero3")
        for zero in zeros:
            code.movs(zero, 0)
        with code.repeat(max(1, size / 16)):
            code.stmia(self.planes.moving, zeros)
            code.cmp(self.planes, self._end)

    def _begin_bands(self) -> None:
        code, lines, left = self._code, self._lines, self._free
        code.vmov(left, self.next_taps)
        code.vmov(self._four_taps, left)
        if lines.above:
            size = lines.above * lines.line_bytes
            code.offset(self._end, size, self._end, self.planes)
            self._clear(size)
        code.number(left, lines.input[0] * lines.line_bytes)
        code.vmov(self._bytes_left, left)

    def _fill(self, fill: Callable[[], None]) -> None:
        code, lines, end = self._code, self._lines, self._end
        if lines.bands == 1:
            count = min(lines.input[0], lines.held - lines.above)
            code.offset(end, count * lines.line_bytes, end, self.planes)
            code.vmov(self.planes_end, end)
            fill()
            return
        code.note("As many lines as the planes have room for, or zeros where the image ends.")
        left, taken = code.registers("left taken")
        nothing, full = code.label(), code.label()
        code.vmov(left, self._bytes_left)
        self._to_planes(end, lines.plane_bytes)
        code.subs(taken, end, self.planes)
        code.cmp(taken, left)
        code.it("hi")
        code.movhi(taken, left)
        code.subs(left, left, taken)
        code.vmov(self._bytes_left, left)
        code.adds(end, self.planes, taken)
        code.vmov(self.planes_end, end)
        code.cmp(self.planes, end)
        code.beq(nothing)
        code.vmov(self.pixels, self._band.halves[0])
        fill()
        code.vmov(self._band.halves[0], self.pixels)
        code.place(nothing)
        self._to_planes(end, lines.plane_bytes)
        code.cmp(self.planes, end)
        code.beq(full)
        filled = lines.held - lines.above + (lines.bands - 1) * lines.band * lines.strides[0]
        lacking = max(0, filled - lines.input[0]) * lines.line_bytes
        with code.times(1 / lines.bands):
            self._clear(lacking)
        code.place(full)

    def _filters(self, convolve: Callable[[], None]) -> None:
        code, lines, end, free = self._code, self._lines, self._end, self._free
        taps, plane, y, left = self.taps, self.plane, self.y, code.register("filters_left")
        groups = -(-self._channels // LANES)
        self._to_planes(plane)
        if lines.staged_bytes:
            code.offset(y, lines.plane_bytes, free, plane)
        else:
            code.vmov(y, self._band.halves[1])
        if self._may_be_less:
            code.vmov(self.pixels, self._four.halves[0])
            code.add(plane, plane, self._repeated().lsl(2))
        code.vmov(self.filter, plane, y)
        if lines.bands > 1:
            code.vmov(taps, self._four_taps)
            code.vmov(self.next_taps, taps)
        if self._each > 1:
            code.number(left, self._each)
            code.vmov(self._filters_left, left)
        with code.repeat(self._channels * self._each / groups):
            code.vmov(taps, self.next_taps)
            code.offset(end, 4 * self._words, free, taps)
            code.vmov(self.next_taps, end)
            code.vmov(plane, y, self.filter)
            convolve()
            code.vmov(plane, y, self.filter)
            code.adds(y, y, 1)
            if self._each > 1:
                code.vmov(left, self._filters_left)
                code.subs(left, left, 1)
                code.itt("eq")
                code.addeq(plane, plane, 4)
                code.movweq(left, self._each)
                code.vmov(self._filters_left, left)
            else:
                code.adds(plane, plane, 4)
            code.vmov(self.filter, plane, y)
            self._to_planes(end, 4 * min(LANES, self._channels))
            code.cmp(plane, end)

    def _next_band(self) -> None:
        """The lines that are read again, to the front."""
        code, lines, left = self._code, self._lines, self._free
        code.vmov(self._band.halves[1], self.y)
        self._to_planes(self.planes)
        if size := lines.lead * lines.line_bytes:
            code.note("The next band: some lines are there already.")
            many = 8 if size % 32 == 0 else 4
            source, words = code.register("source"), code.registers("a b c d e f g h")[:many]
            moved = lines.band * lines.strides[0] * lines.line_bytes
            code.offset(source, moved, left, self.planes)
            code.offset(self._end, size, left, self.planes)
            with code.repeat(size / 4 / many):
                code.ldmia(source.moving, words)
                code.stmia(self.planes.moving, words)
                code.cmp(self.planes, self._end)
