"""ArmDsp's convolutions in strips: what is proposed, and how far outputs follow inputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from arm_dsp_proposals import M4, proposals_for
from arm_dsp_strips_cases import TAKEN, Block, model
from sampling import first, part

from mcu_deploy import formats, passes
from mcu_deploy.backends.ArmDsp.kernels import convolution, convolution_strips
from mcu_deploy.backends.ArmDsp.kernels.convolution_strips import Strips, kernel_of_rows
from mcu_deploy.backends.interface import Proposal, Target, layer_of
from mcu_deploy.backends.isa.dsp.frames import Kernel
from mcu_deploy.backends.isa.dsp.gather import SharedGather
from mcu_deploy.backends.quantized.layers import Convolution, read

M7 = Target("cortex-m7", fpu=True, dsp=True)
RESIDUAL = [case for case in TAKEN if not case.filters]


def proposed(case: Block, tmp_path: Path) -> list[Proposal]:
    proposals = proposals_for(model([case], tmp_path / "m.onnx")).proposals
    return [p for p in proposals if p.title.endswith("in strips")]


def strips(case: Block, tmp_path: Path, rows: int) -> Strips:
    graph = passes.run(formats.load(model([case], tmp_path / "m.onnx")))
    layers = [read(layer_of(graph, node, M4)) for node in graph.nodes if node.op == "Conv"]
    before, behind = (Kernel(la, is_of_rows=True) for la in layers if isinstance(la, Convolution))
    return Strips(before, behind, rows, not case.filters)


def test_a_residual_block_needs_a_part_of_its_middle_and_lies_on_its_input(tmp_path: Path) -> None:
    block = Block((16, 32, 32), 16)
    (proposal,) = proposed(block, tmp_path)
    assert proposal.title == "conv3x3 + conv3x3 + add in strips"
    assert len(proposal.nodes) == 3
    assert [fact.distance for fact in proposal.price.in_place] == [0]
    assert proposal.price.scratch_bytes < 16 * 32 * 32 // 2


def test_a_sum_with_another_tensor_or_of_rows_that_are_no_words_is_left_out(tmp_path: Path) -> None:
    (proposal,) = proposed(Block((3, 30, 19), 8), tmp_path)
    assert proposal.title == "conv3x3 + conv3x3 in strips"


def test_a_middle_that_is_small_already_stays_whole(tmp_path: Path) -> None:
    assert not proposed(Block((8, 4, 4), 8), tmp_path)


@pytest.mark.parametrize("target", [M4, M7])
def test_columns_are_shared_where_that_is_quickest(target: Target, tmp_path: Path) -> None:
    found = 0
    for case in part(TAKEN, 2):
        graph = passes.run(formats.load(model([case], tmp_path / "m.onnx")))
        for node in graph.nodes:
            layer = read(layer_of(graph, node, target)) if node.op == "Conv" else ""
            if isinstance(layer, str) or SharedGather.refusal(layer):
                continue
            kernels = [Kernel(layer, is_shared=k, is_of_rows=True) for k in (True, False)]
            times = [convolution.assemble(kernel).time(target) for kernel in kernels]
            taken = kernel_of_rows(layer)
            assert taken is not None and taken.is_shared == (times[0] <= times[1])
            found += 1
    assert found


@pytest.mark.parametrize("case", TAKEN)
@pytest.mark.parametrize("rows", first([3, 1, 4, 5]))
def test_outputs_follow_inputs_at_the_distance_that_is_said(
    case: Block, rows: int, tmp_path: Path
) -> None:
    """By all reads and writes in their order, a row at a time; the sum's are by eight bytes."""
    block = strips(case, tmp_path, rows)
    first, second = block.before.layer, block.behind.layer
    image, pitch = first.window, first.window.input[1] * first.x.shape[1]
    height = second.window.output[0]
    events: list[tuple[str, int]] = []
    made = 0
    for begin in range(0, height, rows):
        end = min(height, begin + rows)
        needed = (end - 1) * second.window.strides[0] - second.window.begin[0]
        needed += (second.window.kernel[0] - 1) * second.window.dilations[0] + 1
        for row in range(made, until := max(made, min(needed, second.window.input[0]))):
            top = row * image.strides[0] - image.begin[0]
            inside = [r for r in range(top, top + image.kernel[0]) if 0 <= r < image.input[0]]
            events += [("read", r * pitch) for r in inside]
        made = until
        for row in range(begin, end):
            at = range(row * block.written, (row + 1) * block.written, 8)
            for byte in at:
                events += [("read", byte)] if block.is_added else []
                events.append(("write", min(byte + 8, (row + 1) * block.written)))
    last_read = max(index for index, (kind, _) in enumerate(events) if kind == "read")
    lowest, distance = first.x.bytes, -first.x.bytes
    for kind, byte in reversed(events[: last_read + 1]):
        lowest = min(lowest, byte) if kind == "read" else lowest
        distance = max(distance, byte - lowest) if kind == "write" else distance
    assert distance <= block.distance


@pytest.mark.parametrize("case", RESIDUAL)
def test_rows_over_the_strip_spare_those_that_are_still_read(case: Block, tmp_path: Path) -> None:
    for rows in range(1, case.shape[1]):
        block = strips(case, tmp_path, rows)
        kept = block.gap + rows * block.stride * block.row_bytes
        assert rows * block.written <= kept
        # The first row is written when all windows of the second one's begin are still read.
        assert block.written <= block.gap + block.stride * block.row_bytes


def test_strips_are_no_taller_than_they_may_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    block = replace(RESIDUAL[0], shape=(16, 32, 32))
    heights = {}
    for most in (0, 4000, 5000, 8192):
        monkeypatch.setattr(convolution_strips, "_STRIP_BYTES", most)
        (proposal,) = proposed(block, tmp_path)
        heights[most] = proposal.price.scratch_bytes
        assert most == 0 or proposal.price.scratch_bytes <= most
    assert sorted(heights.values()) == list(heights.values())
