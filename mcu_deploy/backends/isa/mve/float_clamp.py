"""The bounds of an activation, on vectors of floats that were computed: NaN passes them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcu_deploy.backends.isa import Assembly, Register


def clamp(
    code: Assembly, bounds: tuple[float, float], of: Sequence[Register], vector: Register,
    number: Register, *, are_computed: bool = True,
) -> None:  # fmt: skip
    """vector, number: free registers; are_computed: of floats that are as they were loaded, false.

    What is below 0 is a negative integer too, and the NaN that vectors of floats compute is a
    positive one. Otherwise elements are replaced where the bound is crossed, which NaN never does.
    The upper bound comes last, as it holds where bounds cross.
    """
    low, high = bounds
    if low == 0 and are_computed:
        code.vmov_i32(vector, 0)
        for one in of:
            code.vmax_s32(one, one, vector)
    elif math.isfinite(low):
        code.number(number, _bits(low))
        code.vdup_32(vector, number)
        for one in of:
            code.vcmp_f32("gt", vector, one)
            code.vpst()
            code.vmovt(one, vector)
    if math.isfinite(high):
        code.number(number, _bits(high))
        for one in of:
            code.vcmp_f32("gt", one, number)
            code.vpst()
            code.vdupt_32(one, number)


def _bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))
