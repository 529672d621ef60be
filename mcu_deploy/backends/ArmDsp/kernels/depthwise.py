"""Depthwise 3x3 convolution of int8, for the scratch of a 1x1 convolution that reads it.

Four channels at a time are taken out of channel-last order into planes of int16 without their zero
point, so that a word is two neighbours of a row and padding is 0: a row of zeros above and below,
nothing at the sides. A kernel row (w0, w1, w2) lies in two registers, (w0, w1) and (w1, w2), and
serves two outputs with four SMLADs, whichever of its taps the words begin at. The sum is left 200
to 1,023 times as large (the weights have room for it), so that what rounds it fits into its bias,
and SMMUL and SSAT make the output. Pointers and counts are in the FPU's registers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.layers import Convolution
from mcu_deploy.backends.ArmDsp.requantization import multiply, shift_of
from mcu_deploy.backends.isa import Assembly

_LEAST_GAIN, _MOST_GAIN, _TRIES = 200, 1023, 60
_MARGIN = 2**20  # of an accumulator, for what rounds it
_SCALE = "r9"


class Planes:
    """Where four channels lie in the scratch: rows of words, with rows of zeros around."""

    def __init__(self, layer: Convolution) -> None:
        self.rows, self.columns = layer.window.input
        self.outputs = layer.window.output
        self.stride = layer.window.strides[0]
        self.above, self.left = layer.window.begin
        self.row_bytes = (self.columns + 1) // 2 * 4
        needed = (self.outputs[0] - 1) * self.stride + 3
        self.height = max(self.above + self.rows, needed)
        self.bytes = self.height * self.row_bytes


def refusal(layer: Convolution) -> str:
    """Why the kernel does not compute a depthwise convolution, a clause; empty where it does."""
    window, channels = layer.window, layer.weights.shape[0]
    if window.kernel != (3, 3) or window.dilations != (1, 1) or layer.x.shape[0] != 1:
        return "of depthwise convolutions it has 3x3, of one image and without dilation"
    if window.strides not in ((1, 1), (2, 2)) or max(*window.begin, *window.end) > 1:
        return "of depthwise convolutions it has strides of 1 and 2, and pads of at most 1"
    if channels % 4:
        return f"it takes channels by 4, and there are {channels}"
    if max(layer.x.shape[3], layer.y.shape[3]) * channels > 4096:
        return f"a row of {layer.x.shape[3]} x {channels} bytes is out of the reach of an offset"
    if shift_of(layer.factors, _LEAST_GAIN) < 0:
        return "its factors are too large for a 31-bit scale"
    low, high = layer.reach
    if max(-low.min(), high.max()) * _LEAST_GAIN + _MARGIN >= 2**31:
        return f"a sum of its weights times {_LEAST_GAIN} could leave 32 bits"
    return ""


def _packed(row: Array) -> list[int]:
    return [int(a) & 0xFFFF | (int(b) & 0xFFFF) << 16 for a, b in (row[:2], row[1:])]


def pack(layer: Convolution) -> Array:
    """Of each channel 8 words: the kernel's rows, the bias, the scale; of a channel that has no
    integer scale a float32 factor with a minus sign in its place."""
    shift = shift_of(layer.factors, _LEAST_GAIN)
    low, high = layer.reach
    stream: list[int] = []
    for index, weights in enumerate(layer.weights[:, 0]):
        bias, span = int(layer.bias[index]), int(max(-low[index], high[index]))
        room = (2**31 - _MARGIN) // max(1, span)
        most = min(_MOST_GAIN, room, 32767 // max(1, int(np.abs(weights).max())))
        for gain in range(most, max(_LEAST_GAIN, most - _TRIES) - 1, -1):
            found = multiply(layer.channel(index), gain, shift)
            if found is not None and span * gain + abs(found[1]) < 2**31:
                start, scale = bias * gain + found[1], found[0]
                break
        else:
            gain, start = 1, bias
            scale = int((-layer.factors[index]).view(np.uint32))
        stream += [word for row in weights * gain for word in _packed(row)]
        stream += [start & 0xFFFFFFFF, scale]
    return np.array(stream, np.int64).astype(np.uint32)


def assemble(layer: Convolution) -> Assembly:
    """The kernel. %0: the input, %1: output, both channel-last, %2: the packed stream, %3: planes.

    Channels without an integer scale have code of their own, also where a layer has none of them:
    layers of a shape share one function, and a comparison a channel is cheap.
    """
    planes, channels = Planes(layer), layer.weights.shape[0]
    code = Assembly()
    code("vmov s8, %0", "vmov s9, %1", "vmov s10, %2", "vmov s11, %3", "mov r12, %3")
    _add(code, "r8", "r12", 4 * planes.bytes)
    code("vmov s13, r8", f"mov r9, #{channels // 4}", "vmov s12, r9")
    code(*(f"mov r{n}, #0" for n in range(4, 8)))
    with code.repeat(planes.bytes // 4):
        code("stmia r12!, {r4-r7}", "cmp r12, r8")
    with code.repeat(channels // 4):
        _gather(code, layer, planes)
        code("vmov r12, s11")
        with code.repeat(4):
            code("vmov lr, s10", "ldmia lr!, {r0-r7}", "vmov s10, lr", "vmov s0, r6", "vmov s1, r6")
            code(f"mov {_SCALE}, r7", "vmov lr, s9", "add r6, lr, #1", "vmov s9, r6")
            _add(code, "r6", "r12", planes.outputs[0] * planes.stride * planes.row_bytes)
            code("vmov s2, r6")
            whole, after = code.label(), code.label()
            code(f"cmp {_SCALE}, #0", f"bge {whole}f")
            with code.rarely():
                code(f"vmov s3, {_SCALE}", "vneg.f32 s3, s3")
                _rows(code, layer, planes, is_fractional=True)
                code(f"b {after}f")
            code.place(whole)
            _rows(code, layer, planes, is_fractional=False)
            code.place(after)
            rest = planes.height - planes.outputs[0] * planes.stride
            _add(code, "r12", "r12", rest * planes.row_bytes)
            code("vmov r6, s13", "cmp r12, r6")
        code("vmov r0, s12", "subs r0, r0, #1", "vmov s12, r0")
    return code


def _add(code: Assembly, to: str, source: str, value: int) -> None:
    if value > 4095:
        scratch = to if to != source else "r6"
        code(f"movw {scratch}, #{value & 0xFFFF}")
        if value > 0xFFFF:
            code(f"movt {scratch}, #{value >> 16}")
        code(f"add {to}, {source}, {scratch}")
    elif value or to != source:
        code(f"add {to}, {source}, #{value}")


def _gather(code: Assembly, layer: Convolution, planes: Planes) -> None:
    """Four channels to their planes: the words of two pixels become two neighbours of each."""
    channels, zero = layer.weights.shape[0], layer.zero_points[0]
    row = planes.columns * channels
    pairs = planes.columns // 2
    unrolled = max(n for n in range(1, 13) if pairs % n == 0) if pairs else 0
    code("vmov r12, s8", "add r0, r12, #4", "vmov s8, r0", "vmov r7, s11")
    _add(code, "r7", "r7", planes.above * planes.row_bytes)
    for to, source in (("r8", "r7"), ("r9", "r8"), ("r10", "r9")):
        _add(code, to, source, planes.bytes)
    _add(code, "r11", "r12", planes.rows * row)
    code(f"movw r6, #{-zero & 0xFFFF}", f"movt r6, #{-zero & 0xFFFF}")

    def widen() -> None:
        code("pkhbt r2, r0, r1, lsl #16", "pkhtb r3, r1, r0, asr #16")
        widened = (
            ("r0", "r2", ""),
            ("r1", "r2", ", ror #8"),
            ("r4", "r3", ""),
            ("r5", "r3", ", ror #8"),
        )
        code(*(f"{layer.extend_and_add} {to}, r6, {two}{by}" for to, two, by in widened))
        code("str r0, [r7], #4", "str r1, [r8], #4", "str r4, [r9], #4", "str r5, [r10], #4")

    with code.repeat(planes.rows):
        done = 0
        if pairs:
            if unrolled < pairs:
                code(f"add lr, r12, #{2 * pairs * channels}")
                with code.repeat(pairs // unrolled):
                    for at in range(0, 2 * unrolled * channels, 2 * channels):
                        code(f"ldr r0, [r12, #{at}]", f"ldr r1, [r12, #{at + channels}]")
                        widen()
                    code(f"add r12, r12, #{2 * unrolled * channels}", "cmp r12, lr")
                done = 2 * pairs * channels
            else:
                for at in range(0, 2 * pairs * channels, 2 * channels):
                    code(f"ldr r0, [r12, #{at}]", f"ldr r1, [r12, #{at + channels}]")
                    widen()
        if planes.columns % 2:
            code(f"ldr r0, [r12, #{row - channels - done}]")
            code(*(f"{move} r1, #{(zero & 0xFF) * 0x101}" for move in ("movw", "movt")))
            widen()
        if row - done:
            code(f"add r12, r12, #{row - done}")
        code("cmp r12, r11")


def _rows(code: Assembly, layer: Convolution, planes: Planes, is_fractional: bool) -> None:
    row = planes.outputs[1] * layer.weights.shape[0]
    with code.repeat(planes.outputs[0]):
        _row(code, layer, planes, is_fractional)
        code(f"add lr, lr, #{row}", f"add r12, r12, #{planes.stride * planes.row_bytes}")
        code("vmov r6, s2", "cmp r12, r6")


def _row(code: Assembly, layer: Convolution, planes: Planes, is_fractional: bool) -> None:
    """One channel's row of outputs, two at a time: the words under them one after the other."""
    channels, words = layer.weights.shape[0], planes.row_bytes // 4
    starts = [x * planes.stride - planes.left for x in range(planes.outputs[1])]
    # Two neighbours share their words if the first begins at an even column.
    alone = 1 if planes.stride == 1 and planes.left else 0
    groups = [[0]] * alone + [
        [*range(len(starts))][k : k + 2] for k in range(alone, len(starts), 2)
    ]
    held = -1
    for group in groups:
        code("vmov r10, r11, d0" if len(group) == 2 else "vmov r10, s0")
        steps = [
            s for acc, x in zip(("r10", "r11"), group, strict=False) for s in _steps(acc, starts[x])
        ]
        for word in sorted({word for word, *_ in steps if 0 <= word < words}):
            if word != held:
                code(
                    *(f"ldr r{6 + k}, [r12, #{k * planes.row_bytes + 4 * word}]" for k in range(3))
                )
                held = word
            for k in range(3):
                for at, multiply_add, acc, half in steps:
                    if at == word:
                        code(f"{multiply_add} {acc}, r{6 + k}, r{2 * k + half}, {acc}")
        _round(code, layer, [f"r{10 + k}" for k in range(len(group))], is_fractional)
        for k, x in enumerate(group):
            code(f"strb r{10 + k}, [lr, #{x * channels}]")


