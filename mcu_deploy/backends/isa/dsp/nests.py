"""The loops over filters of one tile: all filters after each other, two a round or four.

A tile has its taps widened once, and scratch is needed for no other; but each tile reads all
weights. Where these lie in a memory that answers late there are the loops of groups.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcu_deploy.backends.isa import Assembly, Kind, Label, Register
from mcu_deploy.backends.isa.dsp import core
from mcu_deploy.backends.quantized.dense_product import DenseProduct


def assemble(
    product: DenseProduct,
    code: Assembly,
    tile: core.Tile,
    begin: Callable[[], None],
    end: Callable[[], None] | None = None,
    multiply: Callable[[], None] | None = None,
) -> None:
    """A tile: all filters for three pixels, by the stream.

    begin: what leads `taps` to the tile's activations, behind which it finds `STATE`; there it is
    afterwards. end: what compares `taps` with the address behind the activations. multiply: what
    makes the six sums, of the biases, where another loop does.
    """
    code.reads(product.constant_bytes)
    if product.begins_early:
        code.ldmia(tile.stream.moving, tile.biases)
    if product.is_double:
        _two_pairs(product, code, tile, begin)
        return
    slow, scale, store, after = (code.label() for _ in range(4))
    is_odd = product.filters % 2 == 1
    sums = tile.sums
    out, stop, second, third = code.registers("out end second third")
    core.note_pair(product, code)
    with code.repeat((product.filters + 1) // 2, "b" if is_odd else "bne"):
        begin()
        if not product.begins_early:
            code.ldmia(tile.stream.moving, tile.biases)
        if multiply is None:
            core.multiply(product, code, tile, end)
        else:
            multiply()
        core.round_sums(product, code, tile, slow, scale)
        code.place(store)
        core.look_up(product, code, tile)
        behind: Sequence[int | Register]
        if product.holds_ends:
            code.vmov(out, stop, tile.ends)
            behind = product.filters - 2, 2 * product.filters - 2
        else:
            code.ldmia(tile.taps, [out, stop, second, third])
            behind = second, third
        if is_odd:
            last = code.label()
            code.sub(stop, stop, 1)
            code.cmp(out, stop)
            code.beq(last)
        core.join(code, sums)
        code.strh(sums.even[0], out.after(2))
        code.strh(sums.even[1], out[behind[0]])
        code.strh(sums.even[2], out[behind[1]])
        if product.holds_ends:
            code.vmov(tile.ends.halves[0], out)
        else:
            code.str(out, tile.taps[0])
        if not is_odd:
            code.cmp(out, stop)
    if not is_odd:
        code.b(after)
    if not product.is_real:
        code.place(slow)
        saved = code.register("biases", kind=Kind.DOUBLE)
        if product.begins_early:
            with code.times(product.late):
                code.vmov(saved, *tile.biases)

        def back() -> None:
            if product.begins_early:
                code.vmov(*tile.biases, saved)

        core.round_slowly(product, code, tile, back, lambda: code.b(scale), lambda: code.b(store))
    if is_odd:
        code.place(last)
        code.strb(sums.even[0], out.after(2))
        code.strb(sums.even[1], out[second])
        code.strb(sums.even[2], out[third])
        code.add(stop, stop, 1)
        code.str(stop, tile.taps[0])
    code.place(after)


def _two_pairs(
    product: DenseProduct, code: Assembly, tile: core.Tile, begin: Callable[[], None]
) -> None:
    """As `assemble`. The slow path is there once: `turn` says where it came from."""
    after = code.label()
    slow, scale, store = [[code.label(), code.label()] for _ in range(3)]
    sums, (out_kept, _) = tile.sums, tile.ends.halves
    out, stop, turn = code.registers("out end turn")
    begin()
    with code.repeat(product.filters // 4):
        for pair in (0, 1):
            core.note_pair(product, code)
            if pair == 1:
                code.note("These two meet the activations backwards.")
            core.multiply_pairs(
                product, code, tile, product.unrolled, is_first=True, is_backward=pair == 1
            )
            core.round_sums(product, code, tile, slow[pair], scale[pair], is_near=pair == 1)
            code.place(store[pair])
            core.look_up(product, code, tile)
            if pair == 0:
                code.vmov(out, out_kept)
            else:
                code.vmov(out, stop, tile.ends)
            core.join(code, sums)
            behind = 4 if pair else 2  # the pointer
            code.strh(sums.even[0], out.after(4) if pair else out[-2])
            code.strh(sums.even[1], out[product.filters - behind])
            code.strh(sums.even[2], out[2 * product.filters - behind])
        code.vmov(out_kept, out)
        code.cmp(out, stop)
    code.add(tile.taps, tile.taps, product.tile_bytes)
    if product.is_exact:
        return
    saved = code.register("biases", kind=Kind.DOUBLE)
    code.b(after)
    with code.times(product.late):
        # What led here is the addend, which was 0.
        code.place(slow[1])
        code.mov(tile.scales[1], 1)
        code.place(slow[0])
        code.vmov(tile.turn, tile.scales[1])
        code.vmov(saved, *tile.biases)

    def back() -> None:
        code.vmov(turn, tile.turn)
        code.cmp(turn, 0)
        code.vmov(*tile.biases, saved)

    def either(ways: Sequence[Label]) -> None:
        code.beq(ways[0])
        code.b(ways[1])

    core.round_slowly(product, code, tile, back, lambda: either(scale), lambda: either(store))
    code.place(after)
