"""A row with two taps in a word, which four filters at a time meet.

Of `x0 + (x1 << 16)` times `w1 + (w0 << 16)`, modulo 2**32, the upper half is `x0 * w0 + x1 * w1`:
one multiplication for two products. A word of weights is four taps of a filter, each 128 more than
it is: masked, its bytes 0 and 2 are the first two, and bytes 1 and 3 the last. What the 128 add is
alike for all filters, and taken off where a sum begins. Where four taps leave the upper half within
its 16 bits, two products are summed before it is looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMul.pairs import MIDDLE, fits, less
from mcu_deploy.backends.ArmMul.rounding import is_armv6m
from mcu_deploy.backends.ArmMul.workloads import KIT
from mcu_deploy.backends.interface import CFunction, Parameter, Target
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import TensorType

FILTERS, TAPS = 4, 4  # of a group, of a word
_OFFSET = 128
_ORDER = (1, 3, 0, 2)  # the taps of a word, from its lowest byte on
# Cycles of four filters by four taps that are summed two by two, or at once, counted in QEMU.
_M3, _M0_PLUS = {2: 65, TAPS: 52}, {2: 96, TAPS: 62}


class PackedRows(NamedTuple):
    """The stream of each group of filters, uint32 [group, word]: how many taps are summed at once,
    two or four, then of each four taps a word of each filter. at_once: these counts."""

    groups: Array
    at_once: Array

    @property
    def blocks(self) -> int:
        """How often a filter meets four taps."""
        return int(self.groups.shape[1] - 1) // FILTERS

    @property
    def middles(self) -> Array:
        """What each filter's sum is too large by, [group * filter]."""
        return np.repeat(MIDDLE * self.blocks * TAPS // self.at_once, FILTERS)

    def cycles(self, target: Target) -> float:
        """Of the sums of a row, in their loops."""
        of = _M0_PLUS if is_armv6m(target) else _M3
        return self.blocks * sum(of[taps] for taps in self.at_once.tolist())


def pack(weights: Array) -> PackedRows:
    """Weights [filter, tap]; behind the last filter and the last tap there are zeros."""
    filters, taps = weights.shape
    padded = np.pad(weights, ((0, -filters % FILTERS), (0, -taps % TAPS)))
    groups = padded.reshape(-1, FILTERS, padded.shape[1])
    at_once = np.array([TAPS if all(fits(f, TAPS) for f in of) else 2 for of in groups])
    ordered = groups.reshape(*groups.shape[:2], -1, TAPS)[..., _ORDER] + _OFFSET
    words = np.ascontiguousarray(ordered.astype(np.uint8)).view("<u4")[..., 0].swapaxes(1, 2)
    stream = np.column_stack([at_once, words.reshape(len(groups), -1)])
    return PackedRows(stream.astype(np.uint32), at_once)


def row_bytes(taps: int) -> int:
    """Of a row's words."""
    return 2 * TAPS * -(-taps // TAPS)


def row_pairs(x: TensorType) -> CFunction:
    """Makes a row's words; gives what is behind them."""
    parameters = (
        Parameter(f"const {x.dtype.c_type} *", "x"), Parameter("int32_t", "taps"),
        Parameter("uint32_t *", "pair"),
    )  # fmt: skip
    body = KIT.render("row_pairs.c.j2", less=less(x))
    return CFunction(stem("row_pairs", x.dtype.value), parameters, body, "uint32_t *")


def row_sums() -> CFunction:
    """Of four filters, over a row. end: of the row's words. Gives the weights behind."""
    pairs, end = (Parameter("const uint32_t *", name) for name in ("pairs", "end"))
    weights, sums = Parameter("const uint32_t *", "weights"), Parameter("uint32_t *", "sums")
    body = KIT.render("row_sums.c.j2")
    return CFunction("row_sums", (pairs, end, weights, sums), body, "const uint32_t *")
