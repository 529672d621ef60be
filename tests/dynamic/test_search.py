"""Where dynamic backends are looked for, and what is said of a path that is no good."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.dynamic import search
from mcu_deploy.dynamic.search import ENVIRONMENT, SearchPaths, search_paths


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    made = (tmp_path / "option", tmp_path / "environment", tmp_path / "default")
    for folder in made:
        folder.mkdir()
    return made


@pytest.fixture(autouse=True)
def no_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "dynamic_backend_paths", lambda: ())


def given(path: str | Path | None) -> CreationOptions:
    return CreationOptions(dynamic_backends_path=None if path is None else str(path))


def test_option_before_environment_before_default(
    folders: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    option, environment, default = folders
    monkeypatch.setattr(search, "dynamic_backend_paths", lambda: (str(default),))
    variables = {ENVIRONMENT: str(environment)}
    assert search_paths(given(option), variables) == SearchPaths((option,))
    assert search_paths(given(None), variables) == SearchPaths((environment,))
    assert search_paths(given(None), {}) == SearchPaths((default,))


def test_an_empty_path_or_list_means_off(
    folders: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, environment, default = folders
    assert search_paths(given(None), {}) == SearchPaths()
    monkeypatch.setattr(search, "dynamic_backend_paths", lambda: (str(default),))
    assert search_paths(given(""), {ENVIRONMENT: str(environment)}) == SearchPaths()
    assert search_paths(given(None), {ENVIRONMENT: ""}) == SearchPaths()
    off = CreationOptions(dynamic_backends=False, dynamic_backends_path="nonsense")
    assert search_paths(off, {ENVIRONMENT: "more nonsense"}) == SearchPaths()


def test_paths_are_in_their_order_and_each_is_there_once(
    folders: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    a, b, c = folders
    link = tmp_path / "link"
    link.symlink_to(b)
    listed = f"{c}:{a}::{b}:{a}/:{link}:{c}:"
    assert search_paths(given(None), {ENVIRONMENT: listed}) == SearchPaths((c, a, b))


def test_each_path_that_is_no_good_is_one_warning(
    folders: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    bad = [tmp_path / "absent", tmp_path / "file", "relative", tmp_path / "file" / "below"]
    listed = ":".join(map(str, [bad[0], folders[1], *bad[1:], bad[0]]))
    found = search_paths(given(None), {ENVIRONMENT: listed})
    assert found.folders == (folders[1],)
    verdicts = ["does not exist", "is no folder", "is not absolute", "does not exist"]
    assert len(found.warnings) == 4
    for path, verdict, warning in zip(bad, verdicts, found.warnings, strict=True):
        assert f"{str(path)!r} for dynamic backends, from ${ENVIRONMENT}, {verdict}" in warning
        assert "Remedy: correct it, or take the path out of the list." in warning


def test_the_warning_says_where_the_path_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = str(tmp_path / "absent")
    (warning,) = search_paths(given(absent), {ENVIRONMENT: str(tmp_path)}).warnings
    assert "from --dynamic-backends, does not exist" in warning
    assert "give the absolute path of one folder" in warning
    monkeypatch.setattr(search, "dynamic_backend_paths", lambda: (absent,))
    (warning,) = search_paths(given(None), {}).warnings
    assert "from the default list, does not exist" in warning
    assert f"set ${ENVIRONMENT}" in warning


def test_the_option_is_one_path_not_a_list(folders: tuple[Path, Path, Path]) -> None:
    found = search_paths(given(f"{folders[0]}:{folders[1]}"), {})
    assert found.folders == ()
    assert len(found.warnings) == 1


def test_a_folder_that_may_not_be_read_is_a_warning(
    folders: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    # root may read everything, so that the system's answer is replaced
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != folders[0])
    listed = f"{folders[0]}:{folders[1]}"
    found = search_paths(given(None), {ENVIRONMENT: listed})
    assert found.folders == (folders[1],)
    (warning,) = found.warnings
    assert f"{str(folders[0])!r}" in warning
    assert "is not readable" in warning


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_the_permissions_of_a_folder_are_looked_at(folders: tuple[Path, Path, Path]) -> None:
    folders[0].chmod(0o000)
    (folders[1] / "below").mkdir()
    folders[1].chmod(0o000)
    for path in (folders[0], folders[1] / "below"):
        (warning,) = search_paths(given(path), {}).warnings
        assert "is not readable" in warning
    folders[0].chmod(0o700)
    folders[1].chmod(0o700)


def test_hostile_paths_are_one_line() -> None:
    for path in ("/a\nb", "/a\0b", "/" + "x" * 10_000, "/\udcff"):
        (warning,) = search_paths(given(path), {}).warnings
        assert warning.isprintable()
        assert len(warning) < 1000
