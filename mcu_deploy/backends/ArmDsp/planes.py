"""The assembler of depthwise convolutions: filling planes of four channels, and convolving one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from mcu_deploy.backends.ArmDsp.layers import Convolution
from mcu_deploy.backends.ArmDsp.lines import PAIR, REACH, BareLines
from mcu_deploy.backends.ArmDsp.requantization import shift_of
from mcu_deploy.backends.isa import Assembly

LEAST_GAIN = 91
_SCALE = "r9"
_MOST_UNROLLED = 6  # pairs of pixels


def shift(layer: Convolution) -> int:
    """Coarse, as the gain makes up for it: more layers share a function."""
    return shift_of(layer.factors, LEAST_GAIN, 8)


def unrolled(count: int) -> tuple[int, int]:
    """(steps of an iteration, iterations) for a loop of up to `count` steps."""
    if count <= _MOST_UNROLLED:
        return count, 1 if count else 0
    steps = max(range(4, _MOST_UNROLLED + 1), key=lambda n: (-(count % n), n))
    return steps, count // steps


def gather(layer: Convolution, lines: BareLines) -> Assembly:
    """Lines of four channels. r0: the first pixel, r1: planes, r2: how many lines; priced for all.

    A pair of pixels is two words of four bytes, and becomes four words of two int16. r6 holds the
    zero point, so that r12 goes on by way of r0.
    """
    pitch, line_pitch = lines.pitch[0]
    pairs = lines.input[1] // 2
    code = Assembly()
    code.note("Lines of four channels to their planes, as int16: two pixels a word.")
    _begin_gather(code, layer, lines)

    def two(first: int, count: int) -> None:
        names = ("r0", "r1", "r4", "r5")[: 2 * count]
        code(*(f"ldr {name}, [r12, #{(first + n) * pitch}]" for n, name in enumerate(names)))
        for left, right in zip(names[::2], names[1::2], strict=True):
            widen(code, layer, left, right)

    def some(count: int) -> None:
        for pair in range(0, count, 2):
            two(2 * pair, min(2, count - pair))

    in_reach = max(1, (REACH // pitch + 1) // 2)
    steps, times = unrolled(pairs)
    if steps > in_reach:
        steps = next(n for n in range(in_reach, 0, -1) if pairs % n == 0 or n == 1)
        times = pairs // steps
    with code.repeat(lines.input[0]):
        taken = 0
        if times > 1:
            code(f"add lr, r7, #{PAIR * steps * times}")
            with code.repeat(times):
                some(steps)
                code.offset("r12", 2 * steps * pitch, "r0")
                code("cmp r7, lr")
            taken = 2 * steps * times * pitch
        else:
            some(steps)
        # the pairs that the loop leaves, and a last pixel alone
        for pixel in range(2 * steps * times, lines.input[1], 2):
            offset = pixel * pitch - taken
            if offset + pitch > REACH:
                code.offset("r12", offset, "r0")
                taken, offset = taken + offset, 0
            code(f"ldr r0, [r12, #{offset}]")
            if pixel + 1 < lines.input[1]:
                code(f"ldr r1, [r12, #{offset + pitch}]")
            else:
                _nothing(code, layer)
            widen(code, layer, "r0", "r1")
        if line_pitch != taken:
            code.offset("r12", line_pitch - taken, "r0")
        code("vmov r0, s0", "cmp r7, r0")
    return code


def _begin_gather(code: Assembly, layer: Convolution, lines: BareLines) -> None:
    """r12 the pixels, r7 the planes, whose end is in s0, r6 twice the zero point's opposite."""
    minus = -layer.zero_points[0] & 0xFFFF
    code("mov r12, r0", "mov r7, r1", f"movw lr, #{lines.line_bytes}", "mla lr, lr, r2, r7")
    code("vmov s0, lr", f"movw r6, #{minus}", f"movt r6, #{minus}")


def widen(code: Assembly, layer: Convolution, left: str, right: str) -> None:
    """Two pixels to the planes."""
    code(f"pkhbt r2, {left}, {right}, lsl #16", f"pkhtb r3, {right}, {left}, asr #16")
    words = "r8, r6, r2", "r9, r6, r2, ror #8", "r10, r6, r3", "r11, r6, r3, ror #8"
    code(*(f"{layer.extend_and_add} {word}" for word in words), "stmia r7!, {r8-r11}")


def _nothing(code: Assembly, layer: Convolution) -> None:
    """A pixel behind the line, in r1."""
    code(*(f"{move} r1, #{(layer.zero_points[0] & 0xFF) * 0x101}" for move in ("movw", "movt")))


