"""What a long call tells, and what the command line shows of it: on a terminal alone."""

from __future__ import annotations

import io
from pathlib import Path

import onnx
import pytest
from branchy import residual
from rich.console import Console

from mcu_deploy.api import building
from mcu_deploy.cli import progress
from mcu_deploy.output.progress import counted, listening, tell

Told = list[tuple[str, int, "int | None"]]


def test_listeners_hear_what_is_told_inside_alone() -> None:
    outer: Told = []
    inner: Told = []
    tell("nobody hears this")
    with listening(lambda *told: outer.append(told)):
        tell("reading")
        with listening(lambda *told: inner.append(told)):
            assert list(counted("letters", "ab")) == ["a", "b"]
        tell("writing", 1, 2)
    tell("nobody hears this")
    assert outer == [("reading", 0, None), ("writing", 1, 2)]
    assert inner == [("letters", 0, 2), ("letters", 1, 2), ("letters", 2, 2)]


def shown(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, told: tuple[int, int | None] = (12, 100)
) -> str:
    """What a command writes to standard error that tells how far it is."""
    written = io.StringIO()
    monkeypatch.setattr(
        progress, "err", Console(file=written, force_terminal=is_terminal, width=99)
    )
    with progress.working("measuring [red]a[/]"):
        tell("networks", *told)
    return written.getvalue()


def test_a_terminal_shows_what_is_done_and_how_far(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, is_terminal=True)
    assert "measuring [red]a[/]: networks" in text and "12/100" in text
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in shown(monkeypatch, is_terminal=True)


def test_of_what_is_not_counted_no_count_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, is_terminal=True, told=(0, None))
    assert "networks" in text and "/100" not in text


def test_nothing_moves_where_standard_error_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, is_terminal=False) == ""


@pytest.mark.needs_arm_gcc
def test_a_build_tells_its_stages_and_counts_its_layers(tmp_path: Path) -> None:
    model = tmp_path / "net.onnx"
    onnx.save(residual(), str(model))
    told: Told = []
    with listening(lambda *each: told.append(each)):
        building.build(model, "mps2-an386", tmp_path / "build")
    assert {
        "reading the model", "choosing kernels", "layers, each kernel priced", "planning memory",
        "writing C", "compiling C", "linking",
    } == {what for what, _, _ in told}  # fmt: skip
    layers = [(done, total) for what, done, total in told if what.startswith("layers")]
    assert layers[-1][0] == layers[-1][1] and layers[-1][0] >= 3
