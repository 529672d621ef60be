"""A copy of a small image with its padding around it.

Where many windows of a convolution leave the image, as those of a first layer do whose rows are
short, this is much cheaper than to look at each of them. The copy lies at the end of the output, if
no window is written over before it is read; else in the scratch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mcu_deploy.backends.ArmDsp.layers import Convolution
from mcu_deploy.backends.ArmDsp.tiles import Tiles
from mcu_deploy.backends.interface import InPlace
from mcu_deploy.backends.isa import Assembly

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

    def assemble(self, code: Assembly, at: int) -> None:
        """Makes the copy, in the output or so many bytes behind the scratch's begin, and r0 point
        to it. r0: the image; r1: the output; r3: the scratch."""
        layer, channels = self.layer, self.layer.x.shape[1]
        pitch = self.inside.window.input[1] * channels
        (above, left), (height, width) = layer.window.begin, layer.window.input
        zero = (layer.zero_points[0] & 0xFF) * 0x101
        code.note("The image is copied with its padding.")
        at, base = (self._room, "r1") if self.is_in_output else (at, "r3")
        code.offset("r4", at, "r4", base)
        code("mov r10, r4", f"add r9, r4, #{self.bytes}")
        code(f"movw r5, #{zero}", f"movt r5, #{zero}", "mov r6, r5")
        with code.repeat(self.bytes // 8):
            code("stmia r4!, {r5, r6}", "cmp r4, r9")
        code(f"add r4, r10, #{above * pitch + left * channels}", f"mov r9, #{height}")
        row = width * channels
        with code.repeat(height):
            for first in range(0, row // 4, 4):
                words = [(n, 4 * (first + n)) for n in range(min(4, row // 4 - first))]
                code(*(f"ldr r{5 + n}, [r0, #{offset}]" for n, offset in words))
                code(*(f"str r{5 + n}, [r4, #{offset}]" for n, offset in words))
            done = row // 4 * 4
            if row % 4 >= 2:
                code(f"ldrh r5, [r0, #{done}]", f"strh r5, [r4, #{done}]")
            if row % 2:
                code(f"ldrb r5, [r0, #{row - 1}]", f"strb r5, [r4, #{row - 1}]")
            code(f"add r0, r0, #{row}", f"add r4, r4, #{pitch}", "subs r9, r9, #1")
        code("mov r0, r10")
