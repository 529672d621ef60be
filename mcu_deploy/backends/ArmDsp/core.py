"""Two filters times three pixels: the inner loop of all dense convolutions, and its weights.

A tile of 2 x 3 sums, 3 activations, 3 words of weights and the two pointers fill all 14 registers.
The activations are pairs of taps, widened to int16: of each pair the three pixels, one behind the
other in the scratch. A word of weights is either (narrow) two taps of two filters: each half holds
`256 * odd + even` (the carry is settled when it is packed), so SMLAD of the word sums 256 * odd +
even, and SMLAD of the word through SXTB16 sums even; their difference is 256 times the odd filter's
sum, and the 1/256 is in its scale. Or it is (wide) two taps of one filter: that takes twice the
flash, has room for any weights and sums, and is cheaper where there are few taps.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.layers import Convolution
from mcu_deploy.backends.ArmDsp.requantization import LARGEST_SHIFT, accumulate, shift_of
from mcu_deploy.backends.ArmDsp.six_sums import EVEN, ODD, round_in_float, round_twice
from mcu_deploy.backends.isa import Assembly

_LANES = 256  # of the odd filter's accumulator, where the weights are narrow
_BIASES = ("r10", "r11")  # of the next two filters
_Exact = tuple[int, int, int] | None
_X, _W = ("r6", "r7", "r8"), ("r9", "r10", "r11")
_COLUMNS = (*_X, "r9", "r10")
# So many pairs of taps are unrolled at most; more of them are a loop.
_MOST_UNROLLED, _LEAST_UNROLLED = 40, 16
_MOST_SHARED = 12  # times three
_ZERO = "cbz r6,"
_COMMON = 8  # in code of no count of taps
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
class Product:
    """weights: [filter, tap], the taps in the order in which a kernel gathers them. Of a layer in
    groups each is a product for itself; the streams follow each other.

    is_shared: the windows are of three columns and neighbours: behind each other lie not three
    pairs of three pixels each, but the five pairs of their five columns, of which each weight takes
    three. That saves loads.
    is_common: the code is of no count of taps.
    is_double: a round has four filters, of which the second two meet the activations backwards, so
    that their pointer is where the next round needs it. Only where it begins early and holds ends.
    holds_ends: of `STATE` the first two are in s14 and s15, and the others are in the code: that is
    quicker, but for layers of so many filters only, an even number.
    """

    layer: Convolution
    weights: Array
    is_wide: bool = False
    unrolls_all: bool = False
    is_shared: bool = False
    holds_ends: bool = False
    is_common: bool = False
    is_double: bool = False

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

    @property
    def unrolled(self) -> int:
        """Pairs of taps in a row. Where these are a loop, so that few are added to fill it."""
        pairs = self._pairs
        if self.is_common:
            return _COMMON
        if self.is_shared:
            return pairs if pairs <= 3 * _MOST_SHARED else 3 * max(self._shared())
        if self.unrolls_all or pairs <= _MOST_UNROLLED:
            return pairs
        rounds = range(_LEAST_UNROLLED, _MOST_UNROLLED + 1)
        return min(rounds, key=lambda n: (-(-pairs // n) * n, -n))

    def _shared(self) -> list[int]:
        """Of how many times three pairs a loop may be: before it come others, for its first SMLADs
        would take the sums from where they are."""
        times = self._pairs // 3
        return [
            n for n in range(1, _MOST_SHARED + 1) if (times - 1) % n + 1 + n <= _MOST_SHARED + 1
        ]

    @property
    def ahead(self) -> int:
        """Pairs before the loop."""
        return (self._pairs - 3) % self.unrolled + 3 if self.is_shared and self.has_loop else 0

    @property
    def has_loop(self) -> bool:
        return self.is_common or self._pairs > self.unrolled

    @property
    def pairs(self) -> int:
        """Of taps, with those that fill the last round of the loop."""
        return -(-self._pairs // self.unrolled) * self.unrolled if not self.ahead else self._pairs

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
    def begins_early(self) -> bool:
        """Whether the biases of the next two filters are loaded with the scales of these, which is
        an instruction less; behind the last ones are two words for that."""
        return not (self.has_loop or self.is_shared)

    @property
    def may_be_double(self) -> bool:
        """Whether `is_double` is worth its code: with many taps it is much for little."""
        is_short = not self.has_loop and self._pairs <= _MOST_DOUBLED
        return is_short and self.filters % 4 == 0 and self.filters <= _MOST_DOUBLE

    @property
    def constant_bytes(self) -> int:
        """Of each two filters two biases, the weights, two scales and two addends."""
        of_two = 24 + 4 * self.pairs * (2 if self.is_wide else 1)
        in_group = (self.filters + 1) // 2 * of_two + (8 if self.begins_early else 0)
        return self.layer.groups * in_group

    def refusal(self) -> str:
        """Why two filters do not fit into one word, a clause; empty where they do."""
        if self.is_wide:
            return ""
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

    def _even(self, index: int) -> tuple[int, bool]:
        """Of the pairs of all groups: the first filter, and whether there is a second."""
        group, place = divmod(index, (self.filters + 1) // 2)
        return group * self.filters + 2 * place, 2 * place + 1 < self.filters

    @functools.cached_property
    def _roundings(self) -> list[tuple[_Exact, _Exact]]:
        """As `accumulate` has it, of each two filters."""
        layer, shift = self.layer, self.shift
        found = []
        for index in range(layer.groups * ((self.filters + 1) // 2)):
            even, is_pair = self._even(index)
            first = accumulate(layer.channel(even), 1, shift)
            second: _Exact = (1, 0, 0)
            if is_pair:
                second = accumulate(layer.channel(even + 1), self.lanes, shift + self.lanes_log2)
            found.append((first, second))
        return found

    def pack(self) -> Array:
        """The stream of words that the kernel reads, two filters after two: both biases, the
        weights, and scale and addend of both. Two of which one has no integer scale have 0 there,
        then two float32 factors and the zero point, or what `round_twice` takes."""
        layer, zero = self.layer, self.layer.zero_points[1]
        stream = []
        pairs = zip(words(*self._filters(), self.is_wide), self._roundings, strict=True)
        for index, (taps, (first, second)) in enumerate(pairs):
            even, is_pair = self._even(index)
            odd = even + 1
            bias, factor = 0, np.float32(0)
            if is_pair:
                bias, factor = int(layer.bias[odd]), layer.factors[odd]
            moves = [0, 0]
            if first is not None and second is not None:
                moves = [first[2], second[2]]
                ends = [*first[:2], *second[:2]]
            else:
                factors = np.array([layer.factors[even], factor / np.float32(self.lanes)])
                ends = [0, *_bits(factors), zero]
                if layer.fixed is not None:
                    both = [layer.fixed[min(n, len(layer.fixed) - 1)] for n in (even, odd)]
                    (m, by), (n, odd_by) = both
                    ends = [0, int(m), int(n), -int(by) | -int(odd_by) << 8 | zero << 16]
            begin = int(layer.bias[even]) + moves[0]
            start = self.lanes * bias + moves[1] + (0 if self.is_wide else begin)
            in_order = taps[::-1] if self.is_double and index % 2 else taps
            stream.append([begin, start, *in_order.tolist(), *ends])
        flat = np.array(stream, np.int64).reshape(self.layer.groups, -1)
        if self.begins_early:
            flat = np.pad(flat, ((0, 0), (0, 2)))
        return (flat.reshape(-1) & 0xFFFFFFFF).astype(np.uint32)

    def assemble(self, code: Assembly, begin: str, end: Sequence[str] = ()) -> None:
        """A tile: all filters for three pixels, by the stream from lr on.

        begin: what gives r12 the tile's activations, behind which it finds `STATE`; there it is
        afterwards. end: what compares r12 with the address behind the activations, and may use r6.
        """
        if self.begins_early:
            code(f"ldmia lr!, {{{', '.join(_BIASES)}}}")
        if self.is_double:
            self._two_pairs(code, begin)
            return
        fractional, store, after = code.label(), code.label(), code.label()
        is_odd = self.filters % 2 == 1
        with code.repeat((self.filters + 1) // 2, "b" if is_odd else "bne"):
            code(begin, *([] if self.begins_early else ["ldmia lr!, {r2, r5}"]))
            self._multiply(code, end)
            self._round(code, _ZERO, fractional)
            code.place(store)
            if self.holds_ends:
                code("vmov r6, r7, d7")
                second, third = f"#{self.filters - 2}", f"#{2 * self.filters - 2}"
            else:
                code("ldmia r12, {r6-r9}")
                second, third = "r8", "r9"
            if is_odd:
                last = code.label()
                code("sub r7, r7, #1", "cmp r6, r7", f"beq {last}f")
            _join(code)
            code("strh r0, [r6], #2", f"strh r1, [r6, {second}]", f"strh r2, [r6, {third}]")
            code("vmov s14, r6" if self.holds_ends else "str r6, [r12]")
            if not is_odd:
                code("cmp r6, r7")
        if not is_odd:
            code(f"b {after}f")
        with code.rarely():
            code.place(fractional)
            self._round_exactly(code)
            code(f"b {store}b")
        if is_odd:
            code.place(last)
            code("strb r0, [r6], #2", "strb r1, [r6, r8]", "strb r2, [r6, r9]")
            code("add r7, r7, #1", "str r7, [r12]")
        code.place(after)

    @property
    def lead(self) -> int:
        """How far the pointers to the output (s14 and s15) are ahead of it."""
        return 2 if self.is_double else 0

    def _two_pairs(self, code: Assembly, begin: str) -> None:
        """As `assemble`. The path in floats is there once: s11 says where it came from."""
        fractional, after = code.label(), code.label()
        slow, store = [[code.label(), code.label()] for _ in range(2)]
        is_exact = all(None not in pair for pair in self._roundings)
        code(begin)
        with code.repeat(self.filters // 4):
            for pair, pointers, check in (
                (0, "r6, s14", "cmp r6, #0; beq"),
                (1, "r6, r7, d7", _ZERO),
            ):
                self._sums(code, self.unrolled, is_first=True, is_backward=pair == 1)
                self._round(code, "" if is_exact else check, slow[pair])
                code.place(store[pair])
                code(f"vmov {pointers}")
                _join(code)
                behind = 4 if pair else 2  # the pointer
                code("strh r0, [r6], #4" if pair else "strh r0, [r6, #-2]")
                code(f"strh r1, [r6, #{self.filters - behind}]")
                code(f"strh r2, [r6, #{2 * self.filters - behind}]")
            code("vmov s14, r6", "cmp r6, r7")
        code(f"add r12, r12, #{self.tile_bytes}")
        if is_exact:
            return
        code(f"b {after}f")
        with code.rarely():
            code.place(slow[1])
            code("mov r6, #1", f"b {fractional}f")
            code.place(slow[0])
            code.place(fractional)
            code("vmov s11, r6")
            self._round_exactly(code)
            code("vmov r6, s11", "cmp r6, #0", f"beq {store[0]}b", f"b {store[1]}b")
        code.place(after)

    def _round_exactly(self, code: Assembly) -> None:
        """As `_round`, where it has no integers."""
        if self.layer.fixed is None:
            round_in_float(code, self.layer.saturate)
            return
        if self.begins_early:
            code("vmov d0, r10, r11")
        round_twice(code, self.layer.saturate, (0, self.lanes_log2))
        if self.begins_early:
            code("vmov r10, r11, d0")

    def _multiply(self, code: Assembly, end: Sequence[str]) -> None:
        """The six sums of activations from r12 on; of the biases in r2 and r5."""
        if not self.has_loop:
            self._sums(code, self.unrolled, is_first=True)
            return
        if self.ahead:
            self._sums(code, self.ahead, is_first=True)
        else:
            code("mov r0, r2", "mov r1, r2", "mov r3, r5", "mov r4, r5")
        with code.repeat(self.rounds):
            self._sums(code, self.unrolled, is_first=False)
            code(*end)

    def _sums(self, code: Assembly, pairs: int, is_first: bool, is_backward: bool = False) -> None:
        """Of the first words the SMLADs take the biases for all three pixels."""
        if self.is_shared:
            for pair in range(pairs):
                if pair % 3 == 0:
                    code("ldmia r12!, {r6-r10}")
                code("ldr r11, [lr], #4")
                activations = _COLUMNS[pair % 3 : pair % 3 + 3]
                odd, even = ("r5", "r2") if is_first and not pair else ("", "")
                multiply_add(code, ODD, "r11", activations, odd)
                code("sxtb16 r11, r11")
                multiply_add(code, EVEN, "r11", activations, even)
            return
        sides = (EVEN, ODD) if self.is_wide else (ODD,)
        words = [(pair, sums) for pair in range(pairs) for sums in sides]
        # While two registers have the biases, the first word is where the last sum will be.
        held = ("r5", "r9") if is_first else _W
        at = 0
        while at < len(words):
            taken = words[at : at + len(held)]
            names = ", ".join(held[: len(taken)])
            code(f"ldmia lr!, {{{names}}}" if len(taken) > 1 else f"ldr {names}, [lr], #4")
            for word, (pair, sums) in zip(held, taken, strict=False):
                if sums is sides[0]:
                    code(f"{'ldmdb' if is_backward else 'ldmia'} r12!, {{r6-r8}}")
                even, odd = _BIASES if is_first and not pair else ("", "")
                if self.is_wide:
                    multiply_add(code, sums, word, _X, even if sums is EVEN else odd)
                    continue
                low = "r2" if odd else word
                if odd:
                    code(f"sxtb16 {low}, {word}")
                multiply_add(code, ODD, word, _X, odd)
                if not odd:
                    code(f"sxtb16 {low}, {word}")
                multiply_add(code, EVEN, low, _X, even)
            at, held = at + len(taken), _W

    def _round(self, code: Assembly, check: str, fractional: str) -> None:
        """The sums, and the end of the stream's part at lr, to six elements of the output. check:
        what goes to the label `fractional` where r6 is 0; empty where it never is."""
        if not self.is_wide:
            code(*(f"sub {o}, {o}, {e}" for o, e in zip(ODD, EVEN, strict=True)))
        code(f"ldmia lr!, {{r6-r{11 if self.begins_early else 9}}}")
        if check:
            code(*f"{check} {fractional}f".split("; "))
        for sums, scale, addend, by in (
            (EVEN, "r6", "r7", self.shift), (ODD, "r8", "r9", self.shift + self.lanes_log2),
        ):  # fmt: skip
            code(*(f"smmla {acc}, {acc}, {scale}, {addend}" for acc in sums))
            code(*(f"{self.layer.saturate} {acc}, #8, {acc}, asr #{by}" for acc in sums))


def _join(code: Assembly) -> None:
    """Elements of two filters for each pixel, to halfwords."""
    code(*(f"bfi {even}, {odd}, #8, #8" for even, odd in zip(EVEN, ODD, strict=True)))


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
        halves = pairs.swapaxes(1, 2).reshape(count, -1, 2)
    else:
        halves = (_LANES * odd + even).reshape(count, -1, 2)
    assert halves.min() >= -(2**15) and halves.max() < 2**15
    return ((halves[..., 0] & 0xFFFF) | (halves[..., 1] & 0xFFFF) << 16).astype(np.uint32)


def multiply_add(
    code: Assembly,
    sums: tuple[str, ...],
    word: str,
    activations: tuple[str, ...] = _X,
    start: str = "",
) -> None:
    """Two taps of three pixels to the sums of one filter or of two. start: what has the bias that
    they begin with."""
    code(
        *(
            f"smlad {acc}, {word}, {x}, {start or acc}"
            for acc, x in zip(sums, activations, strict=True)
        )
    )


def _bits(values: Array) -> list[int]:
    return [int(v) for v in np.asarray(values, np.float32).view(np.uint32)]
