"""Winograd's convolution by short loops, and by weights that are read once for more windows.

For memories that answer late: winograd_core.py has the code of all 16 positions of two filters in a
row, which is longer than a cache of instructions, and reads all weights for each three windows.
Here some groups of three windows are transformed; then for two filters one position after the other
is multiplied with all of them, by the same few words, and the sums go to the scratch. What makes
outputs of these is a loop over windows, a few hundred bytes for all of it. That takes a twentieth
longer where nothing is waited for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp import winograd_windows as windows
from mcu_deploy.backends.isa.dsp.rounding import round_filters, round_otherwise, to_next
from mcu_deploy.backends.isa.dsp.tile import Sums, WordStep, join, multiply, numbered
from mcu_deploy.backends.isa.dsp.winograd_core import LANES, begin, describe
from mcu_deploy.backends.isa.dsp.winograd_windows import (
    FRAME,
    POSITIONS,
    ROWS,
    TARGET_BYTES,
    WAITING_BYTES,
    Coverage,
    Shape,
    Windows,
)
from mcu_deploy.backends.quantized.tile_shapes import PIXELS


class _Groups:
    """The registers of two filters and of the windows of a pass.

    stream: where biases, weights and scales are read; position: V of three windows at one; v, u: of
    that two channels of each, and words of weights. at: the sums that wait. In S registers, what is
    kept of these: weights: of all filters; weights_end: of two; words and words_end: of the
    step's; first: V
    of the step; next: the sums of the next three windows; pass_bytes: of the sums of a step;
    behind: the stream behind the scales and what follows them. ends: of the sums of the step, where
    they begin and end; biases: of both filters.
    """

    def __init__(self, code: Assembly, shape: Shape, coverage: Coverage, names: Windows) -> None:
        self.code, self.shape, self.coverage, self.names = code, shape, coverage, names
        self.stream, self.position, self.at, self.end = code.registers("stream position at end")
        self.v = numbered(code, "v", PIXELS.rows)
        self.u = numbered(code, "u", PIXELS.words)
        self.weights, self.words, self.first, self.next, self.behind = code.registers(
            "weights_kept words_kept windows_kept sums_kept stream_behind", kind=Kind.SINGLE
        )
        self.weights_end, self.words_end, self.pass_bytes = code.registers(
            "weights_end words_end pass_bytes", kind=Kind.SINGLE
        )
        self.biases, self.ends = code.registers("biases sums_ends", kind=Kind.DOUBLE)

    @property
    def groups(self) -> float:
        """Of a pass, in the mean."""
        return self.coverage.groups / self.coverage.passes


def assemble(shape: Shape, coverage: Coverage, reads: float) -> Assembly:
    """The kernel: image, output, numbers and packed stream, scratch; as winograd_core.py has it.
    reads: how often a pass reads all weights."""
    code = Assembly()
    names = Windows(code, is_grouped=True)
    of = _Groups(code, shape, coverage, names)
    describe(code, shape)
    begin(code, names, of.weights)
    frame, into, count, left = names.frame, names.into, *code.registers("groups groups_left")
    with code.repeat(coverage.passes):
        with code.times(reads):
            code.reads(2 * len(POSITIONS) * shape.channels * shape.filters)
        code.note("As many groups of three windows as a pass has.")
        code.ldr(left, names.number("groups"))
        code.mov(count, shape.together)
        code.cmp(left, count)
        code.it("lo")
        code.movlo(count, left)
        code.sub(left, left, count)
        code.str(left, names.number("groups"))
        code.add(count, count, count.lsl(1))
        code.lsl(count, count, 3)
        code.vmov(of.pass_bytes, count)
        code.add(of.at, frame, FRAME)
        code.vmov(names.targets, of.at)
        code.add(of.at, of.at, count)
        code.vmov(of.behind, of.at)
        code.add(into, frame, shape.windows_at)
        with code.repeat(of.groups):
            windows.transform(code, shape, coverage, names)
            code.offset(into, 12 * (shape.pairs - 1), of.end)
            code.vmov(of.at, names.targets)
            code.vmov(of.end, of.behind)
            code.cmp(of.at, of.end)
        code.vmov(of.stream, of.weights)
        code.mov(left, shape.filters // 2)
        code.str(left, frame[windows.LEFT])
        with code.repeat(shape.filters // 2):
            _products(of)
            slow = _outputs(of)
            code.vmov(frame, names.kept)
            code.ldr(left, frame[windows.LEFT])
            code.subs(left, left, 1)
            code.str(left, frame[windows.LEFT])
        code.b(after := code.label())
        with code.times(3 * of.groups):
            slow()
        code.place(after)
        code.vmov(frame, names.kept)
        code.ldr(left, names.number("groups"))
        code.cmp(left, 0)
    return code


def _products(of: _Groups) -> None:
    """Two filters and all windows of a pass: the sums of each position, to the scratch."""
    code, shape, frame = of.code, of.shape, of.names.frame
    sums, at, end, size = Sums.of(code), of.at, of.end, code.register("pass_bytes")
    biases = code.registers("even_bias odd_bias")
    waiting = shape.together * WAITING_BYTES
    code.note("Two filters: the products of 16 positions with the windows of a pass.")
    code.ldmia(of.stream.moving, biases)
    code.vmov(of.biases, *biases)
    code.vmov(of.words, of.stream)
    code.offset(end, 4 * len(POSITIONS) * shape.channels, size, of.stream)
    code.vmov(of.weights_end, end)
    code.vmov(frame, of.names.kept)
    code.offset(of.position, shape.windows_at, size, frame)
    code.vmov(of.first, of.position)
    code.offset(at, shape.waiting_at, end, frame)
    code.vmov(size, of.pass_bytes)
    code.add(end, at, size)
    code.vmov(of.ends, at, end)
    code.vmov(of.next, at)
    with code.repeat(len(POSITIONS) * shape.chunks):
        if shape.rounds > 1:
            code.vmov(of.stream, of.words)
            code.add(end, of.stream, 8 * shape.pairs)
            code.vmov(of.words_end, end)
        with code.repeat(of.groups):
            code.vmov(of.stream, of.words)
            _multiply(of, sums)
            code.vmov(at, of.next)
            code.stmia(at.moving, [one for two in zip(*sums, strict=True) for one in two])
            code.vmov(of.next, at)
            code.vmov(end, of.ends.halves[1])
            code.cmp(at, end)
        code.note("The next position.")
        code.vmov(of.words, of.stream)
        code.vmov(of.position, of.first)
        code.offset(of.position, shape.step_bytes, end)
        code.vmov(of.first, of.position)
        code.vmov(at, end, of.ends)
        code.add(at, at, waiting)
        code.add(end, end, waiting)
        code.vmov(of.ends, at, end)
        code.vmov(of.next, at)
        code.vmov(end, of.weights_end)
        code.cmp(of.stream, end)


def _multiply(of: _Groups, sums: Sums) -> None:
    """Those of three windows at a position, in rounds where channels are many."""
    code, shape = of.code, of.shape
    has_rounds = shape.rounds > 1
    steps = [
        WordStep([six], of.v, side == 0, [None] if pair == 0 and not has_rounds else ())
        for pair in range(shape.pairs // shape.rounds) for side, six in enumerate(sums)
    ]  # fmt: skip
    if not has_rounds:
        multiply(code, of.position, of.stream, steps, of.u)
        return
    for sum_ in sums.all:
        code.mov(sum_, 0)
    with code.repeat(shape.rounds):
        multiply(code, of.position, of.stream, steps, of.u)
        code.vmov(of.u[0], of.words_end)
        code.cmp(of.stream, of.u[0])


def _outputs(of: _Groups) -> Callable[[], None]:
    """Of each window the sums of 16 positions, which become outputs of two filters. Returns what
    adds the code for filters without an addend, which comes behind the loop over filters."""
    code, shape, names = of.code, of.shape, of.names
    at, end, stream, frame = of.at, of.end, of.stream, names.frame
    rows = [code.registers(f"{row}_left {row}_left_odd {row}_right {row}_right_odd")
            for row in ("upper", "lower")]  # fmt: skip
    upper, lower = ((row[:2], row[2:]) for row in rows)
    x, biases = code.registers("x x_odd"), code.registers("even_bias odd_bias")
    scales = code.registers("even_scale even_addend odd_scale odd_addend")
    targets, target = code.register("targets"), code.registers("target below")
    labels = slow, scale, ready = code.label(), code.label(), code.label()
    code.note("Of each window the four outputs: A' M A, scaled, shifted, saturated.")
    code.vmov(of.words, stream)  # where the scales are
    code.vmov(frame, names.kept)
    code.add(targets, frame, FRAME)
    code.vmov(names.targets, targets)
    code.vmov(end, of.pass_bytes)
    code.add(end, end, targets)
    code.vmov(of.weights_end, end)
    code.offset(at, shape.waiting_at, end, frame)
    with code.repeat(3 * of.groups):
        for row in ROWS:
            left, right = {1: upper, 2: lower, 0: upper, 3: lower}[row]
            for column in ROWS:
                of_column = {1: (left, right), 2: (left, right), 0: (left,), 3: (right,)}[column]
                _take(of, x, row, column, of_column)
                if row == 1 and column == 1:
                    code.vmov(*biases, of.biases)
                    for sum_, bias in zip(left, biases, strict=True):
                        code.add(sum_, sum_, bias)
                if row in (1, 2) and column == 2:
                    _add_and_subtract(code, left, right)
            if row == 2:
                for a, b in zip(upper, lower, strict=True):
                    _add_and_subtract(code, a, b)
        code.vmov(of.next, at)
        code.vmov(stream, of.words)
        code.ldmia(stream.moving, scales)
        code.vmov(of.behind, stream)
        code.cmp(scales[1], 0)
        code.beq(slow)
        code.place(scale)
        pixels = (*upper, *lower)
        sums = Sums(tuple(p[0] for p in pixels), tuple(p[1] for p in pixels))
        round_filters(code, shape.saturate, sums, scales, (shape.shift, shape.shift))
        code.place(ready)
        join(code, sums, "pixel")
        code.vmov(targets, names.targets)
        code.ldrd(*target, targets[0])
        for (one, other), to in zip((sums.even[:2], sums.even[2:]), target, strict=True):
            code.strh(one, to[-shape.filters])
            code.strh(other, to.after(2))
        code.strd(*target, targets.after(TARGET_BYTES))
        code.vmov(names.targets, targets)
        code.vmov(at, of.next)
        code.offset(at, TARGET_BYTES - shape.waiting_bytes, end)
        code.vmov(end, of.weights_end)
        code.cmp(targets, end)
    code.vmov(stream, of.behind)
    return functools.partial(_slowly, of, sums, scales, labels)


def _take(
    of: _Groups, x: Sequence[Register], row: int, column: int,
    sums: Sequence[Sequence[Register]],
) -> None:  # fmt: skip
    """The sums of a position, to those of the outputs that they are a part of."""
    code, by = of.code, of.shape.together * WAITING_BYTES
    for chunk in range(of.shape.chunks):
        # The middle of a row that begins: what becomes of both columns follows.
        is_first = row in (1, 2) and column in (1, 2)
        into = sums[column - 1] if is_first else x
        if is_first and chunk == 0:
            code.ldrd(*into, of.at.after(by))
            continue
        code.ldrd(*x, of.at.after(by))
        for of_column in [into] if is_first else sums:
            is_less = not is_first and column == 2 and of_column is sums[1]
            for sum_, one in zip(of_column, x, strict=True):
                (code.sub if is_less else code.add)(sum_, sum_, one)


def _add_and_subtract(code: Assembly, a: Sequence[Register], b: Sequence[Register]) -> None:
    """a + b to a, and a - b to b."""
    for one, other in zip(a, b, strict=True):
        code.add(one, one, other)
        code.sub(other, one, other.lsl(1))


def _slowly(of: _Groups, sums: Sums, scales: Sequence[Register], labels: Sequence[Label]) -> None:
    """Two filters without an addend, see `Pair`."""
    code, shape, coverage = of.code, of.shape, of.coverage
    slow, scale, ready = labels
    unsolved = None if shape.is_solved else code.label()
    kept, lanes = code.register("scales_kept", kind=Kind.DOUBLE), (LANES, LANES)
    code.place(slow)
    if not shape.rounds_twice:
        code.vmov(kept, scales[0], scales[2])

        def go_on() -> None:
            code.vmov(of.behind, of.stream)
            code.vmov(scales[0], scales[2], kept)
            code.b(scale)

        to_next(code, sums, of.stream, scales[1], lanes, coverage.late, go_on, unsolved)
    if unsolved is None:
        return
    with code.times(coverage.unsolved):
        code.place(unsolved)
        code.note("No integers round these filters.")
        if not shape.rounds_twice:
            code.vmov(of.behind, of.stream)
            code.vmov(scales[0], scales[2], kept)
        round_otherwise(code, shape.saturate, sums, scales, lanes, shape.rounds_twice)
        code.b(ready)
