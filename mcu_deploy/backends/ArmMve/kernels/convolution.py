"""Convolutions of any kernel, stride, dilation and padding: two pixels times four filters.

Windows are where the image is, or a band of it with its padding; or they are brought together
(vector_windows.py). Of uint8 a band is copied in any case, and moved to int8 on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, assembly, proposal
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.mve.band import Band, Gather
from mcu_deploy.backends.isa.mve.rounding import SLOT, Rounding
from mcu_deploy.backends.isa.mve.tiles import Tile, add_number, add_to
from mcu_deploy.backends.quantized.layers import read
from mcu_deploy.backends.quantized.vector_product import HEAD
from mcu_deploy.backends.quantized.vector_windows import Windows, forms
from mcu_deploy.ir import DType

OPERATORS = ("Conv", "tflite::Conv")

# Words of the scratch; behind them the sums of a pair, in front of which a slot is written that
# nothing reads, then gathered windows, then the band.
_WINDOW, _COLUMNS, _OUTPUT, _STREAM, _PAIRS, _ROW, _SOURCE, _BANDS, _ZERO = range(0, 36, 4)
_GROUPS, _BEGIN = 36, 40
_SUMS = 48 + SLOT
_BAND_BYTES = 4096
_MOST_CONDITIONAL = 255  # of a number in an instruction that has a condition


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A convolution by itself, 1x1 only of uint8 or in groups."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    is_of_pixels = layer.is_pixelwise and layer.groups == 1 and layer.x.dtype is DType.INT8
    if layer.is_depthwise or is_of_pixels:
        return ""
    all_ = forms(layer, _BAND_BYTES)
    if reason := all_[0].refusal():
        return reason
    return [_proposal(view, node, windows) for windows in all_]


def _proposal(view: SubgraphView, node: Layer, windows: Windows) -> Proposal:
    layer, product = windows.layer, windows.product
    rows, columns = layer.window.kernel
    groups, in_place = layer.groups, windows.in_place
    title = f"conv{rows}x{columns}, vectors" + ", gathered windows" * windows.is_gathered
    if windows.is_copied:
        title += f", {windows.band} rows"
    return proposal(
        view.part([node.node.id]), node.target,
        f"conv{rows}x{columns}_{windows.channels}x{product.filters}{'_groups' * (groups > 1)}_mve",
        assemble(windows),
        lambda: (Constant("weights", product.pack()),), title,
        macs=layer.pixels * layer.weights.size, constant_bytes=product.stream_bytes,
        scratch_bytes=scratch_bytes(windows), in_place=[in_place] if in_place else (),
        layouts=CHANNELS_LAST,
    )  # fmt: skip


def _band_at(windows: Windows) -> int:
    return _SUMS + SLOT * windows.product.tiles + 2 * windows.gathered_bytes


def scratch_bytes(windows: Windows) -> int:
    return _band_at(windows) + windows.band_bytes


def assemble(windows: Windows) -> Assembly:
    """The kernel: image, output, the packed stream, scratch."""
    return _Kernel(windows).assembled()


class _Kernel:
    def __init__(self, windows: Windows) -> None:
        self._windows, self._product = windows, windows.product
        # Pairs of odd rows go over their ends.
        self._is_by_row = windows.layer.window.output[1] % 2 == 0
        self._is_odd = windows.pixels % 2 == 1
        code = self._code = assembly()
        self._x, self._y, self._weights, self._scratch = code.arguments("x y weights scratch")
        self._frame = code.register("frame", region="frame")
        where = "windows" if windows.is_gathered else "band" if windows.is_copied else ""
        self._tile = Tile(
            code, self._product, windows.row_pitch, has_words=windows.has_words,
            is_guarded=windows.is_guarded, region=where,
        )  # fmt: skip
        self._at, self._columns = code.registers("next_window columns_left")
        self._left = code.register("pairs_left")
        self._free = code.register("free")
        self._outputs = code.registers("output0 output1")

    def assembled(self) -> Assembly:
        code, windows, frame = self._code, self._windows, self._frame
        self._describe()
        code.mov(frame, self._scratch)
        code.str(self._y, frame[_OUTPUT])
        stream = code.register("stream_begin")
        code.add(stream, self._weights, HEAD)
        code.str(stream, frame[_STREAM])
        if not windows.is_copied:
            code.mov(self._at, self._x)
            self._groups()
            return code
        band = Band(code, windows, frame[_ZERO])
        zero = code.register("zero_point_of_x")
        code.ldr(zero, self._weights[4])
        code.str(zero, frame[_ZERO])
        window = windows.layer.window
        bands = code.register("bands_left")
        code.note("A band of the image: its padding, which stays, then its rows.")
        code.mov(band.source, self._x)
        row = window.input[1] * windows.channels
        code.offset(band.source, -window.begin[0] * row, self._free)
        code.mov(band.row, 0)
        add_number(code, band.row, -window.begin[0])
        self._place(band.place)
        band.begin()
        if windows.bands > 1:
            code.mov(bands, windows.bands)
            code.str(bands, frame[_BANDS])
        with code.repeat(windows.bands) if windows.bands > 1 else nullcontext():
            band.fill()
            if windows.bands > 1:
                code.str(band.row, frame[_ROW])
                code.str(band.source, frame[_SOURCE])
            self._place(self._at)
            self._groups()
            if windows.bands > 1:
                code.note("The next band.")
                code.ldr(band.row, frame[_ROW])
                code.ldr(band.source, frame[_SOURCE])
                code.ldr(bands, frame[_BANDS])
                self._place(band.place)
                code.subs(bands, bands, 1)
                code.str(bands, frame[_BANDS])
        return code

    def _place(self, into: Register) -> None:
        """Where the band begins."""
        add_to(self._code, into, self._frame, _band_at(self._windows))

    def _groups(self) -> None:
        """All pixels of a band, group by group."""
        code, windows, frame, product = self._code, self._windows, self._frame, self._product
        groups, pitch = product.sections, len(windows.layer.weights)
        if groups == 1:
            self._pairs()
            return
        left, free = self._left, self._free

        def move(at: int, by: int) -> None:
            code.ldr(left, frame[at])
            code.offset(left, by, free)
            code.str(left, frame[at])

        code.mov(left, groups)
        code.str(left, frame[_GROUPS])
        code.str(self._at, frame[_BEGIN])
        with code.repeat(groups):
            self._pairs()
            code.note("The next group.")
            move(_STREAM, product.section_bytes)
            move(_OUTPUT, product.filters - windows.pixels * pitch)
            code.ldr(self._at, frame[_BEGIN])
            add_number(code, self._at, windows.depth)
            code.str(self._at, frame[_BEGIN])
            code.ldr(left, frame[_GROUPS])
            code.subs(left, left, 1)
            code.str(left, frame[_GROUPS])
        if windows.bands > 1:
            move(_STREAM, -groups * product.section_bytes)
            move(_OUTPUT, (windows.pixels - 1) * pitch)

    def _pairs(self) -> None:
        """All pixels of a band, two at a time."""
        code, windows, frame, tile = self._code, self._windows, self._frame, self._tile
        left = self._left
        pairs = -(-windows.pixels // 2)
        gather = None
        if windows.is_gathered:
            gather = Gather(code, windows, "band" if windows.is_copied else "")
        rounding = Rounding(code, self._product, tile.sums, tile.stream, self._outputs)
        tile.begin()
        if self._product.sections > 1:
            rounding.begin()
        else:
            stream = code.register("stream_begin")
            code.ldr(stream, frame[_STREAM])
            code.sub(stream, stream, HEAD)
            rounding.begin(stream)
        of_row = windows.layer.window.output[1]
        if self._is_by_row:
            rows = self._columns
            code.mov(rows, windows.band)
            code.strd(self._at, rows, frame[_WINDOW])
            with code.repeat(windows.band) if windows.band > 1 else nullcontext():
                code.mov(left, of_row // 2)
                code.str(left, frame[_PAIRS])
                with code.repeat(of_row // 2):
                    self._pair(gather, rounding)
                if windows.band > 1:
                    code.ldrd(self._at, rows, frame[_WINDOW])
                    code.offset(self._at, windows.jump, self._free)
                    code.subs(rows, rows, 1)
                    code.strd(self._at, rows, frame[_WINDOW])
            return
        code.mov(self._columns, of_row)
        code.mov(left, pairs)
        code.strd(self._at, self._columns, frame[_WINDOW])
        code.str(left, frame[_PAIRS])
        with code.repeat(pairs):
            self._pair(gather, rounding)

    def _two_windows(self, gather: Gather | None) -> None:
        code, windows, frame, tile = self._code, self._windows, self._frame, self._tile
        first, second = tile.windows
        code.note("The windows of two pixels.")
        if gather is not None:
            add_to(code, first, frame, _SUMS + SLOT * self._product.tiles)
            code.add(second, first, windows.gathered_bytes)
            gather.begin()
        if self._is_by_row:
            at = self._at if gather is not None else first
            code.ldr(at, frame[_WINDOW])
            if gather is None:
                add_to(code, second, at, windows.step)
            else:
                gather.window(at, first)
                add_to(code, self._free, at, windows.step)
                gather.window(self._free, second)
            add_to(code, self._at, at, 2 * windows.step)
            code.str(self._at, frame[_WINDOW])
            return
        code.ldrd(self._at, self._columns, frame[_WINDOW])
        if self._is_odd:
            code.ldr(self._left, frame[_PAIRS])
        if gather is None:
            code.mov(first, self._at)
            self._step()
            self._mov_second(second, self._at, first)
        else:
            gather.window(self._at, first)
            before = code.register("first_window")
            if self._is_odd:
                code.mov(before, self._at)
            self._step()
            if self._is_odd:
                code.cmp(self._left, 1)
                code.it("eq")
                code.moveq(self._at, before)
            gather.window(self._at, second)
        self._step()
        code.strd(self._at, self._columns, frame[_WINDOW])

    def _pair(self, gather: Gather | None, rounding: Rounding) -> None:
        code, frame, tile, left = self._code, self._frame, self._tile, self._left
        filters = len(self._windows.layer.weights)
        self._two_windows(gather)
        code.ldr(tile.stream, frame[_STREAM])
        code.add(tile.sums, frame, _SUMS)
        code.reads(self._product.stream_bytes)
        tile.assemble()
        code.sub(frame, tile.sums, _SUMS)
        code.ldr(self._outputs[0], frame[_OUTPUT])
        code.ldr(left, frame[_PAIRS])
        if self._is_odd:
            add_to(code, self._free, self._outputs[0], filters)
            self._mov_second(self._outputs[1], self._free, self._outputs[0])
        else:
            add_to(code, self._outputs[1], self._outputs[0], filters)
        rounding.assemble()
        code.note("The next two pixels.")
        add_number(code, self._outputs[1], filters - self._product.filters)
        code.str(self._outputs[1], frame[_OUTPUT])
        code.subs(left, left, 1)
        code.str(left, frame[_PAIRS])

    def _step(self) -> None:
        """To the next window, which may be in the next row."""
        code, windows = self._code, self._windows
        jump = abs(windows.jump)
        is_far = jump > _MOST_CONDITIONAL
        if is_far:
            code.number(self._free, jump)
        add_number(code, self._at, windows.step)
        code.subs(self._columns, self._columns, 1)
        code.itt("eq")
        (code.subeq if windows.jump < 0 else code.addeq)(
            self._at, self._at, self._free if is_far else jump
        )
        code.moveq(self._columns, windows.layer.window.output[1])

    def _mov_second(self, to: Register, of: Register, first: Register) -> None:
        """What is the second pixel's; of a last pair that has one pixel, both are the first."""
        code = self._code
        code.mov(to, of)
        if self._is_odd:
            code.cmp(self._left, 1)
            code.it("eq")
            code.moveq(to, first)

    def _describe(self) -> None:
        code, windows = self._code, self._windows
        for line in self._product.formula("y[p][f]", "window[p][k] * w[f][k]"):
            code.note(line)
        code.note("k: row, column, channel.")
        for line in self._product.description():
            code.note(line)
        more = "of each tile the sums of one pixel and of the other"
        if windows.is_gathered:
            more += "; two windows"
        if windows.is_copied:
            more += f"; {windows.held} rows of the image, with its padding"
        behind = "behind 44 bytes that nothing reads"
        if windows.layer.groups > 1:
            code.note(
                "In groups of channels and filters, whose weights follow each other, each with all "
                "its biases and factors."
            )
            behind = "groups that are left, their first window; behind 36 bytes that nothing reads"
        code.note(
            "scratch, in words: the next window, windows left in its row, or rows, y, the stream, "
            "pairs that are left, the image's next row, where that is, bands that are left, "
            f"the input's zero point; {behind}, {more}."
        )
