"""`tune` in QEMU: what it keeps is what `profile` shows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from arm_dsp_cases import Case, model
from command_line import call
from sampling import first

from mcu_deploy.api import tuning
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import folder_for
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.running import Connection
from mcu_deploy.api.tuning import tune
from mcu_deploy.backends import measured
from mcu_deploy.backends.cost import Unit
from mcu_deploy.boards import load_board
from mcu_deploy.choose.target import target_of
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options
from mcu_deploy.session import Session

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]


@pytest.mark.matrix  # tests/unit/test_tuning.py measures in the sample
@pytest.mark.parametrize(
    "board", first(["mps2-an386", "mps2-an385", "mps2-an500", "nucleo_l4r5zi", "stm32f746"])
)
def test_what_is_kept_is_what_profile_shows(board: str, tmp_path: Path) -> None:
    path = model([Case(4, 4, 5, 5, 1)], tmp_path / "net.onnx")
    options = Options(optimize_for="speed")
    found = tune(path, board, options=options)
    costs = measured.beside(path, target_of(load_board(board), options))
    assert found.measured == len(costs.by_fingerprint) > 3
    assert {cost.unit for cost in costs.by_fingerprint.values()} == {Unit.CYCLES}
    built = build(path, board, tmp_path / "build", options=options)
    assert {row.cost.known for row in built.report.layers if row.cost} == {"counted"}
    shown = profile(built.directory).layers
    kept = [costs.by_fingerprint[row.fingerprint].value for row in built.report.layers]
    on_board = [layer.time.cycles for layer in shown if layer.time]
    # How long a line of code is waited for depends on where the network puts it.
    waits = [layer.cycles for layer in shown] != on_board
    assert kept == (pytest.approx(on_board, rel=0.05) if waits else on_board)
    assert sum(kept) == found.after
    assert found.before is not None and sum(kept) <= found.before


def test_what_a_board_waits_is_in_its_costs(tmp_path: Path) -> None:
    """Also with other wait states than its own, and on a board that QEMU does not have."""
    path = model([Case(4, 4, 5, 5, 1)], tmp_path / "net.onnx")
    board = load_board("nucleo_l4r5zi")
    tuning._require_cycles(board, Connection(), None)
    found = []
    with Session() as session:
        for options in (Options(), Options(flash_wait=9), Options(flash_wait=0)):
            network = compile_model(path, board, session=session, options=Options())
            tuner = tuning._Tuning(path, board, session, options, Connection())
            found.append(tuner._profile(network))
        with folder_for(path, board, options=Options()) as folder:
            layers = profile(folder).layers
    assert found[0] == tuple(layer.time and layer.time.cycles for layer in layers)
    assert found[2] == tuple(layer.cycles for layer in layers)
    assert all(nine > own > at_once for own, nine, at_once in zip(*found, strict=True))


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
