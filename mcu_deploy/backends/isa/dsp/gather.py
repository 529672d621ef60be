"""The taps of three windows, widened to the pairs of int16 that the core multiplies.

A window's row of taps is one run of bytes, as channels are last; of a dilated one it is a run for
each tap. A run is taken by words, which may be unaligned (LDR may, LDM and LDRD may not), and its
last one to three bytes by themselves. Of a convolution in groups it is the channels of one, and a
run for each tap, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp.widening import widen
from mcu_deploy.backends.quantized.layers import Convolution

_MOST_UNROLLED = 6  # words of a run
# Runs of more words are a loop, whose count is a number of the layer.
_MOST_WITHOUT_LOOP = 3
_MOST_COLUMNS = 3  # of a window of one row, each with code of its own
# Rows that have an odd number of last bytes leave half a pair empty each. So many words and last
# bytes of a window are unrolled at most, so that these bytes make pairs with each other.
_MOST_WITH_BYTES_BEHIND = 16

# The code of a word and of a byte of three windows, and what of a loop that fits is much.
_WORD_CODE, _BYTE_CODE, _LARGE_PART = 40, 30, 0.25

# Of a row's pixels, those that are computed because tiles are of three; and where their weights are
# waited for, which tiles of shared columns multiply in turn.
_MOST_FOR_NOBODY, _MOST_WHERE_WAITED = 0.05, 0.125


class Windows:
    """The registers of a tile's windows: three, or one that the three share.

    sources: where their taps are read; downs: what leads each from behind a row of taps to the next
    row. low, high: a word of each window or column, and then its taps. left: rows, or rounds of a
    loop, that are to come; rows_left: rows, meanwhile. counts: rounds and rows, as numbers of the
    layer.
    """

    def __init__(self, code: Assembly, is_shared: bool) -> None:
        def each(name: str, count: int) -> list[Register]:
            return code.registers(" ".join(f"{name}{n}" for n in range(count)))

        self.downs, self.sources = (
            each(name, 1 if is_shared else 3) for name in ("down", "window")
        )
        self.low, self.high = (each(name, 5 if is_shared else 3) for name in ("a", "b"))
        self.left = code.register("left")
        self.rows_left = code.register("rows_left", kind=Kind.SINGLE)
        self.counts = code.register("rounds_rows", kind=Kind.DOUBLE)

    @property
    def begun(self) -> list[Register]:
        """What the frame has from `downs` on."""
        return [*self.downs, *self.sources]

    def down(self, code: Assembly) -> None:
        """Leads all to the next row."""
        for source, down in zip(self.sources, self.downs, strict=True):
            code.add(source, source, down)


@dataclass(frozen=True, eq=False)
class Gather:
    """Of a layer. is_common: the code is of no count of rows and words; only for whole words."""

    layer: Convolution
    is_common: bool = False

    @property
    def channels(self) -> int:
        """Of a group."""
        return int(self.layer.weights.shape[1])

    @property
    def pitch(self) -> int:
        """From a tap to the next one."""
        return self.layer.window.dilations[1] * self.layer.x.shape[1]

    @property
    def row_bytes(self) -> int:
        """From a row's first tap to behind its last one, of all groups."""
        return (self._columns - 1) * self.pitch + self.layer.x.shape[1]

    @property
    def advance(self) -> int:
        """How far a row of taps moves the pointers, of a window of turned ones a column."""
        return (0 if self.is_turned else self._columns - 1) * self.pitch + self.channels

    @property
    def _columns(self) -> int:
        return self.layer.window.kernel[1]

    @property
    def is_turned(self) -> bool:
        """Whether the columns of a window are taken as rows, in a loop: those of a window of one
        row whose columns do not follow each other, where their code would not fit."""
        is_apart = self.layer.window.kernel[0] == 1 and self.pitch != self.channels
        is_long = self._columns > _MOST_COLUMNS and self.layer.loop_bytes is not None
        return is_apart and is_long and not self.is_common

    @property
    def _rows(self) -> int:
        """What the code loops over."""
        return self._columns if self.is_turned else self.layer.window.kernel[0]

    @property
    def _runs(self) -> int:
        """Of a row."""
        return 1 if self.pitch == self.channels or self.is_turned else self._columns

    def down(self, between_rows: int) -> int:
        """From behind a row of taps to the next one. between_rows: from the one's begin to the
        other's; of turned windows it is from one column to the next."""
        return (self.pitch if self.is_turned else between_rows) - self.advance

    @property
    def _run_bytes(self) -> int:
        return self.channels * (1 if self.is_turned else self._columns // self._runs)

    @property
    def _unrolled(self) -> int:
        words = self._run_bytes // 4
        if self.is_common:
            return 1
        is_much = self._runs > 1 and self.layer.loop_bytes is not None
        most = _MOST_WITHOUT_LOOP if is_much else _MOST_UNROLLED
        return max((n for n in range(1, most + 1) if words % n == 0), default=0)

    @property
    def _has_loop(self) -> bool:
        return self.is_common or self._run_bytes // 4 > _MOST_WITHOUT_LOOP

    @property
    def rounds(self) -> int:
        """Of the loop over a run's words."""
        return self._run_bytes // 4 // max(1, self._unrolled)

    @property
    def _has_bytes_behind(self) -> bool:
        """Whether the last bytes of all rows come behind the words of all rows."""
        rows, rest = self.layer.window.kernel[0], self._run_bytes % 4
        is_small = rows * (self._run_bytes // 4 + rest) <= _MOST_WITH_BYTES_BEHIND
        return self._runs == 1 and rows > 1 and rest % 2 == 1 and is_small

    @property
    def _loops_over_rows(self) -> bool:
        """Of these, whether their words are a loop: where the code of all would be a large part of
        what a loop may have."""
        rows, words, rest = self.layer.window.kernel[0], self._run_bytes // 4, self._run_bytes % 4
        limit = self.layer.loop_bytes
        code = rows * (words * _WORD_CODE + rest * _BYTE_CODE)
        return limit is not None and words > 0 and code > limit * _LARGE_PART

    @property
    def moved(self) -> int:
        """So many bytes `assemble` leads the pointer on that it writes to."""
        rows, rest = self._rows * self._runs, -(-(self._run_bytes % 4) // 2)
        behind = 0 if self._has_bytes_behind else 12 * rest
        return rows * (24 * (self._run_bytes // 4) + behind)

    @property
    def is_of_words(self) -> bool:
        return self._runs == 1 and self._run_bytes % 4 == 0 and not self.is_turned

    def weights(self) -> Array:
        """[filter, tap], in the order of the gather; 0 where it fills up a pair."""
        whole = self.layer.weights.transpose(0, 2, 3, 1)
        runs = whole.reshape(whole.shape[0], -1, self._run_bytes)
        of_words = self._run_bytes // 4 * 4
        order = np.arange(0, of_words, 4)[:, None] + np.array([0, 2, 1, 3])
        words, rest = runs[:, :, order.reshape(-1)], runs[:, :, of_words:]
        if self._has_bytes_behind:
            rest = rest.reshape(rest.shape[0], -1)
            return np.concatenate([words.reshape(rest.shape[0], -1), rest], 1)
        if rest.shape[2] % 2:
            rest = np.pad(rest, ((0, 0), (0, 0), (0, 1)))
        return np.concatenate([words, rest], 2).reshape(whole.shape[0], -1)

    @property
    def order(self) -> str:
        """`weights` in words, for the head of a kernel."""
        part = "row" if self._runs == 1 and not self.is_turned else "column"
        parts = ["t are rows of a window"]
        parts += ["of each the columns"] if part == "column" else []
        parts += [f"of each {part} the bytes that lie in x, of each four in the order 0 2 1 3"]
        if self._has_bytes_behind:
            parts.append("behind those of all rows what is left of each")
        elif self.is_common or self._run_bytes % 4:
            parts.append(f"what is left of a {part} is in its order, with a 0 where it is odd")
        return f"{', '.join(parts)}."

    def assemble(self, code: Assembly, windows: Windows, into: Register) -> None:
        """Of three windows, whose sources are lost."""
        code.note(
            "Their taps, widened to int16: two a word, of all three windows in turn. Of each four "
            "bytes of a row they are 0 and 2, 1 and 3; what is left of a row is in its order."
        )
        if self._has_bytes_behind:
            if self._loops_over_rows:
                self._looped_rows(code, windows, into)
            else:
                self._unrolled_rows(code, windows, into)
            return
        rows, left = self._rows, windows.left
        has_rows = rows > 1 or self.is_common
        if has_rows:
            if self.is_common:
                code.vmov(left, windows.counts.halves[1])
            else:
                code.mov(left, rows)
            if self._has_loop:
                code.vmov(windows.rows_left, left)
        with code.repeat(rows) if has_rows else code.times(1):
            for run in range(self._runs):
                for source in windows.sources if run else ():
                    code.add(source, source, self.pitch - self.channels)
                self._run(code, windows, into)
            if has_rows:
                windows.down(code)
                if self._has_loop:
                    code.vmov(left, windows.rows_left)
                code.subs(left, left, 1)
                if self._has_loop:
                    code.vmov(windows.rows_left, left)

    def _unrolled_rows(self, code: Assembly, windows: Windows, into: Register) -> None:
        rows, words, rest = self.layer.window.kernel[0], self._run_bytes // 4, self._run_bytes % 4
        for row in range(rows):
            for _ in range(words):
                self._word(code, windows, into)
            for tap in range(row * rest, (row + 1) * rest):
                self._byte(code, windows, windows.low)
                self._store_tap(code, windows, into, tap, 24 * words * (rows - 1 - row))
            if row < rows - 1:
                windows.down(code)

    def _looped_rows(self, code: Assembly, windows: Windows, into: Register) -> None:
        """The words of all rows in a loop, which passes the last bytes; then these, from the last
        row up."""
        rows, words, rest = self.layer.window.kernel[0], self._run_bytes // 4, self._run_bytes % 4
        code.mov(windows.left, rows)
        with code.repeat(rows):
            for _ in range(words - 1):
                self._word(code, windows, into)
            self._word(code, windows, into, 4 + rest)
            windows.down(code)
            code.subs(windows.left, windows.left, 1)
        load = self._load_byte(code)
        for row in reversed(range(rows)):
            back = rest if row == rows - 1 else self._run_bytes
            for source, down in zip(windows.sources, windows.downs, strict=True):
                code.sub(source, source, down)
            for n in range(rest):
                for x, source in zip(windows.low, windows.sources, strict=True):
                    load(x, source[n] if n else source.before(-back))
                self._store_tap(code, windows, into, row * rest + n)

    def _run(self, code: Assembly, windows: Windows, into: Register) -> None:
        low, high, left = windows.low, windows.high, windows.left
        if self._has_loop:
            code.vmov(left, windows.counts.halves[0])
        with code.repeat(self.rounds) if self._has_loop else code.times(1):
            for _ in range(self._unrolled if self._run_bytes >= 4 else 0):
                self._word(code, windows, into)
            if self._has_loop:
                code.subs(left, left, 1)
        for bytes_left in range(self._run_bytes % 4, 0, -2):
            self._byte(code, windows, low)
            if bytes_left > 1:
                self._byte(code, windows, high)
                for even, odd in zip(low, high, strict=True):
                    code.pkhbt(even, even, odd.lsl(16))
            code.stmia(into.moving, low)

    def _store_tap(
        self, code: Assembly, windows: Windows, into: Register, tap: int, behind: int = 0
    ) -> None:
        """Of each window, from `low`: the tap of that number, of those so many bytes behind."""
        for n, x in enumerate(windows.low):
            code.strh(x, into[behind + 12 * (tap // 2) + 2 * (tap % 2) + 4 * n])

    def _word(self, code: Assembly, windows: Windows, into: Register, on: int = 4) -> None:
        """Four taps of each window, which goes on by so many bytes."""
        for word, source in zip(windows.low, windows.sources, strict=True):
            code.ldr(word, source.after(on))
        widen(code, self.layer.extend, windows.low, windows.high)
        code.stmia(into.moving, [*windows.low, *windows.high])

    def _byte(self, code: Assembly, windows: Windows, to: Sequence[Register]) -> None:
        """A tap of each window."""
        load = self._load_byte(code)
        for tap, source in zip(to, windows.sources, strict=True):
            load(tap, source.after(1))

    def _load_byte(self, code: Assembly) -> Callable[..., None]:
        return code.ldrsb if self.layer.extend == "sxtb16" else code.ldrb


@dataclass(frozen=True, eq=False)
class SharedGather:
    """Of a layer whose windows are neighbours, three columns wide: of the five columns of a tile,
    four channels at a time."""

    layer: Convolution

    @staticmethod
    def refusal(layer: Convolution) -> str:
        """Why windows are not gathered together, a clause; empty where they are."""
        window, channels, pitch = layer.window, layer.weights.shape[1], layer.x.shape[1]
        if window.kernel[1] != 3 or window.strides[1] != 1 or window.dilations[1] != 1:
            return "windows share columns that are three wide, without stride and dilation"
        if channels % 4 or pitch > 1020:
            return f"windows share columns of channels by 4 up to 1020, not {channels} of {pitch}"
        outputs = window.output[1]
        most = _MOST_WHERE_WAITED if layer.is_waited_for else _MOST_FOR_NOBODY
        if -outputs % 3 > most * outputs:
            return f"windows share columns by 3, and rows have {outputs}"
        return ""

    @property
    def row_bytes(self) -> int:
        return 5 * self.layer.x.shape[1]

    @property
    def advance(self) -> int:
        """How far a row of taps moves the pointer."""
        return int(self.layer.weights.shape[1])

    def down(self, between_rows: int) -> int:
        """As `Gather` has it."""
        return between_rows - self.advance

    @property
    def moved(self) -> int:
        """As `Gather` has it."""
        return self.layer.window.kernel[0] * self.advance // 4 * 40

    @property
    def _unrolled(self) -> int:
        words = self.advance // 4
        return max(n for n in range(1, _MOST_UNROLLED + 1) if words % n == 0)

    @property
    def rounds(self) -> int:
        return self.advance // 4 // self._unrolled

    def weights(self) -> Array:
        """[filter, tap]: of each row and two channels the three columns."""
        whole = self.layer.weights.transpose(0, 2, 1, 3)  # [filter, row, channel, column]
        filters, rows = whole.shape[:2]
        # channels: of four (0, 2), then (1, 3)
        pairs = whole.reshape(filters, rows, -1, 2, 2, 3).transpose(0, 1, 2, 4, 5, 3)
        ordered: Array = pairs.reshape(filters, -1)
        return ordered

    @property
    def order(self) -> str:
        """`weights` in words, for the head of a kernel."""
        return (
            "t are rows of a window, of each four channels of a row 0 and 2 of each column, then "
            "1 and 3."
        )

    def assemble(self, code: Assembly, windows: Windows, into: Register) -> None:
        """Of the window, whose source is lost."""
        code.note(
            "Five columns that three windows share, widened to int16, two channels a word: of each "
            "four of a row 0 and 2 of all columns, then 1 and 3."
        )
        pitch, rows, has_loop = self.layer.x.shape[1], self.layer.window.kernel[0], self.rounds > 1
        low, high, left = windows.low, windows.high, windows.left
        (source,) = windows.sources
        code.mov(left, rows)
        with code.repeat(rows):
            if has_loop:
                code.vmov(windows.rows_left, left)
                code.mov(left, self.rounds)
            with code.repeat(self.rounds) if has_loop else code.times(1):
                for _ in range(self._unrolled):
                    code.ldr(low[0], source.after(4))
                    for n in range(1, 5):
                        code.ldr(low[n], source[n * pitch - 4])
                    widen(code, self.layer.extend, low, high)
                    code.stmia(into.moving, [*low, *high])
                if has_loop:
                    code.subs(left, left, 1)
            if has_loop:
                code.vmov(left, windows.rows_left)
            windows.down(code)
            code.subs(left, left, 1)
