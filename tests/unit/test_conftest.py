"""What the tests share does what it says: whole matrix on request, one sentence per reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]

_TESTS = """
    import pytest

    def test_sample(): pass

    @pytest.mark.matrix
    def test_matrix(): pass

    @pytest.mark.parametrize("board", [1, pytest.param(2, marks=pytest.mark.matrix)])
    def test_boards(board): pass

    @pytest.mark.needs_arm_gcc
    def test_compiler(): pass

    @pytest.mark.needs_arm_gcc
    @pytest.mark.needs_host_gcc
    def test_compilers(): pass

    def test_pack(models_dir): pass
"""


@pytest.fixture
def run(pytester: pytest.Pytester, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs _TESTS under this repository's conftest.py, with an empty PATH and no model pack."""
    pytester.makeconftest((repository / "tests" / "conftest.py").read_text())
    pytester.makepyfile(_TESTS)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("MCU_DEPLOY_MODELS", str(pytester.path))
    return lambda *options: pytester.runpytest_inprocess("--strict-markers", *options)


def test_the_sample_leaves_the_matrix_out(run: Run) -> None:
    run().assert_outcomes(passed=2, skipped=3, deselected=2)


def test_all_runs_the_matrix(run: Run) -> None:
    run("--all").assert_outcomes(passed=4, skipped=3)


def test_each_reason_for_skipping_is_printed_once(run: Run) -> None:
    lines = run().outlines
    compiler = "2 tests: arm-none-eabi-gcc is not installed; `make setup` installs it"
    assert lines.count(compiler) == 1
    assert any(line.startswith("1 test: the model pack is not here; put it at") for line in lines)
    assert "2 passed" in lines[-1], "pytest's closing line comes last"
