"""A band of an image's rows in the scratch, with their padding; and windows whose rows are brought
together."""

from __future__ import annotations

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve.tiles import add_number
from mcu_deploy.backends.isa.operands import Memory
from mcu_deploy.backends.quantized.vector_product import VECTOR
from mcu_deploy.backends.quantized.vector_windows import Windows

_WORD = 4
_MOST_WORDS = 2  # of a piece that is copied word by word
_BYTES_REACH = 127
_UNROLLED = 4  # vectors


class Band:
    """row: the number of the image's row that comes next, which may be outside of it; source: where
    that is; place: where the band is, and behind `fill` where its last row ends; zero: where the
    input's zero point is."""

    def __init__(self, code: Assembly, windows: Windows, zero: Memory) -> None:
        self._code, self._windows, self._zero_point = code, windows, zero
        self.row, self.source = code.registers("next_row source")
        self.place = code.register("band", region="band")
        self._from = code.register("copied")
        self._to = code.register("copied_to", region="band")
        self._left = code.register("rows_left")
        self._zeros = code.register("padding", kind=Kind.VECTOR)
        self._vectors = [code.register(f"copied{n}", kind=Kind.VECTOR) for n in range(_UNROLLED)]
        self._number = code.register("number")
        self._is_moved = windows.product.is_moved
        self._highest = code.register("highest_bits", kind=Kind.VECTOR)

    def begin(self) -> None:
        """The padding beside the image's columns, which stays."""
        code, windows = self._code, self._windows
        if windows.has_row_padding:
            self._pad()
            code.mov(self._to, self.place)
            self._filled(windows.band_bytes // VECTOR * VECTOR)

    def _pad(self) -> None:
        self._code.ldr(self._number, self._zero_point)
        self._code.vdup_8(self._zeros, self._number)

    def _filled(self, bytes_: int) -> None:
        code = self._code
        self._code.number(self._number, bytes_)
        with code.counted(-(-bytes_ // VECTOR), self._number, 8):
            code.vstrb_8(self._zeros, self._to.after(VECTOR))

    def fill(self) -> None:
        """Rows of the image, and of padding above and below it. Row and source go on by those of a
        band."""
        code, windows = self._code, self._windows
        window = windows.layer.window
        row_bytes = window.input[1] * windows.channels
        taken = windows.taken * windows.channels
        outside, done = code.label(), code.label()
        may_be_outside = windows.layer.window.padded_axes[0]
        if may_be_outside:
            self._pad()
        if self._is_moved:
            code.mov(self._number, 0x80)
            code.vdup_8(self._highest, self._number)
        code.mov(self._left, windows.held)
        with code.repeat(windows.held):
            code.mov(self._to, self.place)
            add_number(code, self._to, window.begin[1] * windows.channels)
            if may_be_outside:
                code.compare(self.row, window.input[0], self._number)
                code.bcs(outside)
            code.mov(self._from, self.source)
            self._copied(taken)
            if may_be_outside:
                code.b(done)
                code.place(outside)
                with code.times(0.1):
                    self._filled(taken)
                code.place(done)
            code.add(self.row, self.row, 1)
            self._go_on(self.source, row_bytes)
            self._go_on(self.place, windows.pitch)
            code.subs(self._left, self._left, 1)
        back = windows.held - windows.band * window.strides[0]
        if back:
            add_number(code, self.row, -back)
            self._go_on(self.source, -back * row_bytes)

    def _go_on(self, register: Register, by: int) -> None:
        self._code.offset(register, by, self._number)

    def _move(self, vector: Register) -> None:
        if self._is_moved:
            self._code.veor(vector, vector, self._highest)

    def _copied(self, bytes_: int) -> None:
        code = self._code
        together = _UNROLLED * VECTOR
        if bytes_ % together == 0:

            def four() -> None:
                for n, vector in enumerate(self._vectors):
                    code.vldrb_u8(vector, self._from[VECTOR * n])
                code.add(self._from, self._from, together)
                for n, vector in enumerate(self._vectors):
                    self._move(vector)
                    code.vstrb_8(vector, self._to[VECTOR * n])
                code.add(self._to, self._to, together)

            if bytes_ == together:
                four()
                return
            with code.counted(bytes_ // together, bytes_ // together):
                four()
            return
        code.number(self._number, bytes_)
        with code.counted(-(-bytes_ // VECTOR), self._number, 8):
            code.vldrb_u8(self._vectors[0], self._from.after(VECTOR))
            self._move(self._vectors[0])
            code.vstrb_8(self._vectors[0], self._to.after(VECTOR))


class Gather:
    """Copies windows' pieces beside each other. What the last vector of a piece has too many the
    next piece overwrites; behind the last one are weights of 0.

    region: of where windows are.
    """

    def __init__(self, code: Assembly, windows: Windows, region: str) -> None:
        self._code, self._windows = code, windows
        self._from = code.register("gathered", region=region)
        self._to = code.register("gathered_to", region="windows")
        self._vectors = [code.register(f"piece{n}", kind=Kind.VECTOR) for n in range(_UNROLLED)]
        self._words = code.registers("word0 word1")
        self._is_guarded = not windows.is_copied
        self.bytes = windows.gathered_bytes  # of a window
        self._turn = 0

    @property
    def has_words(self) -> bool:
        bytes_ = self._windows.pieces[1]
        return bytes_ <= _WORD * _MOST_WORDS and (self._windows.is_copied or bytes_ % _WORD == 0)

    def begin(self) -> None:
        """What predicates the last vector of each piece."""
        code, rest = self._code, self._windows.pieces[1] % VECTOR
        if self._is_guarded and rest and not self.has_words:
            count = code.register("bytes_of_piece")
            code.mov(count, rest)
            code.vctp_8(count)

    def window(self, at: Register, to: Register) -> None:
        """One window; both registers stay."""
        code, (pieces, bytes_) = self._code, self._windows.pieces
        code.mov(self._from, at)
        ahead = 0
        if self.has_words:
            for n, piece in enumerate(pieces):
                if not 0 <= piece - ahead <= 4000:
                    add_number(code, self._from, piece - ahead)
                    ahead = piece
                for word in range(-(-bytes_ // _WORD)):
                    self._turn += 1
                    of = self._words[self._turn % 2]
                    code.ldr(of, self._from[piece - ahead + _WORD * word])
                    code.str(of, to[n * bytes_ + _WORD * word])
            return
        code.mov(self._to, to)
        for piece in pieces:
            for first in range(0, bytes_, VECTOR):
                self._turn += 1
                of = self._vectors[self._turn % _UNROLLED]
                if not 0 <= piece + first - ahead <= _BYTES_REACH:
                    add_number(code, self._from, piece + first - ahead)
                    ahead = piece + first
                if self._is_guarded and bytes_ - first < VECTOR:
                    code.vpst()
                    code.vldrbt_u8(of, self._from[piece + first - ahead])
                else:
                    code.vldrb_u8(of, self._from[piece + first - ahead])
                code.vstrb_8(of, self._to.after(min(VECTOR, bytes_ - first)))
