"""The bounds of an activation, on floats of a scalar FPU."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcu_deploy.backends.isa import Assembly, Kind, Register


def clamp(
    code: Assembly, bounds: tuple[float, float], numbers: Sequence[Register], free: Register
) -> None:
    """NaN is compared as neither less nor more. The upper bound comes last, as it holds where
    bounds cross."""
    low, high = bounds
    for bound, condition, name in ((low, "mi", "least"), (high, "gt", "most")):
        if not math.isfinite(bound):
            continue
        limit = code.register(name, kind=Kind.SINGLE)
        code.number(free, int(np.float32(bound).view(np.uint32)))
        code.vmov(limit, free)
        for one in numbers:
            code.vcmp_f32(one, limit)
            code.vmrs("APSR_nzcv", "fpscr")
            code.it(condition)
            getattr(code, f"vmov{condition}")(one, limit)
