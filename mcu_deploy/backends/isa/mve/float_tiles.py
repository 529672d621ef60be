"""Some pixels times four filters in floats: a sum of vectors each, four filters in its lanes.

A vector of weights is loaded once for all pixels. Each is multiplied by a word of every pixel's
window, which is in a core register, and added with one rounding (VFMA): four products in two
cycles. Two words of a window are loaded at once. So the unit of the products waits for nothing from
three pixels on; of one pixel the vectors of weights are what takes the time, and several are taken
for each word.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from mcu_deploy.backends.floats.layers import BYTES, Product
from mcu_deploy.backends.floats.tiles import Tile, TileRun, demand, divided, tiles
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve.float_clamp import clamp
from mcu_deploy.backends.isa.window_rows import (
    BACK,
    BEHIND,
    FILTERS,
    GROUPS,
    IMAGE,
    INSIDE,
    OUTPUT,
    SKIPPED,
    STREAM,
    TILES,
    Rows,
)

LANES, VECTOR = 4, 16
MOST_PIXELS = 5  # whose sums, windows and words find registers
_MOST_STRAIGHT = 16  # words of a run without a loop
_TURNS = (12, 10, 8)  # words in a turn of a loop
_VECTORS = 8


@dataclass(frozen=True)
class TilePlan:
    """sizes: of a row's tiles; vectors: of filters of a group at a time, how many."""

    product: Product
    sizes: tuple[int, ...]
    vectors: tuple[int, ...]

    @classmethod
    def of(cls, product: Product) -> TilePlan:
        count = -(-product.filters // product.groups // LANES)
        pixels = product.window.output[1]
        if pixels == 1:
            vectors = [4] * (count // 4) + [2] * (count % 4 // 2) + [1] * (count % 2)
            return cls(product, (1,), tuple(vectors))
        taps = product.weights[0].size
        # About: loads of weights and words, products, and what is around a tile.
        cost = [max(2 * n, 2 + n / 2) * taps + 16 + 8 * n for n in range(MOST_PIXELS + 1)]
        return cls(product, tuple(divided(pixels, MOST_PIXELS, cost)), (1,) * count)

    @property
    def demand(self) -> int:
        """How far behind the image the output may follow (`InPlace`)."""
        product = self.product
        of_group = product.filters // product.groups
        behind = [min(LANES * written, of_group) for written in itertools.accumulate(self.vectors)]
        steps = [
            (group * of_group + end, group * product.depth)
            for group in range(product.groups) for end in behind
        ]  # fmt: skip
        return demand(product.window, product.channels, self.sizes, steps)

    @property
    def stream_bytes(self) -> int:
        """Of the packed weights and biases."""
        product = self.product
        return (1 + int(product.weights[0].size)) * VECTOR * sum(self.vectors) * product.groups


class Tiles:
    """The kernel: image, output, the stream of weights, scratch."""

    def __init__(self, code: Assembly, plan: TilePlan) -> None:
        self._code, self._plan, self._product = code, plan, plan.product
        product = plan.product
        row = product.weights[0, :, 0].size * VECTOR
        self._rows = Rows(code, product.window, product.channels, row)
        self._frame, self._free = self._rows.frame, self._rows.free
        most = max(plan.sizes)
        self._windows = code.registers(" ".join(f"window{n}" for n in range(most)))
        self._weights = code.register("weights_at", region="weights")
        self._left = code.register("rows_left")
        pairs = 2 if most > 3 else 3
        self._words = [code.registers(f"word{n} next{n}") for n in range(pairs)]
        held = max(size * count for size in plan.sizes for count in plan.vectors)
        names = " ".join(f"sum{n}" for n in range(held))
        self._sums = code.registers(names, kind=Kind.VECTOR)
        self._vectors = [
            code.register(f"filters{n}", kind=Kind.VECTOR) for n in range(min(4, _VECTORS - held))
        ]  # fmt: skip
        self._next = self._next_pair = 0
        self._ahead = [0] * most  # of each window's register, behind its row's begin

    def assemble(self) -> None:
        code = self._code
        x, y, weights, scratch = code.arguments("x y weights scratch")
        with self._rows.each(x, y, weights, scratch):
            product = self._product
            joins = product.depth == product.channels
            sizes = self._plan.sizes
            for tile, count in tiles(product.window, product.channels, sizes, joins=joins):
                with self._rows.counted(TILES, count):
                    self._tile(tile)

    def _tile(self, tile: Tile) -> None:
        code, frame, product, free = self._code, self._frame, self._product, self._free
        code.note(f"{tile.pixels} pixels, four filters at a time.")
        windows = self._windows[: tile.pixels]
        code.ldr(windows[0], frame[IMAGE])
        for one, other in itertools.pairwise(windows):
            code.offset(other, self._rows.step, free, one)
        code.offset(free, self._rows.step, self._left, windows[-1])
        code.str(free, frame[IMAGE])
        code.ldr(self._weights, frame[STREAM])
        code.reads(self._plan.stream_bytes)
        self._ahead = [0] * len(self._ahead)
        of_group = product.filters // product.groups
        with self._rows.counted(GROUPS, product.groups):
            left = of_group
            for vectors, same in itertools.groupby(self._plan.vectors):
                count = len([*same])
                filters = min(left, LANES * vectors * count)
                left -= filters
                with self._each(filters, count) as counter:
                    self._filters(tile, vectors, filters, counter)
            # Behind what was written: lanes that are no filters, and other pixels.
            behind = of_group - LANES * sum(self._plan.vectors)
            if product.groups > 1:
                for window in windows:
                    code.offset(window, product.depth * BYTES, free)
                self._output_goes_on(behind)
                behind = 0
        self._output_goes_on(behind + (tile.pixels - 1) * product.filters)

    def _output_goes_on(self, elements: int) -> None:
        code, out = self._code, self._words[0][0]
        if elements:
            code.ldr(out, self._frame[OUTPUT])
            code.offset(out, elements * BYTES, self._free)
            code.str(out, self._frame[OUTPUT])

    @contextmanager
    def _each(self, filters: int, count: int) -> Iterator[bool]:
        """Vectors of filters one after the other; whether their number is in the scratch."""
        code, free = self._code, self._free
        if count == 1:
            yield False
            return
        code.number(free, filters)
        code.str(free, self._frame[FILTERS])
        with code.repeat(count, "bgt"):
            yield True

    def _filters(self, tile: Tile, vectors: int, filters: int, has_counter: bool) -> None:
        """So many vectors of filters, of so many filters that are left or will be."""
        code, frame, window, free = self._code, self._frame, self._product.window, self._free
        sums = [
            self._sums[vectors * n : vectors * (n + 1)] for n in range(tile.pixels)
        ]  # fmt: skip
        for first in sums[0]:
            code.vldrw_u32(first, self._weights.after(VECTOR))
        for others in sums[1:]:
            for other, first in zip(others, sums[0], strict=True):
                code.vmov(other, first)
        by = vectors.bit_length() - 1
        if self._rows.is_cut:
            code.ldr(free, frame[SKIPPED])
            code.add(self._weights, self._weights, free.lsl(by) if by else free)
        rows, done = window.kernel[0], code.label()
        may_be_none, is_loop = self._rows.may_be_none, rows > 1
        if self._rows.is_cut:
            code.ldr(self._left, frame[INSIDE])
            if may_be_none:
                code.cmp(self._left, 0)
                code.beq(done)
        elif is_loop:
            code.number(self._left, rows)
        with code.repeat(self._rows.average) if is_loop else nullcontext():
            self._row(tile, sums)
            for n in range(tile.pixels):
                self._to(n, self._rows.down if is_loop or self._rows.is_cut else 0)
                self._ahead[n] = 0
            if is_loop:
                code.subs(self._left, self._left, 1)
        if may_be_none:
            code.place(done)
        if self._rows.is_cut:
            code.ldr(free, frame[BEHIND])
            code.add(self._weights, self._weights, free.lsl(by) if by else free)
            code.ldr(free, frame[BACK])
            for at in self._windows[: tile.pixels]:
                code.sub(at, at, free)
        elif is_loop:
            code.number(free, rows * self._rows.down)
            for at in self._windows[: tile.pixels]:
                code.sub(at, at, free)
        self._end(sums, filters, has_counter)

    def _to(self, pixel: int, at: int) -> None:
        """A window's register goes so many bytes behind its row's begin."""
        self._code.offset(self._windows[pixel], at - self._ahead[pixel], self._free)
        self._ahead[pixel] = at

    def _row(self, tile: Tile, sums: Sequence[Sequence[Register]]) -> None:
        """A row of the windows."""
        code, depth, vectors = self._code, self._product.depth, len(sums[0])
        met = 0  # words of the row whose weights are behind
        for run in tile.runs:
            if run.tap * depth > met:
                code.offset(
                    self._weights, (run.tap * depth - met) * VECTOR * vectors, self._free
                )  # fmt: skip
            words = run.taps * depth
            met = run.tap * depth + words
            for pixel in run.pixels:
                self._to(pixel, run.at)
            self._run(run, words, sums)
            for pixel in run.pixels:
                self._ahead[pixel] += words * BYTES
        left = self._product.window.kernel[1] * depth - met
        if left:
            code.offset(self._weights, left * VECTOR * vectors, self._free)

    def _run(self, run: TileRun, words: int, sums: Sequence[Sequence[Register]]) -> None:
        if words <= _MOST_STRAIGHT:
            self._straight(run, words, sums)
            return
        turn = min(_TURNS, key=lambda n: words % n)
        with self._code.counted(words // turn, words // turn):
            self._straight(run, turn, sums)
        self._straight(run, words % turn, sums)

    def _straight(self, run: TileRun, words: int, sums: Sequence[Sequence[Register]]) -> None:
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
        self._code.vldrw_u32(into, self._weights.after(VECTOR))
        return into

    def _pair(self) -> Sequence[Register]:
        self._next_pair += 1
        return self._words[self._next_pair % len(self._words)]

    def _end(
        self, sums: Sequence[Sequence[Register]], filters: int, has_counter: bool
    ) -> None:  # fmt: skip
        """Clamps the sums and stores them, and counts their filters."""
        code, frame, product, free = self._code, self._frame, self._product, self._free
        all_ = [sum_ for of in sums for sum_ in of]
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
