"""What two bytes make in float32, as cores with vectors of floats compute it: products, and sums
and differences that no integers round as the model says.

All 65,536 pairs are tried when the model is compiled, by the same operations in the same order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.quantized import byte_pairs
from mcu_deploy.backends.quantized.conversions import divides, quotients
from mcu_deploy.operators import Call

_HALFWORD = 32_000  # a scaled element and a zero point are below this
_UNITS = 40  # in the last place, by which a product's factor may be another one
_OF = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}


class FloatPair(NamedTuple):
    """zeros: of both operands and the output. An element of two bytes a and b, from which their
    zero points are taken, is the nearest integer to, where there is a factor, `a * b * factor`;
    else to `op(a * scale, b * scale)` divided by the last scale: by its reciprocal, and where
    `is_corrected`, with the remainder."""

    zeros: tuple[int, int, int]
    scales: tuple[np.float32, np.float32, np.float32]
    factor: np.float32 | None = None
    is_corrected: bool = False


def solve(domain: str, call: Call) -> FloatPair | None:
    """The quickest that gives the oracle's element for every pair; None where none does."""
    a, b, wanted = byte_pairs.tried(domain, call)
    types = (call.type(0), call.type(1), call.results[0])
    zeros = tuple(t.scaling.zero_point[0] for t in types)
    scales = tuple(np.float32(t.scaling.scale[0]) for t in types)
    a, b = (
        x + t.dtype.range[0] + 128 - zero
        for x, t, zero in zip((a, b), types[:2], zeros[:2], strict=True)
    )
    ends = types[2].dtype.range
    exact = FloatPair(zeros, scales)  # type: ignore[arg-type]

    def gives(scaled: Array) -> bool:
        if not np.abs(scaled).max() + abs(zeros[2]) < _HALFWORD:
            return False
        return bool((np.clip(np.rint(scaled) + zeros[2], *ends) == wanted).all())

    with np.errstate(all="ignore"):  # of scales that no kernel takes
        if call.op == "Mul":
            product = (a * b).astype(np.float32)
            nearest = np.float32(float(scales[0]) * float(scales[1]) / float(scales[2]))
            for n in range(_UNITS):
                units = (n + 1) // 2 * (-1 if n % 2 else 1)
                factor = (nearest.view(np.int32) + np.int32(units)).view(np.float32)
                if gives(product * factor):
                    return exact._replace(factor=factor)
        real = _OF[call.op](
            a.astype(np.float32) * scales[0], b.astype(np.float32) * scales[1]
        )  # fmt: skip
        if gives(real * (np.float32(1) / scales[2])):
            return exact
        if divides(float(scales[2])) and gives(quotients(real, scales[2])):
            return exact._replace(is_corrected=True)
    return None
