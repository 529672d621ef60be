"""Depthwise convolution of int8 of any kernel, stride, padding and dilation, of any number of
filters a channel: what depthwise.py, which is for 3x3, does not take.

As there, four channels at a time are taken into planes of int16, without their zero point. All
lines of the planes have their padding with them, so that the code knows no border; it is that of
blocks.py. Planes of a large image hold a band of it.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.kernels import depthwise
from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, workload
from mcu_deploy.backends.interface import (
    CFunction,
    Constant,
    Costs,
    InPlace,
    Layer,
    Parameter,
    Price,
    Proposal,
    SubgraphView,
    Workload,
)
from mcu_deploy.backends.isa import Assembly, kernel
from mcu_deploy.backends.isa.dsp.blocks import Blocks, gather
from mcu_deploy.backends.quantized.dense_product import shift
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.backends.quantized.lines import LANES, Lines
from mcu_deploy.backends.quantized.requantization import accumulations
from mcu_deploy.backends.quantized.staircases import Staircases

OPERATORS = ("Conv", "tflite::Conv")
_HEADER = 3  # words of a filter's constants before its weights
_MARGIN = 2**16  # of an accumulator, for what rounds it
# Sizes of blocks that are tried, from the largest on.
_TRIED = 3
# The cycles of the C around the assembler: for a filter, for four channels; of a byte that is
# copied or filled with zeros.
_CALL, _PLANES, _COPIED = 20, 60, 0.5


def refusal(layer: Convolution) -> str:
    """Why the kernel does not compute a depthwise convolution, a clause; empty where it does."""
    window = layer.window
    if layer.x.shape[0] != 1:
        return f"it convolves one image, and the batch has {layer.x.shape[0]}"
    if min(*window.begin, *window.end) < 0:
        return "its padding is negative"
    both = [Lines.of(layer, transposed) for transposed in (False, True)]
    if any(n >= span for n, span in zip(both[0].before, both[0].span, strict=True)):
        return "its padding is as wide as its kernel"
    if not any(lines.is_reachable for lines in both):
        return "its kernel is out of the reach of an offset"
    low, high = layer.reach
    if max(-low.min(), high.max()) + _MARGIN >= 2**30:
        return "twice a sum of its weights could leave 32 bits"
    return ""


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A depthwise convolution by itself that is none of depthwise.py's."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if not layer.is_depthwise or not depthwise.refusal(layer):
        return ""
    if reason := refusal(layer):
        return reason
    part = view.part([node.node.id])
    kernels = [Kernel.of(layer, is_unrolled=True), Kernel.of(layer, is_unrolled=False)]
    if kernels[1].lines.kernel[0] == 1:  # there is nothing to unroll
        kernels.pop()
    return [_proposal(part, kernel) for kernel in kernels]


def _proposal(part: SubgraphView, kernel: Kernel) -> Proposal:
    layer, lines = kernel.layer, kernel.lines
    rows, columns = layer.window.kernel
    price = Price(
        Costs(
            layer.pixels * layer.weights.size,
            cycles=kernel.cycles, flash=kernel.constant_bytes,
        ),
        kernel.code,
        lines.plane_bytes,
        (InPlace(0, 0, exactly=True),) if kernel.may_lie_on_input else (),
    )  # fmt: skip

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        stem = f"depthwise{rows}x{columns}_dsp"
        helpers = kernel.helpers(layers[0].target.fpu)
        return (workload(layers[0], stem, kernel.body(), kernel.constants(), price, helpers),)

    title = f"depthwise{rows}x{columns}{'' if kernel.blocks.is_unrolled else ', small code'}"
    return Proposal(part, price, make, layouts=CHANNELS_LAST, title=title)


@dataclass(frozen=True, eq=False)
class Kernel:
    """The two pieces of assembler that a layer's function is made of, and what they cost."""

    layer: Convolution
    blocks: Blocks

    @staticmethod
    def of(layer: Convolution, is_unrolled: bool) -> Kernel:
        """The cheapest of both ways over the image and some sizes of blocks."""
        found = [
            Kernel(
                layer,
                Blocks(
                    lines, layer.saturate, shift(layer), layer.fixed is not None, size,
                    is_unrolled,
                ),
            )
            for lines in (Lines.of(layer, False), Lines.of(layer, True)) if lines.is_reachable
            for size in Blocks.sizes(lines)[-_TRIED:]
        ]  # fmt: skip
        return min(found, key=lambda kernel: kernel.cycles)

    @property
    def lines(self) -> Lines:
        return self.blocks.lines

    @property
    def channels(self) -> int:
        return int(self.layer.x.shape[1])

    @functools.cached_property
    def gather(self) -> Assembly:
        return gather(self.layer, self.lines)

    @functools.cached_property
    def rows(self) -> Assembly:
        return assembled(self.blocks)

    @functools.cached_property
    def cycles(self) -> int:
        lines, filters = self.lines, int(self.layer.weights.shape[0])
        copied = lines.line_bytes * lines.lead * lines.bands if lines.bands > 1 else 0
        four = self.gather.cycles + lines.bands * _PLANES + _COPIED * copied
        filter_ = lines.bands * (self.rows.cycles + _CALL)
        all_fours = -(-self.channels // LANES) * four
        return round(filters * filter_ + all_fours + _COPIED * lines.plane_bytes)

    @property
    def code(self) -> dict[str, int]:
        """As `Price` has it."""
        parts = (self.body(), self.gather.digest, self.rows.digest)
        whole = hashlib.sha256(" ".join(parts).encode()).hexdigest()
        return {whole: self.gather.bytes + self.rows.bytes + 160}

    @property
    def may_lie_on_input(self) -> bool:
        """Channels that are taken into planes again are not used, whatever has become of them."""
        return self.layer.weights.shape[0] == self.channels and self.lines.may_lie_on_input

    @property
    def tap_words(self) -> int:
        return _HEADER + self.lines.kernel[0] * self.blocks.row_words

    @property
    def constant_bytes(self) -> int:
        return 4 * self.tap_words * int(self.layer.weights.shape[0])

    def constants(self) -> tuple[Constant, ...]:
        """`taps` and `shape`, as the body's function takes them."""
        lines = self.lines
        read, written = lines.pitches(self.layer)
        shape = [
            *written, self.layer.zero_points[1],
            read[0], read[1] - lines.taken * read[0], self.channels, read[1],
        ]  # fmt: skip
        return (
            Constant("taps", pack(self.layer, self.blocks)),
            Constant("shape", np.array(shape, np.int32)),
        )

    def body(self) -> str:
        """Of a function that convolves x to y."""
        return depthwise.KIT.render(
            "depthwise_any.c.j2", gather=depthwise.GATHER, rows=depthwise.ROWS,
            into=self.layer.x.dtype.c_type, out_of=self.layer.y.dtype.c_type, lines=self.lines,
            filters=self.layer.weights.shape[0] // self.channels, tap_words=self.tap_words,
            is_by_byte=self.channels < LANES, may_lie_on_input=self.may_lie_on_input,
        )  # fmt: skip

    def helpers(self, fpu: bool) -> tuple[CFunction, ...]:
        """What the body calls."""
        gather = (*depthwise.gathered(self.layer), Parameter("const int32_t *", "pitch"))
        rows = (*depthwise.convolved(self.layer), Parameter("const int32_t *", "shape"))
        return (
            kernel(depthwise.GATHER, gather, self.gather, fpu=fpu),
            kernel(depthwise.ROWS, rows, self.rows, fpu=fpu),
        )


@functools.lru_cache(256)
def assembled(blocks: Blocks) -> Assembly:
    """Layers of other channels have the same."""
    return blocks.assemble()


def pack(layer: Convolution, blocks: Blocks) -> Array:
    """Of each filter bias, scale and addend; then the weights, of which a word has two registers'
    halves in its even and in its odd bytes. A filter without an integer scale has its float32
    factor for the addend and 0 for the scale, or TFLite's multiplier and shift."""
    transposed = (0, 2, 1) if blocks.lines.is_transposed else (0, 1, 2)
    weights = np.pad(layer.weights[:, 0].transpose(transposed), ((0, 0), (0, 0), (0, 1)))
    order = [-1 if tap is None else tap for tap in blocks.order]  # -1: the zero behind it
    octets = (weights[:, :, order] & 0xFF).astype(np.uint8).reshape(weights.shape[0], -1)
    words = np.ascontiguousarray(octets).view(np.uint32)
    header = []
    stairs = Staircases.of([layer.channel(index) for index in range(weights.shape[0])])
    for index, found in enumerate(accumulations(stairs, 1, blocks.shift)):
        bias = int(layer.bias[index])
        if found is not None:
            header.append([bias + found.move, found.scale, found.addend])
        elif layer.fixed is None:
            header.append([bias, 0, int(layer.factors[index].view(np.uint32))])
        else:
            multiplier, by = layer.fixed[index]
            header.append([bias, int(by), int(multiplier)])
    ends = (np.array(header, np.int64) & 0xFFFFFFFF).astype(np.uint32)
    return np.concatenate([ends, words], axis=1).reshape(-1)
