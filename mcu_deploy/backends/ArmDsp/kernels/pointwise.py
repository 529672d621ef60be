"""1x1 convolution of int8: tiles of 3 pixels, which are neighbours in memory (see core.py).

What a tile must remember lies behind its activations, where the pointer to these ends up by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.workloads import CHANNELS_LAST, ID, proposal
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.dsp import nests, tap_sums
from mcu_deploy.backends.isa.dsp.core import Tile
from mcu_deploy.backends.isa.dsp.pixel_groups import PixelGroups
from mcu_deploy.backends.isa.dsp.pixels import PixelWalk, copy_halfwords
from mcu_deploy.backends.isa.dsp.widening import widen
from mcu_deploy.backends.layer import kept
from mcu_deploy.backends.quantized.chains import fused
from mcu_deploy.backends.quantized.dense_product import DenseProduct
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.backends.quantized.loops import kept_bytes
from mcu_deploy.backends.quantized.moved_weights import in_bytes

OPERATORS = ("Conv", "tflite::Conv")

# Behind a tile's activations; then what the last tile writes, if it does not write to the output.
_INPUT, _WEIGHTS, _TILES, _OUTPUT, _LAST = 0, 4, 8, 12, 16
_DOUBLE_REACH = 1020  # how far from its register LDRD reads


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A 1x1 convolution by itself."""
    layer = read(node)
    if isinstance(layer, str):
        return layer
    if not layer.is_pixelwise:
        return ""
    if reason := refusal(layer):
        return reason
    return proposals(view.part([node.node.id]), layer)


def proposals(
    part: SubgraphView, layer: Convolution, table: Array | None = None
) -> Sequence[Proposal]:
    """All ways to compute a part, which is the layer, or with the function of a table behind it."""
    return [_proposal(part, layer, is_double, table) for is_double in ways(layer)]


def _proposal(
    part: SubgraphView, layer: Convolution, is_double: bool, table: Array | None
) -> Proposal:
    pixels = kernel(layer, is_double, table=table)
    channels, filters, taken = pixels.channels, pixels.filters, pixels.product
    ahead = taken.looked_up()
    return proposal(
        part, layer.target, f"conv1x1_{channels}x{filters}_dsp", pixels.code,
        lambda: [Constant("weights", np.concatenate([ahead, taken.pack()]))],
        title(is_double) + " + table" * (table is not None),
        macs=layer.pixels * channels * filters,
        constant_bytes=taken.constant_bytes + ahead.nbytes,
        scratch_bytes=pixels.scratch_bytes,
        in_place=[InPlace(0, 0, pixels.distance)],
        layouts=CHANNELS_LAST,
        replacement=None if table is None else fused(part, "ConvolutionTable", ID),
    )  # fmt: skip


def title(is_double: bool) -> str:
    return "conv1x1" + ", four filters a round" * is_double


def ways(layer: Convolution) -> tuple[bool, ...]:
    """Whether rounds have four filters, as `DenseProduct` has it."""
    return (False, True) if product(layer).may_be_double else (False,)


def refusal(layer: Convolution) -> str:
    """Why the kernel does not compute a 1x1 convolution, a clause; empty where it does."""
    filters, channels = layer.weights.shape[:2]
    if layer.groups > 1:
        return "it takes no groups"
    if channels % 4 or filters % 2:
        return f"it takes channels by 4 and filters by 2, not {channels} and {filters}"
    if channels > 512 or filters > 2048:
        return f"it has offsets for 512 channels and 2048 filters, not {channels} and {filters}"
    if layer.pixels < 3:
        return f"it takes pixels by 3, and there are {layer.pixels}"
    return product(layer).refusal()


@kept
def product(
    layer: Convolution, is_double: bool = False, table: Array | None = None
) -> DenseProduct:
    return _product(layer, _is_grouped(layer), is_double, table)


@kept
def _is_grouped(layer: Convolution) -> bool:
    """Whether tiles are multiplied by groups, where weights are waited for. If no cache keeps any
    of them groups spare nothing of that: they are taken if all the same they are faster."""
    if not layer.is_waited_for or kept_bytes(layer.target):
        return layer.is_waited_for
    groups = PixelGroups(_product(layer, True), is_counted=True).code
    tiles = PixelTiles(_product(layer, False), is_counted=True).code
    return groups.time(layer.target) < tiles.time(layer.target)


def _product(
    layer: Convolution, is_grouped: bool, is_double: bool = False, table: Array | None = None
) -> DenseProduct:
    filters, channels = layer.weights.shape[:2]
    taps = order(channels, by=4 if is_grouped else 8)
    weights = layer.weights.reshape(filters, channels)[:, taps]
    whole = DenseProduct(
        layer, weights, unrolls_all=True, holds_ends=True, is_double=is_double, table=table,
        is_grouped=is_grouped,
    )  # fmt: skip
    return in_bytes(whole)


@kept
def kernel(
    layer: Convolution, is_double: bool = False, is_counted: bool = True,
    table: Array | None = None,
) -> PixelTiles | PixelGroups:  # fmt: skip
    """How a layer is computed. is_counted: as `PixelWalk` has it."""
    of = product(layer, is_double, table)
    return (PixelGroups if of.is_grouped else PixelTiles)(of, is_counted)


