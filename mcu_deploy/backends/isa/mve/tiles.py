"""Two pixels times four filters: eight sums in the core's even registers, which VMLADAVA adds to.

Six loads of vectors stand for eight products of vectors, so that the unit of the products never
waits. The sums of the second pixel are stored, and the first operands of the next tile loaded,
while that one multiplies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve.rounding import SLOT
from mcu_deploy.backends.quantized.vector_product import TILE, VECTOR, VectorProduct

_LARGEST_ADDED = 4095
_WORDS_REACH, _BYTES_REACH = 508, 127
_MOST_UNROLLED = 9  # vectors of the windows of tiles in one turn of a loop


def add_number(code: Assembly, register: Register, by: int) -> None:
    """Adds any number, without a register more."""
    add = code.add if by > 0 else code.sub
    by = abs(by)
    while by:
        now = min(by, _LARGEST_ADDED) if by > _LARGEST_ADDED else by
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

    stream: where biases and weights are read; sums: behind the slot that is written next; windows:
    where either pixel's begins. pitch: bytes from a row of a window to the next. has_words: whether
    windows and their rows begin at multiples of 4, whose loads reach farther. is_guarded: whether
    nothing may be read behind a window's row. region: where windows are, as `Register` has it.
    """

    def __init__(
        self, code: Assembly, product: VectorProduct, pitch: int = 0, *, has_words: bool,
        is_guarded: bool = True, region: str = "",
    ) -> None:  # fmt: skip
        self._code, self._product, self._pitch = code, product, pitch
        self._has_words, self._is_guarded = has_words, is_guarded and product.rest > 0
        # How far each window's register is from where it begins, and the slot from the sums'.
        self._ahead, self._slot = [0, 0], 0
        self.stream = code.register("stream", region="weights")
        self.sums = code.register("sums", region="sums")
        self.windows = code.registers("window0 window1", region=region)
        self._turns = code.register("turns_left")
        names = "".join(f"sum{pixel}{filter_} " for pixel in "ab" for filter_ in range(TILE))
        of = code.registers(names)
        self._acc = of[:TILE], of[TILE:]
        # In turn, as the last vector of a window leaves the first operands of the next tile free.
        self._vectors = [
            code.register(f"v{n}", f"q{n}", kind=Kind.VECTOR) for n in range(8)
        ]  # fmt: skip
        self._next = 0

    @property
    def unrolled(self) -> int:
        """Tiles in a turn of the loop."""
        for count in (4, 2):
            fits = count * self._product.vectors <= 2 * _MOST_UNROLLED
            if fits and self._product.tiles % count == 0:
                return count
        return 1

    @property
    def _is_single(self) -> bool:
        """Whether no loop is over tiles: nothing is stored or loaded for a tile in front of the
        first one or behind the last one, and the sums' register stays."""
        return self._product.tiles == self.unrolled

    @property
    def _keeps_guard(self) -> bool:
        """Whether what rounds leaves the predicate of loads alone."""
        return self._product.last % TILE == 0

    def begin(self) -> None:
        """What stays for all pixels."""
        if self._is_guarded and self._keeps_guard:
            self._guard()

    def _guard(self) -> None:
        count = self._code.register("bytes_left")
        self._code.mov(count, self._product.rest)
        self._code.vctp_8(count)

    def assemble(self) -> None:
        """The sums of all tiles. Behind it the stream is at the last biases and factors, and sums
        where the first slot is; windows are where they were."""
        code, product = self._code, self._product
        code.note("Two pixels times four filters, tile by tile.")
        if self._is_guarded and not self._keeps_guard:
            self._guard()
        if self._is_single:
            tile = self._kept() if product.is_kept else self._streamed()
            for n in range(product.tiles):
                tile(n == 0, n == product.tiles - 1)
            self._store(1, -SLOT + 16)
            self._slot = 0
            return
        # What stands in front of the first tile stores something.
        for first in (0, 2):
            code.ldrd(*self._acc[1][first : first + 2], self.stream[4 * first])
        turns = product.tiles // self.unrolled
        code.mov(self._turns, turns)
        tile = self._kept() if product.is_kept else self._streamed()
        with code.repeat(turns):
            for _ in range(self.unrolled):
                tile(False, False)
            code.add(self.sums, self.sums, self._slot)
            self._slot = 0
            code.subs(self._turns, self._turns, 1)
        self._store(1, -SLOT + 16)
        code.sub(self.stream, self.stream, TILE * VECTOR if product.is_kept else VECTOR)
        add_number(code, self.sums, -SLOT * product.tiles)

    def _store(self, pixel: int, at: int) -> None:
        for first in (0, 2):
            pair = self._acc[pixel][first : first + 2]
            self._code.strd(*pair, self.sums[self._slot + at + 4 * first])

    def _window(self, into: Register, pixel: int, vector: int) -> None:
        """Loads a vector of a window. Its register moves where that is out of reach."""
        code, product, window = self._code, self._product, self.windows[pixel]
        row, in_row = divmod(vector, product.row_vectors)
        begin = row * self._pitch
        at = begin + in_row * VECTOR - self._ahead[pixel]
        if not 0 <= at <= (_WORDS_REACH if self._has_words else _BYTES_REACH):
            # To the begin of a row, if that is enough.
            to = begin if in_row * VECTOR <= _BYTES_REACH else begin + in_row * VECTOR
            add_number(code, window, to - self._ahead[pixel])
            self._ahead[pixel] = to
            at = begin + in_row * VECTOR - to
        if in_row == product.row_vectors - 1 and self._is_guarded:
            code.vpst()
            (code.vldrwt_u32 if self._has_words else code.vldrbt_u8)(into, window[at])
        elif self._has_words:
            code.vldrw_u32(into, window[at])
        else:
            code.vldrb_u8(into, window[at])

    def _begin_windows(self) -> None:
        """The registers are at the begin of the windows again."""
        for pixel, window in enumerate(self.windows):
            add_number(self._code, window, -self._ahead[pixel])
            self._ahead[pixel] = 0

    def _weights(self, into: Register) -> None:
        self._code.vldrw_u32(into, self.stream.after(VECTOR))

    def _multiply(self, pixel: int, x: Register, weights: Sequence[Register], *, add: bool) -> None:
        multiply = self._code.vmladava_s8 if add else self._code.vmladav_s8
        for acc, of in zip(self._acc[pixel], weights, strict=True):
            multiply(acc, x, of)

    def _kept(self) -> Callable[[bool, bool], None]:
        """A window is loaded once, for all filters."""
        product = self._product
        weights, held = self._vectors[:TILE], self._vectors[TILE:]
        for vector in range(product.vectors):
            for pixel in range(2):
                self._window(held[2 * vector + pixel], pixel, vector)
        self._begin_windows()
        for of in weights:
            self._weights(of)

        def tile(is_first: bool, is_last: bool) -> None:
            if not is_first:
                self._store(1, -SLOT + 16)
            for vector in range(product.vectors):
                if vector:
                    for of in weights:
                        self._weights(of)
                for pixel in range(2):
                    self._multiply(pixel, held[2 * vector + pixel], weights, add=vector > 0)
            self._store(0, 0)
            self._slot += SLOT
            if not is_last:
                for of in weights:
                    self._weights(of)

        return tile

    def _streamed(self) -> Callable[[bool, bool], None]:
        """Windows are loaded for each tile."""
        code, product, of = self._code, self._product, self._vectors

        def begin() -> None:
            self._weights(of[0])
            self._window(of[4], 0, 0)

        def tile(is_first: bool, is_last: bool) -> None:
            if not is_first:
                self._store(1, -SLOT + 16)
            first_weights = of[:TILE]
            code.vmladav_s8(self._acc[0][0], of[4], of[0])
            for n in range(1, TILE):
                self._weights(of[n])
                code.vmladav_s8(self._acc[0][n], of[4], of[n])
            self._window(of[5], 1, 0)
            self._multiply(1, of[5], first_weights, add=False)
            places = [6, 7, 0, 1, 2, 3, 4, 5]
            at = 0
            for vector in range(1, product.vectors):
                if vector == product.vectors - 1:
                    weights, windows = [of[n] for n in (1, 2, 3, 5)], (of[6], of[7])
                else:
                    taken = [of[places[(at + n) % 8]] for n in range(TILE + 2)]
                    weights, windows = taken[:TILE], (taken[TILE], taken[TILE + 1])
                    at += TILE + 2
                for one in weights:
                    self._weights(one)
                for pixel, x in enumerate(windows):
                    self._window(x, pixel, vector)
                    self._multiply(pixel, x, weights, add=True)
            self._begin_windows()
            self._store(0, 0)
            self._slot += SLOT
            if not is_last:
                begin()

        begin()
        return tile
