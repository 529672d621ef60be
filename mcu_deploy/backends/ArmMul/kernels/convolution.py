"""Convolutions of 8 bits, of patches that have two pixels in a word.

Layers of one window, stride and shape share nothing but what `pairs` has; those of one pixel are
one function for all.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.backends.ArmMul import pairs
from mcu_deploy.backends.ArmMul.pairs import PIXELS, less
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
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import Prototype, signature
from mcu_deploy.backends.kit.requantization import requantization
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import plane
from mcu_deploy.backends.quantized import layers
from mcu_deploy.backends.quantized.layers import Convolution

OPERATORS = ("Conv", "tflite::Conv")


class _Cycles(NamedTuple):
    """steps: of six pixels by so many taps. Of a run of these, if a filter may have several, with
    what its two bytes are worth; of a filter of six pixels, and of a sum that these may be; of an
    output what 64 bits add to it, and what float32 does; of a word of a patch, and of where its
    window's tap lies; of six pixels. Fitted to convolutions of ten networks, counted in QEMU."""

    steps: Mapping[int, float]
    run: float | None
    filter: float
    late: float
    output: float
    wide: float
    in_float: float
    word: float
    window: float
    group: float


class _Code(NamedTuple):
    """Bytes: of the filters, more for those in float32, of pixels and of windows."""

    filters: int
    in_float: int
    pixels: int
    windows: int


