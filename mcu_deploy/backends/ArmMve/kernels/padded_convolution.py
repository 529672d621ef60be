"""Convolutions whose padding is in a patch, two pixels times four filters, where RAM is dear.

Windows that are inside are where the image is: of 16 channels, 3x3, the others need 192 bytes,
where a band of the image's rows (convolution.py) would need as many as three of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, assembly, proposal
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.mve.patch import Patch
from mcu_deploy.backends.isa.mve.tiles import Tile, add_number, add_to
from mcu_deploy.backends.quantized.layers import read
from mcu_deploy.backends.quantized.vector_patches import Patches
from mcu_deploy.backends.quantized.vector_product import HEAD, TILE

OPERATORS = ("Conv", "tflite::Conv")

# Words of the scratch; the last one only where tiles are in a loop. Behind them is the patch.
_STREAM, _BASE, _ROW, _LIMIT, _COLUMN, _TURNS = range(0, 24, 4)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A padded convolution by itself, whose channels fill vectors."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    patches = Patches(layer)
    if layer.is_depthwise or patches.refusal():
        return ""
    rows, columns = layer.window.kernel
    product = patches.product
    return [
        proposal(
            view.part([node.node.id]), node.target,
            f"conv{rows}x{columns}_{patches.channels}x{product.filters}_patches_mve",
            assemble(patches), lambda: (Constant("weights", product.pack()),),
            f"conv{rows}x{columns}, vectors, padding in patches",
            macs=layer.pixels * layer.weights.size, constant_bytes=product.stream_bytes,
            scratch_bytes=scratch_bytes(patches), in_place=[patches.in_place],
            layouts=CHANNELS_LAST,
        )
    ]  # fmt: skip


def _patch_at(patches: Patches) -> int:
    return _TURNS + 4 * (patches.product.turns > 0)


def scratch_bytes(patches: Patches) -> int:
    return _patch_at(patches) + patches.patch_bytes


def assemble(patches: Patches) -> Assembly:
    """The kernel: image, output, the packed stream, scratch."""
    return _Kernel(patches).assembled()


class _Kernel:
    def __init__(self, patches: Patches) -> None:
        self._patches, self._product = patches, patches.product
        code = self._code = assembly()
        self._arguments = code.arguments("x y weights scratch")
        frame = self._frame = code.register("frame", region="frame")
        self._pitch = code.register("pitch")
        self._tile = Tile(
            code, self._product, pitch=self._pitch, apart=patches.step,
            between=self._product.pitch, has_words=True, turns=frame[_TURNS],
        )  # fmt: skip
        self._column, self._row, self._limit, self._free = code.registers("column row limit free")
        self._outside, self._inside = code.label(), code.label()
        self._patch = Patch(code, patches, frame, _patch_at(patches))

    def assembled(self) -> Assembly:
        code, patches, product, frame = self._code, self._patches, self._product, self._frame
        tile, row = self._tile, self._row
        x, y, weights, scratch = self._arguments
        window = patches.layer.window
        self._describe()
        code.mov(frame, scratch)
        code.mov(tile.output, y)
        code.mov(tile.window, x)
        code.offset(tile.window, -window.begin[0] * patches.row_bytes, self._free)
        tile.begin(weights)
        add_to(code, tile.stream, weights, HEAD - product.skipped)
        code.str(tile.stream, frame[_STREAM])
        code.str(tile.window, frame[_BASE])
        code.mov(row, 0)
        add_number(code, row, -window.begin[0])
        rows = code.label()
        code.b(rows)
        self._patched()
        code.place(rows)
        with code.repeat(window.output[0]):
            self._begin_row()
            with code.repeat(patches.pairs):
                self._two_pixels()
            code.note("The next row.")
            code.ldr(row, frame[_ROW])
            code.ldr(tile.window, frame[_BASE])
            code.add(row, row, window.strides[0])
            code.offset(tile.window, window.strides[0] * patches.row_bytes, self._free)
            code.str(tile.window, frame[_BASE])
            self._compare(row, window.output[0] * window.strides[0] - window.begin[0])
        return code

    def _begin_row(self) -> None:
        """Windows are inside where their column is below a limit, which some rows do not have."""
        code, patches, frame = self._code, self._patches, self._frame
        window, limit = patches.layer.window, self._limit
        code.str(self._row, frame[_ROW])
        code.number(limit, patches.row_bytes - patches.patch_pitch + 1)
        self._compare(self._row, window.input[0] - patches.span + 1)
        code.it("hs")
        code.movhs(limit, 0)
        code.str(limit, frame[_LIMIT])
        before = window.begin[1] * patches.channels
        code.mov(self._column, 0)
        add_number(code, self._column, -before)
        add_number(code, self._tile.window, -before)

    def _two_pixels(self) -> None:
        code, patches, frame, tile = self._code, self._patches, self._frame, self._tile
        product, column = self._product, self._column
        code.str(column, frame[_COLUMN])
        code.number(self._pitch, patches.row_pitch)
        code.ldr(self._limit, frame[_LIMIT])
        code.cmp(column, self._limit)
        code.bhs(self._outside)
        code.place(self._inside)
        code.ldr(tile.stream, frame[_STREAM])
        code.reads(product.section_bytes)
        tile.assemble()
        code.note("The next two pixels.")
        code.ldr(column, frame[_COLUMN])
        code.ldr(tile.window, frame[_BASE])
        add_number(code, tile.output, 2 * product.pitch - TILE * product.tiles)
        add_number(code, column, 2 * patches.step)
        code.add(tile.window, tile.window, column)
        before = patches.layer.window.begin[1] * patches.channels
        self._compare(column, 2 * patches.pairs * patches.step - before)

    def _patched(self) -> None:
        """Windows that reach beyond the image."""
        code, frame, tile = self._code, self._frame, self._tile
        zero = code.register("zero_point_of_x")
        code.place(self._outside)
        code.note("Windows that reach beyond the image.")
        with code.times(self._patches.filling.patched):
            code.ldr(tile.stream, frame[_STREAM])
            code.ldr(self._row, frame[_ROW])
            code.ldr(zero, tile.stream[self._product.skipped - HEAD + 4])
            self._patch.fill(tile.window, self._column, self._row, zero, self._pitch)
            code.b(self._inside)

    def _compare(self, register: Register, number: int) -> None:
        self._code.number(self._free, number)
        self._code.cmp(register, self._free)

    def _describe(self) -> None:
        code, patches = self._code, self._patches
        for line in self._product.formula("y[p][f]", "window[p][k] * w[f][k]"):
            code.note(line)
        code.note("k: row, column, channel.")
        for line in self._product.description():
            code.note(line)
        turns = ", turns that are left" * (self._product.turns > 0)
        code.note(
            "scratch, in words: the stream, where the windows' first row begins, its number, a "
            f"limit of columns, the next window's column, both in bytes{turns}; from byte "
            f"{_patch_at(patches)} on the windows of two pixels, if they reach beyond the image."
        )
