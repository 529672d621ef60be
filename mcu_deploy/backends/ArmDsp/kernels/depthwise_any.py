"""Depthwise convolution of int8 of any kernel, stride, padding and dilation, of any number of
filters a channel: what depthwise.py, which is for 3x3, does not take.

As there, four channels at a time are taken into planes of int16, without their zero point. All
lines of the planes have their padding with them, so that the code knows no border; it is that of
blocks.py. Planes of a large image hold a band of it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.kernels import depthwise
from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, proposal
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.dsp.blocks import HEADER, NUMBERS, Blocks
from mcu_deploy.backends.quantized.dense_product import shift
from mcu_deploy.backends.quantized.layers import Convolution, bytes_refusal, image_refusal, read
from mcu_deploy.backends.quantized.lines import Lines
from mcu_deploy.backends.quantized.requantization import accumulations
from mcu_deploy.backends.quantized.staircases import Staircases

OPERATORS = ("Conv", "tflite::Conv")
_MARGIN = 2**16  # of an accumulator, for what rounds it
# Sizes of blocks that are tried, from the largest on.
_TRIED = 3


def refusal(layer: Convolution) -> str:
    """Why the kernel does not compute a depthwise convolution, a clause; empty where it does."""
    if reason := image_refusal(layer):
        return reason
    both = [Lines.of(layer, transposed) for transposed in (False, True)]
    if any(n >= span for n, span in zip(both[0].before, both[0].span, strict=True)):
        return "its padding is as wide as its kernel"
    if not any(lines.is_reachable for lines in both):
        return "its kernel is out of the reach of an offset"
    low, high = layer.reach
    if max(-low.min(), high.max()) + _MARGIN >= 2**30:
        return "twice a sum of its weights could leave 32 bits"
    return bytes_refusal(layer)


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
    layer = kernel.layer
    name = "depthwise{}x{}".format(*layer.window.kernel)
    return proposal(
        part, layer.target, f"{name}_dsp", kernel.code, lambda: [kernel.taps()],
        f"{name}{'' if kernel.blocks.is_unrolled else ', small code'}",
        macs=layer.pixels * layer.weights.size,
        constant_bytes=kernel.constant_bytes,
        scratch_bytes=kernel.scratch_bytes,
        in_place=[InPlace(0, 0, exactly=True)] if kernel.may_lie_on_input else [],
        layouts=CHANNELS_LAST,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Kernel:
    """The kernel of a layer that goes over it by such blocks."""

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
    def code(self) -> Assembly:
        return self.blocks.assemble(self.layer)

    @property
    def cycles(self) -> int:
        return self.code.time(self.layer.target)

    @property
    def scratch_bytes(self) -> int:
        return self.lines.plane_bytes

    @property
    def may_lie_on_input(self) -> bool:
        """Channels that are taken into planes again are not used, whatever has become of them."""
        return self.layer.weights.shape[0] == self.channels and self.lines.may_lie_on_input

    @property
    def constant_bytes(self) -> int:
        words = HEADER + self.lines.kernel[0] * self.blocks.row_words
        return 4 * (NUMBERS + words * int(self.layer.weights.shape[0]))

    def taps(self) -> Constant:
        """The stream."""
        read, written = self.lines.pitches(self.layer)
        numbers = [
            self.channels, *written, self.layer.zero_points[1],
            read[0], read[1] - self.lines.taken * read[0],
        ]  # fmt: skip
        words = np.array(numbers, np.int32).view(np.uint32)
        return Constant("taps", np.concatenate([words, pack(self.layer, self.blocks)]))


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
