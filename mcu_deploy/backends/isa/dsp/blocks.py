"""The assembler of depthwise convolutions of any kernel: lines of planes, and blocks of outputs.

A plane holds a channel's lines as int16, padding included, and a word of it is two neighbours. Up
to six neighbouring outputs are a block: of each row of the kernel the weights are taken once for
it, a word of the line is taken once, and each tap or pair of taps is one multiplication.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from mcu_deploy.backends.isa import Assembly, Kind, Label, Register, physical
from mcu_deploy.backends.isa.dsp.fours import Fours
from mcu_deploy.backends.isa.dsp.planes import gather_any
from mcu_deploy.backends.isa.dsp.rounding import round_each_twice, round_in_float, round_once
from mcu_deploy.backends.isa.kept import counted
from mcu_deploy.backends.quantized.layers import Convolution
from mcu_deploy.backends.quantized.lines import MOST_OUTPUTS, PAIR, Lines

# Of the words in front of the taps, of which there are so many.
NUMBERS, STEP, ZERO_POINT = 6, 1, 3
HEADER = 3  # words of a filter's taps before its weights
_REGISTERS = 12  # of a block: its sums, weights, and words of the line
# Taps of a row, by their numbers, that are the halves of a register; None: nothing.
Halves = tuple[int, int | None]


class _Block:
    """The registers of what convolves a plane by blocks.

    plane, y: what is read and written next; stream: of the weights; step: from an output to the
    next. sums: of neighbours; weights: of each of the kernel's chunks the taps, two in a register.
    In D registers lie the beginnings of a line, in plane and output; a block's, in plane and
    weights; its first output and the step; scale and addend. In S registers, where the line's last
    whole block ends, the bytes to the next line of outputs, how many lines are left, the bias, and
    where the weights end.
    """

    def __init__(self, code: Assembly, fours: Fours, chunks: Sequence[Sequence[Halves]]) -> None:
        self.fours = fours
        self.taps, self.plane, self.y = fours.taps, fours.plane, fours.y
        self.stream, self.step = code.registers("stream step")
        self.sums = code.registers(" ".join(f"sum{n}" for n in range(MOST_OUTPUTS)))
        self.weights = [
            code.registers(
                " ".join("w" + "_".join(str(n) for n in pair if n is not None) for pair in part)
            )
            for part in chunks
        ]
        self.scale, self.addend, self.zero = code.registers("scale addend zero")
        self.end, self.amount, self.left = code.registers("end amount left")
        self.line, self.block, self.output, self.scaling = code.registers(
            "line_plane_y plane_stream y_step scale_addend", kind=Kind.DOUBLE
        )
        self.bias, self.line_end, self.line_step, self.lines, self.stream_end = code.registers(
            "bias line_end line_step lines_left stream_end", kind=Kind.SINGLE
        )


@dataclass(frozen=True)
class Blocks:
    """The code for one filter. is_unrolled: over the rows of the kernel."""

    lines: Lines
    saturate: str
    shift: int
    rounds_twice: bool
    outputs: int
    is_unrolled: bool

    @staticmethod
    def sizes(lines: Lines) -> list[int]:
        """The numbers of outputs that a block may have: each but the last begins at an even pixel
        of the line."""
        outputs, stride = lines.output[1], lines.strides[1]
        fitting = range(1, min(outputs, MOST_OUTPUTS) + 1)
        return [n for n in fitting if n * stride % 2 == 0 or n == outputs]

    @property
    def _phases(self) -> tuple[int, ...]:
        """Which half of a word an output's first tap may be."""
        return (0, 1) if self.lines.strides[1] % 2 and self.lines.output[1] > 1 else (0,)

    @cached_property
    def chunks(self) -> list[list[Halves]]:
        """A row of the kernel in as few parts as the registers hold: of each, theirs."""
        taps = self.lines.kernel[1]
        room = _REGISTERS - self.outputs - 1
        for count in range(1, taps + 1):
            ends = [taps * n // count for n in range(count + 1)]
            parts = [self._halves(range(a, b)) for a, b in pairwise(ends)]
            if all(len(part) <= room for part in parts):
                return parts
        raise AssertionError("a tap fits")

    def _halves(self, taps: range) -> list[Halves]:
        pairs: list[Halves] = []
        for phase in self._phases if self.lines.dilations[1] == 1 else ():
            pairs += [(n, n + 1) for n in taps[:-1] if (n + phase) % 2 == 0]
        in_pairs = {n for pair in pairs for n in pair}
        single = [n for n in taps if n not in in_pairs]
        for at in range(0, len(single), 2):
            pairs.append((single[at], single[at + 1] if at + 1 < len(single) else None))
        return pairs

    @property
    def row_words(self) -> int:
        """Of weights."""
        return len(self.order) // 4

    @cached_property
    def order(self) -> list[int | None]:
        """Of the bytes of a row of weights, which tap each is; None: 0. A word has two registers'
        halves in its even and in its odd bytes."""
        order: list[int | None] = []
        for part in self.chunks:
            pairs = [*part, (None, None)] if len(part) % 2 else part
            for low, high in zip(pairs[::2], pairs[1::2], strict=True):
                order += [low[0], high[0], low[1], high[1]]
        return order

    def assemble(self, layer: Convolution) -> Assembly:
        """The kernel: image, output, taps, scratch."""
        code, lines = Assembly(), self.lines
        filters, channels = int(layer.weights.shape[0]), int(layer.x.shape[1])
        words = HEADER + lines.kernel[0] * self.row_words
        fours = Fours(code, lines, words, channels, filters // channels)
        of = _Block(code, fours, self.chunks)
        self._describe(code)
        fours.begin(NUMBERS)
        at, line_step = code.registers("numbers line_step")
        code.vmov(at, fours.numbers)
        code.ldrd(of.step, line_step, at[4 * STEP])
        code.vmov(of.output.halves[1], of.step)
        code.vmov(of.line_step, line_step)
        ways: list[tuple[Label, int, Label]] = []

        def finish() -> None:
            code.vmov(line_step, of.line_step)
            code.number(of.left, lines.band)
            code.mla(of.y, line_step, of.left, of.y)

        fours.all(
            lambda: gather_any(code, layer, lines, fours),
            lambda: ways.extend(self._convolve(code, of)),
            finish,
        )
        self._round_otherwise(code, of, ways)
        return code

    def _convolve(self, code: Assembly, of: _Block) -> Sequence[tuple[Label, int, Label]]:
        """All lines of a band, by a filter. Gives what each block does."""
        lines, bias, line_step = self.lines, *code.registers("bias line_step")
        code.ldmia(of.taps.moving, [bias, of.scale, of.addend])
        code.vmov(of.bias, bias)
        code.vmov(of.scaling, of.scale, of.addend)
        code.vmov(of.block, of.plane, of.taps)
        code.vmov(of.output.halves[0], of.y)
        code.vmov(of.line, of.plane, of.y)
        if not self.is_unrolled:
            code.offset(of.end, 4 * self.row_words * lines.kernel[0], of.end, of.taps)
            code.vmov(of.stream_end, of.end)
        times, rest = divmod(lines.output[1], self.outputs)
        step = PAIR * self.outputs * lines.strides[1] // 2
        ways: list[tuple[Label, int, Label]] = []

        def on() -> None:
            """To the next block of a line."""
            code.vmov(of.plane, of.block.halves[0])
            code.addw(of.plane, of.plane, step)
            code.vmov(of.block.halves[0], of.plane)

        code.note(f"Lines of outputs: a row of the kernel adds to {self.outputs} neighbours' sums.")
        with counted(code, of.lines, lines.band):
            if times > 1:
                code.offset(of.end, step * times, of.end, of.plane)
                code.vmov(of.line_end, of.end)
                with code.repeat(times):
                    ways.append(self._block(code, of, self.outputs))
                    on()
                    code.vmov(of.end, of.line_end)
                    code.cmp(of.plane, of.end)
            else:
                ways.append(self._block(code, of, self.outputs))
                if rest:
                    on()
            if rest:
                ways.append(self._block(code, of, rest))
            code.vmov(of.plane, of.y, of.line)
            code.vmov(line_step, of.line_step)
            code.add(of.y, of.y, line_step)
            code.offset(of.plane, lines.strides[0] * lines.line_bytes, of.amount)
            code.vmov(of.line, of.plane, of.y)
            code.vmov(of.block.halves[0], of.plane)
            code.vmov(of.output.halves[0], of.y)
        return ways

    def _describe(self, code: Assembly) -> None:
        lines, (rows, columns) = self.lines, self.lines.kernel
        taps = ["0" if tap is None else f"w[k][{tap}]" for tap in self.order]
        words = ", ".join(f"({', '.join(taps[n : n + 4])})" for n in range(0, len(taps), 4))
        code.note(
            f"A {rows}x{columns} kernel for each filter f: "
            f"y[i][j][f] = sat((sum scale >> 32) + addend >> {self.shift}), rounded down, with "
            "sum = bias + sum(w[k][l] x[i'][j'][c]), x[i'][j'][c] what w[k][l] meets without the "
            "zero point of x, or 0 beyond the image. Where scale is not above 0, "
            + ("as TFLite rounds twice, by the multiplier addend and the shift to the left scale."
               if self.rounds_twice else
               "y[i][j][f] = sat(round(sum addend) + zero point), with addend a float32.")
            + f" Lines i are {'columns' if lines.is_transposed else 'rows'} of the image."
        )  # fmt: skip
        code.note(
            "x and y: [row][column][channel or filter]. In front of taps are words: channels; "
            "bytes from an output to the next, and from a line of outputs to the next; the zero "
            "point of y; bytes from a pixel to the next, and from behind a line to the next."
        )
        code.note(
            "taps, words, those in brackets by their bytes from the lowest on: bias, scale, "
            f"addend, for k of 0 to {rows - 1}: {words}."
        )
        code.note(
            f"scratch: {lines.held} lines of four channels, of {lines.line_bytes} bytes: of each "
            "pair of pixels a word of each channel, two int16."
        )
        may = ", which may lie on it where there are as many filters as channels"
        code.note(
            "A band's input is in the scratch before its outputs are written"
            f"{may if lines.may_lie_on_input else ''}."
        )

    def _block(self, code: Assembly, of: _Block, outputs: int) -> tuple[Label, int, Label]:
        """Neighbours. Gives the label to be placed for filters that no integers round, how many
        sums there are, and the label to go on at then."""
        lines, sums = self.lines, of.sums[:outputs]
        rows = lines.kernel[0]
        down = lines.dilations[0] * lines.line_bytes
        # Where sums are fewer, more words of the line have room.
        x = code.registers(" ".join(f"x{n}" for n in range(_REGISTERS - outputs)))
        code.vmov(of.plane, of.stream, of.block)
        code.vmov(sums[-1], of.bias)
        if self.is_unrolled or rows == 1:
            begun: set[Register] = set()
            for row in range(rows):
                if row:
                    code.offset(of.plane, down, of.amount)
                self._row(code, of, sums, x, begun)
        else:
            for acc in sums[:-1]:
                code.mov(acc, sums[-1])
            with code.repeat(rows):
                self._row(code, of, sums, x, {*sums})
                code.offset(of.plane, down, of.amount)
                code.vmov(of.end, of.stream_end)
                code.cmp(of.stream, of.end)
        way, store = code.label(), code.label()
        code.vmov(of.scale, of.addend, of.scaling)
        code.cmp(of.scale, 0)
        code.ble(way)
        scales = [(of.scale, of.addend)] * outputs
        round_once(code, self.saturate, sums, scales, [self.shift] * outputs)
        code.place(store)
        code.vmov(of.y, of.step, of.output)
        for at in range(0, outputs - 1, 2):
            code.strb(sums[at], of.y[0])
            code.strb(sums[at + 1], of.y[of.step])
            code.add(of.y, of.y, of.step.lsl(1))
        if outputs % 2:
            code.strb(sums[-1], of.y[0])
            code.add(of.y, of.y, of.step)
        code.vmov(of.output.halves[0], of.y)
        return way, outputs, store

    def _row(
        self,
        code: Assembly,
        of: _Block,
        sums: Sequence[Register],
        x: Sequence[Register],
        begun: set[Register],
    ) -> None:
        """A row of the kernel. x: for the line's words, as many as the weights leave. begun: the
        sums that do not begin with the bias, which the last one holds until then."""
        for part, weights in zip(self.chunks, of.weights, strict=True):
            data = x[: len(x) - len(part)]
            if len(part) > 2:
                code.ldmia(of.stream.moving, weights[::2])
            else:
                code.ldr(weights[0], of.stream.after(4))
            for n in range(0, len(part), 2):
                if n + 1 < len(part):
                    code.sxtb16(weights[n + 1], weights[n].ror(8))
                code.sxtb16(weights[n], weights[n])
            steps = sorted(self._steps(part, len(sums)))
            needed = sorted({step[0] for step in steps})
            for at in range(0, len(needed), len(data)):
                held = dict(zip(needed[at : at + len(data)], data, strict=False))
                for word, pixels in held.items():
                    code.ldr(pixels, of.plane[PAIR * word])
                for word, output, multiply_add, number in steps:
                    if word in held:
                        acc = sums[output]
                        source = acc if acc in begun else sums[-1]
                        begun.add(acc)
                        getattr(code, multiply_add)(acc, weights[number], held[word], source)

    def _steps(self, part: Sequence[Halves], outputs: int) -> Iterator[tuple[int, int, str, int]]:
        """What is added to a block's sums: a word of the line, the output, the instruction, the
        number of the register of the weights."""
        places = {
            tap: (number, "bt"[half])
            for number, halves in enumerate(part)
            for half, tap in enumerate(halves)
            if tap is not None
        }
        for output in range(outputs):
            columns: dict[int, list[int]] = {}
            for tap in sorted(places):
                column = output * self.lines.strides[1] + tap * self.lines.dilations[1]
                columns.setdefault(column // 2, []).append(tap)
            for word, taps in columns.items():
                if len(taps) == 2:
                    yield word, output, "smlad", part.index((taps[0], taps[1]))
                else:
                    (tap,) = taps
                    number, half = places[tap]
                    column = output * self.lines.strides[1] + tap * self.lines.dilations[1]
                    yield word, output, f"smla{half}{'bt'[column % 2]}", number

    def _round_otherwise(
        self, code: Assembly, of: _Block, ways: Sequence[tuple[Label, int, Label]]
    ) -> None:
        """Six sums, by a subroutine that `ways` lead to, of filters that no integers round."""
        rounding, done = code.label(), code.label()
        backs = [code.label() for _ in ways]
        code.b(done)
        with code.rarely():
            for (way, outputs, store), back in zip(ways, backs, strict=True):
                code.place(way)
                for none in of.sums[outputs:]:
                    code.mov(none, of.sums[0])
                code.bl(rounding)
                code.place(back)
                code.b(store)
            code.place(rounding)
            code.note("No integers round this filter.")
            code.vmov(of.zero, of.fours.numbers)
            code.ldr(of.zero, of.zero[4 * ZERO_POINT])
            if self.rounds_twice:
                code.rsb(of.scale, of.scale, 0)
                code.orr(of.scale, of.scale, of.scale.lsl(8))
                code.lsl(of.zero, of.zero, 16)
                code.orr(of.zero, of.zero, of.scale)
                sums = [(of.sums, of.addend, 1)]
                round_each_twice(code, self.saturate, sums, of.zero, may_be_0=True)
            else:
                groups = [(of.sums[:3], [of.addend]), (of.sums[3:], [of.addend])]
                round_in_float(code, self.saturate, groups, of.zero)
            code.bx(physical("lr"), to=backs)
        code.place(done)
