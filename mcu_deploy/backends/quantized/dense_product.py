"""A convolution as a product: in what form core.py multiplies it, and the stream of constants that
its code reads: biases, packed weights, scales and addends."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, fields

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized.filter_pairs import Pair, in_float, pairs_of
from mcu_deploy.backends.quantized.layers import Convolution, bytes_refusal
from mcu_deploy.backends.quantized.requantization import LARGEST_SHIFT, shift_of

_LANES = 256  # of the odd filter's accumulator, where the weights are narrow
# So many pairs of taps are unrolled at most; more of them are a loop.
_MOST_UNROLLED, _LEAST_UNROLLED = 40, 16
_MOST_SHARED = 12  # times three
_COMMON = 8  # in code of no count of taps
# The code of a pair, narrow or wide, and of what rounds and stores and goes on, in bytes, about.
_PAIR_CODE, _AROUND = (33.4, 54.7), 150
_ROUND_CYCLES = 5  # of a loop, beside its pairs
# The words that registers have room for, where tiles are multiplied with them in turn. Their loop
# has 810 bytes; with what rounds it has 1,000. That is more than a limit of 896 and fits into that
# cache of 1 KB still: less words at a time would take longer than what is waited for.
_MOST_WORDS, _LEAST_IN_TURN = 24, 896
# So many filters of so many pairs of taps at most are four a round.
_MOST_DOUBLE, _MOST_DOUBLED = 1024, 16
# The shift of layers whose factors are not tiny: a greater one has a scale for hardly more filters,
# and layers of different shifts share no function.
_SHIFT, _LEAST_FACTOR = 4, 2.0**-13
# How far a sum may be moved so that its scale has an integer addend: see requantization.py.
_MOVED = 2**15
# What the kernel keeps behind the activations of a tile: where the next element of its first pixel
# goes, where the first pixel ends, and how far behind the next element but one of the first pixel
# those of the second and of the third pixel are.
STATE = ("next", "end", "second", "third")


@dataclass(frozen=True, eq=False)
class DenseProduct:
    """weights: [filter, tap], the taps in the order in which a kernel gathers them. Of a layer in
    groups each is a product for itself; the streams follow each other.

    is_shared: the windows are of three columns and neighbours: behind each other lie not three
    pairs of three pixels each, but the five pairs of their five columns, of which each weight takes
    three. That saves loads.
    is_common: the code is of no count of taps.
    is_double: a round has four filters, of which the second two meet the activations backwards, so
    that their pointer is where the next round needs it. Only where it begins early and holds ends.
    holds_ends: of `STATE` the first two are in registers, and the others are in the code: that is
    quicker, but for layers of so many filters only, an even number.
    is_real: all filters are rounded in float32, which takes longer and fewer words.
    is_grouped: two filters are multiplied with several tiles before the next two are, so that their
    words are read anew from where reading them once has left them.
    is_in_turn: they are multiplied with one after the other, the words of a round at a time.
    table: uint8 [256], what a function behind the layer makes of each byte.
    room: bytes of code that a loop over taps leaves for what is around that over filters.
    summed: taps whose sums are taps behind them (moved_weights.py); 0 where there are no such.
    """

    layer: Convolution
    weights: Array
    is_wide: bool = False
    unrolls_all: bool = False
    is_shared: bool = False
    holds_ends: bool = False
    is_common: bool = False
    is_double: bool = False
    is_real: bool = False
    is_grouped: bool = False
    is_in_turn: bool = False
    table: Array | None = None
    room: float = 0
    summed: int = 0

    @property
    def filters(self) -> int:
        """Of a group."""
        return int(self.weights.shape[0]) // self.layer.groups

    @property
    def lanes(self) -> int:
        return 1 if self.is_wide else _LANES

    @property
    def lanes_log2(self) -> int:
        return self.lanes.bit_length() - 1

    @property
    def shift(self) -> int:
        """Of the even filters."""
        return shift(self.layer)

    @functools.cached_property
    def _parts(self) -> tuple[int, int]:
        """How many pairs of taps come before a loop, and how many one of its rounds has; all of
        them and 0 where there is no loop."""
        pairs, is_limited = self._pairs, self.layer.loop_bytes is not None
        is_one = self.holds_ends and not self.is_grouped
        if self.unrolls_all and (is_one or not self.layer.is_waited_for):
            # There is no loop over taps: what that costs behind a cache, the price says.
            is_limited = False
        if self.is_common:
            return 0, _COMMON
        if self.is_in_turn:
            return 0, _MOST_WORDS
        if is_limited:
            return self._fitting(pairs)
        if self.is_shared:
            return (pairs, 0) if pairs <= 3 * _MOST_SHARED else self._shared()
        if self.unrolls_all or pairs <= _MOST_UNROLLED:
            return pairs, 0
        rounds = range(_LEAST_UNROLLED, _MOST_UNROLLED + 1)
        return 0, min(rounds, key=lambda n: (-(-pairs // n) * n, -n))

    def _fitting(self, pairs: int) -> tuple[int, int]:
        """As `_parts`, of a loop that fits with what is around it. The first SMLADs of pairs before
        it take the biases; else these are moved to the sums."""
        assert self.layer.loop_bytes is not None
        unit = 3 if self.is_shared else 1
        bytes_ = self.layer.loop_bytes - _AROUND - self.room
        most = max(2, int(bytes_ / _PAIR_CODE[self.is_wide]) // unit)
        units = pairs // unit
        if units <= most:
            return pairs, 0
        ways = [
            (ahead, of_round)
            for of_round in range(1, most + 1)
            for ahead in range(units % of_round, most - of_round + 1, of_round)
        ]

        def cost(way: tuple[int, int]) -> tuple[int, int]:
            rounds = (units - way[0]) // way[1]
            return _ROUND_CYCLES * rounds - 4 * (way[0] > 0), sum(way)

        ahead, of_round = min(ways, key=cost)
        return ahead * unit, of_round * unit

    def room_for(self, more: int) -> float:
        """The `room` with which what multiplies is so many bytes shorter, about."""
        assert self.layer.loop_bytes is not None
        return self.layer.loop_bytes - _AROUND - _PAIR_CODE[self.is_wide] * sum(self._parts) + more

    @property
    def rounds_in_turn(self) -> int:
        """So many times as many pairs as registers have room for; 0 if that is none."""
        limit = self.layer.loop_bytes
        if limit is None or limit < _LEAST_IN_TURN or self.table is not None:
            return 0
        return 0 if self._pairs % _MOST_WORDS else self._pairs // _MOST_WORDS

    def _shared(self) -> tuple[int, int]:
        """As `_parts`: a loop's first SMLADs would take the sums from where they are, so before it
        come others."""
        times = self._pairs // 3
        most = max(
            n for n in range(1, _MOST_SHARED + 1) if (times - 1) % n + 1 + n <= _MOST_SHARED + 1
        )
        return 3 * ((times - 1) % most + 1), 3 * most

    @property
    def unrolled(self) -> int:
        """Pairs of taps in a row: of a round, where there is a loop."""
        ahead, of_round = self._parts
        return of_round or ahead

    @property
    def ahead(self) -> int:
        """Pairs before the loop."""
        return self._parts[0] if self.has_loop else 0

    @property
    def has_loop(self) -> bool:
        return self._parts[1] > 0

    @property
    def pairs(self) -> int:
        """Of taps, with those that fill the last round of the loop."""
        ahead = self.ahead
        return ahead + -(-(self._pairs - ahead) // self.unrolled) * self.unrolled

    @property
    def _pairs(self) -> int:
        return (int(self.weights.shape[1]) + 1) // 2

    @property
    def rounds(self) -> int:
        """Of the loop over the taps."""
        return (self.pairs - self.ahead) // self.unrolled

    @property
    def pair_bytes(self) -> int:
        """Three times what a pair adds to a tile's activations."""
        return 20 if self.is_shared else 36

    @property
    def tile_bytes(self) -> int:
        return self.pair_bytes * self.pairs // 3

    @property
    def weights_bytes(self) -> int:
        """Of two filters."""
        return 4 * self.pairs * (2 if self.is_wide else 1)

    @property
    def begins_early(self) -> bool:
        """Whether the biases of the next two filters are loaded with the scales of these, which is
        an instruction less; behind the last ones are two words for that."""
        begins_with_loop = self.has_loop and not self.ahead
        return not (begins_with_loop or self.is_shared or self.is_grouped or self.is_in_turn)

    @property
    def may_be_double(self) -> bool:
        """Whether `is_double` is worth its code: with many taps it is much for little."""
        is_short = not self.has_loop and self._pairs <= _MOST_DOUBLED and not self.is_grouped
        return is_short and self.filters % 4 == 0 and self.filters <= _MOST_DOUBLE

    @property
    def constant_bytes(self) -> int:
        """Of each two filters two biases, the weights, and the words that round them."""
        of_two = (16 if self.is_real else 24) + self.weights_bytes
        in_group = (self.filters + 1) // 2 * of_two + (8 if self.begins_early else 0)
        behind = round(12 * self.late * self.layer.groups)
        return self.layer.groups * in_group + behind

    def refusal(self) -> str:
        """Why two filters do not fit into one word, a clause; empty where they do."""
        if self.is_wide:
            return ""
        if not self.summed and (reason := bytes_refusal(self.layer)):
            return reason
        low, high = self.layer.reach
        if max(-low.min(), high.max()) >= 2**23 - _MOVED:
            return "a sum of its weights could leave the 24 bits that two filters in one word have"
        even, odd = self._filters()
        if ((odd == -128) & (even < 0)).any():
            return "a weight of -128 stands beside a negative one, which one word cannot hold"
        return ""

    def _filters(self) -> tuple[Array, Array]:
        """The even and the odd filters, with zeros behind the taps, and for a group's last odd
        filter."""
        groups, taps = self.layer.groups, self.weights.shape[1]
        padded = np.zeros((groups, (self.filters + 1) // 2 * 2, 2 * self.pairs), np.int64)
        padded[:, : self.filters, :taps] = self.weights.reshape(groups, self.filters, taps)
        whole = padded.reshape(-1, 2 * self.pairs)
        return whole[::2], whole[1::2]

    def _even(self, index: int) -> tuple[int, int]:
        """Of the pairs of all groups: the first filter, and how many there are."""
        group, place = divmod(index, (self.filters + 1) // 2)
        return group * self.filters + 2 * place, min(2, self.filters - 2 * place)

    @functools.cached_property
    def roundings(self) -> list[Pair]:
        """Of each two filters."""
        count, lanes = self.layer.groups * ((self.filters + 1) // 2), (1, self.lanes)
        evens = tuple(map(self._even, range(count)))
        if self.is_real:
            return [in_float(self.layer, *even, lanes) for even in evens]
        return pairs_of(self.layer, evens, lanes, self.shift)

    @property
    def late(self) -> float:
        """How often a tile reads words behind those of two filters, of a group."""
        if self.is_real:
            return 0.0
        return sum(pair.late for pair in self.roundings) / self.layer.groups

    @property
    def unsolved(self) -> float:
        """How many pairs of filters no integers round, of a group."""
        if self.is_real:
            return 0.0
        return sum(not pair.is_solved for pair in self.roundings) / self.layer.groups

    @property
    def is_solved(self) -> bool:
        """Whether code knows that there are none of these. For TFLite's layers it never does: many
        have some, and would share no function with the others."""
        return self.layer.fixed is None and not self.unsolved

    @property
    def is_exact(self) -> bool:
        """Whether all results are those of integers in a row."""
        return not self.late and not self.unsolved

    @property
    def form(self) -> Hashable:
        """All that its code depends on: that of the layer, how it is multiplied, and how often
        rounding takes other ways."""
        ways = (getattr(self, field.name) for field in fields(self) if field.type == "bool")
        return (
            self.layer.form, self.weights.shape, self.summed, *ways, self.table is not None,
            self.room,
            self.shift, self.late, self.unsolved,
        )  # fmt: skip

    def pack(self) -> Array:
        """The stream of words that the kernel reads, two filters after two: both biases, the
        weights, and the words of `Pair`; those behind its words come behind the biases that are
        loaded with these."""
        stream: list[int] = []
        waiting: list[int] = []
        pairs = zip(words(*self._filters(), self.is_wide), self.roundings, strict=True)
        in_group = (self.filters + 1) // 2
        for index, (taps, pair) in enumerate(pairs):
            even, count = self._even(index)
            begin = int(self.layer.bias[even]) + pair.moves[0]
            bias = int(self.layer.bias[even + 1]) if count > 1 else 0
            start = self.lanes * bias + pair.moves[1] + (0 if self.is_wide else begin)
            in_order = taps[::-1] if self.is_double and index % 2 else taps
            stream += [begin, start, *waiting, *in_order.tolist(), *pair.words]
            waiting = [*pair.behind]
            is_last = index % in_group == in_group - 1
            if is_last or not self.begins_early:
                stream += [0, 0, *waiting] if self.begins_early else waiting
                waiting = []
        return (np.array(stream, np.int64) & 0xFFFFFFFF).astype(np.uint32)

    def description(self) -> Iterator[str]:
        """For the head of a kernel: what it computes, and the words of its stream."""
        yield (
            "y[p][f] = sat(round(factor[f] * (bias[f] + sum of w[f][t] x[p][t])) + zero), of "
            "pixels p, filters f and taps t. Each f and the next one, g, share a stream of words:"
        )
        if self.table is not None:
            yield ("First, once, 256 bytes that a function makes of y, from its least one on.")
        if self.is_wide:
            yield ("bias[f]; bias[g]; for each two taps one of w[f], one of w[g], in halves.")
        else:
            yield ("bias[f]; 256 bias[g] + bias[f]; for two taps one, in halves 256 w[g] + w[f].")
        if self.summed:
            yield ("Behind the taps are sums of 128 of them, which meet what is less in w[f][t].")
        if self.layer.groups > 1:
            yield ("The streams of groups follow each other.")
        if self.is_double:
            yield ("Of every second f and g the last taps come first.")
        factors = f"factor[f] and factor[g]{'' if self.is_wide else ' / 256'}"
        if self.is_real:
            yield (f"{factors}, float32.")
            return
        yield (
            "scale[f], addend[f], scale[g], addend[g]: (sum scale >> 32) + addend, shifted, is "
            "rounded as it has to be, for which the biases are a little moved."
        )
        if self.layer.fixed is not None:
            yield (
                "Where there are no such integers: the multiplier of f, 0, that of g, and from bit "
                "0 on the shifts of f and g, a byte each, and the zero point."
            )
            return
        yield (
            "If addend[f] is 0, three more for each sum that is rounded too late: 0 or 1 for f or "
            "g, the sum, addend[f], again 0 but for the last. Or 2: no integers round f and g; the "
            f"first and the third of the four words are {factors}, the last one is the zero point."
        )
        if self.begins_early:
            yield (
                "These three are behind the biases of the next f and g; behind the last f and g "
                "are two words of 0 for that."
            )

    def looked_up(self) -> Array:
        """The words in front of all others where there is a table: its entries, from that for the
        lowest element on."""
        if self.table is None:
            return np.array([], np.uint32)
        by = 128 if self.layer.saturate == "ssat" else 0
        return np.roll(self.table, by).view(np.uint32)

    @property
    def lead(self) -> int:
        """How far the pointers to the output are ahead of it."""
        return 2 if self.is_double else 0


def shift(layer: Convolution) -> int:
    """Of a layer's filters. Factors that are too large for it, or too small, are floats."""
    most = _SHIFT if layer.factors.max() > _LEAST_FACTOR else LARGEST_SHIFT - 8
    return min(max(0, shift_of(layer.factors)), most)


def words(even: Array, odd: Array, is_wide: bool) -> Array:
    """The weights of even and odd filters [filter, tap] as the kernel reads them: uint32
    [filter, word]."""
    count = even.shape[0]
    if is_wide:
        pairs = np.stack([even, odd], 1).reshape(count, 2, -1, 2)
        return halves(pairs.swapaxes(1, 2).reshape(count, -1, 2))
    return halves((_LANES * odd + even).reshape(count, -1, 2))


def halves(pairs: Array) -> Array:
    """Words of two int16 each, [..., 2], the lower half first: uint32 [...]."""
    assert pairs.min() >= -(2**15) and pairs.max() < 2**15
    return ((pairs[..., 0] & 0xFFFF) | (pairs[..., 1] & 0xFFFF) << 16).astype(np.uint32)
