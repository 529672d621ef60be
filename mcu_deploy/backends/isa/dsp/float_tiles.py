"""Some pixels times some filters in floats of a scalar FPU: a sum in an S register each.

Of each word of the windows, which is an input channel of a pixel, a tile loads what the pixels have
there and the weights of its filters, which come in the order in which they are read, and takes each
for all of the others.

A product is rounded before it is added, as in C, or it is fused with the sum (VFMA). Of the first
kind are cores that issue one instruction at a time: words come in lists, and what is multiplied is
added two instructions later. Where products are fused, each word is loaded by itself, beside one.

Weights of int8 become floats where they are loaded, once for all pixels of a tile.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from mcu_deploy.backends.floats.layers import BYTES, Product
from mcu_deploy.backends.floats.tiles import TileRun, tiles
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp import float_bytes
from mcu_deploy.backends.isa.dsp.float_clamp import clamp
from mcu_deploy.backends.isa.window_rows import FILTERS, OUTPUT
from mcu_deploy.backends.isa.window_tiles import Sums, TilePlan, WindowTiles

_REGISTERS = 32
_MOST_PIXELS, _MOST_FILTERS = 4, 16
_TOGETHER = 2  # words of a window that are loaded at once
_LONGEST_LIST = 8  # of weights
_PRODUCTS = 2  # that are not added yet
_MOST_WEIGHTS = 12  # that fused products have registers for
_MOST_STRAIGHT = 4  # words of a run without a loop
_TURNS = (4, 3, 2)  # words in a turn of a loop
_REACH = 1020  # bytes from a base
# Cycles, about: of a tile, of some filters of it, of each of their sums, of a bound, of a row of
# the windows, of a turn. Code of another tile counts as so much more time.
_TILE, _FILTERS, _SUM, _BOUND, _ROW, _TURN, _KIND = 24, 24, 4, 4, 14, 4, 0.01
_CONVERTED = 2, 1.5  # of a weight that is a byte, beside loading it, if not fused and if it is


def plan_of(product: Product, *, is_fused: bool) -> TilePlan:
    """Pixels and filters that take least, about."""
    found = []
    for pixels in range(1, min(_MOST_PIXELS, product.window.output[1]) + 1):
        for filters in range(1, min(_MOST_FILTERS, product.filters // product.groups) + 1):
            if _held(product, pixels, filters, is_fused) > _REGISTERS:
                continue
            sizes = _parts(product.window.output[1], pixels)
            vectors = _parts(product.filters // product.groups, filters)
            plan = TilePlan(product, sizes, vectors, 1)
            found.append((_cost(plan, is_fused), plan))
    return min(found, key=lambda one: one[0])[1]


def _parts(whole: int, part: int) -> tuple[int, ...]:
    return (part,) * (whole // part) + (whole % part,) * (whole % part > 0)


def _held(product: Product, pixels: int, filters: int, is_fused: bool) -> int:
    """S registers."""
    others = sum(_others(product, filters, is_fused))
    return pixels * filters + _TOGETHER * pixels + others


def _others(product: Product, filters: int, is_fused: bool) -> tuple[int, int]:
    """Registers of weights, at least, and of products."""
    has_bytes = product.scales is not None
    if is_fused:
        return 4 if has_bytes else 2, 0
    weights = _list_of(filters)
    return weights + weights % 2 * has_bytes, _PRODUCTS


def _list_of(filters: int) -> int:
    """Weights of a word that are loaded at once: of several lists about as many each."""
    return -(-filters // -(-filters // _LONGEST_LIST))


def _cost(plan: TilePlan, is_fused: bool) -> float:
    product = plan.product
    words = product.weights[0].size
    bounds = sum(map(math.isfinite, product.clamp))
    total = 0.0
    for pixels in plan.sizes:
        total += _TILE
        for filters in plan.vectors:
            sums = pixels * filters
            converted = 0.0 if product.scales is None else _CONVERTED[is_fused] * filters
            if is_fused:
                word = max(sums + converted, pixels + filters) + 2.0
            else:
                lists = -(-filters // _list_of(filters))
                word = 2 * sums + filters + converted + lists + pixels * (1 + 1 / _TOGETHER)
            total += words * (word + _TURN / _TURNS[0]) + sums * (_SUM + _BOUND * bounds)
            total += _FILTERS + _ROW * product.window.kernel[0]
    joins = product.depth == product.channels
    kinds = len(tiles(product.window, product.channels, plan.sizes, joins=joins))
    return total * (1 + _KIND * kinds * len({*plan.vectors}))


class FloatTiles(WindowTiles):
    """The kernel: image, output, the stream of weights, scratch. is_fused: whether products are
    not rounded."""

    _filters_at_once = "some filters"

    def __init__(self, code: Assembly, plan: TilePlan, *, is_fused: bool) -> None:
        super().__init__(code, plan, Kind.SINGLE)
        self._is_fused = is_fused
        self._has_bytes = plan.product.scales is not None
        if not is_fused and not self._has_bytes:
            self._read_bytes = BYTES * max(map(_list_of, plan.vectors))
        pixels = max(plan.sizes)
        self._images = [
            code.registers(f"x{n}_0 x{n}_1", kind=Kind.SINGLE) for n in range(pixels)
        ]  # fmt: skip
        weights, products = (max(of) for of in zip(*[
            _others(plan.product, filters, is_fused) for filters in plan.vectors
        ], strict=True))  # fmt: skip
        if is_fused:
            weights = min(_MOST_WEIGHTS, _REGISTERS - self._held - _TOGETHER * pixels)
        self._pairs = float_bytes.pairs(code, "weights", weights)
        self._filters_held = [half for pair in self._pairs for half in pair.halves][:weights]
        self._products = self._singles("product", products)
        self._spare, self._turns = code.registers("out turns_left")
        self._bytes = code.registers(" ".join(f"byte{n}" for n in range(float_bytes.TOGETHER)))
        self._next_product = self._next_weight = 0

    def _singles(self, name: str, count: int) -> list[Register]:
        names = " ".join(f"{name}{n}" for n in range(count))
        return self._code.registers(names, kind=Kind.SINGLE)

    def _begin(self, sums: Sums) -> None:
        if self._has_bytes:
            float_bytes.clear(self._code, sums[0], self._free)
        else:
            self._code.vldmia(self._weights.moving, [*sums[0]])

    def _run(self, run: TileRun, words: int, sums: Sums) -> None:
        code = self._code
        if words <= _MOST_STRAIGHT:
            self._straight(run, words, sums)
            return
        turn = min(_TURNS, key=lambda n: words % n)
        code.number(self._turns, words // turn)
        with code.repeat(words // turn):
            self._straight(run, turn, sums)
            code.subs(self._turns, self._turns, 1)
        self._straight(run, words % turn, sums)

    def _straight(self, run: TileRun, words: int, sums: Sums) -> None:
        """So many words of each window."""
        if not words:
            return
        if self._is_fused:
            self._fused(run, words, sums)
            return
        code = self._code
        waiting: tuple[Register, Register] | None = None
        for word in range(words):
            if word % _TOGETHER == 0:
                both = min(_TOGETHER, words - word)
                for pixel in run.pixels:
                    code.vldmia(self._windows[pixel].moving, [*self._images[pixel][:both]])
            count = len(sums[0])
            length = _list_of(count)
            for first in range(0, count, length):
                held = self._filters_held[: min(length, count - first)]
                if self._has_bytes:
                    at = word * count + first
                    load = float_bytes.load
                    load(code, self._pairs, len(held), self._weights, at, self._bytes)
                else:
                    code.vldmia(self._weights.moving, [*held])
                for pixel in run.pixels:
                    for n, weight in enumerate(held, first):
                        product = self._products[self._next_product % _PRODUCTS]
                        self._next_product += 1
                        code.vmul_f32(product, self._images[pixel][word % _TOGETHER], weight)
                        if waiting is not None:
                            code.vadd_f32(waiting[0], waiting[0], waiting[1])
                        waiting = sums[pixel][n], product
        if waiting is not None:
            code.vadd_f32(waiting[0], waiting[0], waiting[1])
        if self._has_bytes:
            code.add(self._weights, self._weights, words * len(sums[0]))

    def _fused(self, run: TileRun, words: int, sums: Sums) -> None:
        code, count = self._code, len(sums[0])
        together = 2 if self._has_bytes else 1
        groups = [
            range(word * count + first, word * count + min(first + together, count))
            for word in range(words) for first in range(0, count, together)
        ]  # fmt: skip
        ready = self._converted(groups) if self._has_bytes else self._loaded(groups)
        images: dict[int, Register] = {}
        for group, weights in zip(groups, ready, strict=True):
            word, first = divmod(group[0], count)
            if not first:
                images = {pixel: self._images[pixel][word % _TOGETHER] for pixel in run.pixels}
                for pixel, image in images.items():
                    code.vldr(image, self._windows[pixel][BYTES * word])
            for n, weight in enumerate(weights, first):
                for pixel, image in images.items():
                    code.vfma_f32(sums[pixel][n], image, weight)
        for pixel in run.pixels:
            code.add(self._windows[pixel], self._windows[pixel], BYTES * words)
        size = self._product.weights.itemsize
        code.add(self._weights, self._weights, size * words * count)

    def _loaded(self, groups: Sequence[range]) -> Iterator[Sequence[Register]]:
        """Of each group its weight, which is loaded when it is asked for."""
        for (at,) in groups:
            weight = self._filters_held[self._next_weight % len(self._filters_held)]
            self._next_weight += 1
            self._code.vldr(weight, self._weights[BYTES * at])
            yield [weight]

    def _converted(self, groups: Sequence[range]) -> Iterator[Sequence[Register]]:
        """Of each group its one or two weights. When they are asked for, those of the next group
        become floats, and those of the one behind it are fetched."""
        bytes_ = [self._bytes[n % 2 * 2 :][: len(group)] for n, group in enumerate(groups)]
        pairs = [self._pairs[n % len(self._pairs)] for n in range(len(groups))]

        def fetch(n: int) -> None:
            if n < len(groups):
                float_bytes.fetch(self._code, bytes_[n], self._weights, groups[n][0])

        def convert(n: int) -> None:
            if n < len(groups):
                float_bytes.convert(self._code, [pairs[n]], bytes_[n])

        fetch(0)
        convert(0)
        fetch(1)
        for n, group in enumerate(groups):
            convert(n + 1)
            fetch(n + 2)
            yield pairs[n].halves[: len(group)]

    def _end(self, sums: Sums, filters: int, has_counter: bool) -> None:
        code, frame, free = self._code, self._frame, self._free
        if self._has_bytes:
            taps = self._product.weights[0].size
            float_bytes.scale(code, sums, taps, self._weights, self._images[0])
        clamp(code, self._product.clamp, [one for of in sums for one in of], free)
        begin, out, count = self._spare, self._left, len(sums[0])
        code.ldr(begin, frame[OUTPUT])
        at: Register = begin
        ahead = 0
        for pixel, of in enumerate(sums):
            place = pixel * self._product.filters * BYTES
            if place + count * BYTES - ahead > _REACH:
                code.offset(out, place - ahead, free, at)
                at, ahead = out, place
            for n, one in enumerate(of):
                code.vstr(one, at[place - ahead + BYTES * n])
        code.add(begin, begin, BYTES * count)
        code.str(begin, frame[OUTPUT])
        if has_counter:
            code.ldr(out, frame[FILTERS])
            code.subs(out, out, count)
            code.str(out, frame[FILTERS])
