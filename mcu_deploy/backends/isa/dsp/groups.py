"""The loops over filters and several tiles, for weights in a memory that answers late.

The tiles of a group are widened first. Then two filters, whose words are read once from that
memory, are multiplied with all of them before the next two are: with several tiles, where the words
of two filters stay in a small cache of data; or, where these are more, some words at a time, which
wait in the FPU's registers meanwhile, with one tile after the other.
"""

from __future__ import annotations

from typing import Protocol

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp import core
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.quantized.dense_product import DenseProduct


class Outputs(Protocol):
    """Where the elements of two filters and a tile go."""

    def begin(self, code: Assembly) -> None:
        """Two filters."""

    def store(self, code: Assembly, tile: core.Tile) -> None:
        """Those of a tile, which lie in the even sums."""

    def next(self, code: Assembly) -> None:
        """Sets the flags of a branch to the next two filters."""


class InOrder:
    """Of tiles whose pixels follow each other. In `ends` of the tile: where the first pixel's next
    element goes, and where the pixel ends; out: where the next tile's do."""

    def __init__(self, code: Assembly, product: DenseProduct, tile: core.Tile) -> None:
        self.filters, self.ends = product.filters, tile.ends
        self.out = code.register("next_out", kind=Kind.SINGLE)
        self._at, self._end = code.registers("out end")

    def begin(self, code: Assembly) -> None:
        code.vmov(self._at, self.ends.halves[0])
        code.vmov(self.out, self._at)

    def store(self, code: Assembly, tile: core.Tile) -> None:
        out, filters, elements = self._at, self.filters, tile.sums.even
        code.vmov(out, self.out)
        code.strh(elements[1], out[filters])
        code.strh(elements[2], out[2 * filters])
        if 3 * filters < 256:
            code.strh(elements[0], out.after(3 * filters))
        else:
            code.strh(elements[0], out[0])
            code.add(out, out, 3 * filters)
        code.vmov(self.out, out)

    def next(self, code: Assembly) -> None:
        code.vmov(self._at, self._end, self.ends)
        code.add(self._at, self._at, 2)
        code.vmov(self.ends.halves[0], self._at)
        code.cmp(self._at, self._end)


SLOT_BYTES = 12


class InSlots:
    """Behind the taps of each tile three words: where the next element of its first pixel goes, and
    how far behind the next but one the second and the third pixel's are. filters: an S register
    with their number, which becomes 0."""

    def __init__(self, code: Assembly, filters: Register) -> None:
        self._filters = filters
        self._words = code.registers("out second third")
        self._left = code.register("filters_left")

    def begin(self, code: Assembly) -> None:
        pass

    def store(self, code: Assembly, tile: core.Tile) -> None:
        out, second, third = self._words
        code.ldmia(tile.taps.moving, self._words)
        code.strh(tile.sums.even[0], out.after(2))
        code.strh(tile.sums.even[1], out[second])
        code.strh(tile.sums.even[2], out[third])
        code.str(out, tile.taps[-SLOT_BYTES])

    def next(self, code: Assembly) -> None:
        code.vmov(self._left, self._filters)
        code.subs(self._left, self._left, 2)
        code.vmov(self._filters, self._left)


class Group:
    """first, end: S registers, of the taps of all tiles."""

    def __init__(self, first: Register, end: Register) -> None:
        self.first, self.end = first, end


