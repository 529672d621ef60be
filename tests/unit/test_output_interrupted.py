"""A build that is killed, interrupted or refused at any step of what it does to the file system."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from output_folders import NEW, OLD, contents, make, names
from sampling import first

from mcu_deploy.errors import ToolError
from mcu_deploy.output import folder, locked, settle, write_file

# What changes a file system, by the names of Python's audit events; the exchange of two folders has
# none of its own, but the function is looked up before it.
_STEPS = frozenset(
    {"os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.chmod", "open", "fcntl.flock",
     "ctypes.dlsym"}
)  # fmt: skip
_DONE, _SEEN = 0, 9


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _fail() -> None:
    raise OSError(errno.EIO, "Input/output error")


def _interrupt() -> None:
    raise KeyboardInterrupt


def stopped_at(step: int, stop: Callable[[], None], work: Callable[[], None]) -> bool:
    """Does `work` in a process of its own; before its step of that number `stop` is called.

    Returns whether there were so many steps."""
    pid = os.fork()
    if pid == 0:
        seen = 0

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal seen
            is_reading = event == "open" and not _writes(arguments)
            if event in _STEPS and not is_reading:
                seen += 1
                if seen == step:
                    stop()

        code = _SEEN
        try:
            sys.addaudithook(hook)
            work()
            code = _SEEN if seen >= step else _DONE
        except (ToolError, OSError, KeyboardInterrupt):
            pass
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) != _DONE


def without_scratch(top: Path) -> dict[str, str]:
    """The files below a folder, without the hidden folders that the next build takes away."""
    found = contents(top) if top.exists() else {}
    return {path: text for path, text in found.items() if ".mcu-deploy-" not in path}


def _writes(arguments: tuple[object, ...]) -> bool:
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed leaves what it wrote: no test here needs the disk itself."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def _no_exchange(_: Path, __: Path) -> bool:
    return False


VARIANTS = ("exchanged", "file by file", "working directory", "new")
# The last number: at each how manieth step the build is stopped. File by file there are many, and
# the working directory, which cannot be exchanged, is replaced so, too.
SAMPLE = [(_kill, "exchanged", 3), (_interrupt, "new", 3), (_fail, "file by file", 7)]
EVERY = [(stop, variant, 1) for variant in VARIANTS for stop in (_kill, _fail, _interrupt)]


@pytest.mark.parametrize(
    ("stop", "variant", "stride"),
    first([*SAMPLE, *(case for case in EVERY if case not in SAMPLE)], len(SAMPLE)),
)
def test_a_build_stopped_at_any_step_leaves_the_old_or_the_new_one(
    stop: Callable[[], None],
    variant: str,
    stride: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if variant == "file by file":
        monkeypatch.setattr(folder, "_exchange", _no_exchange)
    top = tmp_path / "top"
    made = top / "a" / "out"
    start = {} if variant == "new" else OLD
    found = []

    def work() -> None:
        if variant == "working directory":
            os.chdir(made)
        make(made, NEW)

    step = 0
    more = True
    while more:
        step += stride
        if start:
            make(made, start)
        else:
            top.mkdir()
        more = stopped_at(step, stop, work)
        settle(made)
        now = without_scratch(made)
        left = without_scratch(top)
        assert now in (start, NEW), (step, now)
        assert left == {f"a/out/{name}": text for name, text in now.items()}, step
        found.append(now == NEW)
        if not start and stop is not _kill and now == {}:
            assert names(top) == [], step  # the folders above are gone, too
        make(made, OLD)
        assert contents(top) == {f"a/out/{name}": text for name, text in OLD.items()}, step
        assert names(made.parent) == ["out"], step
        shutil.rmtree(top)
    if stop is _kill:
        assert found == sorted(found)  # first the old one, from some step on the new one
    assert found.count(False) * stride > 10
    assert found.count(True) > 1


@pytest.mark.parametrize(
    ("stop", "stride"), first([(_kill, 7), (_kill, 1), (_fail, 1), (_interrupt, 1)])
)
def test_an_undoing_that_is_stopped_is_done_by_the_next_start(
    stop: Callable[[], None], stride: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "_exchange", _no_exchange)
    made = tmp_path / "out"
    make(made, OLD)
    step = 0
    more = True
    while more:
        step += stride

        def kill_in_the_middle() -> None:
            monkeypatch.setattr(folder, "_move", _move_until(made / "firmware.elf"))
            make(made, NEW)

        assert stopped_at(10_000, _kill, kill_in_the_middle)
        assert contents(made) != OLD
        (made / ".mcu-deploy-empty000").mkdir()  # of a build that was ended as it began
        more = stopped_at(step, stop, lambda: settle(made))
        settle(made)
        assert contents(made) == OLD
        make(made, OLD)
        assert names(tmp_path) == ["out"]
    assert step > 10


def _move_until(last: Path) -> Callable[[Path, Path], None]:
    move = folder._move

    def moving(source: Path, target: Path) -> None:
        move(source, target)
        if target == last:
            _kill()

    return moving


def test_what_the_user_put_in_the_way_of_the_undoing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "_exchange", _no_exchange)
    made = tmp_path / "out"
    make(made, OLD)

    def killed() -> None:
        monkeypatch.setattr(folder, "_move", _move_until(made / "firmware.elf"))
        make(made, NEW)

    assert stopped_at(10_000, _kill, killed)
    assert not (made / "report.json").exists()
    (made / "report.json").write_text("the user's")
    (made / "firmware.elf").write_text("the user's, too")
    for _ in range(2):
        with pytest.raises(ToolError, match=r"report\.json .*another file in its place"):
            make(made, NEW)
        assert (made / "report.json").read_text() == "the user's"
    (made / "report.json").rename(tmp_path / "mine")
    settle(made)
    assert contents(made) == OLD
    left = [p.read_text() for p in tmp_path.rglob("firmware.elf") if p.parent != made]
    assert left == ["the user's, too"]


@pytest.mark.parametrize("stop", first([_kill, _fail, _interrupt]))
@pytest.mark.parametrize("earlier", [None, "earlier"])
def test_a_file_is_whole_or_as_it_was(
    stop: Callable[[], None], earlier: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "new" / "file"
    step = 0
    more = True
    while more:
        step += 1
        if earlier is not None:
            file.parent.mkdir(exist_ok=True)
            file.write_text(earlier)
        more = stopped_at(step, stop, lambda: write_file(file, b"later"))
        now = file.read_text() if file.exists() else None
        assert now == (earlier if more and now != "later" else "later")
        if stop is not _kill:
            assert [p.name for p in tmp_path.rglob("*")] == (
                [] if now is None else ["new", "file"]
            ), step
        shutil.rmtree(tmp_path / "new", ignore_errors=True)
    assert step > 3


def test_nobody_gets_the_folder_before_its_build_has_ended(tmp_path: Path) -> None:
    """The new folder is locked before it is in place."""
    made = tmp_path / "out"
    make(made, OLD)
    with locked(made) as out:
        with out.replaced() as aside:
            (aside / "new").write_text("")
        assert contents(made) == {"new": ""}
        with pytest.raises(ToolError, match="locked by process"), locked(made, patience=0):
            pass
