"""Averages of 8 bits, and means over the pixels of an image: a channel after the other.

A sum becomes an element as `quantized/pool_rounding.py` finds it, with one product of 64 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.backends.ArmMul.rounding import is_armv6m
from mcu_deploy.backends.ArmMul.workloads import KIT, Work, proposal
from mcu_deploy.backends.interface import Layer, LayoutRule, Proposal, SubgraphView
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import Prototype, signature
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import plane
from mcu_deploy.backends.quantized.pool_layer import read
from mcu_deploy.backends.quantized.pool_rounding import rounding_of

OPERATORS = ("AveragePool", "GlobalAveragePool", "ReduceMean", "tflite::AveragePool")


class _Price(NamedTuple):
    """Cycles of a call, of a tap, of a row of taps and of an output; bytes of the function."""

    call: float
    tap: float
    row: float
    output: float
    code: int


_M3, _M0_PLUS = _Price(60, 7, 9, 20, 130), _Price(70, 8, 10, 70, 160)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """An average by itself, of windows without padding."""
    pool = read(node, by=1)
    if isinstance(pool, str):
        return pool
    window = plane(pool.window)
    if any(window.padded):
        return "it takes averages without padding"
    if pool.is_natural or pool.fixed is not None:
        return "of means it takes ONNX's over the pixels of an image"
    rounding = rounding_of(pool, node)
    if isinstance(rounding, str) or rounding is None:
        return rounding or ""
    low, high = pool.y.dtype.range
    values = window.values(pool.y.shape[0])
    body = KIT.render(
        "average.c.j2", **values, channels=pool.channels, x_ctype=pool.x.dtype.c_type,
        y_ctype=pool.y.dtype.c_type, start=-pool.moved - pool.taps * pool.zero_points[0],
        rounding=rounding, drop=32 - pool.lanes.bit_length() + 1, low=low, high=high,
    )  # fmt: skip

    def give(made: Layer) -> Prototype:
        return signature(made, ())

    starts = overlap.nested(pool.starts, np.arange(pool.channels))
    ends = np.arange(pool.pixels * pool.channels) + 1
    of = _M0_PLUS if is_armv6m(node.target) else _M3
    rows = window.kernel[0]
    cycles = of.call + pool.pixels * pool.channels * (
        of.output + of.row * rows + of.tap * pool.taps
    )  # fmt: skip
    name = stem("avg_pool_mul", pool.x.dtype.value, pool.channels, window=window)
    return [
        proposal(
            view, node, name, body, give, work=Work(cycles), flash=0,
            code={body: of.code}, title="avg_pool", layout=LayoutRule.CHANNELS_LAST,
            in_place=overlap.fact(node, 0, overlap.distance(ends, starts)),
        )
    ]  # fmt: skip
