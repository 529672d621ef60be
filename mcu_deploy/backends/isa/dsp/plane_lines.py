"""A 3x3 kernel over the lines of a plane, as depthwise kernels have it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.isa.dsp.fours import Fours
from mcu_deploy.backends.isa.dsp.planes import MOST_UNROLLED, unrolled
from mcu_deploy.backends.quantized.gains import LEAST_GAIN
from mcu_deploy.backends.quantized.layers import Convolution
from mcu_deploy.backends.quantized.lines import PAIR, REACH, BareLines
from mcu_deploy.backends.quantized.requantization import shift_of


class Unrolling(NamedTuple):
    """How many pairs of outputs are unrolled at most: of lines that see the whole kernel, and of
    those that lack a row of it; and how many of pixels that go to the planes. is_entered: loops
    leave no pairs behind them; they are entered where the first round has as many as it needs."""

    inside: int = MOST_UNROLLED
    edges: int = MOST_UNROLLED
    pixels: int = MOST_UNROLLED
    is_entered: bool = False


# The one that is for all where nothing waits for code, and some of shorter code.
UNROLLINGS = (
    Unrolling(), Unrolling(4, 3), Unrolling(3, 3), Unrolling(4, 2, 2), Unrolling(3, 2, 3),
    Unrolling(2, 3, 4), Unrolling(3, 2, 2), Unrolling(2, 2, 3), Unrolling(2, 2, 2),
    Unrolling(4, 3, 3, True), Unrolling(3, 3, 4, True),
)  # fmt: skip


def shift(layer: Convolution) -> int:
    """Coarse, as the gain makes up for it: more layers share a function."""
    return shift_of(layer.factors, LEAST_GAIN, 8)


class _Convolving:
    """The registers of what convolves a plane.

    plane, y: what is read and written next. weights: of each row of the kernel (w0, w1) and
    (w1, w2), times the gain. x: a word of the line that each of these rows is at; start: of the
    sums, where a register has it. S registers: `starts` twice the start, where lines end.
    """

    def __init__(self, code: Assembly, fours: Fours, unrolling: Unrolling) -> None:
        self.unrolling = unrolling
        self.taps, self.plane, self.y = fours.taps, fours.plane, fours.y
        self.weights = [
            tuple(code.registers(f"row{row}_w01 row{row}_w12")) for row in range(3)
        ]  # fmt: skip
        self.x, self.sums = code.registers("x0 x1 x2"), code.registers("sum0 sum1")
        self.start, self.scale = code.registers("start scale")
        self.end, self.amount = code.registers("end amount")
        self.starts = code.register("starts", kind=Kind.DOUBLE)
        self.lines_end, self.line_end = code.registers("lines_end line_end", kind=Kind.SINGLE)


def convolve(
    code: Assembly, layer: Convolution, lines: BareLines, fours: Fours, unrolling: Unrolling
) -> None:
    """A channel's output lines of a band, by its taps."""
    of = _Convolving(code, fours, unrolling)
    _take_weights(code, lines, of, is_moved(layer))
    alike = groupby(range(lines.band), lines.rows_inside)
    segments = [(inside, len([*those])) for inside, those in alike]
    has_edges = segments[0] == ((1, 2), 1) and segments[-1] == ((0, 1), 1)
    if has_edges:
        _to_line(code, lines, of, 1)
        segments = segments[1:-1]
    for inside, count in segments:
        code.note(f"Output lines that see rows {', '.join(map(str, inside))} of the kernel.")
        if count == 1:
            _Line(code, layer, lines, of, inside).all()
            continue
        code.offset(of.end, count * lines.strides[0] * lines.line_bytes, of.end, of.plane)
        code.vmov(of.lines_end, of.end)
        with code.repeat(count):
            _Line(code, layer, lines, of, inside).all()
            code.vmov(of.end, of.lines_end)
            code.cmp(of.plane, of.end)
    if has_edges:
        code.note("The last line, and by the same code the first one.")
        _edges(code, layer, lines, of)


def moves(layer: Convolution) -> Array:
    """Of each filter the least that makes int8 of its weights where it is taken from them."""
    low, high = (of(layer.weights, axis=(1, 2, 3)) for of in (np.min, np.max))
    least: Array = np.maximum(np.minimum(low + 128, 0), high - 127)
    return least


def is_moved(layer: Convolution) -> bool:
    """Whether a filter of a layer is moved so."""
    return bool(moves(layer).any())


