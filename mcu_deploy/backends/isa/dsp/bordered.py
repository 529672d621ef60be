"""A copy of a small image with its padding around it.

Where many windows of a convolution leave the image, as those of a first layer do whose rows are
short, this is much cheaper than to look at each of them. The copy lies at the end of the output, if
no window is written over before it is read; else in the scratch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mcu_deploy.backends.interface import InPlace
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.quantized.layers import Convolution
from mcu_deploy.backends.quantized.tiles import Tiles

_MOST_BYTES = 4096
_MOST_OF_ROW = 128  # bytes, as a row's copy is unrolled


@dataclass(frozen=True, eq=False)
class Bordered:
    """layer: as the model has it."""

    layer: Convolution

    @staticmethod
    def refusal(layer: Convolution) -> str:
        """Why there is no such copy, a clause; empty where there is."""
        if not any((*layer.window.begin, *layer.window.end)):
            return "there is no padding"
        if layer.window.input[1] * layer.x.shape[1] > _MOST_OF_ROW:
            return f"a row of the image has more than {_MOST_OF_ROW} bytes"
        if Bordered(layer).bytes > _MOST_BYTES:
            return f"with its padding the image has more than {_MOST_BYTES} bytes"
        return ""

    @property
    def inside(self) -> Convolution:
        """The layer as one of the copy, which needs no padding."""
        window = self.layer.window
        height, width = (
            before + size + behind
            for before, size, behind in zip(window.begin, window.input, window.end, strict=True)
        )
        x = replace(self.layer.x, shape=(*self.layer.x.shape[:2], height, width))
        bare = replace(window, input=(height, width), begin=(0, 0), end=(0, 0))
        return replace(self.layer, x=x, window=bare)

    @property
    def bytes(self) -> int:
        return -(-self.inside.x.bytes // 8) * 8

    @property
    def _room(self) -> int:
        """In front of the copy, where it ends with the output."""
        return (self.layer.y.bytes - self.bytes) // 4 * 4

    @property
    def is_in_output(self) -> bool:
        return max(0, Tiles(self.inside).distance()) <= self._room

    @property
    def scratch_bytes(self) -> int:
        return 0 if self.is_in_output else self.bytes

    @property
    def in_place(self) -> tuple[InPlace, ...]:
        """A copy in the scratch has all of the input before an output is written."""
        return () if self.is_in_output else (InPlace(0, 0, -self.layer.x.bytes),)

    def assemble(
        self, code: Assembly, x: Register, y: Register, scratch: Register, at: int
    ) -> None:
        """Makes the copy, in the output or so many bytes behind the scratch's begin, and x, which
        points to the image, point to it."""
        layer, channels = self.layer, self.layer.x.shape[1]
        pitch = self.inside.window.input[1] * channels
        (above, left), (height, width) = layer.window.begin, layer.window.input
        zero = (layer.zero_points[0] & 0xFF) * 0x101
        code.note("The image is copied with its padding.")
        copy, into, end, rows_left = code.registers("copy into end rows_left")
        at, base = (self._room, y) if self.is_in_output else (at, scratch)
        code.offset(into, at, into, base)
        code.mov(copy, into)
        code.add(end, into, self.bytes)
        zeros = code.registers("zeros more_zeros")
        code.movw(zeros[0], zero)
        code.movt(zeros[0], zero)
        code.mov(zeros[1], zeros[0])
        with code.repeat(self.bytes // 8):
            code.stmia(into.moving, zeros)
            code.cmp(into, end)
        code.add(into, copy, above * pitch + left * channels)
        code.mov(rows_left, height)
        row, words = width * channels, code.registers("a b c d")
        with code.repeat(height):
            for first in range(0, row // 4, 4):
                taken = list(zip(range(4 * first, row // 4 * 4, 4), words, strict=False))
                for offset, word in taken:
                    code.ldr(word, x[offset])
                for offset, word in taken:
                    code.str(word, into[offset])
            done, rest = row // 4 * 4, words[0]
            if row % 4 >= 2:
                code.ldrh(rest, x[done])
                code.strh(rest, into[done])
            if row % 2:
                code.ldrb(rest, x[row - 1])
                code.strb(rest, into[row - 1])
            code.add(x, x, row)
            code.add(into, into, pitch)
            code.subs(rows_left, rows_left, 1)
        code.mov(x, copy)
