"""Between narrow element types and those that compute for them: docs/arithmetic.md, Narrow types.

What leads to a narrow float goes through float32; what leads from a float to a narrow integer goes
through int32, of which the low bits are kept.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.ir import DType


def widened(value: Array, dtype: DType) -> Array:
    """The same numbers in `dtype.wide`, exactly."""
    return value.astype(dtype.wide.numpy)


def rounded(real: Array, dtype: DType, saturate: bool = True, mode: str = "up") -> Array:
    """float32 as a narrow float: half to even, or for float8_e8m0fnu by the rounding mode.

    saturate: what is beyond the largest number becomes that, if the type has 8 bits; otherwise it
    becomes infinity, or NaN where there is none (float4_e2m1fn has neither: its largest number, and
    -0 for NaN). Infinity counts as beyond; NaN stays NaN.
    """
    if dtype is DType.FLOAT8_E8M0FNU:
        return _exponents(real, saturate, mode)
    with np.errstate(all="ignore"):
        if saturate and dtype.bits == 8:
            largest = np.array(dtype.format.largest, np.uint8).view(dtype.numpy).astype(np.float32)
            real = np.clip(real, -largest, largest)
        if dtype is DType.FLOAT4_E2M1FN:  # has none
            real = np.where(np.isnan(real), np.float32(-0.0), real)
        return real.astype(dtype.numpy)


def _exponents(real: Array, saturate: bool, mode: str) -> Array:
    """Cast-24 to float8_e8m0fnu: the exponent of float32, a step more where it is rounded up.

    The sign is dropped; what is infinite or NaN is NaN, whose bits are all set.
    """
    bits = real.view(np.uint32)
    exponent, fraction = bits >> 23 & 0xFF, bits & 0x7FFFFF
    if mode == "up":
        up = fraction > 0
    elif mode == "nearest":  # half up, but from below the smallest normal number
        up = fraction + (exponent > 0) > 0x400000
    else:
        up = np.zeros(real.shape, bool)
    found = exponent + (up & (exponent < (254 if saturate else 255)))
    return found.astype(np.uint8).view(DType.FLOAT8_E8M0FNU.numpy)
