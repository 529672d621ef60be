"""3x3 convolution of int8 by Winograd's F(2x2, 3x3), exactly: 16 products for 4 outputs, not 36.

With V = B' d B of a window of 4x4 inputs and U = 2G g (2G)' of a filter, both integers, the outputs
A' (U V) A are 4 times the convolution's sums (Lavin and Gray, "Fast Algorithms for Convolutional
Neural Networks", 2015, whose G has halves): the 1/4 is in the scales. All of it is arithmetic
modulo 2**32, so only the sums at the end need fit into 32 bits. The price is flash: 16 weights of
int16 for 9 of int8.

Three windows at a time are transformed, then multiplied by all filters (see winograd_core.py).
Where memory answers late, some groups of three are, by loops that are short (winograd_groups.py).
Windows of odd sizes end where the image ends: they compute some outputs a second time. A window
that leaves the image is first copied to a patch, with the zero point where there is no image.
All sizes are numbers in front of the weights, so that layers of equal channels share a function.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.kernels import convolution
from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, proposal
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.dsp import winograd_core, winograd_groups
from mcu_deploy.backends.isa.dsp.winograd_core import LANES, LANES_LOG2
from mcu_deploy.backends.isa.dsp.winograd_windows import NUMBERS, ORDER, POSITIONS, Coverage, Shape
from mcu_deploy.backends.quantized.dense_product import shift, words
from mcu_deploy.backends.quantized.filter_pairs import Pair, pairs_of
from mcu_deploy.backends.quantized.layers import Convolution, read

OPERATORS = ("Conv", "tflite::Conv")

_MOST_CHANNELS, _MOST_FILTERS = 64, 254
# How far an accumulator may be moved so that its scale has an integer addend.
_MOVED = 2**15
# Of a pass: so many groups of three windows at most, in so many bytes of scratch.
_MOST_GROUPS, _MOST_BYTES = 4, 16384
# The code of a pair of channels, and of all else that runs for each two filters.
_PAIR_BYTES, _AROUND = 31, 510
# Of `POSITIONS`, where a sum of products enters the outputs with a minus.
_IS_NEGATIVE = np.array([(row == 3) != (column == 3) for row, column in POSITIONS])


@dataclass(frozen=True, eq=False)
class Winograd:
    """A 3x3 convolution with a stride of 1. has_passes: by winograd_groups.py."""

    layer: Convolution
    has_passes: bool = False

    @functools.cached_property
    def shape(self) -> Shape:
        layer = self.layer
        is_fixed = layer.fixed is not None
        return Shape(
            layer.x.shape[1], layer.y.shape[1], shift(layer) + LANES_LOG2, layer.extend,
            layer.saturate, is_fixed, not is_fixed and not self.unsolved,
            *(self._pass() if self.has_passes else ()),
        )  # fmt: skip

    def _pass(self) -> tuple[int, int, int]:
        """`together`, `chunks` and `rounds` of `Shape`: chunks whose words stay in a cache of data,
        rounds whose loop fits, for as many groups as the scratch may hold."""
        memory, pairs = self.layer.target.memory, self.layer.x.shape[1] // 2
        assert memory is not None and self.layer.loop_bytes is not None
        cache, chunks = memory.data_cache, 1
        if cache is not None:  # V is made of two pairs at a time
            kept = (cache.bytes - cache.line_bytes) // 8
            chunks = _parts(pairs // 2, kept // 2)
        in_round = (self.layer.loop_bytes - _AROUND) // _PAIR_BYTES
        rounds = _parts(pairs // chunks, in_round)
        groups = self._groups
        most = max(1, min(_MOST_GROUPS, _MOST_BYTES // (192 * pairs + 384 * chunks)))
        return -(-groups // -(-groups // most)), chunks, rounds

    @property
    def _groups(self) -> int:
        return -(-self.windows()[0].size // 3)

    def windows(self) -> tuple[Array, Array]:
        """The output's row and column at which each window of a pair of rows and columns begins."""
        rows, columns = (
            np.minimum(np.arange(0, size, 2), size - 2) for size in self.layer.window.output
        )
        return np.repeat(rows, columns.size), np.tile(columns, rows.size)

    def coverage(self) -> Coverage:
        """How often what is run, for the price."""
        inside = []
        ends = zip(self.windows(), self.layer.window.begin, self.layer.window.input, strict=True)
        for at, begin, size in ends:
            first = at - begin
            inside.append(np.clip(np.minimum(first + 4, size) - np.maximum(first, 0), 0, 4))
        rows, columns = inside
        border = (rows < 4) | (columns < 4)
        count = max(1, int(border.sum()))
        groups = self._groups
        return Coverage(
            groups, -(-groups // max(1, self.shape.together)), rows.size, int(border.sum()),
            self.layer.window.output[1],
            rows[border].sum() / count, columns[border].sum() / count,
            sum(pair.late for pair in self.pairs), self.unsolved,
        )  # fmt: skip

    def distance(self) -> int:
        """As `InPlace` has it: three windows, or those of a pass, are read before their outputs are
        written."""
        window, (channels, filters) = self.layer.window, (self.shape.channels, self.shape.filters)
        rows, columns = self.windows()
        row, column = (
            np.maximum(at - b, 0) for at, b in zip((rows, columns), window.begin, strict=True)
        )
        lowest = (row * window.input[1] + column) * channels
        ends = ((rows + 1) * window.output[1] + columns + 2) * filters
        step = 3 * max(1, self.shape.together)
        starts = range(0, rows.size, step)
        reads = np.array([lowest[n:].min() for n in starts])
        writes = np.array([ends[n : n + step].max() for n in starts])
        return int((writes[:-1] - reads[1:]).max(initial=-self.layer.x.bytes))

    def numbers(self) -> Array:
        """In the order of `NUMBERS`."""
        window, shape = self.layer.window, self.shape
        (height, width), (rows, columns) = window.input, window.output
        pitch, target_pitch = width * shape.channels, columns * shape.filters
        values = {
            "groups": self.coverage().groups,
            "source": -(window.begin[0] * pitch + window.begin[1] * shape.channels),
            "column": -window.begin[1],
            "row": -window.begin[0],
            "target": shape.filters,
            "last column": columns - 2 - window.begin[1],
            "last row": rows - 2 - window.begin[0],
            "wrap": 2 * pitch - (columns - 2) * shape.channels,
            "target wrap": 2 * target_pitch - (columns - 2) * shape.filters,
            "first column": -window.begin[1],
            "pitch": pitch,
            "target pitch": target_pitch,
            "three pitches": 3 * pitch,
            "columns inside": max(0, width - 3),
            "rows inside": max(0, height - 3),
            "width": width,
            "height": height,
            "zeros": (self.layer.zero_points[0] & 0xFF) * 0x01010101,
        }
        return (np.array([values[name] for name in NUMBERS]) & 0xFFFFFFFF).astype(np.uint32)

    @functools.cached_property
    def pairs(self) -> list[Pair]:
        """How each two filters are rounded."""
        evens = tuple((even, 2) for even in range(0, self.layer.y.shape[1], 2))
        return pairs_of(self.layer, evens, (LANES, LANES), shift(self.layer))

    @property
    def unsolved(self) -> int:
        """How many of these no integers round."""
        return sum(not pair.is_solved for pair in self.pairs)

    def pack(self) -> Array:
        """The stream of words that the kernel reads, two filters after two: both biases, U, and the
        words of `Pair`."""
        weights = transformed(self.layer.weights).reshape(self.shape.filters, -1)
        stream: list[int] = []
        for index, taps in enumerate(words(weights[::2], weights[1::2], is_wide=True)):
            pair, biases = self.pairs[index], self.layer.bias[2 * index : 2 * index + 2]
            begin = (LANES * int(b) + m for b, m in zip(biases, pair.moves, strict=True))
            stream += [*begin, *taps.tolist(), *pair.words, *pair.behind]
        return (np.array(stream, np.int64) & 0xFFFFFFFF).astype(np.uint32)


def transformed(weights: Array) -> Array:
    """U of weights [filter, channel, 3, 3]: [filter, position, channel], in the orders of the
    stream. Of int8 they are 9 * 128 at most."""
    g = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]])
    rows, columns = zip(*POSITIONS, strict=True)
    whole = np.einsum("ia,ncab,jb->nijc", g, weights, g)[:, rows, columns]
    four = np.arange(0, weights.shape[1], 4)[:, None] + np.array(ORDER)
    signed: Array = np.where(_IS_NEGATIVE[:, None], -whole, whole)[:, :, four.reshape(-1)]
    return signed


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A 3x3 convolution by itself; what it refuses other kernels compute."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if layer.is_depthwise or layer.groups > 1 or convolution.refusal(layer):
        return ""
    if refusal(kernel := Winograd(layer)):
        return ""
    found = [_proposal(view, node, kernel)]
    if layer.loop_bytes is not None:
        # The code of all positions in a row waits for itself, and for its weights.
        found.append(_proposal(view, node, Winograd(layer, has_passes=True)))
    return found


