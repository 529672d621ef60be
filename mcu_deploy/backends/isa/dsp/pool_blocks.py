"""Blocks of up to 16 channels of a window: their sums, or their greatest elements. See
kernels/pools.py."""

from __future__ import annotations

import math

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp.pool_outputs import Pixel
from mcu_deploy.backends.quantized.pool_layer import Pool

WORDS = 4  # at a time, of four channels
_SMALL = 9  # taps of a maximum that are all unrolled


class Block:
    """The registers of a block.

    In the FPU's: where it is in its window; where its sums go; what sums or maxima start as; what
    is left of the window's rows. x_at: where it is read; out: where maxima go.
    """

    def __init__(self, code: Assembly) -> None:
        self.pixel = Pixel(code)
        self.place, self.sums, self.start, self.rows_kept = code.registers(
            "block block_sums start rows_kept", kind=Kind.SINGLE
        )
        # Four channels a word: elements; the greatest; in the lanes of two words the sums of the
        # channels 0 and 2, and of 1 and 3.
        self.x = code.registers("x0 x1 x2 x3")
        self.greatest = code.registers("greatest0 greatest1 greatest2 greatest3")
        self.lanes = code.registers("even0 odd0 even1 odd1 even2 odd2 even3 odd3")
        self.words = code.registers("sum0 sum1 sum2 sum3")  # of a large window's channels
        self.x_at, self.out, self.sums_at = code.registers("x_at out sums_at")
        self.rows, self.columns = code.registers("rows_left columns_left")  # of a window
        self.difference, self.amount = code.registers("difference amount")


def whole_block(code: Assembly, pool: Pool, block: Block, size: int) -> None:
    """Four channels a word of a window, `size` of them: their sums to the scratch, or maxima to the
    output."""
    if pool.is_large:
        _sum_large(code, pool, block, size)
    else:
        _take_window(code, pool, block, size)
        _end(code, pool, block, size)
    _to_next(code, block, size)


def cut_block(code: Assembly, pool: Pool, block: Block, size: int) -> None:
    """The same of a window that is cut."""
    (_, rows), (_, columns) = pool.spans
    skipped = code.register("skipped")
    _start(code, pool, block, size)
    code.vmov(block.rows, block.pixel.height)
    code.vmov(block.rows_kept, block.rows)
    with code.repeat(rows.mean()):
        code.vmov(block.columns, block.pixel.width)
        with code.repeat(columns.mean()):
            _take_pixel(code, pool, block, size)
            code.subs(block.columns, block.columns, 1)
        code.vmov(skipped, block.pixel.skipped)
        code.add(block.x_at, block.x_at, skipped)
        code.vmov(block.rows, block.rows_kept)
        code.subs(block.rows, block.rows, 1)
        code.vmov(block.rows_kept, block.rows)
    _end(code, pool, block, size)
    _to_next(code, block, size)


