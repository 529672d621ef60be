"""Products of two bytes scaled by integers, tried on all of their pairs.

An element is `(((a - a_zero) * (b - b_zero) + move) * scale >> 32) + addend >> shift`. The integers
are those of a sum of products, found as for a convolution (requantization.py). ONNX's contract
rounds both operands to float32 first, so all 65,536 pairs of bytes are tried.

TFLite's products round twice and seldom have such integers. Theirs is
`((2 * product * multiplier + 2**31 >> 32) + addend - (product < 0)) >> shift`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array, tflite
from mcu_deploy.backends.quantized import byte_pairs
from mcu_deploy.backends.quantized.requantization import LARGEST_SHIFT, accumulate, shift_of
from mcu_deploy.backends.quantized.staircases import Channel
from mcu_deploy.operators import Call


class Scaling(NamedTuple):
    """The integers of the first formula above, or of the second."""

    scale: int
    addend: int
    move: int
    shift: int
    is_twice: bool = False

    def elements(self, products: Array) -> Array:
        """Before they are saturated."""
        if not self.is_twice:
            return (((products + self.move) * self.scale >> 32) + self.addend) >> self.shift
        high = (2 * products * self.scale + (1 << 31) >> 32) + self.addend
        return (high - (products < 0)) >> self.shift


def solve(domain: str, call: Call) -> Scaling | None:
    """Integers that give the oracle's element for every pair; None where none were found."""
    *pair, wanted = byte_pairs.tried(domain, call)
    operands, y = (call.type(0), call.type(1)), call.results[0]
    a, b = (
        values - (t.scaling.zero_point[0] - (t.dtype.range[0] + 128))
        for values, t in zip(pair, operands, strict=True)
    )
    products = a * b
    with np.errstate(over="ignore"):  # of scales that no kernel takes
        factor = np.float32(np.prod([t.scaling.scale[0] for t in operands]) / y.scaling.scale[0])
    shift = shift_of(np.array([factor]))
    if shift < 0 or factor < np.finfo(np.float32).tiny:
        return None
    fixed = tflite.product_multiplier(*operands, y) if domain else None
    ends = int(products.min()), int(products.max())
    channel = Channel(factor, y.scaling.zero_point[0], y.dtype.range, ends, fixed)
    found = accumulate(channel, 1, shift)
    tries = []
    if found is not None:
        tries.append(Scaling(found.scale, found.addend, found.move, shift))
    if fixed is not None and -LARGEST_SHIFT <= fixed[1] < 0:
        by = -fixed[1]
        half = 1 << (by - 1)
        addend = (y.scaling.zero_point[0] << by) + half
        tries.append(Scaling(fixed[0], addend, 0, by, is_twice=True))
    gives = (s for s in tries if (s.elements(products).clip(*y.dtype.range) == wanted).all())
    return next(gives, None)
