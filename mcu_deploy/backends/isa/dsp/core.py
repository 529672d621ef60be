"""Two filters times three pixels: the inner loop of all dense convolutions, and its weights.

A tile of 2 x 3 sums, 3 activations, 3 words of weights and the two pointers fill all 14 registers.
The activations are pairs of taps, widened to int16: of each pair the three pixels, one behind the
other in the scratch. A word of weights is either (narrow) two taps of two filters: each half holds
`256 * odd + even` (the carry is settled when it is packed), so SMLAD of the word sums 256 * odd +
even, and SMLAD of the word through SXTB16 sums even; their difference is 256 times the odd filter's
sum, and the 1/256 is in its scale. Or it is (wide) two taps of one filter: that takes twice the
flash, has room for any weights and sums, and is cheaper where there are few taps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp.six_sums import Sums, round_in_float, round_twice, to_next
from mcu_deploy.backends.quantized.dense_product import DenseProduct


class Tile:
    """The registers of a tile.

    stream: where biases, weights and scales are read; taps: the activations, then their `STATE`.
    ends: where the product holds them, of `STATE` the first two. table: the entry for 0.
    """

    def __init__(self, code: Assembly, product: DenseProduct) -> None:
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


def round_slowly(
    product: DenseProduct,
    code: Assembly,
    tile: Tile,
    back: Callable[[], None],
    scale: Callable[[], None],
    store: Callable[[], None],
) -> None:
    """Two filters without an addend: see `Pair`. back: what restores registers; scale, store: where
    it goes on then, with sums or with elements."""
    is_fixed, saturate = product.layer.fixed is not None, product.layer.saturate
    even_scale, even_addend, odd_scale, odd_addend = tile.scales
    unsolved = None if product.is_solved else code.label()

    def go_on() -> None:
        back()
        scale()

    if not is_fixed:
        lanes = (1, product.lanes)
        to_next(code, tile.sums, tile.stream, even_addend, lanes, product.late, go_on, unsolved)
    if unsolved is None:
        return
    with code.times(product.unsolved):
        code.place(unsolved)
        code.note("No integers round these filters.")
        # The words are the even filters' factor or multiplier, none, the odd ones', the rest.
        if is_fixed:
            scales, lanes = (even_scale, odd_scale), (0, product.lanes_log2)
            round_twice(code, tile.sums, scales, odd_addend, saturate, lanes)
        else:
            round_in_float(code, tile.sums, (even_scale, odd_scale), odd_addend, saturate)
        back()
        store()


def note_pair(product: DenseProduct, code: Assembly) -> None:
    code.note("Two filters, an even and an odd one, for three outputs.")
    if not product.is_wide:
        code.note("Of a word of weights SXTB16 leaves the even filter's.")


def multiply(
    product: DenseProduct, code: Assembly, tile: Tile, end: Callable[[], None] | None
) -> None:
    """The six sums of activations from `taps` on, which begin with the biases."""
    if not product.has_loop:
        multiply_pairs(product, code, tile, product.unrolled, is_first=True)
        return
    if product.ahead:
        multiply_pairs(product, code, tile, product.ahead, is_first=True)
    else:
        for of, bias in zip(tile.sums, tile.biases, strict=True):
            for acc in of:
                if acc is not bias:
                    code.mov(acc, bias)
    with code.repeat(product.rounds):
        multiply_pairs(product, code, tile, product.unrolled, is_first=False)
        assert end is not None
        end()


def multiply_pairs(
    product: DenseProduct,
    code: Assembly,
    tile: Tile,
    pairs: int,
    is_first: bool,
    is_backward: bool = False,
) -> None:
    """Of the first words the SMLADs take the biases for all three pixels."""
    if product.is_shared:
        _shared_sums(code, tile, pairs, is_first)
        return
    x = code.registers("x0 x1 x2")
    sides = tile.sums if product.is_wide else (tile.sums.odd,)
    words = [(pair, of) for pair in range(pairs) for of in sides]
    later = code.registers("weights0 weights1 weights2")
    # While two registers have the biases, the first word is where the last sum will be.
    held = [tile.sums.odd[2], later[0]] if is_first else later
    at = 0
    while at < len(words):
        taken = words[at : at + len(held)]
        if len(taken) > 1:
            code.ldmia(tile.stream.moving, held[: len(taken)])
        else:
            code.ldr(held[0], tile.stream.after(4))
        for word, (pair, of) in zip(held, taken, strict=False):
            if of is sides[0]:
                (code.ldmdb if is_backward else code.ldmia)(tile.taps.moving, x)
            biases = tile.biases if is_first and not pair else ()
            if product.is_wide:
                bias = biases[tile.sums.index(of)] if biases else None
                multiply_add(code, of, word, x, bias)
            else:
                _narrow(code, tile.sums, word, x, biases)
        at, held = at + len(taken), later


def _narrow(
    code: Assembly,
    sums: Sums,
    word: Register,
    x: Sequence[Register],
    biases: Sequence[Register] = (),
) -> None:
    """Two taps of both filters, which lie in one word."""
    even_word = word
    if biases:  # the word lies in the last odd sum
        even_word = sums.even[2]
        code.sxtb16(even_word, word)
    multiply_add(code, sums.odd, word, x, biases[1] if biases else None)
    if not biases:
        code.sxtb16(word, word)
    multiply_add(code, sums.even, even_word, x, biases[0] if biases else None)


def _shared_sums(code: Assembly, tile: Tile, pairs: int, is_first: bool) -> None:
    """Of windows that are neighbours: of five columns each weight takes three."""
    columns = code.registers("x0 x1 x2 x3 x4")
    word = code.register("weights0")
    for pair in range(pairs):
        if pair % 3 == 0:
            code.ldmia(tile.taps.moving, columns)
        code.ldr(word, tile.stream.after(4))
        x = columns[pair % 3 : pair % 3 + 3]
        biases = tile.biases if is_first and not pair else (None, None)
        multiply_add(code, tile.sums.odd, word, x, biases[1])
        code.sxtb16(word, word)
        multiply_add(code, tile.sums.even, word, x, biases[0])


def round_sums(
    product: DenseProduct,
    code: Assembly,
    tile: Tile,
    slow: Label,
    ready: Label,
    is_near: bool = True,
) -> None:
    """The sums to six elements of the output, by the stream. slow: where two filters go whose
    addend is 0, and come back from to `ready`; is_near: it is in the reach of CBZ.
    """
    code.note("To elements of the output: scaled, shifted, saturated.")
    saturate, (even_scale, even_addend, odd_scale, odd_addend) = product.layer.saturate, tile.scales
    if not product.is_wide:
        for odd, even in zip(tile.sums.odd, tile.sums.even, strict=True):
            code.sub(odd, odd, even)
    if product.is_real:
        zero = product.layer.zero_points[1]
        code.ldmia(tile.stream.moving, [even_scale, odd_scale])
        if zero < 0:
            code.mvn(odd_addend, ~zero)
        else:
            code.mov(odd_addend, zero)
        round_in_float(code, tile.sums, (even_scale, odd_scale), odd_addend, saturate)
        return
    code.ldmia(tile.stream.moving, [*tile.scales, *(tile.biases if product.begins_early else ())])
    if not (product.is_double and product.is_exact):
        if is_near:
            code.cbz(even_addend, slow)
        else:
            code.cmp(even_addend, 0)
            code.beq(slow)
    code.place(ready)
    for of, scale, addend, by in (
        (tile.sums.even, even_scale, even_addend, product.shift),
        (tile.sums.odd, odd_scale, odd_addend, product.shift + product.lanes_log2),
    ):
        for acc in of:
            code.smmla(acc, acc, scale, addend)
        for acc in of:
            getattr(code, saturate)(acc, 8, acc.asr(by) if by else acc)


def hold_table(product: DenseProduct, code: Assembly, tile: Tile, stream: Register) -> None:
    """Where there is a table, the register goes on behind it, and `table` has the entry for 0."""
    if product.table is not None:
        zero = 128 if product.layer.saturate == "ssat" else 0
        entry = code.register("entry")
        code.add(entry, stream, zero)
        code.vmov(tile.table, entry)
        code.add(stream, stream, 256)


def look_up(product: DenseProduct, code: Assembly, tile: Tile) -> None:
    if product.table is not None:
        code.note("By the table.")
        entry = code.register("entry")
        code.vmov(entry, tile.table)
        for acc in tile.sums.all:
            code.ldrb(acc, entry[acc])


def join(code: Assembly, sums: Sums) -> None:
    """Elements of two filters for each pixel, to halfwords."""
    code.note("Stored: of each pixel both filters at once.")
    for even, odd in zip(sums.even, sums.odd, strict=True):
        code.bfi(even, odd, 8, 8)


def multiply_add(
    code: Assembly,
    sums: Sequence[Register],
    word: Register,
    x: Sequence[Register],
    start: Register | None = None,
) -> None:
    """Two taps of three pixels to the sums of one filter or of two. start: what has the bias that
    they begin with."""
    for acc, pixel in zip(sums, x, strict=True):
        code.smlad(acc, word, pixel, start or acc)


def widen(
    code: Assembly, extend: str, words: Sequence[Register], others: Sequence[Register]
) -> None:
    """Words of four bytes to pairs of int16: bytes 0 and 2 stay, bytes 1 and 3 go to the others."""
    for word, other in zip(words, others, strict=True):
        getattr(code, extend)(other, word.ror(8))
    for word in words:
        getattr(code, extend)(word, word)
