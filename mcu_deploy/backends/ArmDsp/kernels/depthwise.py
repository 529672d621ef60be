"""Depthwise 3x3 convolution of int8: four channels at a time, in planes of their own.

Four channels are taken out of channel-last order into planes of int16 without their zero point, so
that a word is two neighbours of a line and padding is 0. A line is a row of the image or a column,
whichever is cheaper: long lines have few ends. A row (w0, w1, w2) of the kernel lies in two
registers, (w0, w1) and (w1, w2), and serves two outputs with four SMLADs, whichever of its taps the
words begin at. The sum is left 91 to 255 times as large (the gain), so that what rounds it fits
into its bias, and SMMUL and SSAT make the output. The assembler is in planes.py.

The planes hold all lines of a small image, and each output line has code for the kernel's rows that
are inside of it. Of a larger one they hold a band of lines, with zeros around the image. All input
of a band is read before its output is written, and both have the same channels: the output may lie
on the input.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
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
from mcu_deploy.backends.isa.dsp import planes
from mcu_deploy.backends.kit.c_files import helper
from mcu_deploy.backends.kit.kit import Kit
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.backends.quantized.lines import LANES, BareLines
from mcu_deploy.backends.quantized.requantization import (
    are_straight,
    multiplications,
    multiply_late,
)
from mcu_deploy.backends.quantized.staircases import Channel, Staircases

OPERATORS = ("Conv", "tflite::Conv")
GATHER, ROWS = "gather_planes_dsp", "depthwise_plane_dsp"
_LEAST_GAIN, _MOST_GAIN = planes.LEAST_GAIN, 255
_FEW = 8  # gains that are tried with late sums
_GAINS = 24  # that are tried at a time
_MARGIN = 2**20  # of an accumulator, for what rounds it
_TAP_WORDS, _LATE_WORDS = 5, 2  # of a channel's constants, and of a late sum
# The cycles of the C around the assembler, for a channel and for four.
_CALL, _PLANES = 40, 60
# Of a byte that is written behind the planes first.
_STAGED = 2
# Of an output that is looked at for a late sum, with the sums of those that look like it.
_LOOK = 15
KIT = Kit("ArmDsp", Path(__file__).parents[1])
LATE = replace(helper(KIT.folder, "c/depthwise_late.c"), inline=False)


def refusal(layer: Convolution) -> str:
    """Why the kernel does not compute a depthwise convolution, a clause; empty where it does.
    depthwise_any.py is for all others."""
    window, channels = layer.window, layer.weights.shape[0]
    if window.kernel != (3, 3) or window.dilations != (1, 1) or layer.x.shape[0] != 1:
        return "of depthwise convolutions it takes 3x3, of one image and without dilation"
    if window.strides not in ((1, 1), (2, 2)) or max(*window.begin, *window.end) > 1:
        return "of depthwise convolutions it takes strides of 1 and 2, and pads of at most 1"
    if channels != layer.x.shape[1]:
        return "of depthwise convolutions it takes one filter a channel"
    if channels % LANES:
        return f"it takes channels by {LANES}, and there are {channels}"
    if not any(BareLines.of(layer, transposed).is_reachable for transposed in (False, True)):
        return f"{channels} channels of {window.input} pixels are out of the reach of its offsets"
    if planes.shift(layer) < 0:
        return "its factors are too large for a 31-bit scale"
    low, high = layer.reach
    if max(-low.min(), high.max()) * planes.LEAST_GAIN + _MARGIN >= 2**31:
        return f"a sum of its weights times {planes.LEAST_GAIN} could leave 32 bits"
    found = roundings(layer)
    if not found:
        return "a channel of it is rounded as no single multiplication does"
    if (late := sum(len(how.late) for how in found)) > 255:
        return f"{late} of its sums are not rounded by integers as in float32, and 255 may"
    return ""


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A depthwise convolution by itself."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if not layer.is_depthwise or refusal(layer):
        return ""
    part = view.part([node.node.id])
    kernels = [Kernel.of(layer), Kernel.of_any(layer)]
    return [_proposal(part, kernel) for kernel in kernels if kernel.lines.is_reachable]


def _proposal(part: SubgraphView, kernel: Kernel) -> Proposal:
    layer = kernel.layer
    channels = layer.weights.shape[0]
    price = Price(
        Costs(9 * layer.pixels * channels, cycles=kernel.cycles, flash=kernel.constant_bytes),
        kernel.code,
        kernel.lines.plane_bytes + kernel.lines.staged_bytes,
        kernel.in_place,
    )
    name = "any" if kernel.lines.is_any else channels

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        body, constants = kernel.text("x", "y"), kernel.constants()
        helpers = kernel.helpers(layers[0].target.fpu)
        return (workload(layers[0], f"depthwise3x3_{name}_dsp", body, constants, price, helpers),)

    title = f"depthwise3x3{' of any channels' if kernel.lines.is_any else ''}"
    return Proposal(part, price, make, layouts=CHANNELS_LAST, title=title)


@dataclass(frozen=True)
class Kernel:
    """The two pieces of assembler that a layer's function is made of, and what they cost."""

    layer: Convolution
    lines: BareLines

    @staticmethod
    def of(layer: Convolution) -> Kernel:
        """The cheaper of the two ways over the image."""
        both = [Kernel(layer, BareLines.of(layer, transposed)) for transposed in (False, True)]
        usable = [k for k in both if k.lines.is_reachable]
        return min(usable, key=lambda kernel: kernel.cycles)

    @staticmethod
    def of_any(layer: Convolution) -> Kernel:
        """For layers of other channels, too."""
        return Kernel(layer, BareLines.of_any(layer))

    @functools.cached_property
    def gather(self) -> Assembly:
        return (planes.gather_any if self.lines.is_any else planes.gather)(self.layer, self.lines)

    @functools.cached_property
    def rows(self) -> Assembly:
        return planes.rows(self.layer, self.lines)

    @property
    def cycles(self) -> int:
        channels, bands = int(self.layer.weights.shape[0]), self.lines.bands
        rows = channels * bands * (self.rows.cycles + _CALL)
        four = self.gather.cycles + bands * _PLANES + _STAGED * self.lines.staged_bytes * bands
        return round(rows + channels // LANES * four + self.layer.pixels * _LOOK * self._late)

    @functools.cached_property
    def roundings(self) -> list[Rounding]:
        """Of each channel."""
        return roundings(self.layer)

    @property
    def _late(self) -> int:
        """How many sums of all channels are late."""
        return sum(len(how.late) for how in self.roundings)

    @property
    def code(self) -> dict[str, int]:
        """As `Price` has it."""
        parts = (self.text("x", "y"), self.gather.digest, self.rows.digest)
        whole = hashlib.sha256(" ".join(parts).encode()).hexdigest()
        return {whole: self.gather.bytes + self.rows.bytes + 160, LATE.stem: 180}

    @property
    def in_place(self) -> tuple[InPlace, ...]:
        return (InPlace(0, 0, exactly=True),) if self.lines.may_lie_on_input else ()

    @property
    def constant_bytes(self) -> int:
        return 4 * (_TAP_WORDS * int(self.layer.weights.shape[0]) + _LATE_WORDS * self._late)

    def constants(self) -> tuple[Constant, ...]:
        """`taps` and `shape`, as the body's function takes them."""
        lines, layer = self.lines, self.layer
        channels = layer.weights.shape[0]
        above = lines.before[0] if lines.is_whole else 0
        shape = [
            lines.held, lines.input[1], lines.strides[0], above, lines.before[1], lines.band,
            lines.output[1], lines.pitch[1][1], lines.pitch[1][0], channels,
        ]  # fmt: skip
        return (
            Constant("taps", pack(layer, self.roundings, lines.is_transposed)),
            Constant("shape", np.array(shape, np.int32)),
        )

    def helpers(self, fpu: bool) -> tuple[CFunction, ...]:
        """What `text` calls."""
        pitch = [Parameter("int32_t", "pitch")] if self.lines.is_any else []
        gather = (*gathered(self.layer), *pitch)
        return (
            kernel(GATHER, gather, self.gather, fpu=fpu),
            kernel(ROWS, convolved(self.layer), self.rows, fpu=fpu),
            LATE,
        )

    def text(self, x: str, y: str, scratch: str = "scratch") -> str:
        """A C block that convolves x to y, with `taps` and `shape`, by the `helpers`."""
        lines, layer = self.lines, self.layer
        return KIT.render(
            "depthwise.c.j2",
            x=x, y=y, scratch=scratch, into=layer.x.dtype.c_type, out_of=layer.y.dtype.c_type,
            channels=layer.weights.shape[0], tap_words=_TAP_WORDS, lines=lines,
            line=lines.line_bytes, held=lines.held, gather=GATHER, rows=ROWS,
        )  # fmt: skip


def gathered(layer: Convolution) -> tuple[Parameter, ...]:
    """Of a kernel that fills planes."""
    return (
        Parameter(f"const {layer.x.dtype.c_type} *", "pixels"),
        Parameter("uint8_t *", "planes"),
        Parameter("int32_t", "lines"),
    )


def convolved(layer: Convolution) -> tuple[Parameter, ...]:
    """Of a kernel that convolves a plane."""
    return (
        Parameter("const uint32_t *", "taps"),
        Parameter("const uint8_t *", "plane"),
        Parameter(f"{layer.y.dtype.c_type} *", "y"),
    )


class Rounding(NamedTuple):
    """Of a channel the gain, what its sum begins with, and the scale. late: sums of products whose
    output is one too small, without the bias, and that output."""

    gain: int
    start: int
    scale: int
    late: tuple[tuple[int, int], ...] = ()


@functools.lru_cache(4)
def roundings(layer: Convolution) -> list[Rounding]:
    """Of each channel; empty where one has none."""
    channels = [layer.channel(n) for n in range(len(layer.bias))]
    found = round_channels(channels, layer.bias.tolist(), planes.shift(layer))
    return [how for how in found if how is not None] if None not in found else []


def round_channels(
    channels: Sequence[Channel], biases: Sequence[int], shift: int
) -> list[Rounding | None]:
    """What rounds channels of one output; None from the first one on of which integers leave too
    many sums late. Of TFLite's they leave most, or none."""
    stairs = Staircases.of(channels)
    ends = np.array([channel.reach for channel in channels], np.int64)
    spans = np.maximum(np.maximum(-ends[:, 0], ends[:, 1]), 1)
    most = np.minimum(_MOST_GAIN, (2**31 - _MARGIN) // spans)
    found = _exact(stairs, biases, spans, most, shift)
    for n, how in enumerate(found):
        if how is None:
            found[n] = _late(stairs, n, biases[n], int(spans[n]), int(most[n]), shift)
            if found[n] is None:
                return found
    return found


def _exact(
    stairs: Staircases, biases: Sequence[int], spans: Array, most: Array, shift: int
) -> list[Rounding | None]:
    """With the greatest gain that leaves all steps where they are."""
    found: list[Rounding | None] = [None] * len(biases)
    open_, least, below = np.arange(len(biases)), np.minimum(_LEAST_GAIN, most), 0
    while open_.size:
        # Most channels have the first one; for the others many are tried at a time.
        ahead = np.arange(below, below + (_GAINS if below else 1))
        gains = most[open_, None] - ahead
        tried, spans_, of = (
            each.repeat(ahead.size) for each in (open_, spans[open_], least[open_])
        )
        exact = multiplications(stairs.take(tried), gains.reshape(-1), shift)
        fits = exact.is_solved & (gains.reshape(-1) >= of)
        fits &= spans_ * gains.reshape(-1) + abs(exact.moves) < 2**31
        firsts = fits.reshape(gains.shape).argmax(1) + np.arange(open_.size) * ahead.size
        for at in firsts[fits[firsts]].tolist():
            n, gain = int(tried[at]), int(gains.flat[at])
            move, scale = int(exact.moves[at]), int(exact.scales[at])
            found[n] = Rounding(gain, biases[n] * gain + move, scale)
        # Where no straight line has the steps, a smaller gain has none either.
        goes_on = ~fits[firsts] & (gains[:, -1] > least[open_])
        if not below and (left := np.flatnonzero(goes_on)).size:
            goes_on[left] = are_straight(stairs.take(open_[left]), gains[left, 0], shift)
        open_, below = open_[goes_on], below + ahead.size
    return found


def _late(
    stairs: Staircases, n: int, bias: int, span: int, most: int, shift: int
) -> Rounding | None:
    """With a few sums of a channel late."""
    channel = stairs.channels[n]
    gains = range(most, min(_LEAST_GAIN, most) - 1, -1)
    tried = [] if channel.fixed else gains[:_FEW]
    late = zip(tried, multiply_late(stairs, n, tried, shift), strict=True)
    fit = [(g, of) for g, of in late if of is not None and span * g + abs(of.move) < 2**31]
    if not fit:
        return None
    gain, least = min(fit, key=lambda one: len(one[1].late))
    sums = np.array(least.late, np.int64)
    outputs = channel.element(sums) - 1
    pairs = zip((sums - bias).tolist(), outputs.tolist(), strict=True)
    return Rounding(gain, bias * gain + least.move, least.scale, tuple(pairs))


def pack(layer: Convolution, roundings: Sequence[Rounding], is_transposed: bool) -> Array:
    """Of each channel 5 words: a row of weights in three bytes each; bias, scale. The first word's
    top byte is the gain. The second's is 0, or says which late sum is the channel's first, from 1
    on. Behind all channels late sums have two words: the output, with a bit above it where another
    one of the channel follows; and the sum."""
    weights = layer.weights[:, 0].transpose(0, 2, 1) if is_transposed else layer.weights[:, 0]
    taps = ((weights & 0xFF) << np.array([0, 8, 16])).sum(axis=2)
    stream: list[int] = []
    late: list[int] = []
    for (first, second, third), how in zip(taps.tolist(), roundings, strict=True):
        which = len(late) // _LATE_WORDS + 1 if how.late else 0
        stream += [first | how.gain << 24, second | which << 24, third, how.start, how.scale]
        for left, (sum_, output) in zip(range(len(how.late))[::-1], how.late, strict=True):
            late += [output & 0xFF | (left > 0) << 8, sum_]
    return (np.array(stream + late, np.int64) & 0xFFFFFFFF).astype(np.uint32)
