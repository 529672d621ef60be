"""TFLite models with variables, our states: window by window as TFLite-Micro runs them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from models.streaming_models import FOLDER, MODELS, RECORDED, WINDOWS, with_inner_output
from network_programs import Array
from operators.recorded_streams import ON_BOARDS
from sampling import examples

from mcu_deploy.agreement.runs import run_oracle
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import as_folder
from mcu_deploy.api.running import open_device
from mcu_deploy.api.validating import validate
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import RequestError
from mcu_deploy.files.samples import Samples
from mcu_deploy.options import HEAD, Half, Options
from mcu_deploy.plan import Copy


def recorded(name: str) -> dict[str, Array]:
    with np.load(RECORDED) as found:
        return {key: found[f"{name}:{key}"] for key in ("x", "y", "inner")}


@pytest.mark.parametrize("name", MODELS)
def test_the_oracle_gives_what_tflite_micro_gives(name: str, tmp_path: Path) -> None:
    wanted = recorded(name)
    path = tmp_path / f"{name}.tflite"
    path.write_bytes(with_inner_output((FOLDER / path.name).read_bytes()))
    samples = Samples(tuple((x,) for x in wanted["x"]), "recorded")
    for file, key in ((FOLDER / path.name, "y"), (path, "inner")):
        network = compile_model(file, load_board("host"), name="stream")
        found = [values[network.outputs[0]] for values in run_oracle(network, samples)]
        assert np.array_equal(np.stack(found), wanted[key])
    assert len(np.unique(wanted["inner"])) > 50  # so that windows tell one past from another


@pytest.mark.parametrize("board", ON_BOARDS)
def test_boards_give_what_tflite_micro_gives(board: str, tmp_path: Path) -> None:
    """Both models in one firmware; a reset is the first window again."""
    files = [tmp_path / f"{name}.tflite" for name in MODELS]
    for file in files:
        file.write_bytes(with_inner_output((FOLDER / file.name).read_bytes()))
    folder = as_folder(build(files, board, tmp_path / "b", name=list(MODELS)))
    with open_device(folder) as device:
        for name in MODELS:
            wanted = recorded(name)
            for window in (*range(examples(WINDOWS, 10)), "reset", 0, 1):
                if isinstance(window, str):
                    device.reset_states(name)
                else:
                    (found,) = device.infer(name, [wanted["x"][window]])
                    assert np.array_equal(found, wanted["inner"][window]), (name, window)


def test_windows_lie_around_their_states() -> None:
    """docs/memory.md, "Windows of a stream": nothing is left of Concat and slice but the moves of
    states, besides the first window, whose new rows are the network's input."""
    plan = compile_model(FOLDER / "vad.tflite", load_board("host"), name="vad").plan
    names = ["stream_1/states", "stream_2/states", "stream_3/states", "stream/states"]
    assert [state.name for state in plan.exposure.states] == names
    operators = [step.choice.layer.op for step in plan.steps]
    assert "Concat" not in operators and operators.count("Slice") <= 1
    copies = [item for item in plan.program if isinstance(item, Copy)]
    assert len([copy for copy in copies if plan.is_within(copy)]) >= 3


@pytest.mark.needs_host_gcc
def test_validate_runs_its_samples_as_one_stream(tmp_path: Path) -> None:
    built = build(FOLDER / "vad.tflite", "host", tmp_path / "b", name="vad")
    result = validate(built, layers=True)
    assert result.problems == () and result.samples == 4
    assert result.layers is not None and result.layers.differences == ()


def test_a_model_with_states_is_not_split() -> None:
    options = Options(half=Half(HEAD, ("stream/ReadVariableOp",)))
    with pytest.raises(RequestError, match="states of its own"):
        compile_model(FOLDER / "vad.tflite", load_board("host"), name="vad", options=options)
