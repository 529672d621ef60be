"""What a kernel over strips keeps in its scratch, in front of the strips."""

from __future__ import annotations

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve.tiles import add_number
from mcu_deploy.backends.isa.operands import Memory
from mcu_deploy.backends.quantized.strips import Strips

_WORDS = (
    *("x", "y", "stream", "channels", "channels_left", "of_group", "row_bytes", "row_at", "row"),
    *("turns_left", "taken", "fill_at", "fill_more", "output_at", "taps", "strip_at", "place_at"),
    *("left", "next_output", "weights"),
)
_AT = {name: 4 * n for n, name in enumerate(_WORDS)}
_PADDING = 4 * len(_WORDS)  # 16 times the zero point of the input
_WEIGHTS = _PADDING + 16  # where weights are shared, zeros and those of two outputs


class Frame:
    """Words by their names, and vectors."""

    def __init__(self, code: Assembly, of: Strips) -> None:
        self._code, self._of = code, of
        self.base = code.register("frame", region="scratch")

    @staticmethod
    def bytes(of: Strips) -> int:
        """In front of the strips."""
        return _WEIGHTS + 48 * of.is_shared + 16 * (1 + len(of.scattered))

    def begin(self, scratch: Register, stream: Register) -> None:
        """Offsets come from the stream, which moves on; and what is equal for all channels."""
        code, of = self._code, self._of
        code.mov(self.base, scratch)
        vector, number = code.register("vector", kind=Kind.VECTOR), code.register("number")
        code.number(number, of.layer.zero_points[0] & 0xFF)
        code.vdup_8(vector, number)
        code.vstrw_32(vector, self.base[_PADDING])
        if of.is_shared:
            code.vmov_i32(vector, 0)
            code.vstrw_32(vector, self.base[_WEIGHTS])
        for n in range(1 + len(of.scattered)):
            code.vldrw_u32(vector, stream.after(16))
            code.vstrw_32(vector, self.offsets(n))

    def offsets(self, number: int) -> Memory:
        """Of a window's words, then of outputs."""
        return self.base[_WEIGHTS + 48 * self._of.is_shared + 16 * number]

    def weights(self, at: int) -> Memory:
        """Behind 16 zeros."""
        return self.base[_WEIGHTS + 16 + at]

    def put(self, register: Register, name: str) -> None:
        self._code.str(register, self.base[_AT[name]])

    def get(self, register: Register, name: str) -> None:
        self._code.ldr(register, self.base[_AT[name]])

    def set(self, name: str, value: int) -> None:
        number = self._code.register("number")
        self._code.number(number, value & 0xFFFF_FFFF)
        self.put(number, name)

    def copy(self, name: str, to: str, more: int = 0) -> None:
        """One word plus a number to another one."""
        word = self._code.register(name)
        self.get(word, name)
        add_number(self._code, word, more)
        self.put(word, to)

    def padding(self, into: Register) -> None:
        """The address of 16 pixels of padding: in another region, but read behind a label."""
        self._code.add(into, self.base, _PADDING)

    def load_padding(self, into: Register) -> None:
        self._code.vldrw_u32(into, self.base[_PADDING])

    def strips(self, into: Register, more: int = 0) -> None:
        """The address of the strips, or so many bytes behind it."""
        self._code.add(into, self.base, self.bytes(self._of))
        add_number(self._code, into, more)