def gather_any(layer: Convolution, lines: BareLines) -> Assembly:
    """As `gather`, of rows. r3: the bytes of a pixel."""
    code = Assembly()
    code.note("Lines of four channels to their planes, as int16: two pixels a word.")
    _begin_gather(code, layer, lines)
    code("mov lr, r3")

    def some(count: int) -> None:
        for _ in range(count):
            code("ldr r0, [r12]", "ldr r1, [r12, lr]", "add r12, r12, lr, lsl #1")
            widen(code, layer, "r0", "r1")

    pairs = lines.input[1] // 2
    steps, times = unrolled(pairs)
    with code.repeat(lines.input[0]):
        if times > 1:
            code(f"add r0, r7, #{PAIR * steps * times}", "vmov s1, r0")
            with code.repeat(times):
                some(steps)
                code("vmov r0, s1", "cmp r7, r0")
        some(pairs - steps * times if times > 1 else pairs)
        if lines.input[1] % 2:
            code("ldr r0, [r12]", "add r12, r12, lr")
            _nothing(code, layer)
            widen(code, layer, "r0", "r1")
        code("vmov r0, s0", "cmp r7, r0")
    return code


def rows(layer: Convolution, lines: BareLines) -> Assembly:
    """A channel's output lines of a band. r0: its taps, r1: its planes, r2: the output."""
    code = Assembly()
    code.note("A channel's weights, times its gain: of each row w0 w1 and w1 w2, in r0-r5.")
    code("ldmia r0, {r6-r10}", "mov r12, r1", "mov lr, r2")
    if lines.is_whole:
        code.offset("r12", -lines.before[0] * lines.line_bytes, "r6")
    code("vmov s0, r9", "vmov s1, r9", "vmov s2, r10", "lsr r11, r6, #24")
    for row in range(3):
        first, second = f"r{2 * row}", f"r{2 * row + 1}"
        code(f"sxtb16 r9, r{6 + row}", f"sxtb16 r10, r{6 + row}, ror #8", "smulbb r10, r10, r11")
        code(f"smulbb {first}, r9, r11", f"smultb {second}, r9, r11")
        code(f"pkhbt {first}, {first}, r10, lsl #16", f"pkhbt {second}, r10, {second}, lsl #16")
    code(f"vmov {_SCALE}, s2")
    segments = [
        (inside, len([*of])) for inside, of in groupby(range(lines.band), lines.rows_inside)
    ]
    has_edges = segments[0] == ((1, 2), 1) and segments[-1] == ((0, 1), 1)
    if has_edges:
        _to_line(code, lines, 1)
        segments = segments[1:-1]
    for inside, count in segments:
        code.note(f"Output lines that see rows {', '.join(map(str, inside))} of the kernel.")
        if count == 1:
            _Line(code, layer, lines, inside).all()
            continue
        code.offset("r6", count * lines.strides[0] * lines.line_bytes, "r6", "r12")
        code("vmov s3, r6")
        with code.repeat(count):
            _Line(code, layer, lines, inside).all()
            code("vmov r6, s3", "cmp r12, r6")
    if has_edges:
        code.note("The last line, and by the same code the first one.")
        _edges(code, layer, lines)
    return code


def _to_line(code: Assembly, lines: BareLines, by: int) -> None:
    """So many output lines on, or back."""
    code.offset("r12", by * lines.strides[0] * lines.line_bytes, "r6")
    code.offset("lr", by * lines.pitch[1][1], "r6")


def _edges(code: Assembly, layer: Convolution, lines: BareLines) -> None:
    """The first and the last line, which lack a row of the kernel each, by one piece of code.

    It begins at the last line. The code has the kernel's rows 1 and 2, which it finds one line
    further for the last line, and it gets rows 0 and 1 in their place for that.
    """
    code(f"sub r6, r12, #{lines.line_bytes}", "vmov s3, r6", "vmov s5, lr")
    _to_line(code, lines, 1 - lines.output[0])
    again, done = code.label(), code.label()
    code.place(again)
    with code.times(2):
        _Line(code, layer, lines, (1, 2)).all()
        code("vmov r6, s3", "mov r12, r6", f"cbz r6, {done}f")
    code("vmov lr, s5", "mov r6, #0", "vmov s3, r6")
    code("mov r4, r2", "mov r5, r3", "mov r2, r0", "mov r3, r1", f"b {again}b")
    code.place(done)


