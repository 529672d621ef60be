"""Some pixels times four filters in floats: a sum of vectors each, four filters in its lanes.

A vector of weights is loaded once for all pixels. Each is multiplied by a word of every pixel's
window, which is in a core register, and added with one rounding (VFMA): four products in two
cycles. Two words of a window are loaded at once. So the unit of the products waits for nothing from
three pixels on; of one pixel the vectors of weights are what takes the time, and several are taken
for each word. Weights of int8 become floats where they are loaded.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.floats.layers import BYTES, Product
from mcu_deploy.backends.floats.tiles import TileRun, divided
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve import float_weights
from mcu_deploy.backends.isa.mve.float_clamp import clamp
from mcu_deploy.backends.isa.mve.float_weights import LANES, VECTOR
from mcu_deploy.backends.isa.window_rows import FILTERS, OUTPUT
from mcu_deploy.backends.isa.window_tiles import Sums, TilePlan, WindowTiles

MOST_PIXELS = 5  # whose sums, windows and words find registers
_MOST_STRAIGHT = 16  # words of a run without a loop
_TURNS = (12, 10, 8)  # words in a turn of a loop
_VECTORS = 8


def plan_of(product: Product) -> TilePlan:
    count = -(-product.filters // product.groups // LANES)
    pixels = product.window.output[1]
    if pixels == 1:
        vectors = [4] * (count // 4) + [2] * (count % 4 // 2) + [1] * (count % 2)
        return TilePlan(product, (1,), tuple(vectors), LANES)
    taps = product.weights[0].size
    # About: loads of weights and words, products, and what is around a tile.
    cost = [max(2 * n, 2 + n / 2) * taps + 16 + 8 * n for n in range(MOST_PIXELS + 1)]
    return TilePlan(product, tuple(divided(pixels, MOST_PIXELS, cost)), (1,) * count, LANES)


class Tiles(WindowTiles):
    """The kernel: image, output, the stream of weights, scratch."""

    _filters_at_once = "four filters"

    def __init__(self, code: Assembly, plan: TilePlan) -> None:
        super().__init__(code, plan, Kind.VECTOR)
        pairs = 2 if max(plan.sizes) > 3 else 3
        self._words = [code.registers(f"word{n} next{n}") for n in range(pairs)]
        self._spare = self._words[0][0]
        self._vectors = [
            code.register(f"filters{n}", kind=Kind.VECTOR)
            for n in range(min(4, _VECTORS - self._held))
        ]  # fmt: skip
        self._has_bytes = plan.product.scales is not None
        self._next = self._next_pair = 0

    def _begin(self, sums: Sums) -> None:
        for first in sums[0]:
            float_weights.begin(self._code, first, self._weights, has_bytes=self._has_bytes)

    def _run(self, run: TileRun, words: int, sums: Sums) -> None:
        if words <= _MOST_STRAIGHT:
            self._straight(run, words, sums)
            return
        turn = min(_TURNS, key=lambda n: words % n)
        with self._code.counted(words // turn, words // turn):
            self._straight(run, turn, sums)
        self._straight(run, words % turn, sums)

    def _straight(self, run: TileRun, words: int, sums: Sums) -> None:
        """So many words of each window, two at a time."""
        code, count = self._code, len(sums[0])
        for first in range(0, words, 2):
            both = range(min(2, words - first))
            # Of one vector a word those of both words are loaded first.
            early = [[self._vector()] for _ in both] if count == 1 else []
            for at_once in range(0, len(run.pixels), 2):
                pixels = run.pixels[at_once : at_once + 2]
                held = [self._pair() for _ in pixels]
                for pixel, pair in zip(pixels, held, strict=True):
                    at = self._windows[pixel]
                    if len(both) == 2:
                        code.ldrd(*pair, at.after(2 * BYTES))
                    else:
                        code.ldr(pair[0], at.after(BYTES))
                for n in both:
                    of = early[n] if early else [self._vector() for _ in range(count)]
                    for pixel, pair in zip(pixels, held, strict=True):
                        for sum_, filters in zip(sums[pixel], of, strict=True):
                            code.vfma_f32(sum_, filters, pair[n])

    def _vector(self) -> Register:
        """The next filters' weights."""
        into = self._vectors[self._next % len(self._vectors)]
        self._next += 1
        float_weights.load(self._code, into, self._weights, has_bytes=self._has_bytes)
        return into

    def _pair(self) -> Sequence[Register]:
        self._next_pair += 1
        return self._words[self._next_pair % len(self._words)]

    def _end(self, sums: Sums, filters: int, has_counter: bool) -> None:
        code, frame, product, free = self._code, self._frame, self._product, self._free
        all_ = [sum_ for of in sums for sum_ in of]
        if self._has_bytes:
            for of_filters in zip(*sums, strict=True):
                float_weights.scale(code, of_filters, self._weights, self._vectors[0])
        clamp(code, product.clamp, all_, self._vectors[0], self._left)
        begin, out, left = self._words[0][0], self._words[0][1], self._words[1][0]
        rest = filters % LANES
        last = len(sums[0]) - 1
        if has_counter:
            code.ldr(left, frame[FILTERS])
        elif rest:
            code.mov(left, rest)
        if rest:
            if has_counter and last:
                code.sub(self._left, left, LANES * last)
                code.vctp_32(self._left)
            else:
                code.vctp_32(left)
        code.ldr(begin, frame[OUTPUT])
        code.mov(out, begin)
        for pixel, of in enumerate(sums):
            if pixel:
                code.offset(out, product.filters * BYTES, free)
            for n, sum_ in enumerate(of):
                if rest and n == last:
                    code.vpst()
                    code.vstrwt_32(sum_, out[VECTOR * n])
                else:
                    code.vstrw_32(sum_, out[VECTOR * n])
        code.add(begin, begin, VECTOR * len(sums[0]))
        code.str(begin, frame[OUTPUT])
        if has_counter:
            code.subs(left, left, LANES * len(sums[0]))
            code.str(left, frame[FILTERS])
