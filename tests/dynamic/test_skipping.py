"""What becomes of the others when one cannot be loaded; what loading costs; how it is off."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dynamic import mock_objects
from sampling import first

from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.dynamic import loading, search
from mcu_deploy.dynamic.loading import Loaded

pytestmark = pytest.mark.needs_host_gcc


@pytest.fixture(autouse=True)
def no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed on this machine is no part of these tests."""
    monkeypatch.setattr(loading, "installed", lambda: ())


@pytest.fixture
def results() -> Iterator[list[Loaded]]:
    """What tests load; it is ended with them."""
    made: list[Loaded] = []
    yield made
    for loaded in made:
        loaded.close()


def load(
    results: list[Loaded], folder: Path, timeout: float = 60.0
) -> tuple[list[str], Loaded, list[str]]:
    """Loads from a folder: the ids, all there is to know, the lines that were reported."""
    lines: list[str] = []
    options = CreationOptions(dynamic_backends_path=str(folder), call_timeout=timeout)
    loaded = loading.load(options, ("CpuRef",), lines.append)
    results.append(loaded)
    return [backend.id for backend in loaded.backends], loaded, lines


@pytest.mark.parametrize(
    ("deed", "says"),
    first(
        [
            ("load crash", "crashed in dlopen (SIGSEGV)"),
            ("load exit", "ended its process in dlopen with exit(3)"),
            ("load hang", "did not return from dlopen within 2 seconds"),
            ("GetBackendId abort", "crashed in GetBackendId (SIGABRT)"),
            ("GetVersion _exit", "ended its process in GetVersion with exit(0)"),
            ("BackendFactory stack", "crashed in BackendFactory (SIGABRT)"),
            ("BackendFactory spin", "did not return from BackendFactory within 2 seconds"),
            ("describe heap", "describe"),
            ("describe many cores", "4294967295 cores, 65536 at most"),
            ("describe error", "the mock is out of order"),
        ],
        5,
    ),
)
def test_a_hostile_backend_is_one_line_and_the_next_is_loaded(
    results: list[Loaded],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    deed: str,
    says: str,
) -> None:
    monkeypatch.setenv("MOCK_Hostile", deed)
    hostile = mock_objects.installed(
        tmp_path, mock_objects.named("Hostile"), "Test_Hostile_backend.so"
    )
    mock_objects.installed(tmp_path, mock_objects.named("Last"), "Test_Last_backend.so")
    seconds = 2.0 if deed.endswith(("hang", "spin")) else 60.0
    found, loaded, (line,) = load(results, tmp_path, seconds)
    assert found == ["Last"]
    (skipped,) = loaded.skipped
    assert line == f"{hostile} was skipped: {skipped.reason}."
    assert says in line
    assert line.isprintable()


def test_what_is_refused_does_not_occupy_its_id(results: list[Loaded], tmp_path: Path) -> None:
    for name, *switches in (("A", "MINOR=9"), ("B", "NO_TABLE"), ("C", "BARE"), ("D",)):
        mock = mock_objects.named("Same", *switches)
        mock_objects.installed(tmp_path, mock, f"Test_{name}_backend.so")
    found, loaded, lines = load(results, tmp_path)
    assert found == ["Same"]
    assert [backend.origin for backend in loaded.backends] == [str(tmp_path / "Test_C_backend.so")]
    assert [Path(skipped.origin).name[5] for skipped in loaded.skipped] == ["A", "B", "D"]
    assert [skipped.id for skipped in loaded.skipped] == ["Same"] * 3
    assert len(lines) == 3


def test_last_row_of_document_001_the_same_backend_in_path_b_is_a_duplicate(
    results: list[Loaded], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / "pathA", tmp_path / "pathB"]
    for path in paths:
        path.mkdir()
        mock_objects.installed(path, mock_objects.named("GpuAcc"), "Arm_GpuAcc_backend.so")
    for one, other in (paths, reversed(paths)):
        monkeypatch.setenv(search.ENVIRONMENT, f"{one}:{other}")
        lines: list[str] = []
        loaded = loading.load(CreationOptions(), (), lines.append)
        results.append(loaded)
        assert [b.origin for b in loaded.backends] == [f"{one}/Arm_GpuAcc_backend.so"]
        assert lines == [
            f"{other}/Arm_GpuAcc_backend.so was skipped: its id GpuAcc is taken by the backend "
            f"from {one}/Arm_GpuAcc_backend.so."
        ]


def test_a_bad_path_is_one_warning_and_the_others_are_searched(
    results: list[Loaded], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mock_objects.installed(tmp_path, mock_objects.named("There"))
    monkeypatch.setenv(search.ENVIRONMENT, f"/absent/folder:{tmp_path}")
    lines: list[str] = []
    loaded = loading.load(CreationOptions(), (), lines.append)
    results.append(loaded)
    assert [backend.id for backend in loaded.backends] == ["There"]
    (line,) = lines
    assert "'/absent/folder'" in line


def test_switched_off_nothing_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_call(*_: object) -> None:
        raise AssertionError("looked at while switched off")

    for module, name in (
        (loading, "search_paths"), (loading, "installed"), (loading, "WorkerPool"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, no_call)
    off = CreationOptions(dynamic_backends=False, dynamic_backends_path="/absent")
    loaded = loading.load(off, (), no_call)
    assert (loaded.backends, loaded.skipped, loaded.paths) == ((), (), ())
    loaded.close()


def test_without_backends_no_process_is_started(
    results: list[Loaded], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_process(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", no_process)
    monkeypatch.setattr(os, "fork", no_process)
    (tmp_path / "README").write_text("")
    assert load(results, tmp_path)[0] == []


def test_six_backends_cost_one_interpreter_each(
    results: list[Loaded], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their processes have little in them: that is what makes them cheap."""
    source = mock_objects.named("Number00")
    plain = source.read_bytes()
    assert plain.count(b"Number00") >= 1
    for number in range(6):
        mine = plain.replace(b"Number00", b"Number%02d" % number)
        (tmp_path / f"Test_Number{number:02}_backend.so").write_bytes(mine)
    commands = []
    start = subprocess.Popen.__init__

    def counted(process: Any, command: Any, *rest: Any, **options: Any) -> None:
        commands.append(command)
        start(process, command, *rest, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", counted)
    found, _, lines = load(results, tmp_path)
    assert found == [f"Number{number:02}" for number in range(6)]
    assert lines == []
    assert len(commands) == 6
    assert all({"-I", "-S"} < set(command) for command in commands), "no site packages"
