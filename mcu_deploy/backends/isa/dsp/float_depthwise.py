"""Windows of one channel each in floats of a scalar FPU: depthwise convolutions.

Sums are S registers, of two channels (isa/window_channels.py); so are the weights of some columns
of the kernel. Of an odd number of channels the last two are computed together with the ones before,
so the last but one twice.

A product is rounded before it is added, as in C, or it is fused with the sum (VFMA): cores differ
in what takes longer. Weights of int8 become floats where they are loaded.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.floats.layers import BYTES, Product
from mcu_deploy.backends.floats.tiles import Tile, block_bytes, divided, of_bytes
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp import float_bytes
from mcu_deploy.backends.isa.dsp.float_clamp import clamp
from mcu_deploy.backends.isa.window_channels import WindowChannels, column
from mcu_deploy.operators.windows import Window

LANES = 2  # channels of a tile
_STEP = LANES * BYTES
_REACH = 1020  # bytes from a base
_MOST_PIXELS = 9
_MOST_COLUMNS = 12  # of sums and weights together
_IMAGES, _PRODUCTS = 2, 4  # columns of the image, and products that are not added yet
# Cycles, about, of a tile beside its windows' rows, and of one of these beside loads and products.
_TILE, _PIXEL, _ROW = 20, 10, 7


def firsts(channels: int) -> list[int]:
    """The first channel of each two."""
    return [*range(0, channels - 1, LANES), *([channels - LANES] if channels % LANES else [])]


def packed(product: Product) -> Array:
    """The stream: float32, of each two channels the biases, and the weights of each row and column
    of the window; of weights of bytes `of_bytes`."""
    taps = product.weights.reshape(product.channels, -1)
    if product.scales is not None:
        pairs = firsts(product.channels)
        return np.concatenate([of_bytes(product, taps.T, slice(n, n + LANES)) for n in pairs])
    lines = np.concatenate([product.bias[:, None], taps], 1)
    found = [lines[n : n + LANES].T.reshape(-1) for n in firsts(product.channels)]
    return np.concatenate(found).astype(np.float32)


class FloatDepthwise(WindowChannels):
    """The kernel of such a convolution. is_fused: whether products are not rounded."""

    lanes, said = LANES, "two channels"

    def __init__(self, code: Assembly, product: Product, *, is_fused: bool) -> None:
        self._product, self._is_fused = product, is_fused
        self._has_bytes = product.scales is not None
        self._tap_bytes = LANES * product.weights.itemsize
        window, sizes = product.window, _sizes(product.window, is_fused)
        super().__init__(code, window, product.channels, sizes, "pairs_left", self._tap_bytes)
        pixels = max(sizes)
        self._held = _together(window, pixels)
        self._sums = self._singles("sum", pixels)
        self._pairs = float_bytes.pairs(code, "weights", LANES * self._held)
        self._weights = [pair.halves for pair in self._pairs]
        self._images = self._singles("column", _IMAGES)
        self._bytes = code.registers("byte0 byte1")
        names = " ".join(f"product{n}" for n in range(_PRODUCTS))
        self._products = code.registers(names, kind=Kind.SINGLE)
        self._next = 0

    def _singles(self, name: str, count: int) -> list[tuple[Register, ...]]:
        """S registers for so many columns or pixels, one of each channel."""
        names = " ".join(f"{name}{n}_{lane}" for n in range(count) for lane in "cd")
        flat = self.code.registers(names, kind=Kind.SINGLE)
        return [tuple(flat[LANES * n : LANES * (n + 1)]) for n in range(count)]

    @property
    def firsts(self) -> Sequence[int]:
        return firsts(self._channels)

    def _rounds(self, tile: Tile) -> None:
        code, pairs = self.code, len(self.firsts)
        loaded = 1 if self._has_bytes else min(self._held, self._window.kernel[1]) * _STEP
        code.reads(pairs * block_bytes(self._product, LANES), loaded)
        code.number(self._count, pairs)
        with code.repeat(pairs):
            self._round(tile)
            if self._channels % LANES:
                code.cmp(self._count, 2)
                code.itt("eq")
                code.subeq(self._block, self._block, BYTES)
                code.subeq(self._out, self._out, BYTES)
            code.subs(self._count, self._count, 1)

    def begin(self, tile: Tile) -> None:
        code, (first, *others) = self.code, self._sums[: tile.pixels]
        if self._has_bytes:
            float_bytes.clear(code, first, self.rows.free)
        else:
            code.vldmia(self.stream.moving, [*first])
        for other in others:
            for sum_, bias in zip(other, first, strict=True):
                code.vmov(sum_, bias)

    def end(self, tile: Tile) -> None:
        if self._has_bytes:
            pixels, taps = self._sums[: tile.pixels], math.prod(self._window.kernel)
            float_bytes.scale(self.code, pixels, taps, self.stream, self._images[0])

    def _row(self, tile: Tile) -> None:
        code, taps = self.code, self._window.kernel[1]
        of = {run.tap: run.pixels for run in tile.runs}
        for begin in range(0, taps, self._held):
            chunk = range(begin, min(begin + self._held, taps))
            if not any(tap in of for tap in chunk):
                code.offset(self.stream, len(chunk) * self._tap_bytes, self.rows.free)
                continue
            weights = dict(zip(chunk, self._weights, strict=False))
            self._load_weights(weights.values())
            columns: dict[int, list[tuple[int, int]]] = {}
            for tap in chunk:
                for pixel in of.get(tap, ()):
                    columns.setdefault(column(self._window, pixel, tap), []).append((pixel, tap))
            self._columns(columns, weights)

    def _load_weights(self, into: Collection[tuple[Register, ...]]) -> None:
        code, count = self.code, LANES * len(into)
        if self._has_bytes:
            float_bytes.load(code, self._pairs, count, self.stream, 0, self._bytes)
            code.add(self.stream, self.stream, count)
        else:
            code.vldmia(self.stream.moving, [one for of in into for one in of])

    def _columns(
        self, columns: dict[int, list[tuple[int, int]]], weights: Mapping[int, Sequence[Register]]
    ) -> None:
        """Each is loaded before the products of the one in front of it are."""
        order = sorted(columns)
        images = [self._images[n % _IMAGES] for n in range(len(order))]
        self._load(order[0], images[0])
        for n, (at, image) in enumerate(zip(order, images, strict=True)):
            if n + 1 < len(order):
                self._load(order[n + 1], images[n + 1])
            self._add([
                (self._sums[pixel][lane], image[lane], weights[tap][lane])
                for pixel, tap in columns[at] for lane in range(LANES)
            ])  # fmt: skip

    def _load(self, number: int, image: Sequence[Register]) -> None:
        """A column of the image."""
        at = number * self._channels * BYTES
        if not -_REACH <= at - self._ahead <= _REACH - _STEP:
            self._go(at)
        for lane, register in enumerate(image):
            self.code.vldr(register, self._at[at - self._ahead + BYTES * lane])

    def _add(self, terms: Sequence[tuple[Register, Register, Register]]) -> None:
        """Sums get the product of two numbers each: what is multiplied is added two instructions
        later, as a result is waited for by the very next one."""
        code = self.code
        if self._is_fused:
            for sum_, a, b in terms:
                code.vfma_f32(sum_, a, b)
            return
        waiting: tuple[Register, Register] | None = None
        for sum_, a, b in terms:
            product = self._products[self._next % _PRODUCTS]
            self._next += 1
            code.vmul_f32(product, a, b)
            if waiting is not None:
                code.vadd_f32(waiting[0], waiting[0], waiting[1])
            waiting = sum_, product
        if waiting is not None:
            code.vadd_f32(waiting[0], waiting[0], waiting[1])

    def _store(self, tile: Tile) -> None:
        code, pixel, sums = self.code, self._channels * BYTES, self._sums[: tile.pixels]
        clamp(code, self._product.clamp, [one for of in sums for one in of], self.rows.free)
        if (tile.pixels - 1) * pixel <= _REACH - _STEP:
            for at, register in self._outputs(tile):
                code.vstr(register, self._out[at])
            return
        code.mov(self._out_at, self._out)
        for n, of in enumerate(sums):
            for lane, register in enumerate(of):
                code.vstr(register, self._out_at[BYTES * lane])
            if n + 1 < tile.pixels:
                code.offset(self._out_at, pixel, self.rows.free)

    def _outputs(self, tile: Tile) -> Iterator[tuple[int, Register]]:
        for n, sums in enumerate(self._sums[: tile.pixels]):
            for lane, register in enumerate(sums):
                yield (n * self._channels + lane) * BYTES, register


def _sizes(window: Window, is_fused: bool) -> list[int]:
    """The tiles of a row, so that it takes least, about."""
    cost, each = [0.0], 1 if is_fused else 2
    for pixels in range(1, _MOST_PIXELS + 1):
        row = float(_ROW)
        taps, held = window.kernel[1], _together(window, pixels)
        for begin in range(0, taps, held):
            chunk = range(begin, min(begin + held, taps))
            columns = {column(window, n, tap) for n in range(pixels) for tap in chunk}
            row += 2 * LANES * len(columns) + LANES * len(chunk) + 1
            row += LANES * each * pixels * len(chunk)
        cost.append(row * window.kernel[0] + _TILE + _PIXEL * pixels)
    return divided(window.output[1], _MOST_PIXELS, cost)


def _together(window: Window, pixels: int) -> int:
    """Columns of a kernel whose weights find registers: of several loads about as many each."""
    most, taps = _MOST_COLUMNS - pixels, window.kernel[1]
    return -(-taps // -(-taps // most))