def start_words(code: Assembly, pool: Pool, block: Block) -> None:
    """The sums of a large window, from `sums_at` on, before its first element."""
    first, *others = block.words
    code.vmov(first, block.start)
    for word in others:
        code.mov(word, first)
    left = code.register("words_left")
    code.movw(left, pool.channels // 4)
    with code.repeat(pool.channels // 4):
        code.stmia(block.sums_at.moving, block.words)
        code.subs(left, left, 1)


def _take_window(code: Assembly, pool: Pool, block: Block, size: int) -> None:
    rows = pool.runs[0]
    if pool.is_maximum and pool.taps <= _SMALL:
        for row in range(rows):
            _take_row(code, pool, block, size, is_first=row == 0)
            _to_next_row(code, pool, block)
        return
    _start(code, pool, block, size)
    if rows == 1:
        _take_row(code, pool, block, size)
        return
    code.movw(block.rows, rows)
    with code.repeat(rows):
        _take_row(code, pool, block, size)
        _to_next_row(code, pool, block)
        code.subs(block.rows, block.rows, 1)


def _start(code: Assembly, pool: Pool, block: Block, size: int) -> None:
    first, *others = (
        block.greatest[: _words(size)] if pool.is_maximum else block.lanes[: 2 * _words(size)]
    )
    code.vmov(first, block.start)
    for register in others:
        code.mov(register, first)


def _end(code: Assembly, pool: Pool, block: Block, size: int) -> None:
    if pool.is_maximum and pool.is_uneven:
        for offset, greatest in zip(_offsets(size), block.greatest, strict=False):
            code.str(greatest, block.out[offset])
        code.add(block.out, block.out, size)
        return
    if pool.is_maximum:
        code.stmia(block.out.moving, block.greatest[: _words(size)])
        return
    code.vmov(block.sums_at, block.sums)
    code.stmia(block.sums_at.moving, block.lanes[: 2 * _words(size)])
    code.vmov(block.sums, block.sums_at)


def _to_next(code: Assembly, block: Block, size: int) -> None:
    code.vmov(block.x_at, block.place)
    code.add(block.x_at, block.x_at, size)
    code.vmov(block.place, block.x_at)


def _to_next_row(code: Assembly, pool: Pool, block: Block) -> None:
    _, columns, pitch = pool.runs
    code.offset(block.x_at, pitch - columns * pool.channels, block.amount)


def _take_row(code: Assembly, pool: Pool, block: Block, size: int, is_first: bool = False) -> None:
    """The pixels of a row of a window; the first one of all is the maximum so far."""
    for column in range(pool.runs[1]):
        _take_pixel(code, pool, block, size, is_first and column == 0)


def _take_pixel(
    code: Assembly, pool: Pool, block: Block, size: int, is_first: bool = False
) -> None:
    words = _words(size)
    taken = (block.greatest if is_first else block.x)[:words]
    if pool.is_uneven:
        for offset, register in zip(_offsets(size), taken, strict=True):
            code.ldr(register, block.x_at[offset])
    else:
        code.ldmia(block.x_at.moving, taken)
    for n, x in enumerate(block.x[: 0 if is_first else words]):
        if pool.is_maximum:
            greatest = block.greatest[n]
            (code.ssub8 if pool.is_signed else code.usub8)(block.difference, greatest, x)
            code.sel(greatest, greatest, x)
        else:
            add = code.sxtab16 if pool.is_signed else code.uxtab16
            even, odd = block.lanes[2 * n : 2 * n + 2]
            add(even, even, x)
            add(odd, odd, x.ror(8))
    code.offset(block.x_at, pool.channels - (0 if pool.is_uneven else size), block.amount)


def _words(size: int) -> int:
    """Of so many channels."""
    return -(-size // 4)


def _offsets(size: int) -> list[int]:
    """Where the words of so many channels begin: the last one ends with them, and has some of the
    word before it again."""
    return [min(4 * n, size - 4) for n in range(_words(size))]


def _sum_large(code: Assembly, pool: Pool, block: Block, size: int) -> None:
    """Of a large window as many rows as lanes have room for, then the next, are added to the words
    in the scratch."""
    rows = pool.runs[0]
    times = math.ceil(rows / pool.lane_rows)
    behind = code.register("rows_behind")
    code.note("As many rows as lanes have room for, which are added to the words of the scratch.")
    code.movw(behind, rows)
    with code.repeat(times):
        code.movw(block.rows, pool.lane_rows)
        code.cmp(behind, block.rows)
        code.it("lo")
        code.movlo(block.rows, behind)
        code.sub(behind, behind, block.rows)
        code.vmov(block.rows_kept, behind)
        for lanes in block.lanes[: 2 * _words(size)]:
            code.mov(lanes, 0)
        with code.repeat(rows / times):
            _take_row(code, pool, block, size)
            _to_next_row(code, pool, block)
            code.subs(block.rows, block.rows, 1)
        code.vmov(block.sums_at, block.sums)
        for n in range(_words(size)):
            _add_lanes(code, pool, block, *block.lanes[2 * n : 2 * n + 2])
        code.vmov(behind, block.rows_kept)
        code.cmp(behind, 0)
    code.vmov(block.sums, block.sums_at)


def _add_lanes(code: Assembly, pool: Pool, block: Block, even: Register, odd: Register) -> None:
    """The sums of four channels, which are in the lanes of two words, to those in the scratch."""
    add = code.sxtah if pool.is_signed else code.uxtah
    lanes = even, odd, even.ror(16), odd.ror(16)
    code.ldmia(block.sums_at, block.words)
    for word, lane in zip(block.words, lanes, strict=True):
        add(word, word, lane)
    code.stmia(block.sums_at.moving, block.words)
