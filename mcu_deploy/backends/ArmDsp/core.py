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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.layers import Convolution
from mcu_deploy.backends.ArmDsp.requantization import LARGEST_SHIFT, accumulate, shift_of
from mcu_deploy.backends.isa import Assembly

_LANES = 256  # of the odd filter's accumulator, where the weights are narrow
EVEN, ODD = ("r0", "r1", "r2"), ("r3", "r4", "r5")
_X, _W = ("r6", "r7", "r8"), ("r9", "r10", "r11")
_COLUMNS = (*_X, "r9", "r10")
# So many pairs of taps are unrolled at most; more of them are a loop.
_MOST_UNROLLED, _LEAST_UNROLLED = 40, 16
_MOST_SHARED = 12  # times three
_COMMON = 8  # in code of no count of taps
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
    def constant_bytes(self) -> int:
        """Of each two filters two biases, the weights, two scales and two addends."""
        in_group = (self.filters + 1) // 2
        return self.layer.groups * in_group * (24 + 4 * self.pairs * (2 if self.is_wide else 1))

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

    def pack(self) -> Array:
        """The stream of words that the kernel reads, two filters after two: both biases, the
        weights, and scale and addend of both. Two of which one has no integer scale have 0 there,
        then two float32 factors and the zero point, or what `round_twice` takes."""
        layer, shift = self.layer, self.shift
        zero = layer.zero_points[1]
        stream = []
        for index, taps in enumerate(words(*self._filters(), self.is_wide)):
            group, place = divmod(index, (self.filters + 1) // 2)
            even = group * self.filters + 2 * place
            odd, is_pair = even + 1, 2 * place + 1 < self.filters
            first = accumulate(layer.channel(even), 1, shift)
            second: tuple[int, int, int] | None = (1, 0, 0)
            bias, factor = 0, np.float32(0)
            if is_pair:
                second = accumulate(layer.channel(odd), self.lanes, shift + self.lanes_log2)
                bias, factor = int(layer.bias[odd]), layer.factors[odd]
            moves = [0, 0]
            if first is not None and second is not None:
                moves = [first[2], second[2]]
                ends = [*first[:2], *second[:2]]
            else:
                factors = np.array([layer.factors[even], factor / np.float32(self.lanes)])
                ends = [0, *_bits(factors), zero]
                if layer.fixed is not None:
                    pairs = [layer.fixed[min(n, len(layer.fixed) - 1)] for n in (even, odd)]
                    (m, by), (n, odd_by) = pairs
                    ends = [0, int(m), int(n), -int(by) | -int(odd_by) << 8 | zero << 16]
            begin = int(layer.bias[even]) + moves[0]
            start = self.lanes * bias + moves[1] + (0 if self.is_wide else begin)
            stream.append([begin, start, *taps.tolist(), *ends])
        return (np.array(stream, np.int64).reshape(-1) & 0xFFFFFFFF).astype(np.uint32)

    def assemble(self, code: Assembly, begin: str, end: Sequence[str] = ()) -> None:
        """A tile: all filters for three pixels, by the stream from lr on.

        begin: what gives r12 the tile's activations, behind which it finds `STATE`; there it is
        afterwards. end: what compares r12 with the address behind the activations, and may use r6.
        """
        fractional, store, after = code.label(), code.label(), code.label()
        with code.repeat((self.filters + 1) // 2):
            code(begin, "ldmia lr!, {r2, r5}")
            self._multiply(code, end)
            self._round(code, fractional)
            code.place(store)
            if self.holds_ends:
                code("vmov r6, r7, d7")
                second, third = f"#{self.filters - 2}", f"#{2 * self.filters - 2}"
            else:
                code("ldmia r12, {r6-r9}")
                second, third = "r8", "r9"
            if self.filters % 2:
                last = code.label()
                code("add r10, r6, #1", "cmp r10, r7", f"beq {last}f")
            code(*(f"bfi {even}, {odd}, #8, #8" for even, odd in zip(EVEN, ODD, strict=True)))
            code("strh r0, [r6], #2", f"strh r1, [r6, {second}]", f"strh r2, [r6, {third}]")
            code("vmov s14, r6" if self.holds_ends else "str r6, [r12]", "cmp r6, r7")
        code(f"b {after}f")
        with code.rarely():
            code.place(fractional)
            if self.layer.fixed is None:
                round_in_float(code, self.layer.saturate)
            else:
                round_twice(code, self.layer.saturate, (0, self.lanes_log2))
            code(f"b {store}b")
        if self.filters % 2:
            code.place(last)
            code("strb r0, [r6], #2", "strb r1, [r6, r8]", "strb r2, [r6, r9]")
            code("str r7, [r12]")
        code.place(after)

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

    def _sums(self, code: Assembly, pairs: int, is_first: bool) -> None:
        """Of the first words the SMLADs take the biases for all three pixels."""
        if self.is_shared:
            for pair in range(pairs):
                if pair % 3 == 0:
                    code("ldmia r12!, {r6-r10}")
                code("ldr r11, [lr], #4")
                activations = _COLUMNS[pair % 3 : pair % 3 + 3]
                multiply_add(code, ODD, "r11", activations, is_first and not pair)
                code("sxtb16 r11, r11")
                multiply_add(code, EVEN, "r11", activations, is_first and not pair)
            return
        sides = (EVEN, ODD) if self.is_wide else (ODD,)
        words = [(pair, sums) for pair in range(pairs) for sums in sides]
        for first in range(0, len(words), 3):
            taken = words[first : first + 3]
            names = ", ".join(_W[: len(taken)])
            code(f"ldmia lr!, {{{names}}}" if len(taken) > 1 else f"ldr {names}, [lr], #4")
            for word, (pair, sums) in zip(_W, taken, strict=False):
                if sums is sides[0]:
                    code("ldmia r12!, {r6-r8}")
                multiply_add(code, sums, word, _X, is_first and not pair)
                if not self.is_wide:
                    code(f"sxtb16 {word}, {word}")
                    multiply_add(code, EVEN, word, _X, is_first and not pair)

    def _round(self, code: Assembly, fractional: str) -> None:
        """The sums, and the end of the stream's part at lr, to six elements of the output."""
        if not self.is_wide:
            code(*(f"sub {o}, {o}, {e}" for o, e in zip(ODD, EVEN, strict=True)))
        code("ldmia lr!, {r6-r9}", f"cbz r6, {fractional}f")
        for sums, scale, addend, by in (
            (EVEN, "r6", "r7", self.shift), (ODD, "r8", "r9", self.shift + self.lanes_log2),
        ):  # fmt: skip
            code(*(f"smmla {acc}, {acc}, {scale}, {addend}" for acc in sums))
            code(*(f"{self.layer.saturate} {acc}, #8, {acc}, asr #{by}" for acc in sums))


def shift(layer: Convolution) -> int:
    """Of a layer's filters. Factors that are too large for it, or too small, are floats."""
    most = _SHIFT if layer.factors.max() > _LEAST_FACTOR else LARGEST_SHIFT - 8
    return min(max(0, shift_of(layer.factors)), most)


def round_in_float(code: Assembly, saturate: str, free: int = 0) -> None:
    """Six sums to elements as ONNX does: r7 and r8 are even and odd filters' float32 factors, r9 is
    the zero point. The two d registers from `free` on are lost."""
    first = 2 * free
    for sums, factor in ((EVEN, "r7"), (ODD, "r8")):
        code(f"vmov d{free}, {sums[0]}, {sums[1]}", f"vmov d{free + 1}, {sums[2]}, {factor}")
        code(*(f"vcvt.f32.s32 s{n}, s{n}" for n in range(first, first + 3)))
        code(*(f"vmul.f32 s{n}, s{n}, s{first + 3}" for n in range(first, first + 3)))
        code(*(f"vcvtr.s32.f32 s{n}, s{n}" for n in range(first, first + 3)))
        code(f"vmov {sums[0]}, {sums[1]}, d{free}", f"vmov {sums[2]}, s{first + 2}")
    for acc in (*EVEN, *ODD):
        code(f"qadd {acc}, {acc}, r9", f"{saturate} {acc}, #8, {acc}")


def round_twice(code: Assembly, saturate: str, lanes_log2: tuple[int, int]) -> None:
    """Six sums to elements as TFLite does: r7 and r8 are multipliers; r9 has their shifts in its
    lower bytes, and the zero point in its upper half. The high word of twice the sum times the
    multiplier is rounded with ties up, the shift with ties away from zero: that is with ties up of
    one less where it is negative. The last bit that a shift drops is the carry. A shift of 0 leaves
    the carry, which CMP has cleared then, and all else as it is.

    lanes_log2: of what even and odd filters' accumulators are a multiple.
    """
    code("asr r10, r9, #16")
    for sums, by, scale in zip((EVEN, ODD), lanes_log2, ("r7", "r8"), strict=True):
        twice = "lsl #1" if by == 0 else f"asr #{by - 1}"
        code("uxtb r6, r9" if sums is EVEN else "ubfx r6, r9, #8, #8")
        for acc in sums:
            code("cmp r6, #1", f"mov r11, {acc}, {twice}", f"smmulr r11, r11, {scale}")
            code("it hs", f"addhs r11, r11, {acc}, asr #31", f"asrs {acc}, r11, r6")
            code(f"adc {acc}, {acc}, r10", f"{saturate} {acc}, #8, {acc}")


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
    is_first: bool = False,
) -> None:
    """Two taps of three pixels to the sums of one filter or of two."""
    code(
        *(
            f"smlad {acc}, {word}, {x}, {sums[2] if is_first else acc}"
            for acc, x in zip(sums, activations, strict=True)
        )
    )


def _bits(values: Array) -> list[int]:
    return [int(v) for v in np.asarray(values, np.float32).view(np.uint32)]
