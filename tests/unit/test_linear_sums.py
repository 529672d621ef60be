"""Sums of two bytes as one integer sum of products: the oracle's elements, within 32 bits."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sampling import examples

from mcu_deploy.backends.quantized.linear_sums import solve
from mcu_deploy.ir import DType, Quantization, TensorType
from mcu_deploy.operators import Call, find
from mcu_deploy.operators.base import evaluate

_ENDS = np.array([[-128, -128, 127, 127], [-128, 127, -128, 127]])


@given(
    st.sampled_from(["Add", "Sub"]),
    st.lists(st.floats(1e-2, 4.0), min_size=3, max_size=3),
    st.lists(st.integers(-128, 127), min_size=3, max_size=3), st.integers(0, 2**32 - 1),
)  # fmt: skip
# All elements, or all but one, are at one end of the range.
@example("Add", [0.8113923, 0.7215928, 1.1058921], [127, 127, -128], 0)
@example("Add", [0.8113923, 0.7215928, 1.1058921], [-128, -128, 126], 0)
@example("Sub", [0.02, 0.03, 4.0], [-128, 127, -128], 0)
@settings(max_examples=examples(100, 20), deadline=None)
def test_sums_are_the_oracles_and_stay_in_32_bits(
    op: str, scales: list[float], zeros: list[int], seed: int
) -> None:
    drawn = np.random.default_rng(seed).integers(-128, 128, (2, 2000))
    a, b = np.hstack([_ENDS, drawn])
    types = [
        TensorType(DType.INT8, a.shape, Quantization((float(np.float32(scale)),), (zero,)))
        for scale, zero in zip(scales, zeros, strict=True)
    ]
    call = Call(op, {}, (a.astype(np.int8), b.astype(np.int8)), tuple(types[:2]), (types[2],))
    found = solve("", call)
    if found is None:
        return
    # Less half of a step, as ArmMve rounds by the last shift.
    for offset in (found.offset, found.offset - (1 << found.shift - 1)):
        totals = found.a * a + found.b * b + offset
        assert totals.min() >= -(2**31) and totals.max() < 2**31
    totals = found.a * a + found.b * b + found.offset
    operator = find("", op)
    assert operator is not None
    wanted = evaluate(operator, call)[0]
    assert np.array_equal(np.clip(totals >> found.shift, -128, 127), wanted)
