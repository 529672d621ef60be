"""ArmDsp's fully connected layers on the cores: the oracle's bits, and their instructions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from arm_dsp_dense_cases import ENDED, REFUSED, SMALL, TAKEN, WIDE, Dense, model
from kernel_builds import MARKS, right
from sampling import first, part

from mcu_deploy.api.profiling import profile
from mcu_deploy.backends.ArmDsp.kernels import dense_rows
from mcu_deploy.plan import copies, planner
from mcu_deploy.plan.alignment import aligned
from mcu_deploy.plan.analysis import Analysis
from mcu_deploy.plan.lifetimes import Lifetimes
from mcu_deploy.plan.placement import Placement, PlacementProblem

pytestmark = MARKS


@pytest.fixture
def rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers of several rows by the kernels for one."""
    monkeypatch.setattr(dense_rows, "propose", lambda view, layer: "")


@pytest.mark.matrix
@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500", "mps2-an505"]))
def test_several_rows_are_pixels(board: str, tmp_path: Path) -> None:
    cases = [Dense(6, 32, 64, is_per_channel=True), Dense(32, 48, 20)]
    path = model(cases, tmp_path / "rows.onnx")
    built = right(path, board, tmp_path, "speed")
    (source,) = built.directory.glob("network_*.c")
    assert len(re.findall(r"^MCU_KERNEL void \w+_conv1x1", source.read_text(), re.MULTILINE)) == 2
    if board == "mps2-an386":
        by_macs = {layer.macs: layer.cost for layer in profile(built.directory).layers}
        assert by_macs[32 * 48 * 20] < 1.3 * 32 * 48 * 20


@pytest.mark.usefixtures("rows_alone")
@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500"]))
@pytest.mark.parametrize("goal", first(["speed", "size"]))
def test_every_shape_gives_the_bits_of_the_oracle(board: str, goal: str, tmp_path: Path) -> None:
    path = model([*TAKEN, *REFUSED], tmp_path / "dense.onnx")
    built = right(path, board, tmp_path, goal)
    mine = [layer for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert len(mine) == len(TAKEN)
    (source,) = built.directory.glob("network_*.c")
    assert re.search(r"_conv\d", source.read_text()) is None, "a convolution is none of rows"
    if board == "mps2-an386" and goal == "speed":
        counts = {layer.name: layer.cost for layer in profile(built.directory).layers}
        by_size = {layer.macs: counts[layer.name] for layer in mine}
        assert 27 / 32 * WIDE.macs < by_size[WIDE.macs] <= 70_946 * 1.01
        assert by_size[ENDED.macs] < 0.985 * ENDED.macs
        assert 27 / 32 * SMALL.macs < by_size[SMALL.macs] <= 877 * 1.01


@pytest.mark.usefixtures("rows_alone")
def test_a_row_lies_in_the_scratch_as_close_behind_its_start_as_may_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All else lies apart, so that what a layer overwrites is its own input."""
    inputs: dict[int, tuple[int, int]] = {}  # by scratch, with the distance
    problem = planner.problem

    def noted(lives: Lifetimes, members: Sequence[int]) -> PlacementProblem:
        inputs.clear()
        for (scratch, source), how in lives.overlaps.items() if members else ():
            if how.target is None:
                inputs[scratch] = (source, aligned(how.distance))
        return problem(lives, members)

    def close(made: PlacementProblem, **_: int) -> Placement:
        offsets, end = [0] * len(made.sizes), 0
        behind = {source for source, _ in inputs.values()}
        for buffer in (b for b in range(len(made.sizes)) if b not in behind):
            source, distance = inputs.get(buffer, (buffer, 0))
            start = end + max(0, -distance)
            offsets[buffer], offsets[source] = start, start + distance
            end = max(start + made.sizes[buffer], offsets[source] + made.sizes[source])
        return Placement(tuple(offsets), end, "by hand", optimal=False)

    monkeypatch.setattr(copies, "_possible", lambda *_: [])
    monkeypatch.setattr(Analysis, "share_in_place", lambda analysis: None)
    monkeypatch.setattr(planner, "problem", noted)
    monkeypatch.setattr(planner, "solve", close)
    with_scratch = [case for case in TAKEN if case.rows > 1 or case.outputs > 2 or case.taps % 4]
    taken = part(with_scratch, 3)
    path = model(taken, tmp_path / "dense.onnx")
    built = right(path, "mps2-an386", tmp_path, "speed")
    mine = [layer for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert len(mine) == len(taken)
    for layer in mine:
        x, (scratch, *_) = layer.inputs[0], layer.scratch
        assert x is not None and x.offset is not None and scratch.offset is not None
        if not any(fact.output is None for fact in layer.overlaps):
            assert scratch.bytes < 32  # the row stays as it lies
            continue
        assert layer.overlaps[1].output is None
        assert x.offset - scratch.offset == aligned(layer.overlaps[1].distance)
