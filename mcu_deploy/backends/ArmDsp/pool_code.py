"""The assembler of pools: up to 16 channels of a window at a time. See kernels/pools.py."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from mcu_deploy.backends.ArmDsp.layers import saturate
from mcu_deploy.backends.ArmDsp.pooling import Pool, Rounding
from mcu_deploy.backends.isa import Assembly

WORDS = 4  # at a time, of four channels
_SMALL = 9  # taps of a maximum that are all unrolled
# In the FPU's registers: pointers to window, output, channels of the window, sums and their end;
# counts of the outer loops; then the constants of an average as they lie in flash.
_WINDOW, _Y, _CHANNELS, _SUMS = "s0", "s1", "s2", "s3"
_IMAGES, _ROWS, _COLUMNS, _BLOCKS = "s4", "s5", "s6", "s7"
_START, _SCALE, _ADDEND, _X_SCALE, _COUNT, _Y_SCALE = (f"s{n}" for n in range(8, 14))
# Where the next sums go; and of a channel that is summed again, the sum and a term.
_TO, _REAL, _TERM = "s14", "s14", "s15"
_LEFT = "s15"  # rows of a large window
# Of padded windows: the input's image and row; the place of the window, which may be outside; how
# much of it is inside, and the bytes to the next row of that; the scale of one element.
_IMAGE, _LINE, _TOP, _SIDE, _HEIGHT, _WIDTH, _SKIPPED, _ELEMENT = (f"s{n}" for n in range(16, 24))


def assemble(pool: Pool, rounding: Rounding | None) -> Assembly:
    """The kernel. r0: the input, r1: output, both channel-last, r2: constants; r3: scratch, which
    a maximum has none of."""
    code = Assembly()
    channels = pool.channels
    (height, width), (down, right) = pool.window.input, pool.window.strides
    rows, columns = pool.window.output
    blocks, rest = divmod(channels // 4, WORDS)
    code(f"vmov {_WINDOW}, r0", f"vmov {_Y}, r1")
    code(*([] if rounding is None else [f"vmov {_SUMS}, r3"]), "mov r12, r2")
    kind = "greatest element" if rounding is None else "sum"
    code.note(f"Of each window the {kind} of each channel, four channels a word.")
    held = [_START] if rounding is None else [_START, _SCALE, _ADDEND]
    if rounding is not None and rounding.margin:
        held += [_X_SCALE, _COUNT, _Y_SCALE]
    code(*(text for s in held for text in ("ldr r0, [r12], #4", f"vmov {s}, r0")))
    if pool.window.padded:
        _padded(code, pool, rounding)
        return code
    with _counted(code, _IMAGES, pool.y.shape[0]):
        with _counted(code, _ROWS, rows):
            with _counted(code, _COLUMNS, columns):
                code(f"vmov r12, {_WINDOW}", f"vmov {_CHANNELS}, r12")
                if rounding is None:
                    code(f"vmov r10, {_Y}")
                else:
                    code(f"vmov r0, {_SUMS}", f"vmov {_TO}, r0")
                if pool.is_large:
                    _start_words(code, channels)
                with _counted(code, _BLOCKS, blocks):
                    if blocks:
                        _block(code, pool, WORDS)
                if rest:
                    _block(code, pool, rest)
                if rounding is None:
                    code(f"vmov {_Y}, r10")
                else:
                    _outputs(code, pool, rounding)
                _advance(code, _WINDOW, right * channels)
            _advance(code, _WINDOW, (down * width - columns * right) * channels)
        _advance(code, _WINDOW, (height - rows * down) * width * channels)
    return code


def _padded(code: Assembly, pool: Pool, rounding: Rounding | None) -> None:
    """Of windows of which some are partly outside."""
    channels, window = pool.channels, pool.window
    (height, width), (top, side) = window.input, window.begin
    blocks, rest = divmod(channels // 4, WORDS)
    code(f"vmov r0, {_WINDOW}", f"vmov {_IMAGE}, r0")
    if rounding is None:
        code(f"vmov r10, {_Y}")
    elif pool.is_of_inside:
        code(f"vmov r0, {_SCALE}", f"vmov {_ELEMENT}, r0")
    with _counted(code, _IMAGES, pool.y.shape[0]):
        code(f"movw r0, #{top}", "neg r0, r0", f"vmov {_TOP}, r0")
        with _counted(code, _ROWS, window.output[0]):
            _cut(code, pool, 0, _TOP, _HEIGHT)
            code.number("r3", width * channels)
            code(f"vmov r2, {_IMAGE}", "mla r1, r1, r3, r2", f"vmov {_LINE}, r1")
            code(f"movw r0, #{side}", "neg r0, r0", f"vmov {_SIDE}, r0")
            with _counted(code, _COLUMNS, window.output[1]):
                _cut(code, pool, 1, _SIDE, _WIDTH)
                code.number("r3", channels)
                code(f"vmov r2, {_LINE}", "mla r12, r1, r3, r2", f"vmov {_CHANNELS}, r12")
                code(f"vmov r0, {_WIDTH}", f"movw r1, #{width}", "sub r1, r1, r0", "mul r1, r1, r3")
                code(f"vmov {_SKIPPED}, r1")
                if rounding is not None:
                    _begin_sums(code, pool, rounding)
                with _counted(code, _BLOCKS, blocks):
                    if blocks:
                        _padded_block(code, pool, WORDS)
                if rest:
                    _padded_block(code, pool, rest)
                if rounding is not None:
                    _outputs(code, pool, rounding)
        _advance(code, _IMAGE, height * width * channels)


def _begin_sums(code: Assembly, pool: Pool, rounding: Rounding) -> None:
    """What depends on how many elements of a window are inside."""
    begin, each = pool.start
    code(f"vmov {_WINDOW}, r12", f"vmov r0, {_SUMS}", f"vmov {_TO}, r0")
    code(f"vmov r0, {_WIDTH}", f"vmov r1, {_HEIGHT}", "mul r0, r0, r1")
    if each:
        code(f"movw r1, #{each & 0xFFFF}", f"movw r2, #{begin & 0xFFFF}", "mla r1, r0, r1, r2")
        code("pkhbt r1, r1, r1, lsl #16", f"vmov {_START}, r1")
    if pool.is_of_inside:
        code(f"vmov r1, {_ELEMENT}", "udiv r1, r1, r0", f"vmov {_SCALE}, r1")
        if rounding.margin:
            code(f"vmov {_COUNT}, r0", f"vcvt.f32.s32 {_COUNT}, {_COUNT}")


def _cut(code: Assembly, pool: Pool, axis: int, place: str, inside: str) -> None:
    """The first row of a window that is inside, in r1, and how many are; or columns. Its place
    becomes the next window's."""
    window = pool.window
    code(f"vmov r0, {place}", "bic r1, r0, r0, asr #31", f"movw r2, #{window.kernel[axis]}")
    code("add r2, r2, r0", f"movw r3, #{window.input[axis]}", "cmp r2, r3", "it gt", "movgt r2, r3")
    code("sub r2, r2, r1", f"vmov {inside}, r2")
    code.offset("r0", window.strides[axis], "r3")
    code(f"vmov {place}, r0")


