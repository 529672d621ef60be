"""GridSample-16, -20 and -22: elements of a plane or a volume at positions that a grid gives."""

from __future__ import annotations

from itertools import product

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator

# GridSample-16 has other words for two of them.
_MODES = {"bilinear": "linear", "bicubic": "cubic"}
# How far beyond the ends of an axis a position may lie before it is moved: no tap reaches back.
MARGIN = 4
# Keys' cubic convolution (IEEE 1163711) with the coefficient that PyTorch has.
CUBIC = np.float32(-0.75)
_ONE, _TWO = np.float32(1), np.float32(2)


def mode_of(call: Call) -> str:
    """nearest, linear or cubic."""
    mode = str(call.attributes.get("mode", "linear" if call.opset >= 20 else "bilinear"))
    return _MODES.get(mode, mode)


def padding_of(call: Call) -> str:
    """zeros, border or reflection: what lies beyond the ends."""
    return str(call.attributes.get("padding_mode", "zeros"))


def moves_to_border(call: Call) -> bool:
    """Whether a position beyond the ends is moved to the first or last element.

    A cubic one is not: each of its taps is, as onnxruntime 1.32 and PyTorch have it.
    """
    return padding_of(call) == "border" and mode_of(call) != "cubic"


def aligns(call: Call) -> bool:
    """Whether -1 and 1 are the middles of the first and last element, not their outer edges."""
    return bool(call.attributes.get("align_corners", 0))


def ends(call: Call, size: int) -> tuple[np.float32, np.float32]:
    """Where an axis begins and ends, in elements."""
    if aligns(call):
        return np.float32(0), np.float32(size - 1)
    return np.float32(-0.5), np.float32(size - 0.5)


def _reflected(at: Array, low: np.float32, high: np.float32) -> Array:
    """Positions beyond the ends, reflected until they are between them."""
    span = high - low
    if not span:
        return np.full_like(at, low)
    beyond = np.where(at < low, low - at, at - high)
    times = np.floor(beyond / span)
    rest = beyond - times * span
    from_low = (at < low) == (np.fmod(times, _TWO) == 0)
    inside = (at >= low) & (at <= high)
    return np.asarray(np.where(inside, at, np.where(from_low, low + rest, high - rest)))


def _positions(call: Call, grid: Array, size: int) -> Array:
    """From the grid's numbers to positions in elements, in float32."""
    if aligns(call):
        at = (grid + _ONE) / _TWO * np.float32(size - 1)
    else:
        at = ((grid + _ONE) * np.float32(size) - _ONE) / _TWO
    if mode_of(call) == "nearest":
        at = np.rint(at)
    low, high = ends(call, size)
    if padding_of(call) == "reflection":
        at = _reflected(at, low, high)
    elif moves_to_border(call):
        at = np.where(at >= 0, np.where(at > size - 1, np.float32(size - 1), at), np.float32(0))
    first, last = np.float32(-MARGIN), np.float32(size + MARGIN)
    return np.where(at >= first, np.where(at > last, last, at), first).astype(np.float32)


def _taps(call: Call, grid: Array, size: int) -> tuple[Array, Array]:
    """Of each position the elements that are read, -1 where none is, and their weights."""
    at = _positions(call, grid, size)
    near = np.floor(at)
    t = at - near
    mode = mode_of(call)
    if mode == "nearest":
        steps, weights = [0], [np.ones_like(t)]
    elif mode == "linear":
        steps, weights = [0, 1], [_ONE - t, t]
    else:
        steps, weights = (
            [-1, 0, 1, 2],
            [_outer(t + _ONE), _inner(t), _inner(_ONE - t), _outer(_TWO - t)],
        )
    places = near.astype(np.int64)[..., None] + np.array(steps)
    if padding_of(call) == "zeros":
        places = np.where((places >= 0) & (places < size), places, -1)
    else:
        if padding_of(call) == "reflection":
            low, high = ends(call, size)
            places = np.trunc(_reflected(places.astype(np.float32), low, high)).astype(np.int64)
        places = np.clip(places, 0, size - 1)
    return places, np.stack(weights, axis=-1).astype(np.float32)


def _inner(t: Array) -> Array:
    a = CUBIC
    return ((a + _TWO) * t - (a + np.float32(3))) * t * t + _ONE


def _outer(t: Array) -> Array:
    a = CUBIC
    return ((a * t - np.float32(5) * a) * t + np.float32(8) * a) * t - np.float32(4) * a


def _grid_sample(call: Call) -> list[Array]:
    """Sums in float32 over the taps of the axes in index order, each times the product of its
    axes' weights."""
    x, grid = call.value(0), call.value(1)
    spatial = x.shape[2:]
    batch = x.shape[0]
    flat = grid.reshape(batch, -1, len(spatial))
    # The grid's last number belongs to the first axis.
    axes = [_taps(call, flat[..., -1 - k], size) for k, size in enumerate(spatial)]
    result = np.zeros((batch, x.shape[1], flat.shape[1]), np.float32)
    for tap in product(*(range(places.shape[-1]) for places, _ in axes)):
        weight, index, inside = np.ones((), np.float32), [], np.ones((), bool)
        for k, (places, weights) in zip(tap, axes, strict=True):
            weight = weight * weights[..., k]
            index.append(np.maximum(places[..., k], 0))
            inside = inside & (places[..., k] >= 0)
        for n in range(batch):
            picked = x[n][(slice(None), *(i[n] for i in index))]
            result[n] += np.where(inside[n], weight[n] * picked, np.float32(0))
    return [result.reshape(call.results[0].shape)]


OPERATORS = (Operator("GridSample", _grid_sample),)
