"""Zero points in sums of products: subtracted in the loop, or folded into the bias before."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.kit.literals import signed
from mcu_deploy.ir import TensorType


def without_zero(value: str, zero_point: int) -> str:
    """A quantized element minus its zero point, in C."""
    return value if zero_point == 0 else f"({value}{signed(-zero_point)})"


def folded_bias(
    bias: Array | None, weights: Array, x: TensorType, w_zero: int = 0
) -> tuple[Array | None, str]:
    """The bias of sums that read x without its zero point, int32, (M,), and ""; or None and why.

    The sum of (x - zero) * w is that of x * w, less zero times the sum of w. It holds where every
    weight meets an element: padding counts as x = zero, so a kernel that skips it must not fold.
    bias: integers, (M,), or None for zeros; weights: (M, ...), with one zero point.

    The proof that int32 is enough, in any order of the products and for every prefix: x lies in the
    range of its type, which 0 is in, so a sum of some products lies between the bias plus all
    products at their lowest and the bias plus all at their highest.
    """
    real = weights.reshape(len(weights), -1).astype(np.int64) - w_zero
    start = np.zeros(len(real), np.int64) if bias is None else bias.astype(np.int64)
    start = start - x.scaling.zero_point[0] * real.sum(axis=1)
    positive, negative = np.maximum(real, 0).sum(axis=1), np.minimum(real, 0).sum(axis=1)
    low, high = x.dtype.range
    lowest = int((start + positive * low + negative * high).min())
    highest = int((start + positive * high + negative * low).max())
    if lowest >= -(2**31) and highest < 2**31:
        return start.astype(np.int32), ""
    return None, f"a sum could leave int32: it lies between {lowest} and {highest}"