def order(channels: int, by: int = 8) -> Array:
    """The taps in the order in which SXTB16 widens eight bytes: (0, 2), (4, 6), (1, 3), (5, 7); or
    four: (0, 2), (1, 3)."""
    if by == 4:
        fours: Array = np.arange(0, channels, 4)[:, None] + np.array([0, 2, 1, 3])
        return fours.reshape(-1)
    eight = np.array([0, 2, 4, 6, 1, 3, 5, 7])
    whole = (np.arange(0, channels // 8 * 8, 8)[:, None] + eight).reshape(-1)
    rest = channels - 4 + np.array([0, 2, 1, 3]) if channels % 8 else np.array([], np.int64)
    return np.concatenate([whole, rest])


class PixelTiles(PixelWalk):
    """One tile after the other, by a function for the layer's sizes."""

    @property
    def scratch_bytes(self) -> int:
        return self.product.tile_bytes + _LAST + 3 * self.filters

    @property
    def count_at(self) -> int:
        return self.product.tile_bytes + _TILES

    def assemble(self, code: Assembly) -> None:
        taken, channels, filters, rest = self.product, self.channels, self.filters, self.rest
        tiles, tile_bytes, tile = self.all_tiles, taken.tile_bytes, Tile(code, taken)
        pixels, output, weights, scratch = code.arguments("x y weights scratch")
        state, into = tile.taps, code.register("into")
        last = ", where the last tile's outputs go; these, until they are copied there" * (rest > 0)
        self.describe(
            code,
            "the taps of a tile; behind them words: where the next pixels are, where the stream "
            f"begins, tiles that are left{last}",
            order="of each eight in the order 0 2 4 6 1 3 5 7, of four at the end 0 2 1 3",
        )
        tile.hold_table(weights)
        out, stop = code.registers("out end")
        code.add(state, scratch, tile_bytes)
        code.str(pixels, state[_INPUT])
        code.str(weights, state[_WEIGHTS])
        code.add(out, output, taken.lead)
        code.add(stop, out, filters)
        code.vmov(tile.ends, out, stop)
        count, source = code.registers("tiles source")
        if self.is_counted:
            code.mov(count, tiles)
            code.str(count, state[_TILES])
        code.note("Three pixels, widened to int16: two channels a word, of all three in turn.")
        with code.repeat(tiles, "b"):
            code.sub(into, state, tile_bytes)
            code.ldr(source, state[_INPUT])
            _widen(code, source, into, channels, self.layer.extend)
            if taken.summed:
                code.sub(into, into, 6 * channels)
                tap_sums.append(code, into, taken.summed)
            code.mov(state, into)
            code.ldr(tile.stream, state[_WEIGHTS])
            nests.one_tile(tile, lambda: code.sub(tile.taps, tile.taps, tile_bytes))
            done, ready = code.label(), code.label()
            code.note("The next three pixels.")
            code.ldr(count, state[_TILES])
            code.ldr(source, state[_INPUT])
            code.vmov(out, tile.ends.halves[0])
            code.subs(count, count, 1)
            code.str(count, state[_TILES])
            code.beq(done)
            code.add(source, source, 3 * channels)
            code.add(out, out, 2 * filters)
            if rest:
                code.note("The last three pixels are taken again, and go behind the scratch first.")
                # The last tile takes the last three pixels again, and writes them behind itself:
                # the output may lie on the input, and then only the new ones are still there.
                code.cmp(count, 1)
                code.bne(ready)
                with code.rarely():
                    code.sub(source, source, (3 - rest) * channels)
                    code.str(out, state[_OUTPUT])
                    code.add(out, state, _LAST + taken.lead)
                code.place(ready)
            code.add(stop, out, filters)
            code.vmov(tile.ends, out, stop)
            code.str(source, state[_INPUT])
        code.place(done)
        if rest:
            self._copy_rest(code, state, out)

    def _copy_rest(self, code: Assembly, state: Register, out: Register) -> None:
        """To the output what the last tile has written behind itself."""
        rest, filters, lead = self.rest, self.filters, self.product.lead
        last, left = code.registers("last left")
        code.ldr(out, state[_OUTPUT])
        code.add(last, state, _LAST + (3 - rest) * filters)
        code.mov(left, rest * filters)
        if lead:
            code.sub(out, out, lead)
        with code.repeat(rest * filters // 2):
            copy_halfwords(code, last, out, left)


def _widen(code: Assembly, source: Register, into: Register, channels: int, extend: str) -> None:
    """Three pixels to pairs of int16: of each pair of taps the three pixels."""
    low, high = code.registers("a0 a1 a2"), code.registers("b0 b1 b2")
    other_low, other_high = code.registers("c0 c1 c2"), code.registers("d0 d1 d2")
    for at in range(0, channels // 8 * 8, 8):
        for n in range(3):
            first = n * channels + at
            if first <= _DOUBLE_REACH:
                code.ldrd(low[n], high[n], source[first])
            else:
                code.ldr(low[n], source[first])
                code.ldr(high[n], source[first + 4])
        widen(code, extend, [*low, *high], [*other_low, *other_high])
        code.stmia(into.moving, [*low, *high, *other_low, *other_high])
    if channels % 8:
        for n in range(3):
            code.ldr(low[n], source[n * channels + channels - 4])
        widen(code, extend, low, high)
        code.stmia(into.moving, [*low, *high])
