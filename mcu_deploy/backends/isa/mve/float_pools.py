"""Pools in floats, by the windows of float_channels.py."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.floats.layers import BYTES
from mcu_deploy.backends.floats.tiles import Tile
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.mve.float_channels import Channels
from mcu_deploy.backends.isa.window_rows import INSIDE
from mcu_deploy.operators.windows import Window

_INFINITY = 0xFF80_0000  # below zero, a float32


class Maximum(Channels):
    """NaN stays where it is met: an element is taken where it is no less, or is NaN, as long as the
    maximum is none."""

    has_constants = False

    def tile(self) -> None:
        self._lowest = self.code.register("lowest")
        self.code.number(self._lowest, _INFINITY)

    def begin(self, tile: Tile) -> None:
        for maximum in self.sums[: tile.pixels]:
            self.code.vdup_32(maximum, self._lowest)

    def take(self, pixel: int, tap: int, image: Register) -> None:
        code, maximum = self.code, self.sums[pixel]
        code.vcmp_f32("eq", maximum, maximum)
        code.vpstt()
        code.vcmpt_f32("lt", maximum, image)
        code.vmovt(maximum, image)


class Average(Channels):
    """counts: of the columns of windows that are inside, those that there are, in the order of
    their reciprocals, which the constants are; of windows whose rows may lie outside once for each
    number of these. They are empty where all windows have as many elements."""

    def __init__(
        self, code: Assembly, window: Window, channels: int, sizes: Sequence[int],
        bounds: tuple[float, float], counts: Sequence[int],
    ) -> None:  # fmt: skip
        super().__init__(code, window, channels, sizes, bounds)
        self._counts = counts
        self._scale = code.register("reciprocal")

    def tile(self) -> None:
        code, rows = self.code, self.rows
        if self._counts and rows.is_cut:
            code.number(rows.free, BYTES * len(self._counts))
            code.ldr(self._scale, rows.frame[INSIDE])
            code.mla(self.stream, self._scale, rows.free, self.stream)

    def begin(self, tile: Tile) -> None:
        for sum_ in self.sums[: tile.pixels]:
            self.code.vmov_i32(sum_, 0)

    def take(self, pixel: int, tap: int, image: Register) -> None:
        self.code.vadd_f32(self.sums[pixel], self.sums[pixel], image)

    def end(self, tile: Tile) -> None:
        of: dict[int, list[int]] = {}
        for pixel in range(tile.pixels):
            taps = sum(pixel in run.pixels for run in tile.runs)
            of.setdefault(self._counts.index(taps) if self._counts else 0, []).append(pixel)
        for place, pixels in of.items():
            self.code.ldr(self._scale, self.stream[BYTES * place])
            for pixel in pixels:
                self.code.vmul_f32(self.sums[pixel], self.sums[pixel], self._scale)
