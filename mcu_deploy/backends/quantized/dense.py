"""A fully connected layer as its kernel sees it, the integers that round its outputs, and the
stream of constants that its code reads.

A convolution whose output is a pixel of each image is one, of rows that are the images in
channel-last order: after a global pool, in squeeze-and-excite. So is a 1x1 convolution; its rows
are pixels.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import Layer
from mcu_deploy.backends.quantized.dense_product import halves
from mcu_deploy.backends.quantized.dense_product import words as words_of_pairs
from mcu_deploy.backends.quantized.layers import Linear, bytes_refusal, centred, linear
from mcu_deploy.backends.quantized.layers import read as read_convolution
from mcu_deploy.backends.quantized.layers import refusal as refusal_of_types
from mcu_deploy.backends.quantized.requantization import accumulate, reach, shift_of
from mcu_deploy.backends.quantized.staircases import Channel
from mcu_deploy.backends.quantized.tile_shapes import ROW
from mcu_deploy.operators.conv import conv_window

LANES = 256  # of the odd output's sum
TAPS, OUTPUTS = 2 * ROW.of_row, ROW.filters  # of a block, of a group
IN_WORDS = (0, 2, 1, 3)  # of four taps those in the first word, in the second one
BLOCKS = 16  # of the long form
_MOST_GROUPS = 4  # whose row is widened for each
# Of a row, from which on one or two last outputs stand beside the four before them: a loop of its
# own is shorter than the weights that two outputs beside them would have.
_SIX_TAPS = 1024
_PIXELS = 2  # of a 1x1 convolution at most: its own kernels take more, three at a time
# Tried first of an output's scale, so that layers mostly share a function. It is the least with
# which the half that rounds is an addend.
_SHIFT = 1
_LARGEST_SHIFT = 22  # that leaves a zero point in 32 bits, with room for sums


@dataclass(frozen=True)
class Dense(Linear):
    """weights: [output, tap]. is_direct: its row is widened anew for each group of outputs, and not
    once, in the scratch."""

    is_direct: bool = field(default=False, kw_only=True)

    @property
    def may_be_direct(self) -> bool:
        """Whether that is worth a try: it takes less scratch, and little longer for few outputs."""
        return self.rows == 1 and self.x.shape[-1] % TAPS == 0 and self.groups <= _MOST_GROUPS

    @property
    def block_bytes(self) -> int:
        """Of a row, as its blocks read it."""
        return TAPS if self.is_direct else 2 * TAPS

    @property
    def rows(self) -> int:
        return math.prod(self.x.shape[:-1])

    @property
    def blocks(self) -> int:
        return math.ceil(self.x.shape[-1] / TAPS)

    @property
    def groups(self) -> int:
        return math.ceil(self.y.shape[-1] / OUTPUTS)

    @functools.cached_property
    def parts(self) -> int:
        """In how many parts of a row the sums are taken apart, so that they stay in the 24 bits
        that two outputs in one word have; 0 where no such words hold the weights or the sums."""
        if bytes_refusal(self) or weights_refusal(self.weights):
            return 0
        if not leave(self.reach):
            return 1
        most = self.blocks // BLOCKS
        return next((n for n in range(2, most + 1) if not self._leave_in(n)), 0)

    def _leave_in(self, parts: int) -> bool:
        """Whether sums of so many parts leave them."""
        ends, bias = self.x.dtype.range, self.bias
        step = TAPS * self.part_blocks(parts)
        end = TAPS * self.blocks - (parts - 1) * step
        for begin in (0, *range(end, TAPS * self.blocks, step)):
            if leave(reach(self.weights[:, begin:end], bias, *ends)):
                return True
            end, bias = end + step, 0 * bias
        return False

    def part_blocks(self, parts: int) -> int:
        """Blocks of each of so many parts but the first: a multiple of the unrolled ones."""
        return BLOCKS * (self.blocks // (parts * BLOCKS))

    @property
    def is_wide(self) -> bool:
        """Whether a word of weights is two taps of one output, not of two."""
        return not self.parts

    @property
    def is_long(self) -> bool:
        """Whether sums are taken apart before a row's end, too."""
        return self.parts > 1

    @property
    def middle(self) -> int:
        """Blocks before sums of a long row are first taken apart."""
        return self.blocks - (self.parts - 1) * self.part_blocks(self.parts)

    @property
    def lanes(self) -> int:
        """Of the odd outputs' sums, as they are rounded."""
        return 1 if self.is_long or self.is_wide else LANES


