"""A row times eight filters: eight sums in the core's even registers, which VMLADAVA adds to.

A vector of the row is loaded once for eight products. Each filter's vector is loaded for one, so
that the loads take the time: weights are read once, and no order of the loops spares one of them.
"""

from __future__ import annotations

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve.tiles import add_number
from mcu_deploy.backends.quantized.vector_dense import BLOCK, FILTERS, VectorDense
from mcu_deploy.backends.quantized.vector_product import VECTOR

_VECTORS = 7  # registers; the last one keeps what the kernel needs later


class Row:
    """The registers of eight sums.

    x: where the row begins, each time; row_bytes: how long it is; stream: where biases and weights
    are read; sums: where sums are written.
    """

    def __init__(
        self, code: Assembly, product: VectorDense,
        x: Register, row_bytes: Register, stream: Register, sums: Register,
    ) -> None:  # fmt: skip
        self._code, self._product = code, product
        self._x, self._row_bytes, self._stream, self._sums = x, row_bytes, stream, sums
        self._end = code.register("end_of_loop")
        self._acc = code.registers(" ".join(f"sum{n}" for n in range(FILTERS)))
        self._places = list(range(_VECTORS))
        self._vectors: dict[tuple[str, int], Register] = {}
        self._at = 0
        self._highest = None
        if product.is_moved:  # in a place that what rounds a row leaves alone
            self._highest = self._vector("highest", self._places.pop(1))

    def begin(self) -> None:
        """What stays for all rows. Also where the loop has one turn, so that rows of many lengths
        share the code."""
        code, product = self._code, self._product
        if self._highest is not None:
            code.mov(self._end, 0x80)
            code.vdup_8(self._highest, self._end)
        if product.turns:
            code.add(self._end, self._x, self._row_bytes)
            if product.behind:
                code.sub(self._end, self._end, product.row_bytes - VECTOR * BLOCK * product.turns)

    def assemble(self) -> None:
        """The sums of eight filters. Stream and sums move on."""
        code, product, stream = self._code, self._product, self._stream
        code.ldmia(stream.moving, self._acc)
        if product.turns:
            with code.repeat(product.turns):
                for _ in range(BLOCK):
                    self._multiply(is_rest=False)
                code.cmp(self._x, self._end)
        for n in range(product.behind):
            self._multiply(is_rest=n == product.behind - 1 and product.rest > 0)
        code.stmia(self._sums.moving, self._acc)
        if product.turns and not product.behind:
            code.sub(self._x, self._x, self._row_bytes)
        else:
            add_number(code, self._x, -VECTOR * product.vectors)

    def _multiply(self, *, is_rest: bool) -> None:
        code = self._code
        taken = self._taken()
        x = self._vector("x", taken)
        if is_rest:
            code.vpst()
            code.vldrbt_u8(x, self._x.after(VECTOR))
        else:
            code.vldrb_u8(x, self._x.after(VECTOR))
        if self._highest is not None:
            self._move(x, self._highest, is_rest=is_rest)
        for acc in self._acc:
            place = self._taken()
            weights = self._vector("weights", self._taken() if place == taken else place)
            if is_rest:
                code.vldrb_u8(weights, self._stream.after(self._product.rest))
            else:
                code.vldrw_u32(weights, self._stream.after(VECTOR))
            code.vmladava_s8(acc, x, weights)

    def _move(self, x: Register, highest: Register, *, is_rest: bool) -> None:
        """Bytes behind the row stay 0."""
        if is_rest:
            self._code.vpst()
            self._code.veort(x, x, highest)
        else:
            self._code.veor(x, x, highest)

    def _taken(self) -> int:
        self._at += 1
        return self._places[(self._at - 1) % len(self._places)]

    def _vector(self, name: str, place: int) -> Register:
        if (name, place) not in self._vectors:
            self._vectors[name, place] = self._code.register(name, f"q{place}", kind=Kind.VECTOR)
        return self._vectors[name, place]
