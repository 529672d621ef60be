"""DeformConv-19 and -22: a convolution of planes whose taps lie where offsets say, in float32."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.operators.base import Call, Operator
from mcu_deploy.operators.conv import along_channels, conv_window, macs


def offset_groups(call: Call) -> int:
    """How many groups of channels have offsets of their own."""
    return int(call.attributes.get("offset_group", 1))


def _sampled(plane: Array, v: Array, u: Array) -> Array:
    """Bilinear samples of planes (C, H, W) at positions; zeros lie around them."""
    height, width = plane.shape[1:]
    inside = (v > -1) & (v < height) & (u > -1) & (u < width)
    v, u = np.where(inside, v, 0), np.where(inside, u, 0)
    top, left = np.floor(v), np.floor(u)
    total = np.zeros((len(plane), *v.shape))
    for row, dv in ((top, 1 - (v - top)), (top + 1, v - top)):
        for column, du in ((left, 1 - (u - left)), (left + 1, u - left)):
            there = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            at = np.where(there, row, 0).astype(int), np.where(there, column, 0).astype(int)
            total += np.where(there, dv * du, 0) * plane[:, at[0], at[1]]
    return np.where(inside, total, 0)


def _deform_conv(call: Call) -> list[Array]:
    """In float64, rounded once."""
    x, w, offset = (call.value(k).astype(np.float64) for k in range(3))
    bias, mask = call.optional(3), call.optional(4)
    y = call.results[0].shape
    geometry = conv_window(call.type(0), call.type(1), call.results[0], call.attributes)
    groups, group = offset_groups(call), int(call.attributes.get("group", 1))
    taps = list(geometry.taps())
    moved = offset.reshape(y[0], groups, len(taps), 2, *y[2:])
    shares = None if mask is None else mask.reshape(y[0], groups, len(taps), *y[2:])
    rows, columns = np.indices(y[2:]).astype(np.float64)
    each, depth, filters = x.shape[1] // groups, w.shape[1], w.shape[0] // group
    result = np.zeros(y)
    for n in range(y[0]):
        for k, tap in enumerate(taps):
            base = [
                t * d - b for t, d, b in zip(tap, geometry.dilations, geometry.begin, strict=True)
            ]
            sampled = []
            for g in range(groups):
                v = rows * geometry.strides[0] + base[0] + moved[n, g, k, 0]
                u = columns * geometry.strides[1] + base[1] + moved[n, g, k, 1]
                part = _sampled(x[n, g * each : (g + 1) * each], v, u)
                sampled.append(part if shares is None else part * shares[n, g, k])
            channels = np.concatenate(sampled)
            for c in range(group):
                part = channels[c * depth : (c + 1) * depth]
                weights = w[c * filters : (c + 1) * filters].reshape(filters, depth, -1)[..., k]
                result[n, c * filters : (c + 1) * filters] += np.tensordot(weights, part, 1)
    if bias is not None:
        result += along_channels(call, bias.astype(np.float64))
    return [result.astype(np.float32)]


OPERATORS = (Operator("DeformConv", _deform_conv, macs),)
