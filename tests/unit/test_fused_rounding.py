"""Factors of one fused multiply-add: the contract's outputs, of every sum."""

from __future__ import annotations

import numpy as np
import pytest

from mcu_deploy.backends.quantized.fused_rounding import fused_factors


@pytest.mark.parametrize(("zero", "bounds"), [(-128, (-128, 127)), (3, (-128, 127)), (0, (0, 255))])
def test_what_it_finds_rounds_every_sum_as_the_contract_does(
    zero: int, bounds: tuple[int, int]
) -> None:
    random = np.random.default_rng(5)
    factors = np.exp(random.uniform(np.log(5e-4), np.log(0.05), 60)).astype(np.float32)
    ends = -random.integers(60_000, 300_000, 60), random.integers(60_000, 300_000, 60)
    found, changed = 0, 0
    for n, factor in enumerate(factors):
        reach = ends[0][n : n + 1], ends[1][n : n + 1]
        fused = fused_factors(factors[n : n + 1], reach, zero, bounds)
        if fused is None:
            continue
        sums = np.arange(reach[0][0], reach[1][0] + 1)
        wanted = np.rint(sums.astype(np.float32) * factor) + zero
        # The product of 24 and of 24 bits is a float64.
        given = np.rint(sums.astype(np.float64) * np.float64(fused[0])) + zero
        assert (np.clip(wanted, *bounds) == np.clip(given, *bounds)).all(), factor
        found += 1
        changed += fused[0] != factor
    assert found > 40
    assert changed, "no factor was replaced"


def test_it_refuses_sums_that_are_no_floats() -> None:
    factor = np.float32([2.0**-10])
    for end, fits in (((1 << 24) - 1, True), (1 << 24, False)):
        fused = fused_factors(factor, (np.array([0]), np.array([end])), 0, (-128, 127))
        assert (fused is not None) == fits


def test_it_refuses_a_factor_without_a_neighbour_that_fits() -> None:
    """Sums of both kinds: one whose product is below a tie that a float32 makes of it, and one
    whose product is above another."""
    factors = np.float32(np.random.default_rng(9).uniform(1e-3, 2e-3, 300))
    ends = np.array([-300_000]), np.array([300_000])
    none = [f for f in factors if fused_factors(f.reshape(1), ends, 0, (-128, 127)) is None]
    assert none
