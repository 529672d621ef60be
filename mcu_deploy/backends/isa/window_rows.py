"""The rows of an output, whose windows may lie partly above or below the image.

What the loops keep is in the scratch. Windows have their columns' padding in their tiles (
floats/tiles.py); which of their rows are inside is computed for each row of the output.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from mcu_deploy.backends.floats.layers import BYTES
from mcu_deploy.backends.floats.tiles import rows_inside
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.operators.windows import Window

# Words of the scratch.
(
    IMAGE, OUTPUT, STREAM, _ROW, _NUMBER, _ROWS, TILES, GROUPS, FILTERS, SKIPPED, BEHIND, INSIDE,
    BACK,
) = range(0, 52, 4)  # fmt: skip
SCRATCH_BYTES = 52
LONGEST_SIDE = 255  # of a kernel whose rows are counted


def description() -> str:
    """What kernels say of their scratch."""
    return (
        "scratch, in words: where image and output go on, the stream, the next row, its number, "
        "what is left of rows, tiles, groups and filters; of the rows of a window that are outside "
        "the bytes of their weights in front and behind, how many are inside, the way back over "
        "these."
    )


class Rows:
    """frame: where the scratch is; free: a register for everybody. weights_bytes: of a row of a
    window, for one vector."""

    def __init__(
        self, code: Assembly, window: Window, channels: int, weights_bytes: int
    ) -> None:  # fmt: skip
        self._code, self._window = code, window
        self.pitch = window.input[1] * channels * BYTES
        self.down = window.dilations[0] * self.pitch  # from a row of a window to the next
        self.step = window.strides[1] * channels * BYTES
        self._column = channels * BYTES
        self._weights_bytes = weights_bytes
        self.is_cut = window.padded_axes[0]
        inside = rows_inside(window)
        self.may_be_none = min(inside) == 0
        self.average = max(1.0, sum(inside) / len(inside))
        self.frame = code.register("frame", region="frame")
        self.free = code.register("free")

    @contextmanager
    def counted(self, place: int, times: int) -> Iterator[None]:
        """A loop whose counter is in the scratch; none where that is once."""
        code, free = self._code, self.free
        if times == 1:
            yield
            return
        code.number(free, times)
        code.str(free, self.frame[place])
        with code.repeat(times):
            yield
            code.ldr(free, self.frame[place])
            code.subs(free, free, 1)
            code.str(free, self.frame[place])

    @contextmanager
    def each(
        self, x: Register, y: Register, stream: Register | None, scratch: Register
    ) -> Iterator[None]:
        """For each row of the output, of the kernel's arguments. IMAGE is where the row's first
        window begins, or where of it the first row inside does."""
        code, window, frame = self._code, self._window, self.frame
        code.mov(frame, scratch)
        code.str(y, frame[OUTPUT])
        if stream is not None:
            code.str(stream, frame[STREAM])
        begin = window.begin[0] * self.pitch + window.begin[1] * self._column
        code.offset(x, -begin, self.free)
        code.str(x, frame[IMAGE])
        rows = window.output[0]
        is_computed = rows > 1 or self.is_cut
        if is_computed:
            code.str(x, frame[_ROW])
        if self.is_cut:
            code.number(self.free, window.begin[0])
            code.rsb(self.free, self.free, 0)
            code.str(self.free, frame[_NUMBER])
        with self.counted(_ROWS, rows):
            if is_computed:
                self._next()
            yield

    def tile(self, pixels: int, image: Register, out: Register, spare: Register) -> None:
        """Where a tile of all channels begins in the image and in the output, and that the next
        one is behind it. spare: a register that holds nothing."""
        code = self._code
        for begin, place, step in ((image, IMAGE, self.step), (out, OUTPUT, self._column)):
            code.ldr(begin, self.frame[place])
            code.offset(self.free, pixels * step, spare, begin)
            code.str(self.free, self.frame[place])

    @contextmanager
    def inside(self, left: Register, count: Register | None = None) -> Iterator[None]:
        """For each row of a window that lies inside; left: how many there are to come. count: holds
        how many there are, where some may lie outside; by default it is read."""
        code, kernel, done = self._code, self._window.kernel[0], self._code.label()
        if self.is_cut:
            if count is None:
                code.ldr(left, self.frame[INSIDE])
            else:
                code.mov(left, count)
            if self.may_be_none:
                code.cmp(left, 0)
                code.beq(done)
        elif kernel > 1:
            code.number(left, kernel)
        with code.repeat(self.average) if kernel > 1 else nullcontext():
            yield
            if kernel > 1:
                code.subs(left, left, 1)
        if self.may_be_none:
            code.place(done)

    def _next(self) -> None:
        code, frame, free = self._code, self.frame, self.free
        at, by = code.registers("row by")
        code.note("The next row of the output.")
        code.ldr(at, frame[_ROW])
        code.offset(free, self._window.strides[0] * self.pitch, by, at)
        code.str(free, frame[_ROW])
        if self.is_cut:
            self._cut(at, by)
        code.str(at, frame[IMAGE])

    def _cut(self, at: Register, by: Register) -> None:
        """Finds the rows inside, and moves to the first of them."""
        code, window, frame, free = self._code, self._window, self.frame, self.free
        number, above, inside = code.registers("number above inside")
        kernel, apart = window.kernel[0], window.dilations[0]
        code.ldr(number, frame[_NUMBER])
        code.rsb(above, number, 0)
        code.number(by, window.input[0])
        code.sub(inside, by, number)
        code.add(number, number, window.strides[0])
        code.str(number, frame[_NUMBER])
        for rows in (above, inside):  # in front of the first one inside, and of the end of these
            code.cmp(rows, 0)
            code.it("lt")
            code.movlt(rows, 0)
            if apart > 1:
                code.add(rows, rows, apart - 1)
                code.mov(by, apart)
                code.udiv(rows, rows, by)
            code.cmp(rows, kernel)
            code.it("gt")
            code.movgt(rows, kernel)
        code.number(by, self._weights_bytes)
        code.rsb(free, inside, kernel)
        code.mul(free, free, by)
        code.str(free, frame[BEHIND])
        code.mul(free, above, by)
        code.str(free, frame[SKIPPED])
        code.sub(inside, inside, above)
        code.str(inside, frame[INSIDE])
        code.number(by, self.down)
        code.mla(at, above, by, at)
        code.mul(by, inside, by)
        code.str(by, frame[BACK])
