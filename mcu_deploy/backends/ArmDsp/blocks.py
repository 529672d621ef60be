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

from mcu_deploy.backends.ArmDsp.layers import Convolution
from mcu_deploy.backends.ArmDsp.lines import LANES, MOST_OUTPUTS, PAIR, Lines
from mcu_deploy.backends.ArmDsp.planes import unrolled, widen
from mcu_deploy.backends.ArmDsp.six_sums_text import round_in_float, round_twice
from mcu_deploy.backends.isa import Assembly

_REGISTERS = tuple(f"r{n}" for n in range(12))
# Taps of a row, by their numbers, that are the halves of a register; None: nothing.
Halves = tuple[int, int | None]


def gather(layer: Convolution, lines: Lines) -> Assembly:
    """Lines of four channels to the planes. r0: the first pixel, r1: planes, r2: how many lines;
    r3: the bytes from a pixel to the next, and from behind a line to the next.

    Layers of two or three channels are taken byte by byte: a word would end behind the image.
    """
    code = Assembly()
    minus = -layer.zero_points[0] & 0xFFFF
    first = lines.before[1] // 2
    code.note("Lines of four channels to their planes, as int16: two pixels a word.")
    code("mov r12, r0", "mov r7, r1", f"movw lr, #{lines.line_bytes}", "mla lr, lr, r2, r7")
    code("vmov s0, lr", "ldrd lr, r0, [r3]", "vmov s1, r0")
    code(f"movw r6, #{minus}", f"movt r6, #{minus}")
    if first:
        code(f"addw r7, r7, #{PAIR * first}")
    leads = lines.before[1] % 2
    pairs, last = divmod(lines.taken - leads, 2)
    steps, times = unrolled(pairs)
    with code.repeat(lines.input[0]):
        if leads:
            _pair(code, layer, (False, True))
        if times > 1:
            code("mov r0, r7")
            code.offset("r0", PAIR * steps * times, "r1")
            code("vmov s2, r0")
            with code.repeat(times):
                for _ in range(steps):
                    _pair(code, layer, (True, True))
                code("vmov r0, s2", "cmp r7, r0")
        for _ in range(pairs - steps * times if times > 1 else pairs):
            _pair(code, layer, (True, True))
        if last:
            _pair(code, layer, (True, False))
        code.offset("r7", lines.line_bytes - PAIR * (leads + pairs + last), "r0")
        code("vmov r0, s1", "add r12, r12, r0", "vmov r0, s0")
        code(f"sub r1, r7, #{PAIR * first}" if first else "mov r1, r7", "cmp r1, r0")
    return code


