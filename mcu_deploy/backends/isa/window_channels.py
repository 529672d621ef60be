"""Windows of one channel each in floats, some channels at a time, whatever registers hold these.

A tile is some pixels of a row of the output. Each column of the image that their windows have is
loaded once, and taken for all of them. Loops go over the channels, and within them over the rows of
the windows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from mcu_deploy.backends.floats.layers import BYTES
from mcu_deploy.backends.floats.tiles import Tile, demand, tiles
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.window_rows import BEHIND, INSIDE, SKIPPED, STREAM, TILES, Rows
from mcu_deploy.operators.windows import Window


def column(window: Window, pixel: int, tap: int) -> int:
    """Of the image, behind the one where a row of a tile's windows begins."""
    return pixel * window.strides[1] + tap * window.dilations[1]


class WindowChannels(ABC):
    """The kernel: image, output, a stream of constants, scratch. What loads, computes and stores is
    a core's own. counter: the name of what counts a tile's channels; tap_bytes: of the weights of a
    tap of `lanes` channels."""

    has_weights = True
    has_constants = True
    lanes: int  # channels at a time
    said: str  # what a note calls them

    def __init__(
        self, code: Assembly, window: Window, channels: int, sizes: Sequence[int],
        counter: str, tap_bytes: int,
    ) -> None:  # fmt: skip
        self.code, self._window, self._channels, self._sizes = code, window, channels, sizes
        self.rows = Rows(code, window, channels, window.kernel[1] * tap_bytes)
        self.stream = code.register("stream_at", region="weights")
        self._block, self._at, self._out, self._out_at = code.registers("block at out out_at")
        self._left, self._count = code.registers(f"rows_left {counter}")
        self._inside, self._skipped, self._behind = code.registers("inside skipped behind")
        self._is_of_one_row = window.kernel[0] == 1
        self._ahead = 0  # of `at`, behind where its row begins

    @property
    def firsts(self) -> Sequence[int]:
        """The first channel of each round."""
        return range(0, self._channels, self.lanes)

    @property
    def demand(self) -> int:
        """How far behind the image the output may follow (`InPlace`)."""
        steps = [(min(first + self.lanes, self._channels), first) for first in self.firsts]
        return demand(self._window, self._channels, self._sizes, steps)

    def assemble(self) -> None:
        names = "x y constants scratch" if self.has_constants else "x y scratch"
        x, y, *constants, scratch = self.code.arguments(names)
        with self.rows.each(x, y, constants[0] if constants else None, scratch):
            for tile, count in tiles(self._window, self._channels, self._sizes, joins=False):
                with self.rows.counted(TILES, count):
                    self._tile(tile)

    def _tile(self, tile: Tile) -> None:
        code, frame, rows = self.code, self.rows.frame, self.rows
        code.note(f"{tile.pixels} pixels, {self.said} at a time.")
        rows.tile(tile.pixels, self._block, self._out, self._count)
        if self.has_constants:
            code.ldr(self.stream, frame[STREAM])
        if rows.is_cut:
            code.ldr(self._inside, frame[INSIDE])
            if self.has_weights:
                code.ldr(self._skipped, frame[SKIPPED])
                code.ldr(self._behind, frame[BEHIND])
        self._rounds(tile)

    def _round(self, tile: Tile) -> None:
        """Some channels of a tile."""
        code, rows = self.code, self.rows
        skips = self.has_weights and rows.is_cut
        self.begin(tile)
        code.mov(self._at, self._block)
        self._ahead = 0
        if skips:
            code.add(self.stream, self.stream, self._skipped)
        with rows.inside(self._left, self._inside):
            self._row(tile)
            if not self._is_of_one_row:
                self._go(rows.down)
                self._ahead = 0
        if skips:
            code.add(self.stream, self.stream, self._behind)
        self.end(tile)
        self._store(tile)
        code.add(self._block, self._block, self.lanes * BYTES)
        code.add(self._out, self._out, self.lanes * BYTES)

    def _go(self, to: int) -> None:
        self.code.offset(self._at, to - self._ahead, self.rows.free)
        self._ahead = to

    @abstractmethod
    def _rounds(self, tile: Tile) -> None:
        """The loop over a tile's channels."""

    @abstractmethod
    def begin(self, tile: Tile) -> None:
        """What sums begin with."""

    @abstractmethod
    def _row(self, tile: Tile) -> None:
        """A row of the windows."""

    def end(self, tile: Tile) -> None:  # noqa: B027
        """From sums to outputs."""

    @abstractmethod
    def _store(self, tile: Tile) -> None:
        """Clamps the outputs and stores them."""
