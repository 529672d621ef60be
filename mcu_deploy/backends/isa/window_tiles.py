"""Some pixels times some filters in floats, whatever registers hold the sums.

A tile is some pixels of a row of the output. Of some filters at a time the rows of the windows are
a loop, in which neighbours that all these pixels have inside are a run (floats/tiles.py).
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from mcu_deploy.backends.floats.layers import BYTES, Product
from mcu_deploy.backends.floats.tiles import Tile, TileRun, block_bytes, demand, tiles
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.window_rows import (
    BACK,
    BEHIND,
    FILTERS,
    GROUPS,
    IMAGE,
    OUTPUT,
    SKIPPED,
    STREAM,
    TILES,
    Rows,
)

Sums = Sequence[Sequence[Register]]  # of each pixel


@dataclass(frozen=True)
class TilePlan:
    """sizes: of a row's tiles; vectors: of filters of a group at a time, how many; lanes: filters
    of a vector, which is one register."""

    product: Product
    sizes: tuple[int, ...]
    vectors: tuple[int, ...]
    lanes: int

    @property
    def demand(self) -> int:
        """How far behind the image the output may follow (`InPlace`)."""
        product = self.product
        of_group = product.filters // product.groups
        behind = [
            min(self.lanes * written, of_group) for written in itertools.accumulate(self.vectors)
        ]
        steps = [
            (group * of_group + end, group * product.depth)
            for group in range(product.groups) for end in behind
        ]  # fmt: skip
        return demand(product.window, product.channels, self.sizes, steps)

    @property
    def stream_bytes(self) -> int:
        """Of the packed weights and biases."""
        of_group = [block_bytes(self.product, self.lanes * count) for count in self.vectors]
        return self.product.groups * sum(of_group)


class WindowTiles(ABC):
    """The kernel: image, output, the stream of weights, scratch. What loads weights, multiplies and
    stores is a core's own. kind: of the registers that are sums."""

    _filters_at_once: str  # what a note calls them
    _spare: Register  # that holds nothing between filters

    def __init__(self, code: Assembly, plan: TilePlan, kind: Kind) -> None:
        self._code, self._plan, self._product = code, plan, plan.product
        product = plan.product
        self._vector_bytes = plan.lanes * product.weights.itemsize
        self._read_bytes = self._vector_bytes  # of weights by an instruction
        row = product.weights[0, :, 0].size * self._vector_bytes
        self._rows = Rows(code, product.window, product.channels, row)
        self._frame, self._free = self._rows.frame, self._rows.free
        most = max(plan.sizes)
        self._windows = code.registers(" ".join(f"window{n}" for n in range(most)))
        self._weights = code.register("weights_at", region="weights")
        self._left = code.register("rows_left")
        self._held = max(size * count for size in plan.sizes for count in plan.vectors)
        names = " ".join(f"sum{n}" for n in range(self._held))
        self._sums = code.registers(names, kind=kind)
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
        code.note(f"{tile.pixels} pixels, {self._filters_at_once} at a time.")
        windows = self._windows[: tile.pixels]
        code.ldr(windows[0], frame[IMAGE])
        for one, other in itertools.pairwise(windows):
            code.offset(other, self._rows.step, free, one)
        code.offset(free, self._rows.step, self._left, windows[-1])
        code.str(free, frame[IMAGE])
        code.ldr(self._weights, frame[STREAM])
        code.reads(self._plan.stream_bytes, self._read_bytes)
        self._ahead = [0] * len(self._ahead)
        of_group = product.filters // product.groups
        with self._rows.counted(GROUPS, product.groups):
            left = of_group
            for vectors, same in itertools.groupby(self._plan.vectors):
                count = len([*same])
                filters = min(left, self._plan.lanes * vectors * count)
                left -= filters
                with self._each(filters, count) as counter:
                    self._filters(tile, vectors, filters, counter)
            # Behind what was written: lanes that are no filters, and other pixels.
            behind = of_group - self._plan.lanes * sum(self._plan.vectors)
            if product.groups > 1:
                for window in windows:
                    code.offset(window, product.depth * BYTES, free)
                self._output_goes_on(behind)
                behind = 0
        self._output_goes_on(behind + (tile.pixels - 1) * product.filters)

    def _output_goes_on(self, elements: int) -> None:
        code, out = self._code, self._spare
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
        self._begin(sums)
        for others in sums[1:]:
            for other, first in zip(others, sums[0], strict=True):
                code.vmov(other, first)
        if self._rows.is_cut:
            code.ldr(free, frame[SKIPPED])
            self._pass(vectors)
        rows = window.kernel[0]
        is_loop = rows > 1
        with self._rows.inside(self._left):
            self._row(tile, sums)
            for n in range(tile.pixels):
                self._to(n, self._rows.down if is_loop or self._rows.is_cut else 0)
                self._ahead[n] = 0
        if self._rows.is_cut:
            code.ldr(free, frame[BEHIND])
            self._pass(vectors)
            code.ldr(free, frame[BACK])
            for at in self._windows[: tile.pixels]:
                code.sub(at, at, free)
        elif is_loop:
            code.number(free, rows * self._rows.down)
            for at in self._windows[: tile.pixels]:
                code.sub(at, at, free)
        self._end(sums, filters, has_counter)

    def _pass(self, vectors: int) -> None:
        """Weights that so many times the bytes in `free` are passed over."""
        code, at, free = self._code, self._weights, self._free
        shift = vectors.bit_length() - 1
        if vectors == 1 << shift:
            code.add(at, at, free.lsl(shift) if shift else free)
        else:
            code.mov(self._spare, vectors)
            code.mla(at, free, self._spare, at)

    def _to(self, pixel: int, at: int) -> None:
        """A window's register goes so many bytes behind its row's begin."""
        self._code.offset(self._windows[pixel], at - self._ahead[pixel], self._free)
        self._ahead[pixel] = at

    def _row(self, tile: Tile, sums: Sums) -> None:
        """A row of the windows."""
        code, depth, vectors = self._code, self._product.depth, len(sums[0])
        met = 0  # words of the row whose weights are behind
        for run in tile.runs:
            passed = run.tap * depth - met
            if passed:
                code.offset(self._weights, passed * self._vector_bytes * vectors, self._free)
            words = run.taps * depth
            met = run.tap * depth + words
            for pixel in run.pixels:
                self._to(pixel, run.at)
            self._run(run, words, sums)
            for pixel in run.pixels:
                self._ahead[pixel] += words * BYTES
        left = self._product.window.kernel[1] * depth - met
        if left:
            code.offset(self._weights, left * self._vector_bytes * vectors, self._free)

    @abstractmethod
    def _begin(self, sums: Sums) -> None:
        """Sums get the biases, which are next in the stream."""

    @abstractmethod
    def _run(self, run: TileRun, words: int, sums: Sums) -> None:
        """Adds the products of so many words of each window, which its register then is behind."""

    @abstractmethod
    def _end(self, sums: Sums, filters: int, has_counter: bool) -> None:
        """Clamps the sums and stores them, and counts their filters: FILTERS, where it has that."""
