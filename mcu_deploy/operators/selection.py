"""Operators that pick elements: Slice, Split, Gather, Resize to the nearest element.

None changes an element, so a quantized tensor keeps its scale. Each says for every axis of its
output which positions of the input it reads; the kernels loop over that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.operators.base import FIRST, Call, Operator
from mcu_deploy.operators.indexing import along_axis, counted


def _list(call: Call, index: int, name: str) -> list[int] | None:
    """A list of integers that newer opsets give as an input, and older ones as an attribute."""
    value = call.optional(index)
    if value is not None:
        return [int(v) for v in value.reshape(-1)]
    given = call.attributes.get(name)
    return None if given is None else [int(v) for v in given]


def slice_ranges(call: Call) -> tuple[range, ...]:
    """Slice-1 (attributes), Slice-10 and -13 (inputs): the positions read along each axis.

    Raises ValueError, a clause, where its lists do not fit together.
    """
    shape = call.type(0).shape
    starts, ends = _list(call, 1, "starts"), _list(call, 2, "ends")
    assert starts is not None
    assert ends is not None
    axes = _list(call, 3, "axes") or list(range(len(starts)))
    steps = _list(call, 4, "steps") or [1] * len(starts)
    counts = {len(starts), len(ends), len(axes), len(steps)}
    if len(counts) > 1 or 0 in steps or not all(-len(shape) <= a < len(shape) for a in axes):
        raise ValueError("its starts, ends, axes and steps do not fit together")
    ranges = [range(size) for size in shape]
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        ranges[axis % len(shape)] = _sliced(start, end, step, shape[axis])
    return tuple(ranges)


def _sliced(start: int, end: int, step: int, size: int) -> range:
    """Python's own rule, but that a start before the first element is moved onto it."""
    if step < 0 and start < -size:
        start = 0
    return range(*slice(start, end, step).indices(size))


def slice_axes(call: Call) -> list[int]:
    """The axes that Slice cuts, counted from the first."""
    rank = call.type(0).rank
    starts = call.types[1] if len(call.types) > 1 else None
    count = len(call.attributes.get("starts", ())) if starts is None else starts.elements
    return [axis % rank for axis in _list(call, 3, "axes") or range(count)]


def slice_steps(call: Call) -> list[int]:
    """The step along each of these axes."""
    return _list(call, 4, "steps") or [1] * len(slice_axes(call))


def _slice(call: Call) -> list[Array]:
    return [_cut(call.value(0), slice_ranges(call))]


def split_ranges(call: Call) -> tuple[tuple[range, ...], ...]:
    """Split-1, -13, -18: the positions that each output reads along each axis."""
    shape, axis = call.type(0).shape, call.axis()
    found, at = [], 0
    for result in call.results:
        ranges = [range(size) for size in shape]
        ranges[axis] = range(at, at + result.shape[axis])
        at += result.shape[axis]
        found.append(tuple(ranges))
    return tuple(found)


def _split(call: Call) -> list[Array]:
    return [_cut(call.value(0), ranges) for ranges in split_ranges(call)]


def _cut(value: Array, ranges: Sequence[range]) -> Array:
    # A slice that ends at -1 would end at the last element.
    ends = [r.stop if r.stop >= 0 else None for r in ranges]
    return value[tuple(slice(r.start, end, r.step) for r, end in zip(ranges, ends, strict=True))]


def gather_indices(call: Call) -> Array:
    """Gather-13: the indices along the axis, negative ones counted from the end."""
    return counted(call.value(1), call.type(0).shape[call.axis()])


def _gather(call: Call) -> list[Array]:
    # Beyond the ends lies the nearest element; see indexing.py.
    return [np.take(call.value(0), gather_indices(call), call.axis(), mode="clip")]


def nearest_positions(call: Call) -> tuple[tuple[int, ...], ...]:
    """Resize-10 to -19, mode nearest: the position read for each output position of each axis.

    As onnxruntime computes it. Raises UnsupportedError where `resize_refusal` has a reason.
    """
    if reason := resize_refusal(call):
        raise UnsupportedError(f"A Resize of the model is not computed: {reason}. Export it so.")
    transform, rounding = resize_ways(call)
    shape, result = call.type(0).shape, call.results[0].shape
    if shape == result:
        # Whatever the scales are: they may be near enough to 1 to keep every size.
        return tuple(tuple(range(size)) for size in shape)
    scales = resize_scales(call, shape, result)
    return tuple(
        _positions(size, new, scale, transform, rounding)
        for size, new, scale in zip(shape, result, scales, strict=True)
    )


