"""The assembler of pools: from window to window. See kernels/pools.py."""

from __future__ import annotations

from collections.abc import Callable

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp.pool_blocks import (
    WORDS,
    Block,
    cut_block,
    start_words,
    whole_block,
)
from mcu_deploy.backends.isa.dsp.pool_outputs import outputs
from mcu_deploy.backends.isa.kept import counted, move
from mcu_deploy.backends.quantized.pool_layer import Pool
from mcu_deploy.backends.quantized.pool_rounding import Rounding


class _Loops:
    """The registers of the way over images, rows, columns, and blocks of a window's channels.

    In the FPU's: what is left of each loop. Of padded windows the image; its row at which a window
    begins; the place of the window, which may be outside; the scale of one element.
    """

    def __init__(self, code: Assembly) -> None:
        self.images, self.rows, self.columns, self.blocks = code.registers(
            "images_left y_rows_left y_columns_left blocks_left", kind=Kind.SINGLE
        )
        self.image, self.line, self.element_scale = code.registers(
            "image line element_scale", kind=Kind.SINGLE
        )
        self.places = code.registers("top side", kind=Kind.SINGLE)
        self.place, self.amount = code.registers("place amount")
        self.block = Block(code)


def assemble(pool: Pool, rounding: Rounding | None) -> Assembly:
    """The kernel: input, output, constants, and but for a maximum scratch.

    A maximum is `y[p][c] = max x[q][c]` over the pixels q of the window of pixel p, an average
    `y[p][c] = sat(((start + sum x[q][c]) * 2**by * scale >> 32) + addend >> shift)`, of TFLite's
    means with two roundings. All are channel-last, of channels by four; maxima of any number from
    four on.
    """
    code = Assembly()
    loops = _Loops(code)
    block, pixel = loops.block, loops.block.pixel
    x, y, constants, scratch = code.arguments("x y constants scratch")
    _describe(code, pool, rounding)
    code.vmov(loops.image if pool.window.padded else pixel.window, x)
    code.vmov(pixel.y, y)
    held = [block.start]
    if rounding is not None:
        code.vmov(pixel.sums, scratch)
        held += [loops.element_scale if pool.is_of_inside else pixel.scale, pixel.addend]
        if rounding.margin:
            held += [pixel.x_scale, pixel.count, pixel.y_scale]
    kind = "greatest element" if rounding is None else "sum"
    code.note(f"Of each window the {kind} of each channel, four channels a word.")
    constant = code.register("constant")
    for register in held:
        code.ldr(constant, constants.after(4))
        code.vmov(register, constant)
    (_cut_windows if pool.window.padded else _whole_windows)(code, pool, rounding, loops)
    return code


def _describe(code: Assembly, pool: Pool, rounding: Rounding | None) -> None:
    """What stands over the function."""
    window = f"of the {'x'.join(map(str, pool.window.kernel))} window of pixel p"
    layout = f"x and y have {pool.channels} channels, which lie last."
    if rounding is None:
        code.note(f"y[p][c] = the greatest x[q][c] {window}. {layout}")
        code.note("constants: the least element, in each byte of a word.")
        code.note(f"In place: of a window {4 * WORDS} channels are read before they are written.")
        return
    by, (begin, each) = pool.lanes.bit_length() - 1, pool.start
    if rounding.is_twice:
        code.note("y[p][c] = sat((2 * moved * scale >> 32, rounded) + addend - (moved < 0)")
        code.note(f">> {rounding.shift}), moved = {pool.moved} + sum,")
    else:
        code.note(f"y[p][c] = sat((sum * 2**{by} * scale >> 32) + addend >> {rounding.shift}),")
    code.note(f"sum = start + all x[q][c] {window}. {layout}")
    start = "start" if pool.is_large else "start, in both halves of a word"
    reals = "; of float32 the scale of x, a window's pixels, the scale of y" * bool(rounding.margin)
    code.note(f"constants: {start}; scale; addend{reals}.")
    if pool.window.padded:
        code.note("Of a window what is inside of x is summed.")
        if each:
            code.note(f"start is made anew: {begin}, and {each} for each of these pixels.")
        if pool.is_of_inside:
            code.note("scale is that of one pixel, and is divided by how many these are.")
    of = "int32" if pool.is_large else "int16: of four channels the first, third, second, fourth"
    code.note(f"scratch: the sums of a pixel, {of}.")
    code.note("In place: a window is read before its pixel is written.")
    if rounding.margin:
        code.note("But what is next to the middle of two outputs is then summed again.")


def _whole_windows(code: Assembly, pool: Pool, rounding: Rounding | None, loops: _Loops) -> None:
    """Of a pool whose windows are all inside."""
    channels, block, pixel = pool.channels, loops.block, loops.block.pixel
    (height, width), (down, right) = pool.window.input, pool.window.strides
    rows, columns = pool.window.output
    with counted(code, loops.images, pool.y.shape[0]):
        with counted(code, loops.rows, rows):
            with counted(code, loops.columns, columns):
                code.vmov(block.x_at, pixel.window)
                code.vmov(block.place, block.x_at)
                if rounding is None:
                    code.vmov(block.out, pixel.y)
                else:
                    code.vmov(block.sums_at, pixel.sums)
                    code.vmov(block.sums, block.sums_at)
                if pool.is_large:
                    start_words(code, pool, block)
                _blocks(code, pool, loops, whole_block)
                if rounding is None:
                    code.vmov(pixel.y, block.out)
                else:
                    outputs(code, pool, rounding, pixel)
                move(code, pixel.window, right * channels)
            move(code, pixel.window, (down * width - columns * right) * channels)
        move(code, pixel.window, (height - rows * down) * width * channels)


