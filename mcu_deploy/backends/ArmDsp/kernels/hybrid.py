"""TFLite's convolution of float32 by int8 weights ("dynamic range", isa/hybrid.py): three rows of
bytes at a time meet two filters, or one four (float_rows.py)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.backends.ArmDsp.workloads import driver
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import hybrid
from mcu_deploy.backends.isa.dsp.dynamic_range import extent, integers
from mcu_deploy.backends.isa.dsp.float_rows import ROWS, FloatRows, together
from mcu_deploy.backends.isa.hybrid import Filters, HybridKernels

OPERATORS = ("tflite::HybridConv",)
_MOST_FILTERS = 510  # whose third row an offset reaches
_MOST_SUM = 2**23  # that two filters in one word have room for


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A convolution by itself."""
    if node.target.mve:  # which has vectors of bytes
        return ""
    return hybrid.propose(view, node, _KERNELS, driver)


def rows_of(of: Filters) -> FloatRows:
    """What multiplies the windows."""
    filters, taps = of.weights.shape
    is_row = of.positions == 1 or filters % 2 or filters > _MOST_FILTERS
    rows = 1 if is_row else ROWS
    surplus = -filters % together(rows)
    weights = np.pad(of.weights, ((0, surplus), (0, -taps % 4)))
    # A range with 0 in it has 256 bytes: what is positive and negative comes to no more.
    positive, negative = weights.clip(0).sum(axis=1), -weights.clip(None, 0).sum(axis=1)
    most = 255 * np.maximum(positive, negative) if of.has_zero else 127 * (positive + negative)
    is_below = bool(((weights[1::2] == -128) & (weights[::2] < 0)).any())
    return FloatRows(
        weights, np.pad(of.factors, (0, surplus)), np.pad(of.bias, (0, surplus)),
        bool(most.max() >= _MOST_SUM or is_below), of.low, of.high, rows, of.has_zero, surplus,
    )  # fmt: skip


_KERNELS = HybridKernels("_dsp", 4, rows_of, extent, integers, together=4)