def _padded_block(code: Assembly, pool: Pool, words: int) -> None:
    """Four channels a word of a window that is cut: their sums to the scratch, or maxima to the
    output."""
    (_, rows), (_, columns) = pool.spans
    held = words if pool.is_maximum else 2 * words
    taken = held if pool.is_maximum else 8
    free = f"r{taken}"
    code(f"vmov r0, {_START}", *(f"mov r{n}, r0" for n in range(1, held)))
    code(f"vmov {free}, {_HEIGHT}", f"vmov {_LEFT}, {free}")
    with code.repeat(rows.mean()):
        code(f"vmov lr, {_WIDTH}")
        with code.repeat(columns.mean()):
            _pixel(code, pool, words, taken, is_held=False)
            code("subs lr, lr, #1")
        code(f"vmov {free}, {_SKIPPED}", f"add r12, r12, {free}")
        code(f"vmov {free}, {_LEFT}", f"subs {free}, {free}, #1", f"vmov {_LEFT}, {free}")
    _end_block(code, pool, held)
    _to_next(code, words)


def _end_block(code: Assembly, pool: Pool, held: int) -> None:
    if pool.is_maximum:
        code(f"stmia r10!, {_span(0, held)}")
    else:
        code(f"vmov r8, {_TO}", f"stmia r8!, {_span(0, held)}", f"vmov {_TO}, r8")


@contextmanager
def _counted(code: Assembly, register: str, times: int) -> Iterator[None]:
    """A loop whose count is in an FPU's register."""
    if times <= 1:
        yield
        return
    code(f"movw r0, #{times}", f"vmov {register}, r0")
    with code.repeat(times):
        yield
        code(f"vmov r0, {register}", "subs r0, r0, #1", f"vmov {register}, r0")


