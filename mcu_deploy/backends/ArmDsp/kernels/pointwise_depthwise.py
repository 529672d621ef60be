"""A 1x1 convolution and the 3x3 depthwise convolution behind it, in strips as those of
convolution_strips.py. What is between the two never exists as a whole: where the 1x1 convolution
has more filters than channels, that is the largest tensor of many a network.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcu_deploy.backends.ArmDsp.kernels import depthwise, pointwise, tables
from mcu_deploy.backends.ArmDsp.kernels.convolution_strips import OtherLayer, Strips, body_of
from mcu_deploy.backends.ArmDsp.kernels.pointwise import PixelTiles
from mcu_deploy.backends.ArmDsp.workloads import ID, called, driver
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa.dsp.pixel_groups import PixelGroups
from mcu_deploy.backends.quantized.chains import followed, fused
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.backends.quantized.lines import BareLines

OPERATORS = ("Conv", "tflite::Conv")
_STRIP_CYCLES = 200  # of the C around the kernels
_DRIVER_BYTES = 200


@dataclass(frozen=True, eq=False)
class PaddedStrips(Strips):
    """Strips that have the rows above and below the image, too: of zero points."""

    has_late: bool = False

    @functools.cached_property
    def kernel(self) -> depthwise.Kernel:
        """Of the depthwise layer: it takes a strip for a whole image."""
        layer = self.behind.layer
        assert isinstance(layer, Convolution)
        lines = BareLines.of(layer, is_transposed=False)
        strip = replace(
            lines, input=(self.held, lines.input[1]), output=(self.rows, lines.output[1]),
            before=(0, lines.before[1]),
        )  # fmt: skip
        return depthwise.Kernel(layer, strip, self.has_late).fitting

    @property
    def scratch_bytes(self) -> int:
        return self.work + max(self.before.scratch_bytes, self.kernel.scratch_bytes)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A 1x1 convolution with the depthwise one that alone reads it."""
    before = read(node)
    if isinstance(before, str) or not before.is_pixelwise or pointwise.refusal(before):
        return ""
    between = tables.middle(view, node)
    found = followed(view, between.layer)
    if found is None or not found[0].is_depthwise or depthwise.refusal(found[0]):
        return ""
    behind, part = found[0], view.part([*between.nodes, *found[1].node_ids])
    # Rows have whole tiles of the 1x1 kernel.
    if before.window.input[1] % 3 or not BareLines.of(behind, is_transposed=False).is_reachable:
        return ""
    scratch = pointwise.kernel(before, is_counted=False).scratch_bytes
    has_late = depthwise.may_be_late(view, behind, node.target)
    strips = PaddedStrips.of(
        OtherLayer(before, scratch), OtherLayer(behind, 0), is_equal=True, has_late=has_late
    )
    if strips is None:
        return ""
    ways = pointwise.ways(before)
    return [_proposal(part, strips, before, between, is_double) for is_double in ways]


def _proposal(
    part: SubgraphView, strips: PaddedStrips, before: Convolution, between: tables.Middle,
    is_double: bool,
) -> Proposal:  # fmt: skip
    kernel, behind = strips.kernel, strips.kernel.layer
    channels, filters = before.x.shape[1], before.y.shape[1]
    pixels = pointwise.kernel(before, is_double, is_counted=False)
    product, code = pixels.product, pixels.code
    stem = f"conv1x1_{channels}x{filters}_depthwise3x3_dsp"
    stems = f"conv1x1_{channels}x{filters}_rows_dsp", kernel.stem
    body = body_of(strips, between, None, stems, ("weights", "taps"), _asked(pixels))
    return driver(
        part, stem, (body, _DRIVER_BYTES),
        lambda: [Constant("weights", product.pack()), kernel.taps(), *between.constants],
        [
            kernel.called(strips.count), called(stems[0], before.x, before.y, code),
            *between.called,
        ],
        between.titled(pointwise.title(is_double), "depthwise3x3"),
        replacement=fused(part, "PointwiseDepthwise", ID),
        macs=before.pixels * channels * filters + 9 * behind.pixels * filters,
        cycles=code.time(before.target) + between.cycles
        + strips.count * (kernel.cycles + _STRIP_CYCLES),
        constant_bytes=kernel.constant_bytes + product.constant_bytes + between.constant_bytes,
        scratch_bytes=strips.scratch_bytes,
        in_place=[InPlace(0, 0, strips.distance)],
    )  # fmt: skip


def _asked(pixels: PixelTiles | PixelGroups) -> str:
    """C that says how many tiles the rows from `made` to `until` are."""
    tiles = pixels.layer.window.input[1] // 3
    return f"*(int32_t *)(void *)(work + {pixels.count_at}) = {tiles} * (until - made);"
