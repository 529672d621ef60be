"""A kernel of convolution.py by its parts, and what it keeps in its scratch: the activations of a
tile, then the numbers of the layer, its frame.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.dsp import nests
from mcu_deploy.backends.isa.dsp.gather import Gather, SharedGather
from mcu_deploy.backends.isa.dsp.outputs import SLOT_BYTES
from mcu_deploy.backends.isa.operands import Memory
from mcu_deploy.backends.quantized.dense_product import STATE, DenseProduct
from mcu_deploy.backends.quantized.layers import Convolution
from mcu_deploy.backends.quantized.loops import kept_bytes
from mcu_deploy.backends.quantized.moved_weights import in_bytes
from mcu_deploy.backends.quantized.tiles import Tiles

# What lies behind a tile's activations: what the core needs, what a tile begins with, what a window
# that is begun by itself needs, what rows need that are not whole tiles, what groups need, what a
# patch needs.
_NUMBERS = (
    *STATE,
    "source", "column", "row", "tile columns", "tile rows", "step", "down", "tile stride",
    "column end", "row end", "window step", "stride", "columns inside", "rows inside",
    "column begin", "row stride", "wrap", "filters", "rounds", "rows",
)  # fmt: skip
_OF_RESTS = ("behind", "last column", "behind the rest")
_OF_GROUPS = ("channels of a group", "filters of a group", "stream")
_OF_PATCHES = (
    "height", "down the image", "row of a patch", "down a patch", "width", "span",
    "channels", "zeros", "patch", "patches",
)  # fmt: skip
_ALIGNED, _MOST_ALIGNED = 128, 256
# So many tiles are a group at most, of so many bytes; and so many bytes of two filters' weights, or
# those that a cache of data keeps.
_MOST_TILES, _MOST_BYTES, _MOST_KEPT = 8, 1344, 112
_MOST_OF_LARGE, _MOST_WAITING = 2048, 4096  # bytes of tiles with a loop over taps; in turn
_FARTHEST = 2047  # filters, of which twice as many are the offset of a store


class Kernel:
    """How a layer's windows are gathered and multiplied.

    is_shared, is_common, is_double, holds_ends, table: as in `Tiles`, `Gather`, `DenseProduct`;
    ends are held where `may_hold_ends`. is_of_rows: its function computes some rows of the output,
    from where the first is to go. It finds the image at the row that the first window begins at, or
    would without padding; and in the first words of its scratch, in rows of the image, where the
    windows of the first row begin, and of the one behind the last. room: as in `DenseProduct`.
    """

    def __init__(
        self,
        layer: Convolution,
        is_wide: bool = False,
        is_shared: bool = False,
        is_common: bool = False,
        is_of_rows: bool = False,
        holds_ends: bool = False,
        is_double: bool = False,
        table: Array | None = None,
        room: float = 0,
    ) -> None:
        self._how = is_wide, is_shared, is_common, is_of_rows, holds_ends, is_double, table
        self.layer, self.is_shared, self.is_common = layer, is_shared, is_common
        self.is_of_rows = is_of_rows
        self.tiles = Tiles(layer, is_shared)
        self.gather = SharedGather(layer) if is_shared else Gather(layer, is_common)
        weights = self.gather.weights()
        self.product = DenseProduct(
            layer, weights, is_wide, is_shared=is_shared, is_common=is_common,
            holds_ends=holds_ends, is_double=is_double, table=table, room=room,
        )  # fmt: skip
        if not (is_wide or is_shared or is_common):
            self.product = in_bytes(self.product)
        # Of a group; 1 where there is none.
        self.tiles_together = 1
        if layer.is_waited_for and not (is_common or holds_ends):
            self._group()

    def leaving(self, room: float) -> Kernel:
        """The same with so much of it."""
        return Kernel(self.layer, *self._how, room)

    def _group(self) -> None:
        """Where a layer's loops have a limit, and two tiles or more multiply its words."""
        layer, product = self.layer, self.product
        if layer.groups > 1 or product.filters % 2 or self.tiles.count < 2:
            return
        most_bytes = _MOST_OF_LARGE if product.has_loop else _MOST_BYTES
        most = min(_MOST_TILES, self.tiles.count, most_bytes // product.tile_bytes)
        kept = kept_bytes(layer.target)
        # Without caches groups spare nothing.
        least = _MOST_KEPT if kept or layer.loop_bytes is not None else 0
        if product.weights_bytes <= max(least, kept):
            if most > 1:
                self.product, self.tiles_together = replace(product, is_grouped=True), most
        elif self.is_shared and layer.target.fpu and product.rounds_in_turn:
            most = min(nests.MOST_IN_TURN, self.tiles.count, _MOST_WAITING // product.tile_bytes)
            if most > 1:
                self.product, self.tiles_together = replace(product, is_in_turn=True), most

    @property
    def is_in_order(self) -> bool:
        """Whether the outputs of all tiles of a group follow each other: each tile has three, and
        none waits for another."""
        window, is_one = self.layer.window, self.tiles_together == 1
        pixels = window.output[1] if self.is_of_rows or self.is_shared else self.layer.pixels
        is_near = self.product.filters <= _FARTHEST
        return not (is_one or self.product.is_in_turn) and pixels % 3 == 0 and is_near

    @property
    def taps_bytes(self) -> int:
        """Of a group."""
        slot = SLOT_BYTES if self.tiles_together > 1 and not self.is_in_order else 0
        return self.tiles_together * (self.product.tile_bytes + slot)

    @property
    def stacks_bytes(self) -> int:
        """Of tiles that wait, which lie in front of the taps, at a multiple of one's size."""
        return 2 * nests.STACK_BYTES if self.product.is_in_turn else 0

    @staticmethod
    def may_hold_ends(layer: Convolution) -> bool:
        """Whether all tiles have three outputs, and filters are within the reach of an offset."""
        filters, is_one = layer.weights.shape[0], layer.groups == 1
        return is_one and layer.pixels % 3 == 0 and filters % 2 == 0 and filters <= 2048

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        of_rests = _OF_RESTS if self.tiles.rest else ()
        of_groups = _OF_GROUPS if self.layer.groups > 1 else ()
        return (*_NUMBERS, *of_rests, *of_groups, *(_OF_PATCHES if self.has_patches else ()))

    @functools.cached_property
    def has_patches(self) -> bool:
        """Whether a window leaves the image: that of a row's last tile may, without padding."""
        return not self.tiles.are_inside().all()

    @property
    def patch_bytes(self) -> int:
        return -(-self.gather.row_bytes * self.layer.window.kernel[0] // 32) * 32

    @property
    def slots_bytes(self) -> int:
        """Of each window of a tile that is begun by itself: what leads down its rows, its begin,
        its patch."""
        return 3 * 4 * self.tiles.windows

    @property
    def nowhere_bytes(self) -> int:
        return -(-self.layer.y.shape[1] // 4) * 4

    @property
    def scratch_bytes(self) -> int:
        patches = self.tiles.windows * self.patch_bytes if self.has_patches else 0
        frame = 4 * len(self.names) + self.slots_bytes
        stacks = self.stacks_bytes + (nests.STACK_BYTES - 4 if self.stacks_bytes else 0)
        tiles = stacks + self.taps_bytes + self.alignment - 4
        return tiles + frame + self.nowhere_bytes + patches

    @property
    def alignment(self) -> int:
        """Of what is behind a tile's activations. If it is more than a word's, no round of the loop
        over these but the last ends at a multiple of it. Layers that may share code have the same.
        """
        product = self.product
        of_round = product.pair_bytes * product.unrolled // 3
        least = (of_round & -of_round) << (product.rounds - 1).bit_length()
        is_alone = self.tiles_together == 1
        if not (product.has_loop and is_alone) or self.is_common or least > _MOST_ALIGNED:
            return 4
        return least if self.is_shared else max(least, _ALIGNED)

    @property
    def form(self) -> Hashable:
        """All that its code depends on."""
        together = self.tiles_together, self.is_in_order
        return self.product.form, self.is_of_rows, *together, are_words(self.stated)

    @functools.cached_property
    def stated(self) -> Array:
        """The numbers in the order of `names`, but for the two that are pointers to the output."""
        layer, gather, tiles = self.layer, self.gather, self.tiles
        window, channels, filters = layer.window, layer.x.shape[1], layer.y.shape[1]
        pitch = window.input[1] * channels
        down = window.dilations[0] * pitch
        step = tiles.stride * channels
        end = tiles.in_row * tiles.stride - window.begin[1]
        zero = layer.zero_points[0] & 0xFF
        values = {
            "second": filters - 2,
            "third": 2 * filters - 2,
            "source": -(window.begin[0] * pitch + window.begin[1] * channels),
            "column": -window.begin[1],
            "row": -window.begin[0],
            "tile columns": tiles.whole_columns,
            "tile rows": tiles.inside[0],
            "step": step,
            "down": gather.down(down),
            "tile stride": tiles.windows * tiles.stride,
            "column end": end,
            "row end": window.output[0] * window.strides[0] - window.begin[0],
            "window step": step,
            "stride": tiles.stride,
            "columns inside": tiles.inside[1],
            "rows inside": tiles.inside[0],
            "column begin": -window.begin[1],
            "row stride": window.strides[0],
            "wrap": window.strides[0] * pitch - tiles.in_row * step,
            "filters": filters,
            "rounds": gather.rounds,
            "rows": window.kernel[0],
            "behind": 2 * filters,
            "last column": end - tiles.stride,
            "behind the rest": (tiles.rest - 1) * filters,
            "channels of a group": layer.weights.shape[1],
            "filters of a group": self.product.filters,
            "stream": self.product.constant_bytes,
            "height": window.input[0],
            "down the image": down,
            "row of a patch": gather.row_bytes,
            "down a patch": gather.down(gather.row_bytes),
            "width": window.input[1],
            "span": tiles.span[1],
            "channels": channels,
            "zeros": (zero * 0x0101 ^ 0x8000) - 0x8000,
            "patch": self.patch_bytes,
            "patches": 4 * len(self.names) + self.slots_bytes + self.nowhere_bytes,
        }
        return np.array([values[name] for name in self.names[2:]], np.int64)


def numbers(kernel: Kernel) -> Array:
    """What stands in front of the weights: the bytes of a tile's activations, and the layer's
    numbers, two in a word where all fit."""
    taken = kernel.stated
    if not are_words(taken):
        halves = np.append(taken, np.zeros(taken.size % 2, np.int64)) & 0xFFFF
        taken = halves[::2] | halves[1::2] << 16
    return (np.append(kernel.taps_bytes, taken) & 0xFFFFFFFF).astype(np.uint32)


def are_words(taken: Array) -> bool:
    return bool((taken != taken.astype(np.int16)).any())


class Frame:
    """What lies behind the activations of a tile, where a register points to. downs, begins,
    patches: offsets of a word of each window; nowhere: of bytes for outputs of no pixel."""

    def __init__(self, kernel: Kernel, base: Register) -> None:
        self.base = base
        self._at = {name: 4 * index for index, name in enumerate(kernel.names)}
        self.downs = 4 * len(kernel.names)
        self.begins = self.downs + 4 * kernel.tiles.windows
        self.patches = self.begins + 4 * kernel.tiles.windows
        self.nowhere = self.patches + 4 * kernel.tiles.windows

    def __getitem__(self, name: str) -> Memory:
        """A number by its name."""
        return self.base[self._at[name]]

    def at(self, name: str) -> int:
        return self._at[name]


def describe(code: Assembly, kernel: Kernel) -> None:
    """The kernel's header: its stream, tensors and scratch."""
    for line in kernel.product.description():
        code.note(line)
    first, *others = kernel.names[2:]
    size = "a word each" if are_words(kernel.stated) else "a halfword each"
    code.note(kernel.gather.order)
    code.note(
        "x and y: [row][column][channel]. In front of the stream are numbers of the layer: a word "
        f"of the bytes of {_stated_taps(kernel)}; {size}, to a whole word, those of the frame from "
        f"`{first}` on."
    )
    code.note(
        f"scratch: {_taps_of(kernel)}; the frame, a word each: "
        + ", ".join((*kernel.names[:2], first, *others))
        + "; a word of each window: what leads down its rows, its begin, its patch; bytes for "
        "outputs of no pixel; patches, with the zero point where there is no image."
    )
    if kernel.is_of_rows:
        code.note(
            "Some rows of y: the scratch begins with the rows of the image that the windows of the "
            "first of them, and those of the one behind the last, begin at."
        )
    together = "tile" if kernel.tiles_together == 1 else "group"
    code.note(f"In place: a {together}'s windows are read before its outputs are written.")


def _stated_taps(kernel: Kernel) -> str:
    if kernel.tiles_together == 1:
        return "a tile's taps"
    more = "" if kernel.is_in_order else " with three words for each"
    return f"{kernel.tiles_together} tiles' taps{more}"


def _taps_of(kernel: Kernel) -> str:
    if kernel.tiles_together == 1:
        return "the taps of a tile"
    if kernel.is_in_order:
        return f"the taps of {kernel.tiles_together} tiles, whose outputs follow each other"
    taps = (
        f"of {kernel.tiles_together} tiles the taps and three words, where the next element of the "
        "first pixel goes and how far the next but one of the second and of the third are behind"
    )
    if kernel.product.is_in_turn:
        taps = f"two stacks of tiles that wait, their six sums and where their taps go on; {taps}"
    return taps