def _take_weights(code: Assembly, lines: BareLines, of: _Convolving, is_moved: bool) -> None:
    code.note("The weights times their gain: of each row w0 w1 and w1 w2.")
    words = code.registers("taps0 taps1 taps2")
    gain, outer, inner, move = code.registers("gain w0_w2 w1 move")
    code.ldmia(of.taps, [*words, of.start, of.scale])
    if lines.is_whole:
        code.offset(of.plane, -lines.before[0] * lines.line_bytes, of.amount)
    code.vmov(of.starts, of.start, of.start)
    if is_moved:
        code.asr(move, words[2], 24)
        code.pkhbt(move, move, move.lsl(16))
    code.lsr(gain, words[0], 24)
    for word, (first, second) in zip(words, of.weights, strict=True):
        if is_moved:
            code.sxtab16(outer, move, word)
            code.sxtab16(inner, move, word.ror(8))
        else:
            code.sxtb16(outer, word)
            code.sxtb16(inner, word.ror(8))
        code.smulbb(inner, inner, gain)
        code.smulbb(first, outer, gain)
        code.smultb(second, outer, gain)
        code.pkhbt(first, first, inner.lsl(16))
        code.pkhbt(second, inner, second.lsl(16))


def _to_line(code: Assembly, lines: BareLines, of: _Convolving, by: int) -> None:
    """So many output lines on, or back."""
    code.offset(of.plane, by * lines.strides[0] * lines.line_bytes, of.amount)
    code.offset(of.y, by * lines.pitch[1][1], of.amount)


def _edges(code: Assembly, layer: Convolution, lines: BareLines, of: _Convolving) -> None:
    """The first and the last line, which lack a row of the kernel each, by one piece of code.

    It begins at the last line. The code has the kernel's rows 1 and 2, which it finds one line
    further for the last line, and it gets rows 0 and 1 in their place for that.
    """
    last_plane, last_y = code.registers("last_plane last_y", kind=Kind.SINGLE)
    last, none = code.registers("last none")
    code.sub(last, of.plane, lines.line_bytes)
    code.vmov(last_plane, last)
    code.vmov(last_y, of.y)
    _to_line(code, lines, of, 1 - lines.output[0])
    again, done = code.label(), code.label()
    code.place(again)
    with code.times(2):
        _Line(code, layer, lines, of, (1, 2)).all()
        code.vmov(of.plane, last_plane)
        code.cbz(of.plane, done)
    code.vmov(of.y, last_y)
    code.mov(none, 0)
    code.vmov(last_plane, none)
    for row in (2, 1):
        for pair, before in zip(of.weights[row], of.weights[row - 1], strict=True):
            code.mov(pair, before)
    code.b(again)
    code.place(done)