def _steps(acc: str, start: int) -> Sequence[tuple[int, str, str, int]]:
    """What three taps from column `start` on add: at a word, with (w0, w1) or (w1, w2)."""
    if start % 2:
        return ((start - 1) // 2, "smlatb", acc, 0), ((start + 1) // 2, "smlad", acc, 1)
    return (start // 2, "smlad", acc, 0), (start // 2 + 1, "smlabt", acc, 1)


def _round(code: Assembly, layer: Convolution, sums: Sequence[str], is_fractional: bool) -> None:
    if not is_fractional:
        by = shift_of(layer.factors, _LEAST_GAIN)
        code(*(f"smmul {acc}, {acc}, {_SCALE}" for acc in sums))
        code(*(f"{layer.saturate} {acc}, #8, {acc}, asr #{by}" for acc in sums))
        return
    floats = [f"s{4 + k}" for k in range(len(sums))]
    pairs = [*zip(floats, sums, strict=True)]
    code(*(f"vmov {f}, {acc}" for f, acc in pairs))
    code(*(f"vcvt.f32.s32 {f}, {f}" for f in floats), *(f"vmul.f32 {f}, {f}, s3" for f in floats))
    code(*(f"vcvtr.s32.f32 {f}, {f}" for f in floats))
    for f, acc in pairs:
        code(f"vmov {acc}, {f}", layer.add_zero_point(acc), f"{layer.saturate} {acc}, #8, {acc}")
