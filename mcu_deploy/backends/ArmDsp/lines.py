"""How a depthwise kernel goes over an image: in lines, along its rows or its columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mcu_deploy.backends.ArmDsp.layers import Convolution

LANES = 4  # channels at a time
PAIR = 4 * LANES  # bytes of two pixels of the planes
REACH = 4095  # of the offset of LDR and STRB
_FEW_LINES = 8
_BAND_BYTES = 4096


@dataclass(frozen=True)
class Lines:
    """The image as the kernel goes over it: lines of pixels, along its rows or its columns.

    lines, pixels: of input and output; before: of the padding; pitch: bytes from a pixel to the
    next, and from a line to the next, of input and output. is_any: of any number of channels, which
    is the input's pitch then; four of them are written behind the planes first, as the pitch of the
    output says.
    """

    lines: tuple[int, int]
    pixels: tuple[int, int]
    before: tuple[int, int]
    pitch: tuple[tuple[int, int], tuple[int, int]]
    stride: int
    is_transposed: bool
    is_any: bool = False

    @staticmethod
    def of(layer: Convolution, is_transposed: bool) -> Lines:
        window, channels = layer.window, layer.weights.shape[0]
        sizes = tuple(zip(window.input, window.output, strict=True))
        pitches = [(channels, shape[1] * channels) for shape in (window.input, window.output)]
        before = tuple(window.begin)
        if is_transposed:
            sizes, before = sizes[::-1], before[::-1]
            pitches = [pitch[::-1] for pitch in pitches]
        return Lines(
            sizes[0], sizes[1], (before[0], before[1]), (pitches[0], pitches[1]),
            window.strides[0], is_transposed,
        )  # fmt: skip

    @staticmethod
    def of_any(layer: Convolution) -> Lines:
        """For a function that layers of other channels share."""
        out = layer.window.output[1]
        pitch = ((0, 0), (LANES, LANES * out))
        return replace(Lines.of(layer, False), pitch=pitch, is_any=True)

    @property
    def staged_bytes(self) -> int:
        """Of a band's outputs of four channels, where they are written behind the planes first."""
        return LANES * self.band * self.pixels[1] if self.is_any else 0

    @property
    def pairs(self) -> int:
        """Of pixels in a line of the planes."""
        return (self.pixels[0] + 1) // 2

    @property
    def line_bytes(self) -> int:
        return PAIR * self.pairs

    @property
    def is_whole(self) -> bool:
        """Whether the planes hold all lines, and none of zeros."""
        return self.lines[1] <= _FEW_LINES

    @property
    def band(self) -> int:
        """Output lines of a band: what divides them, and keeps the planes small."""
        lines = self.lines[1]
        if self.is_whole:
            return lines
        divisors = [n for n in range(1, lines + 1) if lines % n == 0]
        small = [n for n in divisors if self._held(n) * self.line_bytes <= _BAND_BYTES]
        return small[-1] if small and small[-1] > 1 else divisors[min(1, len(divisors) - 1)]

    def _held(self, band: int) -> int:
        return (band - 1) * self.stride + 3

    @property
    def held(self) -> int:
        """Lines of the planes."""
        return self.lines[0] if self.is_whole else self._held(self.band)

    @property
    def lead(self) -> int:
        """Lines that a band takes from the one before it."""
        return 3 - self.stride

    @property
    def plane_bytes(self) -> int:
        return self.held * self.line_bytes

    @property
    def is_reachable(self) -> bool:
        """Whether the offsets of three lines of the planes, and of two pixels, fit."""
        return 3 * self.line_bytes <= REACH + 1 and self.pitch[0][0] <= REACH

    @property
    def may_lie_on_input(self) -> bool:
        """Whether no output is written over input that a later band reads."""
        is_same = self.lines[0] == self.lines[1] and self.pixels[0] == self.pixels[1]
        return self.band == self.lines[1] or is_same or not self.is_transposed

    def rows_inside(self, line: int) -> tuple[int, ...]:
        """The kernel's rows that are inside of the planes at an output line."""
        if not self.is_whole:
            return (0, 1, 2)
        first = line * self.stride - self.before[0]
        return tuple(k for k in range(3) if 0 <= first + k < self.lines[0])