class _Line:
    """One line of outputs. `read` and `written`: bytes that plane and y went on since its start."""

    def __init__(
        self, code: Assembly, layer: Convolution, lines: BareLines, of: _Convolving,
        rows: Sequence[int],
    ) -> None:  # fmt: skip
        self.code, self.layer, self.lines, self.of, self.rows = code, layer, lines, of, rows
        self.shift = shift(layer)
        # Where a row of the kernel needs no register, one holds what all sums begin with.
        self.holds_start = len(rows) < 3
        self.most = of.unrolling.edges if self.holds_start else of.unrolling.inside
        self.held = -1  # the word of each row that is in a register
        self.read = self.written = 0
        self.moving = -1  # the word whose first load leads `plane` on, by so many bytes
        self.move = 0

    def steps(self, output: int) -> list[tuple[int, str, int]]:
        """What an output's taps add: a word, the instruction, (w0, w1) or (w1, w2)."""
        start = output * self.lines.strides[0] - self.lines.before[1]
        first, is_odd = divmod(start, 2)
        both = (
            ((first, "smlatb", 0), (first + 1, "smlad", 1))
            if is_odd
            else ((first, "smlad", 0), (first + 1, "smlabt", 1))
        )
        return [step for step in both if 0 <= step[0] < self.lines.pairs]

    def load(self, word: int) -> None:
        if word == self.held:
            return
        first, *others = self.rows
        if word == self.moving:
            self.code.ldr(self.of.x[first], self.of.plane.before(self.move))
            self.read += self.move
        else:
            others = [first, *others]
        offset = PAIR * word - self.read
        for k in others:
            self.code.ldr(self.of.x[k], self.of.plane[offset + k * self.lines.line_bytes])
        self.held = word

    def outputs(self, first: int, count: int) -> None:
        """One or two neighbours."""
        code, of, sums = self.code, self.of, self.of.sums[:count]
        if not self.holds_start:
            code.vmov(*sums, of.starts if count == 2 else of.starts.halves[0])
        begun = set() if self.holds_start else {*sums}
        steps = [(acc, *step) for n, acc in enumerate(sums) for step in self.steps(first + n)]
        for word in sorted({step[1] for step in steps}):
            self.load(word)
            for k in self.rows:
                for acc, at, multiply_add, half in steps:
                    if at == word:
                        start = acc if acc in begun else of.start
                        getattr(code, multiply_add)(acc, of.x[k], of.weights[k][half], start)
                        begun.add(acc)
        for acc in sums:
            code.smmul(acc, acc, of.scale)
        for acc in sums:
            by = acc.asr(self.shift) if self.shift else acc
            getattr(code, self.layer.saturate)(acc, 8, by)
        pitch = self.lines.pitch[1][0]
        for n, acc in enumerate(sums):
            offset = (first + n) * pitch - self.written
            if offset > REACH:
                step = min(offset, REACH)
                code.addw(of.y, of.y, step)
                self.written, offset = self.written + step, offset - step
            code.strb(acc, of.y[offset])

    def loop(self, first: int, steps: int, times: int, passed: int = 0) -> None:
        """`times` iterations of `steps` pairs, whose words are all inside of the line; the first
        iteration has so many less, which it passes: its pointers are as if it had them."""
        code, of, entry = self.code, self.of, self.code.label()
        words, pitch = self.lines.strides[0] * steps, self.lines.pitch[1][0]
        word = min(step[0] for step in self.steps(first))
        self.load(word)
        words_passed, outputs_passed = self.lines.strides[0] * passed, 2 * passed
        # `plane` goes on by the load of the word that the next iteration begins with, and points to
        # that of the first row.
        to = PAIR * word + self.rows[0] * self.lines.line_bytes
        code.offset(of.plane, to - self.read - PAIR * words_passed, of.amount)
        self.read, self.moving, self.move = to, word + words, PAIR * words
        code.offset(of.end, PAIR * words * times, of.end, of.plane)
        code.vmov(of.line_end, of.end)
        if passed:
            code.offset(of.y, -outputs_passed * pitch, of.amount)
            code.b(entry)
        with code.repeat(times):
            before = self.written
            if passed:
                with code.times(1 - 1 / times):
                    for pair in range(passed):
                        self.outputs(first + 2 * pair, 2)
                code.place(entry)
            for pair in range(passed, steps):
                self.outputs(first + 2 * pair, 2)
            code.offset(of.y, before + 2 * steps * pitch - self.written, of.amount)
            code.vmov(of.end, of.line_end)
            code.cmp(of.plane, of.end)
        self.written = before + (2 * steps * times - outputs_passed) * pitch
        self.read += PAIR * (words * (times - 1) - words_passed)
        self.held, self.moving = self.held + words * (times - 1) - words_passed, -1

    def all(self) -> None:
        code, of, lines = self.code, self.of, self.lines
        outputs = lines.output[1]
        if self.holds_start:
            code.vmov(of.start, of.starts.halves[0])
        # Two neighbours share their words if the first begins at an even column.
        at = 1 if lines.strides[0] == 1 and lines.before[1] else 0
        if at:
            self.outputs(0, 1)
        # A pair that begins or ends outside of the line is no step of a loop.
        if at < outputs and len(self.steps(at)) < 2:
            self.outputs(at, min(2, outputs - at))
            at += 2
        inside = 0
        while at + 2 * inside + 1 < outputs and len(self.steps(at + 2 * inside + 1)) == 2:
            inside += 1
        steps, times = unrolled(inside, self.most)
        is_near = 2 * self.most * lines.pitch[1][0] <= REACH
        if of.unrolling.is_entered and is_near and times > 1:
            times = -(-inside // self.most)
            steps = -(-inside // times)
        if times > 1:
            passed = max(0, steps * times - inside)
            self.loop(at, steps, times, passed)
            at += 2 * (steps * times - passed)
        while at < outputs:
            self.outputs(at, min(2, outputs - at))
            at += 2
        code.offset(of.plane, lines.strides[0] * lines.line_bytes - self.read, of.amount)
        code.offset(of.y, lines.pitch[1][1] - self.written, of.amount)
