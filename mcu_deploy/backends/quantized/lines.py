"""How a depthwise kernel goes over an image: in lines, along its rows or its columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from mcu_deploy.backends.quantized.layers import Convolution

LANES = 4  # channels at a time
PAIR = 4 * LANES  # bytes of two pixels of the planes
REACH = 4095  # of the offset of LDR and STRB
MOST_OUTPUTS = 6  # of a block
_FEW_LINES = 8
_BAND_BYTES = 4096
# Of input and output: bytes from a pixel to the next, and from a line to the next.
Pitch = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Lines:
    """The image, and the planes of four channels that hold a band of it with its padding.

    Pairs are of lines, then of the pixels in a line. input, output: how many; before: of padding.
    """

    input: tuple[int, int]
    output: tuple[int, int]
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    before: tuple[int, int]
    is_transposed: bool
    is_bare: ClassVar[bool] = False

    @classmethod
    def of(cls, layer: Convolution, is_transposed: bool) -> Self:
        window = layer.window
        pairs = (
            window.input, window.output, window.kernel, window.strides, window.dilations,
            window.begin,
        )  # fmt: skip
        size, output, kernel, strides, dilations, before = (
            (pair[1], pair[0]) if is_transposed else (pair[0], pair[1]) for pair in pairs
        )
        return cls(size, output, kernel, strides, dilations, before, is_transposed)

    def pitches(self, layer: Convolution) -> Pitch:
        window, filters = layer.window, layer.weights.shape[0]
        read = layer.x.shape[1], window.input[1] * layer.x.shape[1]
        written = filters, window.output[1] * filters
        return (read[::-1], written[::-1]) if self.is_transposed else (read, written)

    @property
    def columns(self) -> int:
        """Pixels of a line that outputs read, padding included."""
        return (self.output[1] - 1) * self.strides[1] + self.span[1]

    @property
    def span(self) -> tuple[int, int]:
        down, right = ((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))
        return down, right

    @property
    def taken(self) -> int:
        """Pixels of an input's line that are read."""
        return min(self.input[1], self.columns - self.before[1])

    @property
    def line_bytes(self) -> int:
        """Of the planes."""
        return PAIR * ((self.columns + 1) // 2)

    @property
    def band(self) -> int:
        """Output lines of a band: what divides them, and keeps the planes small."""
        lines = self.output[0]
        divisors = [n for n in range(1, lines + 1) if lines % n == 0]
        small = [n for n in divisors if self._held(n) * self.line_bytes <= _BAND_BYTES]
        return small[-1] if small and small[-1] > 1 else divisors[min(1, len(divisors) - 1)]

    def _held(self, band: int) -> int:
        return (band - 1) * self.strides[0] + max(self.span[0], self.strides[0])

    @property
    def bands(self) -> int:
        return self.output[0] // self.band

    @property
    def held(self) -> int:
        """Lines of the planes."""
        return self._held(self.band)

    @property
    def lead(self) -> int:
        """Lines that a band takes from the one before it."""
        return self.held - self.band * self.strides[0]

    @property
    def plane_bytes(self) -> int:
        return self.held * self.line_bytes

    @property
    def above(self) -> int:
        """Lines of zeros in front of those of the image."""
        return self.before[0]

    @property
    def has_zeros(self) -> bool:
        """Whether no pixel is ever at some places that are read, which are 0 from the start."""
        return True

    @property
    def staged_bytes(self) -> int:
        """Of a band's outputs of four channels, where they are written behind the planes first."""
        return 0

    @property
    def is_reachable(self) -> bool:
        """Whether the offsets of a block's words fit."""
        block = MOST_OUTPUTS * self.strides[1] + self.span[1]
        down = max(self.dilations[0], self.strides[0])
        return PAIR * block // 2 <= REACH and self.line_bytes * down < 1 << 16

    @property
    def may_lie_on_input(self) -> bool:
        """Whether no output is written over input of its channel that a later band reads."""
        for band in range(self.bands - 1):
            gathered = self.held - self.before[0] + band * self.band * self.strides[0]
            written = (band + 1) * self.band
            if gathered >= self.input[0]:
                return True
            if self.is_transposed:
                is_before = self.input[0] == self.output[0] and written <= gathered
            else:
                is_before = written * self.output[1] <= gathered * self.input[1]
            if not is_before:
                return False
        return True


@dataclass(frozen=True)
class BareLines(Lines):
    """Of a 3x3 kernel whose code knows the borders: a line of the planes has no padding, and planes
    of a small image are all of it, without the padding above and below.

    is_any: of any number of channels, which is the input's pitch then; four of them are written
    behind the planes first, as the pitch of the output says.
    """

    pitch: Pitch = ((0, 0), (0, 0))
    is_any: bool = False
    is_bare: ClassVar[bool] = True

    @classmethod
    def of(cls, layer: Convolution, is_transposed: bool) -> Self:
        lines = super().of(layer, is_transposed)
        return replace(lines, pitch=lines.pitches(layer))

    @classmethod
    def of_any(cls, layer: Convolution) -> Self:
        """For a function that layers of other channels share."""
        lines = cls.of(layer, False)
        return replace(lines, pitch=((0, 0), (LANES, LANES * lines.output[1])), is_any=True)

    @property
    def staged_bytes(self) -> int:
        return LANES * self.band * self.output[1] if self.is_any else 0

    @property
    def pairs(self) -> int:
        """Of pixels in a line of the planes."""
        return (self.input[1] + 1) // 2

    @property
    def line_bytes(self) -> int:
        return PAIR * self.pairs

    @property
    def is_whole(self) -> bool:
        """Whether the planes hold all lines, and none of zeros."""
        return self.output[0] <= _FEW_LINES

    @property
    def band(self) -> int:
        return self.output[0] if self.is_whole else super().band

    @property
    def held(self) -> int:
        return self.input[0] if self.is_whole else super().held

    @property
    def above(self) -> int:
        return 0 if self.is_whole else super().above

    @property
    def has_zeros(self) -> bool:
        return self.bands == 1 and not self.is_whole

    @property
    def is_reachable(self) -> bool:
        """Whether the offsets of three lines of the planes, and of two pixels, fit."""
        return 3 * self.line_bytes <= REACH + 1 and self.pitch[0][0] <= REACH

    def rows_inside(self, line: int) -> tuple[int, ...]:
        """The kernel's rows that are inside of the planes at an output line."""
        if not self.is_whole:
            return (0, 1, 2)
        first = line * self.strides[0] - self.before[0]
        return tuple(k for k in range(3) if 0 <= first + k < self.input[0])
