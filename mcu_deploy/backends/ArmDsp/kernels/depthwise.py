"""Depthwise 3x3 convolution of int8: four channels at a time, in planes of their own.

Four channels are taken out of channel-last order into planes of int16 without their zero point, so
that a word is two neighbours of a line and padding is 0. A line is a row of the image or a column,
whichever is cheaper: long lines have few ends. A row (w0, w1, w2) of the kernel lies in two
registers, (w0, w1) and (w1, w2), and serves two outputs with four SMLADs, whichever of its taps the
words begin at. The sum is left 91 to 255 times as large (the gain), so that what rounds it fits
into its bias, and SMMUL and SSAT make the output. Weights that are no int8, as those of uint8 are
without their zero point, are some that are, moved by as much. The assembler is in planes.py.

The planes hold all lines of a small image, and each output line has code for the kernel's rows that
are inside of it. Of a larger one they hold a band of lines, with zeros around the image. All input
of a band is read before its output is written, and both have the same channels: the output may lie
on the input.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, Called, called, proposal
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    Proposal,
    SubgraphView,
    Target,
    layer_of,
)
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.dsp import plane_lines, planes
from mcu_deploy.backends.isa.dsp.fours import Fours
from mcu_deploy.backends.isa.dsp.late_sums import LATE_WORDS, LateSums
from mcu_deploy.backends.isa.dsp.plane_lines import UNROLLINGS, Unrolling
from mcu_deploy.backends.layer import kept
from mcu_deploy.backends.quantized.gains import (
    LEAST_GAIN,
    MARGIN,
    MOST_GAIN,
    Rounding,
    round_channels,
)
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.backends.quantized.lines import LANES, BareLines
from mcu_deploy.backends.quantized.loops import HARDLY_LONGER, WORTH_IT

OPERATORS = ("Conv", "tflite::Conv")
_MOST_MOVED = 127  # in a byte
TAP_WORDS = 5  # of a channel


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
    if np.abs(plane_lines.moves(layer)).max() > _MOST_MOVED:
        return "a filter of it has weights of 0 and of 255 from its zero point"
    if plane_lines.shift(layer) < 0:
        return "its factors are too large for a 31-bit scale"
    low, high = layer.reach
    if max(-low.min(), high.max()) * LEAST_GAIN + MARGIN >= 2**31:
        return f"a sum of its weights times {LEAST_GAIN} could leave 32 bits"
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
    part, has_late = view.part([node.node.id]), may_be_late(view, layer, node.target)
    kernels = [Kernel.of(layer, has_late), Kernel.of_any(layer, has_late)]
    return [_proposal(part, kernel) for kernel in kernels if kernel.lines.is_reachable]


def _proposal(part: SubgraphView, kernel: Kernel) -> Proposal:
    layer = kernel.layer
    return proposal(
        part, layer.target, kernel.stem, kernel.code, lambda: [kernel.taps()],
        "depthwise3x3" + " of any channels" * kernel.lines.is_any,
        macs=layer.pixels * layer.weights.size,
        constant_bytes=kernel.constant_bytes,
        scratch_bytes=kernel.scratch_bytes,
        in_place=kernel.in_place,
        layouts=CHANNELS_LAST,
    )  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    """The kernel of a layer that goes over the image by such lines. has_late: it looks for late
    sums (`may_be_late`)."""

    layer: Convolution
    lines: BareLines
    has_late: bool
    unrolling: Unrolling = UNROLLINGS[0]

    @staticmethod
    def of(layer: Convolution, has_late: bool) -> Kernel:
        """The cheaper of the two ways over the image."""
        return _cheaper(layer, has_late)

    @staticmethod
    def of_any(layer: Convolution, has_late: bool) -> Kernel:
        """For layers of other channels, too."""
        return Kernel(layer, BareLines.of_any(layer), has_late).fitting

    @property
    def fitting(self) -> Kernel:
        """Where it waits for code, and what runs for each band of four channels is longer than a
        loop may be: of the kernels that unroll less the fastest that fits, if that hardly takes
        longer; or the fastest, if that is worth it; else itself."""
        longest, cycles = self.layer.loop_bytes, self.cycles
        if longest is None or self.band_bytes <= longest:
            return self
        if self.code.waited_for_code(self.layer.target) < (1 - WORTH_IT) * cycles:
            return self
        kernels = [replace(self, unrolling=how) for how in UNROLLINGS[1:]]
        kernels.sort(key=lambda kernel: (kernel.cycles, kernel.band_bytes))
        best = kernels[0] if kernels[0].cycles < WORTH_IT * cycles else self
        fits = (kernel for kernel in kernels if kernel.band_bytes <= longest)
        short = next(fits, best)
        return short if short.cycles <= HARDLY_LONGER * best.cycles else best

    @property
    def channel_bytes(self) -> int:
        """Of the code that runs for each channel."""
        return self.code.longest_loop(self.layer.weights.shape[0] * self.lines.bands - 1)

    @property
    def band_bytes(self) -> int:
        """Of the code that runs for each band of four channels."""
        fours = -(-self.layer.weights.shape[0] // LANES)
        return self.code.longest_loop(fours * self.lines.bands - 1)

    @functools.cached_property
    def code(self) -> Assembly:
        late = self._late / self.layer.weights.shape[0] if self.has_late else None
        return assemble(self.layer, self.lines, late, self.unrolling)

    @property
    def cycles(self) -> int:
        return self.code.time(self.layer.target)

    @property
    def stem(self) -> str:
        name = "any" if self.lines.is_any else self.layer.weights.shape[0]
        return f"depthwise3x3_{name}_dsp"

    @property
    def scratch_bytes(self) -> int:
        return self.lines.plane_bytes + self.lines.staged_bytes

    @property
    def in_place(self) -> tuple[InPlace, ...]:
        return (InPlace(0, 0, exactly=True),) if self.lines.may_lie_on_input else ()

    @functools.cached_property
    def roundings(self) -> list[Rounding]:
        """Of each channel."""
        return roundings(self.layer)

    @property
    def _late(self) -> int:
        """How many sums of all channels are late."""
        return sum(len(how.late) for how in self.roundings)

    @property
    def constant_bytes(self) -> int:
        taps = TAP_WORDS * int(self.layer.weights.shape[0])
        return 4 * (self.lines.is_any + taps + LATE_WORDS * self._late)

    def taps(self) -> Constant:
        """The stream."""
        words = pack(self.layer, self.roundings, self.lines.is_transposed)
        if self.lines.is_any:
            words = np.append(np.uint32(self.layer.weights.shape[0]), words)
        return Constant("taps", words)

    def called(self, calls: int = 1) -> Called:
        """By a driver, so often with an image of its own."""
        return called(self.stem, self.layer.x, self.layer.y, self.code, "taps", calls)


@kept
def _cheaper(layer: Convolution, has_late: bool) -> Kernel:
    both = [BareLines.of(layer, is_transposed) for is_transposed in (False, True)]
    kernels = [Kernel(layer, lines, has_late) for lines in both if lines.is_reachable]
    first, *others = sorted(kernels, key=lambda kernel: kernel.cycles)
    best = first.fitting
    # What unrolls less takes no less than this one would without waiting.
    for other in (other for other in others if other.code.cycles < best.cycles):
        best = min(best, other.fitting, key=lambda kernel: kernel.cycles)
    return best


def assemble(
    layer: Convolution, lines: BareLines, late: float | None, unrolling: Unrolling = UNROLLINGS[0]
) -> Assembly:
    """The kernel: image, output, taps, scratch. late: sums of a channel that are rounded too late,
    on average; None where it looks for none."""
    code = Assembly()
    fours = Fours(code, lines, TAP_WORDS, int(layer.weights.shape[0]))
    _describe(code, layer, lines, late is not None)
    fours.begin(numbers=1 if lines.is_any else 0)
    late_sums = None if late is None else LateSums(code, lines, fours, TAP_WORDS, late)

    def fill() -> None:
        if lines.is_any:
            planes.gather_any(code, layer, lines, fours, unrolling.pixels)
        else:
            planes.gather(code, layer, lines, fours, unrolling.pixels)

    def convolve() -> None:
        plane_lines.convolve(code, layer, lines, fours, unrolling)
        if late_sums is not None:
            late_sums.look()

    def finish() -> None:
        if lines.is_any:
            planes.unstage(code, lines, fours)
        else:
            code.offset(fours.y, lines.band * lines.pitch[1][1], code.register("free"))

    fours.all(fill, convolve, finish)
    if late_sums is not None:
        late_sums.correct()
    return code


def _describe(code: Assembly, layer: Convolution, lines: BareLines, has_late: bool) -> None:
    code.note(
        "A 3x3 kernel for each channel f: y[i][j][f] = sat((start[f] + gain[f] sum(w[k][l] "
        f"x[i'][j'][f])) scale[f] >> {32 + plane_lines.shift(layer)}), rounded down, with "
        "x[i'][j'] what w[k][l] meets without the zero point of x, or 0 beyond the image. start "
        "has the bias times the gain, and the zero point of y and a half, which become its units "
        f"by the scale. Lines i are {'columns' if lines.is_transposed else 'rows'} of the image."
    )  # fmt: skip
    is_moved = plane_lines.is_moved(layer)
    move = "m, which is missing from the bytes of all nine" if is_moved else "0"
    code.note(
        "x and y: [row][column][channel]."
        + " In front of taps is a word, how many channels." * lines.is_any
    )
    code.note(
        "taps, words, those in brackets by their bytes from the lowest on: "
        "(w[0][0], w[0][1], w[0][2], gain), "
        "(w[1][0], w[1][1], w[1][2], number of the channel's first late sum or 0), "
        f"(w[2][0], w[2][1], w[2][2], {move}), start, scale."
        + " Behind those of all channels are late sums, whose output is one too small: that "
        "output, with 256 where another one of the channel follows, and the sum of products."
        * has_late
    )
    code.note(
        f"scratch: {lines.held} lines of four channels, of {lines.line_bytes} bytes: of each pair "
        "of pixels a word of each channel, two int16."
        + f" Behind them outputs of a band, [{lines.band}][{lines.output[1]}][4]."
        * lines.is_any
    )
    may = ", which may lie on it" if lines.may_lie_on_input else ""
    code.note(f"A band's input is in the scratch before its outputs are written{may}.")


def may_be_late(view: SubgraphView, layer: Convolution, target: Target) -> bool:
    """Whether sums of a layer of the view are rounded too late, or those of another one with its
    window, which may share the kernel then."""
    windows = view.known.get(("windows with late sums", target))
    if windows is None:
        found = [read(layer_of(view, node, target)) for node in view.nodes if node.op == "Conv"]
        windows = view.known["windows with late sums", target] = {
            of.window for of in found
            if isinstance(of, Convolution) and of.is_depthwise and not refusal(of)
            if any(how.late for how in roundings(of))
        }  # fmt: skip
    return layer.window in windows


@kept
def roundings(layer: Convolution) -> list[Rounding]:
    """Of each channel; empty where one has none."""
    channels = [layer.channel(n) for n in range(len(layer.bias))]
    largest = np.abs(layer.weights).max(axis=(1, 2, 3))
    most = np.minimum(MOST_GAIN, (2**15 - 1) // np.maximum(largest, 1))
    found = round_channels(channels, layer.bias.tolist(), plane_lines.shift(layer), most)
    return [how for how in found if how is not None] if None not in found else []


def pack(layer: Convolution, roundings: Sequence[Rounding], is_transposed: bool) -> Array:
    """Of each channel 5 words: a row of weights in three bytes each; bias, scale. The first word's
    top byte is the gain. The second's is 0, or says which late sum is the channel's first, from 1
    on. The third's is what the weights are moved by. Behind all channels late sums have two words:
    the output, with a bit above it where another one of the channel follows; and the sum."""
    weights = layer.weights[:, 0].transpose(0, 2, 1) if is_transposed else layer.weights[:, 0]
    moved = plane_lines.moves(layer)
    taps = (((weights - moved[:, None, None]) & 0xFF) << np.array([0, 8, 16])).sum(axis=2)
    taps[:, 2] |= (moved & 0xFF) << 24
    stream: list[int] = []
    late: list[int] = []
    for (first, second, third), how in zip(taps.tolist(), roundings, strict=True):
        which = len(late) // LATE_WORDS + 1 if how.late else 0
        stream += [first | how.gain << 24, second | which << 24, third, how.start, how.scale]
        for left, (sum_, output) in zip(range(len(how.late))[::-1], how.late, strict=True):
            late += [output & 0xFF | (left > 0) << 8, sum_]
    return (np.array(stream + late, np.int64) & 0xFFFFFFFF).astype(np.uint32)
