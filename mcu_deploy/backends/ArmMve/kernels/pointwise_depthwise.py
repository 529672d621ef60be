"""A 1x1 convolution of int8 and the depthwise convolution behind it, of 16 channels, in one kernel:
the rows that a band of strips needs are computed right before. What is between the two, mostly a
network's largest tensor, never exists as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.backends.ArmMve.kernels import depthwise
from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, ID, assembly, proposal
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.mve.runs import FRAME_BYTES, Runs
from mcu_deploy.backends.isa.mve.strips import Depthwise
from mcu_deploy.backends.isa.mve.strips import scratch_bytes as strips_bytes
from mcu_deploy.backends.isa.mve.tiles import Tile, add_number, add_to
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized.chains import followed, fused
from mcu_deploy.backends.quantized.layers import Convolution, bytes_refusal, read
from mcu_deploy.backends.quantized.strips import CHANNELS, Strips
from mcu_deploy.backends.quantized.vector_tiles import PixelRun, VectorTiles
from mcu_deploy.ir import DType

OPERATORS = ("Conv", "tflite::Conv")

# Fewer bands than those of a depthwise convolution alone: each begins anew with the pixels.
_BAND_BYTES = 6656


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A 1x1 convolution with the depthwise one that alone reads it."""
    before = read(node)
    if isinstance(before, str) or not before.is_pixelwise or before.groups > 1:
        return ""
    if before.x.dtype is not DType.INT8 or before.x.shape[0] != 1 or bytes_refusal(before):
        return ""
    found = followed(view, node)
    if found is None or not found[0].is_depthwise or depthwise.refusal(found[0]):
        return ""
    behind, part = found
    both = Both(before, Strips(behind, band_bytes=_BAND_BYTES))
    if both.strips.channels != CHANNELS or both.strips.bands == 1 or both.width % 2:
        return ""
    filters, channels = before.weights.shape[:2]
    rows, columns = behind.window.kernel
    code = assemble(both)
    return [
        proposal(
            part, node.target, f"conv1x1_{channels}_depthwise{rows}x{columns}_{filters}_mve", code,
            lambda: (
                Constant("weights", both.product.pack()), Constant("stream", both.strips.pack())
            ),
            f"conv1x1 and depthwise{rows}x{columns}, strips",
            macs=before.pixels * before.weights.size + behind.pixels * behind.weights.size,
            constant_bytes=both.product.stream_bytes + both.strips.stream_bytes,
            scratch_bytes=both.scratch_bytes, in_place=[both.in_place], layouts=CHANNELS_LAST,
            replacement=fused(part, "PointwiseDepthwise", ID),
        )
    ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Both:
    """The layer in front, and the strips of the one behind it."""

    before: Convolution
    strips: Strips

    @property
    def product(self) -> VectorTiles:
        filters, channels = self.before.weights.shape[:2]
        pairs = self.before.pixels // 2
        return VectorTiles(self.before, self.before.weights.reshape(filters, 1, channels), pairs)

    @property
    def width(self) -> int:
        """Pixels of a row."""
        return self.strips.axes[1].input

    @property
    def height(self) -> int:
        return self.strips.axes[0].input

    @property
    def rows_at(self) -> int:
        """Where the rows between the layers are, from where the strips' words begin."""
        return -(-strips_bytes(self.strips) // 16) * 16

    @property
    def scratch_bytes(self) -> int:
        rows = min(2 * self.strips.held, self.height)
        return FRAME_BYTES + self.rows_at + rows * self.strips.row_bytes

    @property
    def in_place(self) -> InPlace:
        """Of a band all rows that it needs are read before it is written."""
        strips = self.strips
        rows, columns = strips.axes
        lines = strips.band * strips.lines * np.arange(strips.bands)
        read_ = 2 * (lines * strips.line_strips + strips.lead) - rows.before
        read_[0] = 0
        lowest = np.clip(read_, 0, self.height) * self.width * self.before.x.shape[1]
        ends = np.append(lines[1:] * rows.outputs, rows.output) * columns.output * strips.channels
        distance = overlap.distance(ends, lowest)
        return InPlace(0, 0, max(distance, -self.before.x.bytes))


def assemble(both: Both) -> Assembly:
    """The kernel: pixels, output, the packed streams of both layers, scratch."""
    code = assembly()
    for line in both.product.formula("z[p][f]", "v[p][k] * u[f][k]"):
        code.note(line)
    code.note("y from z, which is x of:")
    depthwise.describe(code, both.strips)
    for line in both.product.description():
        code.note(line)
    code.note("in front of the scratch's words: the stream of weights, pairs that are left; behind")
    code.note("the strips: rows of z.")
    _Kernel(code, both).assemble()
    return code


class _Kernel(Depthwise):
    def __init__(self, code: Assembly, both: Both) -> None:
        super().__init__(code, both.strips)
        self._both = both
        product, filters = both.product, both.strips.channels
        step = product.row_bytes
        self._tile = Tile(
            code, product, pitch=0, apart=step, between=filters, has_words=step % 4 == 0
        )  # fmt: skip
        # The rows of a band, on average.
        pixels = both.height * both.width // both.strips.bands // 2 * 2
        self._pixels = Runs(
            code, product, self._tile, self._frame.base, PixelRun(pixels, 1, step, 0),
            words_at=-FRAME_BYTES,
        )  # fmt: skip

    def _arguments(self) -> list[Register]:
        x, y, weights, stream, scratch = self._code.arguments("x y weights stream scratch")
        self._weights = weights
        self._code.add(scratch, scratch, FRAME_BYTES)
        return [x, y, stream, scratch]

    def _keep(self) -> None:
        self._frame.put(self._weights, "weights")

    def _make(self, strips: Register) -> None:
        """The rows of the image that so many strips have."""
        code, frame, both, tile = self._code, self._frame, self._both, self._tile
        code.note("Rows that the strips need.")
        rows, row, left, size = code.registers("rows row rows_of_image row_bytes")
        frame.put(strips, "left")
        frame.get(row, "row")
        code.add(rows, strips, strips)
        code.mov(left, 0)
        code.cmp(row, 0)
        code.itt("lt")
        code.addlt(rows, rows, row)
        code.movlt(left, row)
        # The first one is where the rows begin.
        code.number(size, both.strips.row_bytes)
        code.mul(size, size, left)
        code.add(size, size, frame.base)
        add_number(code, size, both.rows_at)
        frame.put(size, "row_at")
        code.sub(row, row, left)
        code.rsb(left, row, both.height)
        code.cmp(rows, left)
        code.it("gt")
        code.movgt(rows, left)
        done = code.label()
        code.cmp(rows, 0)
        code.ble(done)
        weights = code.register("weights")
        frame.get(weights, "weights")
        self._pixels.begin(weights)
        frame.get(tile.window, "x")
        add_to(code, tile.output, frame.base, both.rows_at)
        pairs = code.register("pairs_left")
        code.mov(pairs, both.width // 2)
        code.mul(pairs, pairs, rows)
        self._pixels.counted(pairs)
        frame.put(tile.window, "x")
        code.place(done)
        frame.get(strips, "left")