_M3 = _Cycles({2: 35, 3: 48, 4: 60, 8: 109}, None, 60, 78, 9.4, 0, 308, 11, 16, 100)
_M0_PLUS = _Cycles({2: 75, 3: 67, 4: 85, 8: 140}, 68, 63, 96, 24.5, 53, 410, 16.2, 35, 160)
_M3_CODE = _Code(1110, 180, 210, 440)
_M0_PLUS_CODE = _Code(1460, 160, 250, 520)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A convolution of any window and groups, with its clamp."""
    layer = layers.read(opened(node))
    if isinstance(layer, str):
        return layer
    if layer.is_depthwise:
        return ""
    if min(*layer.window.begin, *layer.window.end) < 0:
        return "its padding is negative"
    if reason := layers.bytes_refusal(layer):
        return reason
    rounding = round_sums(layer, layers.clamp(node))
    return rounding if isinstance(rounding, str) else [_Kernel(node, layer, rounding).propose(view)]


class _Kernel:
    def __init__(self, node: Layer, layer: Convolution, rounding: Rounding) -> None:
        self.node, self.layer, self.rounding = node, layer, rounding
        self.images, self.groups = layer.x.shape[0], layer.groups
        # Of a group.
        self.filters, self.channels = len(layer.weights) // self.groups, layer.weights.shape[1]
        self.pixels = layer.pixels if self.is_of_pixels else layer.pixels // self.images
        self.window = plane(layer.window)
        self.weights = layer.weights.transpose(0, 2, 3, 1).reshape(len(layer.weights), -1)
        self.taps = self.weights.shape[1]
        self.model = _M0_PLUS if is_armv6m(node.target) else _M3
        self.stream = pairs.pack(self.weights, self.model.steps, self.model.run)
        self.ending = None if rounding.is_solved else requantization(node, "f")
        self.in_float = self.ending.constants if self.ending else ()
        self.shared = pairs.function(
            layer.y, rounding, self.ending, has_runs=self.model.run is not None
        )
        self.border = self.channels if any(self.window.padded) else 0

    @property
    def is_of_pixels(self) -> bool:
        return self.layer.is_pixelwise and self.groups == 1

    def propose(self, view: SubgraphView) -> Proposal:
        code = _M0_PLUS_CODE if is_armv6m(self.node.target) else _M3_CODE
        name, body = self._function
        return proposal(
            view, self.node, name, body, self._given, work=self._work,
            flash=sum(c.value.nbytes for c in self._constants),
            code={
                body: code.pixels if self.is_of_pixels else code.windows,
                self.shared.body: code.filters + (code.in_float if self.ending else 0),
            },
            title="conv, two pixels a word", layout=LayoutRule.CHANNELS_LAST,
            helpers=(*(self.ending.helpers if self.ending else ()), self.shared),
            headers=("string.h",) if self.border else (), in_place=self._in_place,
            scratch_bytes=2 * PIXELS * self.stream.taps + -(-self.border // 4) * 4,
        )  # fmt: skip

    @functools.cached_property
    def _function(self) -> tuple[str, str]:
        """Its name and its body."""
        layer, window, channels = self.layer, self.window, self.channels
        values = {
            "x_ctype": layer.x.dtype.c_type, "less": less(layer.x),
            "outputs": self.shared.stem,
            "in_float": "".join(f"{self._of_group(constant)}, " for constant in self.in_float),
        }  # fmt: skip
        if self.is_of_pixels:
            body = KIT.render("pixels.c.j2", **values, numbers=self.rounding.numbers)
            return f"conv1x1_pairs_{layer.y.dtype.value}", body
        body = KIT.render(
            "windows.c.j2", **values, numbers=self.rounding.numbers.values(), window=window,
            padded=window.padded, channels=channels, filters=self.filters, pixels=self.pixels,
            images=self.images, groups=self.groups, taps=self.taps, room=self.stream.taps,
            zero=layer.zero_points[0],
        )  # fmt: skip
        sizes = (
            (channels, self.filters) if self.groups == 1 else (channels, self.filters, self.groups)
        )
        return stem("conv_pairs", layer.y.dtype.value, *sizes, window=window), body

    def _of_group(self, constant: Constant) -> str:
        """C for where a group's part of it begins."""
        is_of_filters = self.groups > 1 and constant.value.size > 1
        return f"{constant.stem} + group * {self.filters}" if is_of_filters else constant.stem

    @functools.cached_property
    def _constants(self) -> tuple[Constant, ...]:
        """A filter's words: what its sums begin with, its scale and its addend. Bytes from 0 to 255
        are less by 128 in a patch."""
        moved = less(self.layer.x) * self.weights.sum(axis=1)
        starts = self.layer.bias + moved - self.stream.middles + self.rounding.moves
        return (
            Constant("weights", self.stream.values),
            Constant("rounding", self.rounding.table(starts, starts)),
            *self.in_float,
        )

    def _given(self, layer: Layer) -> Prototype:
        given = signature(layer, self._constants).scratch("uint32_t", "patch")
        if not self.is_of_pixels:
            return given
        sizes = {
            "pixels": self.pixels, "channels": self.channels, "filters": self.filters
        }  # fmt: skip
        return given.numbers({**sizes, **self.rounding.numbers})

    @property
    def _in_place(self) -> tuple[InPlace, ...]:
        """Six pixels are read before they are written, but by groups."""
        if self.groups > 1:
            return ()
        lowest = overlap.window(self.images, self.channels, self.window, np.zeros(1, np.int64))
        each = np.arange(0, self.pixels, PIXELS)
        images = np.arange(0, lowest.size, self.pixels)
        starts = overlap.nested(images, each)
        ends = overlap.nested(images, np.append(each[1:], self.pixels))
        of_pixels = np.minimum.reduceat(lowest, starts)
        return overlap.fact(self.node, 0, overlap.distance(ends * self.filters, of_pixels))

    @property
    def _work(self) -> RunCost:
        of, stream = self.model, self.stream
        sixes = self.layer.pixels // self.pixels * -(-self.pixels // PIXELS)
        unsolved = self.rounding.unsolved
        output = of.output + (of.wide if self.rounding.is_wide else 0)
        taps = 0 if self.is_of_pixels else math.prod(self.window.kernel)
        a_six = (
            sum(of.steps[step] * count for step, count in stream.sums.items())
            + stream.runs * (of.run or 0) + len(self.weights) * of.filter
            + self.rounding.late_sums * of.late
            + self.groups * (3 * self.taps * of.word + 3 * taps * of.window) + of.group
        )  # fmt: skip
        outputs = len(self.weights) * output + unsolved * unsolved_cycles(self.node, of.in_float)
        cycles: float = sixes * a_six + self.layer.pixels * outputs
        loads = sixes * (stream.values.size + 3 * len(self.weights)) + self.layer.pixels * unsolved
        return RunCost(cycles, loads)
