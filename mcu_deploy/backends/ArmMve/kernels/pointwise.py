"""1x1 convolution of int8: two pixels, which are neighbours in memory, times four filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMve import workloads
from mcu_deploy.backends.ArmMve.workloads import CHANNELS_LAST, NATURAL, assembly
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.mve.runs import FRAME, FRAME_BYTES, Runs
from mcu_deploy.backends.isa.mve.tiles import Tile
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized.layers import Linear, bytes_refusal, read
from mcu_deploy.backends.quantized.vector_tiles import PixelRun, VectorTiles
from mcu_deploy.ir import DType

OPERATORS = ("Conv", "tflite::Conv")


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A 1x1 convolution by itself."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if not layer.is_pixelwise:
        return ""
    if layer.x.dtype is DType.UINT8 or layer.groups > 1:
        return ""  # convolution.py's
    if reason := bytes_refusal(layer):
        return reason
    filters, channels = layer.weights.shape[:2]
    pixels = Pixels.of(layer, layer.weights.reshape(filters, 1, channels), layer.pixels)
    return [proposal(view, node, pixels, f"conv1x1_{channels}x{filters}_mve", "conv1x1, vectors")]


@dataclass(frozen=True)
class Pixels:
    """Rows of bytes, one behind the other, that are multiplied by all filters."""

    product: VectorTiles
    count: int

    @staticmethod
    def of(layer: Linear, weights: Array, count: int) -> Pixels:
        """weights: [filter, 1, byte]."""
        return Pixels(VectorTiles(layer, weights, -(-count // 2)), count)

    @property
    def run(self) -> PixelRun:
        return PixelRun(self.count, 1, self.product.row_bytes, 0)

    @property
    def in_place(self) -> InPlace:
        """Two pixels are read before they are written, or are read again for each tile."""
        first, product = np.array(self.run.firsts), self.product
        lowest = first * product.row_bytes
        if not product.is_read_once:
            lowest = np.insert(lowest, 0, overlap.NOTHING)
        distance = overlap.distance((first + min(self.count, 2)) * product.filters, lowest)
        return InPlace(0, 0, max(distance, -product.layer.x.bytes))


def proposal(view: SubgraphView, node: Layer, pixels: Pixels, stem: str, title: str) -> Proposal:
    product = pixels.product
    return workloads.proposal(
        view.part([node.node.id]), node.target, stem, assemble(pixels),
        lambda: (Constant("weights", product.pack()),), title,
        macs=pixels.count * product.row_bytes * product.filters,
        constant_bytes=product.stream_bytes, scratch_bytes=FRAME_BYTES,
        in_place=[pixels.in_place], layouts=CHANNELS_LAST if node.op == "Conv" else NATURAL,
    )  # fmt: skip


def assemble(pixels: Pixels) -> Assembly:
    """The kernel: pixels, output, the packed stream, scratch."""
    made, run = pixels.product, pixels.run
    is_single = run.length == 1
    code = assembly()
    x, y, weights, scratch = code.arguments("x y weights scratch")
    frame = code.register("frame", region="frame")
    tile = Tile(
        code, made, pitch=0, apart=0 if is_single else run.step,
        between=0 if is_single else made.filters, has_words=run.step % 4 == 0,
    )  # fmt: skip
    runs = Runs(code, made, tile, frame, run)
    _describe(code, made)
    code.mov(frame, scratch)
    code.mov(tile.output, y)
    runs.begin(weights)
    code.mov(tile.window, x)
    runs.assemble(tile.window)
    return code


def _describe(code: Assembly, made: VectorTiles) -> None:
    for line in made.formula("y[p][f]", "x[p][c] * w[f][c]"):
        code.note(line)
    code.note("x: [p][channel], y: [p][f].")
    for line in made.description():
        code.note(line)
    code.note(f"scratch, in words: {FRAME}.")
