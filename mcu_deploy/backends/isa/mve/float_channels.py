"""Windows of one channel each in floats, four channels in the lanes of a vector: depthwise
convolutions and pools.

A tile is some pixels of a row of the output, whose sums are a vector each. Each column of the
image that their windows have is loaded once, and taken for all of these; so are the weights of
some columns of the kernel. Loops go over the channels, the last ones by tail predication, and
within them over the rows of the windows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from mcu_deploy.backends.floats.layers import BYTES
from mcu_deploy.backends.floats.tiles import Tile, demand, divided, tiles
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve import float_weights
from mcu_deploy.backends.isa.mve.float_clamp import clamp
from mcu_deploy.backends.isa.mve.float_weights import LANES, VECTOR
from mcu_deploy.backends.isa.window_rows import (
    BEHIND,
    INSIDE,
    SKIPPED,
    STREAM,
    TILES,
    Rows,
)
from mcu_deploy.operators.windows import Window

_REACH = 508  # bytes from a base
_MOST_TAPS = 3
_VECTORS = 8


def sizes_of(window: Window, most: int, has_weights: bool) -> list[int]:
    """The tiles of a row, so that it takes least, about."""
    cost = [0.0]
    for pixels in range(1, most + 1):
        loads = products = 0
        together = _together(pixels) if has_weights else window.kernel[1]
        for taps in _chunks([*range(window.kernel[1])], together):
            columns = {_column(window, n, tap) for n in range(pixels) for tap in taps}
            loads += len(columns) + len(taps) * has_weights
            products += pixels * len(taps)
        row = max(2 * loads, 2 * products, loads + products + 3)
        cost.append(row * window.kernel[0] + 20 + 8 * pixels)
    return divided(window.output[1], most, cost)


def _column(window: Window, pixel: int, tap: int) -> int:
    return pixel * window.strides[1] + tap * window.dilations[1]


def _together(pixels: int) -> int:
    """Columns of a kernel whose weights find registers."""
    return min(_MOST_TAPS, _VECTORS - 1 - pixels)


def _chunks(taps: Sequence[int], most: int) -> list[Sequence[int]]:
    return [taps[n : n + most] for n in range(0, len(taps), most)]


class Channels(ABC):
    """The kernel. What it does with a vector of the image, and before and behind that, others
    say."""

    has_weights = False
    has_constants = True

    def __init__(
        self, code: Assembly, window: Window, channels: int, sizes: Sequence[int],
        bounds: tuple[float, float], tap_bytes: int = VECTOR,
    ) -> None:  # fmt: skip
        self.code, self._window, self._channels = code, window, channels
        self._sizes, self._bounds = sizes, bounds
        self.rows = Rows(code, window, channels, window.kernel[1] * tap_bytes)
        self.stream = code.register("stream_at", region="weights")
        self._block, self._at, self._out, self._out_at = code.registers("block at out out_at")
        self._left, self._count = code.registers("rows_left channels")
        self._inside, self._skipped, self._behind = code.registers("inside skipped behind")
        most = max(sizes)
        names = " ".join(f"sum{n}" for n in range(most))
        self.sums = code.registers(names, kind=Kind.VECTOR)
        self._held = _together(most) if self.has_weights else 0
        columns = min(3, _VECTORS - most - self._held)
        self._images = code.registers(
            " ".join(f"column{n}" for n in range(columns)), kind=Kind.VECTOR
        )
        self._next = self._ahead = 0

    @abstractmethod
    def begin(self, tile: Tile) -> None:
        """What sums begin with."""

    @abstractmethod
    def take(self, pixel: int, tap: int, image: Register) -> None:
        """Four channels of a pixel of the image."""

    def end(self, tile: Tile) -> None:  # noqa: B027
        """From sums to outputs."""

    def chunk(self, taps: Sequence[int]) -> None:  # noqa: B027
        """Before the columns of some taps; with weights, of none behind a row."""

    def tile(self) -> None:  # noqa: B027
        """Before the channels of a tile."""

    @property
    def demand(self) -> int:
        """How far behind the image the output may follow (`InPlace`)."""
        channels = self._channels
        steps = [(min(n + LANES, channels), n) for n in range(0, channels, LANES)]
        return demand(self._window, channels, self._sizes, steps)

    def assemble(self) -> None:
        code = self.code
        names = "x y constants scratch" if self.has_constants else "x y scratch"
        x, y, *constants, scratch = code.arguments(names)
        with self.rows.each(x, y, constants[0] if constants else None, scratch):
            of_row = tiles(self._window, self._channels, self._sizes, joins=False)
            for tile, count in of_row:
                with self.rows.counted(TILES, count):
                    self._tile(tile)

    def _tile(self, tile: Tile) -> None:
        code, frame, rows = self.code, self.rows.frame, self.rows
        code.note(f"{tile.pixels} pixels, four channels at a time.")
        rows.tile(tile.pixels, self._block, self._out, self._count)
        if self.has_constants:
            code.ldr(self.stream, frame[STREAM])
        if rows.is_cut:
            code.ldr(self._inside, frame[INSIDE])
            if self.has_weights:
                code.ldr(self._skipped, frame[SKIPPED])
                code.ldr(self._behind, frame[BEHIND])
        self.tile()
        code.number(self._count, self._channels)
        with code.counted(-(-self._channels // LANES), self._count, 32):
            self._channels_of(tile)

    def _channels_of(self, tile: Tile) -> None:
        code, rows = self.code, self.rows
        self.begin(tile)
        code.mov(self._at, self._block)
        self._ahead = 0
        if self.has_weights and rows.is_cut:
            code.add(self.stream, self.stream, self._skipped)
        with rows.inside(self._left, self._inside):
            self._row(tile, is_last=self._window.kernel[0] == 1)
        if self.has_weights and rows.is_cut:
            code.add(self.stream, self.stream, self._behind)
        self.end(tile)
        clamp(code, self._bounds, self.sums[: tile.pixels], self._images[0], rows.free)
        self._store(tile)
        code.add(self._block, self._block, VECTOR)
        code.add(self._out, self._out, VECTOR)

    def _store(self, tile: Tile) -> None:
        code, pixel = self.code, self._channels * BYTES
        is_near = (tile.pixels - 1) * pixel <= _REACH
        if not is_near:
            code.mov(self._out_at, self._out)
        for n, sum_ in enumerate(self.sums[: tile.pixels]):
            if is_near:
                code.vstrw_32(sum_, self._out[n * pixel])
            elif pixel <= _REACH:
                code.vstrw_32(sum_, self._out_at.after(pixel))
            else:
                code.vstrw_32(sum_, self._out_at[0])
                code.offset(self._out_at, pixel, self.rows.free)

    def _row(self, tile: Tile, *, is_last: bool) -> None:
        """A row of the windows, behind which the next one begins, but behind the last."""
        window = self._window
        inside = {run.tap: run.pixels for run in tile.runs}
        steps: list[tuple[Sequence[int], Mapping[int, Sequence[tuple[int, int]]]]] = []
        for taps in _chunks(sorted(inside), self._held or len(inside) or 1):
            columns: dict[int, list[tuple[int, int]]] = {}
            for tap in taps:
                for pixel in inside[tap]:
                    columns.setdefault(_column(window, pixel, tap), []).append((pixel, tap))
            steps.append((taps, columns))
        order = [column * self._channels * BYTES for _, of in steps for column in sorted(of)]
        order.append(0 if is_last else self.rows.down)
        taken = 0
        for taps, of in steps:
            self.chunk(taps)
            for column in sorted(of):
                image = self._load(order[taken], order[taken + 1])
                taken += 1
                for pixel, tap in of[column]:
                    self.take(pixel, tap, image)
        if self.has_weights:
            self.chunk([])
        if not is_last:
            self._go(self.rows.down)
            self._ahead = 0

    def _go(self, to: int) -> None:
        self.code.offset(self._at, to - self._ahead, self.rows.free)
        self._ahead = to

    def _load(self, at: int, following: int) -> Register:
        """A vector so many bytes behind where the row begins, and moves on to the next one if that
        is in reach."""
        image = self._images[self._next % len(self._images)]
        self._next += 1
        if not -_REACH <= at - self._ahead <= _REACH:
            self._go(at)
        if self._ahead == at and -_REACH <= following - at <= _REACH and following != at:
            self.code.vldrw_u32(image, self._at.after(following - at))
            self._ahead = following
        else:
            self.code.vldrw_u32(image, self._at[at - self._ahead])
        return image


class Depthwise(Channels):
    """A filter for each channel. The stream has of four channels the biases, and the weights of
    each tap of a window; of weights of int8 these first, then the scales and the biases."""

    has_weights = True

    def __init__(
        self, code: Assembly, window: Window, channels: int, sizes: Sequence[int],
        bounds: tuple[float, float], *, has_bytes: bool,
    ) -> None:  # fmt: skip
        self._has_bytes, self._tap_bytes = has_bytes, LANES if has_bytes else VECTOR
        super().__init__(code, window, channels, sizes, bounds, self._tap_bytes)
        names = " ".join(f"weights{n}" for n in range(self._held))
        self._weights = code.registers(names, kind=Kind.VECTOR)
        self._met = 0
        self._of: dict[int, Register] = {}

    def begin(self, tile: Tile) -> None:
        code, (first, *others) = self.code, self.sums[: tile.pixels]
        float_weights.begin(code, first, self.stream, has_bytes=self._has_bytes)
        for other in others:
            code.vmov(other, first)

    def end(self, tile: Tile) -> None:
        if self._has_bytes:
            sums = self.sums[: tile.pixels]
            float_weights.scale(self.code, sums, self.stream, self._images[0])

    def chunk(self, taps: Sequence[int]) -> None:
        self._of = dict(zip(taps, self._weights, strict=False))
        for tap, weights in self._of.items():
            self._skip(tap)
            float_weights.load(self.code, weights, self.stream, has_bytes=self._has_bytes)
            self._met = tap + 1
        if not taps:
            self._skip(self._window.kernel[1])
            self._met = 0

    def _skip(self, tap: int) -> None:
        self.code.offset(self.stream, (tap - self._met) * self._tap_bytes, self.rows.free)

    def take(self, pixel: int, tap: int, image: Register) -> None:
        self.code.vfma_f32(self.sums[pixel], image, self._of[tap])
