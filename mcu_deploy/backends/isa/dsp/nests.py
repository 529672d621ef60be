"""The loops over filters, two a round, of one tile or of several.

Of one tile (`one_tile`, `two_pairs`) the taps are widened once, and scratch is needed for no other;
but each tile reads all weights.

Where weights lie in a memory that answers late, the tiles of a group are widened first. Then two
filters, whose words are read once from that memory, are multiplied with all of them before the next
two are: with several tiles (`group`), where the words of two filters stay in a small cache of data;
or, where these are more, some words at a time, which wait in the FPU's registers meanwhile, with
one tile after the other (`in_turn`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mcu_deploy.backends.isa import Kind, Label, Register
from mcu_deploy.backends.isa.dsp.core import Tile
from mcu_deploy.backends.isa.dsp.outputs import AtEnds, Outputs, Ways
from mcu_deploy.backends.isa.dsp.tile import WordStep, join, multiply_words
from mcu_deploy.backends.isa.instruction import Instruction
from mcu_deploy.backends.quantized.loops import kept_bytes


def one_tile(
    tile: Tile,
    begin: Callable[[], None],
    end: Callable[[], None] | None = None,
    multiply: Callable[[], None] | None = None,
) -> None:
    """A tile: all filters for three pixels, by the stream.

    begin: what leads `taps` to the tile's activations, behind which it finds `STATE`; there it is
    afterwards. end: what compares `taps` with the address behind the activations. multiply: what
    makes the six sums, of the biases, where another loop does.
    """
    product, code = tile.product, tile.code
    with code.times(1 / product.layer.groups):  # of which each is read before the first again
        code.reads(product.constant_bytes)
    if product.begins_early:
        code.ldmia(tile.stream.moving, tile.biases)
    if product.is_double:
        _two_pairs(tile, begin)
        return
    ways = Ways(outputs := AtEnds(tile))
    tile.note()
    with code.repeat((product.filters + 1) // 2, "b" if outputs.is_odd else "bne"):
        begin()
        if not product.begins_early:
            code.ldmia(tile.stream.moving, tile.biases)
        if multiply is None:
            tile.multiply(end)
        else:
            multiply()
        ways.finish()
        outputs.next()
    ways.otherwise()


def _two_pairs(tile: Tile, begin: Callable[[], None]) -> None:
    """As `one_tile`. The slow path is there once: `turn` says where it came from."""
    product, code, sums = tile.product, tile.code, tile.sums
    after = code.label()
    slow, scale, ready = [[code.label(), code.label()] for _ in range(3)]
    out_kept, _ = tile.ends.halves
    out, stop, turn = code.registers("out end turn")
    begin()
    with code.repeat(product.filters // 4):
        for pair in (0, 1):
            tile.note()
            if pair == 1:
                code.note("These two meet the activations backwards.")
            tile.multiply_pairs(product.unrolled, is_first=True, is_backward=pair == 1)
            tile.round(slow[pair], scale[pair], is_near=pair == 1)
            code.place(ready[pair])
            tile.look_up()
            if pair == 0:
                code.vmov(out, out_kept)
            else:
                code.vmov(out, stop, tile.ends)
            join(code, sums)
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

    def either(labels: Sequence[Label]) -> None:
        code.beq(labels[0])
        code.b(labels[1])

    tile.round_otherwise(back, lambda: either(scale), lambda: either(ready))
    code.place(after)


class TapGroup(NamedTuple):
    """first, end: S registers, of the taps of all tiles. tiles: how many these are, on average."""

    first: Register
    end: Register
    tiles: float


def group(
    tile: Tile,
    of: TapGroup,
    outputs: Outputs,
    alignment: int = 4,
    sized: tuple[Callable[[Callable[[], None]], None], Register] | None = None,
) -> None:
    """All filters for the tiles of a group, by the stream. alignment: what only the ends of tiles
    are multiples of, where it is more than a word's. sized: where another loop makes the six sums,
    of the biases, as `Tile.multiply`; and an S register with the bytes of two filters' weights."""
    product, code = tile.product, tile.code
    multiply = tile.multiply if sized is None else sized[0]
    ways = Ways(outputs)
    # Of two filters: where their weights begin and end, and the biases in front.
    begin, stop = code.registers("weights_begin weights_stop", kind=Kind.SINGLE)
    biases, end = code.register("biases", kind=Kind.DOUBLE), code.register("end")

    def compare() -> None:
        if alignment > 4:
            code.tst(tile.taps, alignment - 1)
        else:
            code.vmov(end, stop)
            code.cmp(tile.stream, end)

    # Words that the cache of data does not hold are read anew in each tile.
    is_kept = product.weights_bytes <= kept_bytes(product.layer.target)
    with code.times(1 if is_kept else of.tiles):
        code.reads(product.constant_bytes)
    tile.note()
    with code.repeat(product.filters // 2):
        code.note("They begin with these biases in each tile.")
        code.ldmia(tile.stream.moving, tile.biases)
        code.vmov(biases, *tile.biases)
        code.vmov(begin, tile.stream)
        if sized is not None:
            code.vmov(end, sized[1])
            code.add(end, end, tile.stream)
            code.vmov(stop, end)
        elif product.has_loop and alignment == 4:
            code.offset(end, product.weights_bytes, tile.scales[0], tile.stream)
            code.vmov(stop, end)
        code.vmov(tile.taps, of.first)
        outputs.begin()
        with code.repeat(of.tiles):
            code.vmov(tile.stream, begin)
            code.vmov(*tile.biases, biases)
            multiply(compare)
            ways.finish(is_near=product.table is None and sized is None)
            code.vmov(end, of.end)
            code.cmp(tile.taps, end)
        outputs.next()
    ways.otherwise(of.tiles)


# Of a tile that waits its six sums, and where its taps go on, lie on a stack. There are two, at
# multiples of their size: one empties while the other fills, so that what was multiplied with some
# words last is multiplied with the next words first.
_WAITING_BYTES = 28
STACK_BYTES = 256
MOST_IN_TURN = STACK_BYTES // _WAITING_BYTES


def in_turn(tile: Tile, of: TapGroup, outputs: Outputs, apart: int) -> None:
    """All filters for the tiles of a group, by the stream, whose words go to S registers, those of
    a round at a time. The stacks lie in front of the taps. apart: from the taps of a tile to those
    of the next one."""
    product, code = tile.product, tile.code
    ways = Ways(outputs)
    # resumed: the stream, or where the scales are; ends: of the stack that empties and the other.
    resumed, stop = code.registers("resumed weights_stop", kind=Kind.SINGLE)
    ends = code.register("stack_ends", kind=Kind.DOUBLE)
    at, end, other = code.registers("waiting end done")
    context = [*tile.sums.all, tile.taps]
    code.reads(product.constant_bytes, 4 * product.unrolled)
    tile.note()
    with code.repeat(product.filters // 2):
        code.ldmia(tile.stream.moving, tile.biases)
        tile.begin()
        code.offset(end, product.weights_bytes, at, tile.stream)
        code.vmov(stop, end)
        code.note("All tiles but the first wait.")
        fill, begun = code.label(), code.label()
        code.vmov(tile.taps, of.end)
        code.vmov(end, of.first)
        code.sub(at, end, 2 * STACK_BYTES)
        code.sub(other, end, STACK_BYTES)
        code.place(fill)
        with code.times(of.tiles):
            code.sub(tile.taps, tile.taps, apart)
            code.cmp(tile.taps, end)
            code.beq(begun)
            code.stmia(at.moving, context)
            code.b(fill)
        code.place(begun)
        code.vmov(ends, at, other)
        code.note("Some words of both filters, for one tile after the other.")
        with code.repeat(product.rounds, "blo"):
            _round_in_turn(tile, of, resumed, ends)
            code.vmov(tile.stream, resumed)
            code.vmov(end, stop)
            code.cmp(tile.stream, end)
        again, all_ = code.label(), code.label()
        code.place(again)
        with code.times(of.tiles):
            code.vmov(tile.stream, resumed)
            ways.finish()
            code.vmov(at, ends.halves[0])
            code.tst(at, STACK_BYTES - 1)
            code.beq(all_)
            code.ldmdb(at.moving, context)
            code.vmov(ends.halves[0], at)
            code.b(again)
        code.place(all_)
        outputs.next()
    ways.otherwise(of.tiles)


def _round_in_turn(tile: Tile, of: TapGroup, resumed: Register, ends: Register) -> None:
    code, product = tile.code, tile.product
    visit, emptied = code.label(), code.label()
    at, other = code.registers("waiting done")
    x, words = code.registers("x0 x1 x2 x3 x4"), code.registers("weights0 weights1")
    names = " ".join(f"words{n}" for n in range(product.unrolled // 2))
    bank = code.registers(names, kind=Kind.DOUBLE)
    context = [*tile.sums.all, tile.taps]
    code.vldmia(tile.stream.moving, [half for two in bank for half in two.halves])
    code.vmov(resumed, tile.stream)
    code.place(visit)
    with code.times(of.tiles):
        for pair in range(product.unrolled):
            if pair % 3 == 0:
                code.ldmia(tile.taps.moving, x)
            if pair % 2 == 0:
                code.vmov(*words, bank[pair // 2])
            step = WordStep(tile.sums, x[pair % 3 : pair % 3 + 3])
            multiply_words(code, [words[pair % 2]], [step])
        code.vmov(at, other, ends)
        code.tst(at, STACK_BYTES - 1)
        code.add_instruction(Instruction("beq", (emptied,)), 1 / of.tiles)
    with code.times(of.tiles - 1):
        code.stmia(other.moving, context)
        code.ldmdb(at.moving, context)
        code.vmov(ends, at, other)
        code.b(visit)
    code.place(emptied)
    code.vmov(ends, other, at)