def _pair(code: Assembly, layer: Convolution, are_there: tuple[bool, bool]) -> None:
    """Two pixels of the planes, of which the image may lack one, from r12 to r7."""
    count = sum(are_there)
    channels = layer.x.shape[1]
    if channels < LANES:
        load = "ldrsb" if layer.extend == "sxtb16" else "ldrb"
        for half in (half for half in (0, 1) if are_there[half]):
            for lane in range(channels):
                code(f"{load} r0, [r12, #{lane}]", "add r0, r0, r6")
                code(f"strh r0, [r7, #{4 * lane + 2 * half}]")
            code("add r12, r12, lr")
        code(f"add r7, r7, #{PAIR}")
        return
    names = [name for name, is_there in zip(("r0", "r1"), are_there, strict=True) if is_there]
    code(*(f"ldr {name}, {at}" for name, at in zip(names, ("[r12]", "[r12, lr]"), strict=False)))
    code("add r12, r12, lr, lsl #1" if count == 2 else "add r12, r12, lr")
    nothing = (layer.zero_points[0] & 0xFF) * 0x101
    for name in {"r0", "r1"} - {*names}:
        code(f"movw {name}, #{nothing}", f"movt {name}, #{nothing}")
    widen(code, layer, "r0", "r1")


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
        room = len(_REGISTERS) - self.outputs - 1
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
        return sum((len(part) + 1) // 2 for part in self.chunks)

    def assemble(self) -> Assembly:
        """All lines of a band. r0: the filter's bias, scale and addend, and its weights; r1: its
        planes, r2: the output, r3: numbers: the bytes from an output to the next, and from a line
        to the next; the zero point.

        d4: scale and addend; d5: the output's place, and the bytes to the next; d6: a block's words
        and the weights; d8: the line's words and output; s14: the bias; s15: where the line's loop
        ends; s18: bytes to the output's next line; s19: lines; s20: behind the weights; s21: zero.
        """
        code, lines = Assembly(), self.lines
        code("ldmia r0!, {r7-r9}", "ldmia r3, {r4-r6}", "vmov s14, r7", "vmov d4, r8, r9")
        code("vmov s11, r4", "vmov s18, r5", "vmov s21, r6", "vmov s13, r0", "vmov d8, r1, r2")
        code(f"mov r4, #{lines.band}", "vmov s19, r4")
        if not self.is_unrolled:
            code("mov r4, r0")
            code.offset("r4", 4 * self.row_words * lines.kernel[0], "r5")
            code("vmov s20, r4")
        times, rest = divmod(lines.output[1], self.outputs)
        step = PAIR * self.outputs * lines.strides[1] // 2
        ways: list[tuple[str, str]] = []
        fractional, done = code.label(), code.label()
        code.note(f"Lines of outputs: a row of the kernel adds to {self.outputs} neighbours' sums.")
        with code.repeat(lines.band):
            code("vmov r4, r5, d8", "vmov s12, r4", "vmov s10, r5")
            if times > 1:
                code.offset("r4", step * times, "r6")
                code("vmov s15, r4")
                with code.repeat(times):
                    ways.append(self._block(code, self.outputs))
                    code("vmov r6, r7, d6", f"addw r6, r6, #{step}", "vmov s12, r6")
                    code("vmov r7, s15", "cmp r6, r7")
            else:
                ways.append(self._block(code, self.outputs))
                if rest:
                    code("vmov r6, s12", f"addw r6, r6, #{step}", "vmov s12, r6")
            if rest:
                ways.append(self._block(code, rest))
            code("vmov r4, r5, d8", "vmov r6, s18", "add r5, r5, r6")
            code.offset("r4", lines.strides[0] * lines.line_bytes, "r6")
            code("vmov d8, r4, r5", "vmov r6, s19", "subs r6, r6, #1", "vmov s19, r6")
        code(f"b {done}f")
        with code.rarely():
            for way, back in ways:
                code.place(way)
                code(f"bl {fractional}f", f"b {back}b")
            code.place(fractional)
            self._round_otherwise(code)
            code("bx lr")
        code.place(done)
        return code

    def _block(self, code: Assembly, outputs: int) -> tuple[str, str]:
        """Neighbours. Gives the label to be placed for filters that no integers round, and the one
        to go on at then."""
        lines, sums = self.lines, _REGISTERS[:outputs]
        rows = lines.kernel[0]
        down = lines.dilations[0] * lines.line_bytes
        code("vmov r12, lr, d6", f"vmov {sums[-1]}, s14")
        if self.is_unrolled or rows == 1:
            begun: set[str] = set()
            for row in range(rows):
                if row:
                    code.offset("r12", down, _REGISTERS[-1])
                self._row(code, sums, begun)
        else:
            code(*(f"mov {acc}, {sums[-1]}" for acc in sums[:-1]))
            with code.repeat(rows):
                self._row(code, sums, {*sums})
                code.offset("r12", down, _REGISTERS[-1])
                code(f"vmov {_REGISTERS[-1]}, s20", f"cmp lr, {_REGISTERS[-1]}")
        way, store = code.label(), code.label()
        code("vmov r6, r7, d4", "cmp r6, #0", f"ble {way}f")
        code(*(f"smmla {acc}, {acc}, r6, r7" for acc in sums))
        code(*(f"{self.saturate} {acc}, #8, {acc}, asr #{self.shift}" for acc in sums))
        code.place(store)
        code("vmov r6, r7, d5")
        for at in range(0, outputs - 1, 2):
            code(f"strb {sums[at]}, [r6]", f"strb {sums[at + 1]}, [r6, r7]")
            code("add r6, r6, r7, lsl #1")
        if outputs % 2:
            code(f"strb {sums[-1]}, [r6]", "add r6, r6, r7")
        code("vmov s10, r6")
        return way, store

    def _row(self, code: Assembly, sums: Sequence[str], begun: set[str]) -> None:
        """A row of the kernel. begun: the sums that do not begin with the bias, which the last one
        holds until then."""
        for part in self.chunks:
            free = _REGISTERS[len(sums) :]
            weights, data = free[: len(part)], free[len(part) :]
            words = ", ".join(weights[::2])
            if len(part) > 2:
                code(f"ldmia lr!, {{{words}}}")
            else:
                code(f"ldr {words}, [lr], #4")
            for low, high in zip(weights[::2], (*weights[1::2], ""), strict=False):
                code(*([f"sxtb16 {high}, {low}, ror #8"] if high else []))
                code(f"sxtb16 {low}, {low}")
            steps = sorted(self._steps(part, weights, len(sums)))
            needed = sorted({step[0] for step in steps})
            for at in range(0, len(needed), len(data)):
                held = dict(zip(needed[at : at + len(data)], data, strict=False))
                code(*(f"ldr {name}, [r12, #{PAIR * word}]" for word, name in held.items()))
                for word, output, multiply_add, weight in steps:
                    if word in held:
                        acc = sums[output]
                        source = acc if acc in begun else sums[-1]
                        begun.add(acc)
                        code(f"{multiply_add} {acc}, {weight}, {held[word]}, {source}")

    def _steps(
        self, part: Sequence[Halves], weights: Sequence[str], outputs: int
    ) -> Iterator[tuple[int, int, str, str]]:
        """What is added to a block's sums: a word of the line, the output, the instruction, the
        register of the weights."""
        places = {
            tap: (name, "bt"[half])
            for halves, name in zip(part, weights, strict=False)
            for half, tap in enumerate(halves)
            if tap is not None
        }
        pairs = dict(zip(part, weights, strict=False))
        for output in range(outputs):
            columns: dict[int, list[int]] = {}
            for tap in sorted(places):
                column = output * self.lines.strides[1] + tap * self.lines.dilations[1]
                columns.setdefault(column // 2, []).append(tap)
            for word, taps in columns.items():
                if len(taps) == 2:
                    yield word, output, "smlad", pairs[taps[0], taps[1]]
                else:
                    (tap,) = taps
                    name, half = places[tap]
                    column = output * self.lines.strides[1] + tap * self.lines.dilations[1]
                    yield word, output, f"smla{half}{'bt'[column % 2]}", name

    def _round_otherwise(self, code: Assembly) -> None:
        """Six sums; r6 and r7 are the scale, which is minus the shift here, and the addend, which
        is a multiplier or a float32 factor. lr stays."""
        code("mov r8, r7", "vmov r9, s21")
        if self.rounds_twice:
            code("rsb r6, r6, #0", "orr r6, r6, r6, lsl #8", "lsl r9, r9, #16", "orr r9, r9, r6")
            round_twice(code, self.saturate, (0, 0))
        else:
            round_in_float(code, self.saturate)
