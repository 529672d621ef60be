"""`tune` in QEMU: what it keeps is what `profile` shows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from arm_dsp_cases import Case, model
from command_line import call
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.folder import folder_for
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.tuning import tune
from mcu_deploy.backends import measured
from mcu_deploy.backends.cost import Unit
from mcu_deploy.boards import load_board
from mcu_deploy.options import Options

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]


@pytest.mark.matrix  # tests/unit/test_tuning.py measures in the sample
@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an385", "mps2-an500"]))
def test_what_is_kept_is_what_profile_shows(board: str, tmp_path: Path) -> None:
    path = model([Case(4, 4, 5, 5, 1)], tmp_path / "net.onnx")
    options = Options(optimize_for="speed")
    found = tune(path, board, options=options)
    costs = measured.beside(path, load_board(board).core)
    assert found.measured == len(costs.by_fingerprint) > 4
    assert {cost.unit for cost in costs.by_fingerprint.values()} == {Unit.CYCLES}
    built = build(path, board, tmp_path / "build", options=options)
    assert {row.cost.known for row in built.report.layers if row.cost} == {"counted"}
    shown = profile(built.directory).layers
    kept = [costs.by_fingerprint[row.fingerprint].value for row in built.report.layers]
    assert [layer.cycles for layer in shown] == kept
    assert sum(kept) == found.after
    assert found.before is not None and sum(kept) <= found.before


@pytest.mark.matrix
def test_keyword_spotting_is_no_slower_than_before(kws_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "kws.onnx"
    shutil.copy(kws_dir / "model.onnx", path)
    with folder_for(path, "mps2-an386", options=Options(optimize_for="speed")) as folder:
        before = profile(folder).cycles
    words = ("--board", "mps2-an386", "--optimize-for", "speed", "--json")
    found = json.loads(call("tune", path, *words).stdout)
    assert before is not None and found["before"] == pytest.approx(before, rel=0.001)
    with folder_for(path, "mps2-an386", options=Options(optimize_for="speed")) as folder:
        after = profile(folder).cycles
    assert after is not None and found["after"] == pytest.approx(after, rel=0.001)
    assert after <= before
