"""Modelled cycles of CpuRef's kernels that slide a window: convolutions and pools.

A kernel's loops are counted as they run: outputs, rows of the kernel and taps that lie inside of
the input, multiply-accumulates; and each has its price, found as `cycles` says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from mcu_deploy.backends.CpuRef.cores import core_of
from mcu_deploy.backends.interface import Layer
from mcu_deploy.backends.kit.strides import Plane, plane
from mcu_deploy.operators.conv import conv_window
from mcu_deploy.operators.conv_transpose import transposed_window
from mcu_deploy.operators.pool import pool_window


class _Loops(NamedTuple):
    """How often the loops of a window run, or the cycles of one step of each.

    outputs: elements; rows: kernel rows inside of the input; taps inside; tried: taps, of which
    some are outside; macs.
    """

    outputs: float
    rows: float = 0
    taps: float = 0
    macs: float = 0
    tried: float = 0

    def at(self, prices: _Loops, layer: Layer) -> float:
        """On the layer's core."""
        core, kind = core_of(layer.target), arithmetic(layer)
        each = _Loops(*(count * price for count, price in zip(self, prices, strict=True)))
        if kind == "weights8":
            return sum(each) * core.widened
        if kind == "float":
            return sum(each) * (core.compared if "Max" in layer.op else core.products)
        if "Average" in layer.op and kind == "quantized":
            return sum(each) * core.widened
        rounded = 0.0
        if "Pool" not in layer.op:
            rounded = self.outputs * (core.shifted if kind == "tflite" else core.rounded)
        return (sum(each) - each.macs) * core.windows + each.macs * core.macs + rounded


def _loops(window: Plane, outputs: int, depth: int) -> _Loops:
    """outputs: of the layer, all channels and batches; depth: channels under each output."""
    inside = [
        sum(_on_input(o, size, extent, stride) for o in (k * dilation - pad for k in range(taps)))
        for size, extent, taps, stride, dilation, pad in zip(
            window.input, window.output, window.kernel, window.stride, window.dilation,
            window.pad, strict=True,
        )
    ]  # fmt: skip
    planes = outputs // max(1, math.prod(window.output))
    taps = planes * inside[0] * inside[1]
    return _Loops(
        outputs, planes * inside[0] * window.output[1], taps, depth * taps,
        outputs * math.prod(window.kernel),
    )  # fmt: skip


