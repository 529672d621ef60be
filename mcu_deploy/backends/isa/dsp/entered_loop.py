"""Products of a tile by a loop that layers of all sizes share: they enter it where their first
round has as many steps as it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp.core import Tile
from mcu_deploy.backends.isa.dsp.tile import WordStep, multiply_words, numbered
from mcu_deploy.backends.quantized.dense_product import DenseProduct
from mcu_deploy.backends.quantized.tile_shapes import PIXELS

STEP_BYTES = 68  # of four channels


@dataclass(frozen=True, eq=False)
class Steps(DenseProduct):
    """The products, by a loop of so many `steps`."""

    steps: int = 1

    @property
    def begins_early(self) -> bool:
        return False

    @property
    def first(self) -> int:
        """Steps of the first round."""
        return (self.pairs // 2 - 1) % self.steps + 1


class EnteredLoop:
    """The six sums: see core.py.

    entries: of the steps, and behind the last one. In S registers, entry: where the first round
    begins; end: of the activations.
    """

    def __init__(self, code: Assembly, product: Steps, tile: Tile) -> None:
        self.product, self.tile = product, tile
        self.entries = [code.label() for _ in range(product.steps + 1)]
        self.entry, self.end = code.registers("entry taps_end", kind=Kind.SINGLE)
        self._at, self._until = code.registers("at until")
        self._words, self._x = numbered(code, "weights", 2), numbered(code, "x", PIXELS.rows)

    def begin(self, code: Assembly, behind: Register) -> None:
        """behind: so many bytes in front of the loop's end the first round begins."""
        if self.product.steps > 1:
            code.adr_w(self._at, self.entries[-1])
            code.sub(self._at, self._at, behind)
            code.orr(self._at, self._at, 1)
            code.vmov(self.entry, self._at)

    def assemble(self, code: Assembly, compare: Callable[[], None] | None = None) -> None:
        """compare: of a round, where tiles have other ends."""
        product, taps = self.product, self.tile.taps
        self.tile.begin()
        has_entries = product.steps > 1
        if has_entries:
            code.vmov(self._at, self.entry)
            code.bx(self._at, to=self.entries[:-1])
        rounds = -(-product.pairs // 2 // product.steps)
        with code.repeat(rounds):
            for entry, step in zip(self.entries, range(product.steps, 0, -1), strict=False):
                if has_entries:
                    code.place(entry)
                with code.times((rounds - (step > product.first)) / rounds):
                    self._step(code)
            if has_entries:
                code.place(self.entries[-1])
            if compare is not None:
                compare()
            else:
                code.vmov(self._until, self.end)
                code.cmp(taps, self._until)

    def _step(self, code: Assembly) -> None:
        """All of it in wide encodings: `STEP_BYTES`."""
        code.ldmia_w(self.tile.stream.moving, self._words)
        for word in self._words:
            code.ldmia_w(self.tile.taps.moving, self._x)
            multiply_words(code, [word], [WordStep(self.tile.sums, self._x)])