def resize_refusal(call: Call) -> str:
    """Why a Resize is not computed, a clause; empty where it is."""
    mode = call.attributes.get("mode", "nearest")
    if mode != "nearest":
        return f"it picks elements, which the mode {mode!r} does not"
    for name, known, given in zip(
        ("coordinate_transformation_mode", "nearest_mode"), (_TRANSFORMS, _ROUNDINGS),
        resize_ways(call), strict=True,
    ):  # fmt: skip
        if given not in known:
            others = ", ".join(repr(word) for word in known if " " not in word)
            return f"its {name} is {given!r}; of these there are {others}"
    return ""


def resize_ways(call: Call) -> tuple[str, str]:
    """How positions of the output become ones of the input, and how these are rounded."""
    if call.opset < 11:
        return "asymmetric", "away from the end"
    transform = call.attributes.get("coordinate_transformation_mode", "half_pixel")
    return str(transform), str(call.attributes.get("nearest_mode", "round_prefer_floor"))


def resize_scales(call: Call, shape: Sequence[int], result: Sequence[int]) -> list[np.float32]:
    """The scale of each axis, as it is given or as the sizes have it."""
    scales = [np.float32(new) / np.float32(size) for size, new in zip(shape, result, strict=True)]
    axes = [axis % len(shape) for axis in call.attributes.get("axes", range(len(shape)))]
    given = call.optional(2 if call.opset >= 11 else 1)
    if given is not None and given.size:
        for axis, scale in zip(axes, given.reshape(-1), strict=True):
            scales[axis] = np.float32(scale)
        return scales
    policy = call.attributes.get("keep_aspect_ratio_policy", "stretch")
    sizes = call.optional(3)
    if policy != "stretch" and sizes is not None:
        # One scale for all axes, which the rounded sizes of the output do not show.
        wanted = [
            np.float32(new) / np.float32(shape[axis])
            for axis, new in zip(axes, sizes.reshape(-1), strict=True)
        ]
        scale = min(wanted) if policy == "not_larger" else max(wanted)
        scales = [scale if a in axes else one for a, one in enumerate(scales)]
    return scales


def _asymmetric(x: Array, scale: np.float32, size: int, new: int) -> Array:
    return x / scale


def _half_pixel(x: Array, scale: np.float32, size: int, new: int) -> Array:
    return (x + _HALF) / scale - _HALF


def _half_pixel_symmetric(x: Array, scale: np.float32, size: int, new: int) -> Array:
    whole = scale * np.float32(size)
    offset = np.float32(size) / np.float32(2) * (np.float32(1) - np.float32(new) / whole)
    wide = np.float64(offset) + (x.astype(np.float64) + 0.5) / np.float64(scale) - 0.5
    return wide.astype(np.float32)


def _align_corners(x: Array, scale: np.float32, size: int, new: int) -> Array:
    return x * np.float32(size - 1) / np.float32(max(new - 1, 1))


_HALF = np.float32(0.5)
_TRANSFORMS: Mapping[str, Callable[[Array, np.float32, int, int], Array]] = {
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": lambda x, s, size, new: _half_pixel(x, s, size, new) if new > 1 else x,
    "align_corners": _align_corners,
    "asymmetric": _asymmetric,
    "tf_half_pixel_for_nn": lambda x, scale, size, new: (x + _HALF) / scale,
}
# What onnxruntime takes for a position in the middle: scales are rounded, and 3.5 may be 3.4999998.
_MIDDLE = 1e-6


def _in_the_middle(at: Array) -> Array:
    return np.asarray(np.abs(at - np.floor(at) - 0.5) <= _MIDDLE)


_ROUNDINGS: Mapping[str, Callable[[Array, np.float32], Array]] = {
    "round_prefer_floor": lambda at, s: np.where(_in_the_middle(at), np.floor(at), np.rint(at)),
    "round_prefer_ceil": lambda at, s: np.where(_in_the_middle(at), np.ceil(at), np.rint(at)),
    "floor": lambda at, s: np.floor(at),
    "ceil": lambda at, s: np.ceil(at),
    # Resize-10 names no way of rounding.
    "away from the end": lambda at, s: np.ceil(at) if s < 1 else np.floor(at),
}


def _positions(
    size: int, new: int, scale: np.float32, transform: str, rounding: str
) -> tuple[int, ...]:
    if new == size and scale == 1:
        return tuple(range(size))
    at = _TRANSFORMS[transform](np.arange(new, dtype=np.float32), scale, size, new)
    position = _ROUNDINGS[rounding](at, scale)
    return tuple(int(p) for p in np.clip(position, 0, size - 1))


def _resize(call: Call) -> list[Array]:
    return [call.value(0)[np.ix_(*nearest_positions(call))]]


OPERATORS = (
    Operator("Slice", _slice, moves=FIRST, copies=True),
    Operator("Split", _split, moves=FIRST, copies=True),
    Operator("Gather", _gather, moves=FIRST, copies=True, positions=along_axis),
    Operator("Resize", _resize, moves=FIRST),
)