def _advance(code: Assembly, register: str, value: int) -> None:
    if value:
        code(f"vmov r0, {register}")
        code.offset("r0", value, "r1")
        code(f"vmov {register}, r0")


def _span(first: int, count: int) -> str:
    return f"{{r{first}-r{first + count - 1}}}" if count > 1 else f"{{r{first}}}"


def _start_words(code: Assembly, channels: int) -> None:
    """The sums of a large window, from r0 on, before its first element."""
    code(f"vmov r1, {_START}", *(f"mov r{n}, r1" for n in (2, 3, 4)))
    code(f"movw r5, #{channels // 4}")
    with code.repeat(channels // 4):
        code("stmia r0!, {r1-r4}", "subs r5, r5, #1")


def _sum_large(code: Assembly, pool: Pool, words: int) -> None:
    """Of a large window as many rows as lanes have room for, then the next, are added to the words
    in the scratch."""
    rows, columns, pitch = pool.runs
    times = math.ceil(rows / pool.lane_rows)
    code(f"movw r8, #{rows}")
    with code.repeat(times):
        code(f"movw lr, #{pool.lane_rows}", "cmp r8, lr", "it lo", "movlo lr, r8")
        code("sub r8, r8, lr", f"vmov {_LEFT}, r8", *(f"mov r{n}, #0" for n in range(2 * words)))
        with code.repeat(rows / times):
            _run(code, pool, words, 8)
            code.offset("r12", pitch - columns * pool.channels, "r8")
            code("subs lr, lr, #1")
        code(f"vmov lr, {_TO}")
        for n in range(words):
            _add_lanes(code, pool, f"r{2 * n}", f"r{2 * n + 1}")
        code(f"vmov r8, {_LEFT}", "cmp r8, #0")
    code(f"vmov {_TO}, lr")


def _add_lanes(code: Assembly, pool: Pool, even: str, odd: str) -> None:
    """The sums of four channels, of whose lanes those of even channels are in one register, to the
    words from lr on."""
    add = "sxtah" if pool.is_signed else "uxtah"
    code("ldmia lr, {r8-r11}", f"{add} r8, r8, {even}", f"{add} r9, r9, {odd}")
    code(f"{add} r10, r10, {even}, ror #16", f"{add} r11, r11, {odd}, ror #16")
    code("stmia lr!, {r8-r11}")


def _block(code: Assembly, pool: Pool, words: int) -> None:
    """Four channels a word of a window: their sums to the scratch, or maxima to the output."""
    held = words if pool.is_maximum else 2 * words
    taken = held if pool.is_maximum else 8
    rows, columns, pitch = pool.runs
    if pool.is_large:
        _sum_large(code, pool, words)
        _to_next(code, words)
        return
    is_small = pool.is_maximum and pool.taps <= _SMALL
    if not is_small:
        code(f"vmov r0, {_START}", *(f"mov r{n}, r0" for n in range(1, held)))
    if is_small:
        for row in range(rows):
            _run(code, pool, words, taken, is_first=row == 0)
            code.offset("r12", pitch - columns * pool.channels, f"r{taken}")
    elif rows > 1:
        code(f"movw lr, #{rows}")
        with code.repeat(rows):
            _run(code, pool, words, taken)
            code.offset("r12", pitch - columns * pool.channels, f"r{taken}")
            code("subs lr, lr, #1")
    else:
        _run(code, pool, words, taken)
    _end_block(code, pool, held)
    _to_next(code, words)


def _to_next(code: Assembly, words: int) -> None:
    code(f"vmov r12, {_CHANNELS}", f"add r12, r12, #{4 * words}", f"vmov {_CHANNELS}, r12")


def _run(code: Assembly, pool: Pool, words: int, taken: int, is_first: bool = False) -> None:
    """The pixels of a row of a window, from r12 on, in registers from `taken` on; the first one is
    the maximum so far."""
    for column in range(pool.runs[1]):
        _pixel(code, pool, words, taken, is_held=is_first and column == 0)


def _pixel(code: Assembly, pool: Pool, words: int, taken: int, is_held: bool) -> None:
    """is_held: it is what the maximum is so far."""
    sign = "s" if pool.is_signed else "u"
    code(f"ldmia r12!, {_span(0 if is_held else taken, words)}")
    for n in range(0 if is_held else words):
        x = f"r{taken + n}"
        if pool.is_maximum:
            code(f"{sign}sub8 r11, r{n}, {x}", f"sel r{n}, r{n}, {x}")
        else:
            even, odd = f"r{2 * n}", f"r{2 * n + 1}"
            code(f"{sign}xtab16 {even}, {even}, {x}", f"{sign}xtab16 {odd}, {odd}, {x}, ror #8")
    code.offset("r12", pool.channels - 4 * words, f"r{taken}")


def _outputs(code: Assembly, pool: Pool, rounding: Rounding) -> None:
    """The outputs of a pixel, four at a time, from the lanes of their sums."""
    bound = saturate(pool.y)
    code(f"vmov r12, {_SUMS}", f"vmov lr, {_Y}", f"vmov r8, {_SCALE}", f"vmov r9, {_ADDEND}")
    code("mov r11, #0", "movt r11, #0xFFFF")
    _advance_to(code, "r10", pool.channels)
    with code.repeat(pool.channels // 4):
        if pool.is_large:
            by = pool.lanes.bit_length() - 1
            code("ldmia r12!, {r0-r3}", *(f"lsl r{n}, r{n}, #{by}" for n in range(4)))
        else:
            code("ldmia r12!, {r0, r1}", "and r2, r0, r11", "and r3, r1, r11")
            code("lsl r0, r0, #16", "lsl r1, r1, #16")
        code(*(f"smmla r{n}, r{n}, r8, r9" for n in range(4)))
        if rounding.margin:
            code("mov r6, #0")
            for n in range(4):
                code(f"add r7, r{n}, #{rounding.margin}")
                code(f"tst r7, #{rounding.fraction}")
                code("it eq", f"orreq r6, r6, #{1 << n}")
        code(*(f"{bound} r{n}, #8, r{n}, asr #{rounding.shift}" for n in range(4)))
        code("strb r0, [lr], #4", *(f"strb r{n}, [lr, #{n - 4}]" for n in range(1, 4)))
        if rounding.margin:
            done = code.label()
            code("cmp r6, #0", f"beq {done}f")
            with code.times(4 * rounding.again):
                _sum_again(code, pool)
            code.place(done)
        code("cmp lr, r10")
    code(f"vmov {_Y}, lr")


def _advance_to(code: Assembly, register: str, channels: int) -> None:
    """The end of a pixel's outputs."""
    code(f"mov {register}, lr")
    code.offset(register, channels, "r0")


def _sum_again(code: Assembly, pool: Pool) -> None:
    """In float32, the channels of the last four whose bits are set in r6."""
    x_zero, y_zero = pool.zero_points
    is_padded = pool.window.padded
    rows, columns, pitch = pool.runs
    (_, heights), (_, widths) = pool.spans
    again = code.label()
    code.place(again)
    # The channel's place in the window is that of its output in the pixel.
    code("rbit r7, r6", "clz r7, r7", "sub r0, r6, #1", "and r6, r6, r0", "sub r7, r7, #4")
    code("add r7, r7, lr", f"vmov r0, {_Y}", "sub r0, r7, r0", f"vmov r1, {_WINDOW}")
    code("add r0, r0, r1", "mov r1, #0", f"vmov {_REAL}, r1")
    code(f"vmov r2, {_HEIGHT}" if is_padded else f"movw r2, #{rows}")
    code(f"movw r5, #{pool.channels}")
    with code.repeat(heights.mean() if is_padded else rows):
        code(f"vmov r3, {_WIDTH}" if is_padded else f"movw r3, #{columns}")
        with code.repeat(widths.mean() if is_padded else columns):
            code("ldrsb r4, [r0]" if pool.is_signed else "ldrb r4, [r0]", "add r0, r0, r5")
            code.offset("r4", -x_zero, "r1")
            code(f"vmov {_TERM}, r4", f"vcvt.f32.s32 {_TERM}, {_TERM}")
            code(f"vmul.f32 {_TERM}, {_TERM}, {_X_SCALE}", f"vadd.f32 {_REAL}, {_REAL}, {_TERM}")
            code("subs r3, r3, #1")
        if is_padded:
            code(f"vmov r1, {_SKIPPED}", "add r0, r0, r1")
        else:
            code.offset("r0", pitch - columns * pool.channels, "r1")
        code("subs r2, r2, #1")
    code(f"vdiv.f32 {_REAL}, {_REAL}, {_COUNT}", f"vdiv.f32 {_REAL}, {_REAL}, {_Y_SCALE}")
    code(f"vcvtr.s32.f32 {_REAL}, {_REAL}", f"vmov r0, {_REAL}")
    code.offset("r0", y_zero, "r1")
    code(f"{saturate(pool.y)} r0, #8, r0", "strb r0, [r7]")
    code("cmp r6, #0", f"bne {again}b")
