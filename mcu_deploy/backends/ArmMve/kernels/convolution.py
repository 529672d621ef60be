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
from mcu_deploy.backends.isa.mve.runs import FRAME, FRAME_BYTES, Runs
from mcu_deploy.backends.isa.mve.tiles import Tile, add_number, add_to
from mcu_deploy.backends.quantized.layers import bytes_refusal, read
from mcu_deploy.backends.quantized.vector_windows import Windows, forms
from mcu_deploy.ir import DType

OPERATORS = ("Conv", "tflite::Conv")

# Words of the scratch; behind them gathered windows, then the band.
_ROW, _SOURCE, _BANDS, _ZERO, _GROUPS, _BEGIN = range(FRAME_BYTES, FRAME_BYTES + 24, 4)
_WINDOWS = FRAME_BYTES + 24
_BAND_BYTES = 4096


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A convolution by itself, 1x1 only of uint8 or in groups."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    is_of_pixels = layer.is_pixelwise and layer.groups == 1 and layer.x.dtype is DType.INT8
    if layer.is_depthwise or is_of_pixels:
        return ""
    if reason := bytes_refusal(layer):
        return reason
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
    return _WINDOWS + 2 * windows.gathered_bytes


def scratch_bytes(windows: Windows) -> int:
    return _band_at(windows) + windows.band_bytes


def assemble(windows: Windows) -> Assembly:
    """The kernel: image, output, the packed stream, scratch."""
    return _Kernel(windows).assembled()


class _Kernel:
    def __init__(self, windows: Windows) -> None:
        self._windows, self._product = windows, windows.product
        code = self._code = assembly()
        self._arguments = code.arguments("x y weights scratch")
        self._frame = code.register("frame", region="frame")
        where = "windows" if windows.is_gathered else "band" if windows.is_copied else ""
        self._tile = Tile(
            code, self._product, pitch=windows.row_pitch,
            apart=windows.apart, between=self._product.pitch * (windows.run.length > 1),
            has_words=windows.has_words, region=where,
        )  # fmt: skip
        gather = None
        self._first = self._tile.window
        if windows.is_gathered:
            of = "band" if windows.is_copied else ""
            gather = Gather(code, windows, of)
            self._first = code.register("first_window", region=of)
        self._runs = Runs(
            code, self._product, self._tile, self._frame, windows.run, gather, _WINDOWS
        )  # fmt: skip

    def assembled(self) -> Assembly:
        code, windows, frame = self._code, self._windows, self._frame
        x, y, weights, scratch = self._arguments
        self._describe()
        code.mov(frame, scratch)
        code.mov(self._tile.output, y)
        if windows.is_copied:
            zero = code.register("zero_point_of_x")
            code.ldr(zero, weights[4])
            code.str(zero, frame[_ZERO])
        self._runs.begin(weights)
        if windows.is_copied:
            self._bands(x)
        else:
            code.mov(self._first, x)
            self._pixels()
        return code

    def _bands(self, x: Register) -> None:
        code, windows, frame = self._code, self._windows, self._frame
        band = Band(code, windows, frame[_ZERO])
        window = windows.layer.window
        bands = code.register("bands_left")
        code.note("A band of the image: its padding, which stays, then its rows.")
        code.mov(band.source, x)
        row = window.input[1] * windows.channels
        code.offset(band.source, -window.begin[0] * row, code.register("free"))
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
            self._place(self._first)
            self._pixels()
            if windows.bands > 1:
                code.note("The next band.")
                code.ldr(band.row, frame[_ROW])
                code.ldr(band.source, frame[_SOURCE])
                code.ldr(bands, frame[_BANDS])
                self._place(band.place)
                code.subs(bands, bands, 1)
                code.str(bands, frame[_BANDS])

    def _pixels(self) -> None:
        """All pixels of a band, group by group."""
        code, windows, frame, product = self._code, self._windows, self._frame, self._product
        groups = product.sections
        if groups == 1:
            self._runs.assemble(self._first)
            return
        left = code.register("groups_left")
        written = windows.run.length * windows.run.times * product.pitch
        code.mov(left, groups)
        code.str(left, frame[_GROUPS])
        code.str(self._first, frame[_BEGIN])
        with code.repeat(groups):
            self._runs.assemble(self._first)
            code.note("The next group.")
            self._runs.move_stream(product.section_bytes)
            code.offset(self._tile.output, product.filters - written, left)
            code.ldr(self._first, frame[_BEGIN])
            add_number(code, self._first, windows.depth)
            code.str(self._first, frame[_BEGIN])
            code.ldr(left, frame[_GROUPS])
            code.subs(left, left, 1)
            code.str(left, frame[_GROUPS])
        if windows.bands > 1:
            self._runs.move_stream(-groups * product.section_bytes)
            code.offset(self._tile.output, written - product.pitch, left)

    def _place(self, into: Register) -> None:
        """Where the band begins."""
        add_to(self._code, into, self._frame, _band_at(self._windows))

    def _describe(self) -> None:
        code, windows = self._code, self._windows
        for line in self._product.formula("y[p][f]", "window[p][k] * w[f][k]"):
            code.note(line)
        code.note("k: row, column, channel.")
        for line in self._product.description():
            code.note(line)
        words = f"scratch, in words: {FRAME}"
        if windows.is_copied:
            words += ", the image's next row, where that is, bands that are left, its zero point"
        if windows.layer.groups > 1:
            code.note("In groups of channels and filters, whose weights follow each other.")
            words += f"; from byte {_GROUPS} on groups that are left, their first window"
        more = ["two windows"] * windows.is_gathered
        if windows.is_copied:
            more.append(f"{windows.held} rows of the image, with its padding")
        code.note(f"{words}{f'; from byte {_WINDOWS} on ' * bool(more)}{'; '.join(more)}.")