def leave(ends: tuple[Array, Array]) -> bool:
    """Whether sums that reach so far could leave the 24 bits that an odd output's has, with what
    they are moved by (requantization.py)."""
    return bool(max(-ends[0].min(), ends[1].max()) >= 2**23 - 2**15)


def words(weights: Array, at_once: int, is_wide: bool = False) -> Array:
    """Weights [output, tap] as kernels read them: uint32 [group, word], of each group of outputs,
    of so many taps at once and of each two outputs, or each one (is_wide), the words of these, in
    the order of the activations. Zeros fill groups and taps."""
    outputs, taps = weights.shape
    groups, blocks = math.ceil(outputs / OUTPUTS), math.ceil(taps / at_once)
    padded = np.zeros((OUTPUTS * groups, at_once * blocks), np.int64)
    padded[:outputs, :taps] = weights
    rows = padded.reshape(-1, 4)[:, IN_WORDS].reshape(padded.shape)
    if is_wide:
        packed = halves(rows.reshape(len(rows), -1, 2))
    else:
        packed = words_of_pairs(rows[::2], rows[1::2], is_wide=False)
    return packed.reshape(groups, -1, blocks, at_once // 2).swapaxes(1, 2).reshape(groups, -1)


def weights_refusal(weights: Array) -> str:
    """Why two outputs do not share words, a clause; empty where they do."""
    odd = weights[1::2]
    if ((odd == -128) & (weights[::2][: len(odd)] < 0)).any():
        return "a weight of -128 stands beside a negative one, which one word cannot hold"
    return ""


class Rounding(NamedTuple):
    """words: of an even and an odd output scale and addend each; or, where they are rounded twice
    as TFLite does, of both the multiplier, the addend and the shift. moves: what the sums are moved
    by."""

    words: tuple[int, int, int, int]
    moves: tuple[int, int] = (0, 0)
    is_twice: bool = False


def is_of_rows(layer: Layer) -> bool:
    """Whether a convolution is a product of rows with all of its weights."""
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    if conv_window(x, w, y, layer.attributes).padded or w.shape[1] != x.shape[1]:
        return False
    pixels = math.prod(y.shape[2:])
    is_image = pixels == 1 and w.shape[2:] == x.shape[2:]
    is_pixel = x.shape[2:] == y.shape[2:] and {*w.shape[2:]} == {1}
    return is_image or (is_pixel and y.shape[0] * pixels <= _PIXELS)


def read(layer: Layer) -> Dense | str:
    """A layer as a product with constant weights, or why it is none for this backend, a clause."""
    if layer.op == "Conv":
        return _of_convolution(layer) if is_of_rows(layer) else ""
    x, w = layer.input(0), layer.input(1)
    if layer.op == "MatMul" and (w.constant is None or w.type.rank != 2):
        return ""  # matmul.py's
    if reason := refusal_of_types(layer):
        return reason
    if w.type.rank != 2 or x.type.rank < 2 or layer.attributes.get("transA", 0):
        return "it multiplies rows with one matrix"
    is_transposed = layer.op == "FullyConnected" or layer.attributes.get("transB", 0)
    weights = centred(w)
    found = linear(layer, weights if is_transposed else weights.T)
    return found if isinstance(found, str) else Dense(**vars(found))


def _of_convolution(layer: Layer) -> Dense | str:
    found = read_convolution(layer)
    if isinstance(found, str):
        return found
    weights = found.weights.transpose(0, 2, 3, 1).reshape(len(found.weights), -1)
    outputs, taps = weights.shape
    x, y = (
        replace(type_, shape=(found.pixels, size))
        for type_, size in ((found.x, taps), (found.y, outputs))
    )
    return Dense(
        weights, found.bias, found.factors, found.reach, x, y, found.fixed, target=found.target
    )


def refusal(layer: Dense) -> str:
    """Why the kernel does not compute a layer, a clause; empty where it does."""
    outputs, taps = layer.weights.shape
    if not layer.rows * outputs * taps:
        return "there is nothing to compute"
    if shift_of(layer.factors) < 0:
        return "its factors are too large for a 31-bit scale"
    low, high = layer.reach
    if (np.maximum(-low, high) * layer.factors.astype(np.float64) >= 2**31 - 2**10).any():
        return "a sum of it times its factor could leave 32 bits"  # that VCVT gives
    return ""


@dataclass(frozen=True, eq=False)
class RowProduct:
    """A row times the outputs, four at a time: how its kernel multiplies and rounds.

    shift: of what rounds even outputs; common: what rounds all of them, if one does. unrolled: so
    many blocks of eight taps stand one behind the other.
    """

    layer: Dense
    shift: int
    common: Rounding | None
    unrolled: int = 1

    @property
    def passes(self) -> int:
        """Of the blocks in a row, for a group of outputs."""
        return math.ceil(self.layer.blocks / self.unrolled)

    @property
    def skipped(self) -> int:
        """Blocks that the first pass does not need."""
        return self.passes * self.unrolled - self.layer.blocks

    @property
    def others(self) -> int:
        """Outputs, one or two, that the last group has behind its four: it has six then, the last
        one perhaps for nobody, and a loop of its own; or none."""
        outputs, taps = self.layer.weights.shape
        rest, is_one_row = outputs % OUTPUTS, self.layer.rows == 1 and not self.layer.is_wide
        may = is_one_row and outputs > OUTPUTS and taps >= _SIX_TAPS and not self.skipped
        return rest if may and rest <= OUTPUTS // 2 else 0

    @property
    def groups(self) -> int:
        """Of four outputs."""
        return self.layer.groups - 2 * bool(self.others)

    @property
    def surplus(self) -> int:
        """Outputs that the last group has too many."""
        return 0 if self.others else -len(self.layer.weights) % OUTPUTS

    @property
    def row_bytes(self) -> int:
        """Of a row as its blocks read it: widened to int16, or as it lies."""
        return self.layer.block_bytes * self.layer.blocks

    def pack(self, block_bytes: int) -> Array:
        """The words that the kernel reads, as `description` has them; where outputs differ, behind
        each group what `round_group` has for it. block_bytes: of a block's code."""
        layer = self.layer
        packed = words(layer.weights, TAPS, layer.is_wide)
        outputs = OUTPUTS * self.groups if self.others else len(layer.weights)
        stream = [self.row_bytes, self.skipped * block_bytes, outputs]
        stream += [layer.block_bytes * layer.middle] if layer.is_long else []
        part = layer.block_bytes * layer.part_blocks(layer.parts) if layer.parts > 2 else 0
        stream += [part] if part else []
        stream += [] if self.common is None else self.common.words
        for group in range(self.groups):
            starts, ends = self._around(group)
            stream += [*starts, *packed[group].tolist(), *ends]
        if self.others:
            (four, ends), (two, more_ends) = map(self._around, range(self.groups, layer.groups))
            behind = TAPS * layer.blocks - layer.weights.shape[1]
            whole = np.pad(layer.weights, ((0, 0), (0, behind)))
            by_fours = words(whole, TAPS // 2).reshape(layer.groups, -1, OUTPUTS)
            of_six = np.hstack([by_fours[-2], by_fours[-1, :, : OUTPUTS // 2]])
            stream += [*four, *two[: OUTPUTS // 2], *of_six.reshape(-1).tolist()]
            stream += [*ends, *more_ends]
        return (np.array(stream, np.int64) & 0xFFFFFFFF).astype(np.uint32)

    def _around(self, group: int) -> tuple[list[int], list[int]]:
        """What the sums of four outputs begin with, and where outputs differ what rounds them."""
        layer, ends = self.layer, list[int]()
        if self.common is None:
            moves, ends = round_group(layer, group, self.shift)
        else:
            moves = [*self.common.moves] * 2
        bias = np.resize(layer.bias, OUTPUTS * layer.groups).reshape(-1, OUTPUTS)[group]
        if layer.is_wide:
            return (bias + moves).tolist(), ends
        starts = bias * [1, LANES, 1, LANES] + moves * np.array([1, LANES // layer.lanes] * 2)
        starts[1::2] += starts[::2]
        return starts.tolist(), ends

    def description(self) -> Iterator[str]:
        """For the head of a kernel: what it computes, and the words of its stream."""
        layer = self.layer
        formula, more, own = "sat((sum * scale >> 32) + addend >> shift)", "", ""
        if self.common is None:
            own = "; " + ", ".join(f"scale[{k}], addend[{k}]" for k in "abcd")
            if layer.fixed is None:
                part = "" if layer.lanes == 1 else ", those of b and d 256 times too small"
                own += f". If scale[a] is 0, their factors, float32{part}, stand behind it instead"
        elif self.common.is_twice:
            formula = "sat((2 * sum * multiplier >> 32, rounded) + addend - (sum < 0) >> shift)"
            more = "; multiplier, addend, shift, nothing"
        else:
            more = "; even outputs' scale and addend, odd ones'"
        middle = "; bytes of it before the middle" if layer.is_long else ""
        middle += "; bytes of each part behind it" if layer.parts > 2 else ""
        starts = "start[a]; 256 start[b] + start[a]; start[c]; 256 start[d] + start[c]"
        taps = "halves 256 w[b] + w[a], four words, 256 w[d] + w[c], four words"
        if layer.is_wide:
            starts = "start[a]; start[b]; start[c]; start[d]"
            taps = "halves w[a], four words, then so of w[b], w[c], w[d]"
        yield f"y[r][k] = {formula}, with sum = start[k] + sum of x[r] * w[k]."
        counted = "count of outputs" + " without the last group's" * bool(self.others)
        row = "row" if layer.is_direct else "widened row"
        yield (
            f"weights: bytes of a {row}, to a whole block; of code that the first blocks skip; "
            f"{counted}{middle}{more}. Then of each four outputs a, b, c and d: {starts}; "
            f"of each eight taps, two a word, in {taps}, taps in the order 0 2 1 3 4 6 5 7{own}."
        )
        if self.others:
            yield (
                "The last group has two outputs more, e and f, and each four taps of all six; what "
                "rounds e and f stands behind what rounds the four."
            )


def row_product(layer: Dense) -> RowProduct:
    """By integers that round all outputs, where these have one factor and there are such."""
    finest = shift_of(layer.factors)
    if layer.is_uniform:
        whole = layer.channel(0, len(layer.factors))
        for shift in (_SHIFT, finest):
            fits = layer.factors[0] < 2.0 ** -(shift + 1.001)
            if fits and (found := round_pair(whole, whole, shift, layer.lanes)) is not None:
                return RowProduct(layer, shift, found)
        if (words := twice_rounded(layer, 0)) is not None:
            return RowProduct(layer, finest, Rounding((*words, 0), is_twice=True))
    return RowProduct(layer, finest, None)


def twice_rounded(layer: Dense, output: int) -> tuple[int, int, int] | None:
    """What rounds an output twice, as TFLite does, if it does and words hold it: the multiplier,
    the addend of the second rounding, with the zero point behind it, and the shift."""
    if layer.fixed is None:
        return None
    multiplier, minus = map(int, layer.fixed[output])
    addend = (1 << -minus - 1) + (layer.zero_points[1] << -minus)
    return (multiplier, addend, -minus) if -minus <= _LARGEST_SHIFT else None


def round_pair(even: Channel, odd: Channel, shift: int, lanes: int) -> Rounding | None:
    """What rounds two outputs, if integers do. lanes: what the odd one's sum is a multiple of."""
    first = accumulate(even, 1, shift)
    second = accumulate(odd, lanes, shift + lanes.bit_length() - 1)
    if first is None or second is None:
        return None
    words = (first.scale, first.addend, second.scale, second.addend)
    return Rounding(words, (first.move, second.move))


def round_group(layer: Dense, group: int, shift: int) -> tuple[list[int], list[int]]:
    """What the four sums of a group are moved by, and the eight words that round each by itself. An
    output that has no integer scale makes the first of them 0: behind it are float32 factors, or of
    TFLite's layers multipliers, shifts and the zero point."""
    indices = [min(OUTPUTS * group + k, len(layer.factors) - 1) for k in range(OUTPUTS)]
    channels = [layer.channel(k) for k in indices]
    first, second = (round_pair(channels[k], channels[k + 1], shift, layer.lanes) for k in (0, 2))
    if first is not None and second is not None:
        return [*first.moves, *second.moves], [*first.words, *second.words]
    if layer.fixed is not None:
        pairs = layer.fixed[indices]
        shifts = sum(-int(by) << 8 * n for n, by in enumerate(pairs[:, 1]))
        return [0] * OUTPUTS, [0, *map(int, pairs[:, 0]), shifts, layer.zero_points[1], 0]
    factors = layer.factors[indices] / np.array([1, layer.lanes] * 2, np.float32)
    return [0] * OUTPUTS, [0, *map(int, factors.astype(np.float32).view(np.uint32)), 0, 0, 0]
