"""Zero points that are folded into a bias: the same sums, and none leaves int32."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from mcu_deploy.backends.kit.zero_points import folded_bias
from mcu_deploy.ir import DType, Quantization, TensorType


def quantized(dtype: DType, zero_point: int) -> TensorType:
    return TensorType(dtype, (1, 3), quantization=Quantization((0.5,), (zero_point,)))


@pytest.mark.parametrize(("dtype", "zero_point"), [(DType.INT8, -128), (DType.UINT8, 7)])
def test_the_sums_are_those_of_shifted_inputs(dtype: DType, zero_point: int) -> None:
    weights = np.array([[3, -4, 5], [127, 0, -128]], np.int8)
    bias = np.array([1000, -1], np.int32)
    x = np.array([dtype.range[0], 11, dtype.range[1]])
    for given in (bias, None):
        made, reason = folded_bias(given, weights, quantized(dtype, zero_point), w_zero=2)
        assert made is not None and made.dtype == np.int32 and not reason
        real = weights.astype(np.int64) - 2
        expected = (real * (x - zero_point)).sum(axis=1) + (0 if given is None else given)
        assert ((real * x).sum(axis=1) + made == expected).all()


@pytest.mark.parametrize("weights", [(2, -3), (5, 4), (-1, -7), (0, 0)])
def test_the_proof_is_exact(weights: tuple[int, int]) -> None:
    """One more than the largest bias that is taken, and some sum of products leaves int32."""
    x, row = quantized(DType.INT8, 0), np.array([weights], np.int8)
    ends = (0, *DType.INT8.range)
    sums = [weights[0] * a + weights[1] * b for a, b in product(ends, ends)]
    for limit, sign in ((2**31 - 1 - max(sums), 1), (-(2**31) - min(sums), -1)):
        made, _ = folded_bias(np.array([limit]), row, x)
        assert made is not None and made.tolist() == [limit]
        made, reason = folded_bias(np.array([limit + sign]), row, x)
        assert made is None
        assert reason.startswith("a sum could leave int32: it lies between ")
