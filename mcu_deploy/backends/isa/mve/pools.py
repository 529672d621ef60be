"""Pools of bytes in channel-last order: windows, cut to what is inside of the input, by their
places, and of each some vectors of channels at a time. What the loops around a window keep
waits in those registers of the FPU that are no part of a vector in use.

A maximum has 16 channels a vector. An average has eight, or four of windows whose sums are words;
what makes outputs of these is in averages.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.quantized.pool_layer import Pool

_COUNT_BITS = 8  # of the word of a window's place


def lanes_of(pool: Pool) -> int:
    """Channels of a vector."""
    return 16 if pool.is_maximum else 4 if pool.is_large else 8


def block_of(pool: Pool) -> int:
    """Channels of a block."""
    return 64 if pool.is_maximum else 16


def places(pool: Pool) -> Sequence[int]:
    """Of the windows in each row of the output, image after image, then in each column, a word:
    where it begins in bytes, and in the lowest bits how many of its rows, or columns, are inside,
    if it is padded."""
    images = pool.y.shape[0]
    image = pool.x.bytes // images
    steps = pool.channels * pool.window.input[1], pool.channels
    bases = [range(0, images * image, image), range(1)]
    return [
        base + int(at) * step << _COUNT_BITS | (int(count) if pool.window.padded else 0)
        for (first, inside), step, of in zip(pool.spans, steps, bases, strict=True)
        for base in of
        for at, count in zip(first, inside, strict=True)
    ]


def refusal(pool: Pool) -> str:
    """Why windows have no such places, a clause; empty where they have."""
    if pool.window.padded and max(pool.window.kernel) >= 1 << _COUNT_BITS:
        return "a side of its padded windows is longer than 255"
    if pool.x.bytes >= 1 << 32 - _COUNT_BITS:
        return "its input is larger than 16 MB"
    return ""


@dataclass(frozen=True)
class Block:
    """So many channels of a window, which are taken together. sums: vectors of so many lanes."""

    sums: Sequence[Register]
    lanes: int
    channels: int

    @classmethod
    def of(cls, code: Assembly, lanes: int, channels: int) -> Block:
        """With new registers, and the predicate of the channels in a last vector that is cut."""
        names = " ".join(f"sum{n}" for n in range(-(-channels // lanes)))
        if channels % lanes:
            count = code.register("channels_left")
            code.mov(count, channels % lanes)
            getattr(code, f"vctp_{128 // lanes}")(count)
        return cls(code.registers(names, kind=Kind.VECTOR), lanes, channels)

    def is_cut(self, vector: int) -> bool:
        return self.channels < self.lanes * (vector + 1)


class Outputs(Protocol):
    """What a block's sums, or maxima, begin with, and what makes outputs of them."""

    @property
    def numbers(self) -> Sequence[int]:
        """Words: the constants."""

    def begin(self, window: Window, block: Block) -> None:
        """Adds what comes before the first pixel."""

    def take(self, window: Window, block: Block, vector: int, of: Register) -> None:
        """Adds what a pixel's channels do to a vector of the block."""

    def end(self, window: Window, block: Block) -> None:
        """Adds what comes behind the last pixel, which stores the outputs."""


