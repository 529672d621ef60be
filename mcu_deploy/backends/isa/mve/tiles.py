"""Two pixels times four filters: eight sums in the core's even registers, which VMLADAVA adds to.

Six loads of vectors stand for eight products of vectors, so that the unit of the products never
waits. The sums of a tile become elements while the next one multiplies (rounding.py).
"""

from __future__ import annotations

import functools

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve.rounding import Rounding, Step, add_steps
from mcu_deploy.backends.isa.operands import Memory
from mcu_deploy.backends.quantized.vector_product import TILE, VECTOR
from mcu_deploy.backends.quantized.vector_tiles import VectorTiles

_LARGEST_ADDED = 4095
_WORDS_REACH, _BYTES_REACH = 508, 127
# Products among which a tile's sums become elements: its ends stay in reach of the stream.
_MOST_SPREAD = 72


def add_number(code: Assembly, register: Register, by: int) -> None:
    """Adds any number, without a register more."""
    add = code.add if by > 0 else code.sub
    by = abs(by)
    while by:
        now = min(by, _LARGEST_ADDED)
        add(register, register, now)
        by -= now


def add_to(code: Assembly, to: Register, of: Register, by: int) -> None:
    """One register becomes another one and any number."""
    if 0 < by <= _LARGEST_ADDED:
        code.add(to, of, by)
        return
    code.mov(to, of)
    add_number(code, to, by)


