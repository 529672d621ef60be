"""A 1x1 convolution: three pixels that are neighbours in memory are a tile (see core.py).

There are four ways over the pixels. One tile after the other, or where weights are waited for
groups of them (nests.py); by a function for the layer's sizes, or by one for layers of all sizes,
for which these are numbers in front of the stream. What the four have in common is here.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.backends.isa.dsp.widening import widen
from mcu_deploy.backends.isa.operands import Memory
from mcu_deploy.backends.quantized.dense_product import DenseProduct
from mcu_deploy.backends.quantized.layers import Convolution
from mcu_deploy.backends.quantized.loops import kept_bytes

# So many tiles at most, of so many bytes together: a group is to be worth its scratch.
_MOST_TILES, _MOST_BYTES = 8, 2688


@dataclass(frozen=True, eq=False)
class PixelWalk(ABC):
    """A way over the pixels of a layer, as a product.

    is_counted: it computes all of them; else, by a function for the layer's sizes, as many tiles as
    the scratch has at `count_at`, an int32, of a layer whose rows are whole tiles.
    """

    product: DenseProduct
    is_counted: bool = True

    @property
    def layer(self) -> Convolution:
        return self.product.layer

    @property
    def channels(self) -> int:
        return int(self.layer.x.shape[1])

    @property
    def filters(self) -> int:
        return self.product.filters

    @property
    def whole(self) -> int:
        """Tiles of three pixels."""
        return self.layer.pixels // 3

    @property
    def rest(self) -> int:
        """PixelWalk behind these."""
        return self.layer.pixels % 3

    @property
    def all_tiles(self) -> int:
        return self.whole + (self.rest > 0)

    @functools.cached_property
    def code(self) -> Assembly:
        """The kernel: pixels, output, `numbers` and packed stream, scratch."""
        code = Assembly()
        self.assemble(code)
        return code

    @abstractmethod
    def assemble(self, code: Assembly) -> None:
        """Adds the kernel."""

    @property
    @abstractmethod
    def scratch_bytes(self) -> int: ...

    @property
    def numbers(self) -> Array:
        """uint32: what stands in front of the weights."""
        return np.array([], np.uint32)

    @property
    def distance(self) -> int:
        """As `InPlace` has it: a tile is read before it is written. (The last one reads some pixels
        again whose results are not taken, whatever has been written over them.)"""
        more = self.filters - self.channels
        return max(3 * more * (self.whole if more > 0 else 1), -self.layer.x.bytes)

    def describe(
        self, code: Assembly, scratch: str, numbers: str = "",
        order: str = "of each four in the order 0 2 1 3", read: str = "tile",
    ) -> None:  # fmt: skip
        """What stands over the code. scratch, numbers: what is where in them; order: of channels;
        read: what is read before its outputs are written."""
        for line in self.product.description():
            code.note(line)
        if numbers:
            numbers = f" In front of the stream are words of the layer: {numbers}."
        code.note(f"x: [p][channel], y: [p][f]; t are channels, {order}.{numbers}")
        code.note(f"scratch: {scratch}. In place: a {read} is read before it is written.")


class GroupWalk(PixelWalk):
    """By groups of tiles, of which the last one may have less."""

    def together(self, tiles: int) -> int:
        """Of so many tiles as many as are a group. One where each reads its words anew all the
        same."""
        product = self.product
        if product.weights_bytes > kept_bytes(self.layer.target):
            return 1
        most = max(1, min(_MOST_TILES, _MOST_BYTES // product.tile_bytes))
        return -(-tiles // -(-tiles // most))

    @property
    @abstractmethod
    def behind(self) -> Iterable[int]:
        """The tiles that lie in front of each group but the first."""

    @property
    def distance(self) -> int:
        """A group is read before it is written. What the last tile reads again is not taken,
        whatever has been written over it."""
        more = self.filters - self.channels
        return max((3 * tiles * more for tiles in self.behind), default=-self.layer.x.bytes)


def copy_halfwords(code: Assembly, source: Register, into: Register, left: Register) -> None:
    """So many bytes as `left` has, from the last ones on."""
    element = code.register("element")
    code.subs(left, left, 2)
    code.ldrh(element, source[left])
    code.strh(element, into[left])


class AnyPixels:
    """The registers that widen three pixels whose size is no number of the code: to int16, two
    channels a word, of all three in turn; of each four channels 0 and 2, 1 and 3."""

    def __init__(self, code: Assembly) -> None:
        self.code = code
        self.sources = code.registers("pixel0 pixel1 pixel2")
        self.end, self.channels = code.registers("pixel0_end channels")
        self.low, self.high = code.registers("a0 a1 a2"), code.registers("b0 b1 b2")

    def begin(self, source: Memory, channels: Memory) -> None:
        """At the first pixel."""
        code, (first, second, third) = self.code, self.sources
        code.ldr(first, source)
        code.ldr(self.channels, channels)
        code.add(second, first, self.channels)
        code.add(third, second, self.channels)
        code.mov(self.end, second)

    def widen(self, into: Register, extend: str, channels: int) -> None:
        """channels: for the price."""
        code = self.code
        with code.repeat(channels // 4):
            for word, pixel in zip(self.low, self.sources, strict=True):
                code.ldr(word, pixel.after(4))
            widen(code, extend, self.low, self.high)
            code.stmia(into.moving, [*self.low, *self.high])
            code.cmp(self.sources[0], self.end)
