"""A 1x1 convolution and the 3x3 depthwise convolution behind it, a strip of rows at a time.

What is between the two never exists as a whole: the scratch holds the rows that some output rows
need, and those that the next strip needs too stay in it. Where the 1x1 convolution has more filters
than channels, that is the largest tensor of many a network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcu_deploy.backends.ArmDsp.chains import followed, fused
from mcu_deploy.backends.ArmDsp.kernels import depthwise, pointwise, tables
from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, KIT, function_of, workload
from mcu_deploy.backends.interface import (
    Constant,
    Costs,
    InPlace,
    Layer,
    Price,
    Proposal,
    SubgraphView,
    Workload,
)
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.backends.quantized.lines import BareLines

OPERATORS = ("Conv", "tflite::Conv")
_MOST_ROWS = 8
_STRIP_BYTES = 8192
_STRIP_CYCLES = 200  # of the C around the assembler


@dataclass(frozen=True)
class Strips:
    """How many output rows a strip has, and what lies in the scratch for them."""

    before: Convolution
    behind: Convolution
    has_late: bool
    rows: int

    @staticmethod
    def of(before: Convolution, behind: Convolution, has_late: bool) -> Strips:
        """The tallest strips that are small, of those that divide the output."""
        height = behind.window.output[0]
        sizes = [n for n in range(1, min(height, _MOST_ROWS) + 1) if height % n == 0]
        found = [Strips(before, behind, has_late, n) for n in sizes]
        small = [strips for strips in found if strips.scratch_bytes <= _STRIP_BYTES]
        return small[-1] if small else found[0]

    @property
    def stride(self) -> int:
        return self.behind.window.strides[0]

    @property
    def held(self) -> int:
        """Rows of what is between."""
        return (self.rows - 1) * self.stride + 3

    @property
    def row_bytes(self) -> int:
        return self.behind.window.input[1] * self.behind.x.shape[1]

    @property
    def strip_bytes(self) -> int:
        return -(-self.held * self.row_bytes // 4) * 4

    @property
    def kernel(self) -> depthwise.Kernel:
        """Of the depthwise part: it takes a strip for a whole image."""
        lines = BareLines.of(self.behind, is_transposed=False)
        strip = replace(
            lines, input=(self.held, lines.input[1]), output=(self.rows, lines.output[1]),
            before=(0, lines.before[1]),
        )  # fmt: skip
        return depthwise.Kernel(self.behind, strip, self.has_late)

    @property
    def scratch_bytes(self) -> int:
        one = pointwise.scratch_bytes(self.before.x.shape[1], self.before.y.shape[1])
        return self.strip_bytes + max(one, self.kernel.scratch_bytes)

    @property
    def distance(self) -> int:
        """How far the output must lie before the input: that of `InPlace`."""
        read = self.before.window.input[1] * self.before.x.shape[1]
        written = self.behind.window.output[1] * self.behind.y.shape[1] * self.rows
        height, distance = self.before.window.input[0], -self.before.x.bytes
        for strip in range(self.behind.window.output[0] // self.rows):
            taken = self.held - self.behind.window.begin[0] + strip * self.rows * self.stride
            if taken < height:
                distance = max(distance, written * (strip + 1) - read * taken)
        return distance


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
    strips = Strips.of(before, behind, depthwise.may_be_late(view, behind, node.target))
    kernel = strips.kernel
    if before.window.input[1] % 3 or strips.rows * strips.stride < kernel.lines.lead:
        return ""
    return [_proposal(part, strips, between, is_double) for is_double in pointwise.ways(before)]


def _proposal(
    part: SubgraphView, strips: Strips, between: tables.Middle, is_double: bool
) -> Proposal:
    before, behind, kernel = strips.before, strips.behind, strips.kernel
    channels, filters = before.x.shape[1], before.y.shape[1]
    product = pointwise.product(before, is_double)
    code = pointwise.assemble(before, is_double, is_counted=False)
    number = behind.window.output[0] // strips.rows
    stem = f"conv1x1_{channels}x{filters}_depthwise3x3_dsp"
    first_stem = f"conv1x1_{channels}x{filters}_rows_dsp"
    constant_bytes = kernel.constant_bytes + product.constant_bytes
    price = Price(
        Costs(
            before.pixels * channels * filters + 9 * behind.pixels * filters,
            cycles=round(code.cycles) + number * (kernel.cycles + _STRIP_CYCLES) + between.cycles,
            flash=constant_bytes + between.constant_bytes,
        ),
        {**kernel.bytes, **between.code, f"{stem} {code.digest}": code.bytes + 200},
        strips.scratch_bytes,
        (InPlace(0, 0, strips.distance),),
    )

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        window = behind.window
        body = KIT.render(
            "pointwise_depthwise.c.j2",
            ctype=behind.x.dtype.c_type, into=before.x.dtype.c_type, out_of=behind.y.dtype.c_type,
            strip=strips.strip_bytes, strips=number, height=window.input[0], held=strips.held,
            above=window.begin[0], row=strips.row_bytes, zero=behind.zero_points[0],
            tiles=before.window.input[1] // 3, count_at=pointwise.count_at(channels),
            read=before.window.input[1] * channels, lead=kernel.lines.lead,
            written=strips.rows * window.output[1] * filters, step=strips.rows * strips.stride,
            pointwise=first_stem,
            between_call=between.call("next", f"{strips.row_bytes} * taken"),
            depthwise=kernel.stem,
        )  # fmt: skip
        weights = Constant("weights", product.pack())
        constants = (kernel.taps(), weights, *between.constants)
        target = layers[0].target
        first = function_of(first_stem, before.x, before.y, code, target)
        helpers = (kernel.function(target), first, *between.helpers)
        return (workload(layers[0], stem, body, constants, price, helpers),)

    replacement = fused(part, "PointwiseDepthwise")
    title = between.titled(pointwise.title(is_double), "depthwise3x3")
    return Proposal(part, price, make, replacement, CHANNELS_LAST, title)
