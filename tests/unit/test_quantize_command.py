"""`mcu-deploy quantize`: the commands of docs/quantize.md, and what it prints and refuses."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from command_line import call
from quantizing_nets import dense_net, samples

from mcu_deploy.cli.quantize import _print_trials

PAGE = Path(__file__).resolve().parents[2] / "docs" / "quantize.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with float.onnx and samples.npz."""
    onnx.save(dense_net(24), tmp_path / "float.onnx")
    np.savez(tmp_path / "samples.npz", in0=samples(12, (1, 24)))
    return tmp_path


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_the_page_s_commands_lead_to_a_board_that_agrees(folder: Path) -> None:
    listing = re.search(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert listing is not None
    for line in listing[1].splitlines():
        program, *arguments = shlex.split(line)
        assert program == "mcu-deploy"
        done = call(*arguments, cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
        if arguments[0] == "quantize":
            assert "this int8, on mps2-an386" in done.stdout
            assert "onnxruntime's int8 (min-max)" in done.stdout
            assert "modelled cycles" in done.stdout


@pytest.mark.usefixtures("one_recipe")
def test_json_has_all_that_is_printed(folder: Path) -> None:
    words = ("--data", "samples.npz", "-o", "q.onnx", "--json", "--io", "float")
    done = call("quantize", "float.onnx", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["samples"] == 12
    assert not told["judged_on_samples_kept_out"]
    assert told["bytes"] == (folder / "q.onnx").stat().st_size
    assert {b["dtype"] for b in told["borders"]} == {"float32"}
    scores = {a["computed_by"]: a["sqnr_db"][0] for a in told["accuracy"]}
    ours = scores["this int8, by onnxruntime"]
    assert scores["this int8, by the device's arithmetic"] > 25
    assert ours >= scores["onnxruntime's int8 (min-max)"] - 0.5
    assert max(t["sqnr_db"] for t in told["tried"]) > 20


def test_what_was_taken_is_shown_among_what_was_tried(capsys: pytest.CaptureFixture[str]) -> None:
    trials = [(f"percentile {n}", 40.0 - n) for n in range(6)] + [("min-max", 26.39)]
    recipe = "min-max, one scale in 2 dense layers"
    _print_trials(SimpleNamespace(trials=trials, recipe=recipe))  # type: ignore[arg-type]
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[-1] for line in lines[1:6]] == ["dB"] * 5
    assert lines[6] == ["min-max", "26.39", "dB", "taken"]
    assert "by less than so many samples can tell" in " ".join(lines[7])


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--int16-activations", "--weights-only", "int8"], 2, "Leave one out"),
        (["--weights-only", "int8", "--io", "uint8"], 2, "leaves inputs and outputs in float32"),
        (["--weights-only", "int2"], 2, "is not known; it is int8 or int4"),
        (["--weights-only", "int8", "--sensitivity"], 2, "Leave one out"),
        (["--io", "int16"], 2, "is for --int16-activations"),
        (["--budget", "lots"], 2, "--budget lots is none"),
        (["--labels", "nowhere"], 1, "it does not exist"),
        (["--shape", "x"], 2, "--shape"),
        (["--shape", "x=N,24:N<=4"], 1, "leaves a size of the input 'x' to each run"),
        (["--board", "nonsense"], 2, "nonsense"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(
    words: list[str], code: int, says: str, folder: Path
) -> None:
    done = call(
        "quantize", "float.onnx", "--data", "samples.npz", "-o", "q.onnx", *words, cwd=folder
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr.replace("\n", " ")
    assert not (folder / "q.onnx").exists()