def _proposal(view: SubgraphView, node: Layer, kernel: Winograd) -> Proposal:
    shape, layer = kernel.shape, kernel.layer
    of_two = 24 + 4 * len(POSITIONS) * shape.channels
    stream_bytes = shape.filters // 2 * of_two + 12 * sum(pair.late for pair in kernel.pairs)
    return proposal(
        view.part([node.node.id]), layer.target, f"winograd_{shape.channels}x{shape.filters}_dsp",
        _assembled(kernel),
        lambda: [Constant("weights", np.concatenate([kernel.numbers(), kernel.pack()]))],
        "winograd3x3" + ", short loops" * kernel.has_passes,
        macs=layer.pixels * shape.filters * layer.weights[0].size,
        constant_bytes=stream_bytes + 4 * len(NUMBERS),
        scratch_bytes=shape.scratch_bytes,
        in_place=[InPlace(0, 0, kernel.distance())],
        layouts=CHANNELS_LAST,
        only_for="speed",
    )  # fmt: skip


def _parts(count: int, most: int) -> int:
    """In how many equal parts of at most so much."""
    return next((n for n in range(1, count) if count % n == 0 and count // n <= most), count)


def _assembled(kernel: Winograd) -> Assembly:
    shape, coverage = kernel.shape, kernel.coverage()
    if not kernel.has_passes:
        return winograd_core.assemble(shape, coverage)
    memory = kernel.layer.target.memory
    assert memory is not None
    # Without a cache of data each group reads all weights.
    reads = 1 if memory.data_cache else coverage.groups / coverage.passes
    return winograd_groups.assemble(shape, coverage, reads)


def refusal(kernel: Winograd) -> str:
    """Why it does not compute a convolution, a clause; empty where it does."""
    layer = kernel.layer
    window = layer.window
    filters, channels = layer.weights.shape[:2]
    if {*window.strides, *window.dilations} != {1} or tuple(window.kernel) != (3, 3):
        return "it takes kernels of 3x3 with a stride of 1"
    if channels % 4 or filters % 2:
        return f"it takes channels by 4 and filters by 2, not {channels} and {filters}"
    if channels > _MOST_CHANNELS or filters > _MOST_FILTERS:
        return (
            f"it has offsets for {_MOST_CHANNELS} channels and {_MOST_FILTERS} filters, "
            f"not {channels} and {filters}"
        )
    if min(window.output) < 2:
        return "it takes outputs by 2x2"
    low, high = layer.reach
    if LANES * max(-int(low.min()), int(high.max())) + _MOVED >= 2**31:
        return f"{LANES} times a sum of its weights could leave 32 bits"
    return ""
