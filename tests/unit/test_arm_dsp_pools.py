"""ArmDsp's pools: which sums integers round as float32 does, and at what price."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arm_dsp_pool_cases import EVEN, LARGEST, ODD, PADDED, REFUSED, Pool, model
from arm_dsp_proposals import proposals_for
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import examples

from mcu_deploy.arithmetic import tflite
from mcu_deploy.backends.interface import Proposals
from mcu_deploy.backends.quantized import pool_layer, pool_rounding
from mcu_deploy.ir import DType, Quantization, TensorType
from mcu_deploy.operators import Call, find
from mcu_deploy.operators.base import evaluate
from mcu_deploy.operators.pool import pool_window


def proposed(cases: list[Pool], folder: Path) -> Proposals:
    return proposals_for(model(cases, folder / "pools.onnx"))


@given(
    st.integers(1, 16), st.integers(1, 16), st.floats(1e-3, 1.0), st.floats(0.2, 5.0),
    st.integers(-128, 127), st.integers(-128, 127), st.integers(0, 2**32 - 1),
)  # fmt: skip
@settings(max_examples=examples(200), deadline=None)
def test_what_is_not_summed_again_has_the_bits_of_the_oracle(
    rows: int, columns: int, scale: float, wider: float, x_zero: int, y_zero: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    channels = 64
    x = random.integers(-128, 128, (1, channels, rows, columns)).astype(np.int8)
    # half of the channels near the ends, where the error of float32 is largest
    x[0, ::2] = np.clip(
        x[0, ::2] // 8 + random.choice([-112, 112], (channels // 2, 1, 1)), -128, 127
    )
    float32 = float(np.float32(scale))
    types = (
        TensorType(DType.INT8, x.shape, Quantization((float32,), (x_zero,))),
        TensorType(DType.INT8, (1, channels, 1, 1), Quantization(
            (float(np.float32(scale * wider)),), (y_zero,)
        )),
    )  # fmt: skip
    call = Call("GlobalAveragePool", {}, (x,), types[:1], types[1:])
    operator = find("", "GlobalAveragePool")
    assert operator is not None
    wanted = evaluate(operator, call)[0].reshape(-1)
    pool = pool_layer.Pool(*types, pool_window(call), False)
    rounding = pool_rounding.round_sums(pool)
    if isinstance(rounding, str):
        return
    sums = (x.astype(np.int64) - x_zero).sum(axis=(0, 2, 3))
    lanes = sums - pool.moved
    assert lanes.min() >= -(2**15) and lanes.max() < 2**15
    results = ((lanes << 16) * rounding.scale >> 32) + rounding.addend
    near = (results + rounding.margin) % (1 << rounding.shift) < 2 * rounding.margin
    given_ = (results >> rounding.shift).clip(-128, 127)
    np.testing.assert_array_equal(given_[~near], wanted[~near])
    assert rounding.margin == 0 or near.mean() < 1
    assert rounding.margin == 0 or rounding.fraction < 512 * rounding.margin  # TST has eight bits


@given(
    st.integers(1, 20), st.integers(1, 20), st.floats(1e-3, 1.0), st.floats(0.8, 30.0),
    st.integers(-128, 127), st.integers(-128, 127),
)  # fmt: skip
@settings(max_examples=examples(200), deadline=None)
def test_two_roundings_give_all_sums_of_a_mean_the_bits_of_tflite(
    rows: int, columns: int, scale: float, wider: float, x_zero: int, y_zero: int
) -> None:
    shape = (1, 4, rows, columns)
    x, y = (
        TensorType(DType.INT8, of, Quantization((float(np.float32(each)),), (zero,)))
        for of, each, zero in ((shape, scale, x_zero), ((1, 4, 1, 1), scale * wider, y_zero))
    )
    fixed = tflite.mean_multiplier(x, y, rows * columns)
    window = pool_window(Call("GlobalAveragePool", {}, (None,), (x,), (y,)))
    pool = pool_layer.Pool(x, y, window, False, fixed=fixed)
    rounding = pool_rounding.round_sums(pool)
    if isinstance(rounding, str):
        assert fixed[1] >= 0 or fixed[1] < -22
        return
    sums = np.arange(pool.reach[0], pool.reach[1] + 1)
    high = (2 * sums * rounding.scale + 2**31 >> 32) + rounding.addend - (sums < 0)
    wanted = tflite.multiply(sums, *fixed) + y_zero
    np.testing.assert_array_equal(high >> rounding.shift, wanted)
    assert abs(high).max() < 2**31


def test_a_mean_of_an_even_number_is_summed_again_where_it_is_a_tie(tmp_path: Path) -> None:
    """Of an odd number with one scale there are no ties, so the property above says something."""
    roundings = {}
    for case in (ODD, EVEN):
        quantization = Quantization((0.0231,), (-128,))
        x = TensorType(DType.INT8, (1, 64, *case.plane), quantization)
        y = TensorType(DType.INT8, (1, 64, 1, 1), quantization)
        window = pool_window(Call("GlobalAveragePool", {}, (None,), (x,), (y,)))
        roundings[case] = pool_rounding.round_sums(pool_layer.Pool(x, y, window, False))
    odd, even = roundings[ODD], roundings[EVEN]
    assert isinstance(odd, pool_rounding.Rounding) and isinstance(even, pool_rounding.Rounding)
    assert odd.margin == 0 and even.again == pytest.approx(1 / 64, rel=0.01)


def test_averages_of_integers_have_one_multiplication_for_every_window() -> None:
    """Ties away from zero: TFLite's."""
    for dtype in (DType.INT8, DType.UINT8):
        for taps in (*range(1, 258), 600, 1024, 4096):
            x, y = (TensorType(dtype, (1, 4, 1, n), Quantization((0.1,), (5,))) for n in (taps, 1))
            window = pool_window(Call("GlobalAveragePool", {}, (None,), (x,), (y,)))
            pool = pool_layer.Pool(x, y, window, False, is_of_integers=True)
            assert isinstance(pool_rounding.round_sums(pool), pool_rounding.Rounding)


