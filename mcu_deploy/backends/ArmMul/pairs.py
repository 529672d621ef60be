"""Two pixels in a word, so that one multiplication is two products.

A word is `first + (second << 16)`. Six pixels, three words a tap, meet each weight. Words of a few
taps are summed, as many as leave each half within its 16 bits whatever the input is: two at least,
and eight where weights are small. All is computed modulo 2**32.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMul.rounding import Rounding
from mcu_deploy.backends.ArmMul.workloads import KIT
from mcu_deploy.backends.interface import CFunction, Parameter
from mcu_deploy.backends.kit.requantization import Requantization
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.ir import TensorType

PIXELS = 6
# How many taps are summed at a time.
STEPS = (2, 3, 4, 8)
# What halves begin with, so that they stay positive: both together are an immediate operand of the
# M3, and any two products with inputs from -128 to 127 have room.
MIDDLE = 0x7F00


def pack(weights: Array) -> tuple[Array, dict[int, int], Array]:
    """Weights [filter, tap] as the stream of int8: of each filter how many taps are summed at a
    time, and its weights, with zeros up to a whole number of these. Also how many sums there are of
    each size, and what the middles of each filter's add up to."""
    stream: list[Array] = []
    sums = dict.fromkeys(STEPS, 0)
    middles = np.zeros(len(weights), np.int64)
    for n, taps in enumerate(weights):
        step = next(step for step in reversed(STEPS) if fits(taps, step))
        of = _steps(taps, step)
        sums[step] += len(of)
        middles[n] = MIDDLE * len(of)
        stream += [np.array([step]), of.reshape(-1)]
    return np.concatenate(stream).astype(np.int8), sums, middles


def room(taps: int) -> int:
    """The taps of a patch, with those that are read beside weights of 0."""
    return max(taps + -taps % step for step in STEPS)


def functions(
    y: TensorType, rounding: Rounding, ending: Requantization | None
) -> tuple[CFunction, CFunction]:
    """What layers share: the sums of a filter over six pixels, and the outputs of all filters.
    ending: of filters that no integers round."""
    patch, weights = Parameter("const uint32_t *", "patch"), Parameter("const int8_t *", "weights")
    end, sums = Parameter("const uint32_t *", "end"), Parameter("uint32_t *", "sums")
    bits = () if rounding.is_wide else ("bits",)
    parameters = (
        patch, Parameter("int32_t", "words"), weights, Parameter("const int32_t *", "rounding"),
        *(Parameter(f"const {c.ctype} *", c.stem) for c in (ending.constants if ending else ())),
        Parameter(f"{y.dtype.c_type} *", "y"),
        *(Parameter("int32_t", n) for n in ("filters", "pixels", *bits, "down", "low", "high")),
    )  # fmt: skip
    body = KIT.render("pair_filters.c.j2", y_ctype=y.dtype.c_type, rounding=rounding, ending=ending)
    return (
        CFunction(
            "pair_sums", (patch, end, weights, sums), KIT.render("pair_sums.c.j2", steps=STEPS),
            "const int8_t *",
        ),
        CFunction(stem("pair_filters", y.dtype.value), parameters, body),
    )  # fmt: skip


def _steps(taps: Array, step: int) -> Array:
    return np.pad(taps, (0, -len(taps) % step)).reshape(-1, step)


def fits(taps: Array, step: int) -> bool:
    """Whether no inputs bring a half of a word out of its 16 bits."""
    ends = np.multiply.outer((-128, 127), _steps(taps, step).astype(np.int64))
    low, high = ends.min(axis=0).sum(axis=1), ends.max(axis=0).sum(axis=1)
    return bool((low >= -MIDDLE).all() and (high + MIDDLE < 1 << 16).all())
