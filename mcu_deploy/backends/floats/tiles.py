"""The tiles of a row of the output: some pixels at a time, and what of their windows is inside.

Which rows of a window lie inside of the image a kernel finds out for each row of the output; which
columns do is known of each tile, so that tiles at the borders have code of their own and no padding
is stored anywhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.floats.layers import BYTES, Product
from mcu_deploy.backends.kit import overlap
from mcu_deploy.operators.windows import Window


@dataclass(frozen=True)
class TileRun:
    """Words of a window's row that are neighbours in the image, of the pixels that have them
    inside. at: bytes behind where the row begins; tap: of the row, from which on weights are met;
    taps: how many."""

    at: int
    tap: int
    taps: int
    pixels: tuple[int, ...]


@dataclass(frozen=True)
class Tile:
    """So many pixels of a row, and the runs of a row of their windows."""

    pixels: int
    runs: tuple[TileRun, ...]


def tiles(
    window: Window, channels: int, sizes: Sequence[int], *, joins: bool
) -> list[tuple[Tile, int]]:
    """Those of a row of the output, in their order: equal neighbours once, with their number.
    channels: of the image; joins: whether columns that are neighbours are one run, as they are for
    windows that have all channels."""
    found: list[Tile] = []
    begin = 0
    for size in sizes:
        found.append(Tile(size, tuple(_runs(window, channels, joins, begin, size))))
        begin += size
    return [(tile, len([*same])) for tile, same in itertools.groupby(found)]


def divided(pixels: int, most: int, cost: Sequence[float]) -> list[int]:
    """Pixels of a row as sizes of tiles, so that these cost least. cost[n]: of a tile of n."""
    best: list[tuple[float, list[int]]] = []
    for size in range(1, most + 1):
        whole, rest = divmod(pixels, size)
        sizes = [size] * whole + [rest] * (rest > 0)
        best.append((sum(cost[n] for n in sizes), sizes))
    return min(best, key=lambda found: found[0])[1]


def inside(window: Window, axis: int, at: int) -> list[int]:
    """The taps of a window that lie inside of the input along an axis, of an output's position."""
    begin = at * window.strides[axis] - window.begin[axis]
    step, size = window.dilations[axis], window.input[axis]
    return [k for k in range(window.kernel[axis]) if 0 <= begin + k * step < size]


def _runs(window: Window, channels: int, joins: bool, begin: int, size: int) -> Iterator[TileRun]:
    of = [{*inside(window, 1, begin + n)} for n in range(size)]
    step = window.dilations[1]
    taps = [
        (tap, tuple(n for n in range(size) if tap in of[n])) for tap in range(window.kernel[1])
    ]  # fmt: skip
    for pixels, same in itertools.groupby(taps, key=lambda tap: tap[1]):
        numbers = [tap for tap, _ in same]
        if not pixels:
            continue
        together = len(numbers) if joins and step == 1 else 1
        for tap in numbers[::together]:
            yield TileRun(tap * step * channels * BYTES, tap, together, pixels)


def rows_inside(window: Window) -> list[int]:
    """How many rows of a window lie inside of the input, of each row of the output."""
    return [len(inside(window, 0, row)) for row in range(window.output[0])]


def demand(
    window: Window, channels: int, sizes: Sequence[int], steps: Sequence[tuple[int, int]]
) -> int:
    """How far behind the image the output may follow (`InPlace`). sizes: of the tiles of a row;
    steps: of a tile, in each of which some elements of all of its pixels are written when their
    windows were read: behind which element of a pixel, and the first channel that was read."""
    lasts = np.cumsum(sizes) - 1
    rows, columns = window.output
    pixels = (np.arange(rows)[:, None] * columns + lasts).reshape(-1)
    written, read = np.array(steps).T
    ends = (pixels[:, None] * written[-1] + written).reshape(-1) * BYTES
    spans = [range(last - size + 1, last + 1) for last, size in zip(lasts, sizes, strict=True)]
    first_rows = np.array([_first(window, 0, [row]) for row in range(rows)])
    first_columns = np.array([_first(window, 1, span) for span in spans])
    row = window.input[1] * channels
    lowest = overlap.nested(first_rows * row, first_columns * channels, read)
    return overlap.distance(ends, np.minimum(lowest * BYTES, overlap.NOTHING))


