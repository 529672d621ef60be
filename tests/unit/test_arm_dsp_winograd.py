"""ArmDsp's convolutions by Winograd: the transform, what is refused, and in-place distances."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from arm_dsp_convolutions import BLOCK, Case, model
from arm_dsp_proposals import M4, proposals_for
from arm_dsp_winograd_cases import REFUSED, TAKEN
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sampling import examples

from mcu_deploy import formats, passes
from mcu_deploy.backends.ArmDsp import ArmDsp
from mcu_deploy.backends.ArmDsp.kernels.winograd import Winograd, refusal, transformed
from mcu_deploy.backends.CpuRef import CpuRef
from mcu_deploy.backends.interface import Proposal, layer_of
from mcu_deploy.backends.isa.dsp.winograd_windows import ORDER, POSITIONS
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.choose import Choosing, assign
from mcu_deploy.choose.goals import GOALS
from mcu_deploy.memory_timing import USUAL_FLASH


def kernel(case: Case, tmp_path: Path) -> Winograd:
    graph = passes.run(formats.load(model([case], tmp_path / "m.onnx")))
    (node,) = (node for node in graph.nodes if node.op == "Conv")
    found = read(layer_of(graph, node, M4))
    assert isinstance(found, Convolution)
    return Winograd(found)


def proposed(case: Case, tmp_path: Path) -> dict[bool, Proposal]:
    """By whether it is Winograd's; of the others the quickest."""
    proposals = proposals_for(model([case], tmp_path / "m.onnx")).proposals
    ordered = sorted(proposals, key=lambda p: p.price.costs.cycles or 0, reverse=True)
    return {proposal.title.startswith("winograd"): proposal for proposal in ordered}


@given(
    arrays(np.int8, (2, 4, 3, 3), elements=st.sampled_from([-128, -1, 0, 1, 5, 127])),
    arrays(np.int64, (4, 4, 4), elements=st.sampled_from([-128, 0, 77, 127, 255])),
)
@settings(max_examples=examples(100), deadline=None)
def test_the_products_are_four_times_the_sums(weights: np.ndarray, window: np.ndarray) -> None:
    u = transformed(weights.astype(np.int64))
    b = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
    v = np.einsum("ia,abc,jb->ijc", b, window, b)
    assert max(abs(u).max(), abs(v).max()) < 2**15
    rows, columns = zip(*POSITIONS, strict=True)
    products = (u * v[rows, columns][:, list(ORDER)]).sum(2)
    m = {position: products[:, index] for index, position in enumerate(POSITIONS)}
    # the schedule of the kernel: the minus of the last row and the last column is in U
    outer = {
        row: (m[row, 1] + m[row, 2] + m[row, 0], m[row, 1] - m[row, 2] + m[row, 3])
        for row in range(4)
    }
    for x in range(2):
        upper = outer[1][x] + outer[2][x] + outer[0][x]
        lower = outer[1][x] - outer[2][x] + outer[3][x]
        for y, given_ in enumerate((upper, lower)):
            taps = window[y : y + 3, x : x + 3].transpose(2, 0, 1)
            wanted = (weights.astype(np.int64) * taps).sum((1, 2, 3))
            np.testing.assert_array_equal(given_, 4 * wanted)


def test_no_weights_leave_16_bits() -> None:
    """Each of U is a sum of +-w and its doubles: extremes are where all signs are one's own."""
    unit = np.eye(9, dtype=np.int64).reshape(9, 1, 3, 3).repeat(4, 1)
    assert 128 * abs(transformed(unit)).sum(0).max() < 2**15


def test_what_it_does_not_take_other_kernels_do(tmp_path: Path) -> None:
    for case, reason in REFUSED.items():
        assert refusal(kernel(case, tmp_path)) == reason
        assert [*proposed(case, tmp_path)] == [False]


def test_it_is_quicker_and_takes_more_flash(tmp_path: Path) -> None:
    found = proposed(BLOCK, tmp_path)
    mine, other = (found[is_winograd].price for is_winograd in (True, False))
    assert (mine.costs.cycles or 0) < 0.65 * (other.costs.cycles or 0)
    assert (mine.costs.flash or 0) > 3.5 * 16 * 144
    assert sum(mine.code.values()) > sum(other.code.values())


def test_it_competes_for_speed_alone(tmp_path: Path) -> None:
    graph = passes.run(formats.load(model([BLOCK], tmp_path / "m.onnx")))
    taken = {}
    for goal in GOALS:
        choosing = Choosing(strategy="cost", goal=goal)
        _, assignment = assign(graph, (ArmDsp(), CpuRef()), M4, choosing)
        chosen = (proposal for proposal, _ in assignment.proposals.values())
        taken[goal] = any(proposal.title == "winograd3x3" for proposal in chosen)
    assert taken == {goal: goal == "speed" for goal in GOALS}


@pytest.mark.parametrize("has_passes", [False, True])
@pytest.mark.parametrize("case", TAKEN, ids=str)
def test_the_output_may_follow_the_input_as_far_as_the_windows_say(
    case: Case, has_passes: bool, tmp_path: Path
) -> None:
    made = kernel(case, tmp_path)
    step = 3
    if has_passes:
        layer = replace(made.layer, target=replace(M4, memory=USUAL_FLASH))
        made = replace(made, layer=layer, has_passes=True)
        step *= made.shape.together
    (height, width), (rows, columns) = made.layer.window.input, made.layer.window.output
    top, left = made.layer.window.begin
    channels, filters = case.shape[0], case.filters
    starts = [
        (min(row, rows - 2), min(column, columns - 2))
        for row in range(0, rows, 2)
        for column in range(0, columns, 2)
    ]
    wanted, written = -made.layer.x.bytes, 0
    for at in range(0, len(starts), step):
        ends = [((y + 1) * columns + x + 2) * filters for y, x in starts[at : at + step]]
        written = max([written, *ends])
        reads = [
            (row * width + column) * channels
            for y, x in starts[at + step :]
            for row in range(y - top, y - top + 4)
            for column in range(x - left, x - left + 4)
            if 0 <= row < height and 0 <= column < width
        ]
        if reads:
            wanted = max(wanted, written - min(reads))
    assert made.distance() == wanted
