"""ArmDsp's products of computed matrices: which it takes, at what price, and where they may lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from arm_dsp_matmul_cases import HEAD, REFUSED, TAKEN, Product, model
from arm_dsp_proposals import M4, proposals_for

from mcu_deploy.backends.interface import InPlace, Proposals, Target
from mcu_deploy.memory_timing import USUAL_FLASH


def proposed(cases: Sequence[Product], folder: Path, target: Target = M4) -> Proposals:
    return proposals_for(model(cases, folder / "products.onnx"), target)


def test_where_loops_must_be_short_fewer_taps_are_unrolled(tmp_path: Path) -> None:
    def sizes(target: Target) -> list[int]:
        found = proposed(TAKEN, tmp_path, target).proposals
        return [sum(proposal.price.code.values()) for proposal in found]

    long, short = sizes(M4), sizes(replace(M4, memory=USUAL_FLASH))
    # What is around the loop over panels is 50 bytes.
    assert max(short) < 896 + 50 < max(long)
    assert [b for a, b in zip(long, short, strict=True) if a < 896] == [a for a in long if a < 896]


@pytest.mark.parametrize(("case", "reason"), REFUSED.items())
def test_a_product_that_it_has_no_kernel_for_is_refused_with_the_reason(
    case: Product, reason: str, tmp_path: Path
) -> None:
    (given,) = proposed([case], tmp_path).refused.values()
    assert reason in given


def test_the_price_is_near_what_the_timings_of_counted_instructions_say(tmp_path: Path) -> None:
    """Of the kernel's addresses counted in QEMU, by Arm's timings for the Cortex-M4."""
    (proposal,) = proposed([HEAD], tmp_path).proposals
    assert proposal.price.costs.cycles == pytest.approx(28_346, rel=0.01)


def test_equal_products_share_the_code_whatever_their_scales_are(tmp_path: Path) -> None:
    shape = (8, 16), (16, 8)
    cases = [Product(*shape), Product(*shape, scale=2.1), Product(*shape, zeros=(9, -7, -128))]
    codes = [p.price.code for p in proposed(cases, tmp_path).proposals]
    assert len(codes) == 3 and codes[0] == codes[1] == codes[2]


def test_a_matrix_is_written_while_its_factors_are_read(tmp_path: Path) -> None:
    """The first product ends 20 elements behind the start of its factor, of which it reads all to
    the last; each that follows is 12 elements farther behind what it reads."""
    (proposal,) = proposed([Product((3, 4, 8), (8, 5))], tmp_path).proposals
    assert proposal.price.in_place == (InPlace(0, 0, 20),)