class Window:
    """A window. constants: where these are; y_at: where its next output goes; rows, columns: how
    many are inside; free: a register for everybody."""

    def __init__(self, code: Assembly, pool: Pool) -> None:
        self.code, self.pool = code, pool
        self.constants = code.register("constants_at")
        self.y_at, self._start = code.registers("y_at block")
        self.rows, self.columns, self.free = code.registers("rows columns free")
        self._line, self._pixel, self._rows_left = code.registers("line pixel rows_left")
        self._channels = code.register("channels")
        self._x, self._row_place, self._row_start, self._row_count, self._column_place = (
            code.registers("x_at row_place row_start row_count column_place", kind=Kind.SINGLE)
        )
        self._left = code.registers("y_rows_left y_columns_left blocks_left", kind=Kind.SINGLE)
        self._taps = [float(inside.mean()) for _, inside in pool.spans]

    @property
    def is_one_run(self) -> bool:
        """Whether the pixels of each window are neighbours."""
        window = self.pool.window
        is_row = window.kernel[0] == 1 or window.kernel[1] == window.input[1]
        return is_row and not window.padded

    def each_pixel(self, block: Block, take: Callable[[int, Register], None]) -> None:
        """Adds, for each pixel inside, what `take` adds of each vector and its register."""
        code, pool = self.code, self.pool
        if self.is_one_run:
            code.mov(self._pixel, self._start)
            self._row(self._taps[0] * self._taps[1], self.rows, block, take)
            return
        code.mov(self._line, self._start)
        code.mov(self._rows_left, self.rows)
        with code.repeat(self._taps[0]):
            code.mov(self._pixel, self._line)
            self._row(self._taps[1], self.columns, block, take)
            code.offset(self._line, pool.window.input[1] * pool.channels, self.free)
            code.subs(self._rows_left, self._rows_left, 1)

    def _row(
        self, times: float, count: Register, block: Block, take: Callable[[int, Register], None]
    ) -> None:  # fmt: skip
        code = self.code
        sign = "s" if self.pool.is_signed and block.lanes < 16 else "u"
        into = code.register("bytes", kind=Kind.VECTOR)
        with code.counted(times, count):
            for vector in range(len(block.sums)):
                is_cut = block.is_cut(vector)
                if is_cut:
                    code.vpst()
                load = f"vldrb{'t' * is_cut}_{sign}{128 // block.lanes}"
                getattr(code, load)(into, self._pixel[block.lanes * vector])
                take(vector, into)
            code.add(self._pixel, self._pixel, self._channels)

    def store(self, block: Block, vector: int, of: Register) -> None:
        """A vector's outputs, the lowest bytes of its elements; `y_at` goes on."""
        code, lanes = self.code, block.lanes
        if block.is_cut(vector):
            code.vpst()
            getattr(code, f"vstrbt_{128 // lanes}")(of, self.y_at[0])
            code.add(self.y_at, self.y_at, block.channels % lanes)
        else:
            getattr(code, f"vstrb_{128 // lanes}")(of, self.y_at.after(lanes))

    def assemble(self, outputs: Outputs) -> None:
        """The kernel: input, output, constants."""
        code, pool, free = self.code, self.pool, self.free
        x, y, constants = code.arguments("x y constants")
        code.mov(self.constants, constants)
        code.mov(self.y_at, y)
        code.vmov(self._x, x)
        code.number(self._channels, pool.channels)
        rows, columns = pool.y.shape[0] * pool.window.output[0], pool.window.output[1]
        numbers = 4 * len(outputs.numbers)
        code.add(free, self.constants, numbers)
        code.vmov(self._row_place, free)
        with self._times(self._left[0], rows):
            code.vmov(free, self._row_place)
            code.ldr(self._start, free.after(4))
            code.vmov(self._row_place, free)
            code.vmov(self._row_count, self._start)
            code.vmov(self._line, self._x)
            code.add(self._line, self._line, self._start.lsr(_COUNT_BITS))
            code.vmov(self._row_start, self._line)
            code.offset(free, numbers + 4 * rows, self._line, self.constants)
            code.vmov(self._column_place, free)
            with self._times(self._left[1], columns):
                self._pixel_of_output(outputs)

    def _pixel_of_output(self, outputs: Outputs) -> None:
        code, pool = self.code, self.pool
        code.vmov(self.free, self._column_place)
        code.ldr(self.columns, self.free.after(4))
        code.vmov(self._column_place, self.free)
        code.vmov(self._start, self._row_start)
        code.add(self._start, self._start, self.columns.lsr(_COUNT_BITS))
        rows, columns = pool.window.kernel
        if pool.window.padded:
            code.vmov(self.rows, self._row_count)
            for count in (self.rows, self.columns):
                code.uxtb(count, count)
        elif self.is_one_run:
            code.number(self.rows, rows * columns)
        else:
            code.number(self.rows, rows)
            code.number(self.columns, columns)
        blocks, rest = divmod(pool.channels, block_of(pool))
        if blocks:
            with self._times(self._left[2], blocks):
                self._block(outputs, block_of(pool))
                if rest or blocks > 1:
                    code.add(self._start, self._start, block_of(pool))
        if rest:
            self._block(outputs, rest)

    def _block(self, outputs: Outputs, channels: int) -> None:
        block = Block.of(self.code, lanes_of(self.pool), channels)
        outputs.begin(self, block)
        self.each_pixel(
            block, lambda vector, of: outputs.take(self, block, vector, of)
        )  # fmt: skip
        outputs.end(self, block)

    @contextmanager
    def _times(self, left: Register, times: int) -> Iterator[None]:
        """A loop that is counted in the FPU's register; none where that is once."""
        code, free = self.code, self.free
        if times == 1:
            yield
            return
        code.number(free, times)
        code.vmov(left, free)
        with code.repeat(times):
            yield
            code.vmov(free, left)
            code.subs(free, free, 1)
            code.vmov(left, free)


class Maximum:
    """Of bytes."""

    def __init__(self, pool: Pool) -> None:
        self._is_signed = pool.is_signed

    @property
    def numbers(self) -> Sequence[int]:
        return [0x80808080 if self._is_signed else 0]

    def begin(self, window: Window, block: Block) -> None:
        code = window.code
        code.ldr(window.free, window.constants[0])
        for maxima in block.sums:
            code.vdup_32(maxima, window.free)

    def take(self, window: Window, block: Block, vector: int, of: Register) -> None:
        larger = window.code.vmax_s8 if self._is_signed else window.code.vmax_u8
        larger(block.sums[vector], block.sums[vector], of)

    def end(self, window: Window, block: Block) -> None:
        for vector, maxima in enumerate(block.sums):
            window.store(block, vector, maxima)