class _Line:
    """One line of outputs. `read` and `written`: bytes that r12 and lr went on since its start.

    bias: the register that holds it for all sums, where a row of the kernel needs none.
    """

    def __init__(self, code: Assembly, layer: Convolution, lines: BareLines, rows: Sequence[int]):
        self.code, self.layer, self.lines, self.rows = code, layer, lines, rows
        self.shift = shift(layer)
        self.bias = next((f"r{6 + k}" for k in range(3) if k not in rows), "")
        self.held = -1  # the word of each row that r6-r8 have
        self.read = self.written = 0

    def steps(self, output: int, acc: str) -> list[tuple[int, str, str, int]]:
        """What an output's taps add: a word, the instruction, the sum, (w0, w1) or (w1, w2)."""
        start = output * self.lines.strides[0] - self.lines.before[1]
        first, is_odd = divmod(start, 2)
        both = (
            ((first, "smlatb", acc, 0), (first + 1, "smlad", acc, 1))
            if is_odd
            else ((first, "smlad", acc, 0), (first + 1, "smlabt", acc, 1))
        )
        return [step for step in both if 0 <= step[0] < self.lines.pairs]

    def load(self, word: int) -> None:
        if word != self.held:
            offset = PAIR * word - self.read
            self.code(
                *(f"ldr r{6 + k}, [r12, #{offset + k * self.lines.line_bytes}]" for k in self.rows)
            )
            self.held = word

    def outputs(self, first: int, count: int) -> None:
        """One or two neighbours."""
        code, sums = self.code, ("r10", "r11")[:count]
        if not self.bias:
            code("vmov r10, r11, d0" if count == 2 else "vmov r10, s0")
        begun = set() if self.bias else {*sums}
        steps = [step for n, acc in enumerate(sums) for step in self.steps(first + n, acc)]
        for word in sorted({step[0] for step in steps}):
            self.load(word)
            for k in self.rows:
                for at, multiply_add, acc, half in steps:
                    if at == word:
                        start = acc if acc in begun else self.bias
                        code(f"{multiply_add} {acc}, r{6 + k}, r{2 * k + half}, {start}")
                        begun.add(acc)
        code(*(f"smmul {acc}, {acc}, {_SCALE}" for acc in sums))
        code(*(f"{self.layer.saturate} {acc}, #8, {acc}, asr #{self.shift}" for acc in sums))
        pitch = self.lines.pitch[1][0]
        for n, acc in enumerate(sums):
            offset = (first + n) * pitch - self.written
            if offset > REACH:
                step = min(offset, REACH)
                code(f"addw lr, lr, #{step}")
                self.written, offset = self.written + step, offset - step
            code(f"strb {acc}, [lr, #{offset}]")

    def loop(self, first: int, steps: int, times: int) -> None:
        """`times` iterations of `steps` pairs, whose words are all inside of the line."""
        words, pitch = self.lines.strides[0] * steps, self.lines.pitch[1][0]
        self.load(min(step[0] for step in self.steps(first, "")))
        self.code.offset("r10", PAIR * words * times, "r6", "r12")
        self.code("vmov s4, r10")
        with self.code.repeat(times):
            before = self.written
            for pair in range(steps):
                self.outputs(first + 2 * pair, 2)
            self._step("lr", before + 2 * steps * pitch - self.written)
            self._step("r12", PAIR * words)
            self.code("vmov r10, s4", "cmp r12, r10")
        self.written = before + 2 * steps * pitch * times
        self.read += PAIR * words * times
        self.held += words * (times - 1)

    def all(self) -> None:
        lines = self.lines
        outputs = lines.output[1]
        if self.bias:
            self.code(f"vmov {self.bias}, s0")
        # Two neighbours share their words if the first begins at an even column.
        at = 1 if lines.strides[0] == 1 and lines.before[1] else 0
        if at:
            self.outputs(0, 1)
        # A pair that begins or ends outside of the line is no step of a loop.
        if at < outputs and len(self.steps(at, "")) < 2:
            self.outputs(at, min(2, outputs - at))
            at += 2
        inside = 0
        while at + 2 * inside + 1 < outputs and len(self.steps(at + 2 * inside + 1, "")) == 2:
            inside += 1
        steps, times = unrolled(inside)
        if times > 1:
            self.loop(at, steps, times)
            at += 2 * steps * times
        while at < outputs:
            self.outputs(at, min(2, outputs - at))
            at += 2
        self._step("r12", lines.strides[0] * lines.line_bytes - self.read)
        self._step("lr", lines.pitch[1][1] - self.written)

    def _step(self, to: str, by: int) -> None:
        self.code.offset(to, by, "r10")