class Tile:
    """The registers of a tile.

    stream: where weights were read last; window: where the first pixel's begins; output: where its
    elements go. pitch: bytes from a row of a window to the next, or a register that has them;
    apart: from the first pixel's window to the other one's; between: from its elements to the
    other's. has_words: whether windows and their rows begin at multiples of 4, whose loads reach
    farther. region: where windows are, as `Register` has it. turns: where turns are counted, if no
    register is left for that.
    """

    def __init__(
        self, code: Assembly, product: VectorTiles, *, pitch: int | Register, apart: int,
        between: int, has_words: bool, region: str = "", turns: Memory | None = None,
    ) -> None:  # fmt: skip
        self._code, self._product = code, product
        self._pitch, self._apart, self._between = pitch, apart, between
        self._has_words, self._is_guarded = has_words, product.is_guarded
        self.stream = code.register("stream", region="weights")
        self.window = code.register("window", region=region)
        self.output = code.register("output")
        self._number, self._turns = code.registers("rounding turns_left")
        self._turns_at = turns
        names = "".join(f"sum{pixel}{filter_} " for pixel in "ab" for filter_ in range(TILE))
        of = code.registers(names)
        self._acc = of[:TILE], of[TILE:]
        self._x = code.registers("xa xb", "q0", "q1", kind=Kind.VECTOR)
        self._words = code.registers("words_a words_b", "q4", "q5", kind=Kind.VECTOR)
        self._end = code.register("end", "q6", kind=Kind.VECTOR)
        self._zeros = code.register("zero_points", "q7", kind=Kind.VECTOR)
        places = ("q2", "q3", "q7")[: 3 - product.adds_zero]
        names = " ".join(f"w{n}" for n in range(len(places)))
        self._weights = code.registers(names, *places, kind=Kind.VECTOR)
        end = self._end
        self._rounding = Rounding(code, product, end, self._number, self._zeros, end, end)
        # How far the window's register is from where a row begins, by bytes and by pitches that a
        # register has; and loads since the last ends.
        self._ahead = self._below = self._loaded = self._taken = 0

    def begin(self, head: Register) -> None:
        """What stays for all pixels. head: where the packed stream begins."""
        code, product = self._code, self._product
        if product.adds_zero:
            code.number(self._number, product.layer.zero_points[1] & 0xFFFF)
            code.vdup_16(self._zeros, self._number)
        if product.needs_number:
            code.ldr(self._number, head[0])

    def assemble(self) -> None:
        """All filters of two pixels. The stream's register is `skipped` bytes of the product in
        front of the first weights; behind it the window's is where it was, and the output's has
        gone on by the elements of all tiles."""
        code, product = self._code, self._product
        code.note("Two pixels times four filters, tile by tile.")
        if self._is_guarded:
            count = code.register("bytes_of_row")
            code.mov(count, product.row_bytes)
            code.vctp_8(count)
        before, of_turn = product.code
        if product.is_kept:
            for pixel in range(2):
                self._load(pixel, 0)
            self._back()
        self._begin_tile()
        for n in range(before):
            self._tile(is_pending=n > 0, is_last=n == before - 1 and not of_turn)
        if of_turn:
            code.mov(self._turns, product.turns)
            if self._turns_at is not None:
                code.str(self._turns, self._turns_at)
            first = self._first
            with code.repeat(product.turns):
                for n in range(of_turn):
                    is_last = n == of_turn - 1
                    # What a turn begins with is in the same registers each time.
                    following = first if is_last else None
                    self._tile(is_pending=before > 0 or n > 0, following=following)
                if not before:
                    self._finish(TILE)
                if self._turns_at is not None:
                    code.ldr(self._turns, self._turns_at)
                code.subs(self._turns, self._turns, 1)
                if self._turns_at is not None:
                    code.str(self._turns, self._turns_at)
        if before:
            self._finish(product.last)

    # Loads.

    def _load(self, pixel: int, vector: int) -> None:
        """A vector of a window. Its register moves where that is out of reach."""
        code, product, window = self._code, self._product, self.window
        row, in_row = divmod(vector, product.row_vectors)
        place = product.begins[in_row] + pixel * self._apart
        if isinstance(self._pitch, int):
            place += row * self._pitch
        elif row > self._below:
            self._down(row - self._below)
        reach = _WORDS_REACH if self._has_words else _BYTES_REACH
        at = place - self._ahead
        if not -reach <= at <= reach:
            # As far as this vector of the first pixel is in reach.
            to = place - pixel * self._apart + reach
            if place - to > reach:
                to = place
            add_number(code, window, to - self._ahead)
            self._ahead, at = to, place - to
        into = self._x[pixel]
        if self._is_guarded:
            code.vpst()
            (code.vldrwt_u32 if self._has_words else code.vldrbt_u8)(into, window[at])
        else:
            (code.vldrw_u32 if self._has_words else code.vldrb_u8)(into, window[at])

    def _down(self, rows: int) -> None:
        """By pitches that a register has; a negative number goes up."""
        assert isinstance(self._pitch, Register)
        move = self._code.add if rows > 0 else self._code.sub
        for bit in range(abs(rows).bit_length()):
            if abs(rows) >> bit & 1:
                move(self.window, self.window, self._pitch.lsl(bit) if bit else self._pitch)
        self._below += rows

    def _back(self) -> None:
        add_number(self._code, self.window, -self._ahead)
        if self._below:
            self._down(-self._below)
        self._ahead = 0

    def _load_weights(self, into: Register | None = None) -> Register:
        into = into or self._weights[self._taken % len(self._weights)]
        by = VECTOR if self._loaded else self._product.skipped
        self._code.vldrw_u32(into, self.stream.before(by))
        self._loaded += 1
        self._taken = self._weights.index(into) + 1
        return into

    # Products.

    def _begin_tile(self, into: Register | None = None) -> None:
        """Loads what it multiplies first."""
        self._loaded = 0
        self._first = self._load_weights(into)
        if not self._product.is_kept:
            self._load(0, 0)

    def _tile(
        self, *, is_pending: bool, is_last: bool = False, following: Register | None = None
    ) -> None:  # fmt: skip
        """The sums of a tile; meanwhile those of the one before it become elements. At the end the
        next one is begun, if there is one, its weights in the register `following`."""
        product, code = self._product, self._code
        pending = self._round(TILE) if is_pending else []
        together = TILE * product.vectors
        spread = min(2 * together, _MOST_SPREAD)
        issued = 0
        weights = [self._first]
        for k in range(together):
            vector, n = divmod(k, TILE)
            multiply = code.vmladava_s8 if vector else code.vmladav_s8
            if n == 0 and vector and not product.is_kept:
                self._load(0, vector)
            if k + 1 < together:
                weights.append(self._load_weights())
            for pixel in range(2):
                if n == 0 and pixel and not product.is_kept:
                    self._load(1, vector)
                multiply(self._acc[pixel][n], self._x[pixel], weights[k])
                due = len(pending) * (2 * k + pixel + 1) // (spread - 2)
                for step in pending[issued:due]:
                    step()
                issued = max(issued, due)
        if not product.is_kept:
            self._back()
        if is_last:
            self._loaded = 0
        else:
            self._begin_tile(following)
        for n in range(2):
            for words, acc in zip(self._words, self._acc, strict=True):
                code.vmov(words.lane(2 + n), words.lane(n), acc[n], acc[2 + n])

    # Elements.

    def _finish(self, filters: int) -> None:
        """The sums of the last tile."""
        add_steps(self._round(filters))

    def _round(self, filters: int) -> list[Step]:
        """What makes elements of so many filters' sums, and stores them."""
        code, words, of = self._code, self._words, self._rounding
        return [
            self._load_end(0),
            *(functools.partial(code.vadd_i32, one, one, self._end) for one in words),
            *of.integers(words, [self._load_end(1)], self._load_end(2)),
            *of.to_halfwords(words), *of.with_zero(words), *of.to_bytes(words),
            *self._written(filters),
        ]  # fmt: skip

    def _load_end(self, number: int) -> Step:
        """A vector of the ends, which are behind the tile's weights."""
        return lambda: self._code.vldrw_u32(self._end, self._end_at(number))

    def _end_at(self, number: int) -> Memory:
        """In front of what was loaded since the tile's last weights."""
        behind = VECTOR * (1 + number)
        if self._loaded:
            behind -= self._product.skipped + VECTOR * (self._loaded - 1)
        return self.stream[behind]

    def _written(self, filters: int) -> list[Step]:
        """Stores elements of both pixels; the register moves on by those of a tile."""
        code, output = self._code, self.output
        is_far = self._between > _BYTES_REACH
        steps: list[Step] = []
        if filters < TILE:
            count = code.register("filters_left")
            steps += [lambda: code.mov(count, filters), lambda: code.vctp_32(count)]

        def store(pixel: int, at: Memory) -> None:
            if filters < TILE:
                code.vpst()
            (code.vstrbt_32 if filters < TILE else code.vstrb_32)(self._words[pixel], at)

        def move(by: int) -> None:
            steps.append(lambda: add_number(code, output, by))

        if is_far:
            steps.append(lambda: store(0, output[0]))
            move(self._between)
            steps.append(lambda: store(1, output[0]))
            move(TILE - self._between)
        else:
            steps.append(lambda: store(1, output[self._between]))
            steps.append(lambda: store(0, output.after(TILE)))
        return steps