def _cut_windows(code: Assembly, pool: Pool, rounding: Rounding | None, loops: _Loops) -> None:
    """Of a pool some of whose windows are partly outside."""
    channels, window, block, pixel = pool.channels, pool.window, loops.block, loops.block.pixel
    height, width = window.input
    base, line, row_bytes, pixel_bytes = code.registers("base line row_bytes pixel_bytes")
    inside, skipped = code.registers("inside skipped")
    if rounding is None:
        code.vmov(block.out, pixel.y)
    with counted(code, loops.images, pool.y.shape[0]):
        _begin(code, loops, loops.places[0], window.begin[0])
        with counted(code, loops.rows, window.output[0]):
            first = _cut(code, pool, loops, 0, pixel.height)
            code.number(row_bytes, width * channels)
            code.vmov(base, loops.image)
            code.mla(line, first, row_bytes, base)
            code.vmov(loops.line, line)
            _begin(code, loops, loops.places[1], window.begin[1])
            with counted(code, loops.columns, window.output[1]):
                first = _cut(code, pool, loops, 1, pixel.width)
                code.number(pixel_bytes, channels)
                code.vmov(base, loops.line)
                code.mla(block.x_at, first, pixel_bytes, base)
                code.vmov(block.place, block.x_at)
                code.vmov(inside, pixel.width)
                code.movw(skipped, width)
                code.sub(skipped, skipped, inside)
                code.mul(skipped, skipped, pixel_bytes)
                code.vmov(pixel.skipped, skipped)
                if rounding is not None:
                    _begin_sums(code, pool, rounding, loops)
                _blocks(code, pool, loops, cut_block)
                if rounding is not None:
                    outputs(code, pool, rounding, pixel)
        move(code, loops.image, height * width * channels)


def _begin(code: Assembly, loops: _Loops, place: Register, padding: int) -> None:
    """The place of the first window, in rows or columns."""
    code.movw(loops.place, padding)
    code.neg(loops.place, loops.place)
    code.vmov(place, loops.place)


def _cut(code: Assembly, pool: Pool, loops: _Loops, axis: int, inside: Register) -> Register:
    """The first row of a window that is inside, in a register, and how many are; or columns. Its
    place becomes the next window's."""
    window, place = pool.window, loops.place
    first, end, size, count = code.registers("first end size inside")
    code.note(f"Which {('rows', 'columns')[axis]} of a window are inside.")
    code.vmov(place, loops.places[axis])
    code.bic(first, place, place.asr(31))
    code.movw(end, window.kernel[axis])
    code.add(end, end, place)
    code.movw(size, window.input[axis])
    code.cmp(end, size)
    code.it("gt")
    code.movgt(end, size)
    code.sub(count, end, first)
    code.vmov(inside, count)
    code.offset(place, window.strides[axis], loops.amount)
    code.vmov(loops.places[axis], place)
    return first


def _begin_sums(code: Assembly, pool: Pool, rounding: Rounding, loops: _Loops) -> None:
    """What depends on how many elements of a window are inside."""
    (begin, each), block, pixel = pool.start, loops.block, loops.block.pixel
    count, height = code.registers("count height")
    code.note("What depends on how many pixels of a window are inside.")
    code.vmov(pixel.window, block.x_at)
    code.vmov(block.sums_at, pixel.sums)
    code.vmov(block.sums, block.sums_at)
    code.vmov(count, pixel.width)
    code.vmov(height, pixel.height)
    code.mul(count, count, height)
    if each:
        start, empty = code.registers("start empty")
        code.movw(start, each & 0xFFFF)
        code.movw(empty, begin & 0xFFFF)
        code.mla(start, count, start, empty)
        code.pkhbt(start, start, start.lsl(16))
        code.vmov(block.start, start)
    if pool.is_of_inside:
        scale = code.register("scale")
        code.vmov(scale, loops.element_scale)
        code.udiv(scale, scale, count)
        code.vmov(pixel.scale, scale)
        if rounding.margin:
            code.vmov(pixel.count, count)
            code.vcvt_f32_s32(pixel.count, pixel.count)


def _blocks(
    code: Assembly,
    pool: Pool,
    loops: _Loops,
    take: Callable[[Assembly, Pool, Block, int], None],
) -> None:
    """All channels of a window, as many words at a time as there are registers for."""
    block, (blocks, rest) = loops.block, divmod(pool.channels, 4 * WORDS)
    with counted(code, loops.blocks, blocks):
        if blocks:
            take(code, pool, block, 4 * WORDS)
    if 0 < rest < 4:
        code.note("The last four channels, of which some are taken again.")
        for at in (block.x_at, block.out):
            code.sub(at, at, 4 - rest)
        rest = 4
    if rest:
        take(code, pool, block, rest)
