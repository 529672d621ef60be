"""Depthwise convolutions, channel after channel.

A channel's plane is copied into the scratch, where its elements lie beside each other with the
padding around them: so no tap asks where it is, and an output is read by fixed distances. A few
outputs of a line are summed together, by which a weight is loaded once for all of them, and an
element once for all of its taps. Large planes are copied band by band.

Cores of Armv6-M load a signed byte only by two registers: there the plane and the taps are words.
Others have the rows of small windows written out, as their loads reach all of them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mcu_deploy.backends.ArmMul.rounding import Rounding, is_armv6m, round_sums, unsolved_cycles
from mcu_deploy.backends.ArmMul.workloads import KIT, RunCost, proposal
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    LayoutRule,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa.clamps import opened
from mcu_deploy.backends.kit.arguments import Prototype, signature
from mcu_deploy.backends.kit.requantization import requantization
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import Plane, plane
from mcu_deploy.backends.quantized import layers
from mcu_deploy.backends.quantized.layers import Convolution

OPERATORS = ("Conv", "tflite::Conv")

_MOST_SCRATCH = 2048  # bytes of a band, if that is enough for one row of outputs
_MOST_TILE = 6
_MOST_WRITTEN = 9  # taps of a window whose rows are written out


class _Code(NamedTuple):
    """Bytes of a function, and more for each product that is written, for each output of a tile,
    for looking for sums, for rounding in float32, and for planes that come in bands."""

    function: int
    product: int
    output: int
    late: int
    in_float: int
    bands: int


class _Model(NamedTuple):
    """Cycles of a cell of a channel's plane, a product, a few outputs, and what these take more
    where a loop goes over their rows; of an output what 64 bits add to it, what a sum that it may
    be does, and what float32 does. Fitted to layers of ten networks, counted in QEMU."""

    cell: float
    product: float
    tile: float
    loop: float
    wide: float
    late: float
    in_float: float
    code: _Code


_M3 = _Model(6.6, 3.1, 52, 33, 0, 24, 240, _Code(180, 6, 40, 80, 140, 130))
_M0_PLUS = _Model(7.4, 5.9, 151, 0, 35, 14, 490, _Code(280, 12, 60, 90, 120, 160))


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A depthwise convolution by itself, with its clamp."""
    found = layers.read(opened(node))
    if isinstance(found, str):
        return found
    if not found.is_depthwise:
        return ""
    if min(*found.window.begin, *found.window.end) < 0:
        return "its padding is negative"
    if reason := layers.bytes_refusal(found):
        return reason
    rounding = round_sums(found, layers.clamp(node))
    if isinstance(rounding, str):
        return rounding
    return [_Kernel(node, found, rounding).propose(view)]


