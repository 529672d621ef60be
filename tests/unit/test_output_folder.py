"""Build folders: what is the user's, what is put in place, who waits for whom."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from output_folders import NEW, OLD, contents, make, mounted, names
from sampling import examples

from mcu_deploy.errors import ToolError, UsageError
from mcu_deploy.output import MARKER, folder, locked


def test_a_build_is_put_in_place_whole(tmp_path: Path) -> None:
    made = tmp_path / "a" / "b c" / "ü 日本"
    make(made, OLD)
    assert contents(made) == OLD
    make(made, NEW)
    assert contents(made) == NEW
    assert names(made.parent) == [made.name]
    marked = json.loads((made / MARKER).read_text(encoding="utf-8"))
    assert list(marked["files"]) == sorted(NEW)


@pytest.mark.parametrize("content", [OLD, NEW])
def test_equal_builds_have_equal_bytes(content: dict[str, str], tmp_path: Path) -> None:
    for name in ("a", "other"):
        make(tmp_path / name, content)
    assert (tmp_path / "a" / MARKER).read_bytes() == (tmp_path / "other" / MARKER).read_bytes()


def test_what_was_added_or_edited_is_refused_by_name(tmp_path: Path) -> None:
    made = tmp_path / "out"
    make(made, OLD)
    (made / "firmware.elf").write_text("patched")
    (made / "obj" / ".DS_Store").write_text("")
    (made / "empty").mkdir()
    (made / "sub" / "deep").mkdir(parents=True)
    (made / "sub" / "deep" / "file").write_text("")
    before = contents(tmp_path)
    with pytest.raises(
        UsageError, match=r"out holds .* empty/, firmware\.elf, obj/\.DS_Store, \.\.\."
    ):
        make(made, NEW)
    assert contents(tmp_path) == before
    assert (made / "empty").is_dir()


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_file_of_the_build_that_is_no_file_any_more_is_the_users(
    kind: str, tmp_path: Path
) -> None:
    made = tmp_path / "out"
    make(made, OLD)
    (made / "report.json").rename(tmp_path / "elsewhere")
    if kind == "link":
        (made / "report.json").symlink_to(tmp_path / "elsewhere")  # the same content
    elif kind == "pipe":
        os.mkfifo(made / "report.json")
    else:
        (made / "report.json").mkdir()
    with pytest.raises(UsageError, match=r"report\.json"):
        make(made, NEW)
    assert (tmp_path / "elsewhere").read_text() == OLD["report.json"]


def test_a_folder_without_a_marker_is_refused_unless_it_is_empty(tmp_path: Path) -> None:
    made = tmp_path / "out"
    made.mkdir()
    made.chmod(0o2750)
    make(made, OLD)
    assert stat.S_IMODE(made.stat().st_mode) == 0o2750
    marker = (made / MARKER).read_text()
    for damaged in (None, "", "[]", "[" * 100_000, '{"version": 1}', marker[:-9], "null"):
        (made / MARKER).unlink()
        if damaged is not None:
            (made / MARKER).write_text(damaged)
        before = contents(made)
        with pytest.raises(UsageError, match="no build of this version made"):
            make(made, NEW)
        assert contents(made) == before
        (made / MARKER).write_text(marker)
    (made / MARKER).write_text(marker.replace('"version": 1', '"version": 2'))
    with pytest.raises(UsageError, match="another version of mcu-deploy"):
        make(made, NEW)


def test_a_marker_that_names_files_elsewhere_reaches_none_of_them(tmp_path: Path) -> None:
    made, outside = tmp_path / "out", tmp_path / "outside"
    make(made, OLD)
    outside.write_text("precious")
    marker = json.loads((made / MARKER).read_text())
    digest = hashlib.sha256(b"precious").hexdigest()
    marker["files"] |= {"../outside": digest, str(outside): digest, "..": digest, "": digest}
    (made / MARKER).write_text(json.dumps(marker))
    make(made, NEW)
    assert outside.read_text() == "precious"
    assert contents(made) == NEW


def test_deleted_files_of_a_build_are_no_hindrance(tmp_path: Path) -> None:
    made = tmp_path / "out"
    make(made, OLD)
    (made / "report.json").unlink()
    (made / "obj" / "old.o").unlink()
    make(made, NEW)
    assert contents(made) == NEW


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "to link").symlink_to(tmp_path / "link")
    make(tmp_path / "to link", OLD)
    make(tmp_path / "link", NEW)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "to link").is_symlink()
    assert contents(tmp_path / "real") == NEW


def test_places_where_no_folder_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "deeper")
    (tmp_path / "loop").symlink_to("loop")
    before = contents(tmp_path)
    for name in ("file", "file/below", "dangling", "dangling/below", "loop", "new/" + "x" * 300):
        with pytest.raises(ToolError, match="cannot be written"):
            make(tmp_path / name, NEW)
        assert contents(tmp_path) == before
        assert not (tmp_path / "new").exists()


def test_a_name_with_no_room_for_the_folder_aside(tmp_path: Path) -> None:
    made = tmp_path / ("x" * 255)
    for content in (OLD, NEW):
        make(made, content)
        assert contents(made) == content


def test_a_failure_takes_away_what_it_made_and_names_the_folder(tmp_path: Path) -> None:
    made = tmp_path / "a" / "b" / "out"
    for error, caught, said in (
        (ToolError("{}/x.c does not compile"), ToolError, f"{made}/x.c does not compile"),
        (OSError(28, "No space left on device", "{}/obj/y"), ToolError, f"{made}/obj/y cannot be"),
    ):
        with pytest.raises(caught) as told, locked(made) as out, out.replaced() as aside:
            (aside / "obj").mkdir()
            error.args = tuple(str(a).format(aside) if "{" in str(a) else a for a in error.args)
            if isinstance(error, OSError):
                error.filename = str(error.filename).format(aside)
            raise error
        assert said in str(told.value)
        assert names(tmp_path) == []
    (tmp_path / "a").mkdir()
    with pytest.raises(KeyboardInterrupt) as interrupted, locked(made) as out, out.replaced():
        raise KeyboardInterrupt
    assert str(interrupted.value) == f"interrupted; {made} is as it was"
    assert names(tmp_path) == ["a"]
    assert names(tmp_path / "a") == []


def test_the_permissions_are_those_that_the_user_gives_new_folders(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        make(tmp_path / "out", OLD)
        make(tmp_path / "out", NEW)
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o750
    assert stat.S_IMODE((tmp_path / "out" / MARKER).stat().st_mode) == 0o640


def test_the_working_directory_stays_the_folder_that_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = Path().stat().st_ino
    for content in (OLD, NEW, OLD):
        make(Path(), content)
        assert Path().stat().st_ino == here
        assert contents(tmp_path) == content
    (tmp_path / "model.onnx").write_text("")
    with pytest.raises(UsageError, match=r"model\.onnx"):
        make(Path(), NEW)
    assert contents(tmp_path) == OLD | {"model.onnx": ""}


def test_a_mount_point_is_filled(tmp_path: Path) -> None:
    place = tmp_path / "mount"
    with mounted(place, "-t", "tmpfs", "tmpfs"):
        for content in (OLD, NEW):
            make(place, content)
            assert contents(place) == content
            assert os.path.ismount(place)
        assert names(tmp_path) == ["mount"]
    with mounted(place, "-t", "tmpfs", "-o", "size=64k", "tmpfs"):
        make(place / "in it", OLD)
        with pytest.raises(ToolError, match="No space left on device"):
            make(place / "in it", NEW | {"large": "x" * 100_000})
        assert contents(place) == {f"in it/{name}": text for name, text in OLD.items()}
    (tmp_path / "source").mkdir()
    with mounted(place, "--bind", str(tmp_path / "source")):
        for content in (OLD, NEW):
            make(place, content)
            assert contents(tmp_path / "source") == content
    with (
        mounted(place, "-t", "tmpfs", "-o", "ro", "tmpfs"),
        pytest.raises(ToolError, match="cannot be written"),
    ):
        make(place / "out", NEW)


def test_a_second_build_waits_and_says_for_whom(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = tmp_path / "out"
    started, go_on = threading.Event(), threading.Event()

    def first() -> None:
        with locked(made) as out, out.replaced() as aside:
            started.set()
            assert go_on.wait(60)
            (aside / "first").write_text("")

    thread = threading.Thread(target=first)
    thread.start()
    assert started.wait(60)
    said = rf"out has been locked by process {os.getpid()}, .* 0"
    with pytest.raises(ToolError, match=said), locked(made, patience=0):
        pass
    waiting = threading.Thread(target=make, args=(made, NEW))
    waiting.start()
    while not any("waiting for it" in record.message for record in caplog.records):
        waiting.join(0.01)
        assert waiting.is_alive()
    assert f"being built by process {os.getpid()}" in caplog.text
    go_on.set()
    thread.join(60)
    waiting.join(60)
    assert contents(made) == NEW
    assert names(tmp_path) == ["out"]


def test_many_builds_at_once_leave_one_of_them(tmp_path: Path) -> None:
    made = tmp_path / "new" / "out"
    builds = [{"n": str(n), **({"obj/x": ""} if n % 2 else {})} for n in range(6)]
    with ThreadPoolExecutor(len(builds) + 1) as pool:
        running = [pool.submit(_fail, made), *(pool.submit(make, made, b) for b in builds)]
    for one in running:
        one.result()
    assert contents(made) in builds
    assert names(made.parent) == ["out"]


def _fail(made: Path) -> None:
    with pytest.raises(ToolError), locked(made) as out, out.replaced():
        raise ToolError("no")


def test_a_file_that_comes_while_a_build_is_replaced_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made = tmp_path / "out"
    make(made, OLD)
    exchange = folder._exchange

    def late(one: Path, other: Path) -> bool:
        (made / "late").write_text("the user's")
        return exchange(one, other)

    monkeypatch.setattr(folder, "_exchange", late)
    make(made, NEW)
    assert contents(made) == NEW
    (left,) = tmp_path.rglob("late")
    assert left.read_text() == "the user's"
    assert str(left.parent) in caplog.text
    with pytest.raises(UsageError, match="late"), locked(made) as out, out.replaced():
        (made / "late").write_text("the user's")  # while the build goes on
    assert (made / "late").read_text() == "the user's"


def test_a_scratch_folder_whose_owner_is_not_written_holds_nothing_else(tmp_path: Path) -> None:
    theirs = tmp_path / "out" / ".mcu-deploy-abcdefgh"
    theirs.mkdir(parents=True)
    (theirs / "owner").touch()
    (theirs / "notes").write_text("mine")
    with pytest.raises(UsageError, match=r"abcdefgh/\. Nothing"):
        make(tmp_path / "out", NEW)
    assert (theirs / "notes").read_text() == "mine"
    (theirs / "notes").unlink()
    make(tmp_path / "out", NEW)
    assert contents(tmp_path / "out") == NEW


NAMES = st.sampled_from(
    ["report.json", "obj", "new.o", "old.o", "notes", "__pycache__", MARKER, ".mcu-deploy-abcdefgh",
     ".out.mcu-deploy-abcdefgh", "owner", "new", "journal.json", "ü", "\udcff", "-o", "a\nb"]
)  # fmt: skip
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TREES = st.dictionaries(PATHS, st.sampled_from(["", "mine", "link", "folder"]), max_size=4)


@settings(
    max_examples=examples(60, 20),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(built=st.booleans(), inside=TREES, around=TREES, exchange=st.booleans())
def test_no_file_of_the_user_is_ever_changed(
    built: bool, inside: dict[str, str], around: dict[str, str], exchange: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    top = tmp_path_factory.mktemp("tree")
    made = top / "out"
    if built:
        make(made, OLD)
    put = [_put(made, path, kind) for path, kind in inside.items()]
    touched = any(put)
    for path, kind in around.items():
        _put(top, path, kind)
    before = _everything(top)
    try:
        with pytest.MonkeyPatch.context() as patch:
            if not exchange:
                patch.setattr(folder, "_exchange", lambda *_: False)
            make(made, NEW)
    except UsageError:
        assert touched
        assert _everything(top) == before
    else:
        assert not touched
        assert contents(made) == NEW
        outside = {p: v for p, v in before.items() if p.split("/")[0] != "out"}
        now = {p: v for p, v in _everything(top).items() if p.split("/")[0] != "out"}
        assert now == outside


def _put(top: Path, path: str, kind: str) -> bool:
    """Puts something of the user's; False where something else is in the way."""
    place = top / path
    is_empty = kind == "folder" or (place.name, kind) == ("owner", "")
    if is_empty and "mcu-deploy-" in (place if kind == "folder" else place.parent).name:
        return False  # what nobody but mcu-deploy calls so, and nothing in it
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            place.symlink_to("report.json")
        elif kind == "folder":
            place.mkdir()
        else:
            place.write_text(kind)
    except OSError:
        return False
    return True


def _everything(top: Path) -> dict[str, str]:
    """All that is below a folder: the content of files, where links lead."""
    return {str(path.relative_to(top)): _what(path) for path in top.rglob("*")}


def _what(path: Path) -> str:
    if path.is_symlink():
        return f"to {path.readlink()}"
    return "a folder" if path.is_dir() else path.read_text()
