"""Maxima of 8 bits over windows, whose taps are written out. What is outside of the input is read
at its edge, which each window has in it, too, so no tap asks where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.backends.ArmMul.rounding import is_armv6m
from mcu_deploy.backends.ArmMul.workloads import KIT, RunCost, proposal
from mcu_deploy.backends.interface import Layer, LayoutRule, Proposal, SubgraphView
from mcu_deploy.backends.isa.clamps import opened
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import signature
from mcu_deploy.backends.quantized import layers
from mcu_deploy.backends.quantized.pool_layer import Pool, read

OPERATORS = ("MaxPool", "tflite::MaxPool")

_MOST_TAPS = 25  # which are written out


class _Model(NamedTuple):
    """Cycles of a pixel, and of so many for each tap where their places find no registers; of an
    output and each tap but its first; bytes of the function and of a tap. Counted in QEMU."""

    pixel: float
    place: float
    output: float
    tap: float
    code: int
    tap_code: int


_M3 = _Model(31, 0, 1.6, 5.9, 120, 18)
_M0_PLUS = _Model(41, 6.4, 1.5, 6.8, 140, 20)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A pool by itself, with its clamp."""
    pool = read(opened(node), by=1)
    if isinstance(pool, str):
        return pool
    if pool.taps > _MOST_TAPS:
        return f"it writes out windows of {_MOST_TAPS} elements at most, not {pool.taps}"
    return [_proposal(view, node, pool)]


def _proposal(view: SubgraphView, node: Layer, pool: Pool) -> Proposal:
    window, y = pool.window, pool.y
    of = _M0_PLUS if is_armv6m(node.target) else _M3
    bounds = layers.clamp(node) if y.quantization else y.dtype.range
    body = KIT.render(
        "maximum.c.j2", images=y.shape[0], channels=pool.channels, kernel=window.kernel,
        stride=window.strides, pad=window.begin, input=window.input, output=window.output,
        ctype=y.dtype.c_type, low=bounds[0], high=bounds[1], is_clamped=bounds != y.dtype.range,
    )  # fmt: skip
    pixel = max(of.pixel, of.place * pool.taps) if pool.channels > 1 else of.pixel
    cycles = pool.pixels * (pixel + pool.channels * (of.output + (pool.taps - 1) * of.tap))
    reads = overlap.nested(pool.starts, np.arange(pool.channels))
    return proposal(
        view, node, f"{pool.stem}_{y.dtype.value}", body, lambda layer: signature(layer, ()),
        work=RunCost(cycles), flash=0, code={body: of.code + pool.taps * of.tap_code},
        title=pool.title, layout=LayoutRule.CHANNELS_LAST,
        in_place=overlap.in_place(node, reads),
    )  # fmt: skip
