"""A copy of a small image with its padding around it.

Where many windows of a convolution leave the image, as those of a first layer do whose rows are
short, this is much cheaper than to look at each of them. The copy lies at the end of the output, if
no window is written over before it is read; else in the scratch, as a whole or one half after the
other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from mcu_deploy.backends.interface import InPlace
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.kept import counted
from mcu_deploy.backends.quantized.layers import Convolution
from mcu_deploy.backends.quantized.tiles import Tiles

_MOST_BYTES = 4096
_MOST_OF_ROW = 128  # bytes, as a row's copy is unrolled


@dataclass(frozen=True, eq=False)
class Bordered:
    """layer: as the model has it. is_halved: the scratch has the rows that the first half of the
    output's needs, and then those of the second, so that it is little more than half as large."""

    layer: Convolution
    is_halved: bool = False

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

    @staticmethod
    def may_be_halved(layer: Convolution) -> bool:
        """Whether there is a scratch to spare, and both halves have rows of the image."""
        if Bordered(layer).is_in_output or layer.window.output[0] < 2:
            return False
        halves = Bordered(layer, is_halved=True)
        return halves._second >= 0 and min(halves._copied) > 0

    @property
    def form(self) -> Hashable:
        return self.layer.form, self.is_halved

    @property
    def inside(self) -> Convolution:
        """The layer, or a half of it, as one of the copy, which needs no padding."""
        layer, window, rows = self.layer, self.layer.window, self._rows
        height, width = (
            before + size + behind
            for before, size, behind in zip(window.begin, window.input, window.end, strict=True)
        )
        if self.is_halved:
            height = (rows - 1) * window.strides[0] + Tiles(layer).span[0]
        x = replace(layer.x, shape=(*layer.x.shape[:2], height, width))
        y = layer.y
        output = rows, window.output[1]
        if self.is_halved:
            y = replace(y, shape=(*y.shape[:2], *output))
        bare = replace(window, input=(height, width), output=output, begin=(0, 0), end=(0, 0))
        return replace(layer, x=x, y=y, window=bare)

    @property
    def _rows(self) -> int:
        """Of the output, for which there is a copy at once; the second half may have one less."""
        rows = self.layer.window.output[0]
        return -(-rows // 2) if self.is_halved else rows

    @property
    def _second(self) -> int:
        """The row of the image that the second half's first windows begin at."""
        return self._rows * self.layer.window.strides[0] - self.layer.window.begin[0]

    @property
    def _copied(self) -> tuple[int, int]:
        """Rows of the image that the first half and the second need."""
        height, of_copy = self.layer.window.input[0], self.inside.window.input[0]
        first = min(height, of_copy - self.layer.window.begin[0])
        return first, min(height - self._second, of_copy)

    @property
    def bytes(self) -> int:
        return -(-self.inside.x.bytes // 8) * 8

    @property
    def _room(self) -> int:
        """In front of the copy, where it ends with the output."""
        return (self.layer.y.bytes - self.bytes) // 4 * 4

    @property
    def is_in_output(self) -> bool:
        return not self.is_halved and max(0, Tiles(self.inside).distance()) <= self._room

    @property
    def scratch_bytes(self) -> int:
        return 0 if self.is_in_output else self.bytes

    @property
    def in_place(self) -> tuple[InPlace, ...]:
        """A copy in the scratch has all of the input before an output is written, or all but what
        the second half needs before the first half's outputs are."""
        if self.is_in_output:
            return ()
        distance = -self.layer.x.bytes
        if self.is_halved:
            distance = max(distance, self._written - self._second * self._row)
        return (InPlace(0, 0, distance),)

    @property
    def _row(self) -> int:
        """Bytes of the image's."""
        return self.layer.window.input[1] * self.layer.x.shape[1]

    @property
    def _written(self) -> int:
        """Bytes of the first half's outputs."""
        return self._rows * self.layer.window.output[1] * self.layer.y.shape[1]

    @contextmanager
    def copied(self, code: Assembly, names: Sequence[Register], at: int) -> Iterator[None]:
        """Around what computes the layer of a copy: it makes this, in the output or so many bytes
        behind the scratch's begin, and x, which points to the image, point to it; for each half, of
        which the first words of the scratch tell the rows as those of `Kernel.is_of_rows`.
        names: x, y, the packed stream, scratch."""
        x, y, _, scratch = names
        if not self.is_halved:
            code.note("The image is copied with its padding.")
            copy, into, rows_left = self._begin(code, y if self.is_in_output else scratch, at)
            code.add(into, copy, self._offset(*self.layer.window.begin))
            code.mov(rows_left, self.layer.window.input[0])
            self._copy_rows(code, x, into, rows_left, self.layer.window.input[0])
            code.mov(x, copy)
            yield
            return
        left = code.register("halves_left", kind=Kind.SINGLE)
        waiting = code.registers("image output stream_begin scratch_begin", kind=Kind.SINGLE)
        for name, held in zip(names, waiting, strict=True):
            code.vmov(held, name)
        rows = self.layer.window.output[0]
        with counted(code, left, 2):
            for name, held in zip(names, waiting, strict=True):
                code.vmov(name, held)
            self._copy_half(code, names, waiting, left, at)
            with code.times(rows / (2 * self._rows)):
                yield

    def _copy_half(
        self,
        code: Assembly,
        names: Sequence[Register],
        waiting: Sequence[Register],
        left: Register,
        at: int,
    ) -> None:
        """And what the next one begins with. left: 2 for the first."""
        (x, y, _, scratch), (image, output, *_) = names, waiting
        window, rows, (first, second) = self.layer.window, self._rows, self._copied
        code.note("What a half of the output needs of the image is copied with its padding.")
        copy, into, rows_left = self._begin(code, scratch, at)
        begin, end, halves, next_ = code.registers("first_row row_end halves next")
        code.vmov(halves, left)
        code.add(into, copy, self._offset(0, window.begin[1]))
        code.number(rows_left, second)
        code.number(end, (window.output[0] - rows) * window.strides[0])
        code.cmp(halves, 2)
        above = self._offset(window.begin[0], 0)
        code.ittt("eq") if above else code.itt("eq")
        code.moveq(rows_left, first)
        code.moveq(end, rows * window.strides[0])
        if above:
            code.addeq(into, into, above)
        code.mov(begin, 0)
        code.strd(begin, end, scratch[0])
        self._copy_rows(code, x, into, rows_left, (first + second) / 2)
        # x is behind the first half's rows, some of which the second needs, too.
        code.offset(next_, (self._second - first) * self._row, rows_left, x)
        code.vmov(image, next_)
        code.offset(next_, self._written, rows_left, y)
        code.vmov(output, next_)
        code.mov(x, copy)

    def _offset(self, row: int, column: int) -> int:
        """In the copy."""
        return (row * self.inside.window.input[1] + column) * self.layer.x.shape[1]

    def _begin(
        self, code: Assembly, base: Register, at: int
    ) -> tuple[Register, Register, Register]:
        """A copy of zero points so many bytes behind a base: it, and registers for where a row goes
        and for those that are left."""
        zero = (self.layer.zero_points[0] & 0xFF) * 0x101
        copy, into, end, rows_left = code.registers("copy into end rows_left")
        at = self._room if self.is_in_output else at
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
        return copy, into, rows_left

    def _copy_rows(
        self, code: Assembly, x: Register, into: Register, rows_left: Register, times: float
    ) -> None:
        """x and into: behind all rows afterwards."""
        row, words = self._row, code.registers("a b c d")
        with code.repeat(times):
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
            code.add(into, into, self._offset(1, 0))
            code.subs(rows_left, rows_left, 1)
