"""ArmDsp's softmax: what it takes, at what price, and that it rounds as the contracts say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import arm_dsp_tflite_cases as tflite
import numpy as np
import pytest
from arm_dsp_proposals import proposals_for
from arm_dsp_softmax_cases import HEAD, REFUSED, Softmax, model
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import examples

from mcu_deploy.arithmetic.gemmlowp import RECIPROCAL_AT_0, RECIPROCAL_SLOPE, reciprocal
from mcu_deploy.arithmetic.tflite import high_product, rounding_shift
from mcu_deploy.backends.interface import Proposals, Target


def proposed(cases: list[Softmax], folder: Path) -> Proposals:
    return proposals_for(model(cases, folder / "softmax.onnx"))


def proposed_of_tflite(case: tflite.Softmax, folder: Path) -> Proposals:
    return proposals_for(tflite.model([case], folder / "softmax.tflite"))


@given(
    st.sampled_from([1 / 256, 1 / 255, 0.0007, 0.0123]) | st.floats(0.0007, 1.0),
    st.integers(1, 2**31 - 1), st.integers(0, 2**32 - 1),
)  # fmt: skip
@settings(max_examples=examples(300), deadline=None)
def test_a_product_that_is_not_near_the_middle_rounds_as_two_divisions(
    scale: float, total: int, seed: int
) -> None:
    """The kernel's arithmetic, of random terms and of those around each middle of two elements."""
    random = np.random.default_rng(seed)
    most = min(total, 1 << 24)
    middles = (np.arange(256) + 0.5) * np.float64(np.float32(scale)) * total
    around = np.rint(middles)[:, None] + np.arange(-3, 4)
    terms = np.concatenate([random.integers(0, most + 1, 500), around.reshape(-1).astype(np.int64)])
    terms = terms[(terms >= 0) & (terms <= most)].astype(np.float32)
    divisor, step = np.float32(total), np.float32(scale)
    wanted = np.rint(terms / divisor / step).astype(np.int64)
    factor = np.float32(1) / step / divisor
    rounded = np.trunc((terms * factor).astype(np.float64) * 2**16).astype(np.int64) + 2**15 + 32
    is_clear = rounded & 0xFFFF >= 64
    assert is_clear.mean() > 0.2, "else the property says nothing"
    np.testing.assert_array_equal((rounded >> 16)[is_clear], wanted[is_clear])


@pytest.mark.parametrize(("case", "reason"), REFUSED.items())
def test_a_layer_that_it_has_no_kernel_for_is_refused_with_the_reason(
    case: Softmax, reason: str, tmp_path: Path
) -> None:
    assert reason in proposed([case], tmp_path).refused.values()


def test_a_term_in_the_middle_of_two_elements_is_refused(tmp_path: Path) -> None:
    """exp(-175 * scale) is 5 * 2^24: 2.5 elements where the sum is 4 times its largest term."""
    found = proposed_of_tflite(tflite.Softmax((2, 6), 0.0185291), tmp_path)
    assert "a term of it is in the middle of two elements" in found.refused.values()


def test_the_price_is_near_what_the_timings_of_counted_instructions_say(tmp_path: Path) -> None:
    """Of the kernel's addresses counted in QEMU, by Arm's timings for the Cortex-M4."""
    (proposal,) = proposed([HEAD], tmp_path).proposals
    assert proposal.price.costs.cycles == pytest.approx(46_836, rel=0.01)
    (proposal,) = proposed_of_tflite(tflite.Softmax((64, 32), 0.07), tmp_path).proposals
    assert proposal.price.costs.cycles == pytest.approx(34_672, rel=0.01)


def test_a_core_without_fpu_has_no_kernel(tmp_path: Path) -> None:
    found = proposals_for(
        model([HEAD], tmp_path / "softmax.onnx"), Target("cortex-m4", fpu=False, dsp=True)
    )
    assert not found.proposals
    assert "it computes in float32, which this cortex-m4 has no FPU for" in found.refused.values()


# Sums of TFLite's terms: any, and those around powers of two, where the reciprocal is saturated.
SUMS = st.integers(2**19, 2**31 - 1) | st.builds(
    lambda bit, more: min(2**bit + more, 2**31 - 1), st.integers(19, 31), st.integers(0, 3)
)


@given(SUMS, st.integers(0, 2**32 - 1))
@settings(max_examples=examples(300), deadline=None)
def test_one_rounded_product_is_what_tflite_rounds_twice(total: int, seed: int) -> None:
    """The kernel's arithmetic, of random terms and of those around each middle of two elements."""
    random = np.random.default_rng(seed)
    leading = 32 - total.bit_length()
    begin = np.array((total << leading) - 2**31)
    scale, shift = int(reciprocal(begin)), 35 - leading
    middles = ((2 * np.arange(256) + 1) * 2.0 ** (shift + 30) / scale).astype(np.int64)
    terms = np.concatenate([random.integers(0, 2**31, 500), *(middles + n for n in range(-3, 4))])
    # A table with a term exactly in the middle, of a saturated reciprocal, is refused.
    is_refused = (terms % (1 << shift - 1) == 0) & (terms <= 2**30) & (scale % 2 == 1)
    terms = terms[(terms == 0) | (terms > 0) & (terms < 2**31) & ~is_refused]
    wanted = rounding_shift(high_product(scale, terms), shift)
    scaled = smmlar(2 * terms - 2**31, scale, (scale >> 1) + (1 << shift - 1))
    np.testing.assert_array_equal((scaled & 0xFFFFFFFF) >> shift, wanted)
    summed = smmlar(2 * terms - 2**31, 1 << 19, 1 << 18)
    np.testing.assert_array_equal(summed, rounding_shift(terms, 12))


@given(SUMS)
@settings(max_examples=examples(300), deadline=None)
def test_the_reciprocal_of_a_sum_is_gemmlowps(total: int) -> None:
    """The kernel's steps, in which nothing leaves 32 bits but what QADD saturates."""
    normal = total << 32 - total.bit_length() & 0xFFFFFFFF
    scale = 2 * smmlar(normal >> 1, 2 * RECIPROCAL_SLOPE, RECIPROCAL_AT_0)
    for _ in range(3):
        assert scale < 2**31
        error = (1 << 29) - smmlar(normal >> 1, scale, 0)
        scale += smmlar(scale, error, 0) << 3
    assert min(scale, 2**31 - 1) == reciprocal(np.array(normal - 2**31))


def smmlar(a: Any, b: int, added: int) -> Any:
    """What SMMLAR gives, before it is cut to 32 bits."""
    return added + (a * b + 2**31 >> 32)