def multiply_group(
    product: DenseProduct,
    code: Assembly,
    tile: core.Tile,
    group: Group,
    outputs: Outputs,
    tiles: float,
    alignment: int = 4,
) -> None:
    """All filters for the tiles of the group, by the stream. tiles: how many these are, on average.
    alignment: what only the ends of tiles are multiples of, where it is more than a word's."""
    slow, scale, store, after = (code.label() for _ in range(4))
    # Of two filters: where their weights begin and end, and the biases in front.
    begin, stop = code.registers("weights_begin weights_stop", kind=Kind.SINGLE)
    biases = code.register("biases", kind=Kind.DOUBLE)
    end = code.register("end")

    def compare() -> None:
        if alignment > 4:
            code.tst(tile.taps, alignment - 1)
        else:
            code.vmov(end, stop)
            code.cmp(tile.stream, end)

    code.reads(product.constant_bytes)
    core.note_pair(product, code)
    with code.repeat(product.filters // 2):
        code.note("They begin with these biases in each tile.")
        code.ldmia(tile.stream.moving, tile.biases)
        code.vmov(biases, *tile.biases)
        code.vmov(begin, tile.stream)
        if product.has_loop and alignment == 4:
            code.offset(end, product.weights_bytes, tile.scales[0], tile.stream)
            code.vmov(stop, end)
        code.vmov(tile.taps, group.first)
        outputs.begin(code)
        with code.repeat(tiles):
            code.vmov(tile.stream, begin)
            code.vmov(*tile.biases, biases)
            core.multiply(product, code, tile, compare)
            core.round_sums(product, code, tile, slow, scale, is_near=product.table is None)
            code.place(store)
            core.look_up(product, code, tile)
            core.join(code, tile.sums)
            outputs.store(code, tile)
            code.vmov(end, group.end)
            code.cmp(tile.taps, end)
        outputs.next(code)
    if not product.is_real:
        code.b(after)
        code.place(slow)
        with code.times(tiles):
            core.round_slowly(
                product, code, tile, lambda: None, lambda: code.b(scale), lambda: code.b(store)
            )
    code.place(after)


# Of a tile that waits its six sums, and where its taps go on, lie on a stack. There are two, at
# multiples of their size: one empties while the other fills, so that what was multiplied with some
# words last is multiplied with the next words first.
_WAITING_BYTES = 28
STACK_BYTES = 128
MOST_IN_TURN = STACK_BYTES // _WAITING_BYTES


def multiply_in_turn(
    product: DenseProduct,
    code: Assembly,
    tile: core.Tile,
    group: Group,
    outputs: Outputs,
    tiles: int,
    apart: int,
) -> None:
    """All filters for the tiles of the group, by the stream, whose words go to S registers, those
    of a round at a time. The stacks lie in front of the taps. apart: from the taps of a tile to
    those of the next one; tiles: how many these are, on average."""
    slow, scale, store, after = (code.label() for _ in range(4))
    # resumed: the stream, or where the scales are; ends: of the stack that empties and the other.
    resumed, stop = code.registers("resumed weights_stop", kind=Kind.SINGLE)
    ends = code.register("stack_ends", kind=Kind.DOUBLE)
    at, end, other = code.registers("waiting end done")
    context = [*tile.sums.all, tile.taps]
    code.reads(product.constant_bytes)
    core.note_pair(product, code)
    with code.repeat(product.filters // 2):
        code.ldmia(tile.stream.moving, tile.biases)
        for of, bias in zip(tile.sums, tile.biases, strict=True):
            for acc in of:
                if acc is not bias:
                    code.mov(acc, bias)
        code.offset(end, product.weights_bytes, at, tile.stream)
        code.vmov(stop, end)
        code.note("All tiles but the first wait.")
        fill, begun = code.label(), code.label()
        code.vmov(tile.taps, group.end)
        code.vmov(end, group.first)
        code.sub(at, end, 2 * STACK_BYTES)
        code.sub(other, end, STACK_BYTES)
        code.place(fill)
        with code.times(tiles):
            code.sub(tile.taps, tile.taps, apart)
            code.cmp(tile.taps, end)
            code.beq(begun)
            code.stmia(at.moving, context)
            code.b(fill)
        code.place(begun)
        code.vmov(ends, at, other)
        code.note("Some words of both filters, for one tile after the other.")
        with code.repeat(product.rounds, "blo"):
            _round_in_turn(product, code, tile, resumed, ends, tiles)
            code.vmov(tile.stream, resumed)
            code.vmov(end, stop)
            code.cmp(tile.stream, end)
        code.vmov(resumed, tile.stream)
        again, all_ = code.label(), code.label()
        code.place(again)
        with code.times(tiles):
            code.vmov(tile.stream, resumed)
            core.round_sums(product, code, tile, slow, scale, is_near=False)
            code.place(store)
            core.look_up(product, code, tile)
            core.join(code, tile.sums)
            outputs.store(code, tile)
            code.vmov(at, ends.halves[0])
            code.tst(at, STACK_BYTES - 1)
            code.beq(all_)
            code.ldmdb(at.moving, context)
            code.vmov(ends.halves[0], at)
            code.b(again)
        code.place(all_)
        outputs.next(code)
    if not product.is_real:
        code.b(after)
        code.place(slow)
        with code.times(tiles):
            core.round_slowly(
                product, code, tile, lambda: None, lambda: code.b(scale), lambda: code.b(store)
            )
    code.place(after)


def _round_in_turn(
    product: DenseProduct,
    code: Assembly,
    tile: core.Tile,
    resumed: Register,
    ends: Register,
    tiles: int,
) -> None:
    visit, emptied = code.label(), code.label()
    at, other = code.registers("waiting done")
    x, words = code.registers("x0 x1 x2 x3 x4"), code.registers("weights0 weights1")
    names = " ".join(f"words{n}" for n in range(product.unrolled // 2))
    bank = code.registers(names, kind=Kind.DOUBLE)
    context = [*tile.sums.all, tile.taps]
    code.vldmia(tile.stream.moving, [half for two in bank for half in two.halves])
    code.vmov(resumed, tile.stream)
    code.place(visit)
    with code.times(tiles):
        for pair in range(product.unrolled):
            if pair % 3 == 0:
                code.ldmia(tile.taps.moving, x)
            if pair % 2 == 0:
                code.vmov(*words, bank[pair // 2])
            word, pixels = words[pair % 2], x[pair % 3 : pair % 3 + 3]
            core.multiply_add(code, tile.sums.odd, word, pixels)
            code.sxtb16(word, word)
            core.multiply_add(code, tile.sums.even, word, pixels)
        code.vmov(at, other, ends)
        code.tst(at, STACK_BYTES - 1)
        code.add_instruction(Instruction("beq", (emptied,)), 1 / tiles)
    with code.times(tiles - 1):
        code.stmia(other.moving, context)
        code.ldmdb(at.moving, context)
        code.vmov(ends, at, other)
        code.b(visit)
    code.place(emptied)
    code.vmov(ends, other, at)
