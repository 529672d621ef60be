"""Objects that are the same in every build are compiled once; a build with them is the same."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NoReturn

import pytest

from mcu_deploy.boards import load_board
from mcu_deploy.files import cache
from mcu_deploy.toolchain import compiler
from mcu_deploy.toolchain.compiler import Toolchain
from mcu_deploy.toolchain.firmware import SourceSet

pytestmark = pytest.mark.needs_arm_gcc


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "objects"


def _compile(tmp_path: Path, name: str, flags: tuple[str, ...] = ("-mcpu=cortex-m4",)) -> bytes:
    sources = SourceSet("some", tmp_path / "source", ("some.c",), flags)
    (made,) = Toolchain.for_board(load_board("mps2-an386")).compile_set(sources, tmp_path / name)
    return made.read_bytes() + made.with_suffix(".ci").read_bytes()


def test_an_object_is_compiled_again_only_where_something_changed(
    tmp_path: Path, home: Path
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "some.c").write_text('#include "own.h"\nint f(int x) { return x + ONE; }\n')
    (source / "own.h").write_text("#define ONE 1\n")
    first = _compile(tmp_path, "a")
    assert len(list(home.iterdir())) == 1
    assert _compile(tmp_path, "b") == first
    assert len(list(home.iterdir())) == 1
    (source / "own.h").write_text("#define ONE 2\n")
    assert _compile(tmp_path, "c") != first
    assert _compile(tmp_path, "d", ("-mcpu=cortex-m0",)) != first
    assert len(list(home.iterdir())) == 3


def test_an_archive_of_the_same_objects_is_made_once(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **_options: object) -> NoReturn:
        raise AssertionError("a tool runs again")

    board = load_board("mps2-an386")
    first = compiler.build_crt(board, tmp_path / "a").read_bytes()
    monkeypatch.setattr(compiler, "run_tool", refused)
    assert compiler.build_crt(board, tmp_path / "b").read_bytes() == first
    assert first.startswith(b"!<arch>")


def test_a_damaged_entry_is_made_again(home: Path) -> None:
    made = []

    def make() -> bytes:
        made.append(1)
        return b"content"

    name = cache.key(["what", b"it depends on"])
    assert [cache.kept(name, make) for _ in range(2)] == [b"content"] * 2
    assert len(made) == 1
    for damage in (b"", b"x", (home / name).read_bytes()[:-1]):
        (home / name).write_bytes(damage)
        assert cache.kept(name, make) == b"content"
    assert len(made) == 4
    assert [path.name for path in home.iterdir()] == [name]  # and nothing half-written


def test_the_cache_is_off_where_it_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    for value in ("off", str(tmp_path / "file")):
        monkeypatch.setenv(cache.VARIABLE, value)
        assert cache.folder("objects") is None
        assert cache.templates() is None
        assert cache.kept(hashlib.sha256().hexdigest(), lambda: b"made") == b"made"


def test_the_oldest_entries_go(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_ENTRIES", 3)
    for number in range(6):
        cache.kept(cache.key([str(number)]), lambda: b"made")
    assert len(list(home.iterdir())) == 3


def test_parts_are_told_from_each_other() -> None:
    assert cache.key(["ab", "c"]) != cache.key(["a", "bc"])
