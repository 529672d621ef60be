"""From the sums of a pixel's window to its outputs. See kernels/pools.py."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp.rounding import round_twice
from mcu_deploy.backends.quantized.layers import saturate
from mcu_deploy.backends.quantized.pool_layer import Pool
from mcu_deploy.backends.quantized.pool_rounding import Rounding


class Pixel:
    """What an output's pixel is made of, in the FPU's registers: pointers to its window, its
    outputs and its sums; of a padded window how much is inside, and the bytes from the end of a row
    of that to the next; the constants of an average."""

    def __init__(self, code: Assembly) -> None:
        self.window, self.y, self.sums = code.registers("window pixel_y sums", kind=Kind.SINGLE)
        self.height, self.width, self.skipped = code.registers(
            "height width skipped", kind=Kind.SINGLE
        )
        self.scale, self.addend, self.x_scale, self.count, self.y_scale = code.registers(
            "scale addend x_scale count y_scale", kind=Kind.SINGLE
        )


def outputs(code: Assembly, pool: Pool, rounding: Rounding, pixel: Pixel) -> None:
    """The outputs of a pixel, four at a time, from the lanes of their sums."""
    limit = getattr(code, saturate(pool.y))
    sums, out, scale, addend = code.registers("sums_at out scale addend")
    upper, end, amount = code.registers("upper_half out_end amount")
    y, near = code.registers("y0 y1 y2 y3"), code.register("near")
    code.note("Four outputs of their sums.")
    code.vmov(sums, pixel.sums)
    code.vmov(out, pixel.y)
    code.vmov(scale, pixel.scale)
    code.vmov(addend, pixel.addend)
    code.mov(upper, 0)
    code.movt(upper, 0xFFFF)
    code.mov(end, out)
    code.offset(end, pool.channels, amount)
    with code.repeat(pool.channels // 4):
        if pool.is_large:
            code.ldmia(sums.moving, y)
            for acc in () if rounding.is_twice else y:
                code.lsl(acc, acc, pool.lanes.bit_length() - 1)
        else:
            code.ldmia(sums.moving, y[:2])
            for acc, lanes in zip(y[2:], y[:2], strict=True):
                code.and_(acc, lanes, upper)
            for acc in y[:2]:
                code.lsl(acc, acc, 16)
        if rounding.is_twice:
            for acc in () if pool.is_large else y:
                code.asr(acc, acc, 16)
                code.offset(acc, pool.moved, amount)
            round_twice(code, saturate(pool.y), y, 1, scale, addend, rounding.shift)
        else:
            for acc in y:
                code.smmla(acc, acc, scale, addend)
            if rounding.margin:
                _find_near(code, rounding, y, near)
            for acc in y:
                limit(acc, 8, acc.asr(rounding.shift))
        code.strb(y[0], out.after(4))
        for n, acc in enumerate(y[1:], 1):
            code.strb(acc, out[n - 4])
        if rounding.margin:
            done = code.label()
            code.cmp(near, 0)
            code.beq(done)
            with code.times(4 * rounding.again):
                _sum_again(code, pool, pixel, near, out)
            code.place(done)
        code.cmp(out, end)
    code.vmov(pixel.y, out)


def _find_near(
    code: Assembly, rounding: Rounding, results: Sequence[Register], near: Register
) -> None:
    """Which results of SMMLA are next to a step: a bit for each."""
    moved = code.register("moved")
    code.mov(near, 0)
    for n, acc in enumerate(results):
        code.add(moved, acc, rounding.margin)
        code.tst(moved, rounding.fraction)
        code.it("eq")
        code.orreq(near, near, 1 << n)


def _sum_again(code: Assembly, pool: Pool, pixel: Pixel, near: Register, out: Register) -> None:
    """In float32, the channels of the last four whose bits are set in `near`."""
    x_zero, y_zero = pool.zero_points
    is_padded = pool.window.padded
    rows, columns, pitch = pool.runs
    (_, heights), (_, widths) = pool.spans
    total, term = code.registers("sum term", kind=Kind.SINGLE)
    place, less, channel, x = code.registers("y_at less channel x_at")
    begin, zero = code.registers("begin zero")
    rows_left, columns_left, channels = code.registers("rows_left columns_left channels")
    element, y, skipped, amount = code.registers("element y skipped amount")
    again = code.label()
    code.note("Next to the middle of two outputs: summed in float32, as the model does.")
    code.place(again)
    # The channel's place in the window is that of its output in the pixel.
    code.rbit(place, near)
    code.clz(place, place)
    code.sub(less, near, 1)
    code.and_(near, near, less)
    code.sub(place, place, 4)
    code.add(place, place, out)
    code.vmov(begin, pixel.y)
    code.sub(channel, place, begin)
    code.vmov(begin, pixel.window)
    code.add(x, channel, begin)
    code.mov(zero, 0)
    code.vmov(total, zero)
    if is_padded:
        code.vmov(rows_left, pixel.height)
    else:
        code.movw(rows_left, rows)
    code.movw(channels, pool.channels)
    with code.repeat(heights.mean() if is_padded else rows):
        if is_padded:
            code.vmov(columns_left, pixel.width)
        else:
            code.movw(columns_left, columns)
        with code.repeat(widths.mean() if is_padded else columns):
            (code.ldrsb if pool.is_signed else code.ldrb)(element, x[0])
            code.add(x, x, channels)
            code.offset(element, -x_zero, amount)
            code.vmov(term, element)
            code.vcvt_f32_s32(term, term)
            code.vmul_f32(term, term, pixel.x_scale)
            code.vadd_f32(total, total, term)
            code.subs(columns_left, columns_left, 1)
        if is_padded:
            code.vmov(skipped, pixel.skipped)
            code.add(x, x, skipped)
        else:
            code.offset(x, pitch - columns * pool.channels, amount)
        code.subs(rows_left, rows_left, 1)
    code.vdiv_f32(total, total, pixel.count)
    code.vdiv_f32(total, total, pixel.y_scale)
    code.vcvtr_s32_f32(total, total)
    code.vmov(y, total)
    code.offset(y, y_zero, amount)
    getattr(code, saturate(pool.y))(y, 8, y)
    code.strb(y, place[0])
    code.cmp(near, 0)
    code.bne(again)
