"""docs/partial.md: its commands do what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mcu_deploy import resources
from mcu_deploy.cli import create_app

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

PAGE = Path(__file__).parents[2] / "docs" / "partial.md"


def commands() -> list[str]:
    """The command lines of the page."""
    return re.findall(r"^    mcu-deploy (.*)$", PAGE.read_text(), re.MULTILINE)


def run(line: str) -> str:
    example = str(resources.examples() / "kws")
    words = shlex.split(line.replace("$EXAMPLE", example))
    result = CliRunner().invoke(create_app(), words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_commands_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = np.load(resources.examples() / "kws" / "samples.npz")
    np.savez("front.npz", in0=given["in0"][:1])
    parts, front, split, keep, state = commands()
    run(f"{parts} --json")
    assert "sample 0 out0" in run(front)
    assert "sample 0 out0" in run(f"{split} --samples 1 --output split.npz")
    run(keep)
    run("run build/kept --input front.npz --output kept.npz")
    whole, halves = np.load("kept.npz"), np.load("split.npz")
    assert np.array_equal(whole["out0"], halves["out0"])
    assert whole["keep:Relu__14:0"].shape == (1, 1, 64, 25, 5)
    assert "--state" in state  # of a model that the page does not bring