@dataclass(frozen=True)
class Bands:
    """How the planes of a layer lie in the scratch: so many rows of outputs at a time need so many
    lines of so many cells."""

    window: Plane
    cell: int
    taps: int = 0

    @property
    def pitch(self) -> int:
        needed = (self.window.output[1] - 1) * self.window.stride[1] + self._reach(1)
        return max(self.window.pad[1] + self.window.input[1], needed)

    @functools.cached_property
    def rows(self) -> int:
        """Of outputs: all, or as many as the scratch has room for, in equal bands."""
        height = self.window.output[0]
        fits = [r for r in range(1, height + 1) if self._bytes(r) <= _MOST_SCRATCH]
        # What a band takes over from the one before must not lie on it.
        least = max(1, -(-self.kept // self.window.stride[0]))
        most = max(least, *fits, 1)
        return height if most >= height else -(-height // -(-height // most))

    @property
    def are_several(self) -> bool:
        return self.rows < self.window.output[0]

    @property
    def kept(self) -> int:
        """The lines that a band has in common with the next."""
        return max(0, self._reach(0) - self.window.stride[0])

    @property
    def lines(self) -> int:
        return self._lines(self.rows)

    @property
    def scratch_bytes(self) -> int:
        return self._bytes(self.rows)

    def _lines(self, rows: int) -> int:
        lines = (rows - 1) * self.window.stride[0] + self._reach(0)
        return max(lines, rows * self.window.stride[0] if rows < self.window.output[0] else 0)

    def _bytes(self, rows: int) -> int:
        return self.cell * (self._lines(rows) * self.pitch + self.taps)

    def _reach(self, axis: int) -> int:
        return (self.window.kernel[axis] - 1) * self.window.dilation[axis] + 1


class _Kernel:
    def __init__(self, node: Layer, layer: Convolution, rounding: Rounding) -> None:
        self.node, self.layer, self.rounding = node, layer, rounding
        self.window = plane(layer.window)
        self.is_of_words = is_armv6m(node.target)
        taps = math.prod(self.window.kernel)
        self.bands = Bands(self.window, *((4, taps) if self.is_of_words else (1, 0)))
        self.tile, self.tiles = _tile(self.window.output[1])
        self.images, self.channels = layer.x.shape[:2]
        self.filters = len(layer.weights)
        # A plane is copied once for all filters of its channel, where nothing else takes its place.
        self.is_kept = self.images == 1 and not self.bands.are_several
        self.ending = None if rounding.is_solved else requantization(node, "c")
        self.in_float = self.ending.constants if self.ending else ()

    def propose(self, view: SubgraphView) -> Proposal:
        body, kind = self._body(), self.layer.x.dtype.value
        return proposal(
            view, self.node, stem("depthwise", kind, *self._sizes, window=self.window), body,
            self._given, work=self._work(),
            flash=sum(c.value.nbytes for c in self._constants), code={body: self._code},
            title=f"depthwise{'x'.join(map(str, self.window.kernel))}",
            layout=LayoutRule.CHANNELS_LAST,
            headers=("string.h",) if self.bands.are_several and self.bands.kept else (),
            helpers=self.ending.helpers if self.ending else (),
            scratch_bytes=self.bands.scratch_bytes, in_place=self._in_place,
        )  # fmt: skip

    @property
    def _sizes(self) -> tuple[int, ...]:
        more = () if self.filters == self.channels else (self.filters,)
        return self.channels, *more

    @functools.cached_property
    def _constants(self) -> tuple[Constant, ...]:
        """A filter's words: what its sums begin with, its scale and its addend."""
        weights, zero = self.layer.weights[:, 0], self.layer.zero_points[0]
        starts = self.layer.bias - zero * weights.sum(axis=(1, 2)) + self.rounding.moves
        return (
            Constant("weights", weights.astype(np.int8)),
            Constant("rounding", self.rounding.table(starts)), *self.in_float,
        )  # fmt: skip

    def _given(self, layer: Layer) -> Prototype:
        ctype = "int32_t" if self.is_of_words else self.layer.x.dtype.c_type
        return signature(layer, self._constants).scratch(ctype, "plane")

    def _body(self) -> str:
        bands, x, y = self.bands, self.layer.x, self.layer.y
        return KIT.render(
            "depthwise.c.j2", **vars(self.window), images=self.images, channels=self.channels,
            filters=self.filters, of_channel=self.filters // self.channels, is_kept=self.is_kept,
            x_ctype=x.dtype.c_type, y_ctype=y.dtype.c_type,
            cell="int32_t" if self.is_of_words else x.dtype.c_type, is_of_words=self.is_of_words,
            zero=self.layer.zero_points[0], lines=bands.lines, pitch=bands.pitch, rows=bands.rows,
            kept=bands.kept, banded=bands.are_several,
            copied_lines=min(self.window.input[0], bands.lines - self.window.pad[0]),
            tile=self.tile, tiles=self.tiles, rows_of_taps=self._rows, rounding=self.rounding,
            ending=self.ending, names=[f"sum{t}" for t in range(self.tile)],
        )  # fmt: skip

    @functools.cached_property
    def _uses(self) -> Mapping[int, Sequence[tuple[int, int]]]:
        """Of a row of taps, which outputs meet an element, and by which tap."""
        stride, step = self.window.stride[1], self.window.dilation[1]
        uses: dict[int, list[tuple[int, int]]] = {}
        for t in range(self.tile):
            for k in range(self.window.kernel[1]):
                uses.setdefault(t * stride + k * step, []).append((t, k))
        return uses

    @property
    def _is_written_out(self) -> bool:
        return not self.is_of_words and math.prod(self.window.kernel) <= _MOST_WRITTEN

    @property
    def _rows(self) -> list[list[str]]:
        """Of the rows of taps that are written out, one where a loop goes over them."""
        step = self.window.dilation[0] * self.bands.pitch
        rows = range(self.window.kernel[0] if self._is_written_out else 1)
        return [self._products(row * step, row * self.window.kernel[1]) for row in rows]

    def _products(self, first: int, tap: int) -> list[str]:
        """Of a row of taps: each element is loaded once. first, tap: where it begins."""
        lines = [f"const int32_t w{k} = tap[{tap + k}];" for k in range(self.window.kernel[1])]
        for at, of in sorted(self._uses.items()):
            lines.append(f"const int32_t x{at} = at[{first + at}];")
            lines += [f"sum{t} += x{at} * w{k};" for t, k in of]
        return lines

    @property
    def _in_place(self) -> tuple[InPlace, ...]:
        """Where no band reads a channel's pixels behind what the bands before have written."""
        if self.filters > self.channels:
            return ()
        rows, window = self.bands.rows, self.window
        for band in range(1, -(-window.output[0] // rows)):
            written = band * rows * window.output[1]
            read = (band - 1) * rows * window.stride[0] + self.bands.lines - window.pad[0]
            if written > read * window.input[1]:
                return ()
        return (InPlace(0, 0, exactly=True),)

    def _work(self) -> RunCost:
        of, window, rounding = self._model, self.window, self.rounding
        tiles = self.images * self.tiles * window.output[0]
        a_tile = self.tile * (math.prod(window.kernel) * of.product + rounding.is_wide * of.wide)
        a_tile += of.tile + (0 if self._is_written_out else of.loop)
        planes = self.images * (self.channels if self.is_kept else self.filters)
        cycles = planes * math.prod(window.input) * of.cell + self.filters * tiles * a_tile
        unsolved = rounding.unsolved * unsolved_cycles(self.node, of.in_float)
        cycles += tiles * self.tile * (rounding.late_sums * of.late + unsolved)
        # A channel's taps and words, those of bytes anew for each row of taps.
        reads = tiles * math.prod(window.kernel) if not self.is_of_words else self.bands.taps
        return RunCost(cycles, self.filters * (reads + 3))

    @property
    def _code(self) -> int:
        of = self._model.code
        products = self.tile * self.window.kernel[1] * len(self._rows)
        return (
            of.function + products * of.product + self.tile * of.output
            + bool(self.rounding.late) * of.late + (of.in_float if self.ending else 0)
            + (of.bands if self.bands.are_several else 0)
        )  # fmt: skip

    @property
    def _model(self) -> _Model:
        return _M0_PLUS if self.is_of_words else _M3


def _tile(width: int) -> tuple[int, int]:
    """How many outputs of a line are summed together, and how often."""
    size = min(range(1, min(width, _MOST_TILE) + 1), key=lambda t: -(-width // t) * (t + 1.5))
    return size, -(-width // size)