def _first(window: Window, axis: int, positions: Sequence[int]) -> int:
    """The first position inside of the input that windows read, or one behind all."""
    at = [
        position * window.strides[axis] - window.begin[axis] + taps[0] * window.dilations[axis]
        for position in positions if (taps := inside(window, axis, position))
    ]  # fmt: skip
    return min(at, default=overlap.NOTHING)


def packed(product: Product, vectors: Sequence[int], lanes: int) -> Array:
    """The stream of weights: float32, of each group, of so many vectors of filters at a time their
    biases, and for each row, column and channel of a window these filters' weights; zeros where
    there are fewer filters than lanes. Of weights of bytes `of_bytes`."""
    of_group = product.filters // product.groups
    taps = product.weights.transpose(2, 3, 1, 0).reshape(-1, product.filters)
    parts = []
    for end in range(of_group, product.filters + 1, of_group):
        begin = end - of_group
        for count in vectors:
            filters = slice(begin, min(begin + lanes * count, end))
            if product.scales is None:
                lines = np.concatenate([product.bias[None, filters], taps[:, filters]])
                missing = lanes * count - lines.shape[1]
                parts.append(np.pad(lines, ((0, 0), (0, missing))).reshape(-1))
            else:
                parts.append(of_bytes(product, taps, filters, lanes))
            begin += lanes * count
    return np.concatenate(parts)


def of_bytes(product: Product, taps: Array, filters: slice, lanes: int = 1) -> Array:
    """What the stream has of some filters at a time: int8 of these for each tap, filled up to whole
    words, then for each vector of filters float32 their scales and their biases; zeros where there
    are fewer than lanes. uint32. taps: [tap, filter]."""
    assert product.scales is not None
    weights, ends = taps[:, filters], np.stack([product.scales[filters], product.bias[filters]])
    missing = (0, 0), (0, -weights.shape[1] % lanes)
    weights = np.pad(weights, missing).reshape(-1)
    weights = np.pad(weights, (0, -len(weights) % BYTES)).view(np.uint32)
    ends = np.pad(ends, missing).reshape(2, -1, lanes).swapaxes(0, 1)
    return np.concatenate([weights, ends.reshape(-1).view(np.uint32)])


def said(product: Product, filter_: str) -> tuple[str, str]:
    """What a kernel's notes have in front of the terms of a sum, and of some filters' stream."""
    if product.scales is None:
        return f"bias[{filter_}] + sum of", "their biases, then their weights of each k."
    return (
        f"bias[{filter_}] + scale[{filter_}] * sum of",
        "their weights of each k, int8, filled up to whole words, then of each scale and bias.",
    )


def block_bytes(product: Product, filters: int) -> int:
    """Of the stream, of so many filters or lanes at a time."""
    taps = int(product.weights[0].size)
    if product.scales is None:
        return (1 + taps) * filters * BYTES
    return -(-taps * filters // BYTES) * BYTES + 2 * filters * BYTES


def packed_by_channels(product: Product, lanes: int) -> Array:
    """The stream of a depthwise convolution: float32, of so many channels at a time their biases,
    and their weights of each row and column; zeros where there are fewer channels. Of weights of
    bytes `of_bytes`."""
    channels, taps = product.channels, product.weights[0].size
    if product.scales is not None:
        lines = product.weights.reshape(channels, -1).T
        some = [slice(n, n + lanes) for n in range(0, channels, lanes)]
        return np.concatenate([of_bytes(product, lines, one, lanes) for one in some])
    lines = np.zeros((-(-channels // lanes) * lanes, 1 + taps), np.float32)
    lines[:channels, 0], lines[:channels, 1:] = product.bias, product.weights.reshape(channels, -1)
    return lines.reshape(-1, lanes, 1 + taps).swapaxes(1, 2).reshape(-1)
