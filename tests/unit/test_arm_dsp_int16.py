"""ArmDsp's layers of int16: what is refused, by whom, and what is packed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from arm_dsp_int16_cases import REFUSED, TAKEN, Case, model
from arm_dsp_proposals import proposals_for

from mcu_deploy.backends.interface import Proposals
from mcu_deploy.backends.isa.dsp.int16_depthwise import Int16Depthwise
from mcu_deploy.backends.isa.dsp.int16_rows import Int16Rows
from mcu_deploy.backends.quantized.int16 import Int16Products
from mcu_deploy.ir import DType, Quantization, TensorType


def _proposed(cases: tuple[Case, ...], folder: Path) -> Proposals:
    return proposals_for(model(cases, folder / "int16.onnx"))


def test_what_is_refused_says_why(tmp_path: Path) -> None:
    found = _proposed((*REFUSED, TAKEN[0]), tmp_path)
    # Behind what the kernels of bytes say.
    clauses = [clause for said in found.refused.values() for clause in said.split("; ")]
    assert sorted(c for c in clauses if c in {*REFUSED.values()}) == sorted(REFUSED.values())
    assert {p.title for p in found.proposals if "int16" in p.title} == {"int16 rows"}


def _products(
    weights: np.ndarray, bounds: tuple[int, int] = (-(2**15), 2**15 - 1)
) -> Int16Products:
    filters = len(weights)
    y = TensorType(DType.INT16, (1, filters), Quantization((1.0,), (0,)))
    factors = np.ones(filters, np.float32).view(np.uint32)
    return Int16Products(weights, np.arange(filters) - 3, factors, False, y, bounds)


def test_rows_have_two_taps_of_two_filters_in_a_word() -> None:
    """SXTB16 of a word is the even filter's pair, and turned by a byte the odd one's."""
    weights = np.random.default_rng(0).integers(-128, 128, (6, 70))
    rows = Int16Rows(_products(weights), 3)
    assert (rows.in_round, rows.pairs, rows.is_whole) == (12, 36, False)
    stream = rows.pack().reshape(rows.groups, -1)
    assert 4 * stream.size == rows.constant_bytes
    assert stream[:, :2].view(np.int32).tolist() == [[-3, -2], [-1, 0], [1, 2]]
    taps = np.ascontiguousarray(stream[:, 2:-2]).view(np.int8).reshape(3, -1, 2)
    for filter_, of in enumerate(weights):
        found = taps[filter_ // 2, :, filter_ % 2]
        assert found[:70].tolist() == of.tolist()
        assert not found[70:].any()


def test_one_row_has_four_filters_and_those_that_are_too_many() -> None:
    rows = Int16Rows(_products(np.ones((5, 8), np.int64)), 1)
    assert (rows.groups, rows.written, rows.scratch_bytes, rows.is_whole) == (2, 8, 0, True)
    assert rows.pack().size == 2 * (4 + 2 * 4 + 4)


def test_a_depthwise_kernel_reaches_as_far_as_its_offsets() -> None:
    def reaches(channels: int, together: int, stride: int) -> bool:
        of = _products(np.ones((channels, 3, 3), np.int64))
        return Int16Depthwise(of, 6, together, stride, 8 * channels).reaches

    assert reaches(510, 3, 1)
    assert not reaches(512, 3, 1)
    assert reaches(512, 1, 1)
    assert not reaches(400, 3, 2)
