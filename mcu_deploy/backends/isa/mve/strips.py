"""Depthwise convolutions over strips (quantized/strips.py): how strips are filled, band by band.

Sixteen channels of four pixels are loaded, and stored as the columns of a matrix (VST4): words of
strips. What channels do with them is in strip_lines.py and strip_sums.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from itertools import groupby

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve.strip_frame import Frame
from mcu_deploy.backends.isa.mve.strip_lines import Lines
from mcu_deploy.backends.isa.mve.strip_sums import Sums
from mcu_deploy.backends.isa.mve.tiles import add_number
from mcu_deploy.backends.quantized.strips import CHANNELS, PAIR_BYTES, Strips
from mcu_deploy.ir import DType


def scratch_bytes(of: Strips) -> int:
    return Frame.bytes(of) + of.held * of.pitch + of.slack


class Depthwise:
    """The kernel: x, y, the packed stream, scratch."""

    def __init__(self, code: Assembly, of: Strips) -> None:
        self._code, self._of, self._frame = code, of, Frame(code, of)
        self._is_partial = of.is_any or of.channels % CHANNELS > 0

    def assemble(self) -> None:
        """All of it."""
        code, of, frame = self._code, self._of, self._frame
        x, y, stream, scratch = self._arguments()
        number = code.register("number")
        if of.is_any:
            code.ldr(number, stream.after(4))
        else:
            code.number(number, of.channels)
        frame.begin(scratch, stream)
        for register, name in ((x, "x"), (y, "y"), (stream, "stream"), (number, "channels")):
            frame.put(register, name)
        frame.put(number, "channels_left")
        self._keep()
        if of.is_any:
            self._sizes(number)
        self._pad()
        code.reads(of.stream_bytes)
        groups = -(-of.channels // CHANNELS)
        if groups == 1 and not of.is_any:
            self._group(of.channels)
            return
        with code.repeat(groups, "bgt"):
            self._group(of.channels / groups)
            code.note("The next channels.")
            for name in ("x", "y"):
                frame.copy(name, name, CHANNELS)
            frame.copy("taps", "stream")
            frame.get(number, "channels_left")
            code.subs(number, number, CHANNELS)
            frame.put(number, "channels_left")

    def _arguments(self) -> list[Register]:
        return self._code.arguments("x y stream scratch")

    def _keep(self) -> None:
        """More that the frame keeps."""

    def _make(self, strips: Register) -> None:
        """What a band needs that is not there yet, for so many strips. The register stays."""

    def _sizes(self, channels: Register) -> None:
        """Of any number of channels."""
        code, of = self._code, self._of
        size = code.register("size")
        for name, pixels in (
            ("row_bytes", of.axes[1].input),
            ("next_output", of.lines * of.line_bytes // of.channels),
        ):
            code.number(size, pixels)
            code.mul(size, size, channels)
            self._frame.put(size, name)

    def _group(self, channels: float) -> None:
        """Of 16 channels, or so many as are left, on average so many."""
        code, of, frame = self._code, self._of, self._frame
        code.note("Sixteen channels, or the last." if self._is_partial else "Sixteen channels.")
        before = of.axes[0].before
        count = code.register("of_group")
        code.mov(count, CHANNELS)
        if self._is_partial:
            left = code.register("channels_left")
            frame.get(left, "channels_left")
            code.cmp(left, CHANNELS)
            code.it("lt")
            code.movlt(count, left)
            code.vctp_8(count)
        frame.put(count, "of_group")
        if of.is_any:
            at, size = code.registers("row_at row_bytes")
            frame.get(at, "x")
            frame.get(size, "row_bytes")
            for _ in range(before):
                code.sub(at, at, size)
            frame.put(at, "row_at")
        else:
            frame.copy("x", "row_at", -before * of.row_bytes)
        frame.set("row", -before)
        frame.copy("y", "output_at")
        lines = of.turns * of.lines + of.rest_lines
        strips = code.register("strips", region="strips")
        frame.strips(strips)
        count_strips = lines * of.line_strips + of.lead
        if of.bands == 1:
            self._fill(strips, None, count_strips)
            self._channels(channels, of.turns, None)
            return
        frame.put(strips, "fill_at")
        frame.set("fill_more", of.lead)
        frame.set("turns_left", of.turns)
        with code.repeat(of.bands, "bgt"):
            self._band(channels, count_strips / of.bands)

    def _band(self, channels: float, strips: float) -> None:
        """Some turns, of channels and strips on average."""
        code, of, frame = self._code, self._of, self._frame
        left, taken, count, more = code.registers("turns_left taken strips_left more")
        frame.get(left, "turns_left")
        frame.get(count, "fill_more")
        code.mov(taken, of.band)
        code.cmp(left, of.band)
        code.it("le")
        code.movle(taken, left)
        if of.rest_lines:
            code.it("le")
            code.addle(count, count, of.rest_lines * of.line_strips)
        code.mov(more, of.lines * of.line_strips)
        code.mla(count, taken, more, count)
        frame.put(taken, "taken")
        self._make(count)
        to = code.register("to", region="strips")
        frame.get(to, "fill_at")
        self._fill(to, count, strips)
        self._channels(channels, of.turns / of.bands, taken)
        if of.lead:
            code.note("The next band begins with strips of this one.")
            self._copy()
        frame.strips(to, of.lead * of.pitch)
        frame.put(to, "fill_at")
        frame.set("fill_more", 0)
        frame.copy("output_at", "output_at", of.band * of.lines * of.line_bytes)
        frame.get(left, "turns_left")
        code.subs(left, left, of.band)
        frame.put(left, "turns_left")

    def _copy(self) -> None:
        code, of = self._code, self._of
        source, to = code.registers("from to", region="strips")
        self._frame.strips(to)
        code.mov(source, to)
        add_number(code, source, of.band * of.lines * of.line_strips * of.pitch)
        words = code.registers("words0 words1 words2 words3", kind=Kind.VECTOR)
        pairs = of.lead * of.pitch // PAIR_BYTES
        with code.counted(pairs, pairs):
            for one in words:
                code.vldrw_u32(one, source.after(16))
            for one in words:
                code.vstrw_32(one, to.after(16))

    def _channels(self, channels: float, turns: float, taken: Register | None) -> None:
        """Of all channels of a group so many turns, and the rest. taken: turns, where there are
        bands."""
        code, frame = self._code, self._frame
        code.note("Channel by channel.")
        sums = Sums(code, self._of, frame)
        lines = Lines(code, self._of, frame, sums, turns)
        first, left = code.register("first"), code.register("left")
        frame.copy("stream", "taps")
        frame.strips(first, lines.strip_begin)
        frame.put(first, "strip_at")
        frame.copy("output_at", "place_at", lines.output_begin)
        frame.copy("of_group", "left")
        sums.begin()
        with code.repeat(channels):
            sums.begin_channel()
            lines.assemble(taken)
            frame.get(left, "left")
            code.subs(left, left, 1)
            frame.put(left, "left")

    # Strips.

    @property
    def _runs(self) -> list[tuple[tuple[bool, bool], int]]:
        """Pairs of columns that are alike, and how many."""
        return [(inside, len([*run])) for inside, run in groupby(self._of.columns)]

    def _pad(self) -> None:
        """Pairs of columns that are beyond the image in all strips."""
        code, of = self._code, self._of
        if all(any(inside) for inside in of.columns):
            return
        at = code.register("at", region="strips")
        words, sign = code.registers("padding sign", kind=Kind.VECTOR)
        self._frame.strips(at)
        self._frame.load_padding(words)
        if of.layer.x.dtype is DType.UINT8:
            code.vmov_i8(sign, 0x80)
            code.veor(words, words, sign)
        with code.counted(of.held, of.held):
            for inside, times in self._runs:
                if any(inside):
                    add_number(code, at, times * PAIR_BYTES)
                else:
                    for _ in range(4 * times):
                        code.vstrw_32(words, at.after(16))

    def _fill(self, to: Register, count: Register | None, strips: float) -> None:
        """Some strips, one behind the other. count: how many, or None for so many as are said."""
        code, of, frame = self._code, self._of, self._frame
        code.note("Strips: two rows of 16 channels, words of four pixels.")
        row_at, row, height, padding = code.registers("row_at row height padding")
        rows, steps = code.registers("above below"), code.registers("above_step below_step")
        row_bytes = code.register("row_bytes")
        if count is None:
            count = code.register("strips_left")
            code.number(count, int(strips))
        frame.get(row_at, "row_at")
        frame.get(row, "row")
        frame.padding(padding)
        if of.is_any:
            frame.get(row_bytes, "row_bytes")
        if of.has_rows_outside:
            code.number(height, of.axes[0].input)
        quad = code.registers("q0 q1 q2 q3", "q0", "q1", "q2", "q3", kind=Kind.VECTOR)
        sign = code.register("sign", kind=Kind.VECTOR)
        if of.layer.x.dtype is DType.UINT8:
            code.vmov_i8(sign, 0x80)

        def pair(inside: Sequence[bool]) -> None:
            for column, is_there in enumerate(inside):
                for vector, at, step in zip(quad[2 * column :], rows, steps, strict=False):
                    self._load(vector, at if is_there else padding, is_there)
                    if is_there:
                        code.add(at, at, step)
                    if of.layer.x.dtype is DType.UINT8:
                        code.veor(vector, vector, sign)
            for n in range(4):
                getattr(code, f"vst4{n}_8")(quad, to[0])
            code.add(to, to, PAIR_BYTES)

        with code.repeat(strips):
            for at, step in zip(rows, steps, strict=True):
                code.mov(at, row_at)
                if of.is_any:
                    frame.get(step, "channels")
                else:
                    code.number(step, of.channels)
                if of.has_rows_outside:
                    code.cmp(row, height)
                    code.itt("hs")
                    code.movhs(at, padding)
                    code.movhs(step, 0)
                if of.is_any:
                    code.add(row_at, row_at, row_bytes)
                else:
                    add_number(code, row_at, of.row_bytes)
                code.add(row, row, 1)
            for inside, times in self._runs:
                if not any(inside):
                    add_number(code, to, times * PAIR_BYTES)
                    continue
                with code.counted(times, times) if times > 1 else nullcontext():
                    pair(inside)
            code.subs(count, count, 1)
        if of.bands > 1:
            frame.put(row_at, "row_at")
            frame.put(row, "row")

    def _load(self, vector: Register, at: Register, is_pixel: bool) -> None:
        if is_pixel and self._is_partial:
            self._code.vpst()
            self._code.vldrbt_u8(vector, at[0])
        else:
            self._code.vldrb_u8(vector, at[0])
