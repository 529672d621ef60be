"""Windows of one channel each in floats, four channels in the lanes of a vector: depthwise
convolutions and pools (isa/window_channels.py). Sums are a vector for each pixel; so are the
weights of some columns of the kernel. The last channels are computed by tail predication.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from mcu_deploy.backends.floats.layers import BYTES
from mcu_deploy.backends.floats.tiles import Tile, divided
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve import float_weights
from mcu_deploy.backends.isa.mve.float_clamp import clamp
from mcu_deploy.backends.isa.mve.float_weights import LANES, VECTOR
from mcu_deploy.backends.isa.window_channels import WindowChannels, column
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
            columns = {column(window, n, tap) for n in range(pixels) for tap in taps}
            loads += len(columns) + len(taps) * has_weights
            products += pixels * len(taps)
        row = max(2 * loads, 2 * products, loads + products + 3)
        cost.append(row * window.kernel[0] + 20 + 8 * pixels)
    return divided(window.output[1], most, cost)


def _together(pixels: int) -> int:
    """Columns of a kernel whose weights find registers."""
    return min(_MOST_TAPS, _VECTORS - 1 - pixels)


def _chunks(taps: Sequence[int], most: int) -> list[Sequence[int]]:
    return [taps[n : n + most] for n in range(0, len(taps), most)]


class Channels(WindowChannels):
    """The kernel. What it does with a vector of the image, and before and behind that, others
    say."""

    has_weights = False
    lanes, said = LANES, "four channels"

    def __init__(
        self, code: Assembly, window: Window, channels: int, sizes: Sequence[int],
        bounds: tuple[float, float], tap_bytes: int = VECTOR,
    ) -> None:  # fmt: skip
        super().__init__(code, window, channels, sizes, "channels", tap_bytes)
        self._bounds = bounds
        most = max(sizes)
        names = " ".join(f"sum{n}" for n in range(most))
        self.sums = code.registers(names, kind=Kind.VECTOR)
        self._held = _together(most) if self.has_weights else 0
        columns = min(3, _VECTORS - most - self._held)
        self._images = code.registers(
            " ".join(f"column{n}" for n in range(columns)), kind=Kind.VECTOR
        )
        self._next = 0

    @abstractmethod
    def take(self, pixel: int, tap: int, image: Register) -> None:
        """Four channels of a pixel of the image."""

    def chunk(self, taps: Sequence[int]) -> None:
        """Before the columns of some taps; with weights, of none behind a row."""

    def tile(self) -> None:
        """Before the channels of a tile."""

    def _rounds(self, tile: Tile) -> None:
        code = self.code
        self.tile()
        code.number(self._count, self._channels)
        with code.counted(-(-self._channels // LANES), self._count, 32):
            self._round(tile)

    def _store(self, tile: Tile) -> None:
        code, pixel, sums = self.code, self._channels * BYTES, self.sums[: tile.pixels]
        clamp(code, self._bounds, sums, self._images[0], self.rows.free)
        is_near = (tile.pixels - 1) * pixel <= _REACH
        if not is_near:
            code.mov(self._out_at, self._out)
        for n, sum_ in enumerate(sums):
            if is_near:
                code.vstrw_32(sum_, self._out[n * pixel])
            elif pixel <= _REACH:
                code.vstrw_32(sum_, self._out_at.after(pixel))
            else:
                code.vstrw_32(sum_, self._out_at[0])
                code.offset(self._out_at, pixel, self.rows.free)

    def _row(self, tile: Tile) -> None:
        window = self._window
        inside = {run.tap: run.pixels for run in tile.runs}
        steps: list[tuple[Sequence[int], Mapping[int, Sequence[tuple[int, int]]]]] = []
        for taps in _chunks(sorted(inside), self._held or len(inside) or 1):
            columns: dict[int, list[tuple[int, int]]] = {}
            for tap in taps:
                for pixel in inside[tap]:
                    columns.setdefault(column(window, pixel, tap), []).append((pixel, tap))
            steps.append((taps, columns))
        order = [at * self._channels * BYTES for _, of in steps for at in sorted(of)]
        order.append(0 if self._is_of_one_row else self.rows.down)
        taken = 0
        for taps, of in steps:
            self.chunk(taps)
            for at in sorted(of):
                image = self._load(order[taken], order[taken + 1])
                taken += 1
                for pixel, tap in of[at]:
                    self.take(pixel, tap, image)
        if self.has_weights:
            self.chunk([])

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
