"""Elements that are moved to places which the values of a tensor say: ReverseSequence-10 and
MaxUnpool-11; and sums of overlapping blocks: Col2Im-18."""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.windows import Window, window


def _reverse_sequence(call: Call) -> list[Array]:
    """The first elements of each sequence, as many as its length says, from the last to the first.
    A length below 0 counts as 0, and one beyond the end as the end."""
    x, time = call.value(0), time_axis(call)
    y = x.copy()
    lengths = np.clip(call.value(1).astype(np.int64), 0, x.shape[time])
    for k, length in enumerate(lengths):
        source = np.moveaxis(x, (1 - time, time), (0, 1))[k, :length]
        np.moveaxis(y, (1 - time, time), (0, 1))[k, :length] = source[::-1]
    return [y]


def time_axis(call: Call) -> int:
    """0 or 1; the other of both is that of the batch."""
    return int(call.attributes.get("time_axis", 0))


def unpooled_shape(call: Call) -> tuple[int, ...]:
    """The shape that the indices of MaxUnpool count in: what the window gives."""
    x, attributes = call.type(0).shape, call.attributes
    rank = len(x) - 2
    kernel = attributes["kernel_shape"]
    strides = attributes.get("strides", (1,) * rank)
    pads = attributes.get("pads", (0,) * 2 * rank)
    spatial = (
        (x[2 + a] - 1) * strides[a] - pads[a] - pads[rank + a] + kernel[a] for a in range(rank)
    )
    return (*x[:2], *map(int, spatial))


def _max_unpool(call: Call) -> list[Array]:
    """Each element at its index, zero elsewhere; an index that is outside writes nothing."""
    x, indices = call.value(0).reshape(-1), call.value(1).reshape(-1).astype(np.int64)
    shape, whole = unpooled_shape(call), call.results[0].shape
    flat = np.zeros(math.prod(shape), x.dtype)
    inside = (indices >= 0) & (indices < flat.size)
    for at, value in zip(indices[inside], x[inside], strict=True):
        flat[at] = value
    y = np.zeros(whole, x.dtype)
    part = tuple(slice(0, size) for size in shape)
    y[part] = flat.reshape(shape)[tuple(slice(0, size) for size in whole)]
    return [y]


def blocks(call: Call) -> Window:
    """The window of Col2Im, whose outputs are the columns of its input."""
    image, block = (tuple(int(v) for v in call.value(k).reshape(-1)) for k in (1, 2))
    plain = window(call.attributes, image, (1,) * len(image), block)
    counts = (
        (size + b + e - d * (k - 1) - 1) // s + 1
        for size, b, e, d, k, s in zip(
            image, plain.begin, plain.end, plain.dilations, block, plain.strides, strict=True
        )
    )
    return window(call.attributes, image, tuple(counts), block)


def _col2im(call: Call) -> list[Array]:
    """Sums in the element type, over the taps of the block in index order."""
    geometry, x = blocks(call), call.value(0)
    batch, channels = call.results[0].shape[:2]
    columns = x.reshape(batch, channels, -1, *geometry.output)
    result = np.zeros(call.results[0].shape, x.dtype)
    for k, tap in enumerate(geometry.taps()):
        source, target = geometry.slices(tap)
        result[source] += columns[:, :, k][target]
    return [result]


OPERATORS = (
    Operator("ReverseSequence", _reverse_sequence, moves=slice(0, 1), copies=True),
    Operator("MaxUnpool", _max_unpool),
    Operator("Col2Im", _col2im),
)