def test_padded_averages_of_integers_have_one_scale_for_all_counts() -> None:
    """TFLite's, which is divided by the count when it runs."""
    for dtype in (DType.INT8, DType.UINT8):
        for size in range(2, 17):
            attributes = {"kernel_shape": (size, size), "auto_pad": "SAME_UPPER"}
            x = TensorType(dtype, (1, 4, 20, 20), Quantization((0.1,), (5,)))
            window = pool_window(Call("AveragePool", attributes, (None,), (x,), (x,)))
            pool = pool_layer.Pool(x, x, window, False, is_of_integers=True, is_of_inside=True)
            assert isinstance(pool_rounding.round_sums(pool), pool_rounding.Rounding)


@pytest.mark.parametrize(("case", "cycles"), [(ODD, 7_933), (EVEN, 4_707), (LARGEST, 9_127)])
def test_the_price_is_near_what_the_timings_of_counted_instructions_say(
    case: Pool, cycles: int, tmp_path: Path
) -> None:
    """cycles: of the kernel's addresses counted in QEMU, by Arm's timings for the Cortex-M4. (The
    pool with ties is priced with those of even sums, and counted without.)"""
    (proposal,) = proposed([case], tmp_path).proposals
    assert proposal.price.costs.cycles == pytest.approx(cycles, rel=0.2 if case is EVEN else 0.02)


@pytest.mark.parametrize(
    ("case", "distance"),
    [
        # all of a window is summed before the first output is written; but for what is summed again
        (ODD, -64 * 125),
        (EVEN, 64),
        # 16 of 32 channels are written before the others of the same pixel are read
        (LARGEST, 0),
        # the window of the second output begins where the first output is
        (PADDED, 0),
        (Pool("MaxPool", 16, (4, 4), (2, 2), (2, 2), zeros=(0, 0)), -16),
        (Pool("MaxPool", 16, (4, 4), (2, 2), zeros=(0, 0)), 0),
    ],
)
def test_the_output_follows_the_windows_that_were_read(
    case: Pool, distance: int, tmp_path: Path
) -> None:
    (proposal,) = proposed([case], tmp_path).proposals
    facts = [fact.distance for fact in proposal.price.in_place]
    assert facts == ([distance] if distance < 64 else [])


def test_a_pool_that_it_has_no_kernel_for_is_refused_with_the_reason(tmp_path: Path) -> None:
    for case, reason in REFUSED.items():
        assert reason in proposed([case], tmp_path).refused.values()
