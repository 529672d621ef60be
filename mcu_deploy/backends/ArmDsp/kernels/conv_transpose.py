"""Transposed convolutions: of each row of the image the rows of the output, by kernels of
convolutions.

A row of the output is one of a convolution with a stride of 1 (quantized/transposed.py), whose
pixels have the outputs of several columns as filters: it is written where it belongs, and nothing
is moved. Where the kernel is no larger than the stride these are 1x1 convolutions. The driver is C.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.kernels import convolution, pointwise, pointwise_shared
from mcu_deploy.backends.ArmDsp.kernels.convolution_strips import kernel_of_rows, stem_of
from mcu_deploy.backends.ArmDsp.workloads import KIT, called, driver
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.dsp.frames import Kernel, numbers
from mcu_deploy.backends.isa.dsp.gather import Gather
from mcu_deploy.backends.isa.dsp.pixels import PixelWalk
from mcu_deploy.backends.quantized.layers import Convolution, bytes_refusal, image_refusal
from mcu_deploy.backends.quantized.transposed import read_rows

OPERATORS = ("ConvTranspose", "tflite::ConvTranspose")
# Cycles of what a kernel that is asked for rows begins with.
_BEGINNING = 200
_DRIVER_BYTES = 60


@dataclass(frozen=True)
class Rows:
    """What computes some of the rows of the output, one at a time. title, stem: of its function.
    above: in rows of the image, where windows begin above it; None where the row is an image by
    itself."""

    layer: Convolution
    title: str
    stem: str
    code: Assembly
    constant: Constant
    scratch_bytes: int
    cycles: float
    above: int | None

    @property
    def is_of_rows(self) -> bool:
        return self.above is not None

    @property
    def count(self) -> int:
        return self.layer.window.output[0]


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A transposed convolution by itself: by functions for its sizes, and by those that layers of
    other sizes may share."""
    layers = read_rows(node)
    if isinstance(layers, str):
        return layers
    ways = [_ways(layer, number) for number, layer in enumerate(layers)]
    of_each = [way for way in ways if not isinstance(way, str)]
    if len(of_each) < len(ways):
        return next(way for way in ways if isinstance(way, str))
    count = max(map(len, of_each))
    covers = [[way[min(number, len(way) - 1)] for way in of_each] for number in range(count)]
    return [_proposal(view, node, cover) for cover in covers]


def _ways(layer: Convolution, number: int) -> list[Rows] | str:
    """The quickest first; or why there is none, a clause. number: of the row."""
    if reason := image_refusal(layer) or convolution.refusal(layer):
        return reason
    found = _of_pixels(layer, number) if layer.is_pixelwise else []
    if not found:
        quickest = kernel_of_rows(layer)
        kernels = [] if quickest is None else [quickest]
        if Gather(layer).is_of_words:
            common = Kernel(layer, is_common=True, is_of_rows=True)
            kernels += [] if common.product.refusal() else [common]
        found = [_of_windows(kernel, number) for kernel in kernels]
    return found or Kernel(layer).product.refusal()


def _of_windows(kernel: Kernel, number: int) -> Rows:
    layer, code = kernel.layer, convolution.assemble(kernel)
    rows, columns = layer.window.output
    # Tiles of three outputs begin anew in each row.
    more = max(1.0, rows * -(-columns // 3) / kernel.tiles.count)
    title, stem = "conv{}x{}".format(*layer.window.kernel), stem_of(kernel, code)
    if kernel.is_common:
        title, stem = f"{title}, common code", f"conv_rows_{code.digest[:8]}_dsp"
    return Rows(
        layer, title, stem, code, _constant([numbers(kernel), kernel.product.pack()], number),
        kernel.scratch_bytes, code.time(layer.target) * more + rows * _BEGINNING,
        layer.window.begin[0],
    )  # fmt: skip


def _of_pixels(layer: Convolution, number: int) -> list[Rows]:
    """Of a 1x1 convolution a row is all that the kernel knows."""
    (rows, columns), (channels, filters) = layer.window.output, (layer.x.shape[1], layer.y.shape[1])
    row = replace(
        layer,
        window=replace(layer.window, input=(1, columns), output=(1, columns)),
        x=replace(layer.x, shape=(1, channels, 1, columns)),
        y=replace(layer.y, shape=(1, filters, 1, columns)),
    )
    if pointwise.refusal(row):
        return []
    own = [pointwise.kernel(row, is_double) for is_double in pointwise.ways(row)]
    quickest = min(own, key=lambda way: way.code.time(layer.target))
    found: list[tuple[str, str, PixelWalk]] = [
        ("conv1x1", f"conv1x1_row_{quickest.code.digest[:8]}_dsp", quickest)
    ]
    if not bytes_refusal(row):
        for kind, way in pointwise_shared.WAYS.items():
            if not way.is_real:
                pixels = pointwise_shared.kernel(row, way)
                found.append(("conv1x1 of any size", f"conv1x1_{kind}_dsp", pixels))
    return [
        Rows(
            layer, title, stem, pixels.code,
            _constant([pixels.numbers, pixels.product.pack()], number), pixels.scratch_bytes,
            rows * pixels.code.time(layer.target), None,
        )
        for title, stem, pixels in found
    ]  # fmt: skip


def _constant(stream: Sequence[Array], number: int) -> Constant:
    return Constant(f"weights{number or ''}", np.concatenate(stream))


def _proposal(view: SubgraphView, node: Layer, rows: Sequence[Rows]) -> Proposal:
    x, y = rows[0].layer.x, rows[0].layer.y
    body = KIT.render(
        "transposed.c.j2", kernels=rows, has_range=any(one.is_of_rows for one in rows),
        read=x.shape[1] * x.shape[3], written=y.shape[1] * y.shape[3],
    )  # fmt: skip
    return driver(
        view.part([node.node.id]),
        "conv_transpose_{}x{}_dsp".format(*node.input(1).type.shape[:2]),
        (body, _DRIVER_BYTES + 20 * len(rows)), [one.constant for one in rows],
        [called(one.stem, one.layer.x, one.layer.y, one.code) for one in rows],
        "rows of " + " and ".join(dict.fromkeys(one.title for one in rows)),
        macs=node.macs, cycles=sum(one.cycles for one in rows),
        scratch_bytes=max(one.scratch_bytes for one in rows),
    )  # fmt: skip
