"""Single files: what is written, what stays, what is refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from output_folders import OLD, make, names

from mcu_deploy.errors import ToolError, UsageError
from mcu_deploy.files import cache
from mcu_deploy.output import MARKER, require_writable, write_file


def test_a_link_and_permissions_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("earlier")
    file.chmod(0o604)
    link.symlink_to("file")
    write_file(link, b"later")
    assert link.is_symlink()
    assert file.read_bytes() == b"later"
    assert stat.S_IMODE(file.stat().st_mode) == 0o604
    umask = os.umask(0o027)
    try:
        write_file(tmp_path / "a" / ("x" * 255), b"")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "a" / ("x" * 255)).stat().st_mode) == 0o640
    assert names(tmp_path) == ["a", "file", "link"]


def test_a_device_and_a_pipe_are_written_to_and_stay(tmp_path: Path) -> None:
    write_file(Path("/dev/null"), b"nothing")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(ToolError, match="No space left"):
        write_file(Path("/dev/full"), b"x" * 100_000)
    reader, writer = os.pipe()
    write_file(Path(f"/dev/fd/{writer}"), b"through the pipe")
    assert os.read(reader, 100) == b"through the pipe"
    os.close(reader)
    os.close(writer)


def test_what_cannot_be_written_is_a_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to("nowhere/file")
    before = names(tmp_path)
    for name in ("folder", "file/below", "dangling", "x" * 256, "new/" + "x" * 256):
        for attempt in (require_writable, lambda path: write_file(path, b"")):
            with pytest.raises(ToolError, match="cannot be written"):
                attempt(tmp_path / name)
            assert names(tmp_path) == before
    (tmp_path / "file").chmod(0o400)
    if os.geteuid() != 0:  # who may write everywhere
        with pytest.raises(ToolError, match="Permission denied"):
            write_file(tmp_path / "file", b"")


def test_results_go_over_no_input_and_no_file_of_a_build(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make(tmp_path / "build", OLD)
    (tmp_path / "in.npz").write_text("")
    (tmp_path / "link.npz").symlink_to("in.npz")
    with pytest.raises(UsageError, match="what the command reads"):
        require_writable(tmp_path / "link.npz", [tmp_path / "none", tmp_path / "in.npz"])
    for name in ("report.json", MARKER, "obj/old.o"):
        with pytest.raises(UsageError, match=f"{name} is a file of the build in"):
            require_writable(tmp_path / "build" / name)
    before = names(tmp_path)
    for path in (tmp_path / "out.npz", tmp_path / "new" / "out.npz", Path("/dev/null")):
        require_writable(path, [tmp_path / "in.npz"])
    assert names(tmp_path) == before
    assert not caplog.records
    require_writable(tmp_path / "build" / "new" / "out.npz")
    assert "it is yours" in caplog.text


def test_the_cache_removes_nothing_that_it_did_not_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """$MCU_DEPLOY_CACHE may name a folder with an objects/ of the user's in it."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(cache, "_MOST_ENTRIES", 2)
    mine = tmp_path / "objects"
    mine.mkdir()
    for number in range(5):
        (mine / f"{number}.o").write_text("mine")
    for number in range(4):
        assert cache.kept(cache.key([str(number)]), lambda: b"made") == b"made"
    assert len(names(mine)) == 5 + 2
    assert [(mine / f"{number}.o").read_text() for number in range(5)] == ["mine"] * 5