def _on_input(first: int, size: int, steps: int, stride: int) -> int:
    """How many of the places `first`, `first` + `stride`, ... are on an axis of this size."""
    begin, end = max(0, -(first // stride)), min(steps, -((first - size) // stride))
    return max(0, end - begin)


# A row of taps with all channels is one loop. By the arithmetic: whole windows, windows at borders.
_CONVOLUTION: Mapping[str, tuple[_Loops, _Loops]] = {
    "quantized": (_Loops(17, 12, 0, 8.6), _Loops(50, 12, 0, 8.6)),
    "tflite": (_Loops(10, 11, 0, 8.8), _Loops(62, 11, 0, 8.8)),
    "float": (_Loops(6, 3.5, 0, 10.05), _Loops(42, 3.5, 0, 10.05)),
    "weights8": (_Loops(1, 13, 0, 12.2), _Loops(2, 13, 0, 12.2)),
    "hybrid": (_Loops(35, 5, 0, 8.6), _Loops(35, 5, 0, 8.6)),
}
# Each tap has a loop over its channels: groups, dilations.
_BY_TAPS: Mapping[str, tuple[_Loops, _Loops]] = {
    "quantized": (_Loops(10, 14, 7, 9.8), _Loops(50, 14, 7, 9.8)),
    "tflite": (_Loops(22, 14, 7, 9.8), _Loops(62, 14, 7, 9.8)),
    "float": (_Loops(15, 0, 8, 10), _Loops(38, 0, 8, 10)),
    "weights8": (_Loops(15, 0, 8, 12.2), _Loops(38, 0, 8, 12.2)),
    "hybrid": (_Loops(35, 0, 7, 9.8), _Loops(60, 0, 7, 9.8)),
}
# One channel under each output.
_DEPTHWISE: Mapping[str, tuple[_Loops, _Loops]] = {
    "quantized": (_Loops(40, 11, 8), _Loops(66, 0, 9.7)),
    "tflite": (_Loops(52, 11, 8), _Loops(72, 0, 9.7)),
    "float": (_Loops(10, 13.5, 13), _Loops(32, 0, 15.8)),
    "weights8": (_Loops(10, 13.5, 15), _Loops(32, 0, 18)),
    "hybrid": (_Loops(60, 11, 8), _Loops(75, 0, 9.7)),
}
# Where the compiler writes a kernel row of one or two taps out.
_SHORT_ROWS: Mapping[str, _Loops] = {
    "quantized": _Loops(38, 0, 8.3), "tflite": _Loops(50, 0, 8.3), "float": _Loops(8, 0, 13.5),
    "weights8": _Loops(8, 0, 15.5), "hybrid": _Loops(58, 0, 8.3),
}  # fmt: skip
# A convolution that is a product of matrices, and such a product: of rows with constant columns.
_PRODUCT: Mapping[str, _Loops] = {
    "quantized": _Loops(30, 0, 0, 8.05), "tflite": _Loops(34, 0, 0, 8),
    "float": _Loops(10, 0, 0, 10), "weights8": _Loops(14.7, 0, 0, 12.05),
    "hybrid": _Loops(35, 0, 0, 8.6),
}  # fmt: skip
# A product of two matrices that are computed.
_COMPUTED: Mapping[bool, _Loops] = {True: _Loops(55, macs=9.6), False: _Loops(13, macs=11.9)}
# Windows that meet each other, of which each tap asks whether it is on a step; those of which an
# output has one tap; those whose steps are 1.
_TRANSPOSED: Mapping[str, tuple[_Loops, _Loops, _Loops]] = {
    "quantized": (_Loops(8, 0, 64, 9.3), _Loops(8, 0, 50, 9.3), _Loops(8, 0, 33, 9.3)),
    "tflite": (_Loops(20, 0, 64, 9.3), _Loops(20, 0, 50, 9.3), _Loops(20, 0, 33, 9.3)),
    "float": (_Loops(0, 0, 37, 10.3), _Loops(0, 0, 17, 10.3), _Loops(0, 0, 37, 10.3)),
}
# Of a multiply-accumulate where one or two channels are written out.
_FEW_CHANNELS = 5


class _Pool(NamedTuple):
    """A pool's prices: rows of one or two taps, which the compiler writes out; longer ones;
    windows at borders, of which each tap is looked at."""

    short: _Loops
    long: _Loops
    padded: _Loops


_POOLS: Mapping[tuple[str, str], _Pool] = {
    ("Max", "quantized"): _Pool(
        _Loops(3.5, 8, 4.1), _Loops(9, 10, 8.5), _Loops(50, 0, 10.4, 0, 3)
    ),
    ("Max", "tflite"): _Pool(_Loops(6, 8, 4.1), _Loops(12, 10, 8.5), _Loops(53, 0, 10.4, 0, 3)),
    ("Max", "float"): _Pool(_Loops(0, 0, 13.7), _Loops(3, 9, 13.5), _Loops(0, 42.5, 0, 0, 8)),
    ("Average", "quantized"): _Pool(
        _Loops(38, 7, 9), _Loops(48, 10, 10.6), _Loops(0, 21, 22.4)
    ),
    ("Average", "tflite"): _Pool(_Loops(0, 0, 5.3), _Loops(0, 11.5, 8), _Loops(30, 18, 10)),
    ("Average", "float"): _Pool(
        _Loops(-8, 0, 11), _Loops(8, 10, 8.2), _Loops(0, 16, 9.7, 0, 3.9)
    ),
}  # fmt: skip


def arithmetic(layer: Layer) -> str:
    """In which words the prices of a layer are found."""
    if layer.op == "HybridConv":
        return "hybrid"
    if layer.domain == "mcu":
        return "weights8"  # those of 4 bits take as long
    if not layer.output.type.is_quantized:
        return "float"
    return "tflite" if layer.domain == "tflite" else "quantized"


def convolution(layer: Layer) -> float:
    """Of Conv and HybridConv."""
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    window = plane(conv_window(x, w, y, layer.attributes))
    kind, group, depth = arithmetic(layer), int(layer.attributes.get("group", 1)), w.shape[1]
    if group == 1 and {*window.kernel, *window.stride} == {1} and not any(window.padded):
        return product(layer, y.elements * depth)
    if depth == 1 and group == x.shape[1] and group > 1:
        if {*window.kernel} == {1}:
            return product(layer, y.elements)
        by_border = _DEPTHWISE[kind]
        if window.kernel[1] <= 2 and not any(window.padded):
            return _loops(window, y.elements, 1).at(_SHORT_ROWS[kind], layer)
    else:
        by_border = (_CONVOLUTION if group == 1 and window.dilation[1] == 1 else _BY_TAPS)[kind]
    prices = by_border[window.padded[1]]
    if by_border is _BY_TAPS[kind] and depth <= 2:
        prices = prices._replace(macs=_FEW_CHANNELS)
    return _loops(window, y.elements, depth).at(prices, layer)


def taps(layer: Layer) -> float:
    """How many taps of a convolution lie inside of its input, those of all channels."""
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    window = plane(conv_window(x, w, y, layer.attributes))
    return _loops(window, y.elements, 1).taps


def product(layer: Layer, macs: int) -> float:
    """Of rows times constant columns."""
    outputs, prices = layer.output.type.elements, _PRODUCT[arithmetic(layer)]
    if macs <= 2 * outputs:
        prices = prices._replace(macs=_FEW_CHANNELS)
    return _Loops(outputs, macs=macs).at(prices, layer)


def product_of_computed(layer: Layer) -> float:
    """Of two matrices that are computed; neither is packed."""
    y = layer.output.type
    return _Loops(y.elements, macs=layer.macs).at(_COMPUTED[y.is_quantized], layer)


def transposed(layer: Layer) -> float:
    """Of ConvTranspose: of each output the taps that meet an input."""
    x, w, y = layer.input(0).type, layer.input(1).type, layer.output.type
    # What slides over the output reads of each tap what this one writes.
    window, planes = plane(transposed_window(x, w, y, layer.attributes)), math.prod(y.shape[:2])
    depth = x.shape[1] // int(layer.attributes.get("group", 1))
    loops = _loops(window, planes * math.prod(window.output), depth)
    steps, apart, one_by_one = _TRANSPOSED[arithmetic(layer)]
    if all(k <= s for k, s in zip(window.kernel, window.stride, strict=True)):
        steps = apart
    elif {*window.stride} == {1}:
        steps = one_by_one
    return loops._replace(outputs=y.elements).at(steps, layer)


def pool(layer: Layer) -> float:
    """Of average and maximum pools."""
    window = plane(pool_window(layer.call))
    prices = _POOLS["Max" if "Max" in layer.op else "Average", arithmetic(layer)]
    loops = _loops(window, layer.output.type.elements, 1)
    if any(window.padded):
        return loops.at(prices.padded, layer)
    if window.kernel[1] > 2:
        # TFLite's average of a whole plane has addresses that are known.
        is_plane = window.output == (1, 1) and prices is _POOLS["Average", "tflite"]
        return loops._replace(rows=0 if is_plane else loops.rows).at(prices.long, layer)
    # One or two rows are written out as well.
    return loops._replace(rows=loops.rows if window.kernel[0] > 2 else 0).at(prices.short, layer)
