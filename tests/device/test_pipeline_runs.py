"""The pipelines that `mcu-deploy ci --init` writes, executed in a user's repository."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import call
from pipeline_runner import Runner

from mcu_deploy import resources
from mcu_deploy.pipelines.table import CostRow, read_table, renew_table

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

SINE = resources.root() / "examples" / "cmake" / "sine.tflite"


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mcu-deploy as pip makes it of the repository."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "-q", "--no-deps",
        "--wheel-dir", str(folder), str(repository),
    ]  # fmt: skip
    if subprocess.run(command, check=False).returncode:
        pytest.skip("pip could not download hatchling, which builds the wheel; check the network")
    (made,) = folder.glob("*.whl")
    return made


class User:
    """Somebody with a model in a repository, who follows docs/ci.md."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        is_there = folder.exists()  # a project
        folder.mkdir(exist_ok=True)
        self._git("init", "-q")
        if not is_there:
            (folder / "models").mkdir()
            shutil.copy(SINE, folder / "models")
            (folder / ".gitignore").write_text("/build/\n")

    def begins(self, provider: str, wheel: Path) -> None:
        """Writes the files, with a wheel in the repository."""
        (self.folder / "tools").mkdir()
        shutil.copy(wheel, self.folder / "tools")
        source = f"tools/{wheel.name}"
        done = call("ci", "--init", provider, "--source", source, cwd=self.folder)
        assert done.returncode == 0, done.stderr

    def replaces(self, file: str, old: str, new: str) -> None:
        """Changes a file, and commits it."""
        text = (self.folder / file).read_text(encoding="utf-8")
        assert old in text
        (self.folder / file).write_text(text.replace(old, new), encoding="utf-8")
        self.commits()

    def commits(self) -> None:
        self._git("add", "--all")
        self._git("-c", "user.name=me", "-c", "user.email=me@home", "commit", "-q", "-m", "models")

    def _git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.folder, check=True)


@pytest.mark.matrix
def test_a_workflow_shows_on_the_pull_request_what_has_grown(wheel: Path, tmp_path: Path) -> None:
    user = User(tmp_path / "user")
    user.begins("github", wheel)
    smaller = CostRow(
        "sine", "mps2-an386", "balanced", 3000, 4000, 400, 1160, 1932, 220, "1.2", "0.1"
    )
    renew_table(user.folder / "mcu-deploy.csv", [smaller])
    user.commits()
    runner = Runner(tmp_path, user.folder)
    run = runner.github()
    failed = [name for name, code in run.steps.items() if code]
    assert failed == ["Build, check, validate, compare"], run.log
    assert [*run.steps][-3:] == [
        "Show the report", "Comment on the pull request", "actions/upload-artifact@v7",
    ]  # fmt: skip
    assert "validated in QEMU with 8 samples" in run.log
    assert run.summary == runner.comment
    assert "❌ mcu-deploy: 1 of 1 build grew too much" in run.summary
    kept = runner.artifacts / "build" / "ci"
    (now,) = read_table(kept / "mcu-deploy.csv").values()
    assert f"| flash | 3,000 | {now.flash_bytes:,} | +" in run.summary
    assert f"| RAM | 4,000 | {now.ram_bytes:,} | -" in run.summary
    assert (kept / "balanced" / "mps2-an386" / "sine" / "network_sine.o").is_file()


def begins_a_project(folder: Path, wheel: Path) -> User:
    """A new project in a repository, with what `mcu-deploy new` leaves to do."""
    done = call("new", folder, "--board", "mps2-an386", "--model", SINE)
    assert done.returncode == 0, done.stderr
    assert "tools/" + wheel.name in done.stdout
    user = User(folder)
    (folder / "tools").mkdir()
    shutil.copy(wheel, folder / "tools")
    user.commits()
    return user


@pytest.mark.matrix
@pytest.mark.needs_cmake
def test_the_pipeline_of_a_new_project_builds_and_tests_its_firmware(
    wheel: Path, tmp_path: Path
) -> None:
    """As it stands there, before there is a table of costs to compare with."""
    user = begins_a_project(tmp_path / "user", wheel)
    runner = Runner(tmp_path, user.folder)
    run = runner.github()
    assert run.passed, run.log
    assert {"Build the firmware", "Test the firmware"} < {*run.steps}
    assert "100% tests passed, 0 tests failed out of 1" in run.log
    assert "mcu-deploy.csv is renewed: commit it." in run.log
    assert "there is no table to compare with" in run.summary
    assert read_table(runner.artifacts / "build/ci/mcu-deploy.csv")


@pytest.mark.matrix
@pytest.mark.needs_cmake
def test_the_pipeline_of_a_new_project_finds_a_wrong_answer(wheel: Path, tmp_path: Path) -> None:
    user = begins_a_project(tmp_path / "user", wheel)
    user.replaces("sample.h", "sample_output0[1] = {\n    ", "sample_output0[1] = {\n    1 + ")
    run = Runner(tmp_path, user.folder).github()
    assert [name for name, code in run.steps.items() if code] == ["Test the firmware"], run.log
    assert "sine: 0 of 1 values as expected" in run.log


@pytest.mark.matrix
@pytest.mark.parametrize("provider", ["github", "gitlab"])
def test_a_pipeline_passes_with_the_table_that_update_wrote(
    provider: str, wheel: Path, tmp_path: Path
) -> None:
    """And fails with the next commit, which brings a model that is not there."""
    user = User(tmp_path / "user")
    user.begins(provider, wheel)
    done = call("ci", "--update", cwd=user.folder)
    assert done.returncode == 0, done.stderr
    user.commits()
    runner = Runner(tmp_path, user.folder)
    first = runner.run(provider)
    assert first.passed, first.log
    assert "passed: 1 build, as before" in first.log
    kept = runner.artifacts / "build" / "ci"
    assert (kept / "mcu-deploy.csv").read_bytes() == (user.folder / "mcu-deploy.csv").read_bytes()

    user.replaces("mcu-deploy.toml", "models/sine.tflite", "models/cosine.tflite")
    second = runner.run(provider)
    assert not second.passed
    assert "cosine.tflite does not exist" in second.log
    assert "1 of 1 build failed" in (kept / "report.md").read_text(encoding="utf-8")
    if provider == "github":
        assert runner.comment == second.summary != first.summary
