"""Two filters times three pixels: the tile (tile.py) of all dense convolutions.

6 sums, 3 activations, 3 words of weights and the two pointers fill all 14 registers. The
activations are pairs of taps, widened to int16: of each pair the three pixels, one behind the other
in the scratch. Words of weights are narrow or wide.
"""

from __future__ import annotations

from collections.abc import Callable

from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp.rounding import round_filters, round_otherwise, to_next
from mcu_deploy.backends.isa.dsp.tile import (
    Sums,
    WordStep,
    multiply,
    multiply_words,
    numbered,
    take_apart,
)
from mcu_deploy.backends.quantized.dense_product import DenseProduct
from mcu_deploy.backends.quantized.tile_shapes import PIXELS


class Tile:
    """The registers of a tile, and what is done with them.

    stream: where biases, weights and scales are read; taps: the activations, then their `STATE`.
    ends: where the product holds them, of `STATE` the first two. table: the entry for 0.
    """

    def __init__(self, code: Assembly, product: DenseProduct) -> None:
        self.code, self.product = code, product
        self.stream, self.taps = code.registers("stream taps")
        self.sums = Sums.of(code)
        # Where they come with the tile, they are the last sums that they begin.
        self.biases = [self.sums.even[2], self.sums.odd[2]]
        if product.begins_early or product.is_grouped:
            self.biases = code.registers("even_bias odd_bias")
        self.scales = code.registers("even_scale even_addend odd_scale odd_addend")
        # s14 and s15, where kernels of other parts find them.
        self.ends = code.register("out_end", "d7")
        self.table = code.register("table", "s6")
        self.turn = code.register("turn", kind=Kind.SINGLE)

    def note(self) -> None:
        self.code.note("Two filters, an even and an odd one, for three outputs.")
        if not self.product.is_wide:
            self.code.note("Of a word of weights SXTB16 leaves the even filter's.")

    def multiply(self, end: Callable[[], None] | None) -> None:
        """The six sums of activations from `taps` on, which begin with the biases. end: what
        compares behind a round of the loop over taps."""
        code, product = self.code, self.product
        if not product.has_loop:
            self.multiply_pairs(product.unrolled, is_first=True)
            return
        if product.ahead:
            self.multiply_pairs(product.ahead, is_first=True)
        else:
            self.begin()
        with code.repeat(product.rounds):
            self.multiply_pairs(product.unrolled, is_first=False)
            assert end is not None
            end()

    def begin(self) -> None:
        """All sums with the biases."""
        for of, bias in zip(self.sums, self.biases, strict=True):
            for acc in of:
                if acc is not bias:
                    self.code.mov(acc, bias)

    def multiply_pairs(self, pairs: int, is_first: bool, is_backward: bool = False) -> None:
        """Of the first words the SMLADs take the biases for all three pixels."""
        if self.product.is_shared:
            self._multiply_shared(pairs, is_first)
            return
        x, sums = numbered(self.code, "x", PIXELS.rows), self.sums
        words = numbered(self.code, "weights", PIXELS.words)
        # Of each word that meets a pair of taps the filters, from one on and up to another.
        of_words = [(0, 1), (1, 2)] if self.product.is_wide else [(0, 2)]
        steps = [
            WordStep(sums[a:b], x, a == 0, self.biases[a:b] if is_first and not pair else ())
            for pair in range(pairs) for a, b in of_words
        ]  # fmt: skip
        # While two registers have the biases, the first word is where the last sum will be.
        first = [sums.odd[2], words[0]] if is_first else words
        multiply(self.code, self.taps, self.stream, steps, words, first, is_backward)

    def _multiply_shared(self, pairs: int, is_first: bool) -> None:
        """Of windows that are neighbours: of five columns each weight takes three."""
        code, word = self.code, self.code.register("weights0")
        columns = code.registers("x0 x1 x2 x3 x4")
        for pair in range(pairs):
            if pair % 3 == 0:
                code.ldmia(self.taps.moving, columns)
            code.ldr(word, self.stream.after(4))
            starts = self.biases if is_first and not pair else ()
            step = WordStep(self.sums, columns[pair % 3 : pair % 3 + 3], starts=starts)
            multiply_words(code, [word], [step])

    def round(self, slow: Label, ready: Label, is_near: bool = True) -> None:
        """The sums to six elements of the output, by the stream. slow: where two filters go whose
        addend is 0, and come back from to `ready`; is_near: it is in the reach of CBZ."""
        code, product = self.code, self.product
        even_scale, even_addend, odd_scale, odd_addend = self.scales
        code.note("To elements of the output: scaled, shifted, saturated.")
        if not product.is_wide:
            take_apart(code, zip(*self.sums, strict=True))
        if product.is_real:
            zero = product.layer.zero_points[1]
            code.ldmia(self.stream.moving, [even_scale, odd_scale])
            if zero < 0:
                code.mvn(odd_addend, ~zero)
            else:
                code.mov(odd_addend, zero)
            self._round_otherwise()
            return
        begun = self.biases if product.begins_early else ()
        code.ldmia(self.stream.moving, [*self.scales, *begun])
        if not (product.is_double and product.is_exact):
            if is_near:
                code.cbz(even_addend, slow)
            else:
                code.cmp(even_addend, 0)
                code.beq(slow)
        code.place(ready)
        round_filters(
            code, product.layer.saturate, self.sums, self.scales,
            (product.shift, product.shift + product.lanes_log2),
        )  # fmt: skip

    def round_otherwise(
        self, back: Callable[[], None], scale: Callable[[], None], store: Callable[[], None]
    ) -> None:
        """Two filters without an addend: see `Pair`. back: what restores registers; scale, store:
        where it goes on then, with sums or with elements."""
        code, product = self.code, self.product
        even_addend = self.scales[1]
        unsolved = None if product.is_solved else code.label()

        def go_on() -> None:
            back()
            scale()

        if product.layer.fixed is None:
            lanes = (1, product.lanes)
            to_next(code, self.sums, self.stream, even_addend, lanes, product.late, go_on, unsolved)
        if unsolved is None:
            return
        with code.times(product.unsolved):
            code.place(unsolved)
            code.note("No integers round these filters.")
            self._round_otherwise()
            back()
            store()

    def _round_otherwise(self) -> None:
        """By factors or multipliers in the scales' place."""
        layer, lanes = self.product.layer, (1, self.product.lanes)
        is_fixed = layer.fixed is not None
        round_otherwise(self.code, layer.saturate, self.sums, self.scales, lanes, is_fixed)

    def hold_table(self, stream: Register) -> None:
        """Of a table, behind which the register goes on, and whose entry for 0 `table` has."""
        if self.product.table is not None:
            zero = 128 if self.product.layer.saturate == "ssat" else 0
            entry = self.code.register("entry")
            self.code.add(entry, stream, zero)
            self.code.vmov(self.table, entry)
            self.code.add(stream, stream, 256)

    def look_up(self) -> None:
        if self.product.table is not None:
            self.code.note("By the table.")
            entry = self.code.register("entry")
            self.code.vmov(entry, self.table)
            for acc in self.sums.all:
                self.code.ldrb(acc, entry[acc])
