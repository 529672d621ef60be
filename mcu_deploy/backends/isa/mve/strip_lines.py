"""A channel of a depthwise convolution over strips: loops over its windows.

What rounds four sums stands between the products of the next four, also from one turn of a loop to
the next: the last turn sums a window more than is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.mve.strip_frame import Frame
from mcu_deploy.backends.isa.mve.strip_sums import LAST, Steps, Sums
from mcu_deploy.backends.quantized.strips import MOST, WORDS, Strips, Vector

_TURN = 3  # vectors of a long line in a turn of a loop, whose sums take the same registers again


class Lines:
    """Turns and the rest. turns: of a band, on average. strip_begin, output_begin: where the
    registers of windows and outputs are before the first turn, from its first ones."""

    def __init__(
        self, code: Assembly, of: Strips, frame: Frame, sums: Sums, turns: float
    ) -> None:  # fmt: skip
        self._code, self._of, self._frame, self._sums = code, of, frame, sums
        self._turns = turns
        self._is_looped, self._is_straight = of.turns > 1, len(of.turn) <= MOST
        self._advance = of.lines * of.line_strips * of.pitch
        self.strip_begin = self.output_begin = 0
        last = of.turn[-1]
        if self._is_looped and not (self._is_straight and sums.is_one):
            self.strip_begin = of.strip_at(last[-1].window) - self._advance
        if self._is_looped and not self._is_straight:
            self.output_begin = of.output_at(last[0]) - of.lines * of.line_bytes
        self._strip = self._output = 0
        self._pending: Steps = []

    def assemble(self, taken: Register | None) -> None:
        """taken: where there are bands, the turns of one are in the frame."""
        code, of = self._code, self._of
        self._strip, self._output = self.strip_begin, self.output_begin
        count = code.register("taken")
        if self._is_looped:
            if taken is None:
                code.number(count, of.turns)
            else:
                self._frame.get(count, "taken")
        if not self._is_looped:
            self._vectors(of.turn)
            self._go_on()
        elif self._is_straight:
            self._straight(count)
        else:
            with code.repeat(self._turns):
                self._vectors(of.turn)
                self._flush()
                self._go_on()
                code.subs(count, count, 1)
        if of.rest:
            self._rest()
        self._flush()

    def _go_on(self) -> None:
        """What follows counts from the next turn."""
        of = self._of
        self._strip -= self._advance
        if not self._is_straight:
            self._output -= of.lines * of.line_bytes
        elif self._is_looped or of.rest:
            self._pending.append((LAST, self._move_output))

    def _move_output(self) -> None:
        code, of, output = self._code, self._of, self._sums.output
        if of.is_any:
            code.add(output, output, self._sums.next_output)
        else:
            code.offset(output, of.lines * of.line_bytes, code.register("far"))

    def _straight(self, count: Register) -> None:
        """Turns that are straight code."""
        of, sums = self._of, self._sums
        if not sums.is_one:
            with self._code.counted(self._turns, count):
                self._vectors(of.turn)
                self._go_on()
                self._flush()
            return
        begin = sums.summed
        self._vector(of.turn, of.turn[0])
        with self._code.counted(self._turns, count):
            for vector in of.turn[1:]:
                self._vector(of.turn, vector)
            self._go_on()
            sums.summed = begin
            self._vector(of.turn, of.turn[0])
        # What is ahead of the last turn is nobody's.
        self._pending = []

    def _rest(self) -> None:
        code, of = self._code, self._of
        if of.bands == 1:
            self._vectors(of.rest)
            return
        left, behind = code.register("turns_left"), code.label()
        self._frame.get(left, "turns_left")
        code.cmp(left, of.band)
        code.bgt(behind)
        with code.times(1 / of.bands):
            self._vectors(of.rest)
            self._flush()
        code.place(behind)

    def _vectors(self, vectors: Sequence[Vector]) -> None:
        """In straight code, or where they are many and the same in a loop."""
        alike = self._alike(vectors)
        # The loop begins by rounding the vector before it, which is as far behind its own one as
        # those in the loop are: so it is not the first.
        turns, first = (alike - 2) // _TURN, (alike - 2) % _TURN + 2
        if len(vectors) <= MOST or turns < 2:
            first, turns = len(vectors), 0
        for vector in vectors[:first]:
            self._vector(vectors, vector)
        if not turns:
            return
        if not self._sums.is_one:
            self._flush()
        strip, output = self._strip, self._output
        with self._code.counted(turns, turns):
            for vector in vectors[first : first + _TURN]:
                self._vector(vectors, vector)
            if not self._sums.is_one:
                self._flush()
        self._strip = strip + turns * (self._strip - strip)
        self._output = output + turns * (self._output - output)
        for vector in vectors[first + turns * _TURN :]:
            self._vector(vectors, vector)

    def _alike(self, vectors: Sequence[Vector]) -> int:
        """How many of the first ones are the first one, moved."""
        of, first = self._of, vectors[0]

        def shape(vector: Vector) -> tuple[object, ...]:
            at = of.strip_at(vector[0].window)
            windows = tuple(of.strip_at(place.window) - at for place in vector)
            return windows, of.offsets(vectors, vector), tuple(place[1:] for place in vector)

        count = 1
        while count < len(vectors) and shape(vectors[count]) == shape(first):
            count += 1
        return count

    def _vector(self, vectors: Sequence[Vector], vector: Vector) -> None:
        """The sums of a vector, and what is pending of the one before."""
        of = self._of
        if not self._sums.is_one:
            self._flush()
        sums: list[Register] = []
        steps: Steps = []
        windows = [(window, [*run]) for window, run in groupby(vector, key=lambda p: p.window)]
        for n, (window, places) in enumerate(windows):
            at = of.strip_at(window)
            outputs = [of.outputs.index((place.row, place.column)) for place in places]
            is_last = n == len(windows) - 1
            found, more = self._sums.of_window(at - self._strip, outputs, len(sums), is_last)
            sums += found
            steps += more
            self._strip = at
        for _, step in sorted([*steps, *self._pending], key=lambda step: step[0]):
            step()
        at = of.output_at(vector[0]) if len(vectors) > MOST else 0
        four = sums + sums[-1:] * (WORDS - len(sums))
        offsets = of.scattered.index(of.offsets(vectors, vector))
        self._pending = self._sums.finish(four, offsets, at - self._output)
        self._output = at

    def _flush(self) -> None:
        for _, step in self._pending:
            step()
        self._pending = []
