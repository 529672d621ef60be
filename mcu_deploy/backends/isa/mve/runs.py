"""Pixels of the output in runs: windows of a run are one step behind each other. Two of them are
multiplied at a time; of a run of an odd number the second two begin with a pixel of the first."""

from __future__ import annotations

from contextlib import nullcontext

from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.mve.band import Gather
from mcu_deploy.backends.isa.mve.tiles import Tile, add_number, add_to
from mcu_deploy.backends.isa.operands import Memory
from mcu_deploy.backends.quantized.vector_product import HEAD, TILE
from mcu_deploy.backends.quantized.vector_tiles import PixelRun, VectorTiles

# Words of the frame.
_STREAM, _PAIRS, _RUNS, _WINDOW = range(0, 16, 4)
FRAME_BYTES = 16
FRAME = "the stream, pairs that are left of a run, runs, or windows of a row, the next window"


class Runs:
    """The loops over pixels. frame: where the words are; run: of all of them; gather: where windows
    are brought together, `windows_at` bytes behind the frame; words_at: how far behind it the words
    are."""

    def __init__(
        self, code: Assembly, product: VectorTiles, tile: Tile, frame: Register, run: PixelRun,
        gather: Gather | None = None, windows_at: int = 0, words_at: int = 0,
    ) -> None:  # fmt: skip
        self._code, self._product, self._tile = code, product, tile
        self._words_at = words_at
        self._frame, self._gather, self._windows_at = frame, gather, windows_at
        # Windows that are brought together may be of two runs.
        self._wraps = gather is not None and run.times > 1 and run.length % 2 == 1
        self._run, self._of_row = run, run
        if self._wraps:
            self._run = PixelRun(run.length * run.times, 1, run.step, 0)

    def begin(self, weights: Register) -> None:
        """What stays. weights: the packed stream."""
        code, stream = self._code, self._tile.stream
        self._tile.begin(weights)
        add_to(code, stream, weights, HEAD - self._product.skipped)
        code.str(stream, self._word(_STREAM))

    def move_stream(self, by: int) -> None:
        """To weights that are so many bytes farther."""
        code, stream, free = self._code, self._tile.stream, self._code.register("free")
        code.ldr(stream, self._word(_STREAM))
        code.offset(stream, by, free)
        code.str(stream, self._word(_STREAM))

    def assemble(self, first: Register) -> None:
        """All pixels. first: where the first window is; if none is gathered, the tile's
        register."""
        code, run = self._code, self._run
        left = code.register("runs_left")
        if self._gather is not None:
            code.str(first, self._word(_WINDOW))
        if self._wraps:
            code.mov(left, self._of_row.length)
            code.str(left, self._word(_RUNS))
        if run.times > 1:
            code.mov(left, run.times)
            code.str(left, self._word(_RUNS))
        with code.repeat(run.times) if run.times > 1 else nullcontext():
            self._pairs()
            if run.times > 1:
                if self._gather is not None:
                    code.ldr(first, self._word(_WINDOW))
                code.offset(first, run.jump, left)
                if self._gather is not None:
                    code.str(first, self._word(_WINDOW))
                code.ldr(left, self._word(_RUNS))
                code.subs(left, left, 1)
                code.str(left, self._word(_RUNS))

    def _word(self, at: int) -> Memory:
        return self._frame[self._words_at + at]

    def _pairs(self) -> None:
        code, run = self._code, self._run
        pairs = -(-run.length // 2)
        left = code.register("pairs_left")
        if pairs > 1:
            code.mov(left, pairs)
            code.str(left, self._word(_PAIRS))
        self._each(left, pairs)

    def counted(self, pairs: Register) -> None:
        """So many pairs as a register says, at least one, of a run of an even length."""
        self._code.str(pairs, self._word(_PAIRS))
        self._each(pairs, self._run.length // 2)

    def _each(self, left: Register, pairs: int) -> None:
        code, tile = self._code, self._tile
        with code.repeat(pairs) if pairs > 1 else nullcontext():
            if self._gather is not None:
                self._two_windows(self._gather)
            code.ldr(tile.stream, self._word(_STREAM))
            code.reads(self._product.section_bytes)
            tile.assemble()
            code.note("The next two pixels.")
            self._next(left, pairs)

    def _next(self, left: Register, pairs: int) -> None:
        """To the next two, of which one may be the second one of the first two."""
        code, tile, run = self._code, self._tile, self._run
        pitch, taken = self._product.pitch, min(run.length, 2)
        is_odd = pairs > 1 and run.length % 2 == 1
        if pairs > 1:
            code.ldr(left, self._word(_PAIRS))
        add_number(code, tile.output, (taken - is_odd) * pitch - TILE * self._product.tiles)
        # A window that is gathered of any run is that of the second pixel.
        self._move(taken - is_odd - self._wraps)
        if is_odd:
            done = code.label()
            code.compare(left, pairs, code.register("all_pairs"))
            code.beq(done)
            add_number(code, tile.output, pitch)
            self._move(1)
            code.place(done)
        if pairs > 1:
            code.subs(left, left, 1)
            code.str(left, self._word(_PAIRS))

    def _move(self, steps: int) -> None:
        """To a window that is so much farther."""
        code, run = self._code, self._run
        if not steps:
            return
        if self._gather is None:
            add_number(code, self._tile.window, steps * run.step)
            return
        at = code.register("next_window")
        code.ldr(at, self._word(_WINDOW))
        if self._wraps:
            self._step(at)
        else:
            add_number(code, at, steps * run.step)
        code.str(at, self._word(_WINDOW))

    def _step(self, at: Register) -> None:
        """To the next window, which may be in the next run."""
        code, row = self._code, self._of_row
        left, jump = code.registers("windows_left jump")
        code.ldr(left, self._word(_RUNS))
        code.number(jump, row.jump & 0xFFFF_FFFF)
        add_number(code, at, row.step)
        code.subs(left, left, 1)
        code.itt("eq")
        code.addeq(at, at, jump)
        code.moveq(left, row.length)
        code.str(left, self._word(_RUNS))

    def _two_windows(self, gather: Gather) -> None:
        code, frame, run = self._code, self._frame, self._run
        code.note("The windows of two pixels.")
        at, to = code.register("next_window"), self._tile.window
        code.ldr(at, self._word(_WINDOW))
        add_to(code, to, frame, self._windows_at)
        gather.begin()
        gather.window(at, to)
        if run.length > 1:
            if self._wraps:
                self._step(at)
                code.str(at, self._word(_WINDOW))
            else:
                add_number(code, at, run.step)
            add_number(code, to, gather.bytes)
            gather.window(at, to)
            add_number(code, to, -gather.bytes)
