"""Tries the tests of each room on its mutations (`make mutants`).

All happens in copies of the repository, a room one, in build/mutants: the sources here are never
touched. Each mutation is a process forked from one that has the libraries loaded, and ends with the
first test that fails. Only the tests that reach the mutated function are run, the one that failed
the last time before all others, and then the cheapest. What was found is remembered for the same
texts: a run that was stopped goes on.

In `survivors.tsv` stands why a mutation that no test fails on changes nothing that one could see.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import hypothesis  # noqa: F401  (loaded once for all forks)
import ml_dtypes  # noqa: F401
import numpy  # noqa: F401
import onnx  # noqa: F401
import onnxruntime  # noqa: F401
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from mutants.mutations import Mutation  # noqa: E402
from mutants.reach import Killer, Reach, Reached  # noqa: E402
from mutants.rooms import ROOMS, Room  # noqa: E402

BUILD = ROOT / "build" / "mutants"
FOUND = BUILD / "found.tsv"
KILLERS = BUILD / "killers.tsv"
EXPLAINED = Path(__file__).parent / "survivors.tsv"
_KILLED_SHARE = 0.9
_MOST_PATIENCE = 40 * 60  # on the clock: one who waits for what does not come is killed
_SHORT = 110


def copy(tree: Path) -> None:
    """The files that git knows or would take; what is compiled of those that stay, stays."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    wanted = {tree / name for name in listed if (ROOT / name).is_file()}
    for path in tree.rglob("*"):
        if path.is_file() and path not in wanted and "__pycache__" not in path.parts:
            path.unlink()
    for path in wanted:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path.relative_to(tree), path)


def is_killed(mutation: Mutation, room: Room, tree: Path) -> bool:
    """Whether a test fails, or takes many times what it took. The killer is remembered."""
    reached = Reached.load(_reach(tree))
    tests = reached.tests_of(mutation, table(KILLERS).get(mutation.name))
    place = tree / mutation.file
    before, times = place.read_bytes(), place.stat()
    place.write_text(mutation.text, encoding="utf-8")
    # Python's cache, which processes that tests start write, knows a module by time and size, and
    # both may be those of another mutation.
    later = 1000 + zlib.crc32(mutation.text.encode()) % 2**20
    os.utime(place, (times.st_atime, times.st_mtime + later))
    try:
        is_dead = fails(tests or room.tests, tree, Killer(_killer(tree), reached))
        if is_dead and _killer(tree).exists():
            _remember(KILLERS, mutation.name, _killer(tree).read_text(encoding="utf-8"))
        return is_dead
    finally:
        place.write_bytes(before)
        os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))


def fails(tests: Sequence[str], tree: Path, plugin: Reach | Killer) -> bool:
    """plugin: Reach where nothing is mutated."""
    _killer(tree).unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setsid()
            sys.dont_write_bytecode = isinstance(plugin, Killer)
            code = _child(tests, tree, plugin)
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(ProcessLookupError):  # what the tests left running
        os.killpg(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(status)
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    if code == pytest.ExitCode.USAGE_ERROR and files != [*tests]:
        return fails(files, tree, plugin)  # what some tests are named by is another now
    known = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
    if code >= 0 and code not in known:
        sys.exit(f"mutants: pytest could not run ({code}); what it said is in {_log(tree)}.")
    return code != pytest.ExitCode.OK


def _log(tree: Path) -> Path:
    return tree.with_suffix(".log")


def _reach(tree: Path) -> Path:
    return tree.with_suffix(".reach.json")


def _killer(tree: Path) -> Path:
    return tree.with_suffix(".killer")


def _child(tests: Sequence[str], tree: Path, plugin: Reach | Killer) -> int:
    signal.alarm(_MOST_PATIENCE)
    gc.freeze()  # what the parent has loaded: to look through it is to copy all of its memory
    log = os.open(_log(tree), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.chdir(tree)
    sys.path[:] = [entry for entry in sys.path if entry != str(ROOT / "tests")]
    for name in [name for name in sys.modules if name.partition(".")[0] == "mutants"]:
        del sys.modules[name]
    os.environ.setdefault("MCU_DEPLOY_MODELS", str(ROOT.parent / "shared" / "models"))
    return pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests], [plugin])


def _digest(room: Room, tree: Path, *texts: str) -> str:
    tests = (tree / test.partition("::")[0] for test in room.tests)
    whole = "\0".join((*texts, *(path.read_text(encoding="utf-8") for path in tests)))
    return hashlib.sha256(whole.encode()).hexdigest()[:20]


def table(path: Path) -> dict[str, str]:
    """The lines of two cells: the first one's second."""
    if not path.exists():
        return {}
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return dict(rows)


def _remember(path: Path, first: str, second: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{first}\t{second}\n")


def passes_unchanged(name: str, room: Room, tree: Path) -> bool:
    """Whether the room's tests pass without a mutation: then what kills is the mutation."""
    mutations = room.mutations(tree)
    digest = _digest(room, tree, name, *(mutation.text for mutation in mutations))
    files = sorted({mutation.file for mutation in mutations})
    reach = Reach(tree, files, _reach(tree))
    if digest in table(FOUND) and _reach(tree).exists():
        return True
    if passes := not fails(room.tests, tree, reach):
        _remember(FOUND, digest, "passed")
    return passes


def examine(room: Room, most: int, tree: Path) -> dict[str, bool]:
    """Whether each mutation of a room is killed. most: so many are tried now, of those that were
    not yet; the rest is left out."""
    known, killed = table(FOUND), {}
    for mutation in room.mutations(tree):
        digest = _digest(room, tree, mutation.text)
        if digest not in known:
            if most <= 0:
                continue
            most -= 1
            is_dead = is_killed(mutation, room, tree)
            known[digest] = "killed" if is_dead else "survived"
            _remember(FOUND, digest, known[digest])
            print(f"{known[digest]:8}  {mutation.name[:_SHORT]}", flush=True)
        killed[mutation.name] = known[digest] == "killed"
    return killed


def verdict(found: Mapping[str, Mapping[str, bool]], explained: Mapping[str, str]) -> list[str]:
    """What is wrong with what was found in each room."""
    wrong = []
    every = {name: killed for room in found.values() for name, killed in room.items()}
    for room, killed in found.items():
        share = sum(killed.values()) / len(killed)
        if share < _KILLED_SHARE:
            wrong.append(f"{room}: {share:.0%} are killed, and {_KILLED_SHARE:.0%} are to be.")
    for name, killed in every.items():
        if not killed and name not in explained:
            wrong.append(f"survived: {name}\n    Write a test, or say in {EXPLAINED.name} why not.")
        if killed and name in explained:
            wrong.append(f"killed, and explained in {EXPLAINED.name}: {name}")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description="Tries the tests of each room on mistakes.")
    parser.add_argument("rooms", nargs="*", help=f"of {', '.join(ROOMS)}; all by default")
    parser.add_argument("--most", type=int, default=10**6, help="try so many, and end")
    given = parser.parse_args()
    if unknown := [name for name in given.rooms if name not in ROOMS]:
        sys.exit(f"mutants: there is no room {unknown[0]}; name one of {', '.join(ROOMS)}.")
    left, found = given.most, {}
    for name in given.rooms or ROOMS:
        room = ROOMS[name]
        tree = BUILD / name
        copy(tree)
        if left > 0 and not passes_unchanged(name, room, tree):
            sys.exit(f"mutants: the tests of {name} fail without a mutation; see {_log(tree)}.")
        before = len(table(FOUND))
        found[name] = examine(room, left, tree)
        left -= len(table(FOUND)) - before
        tried, every = len(found[name]), len(room.mutations(tree))
        print(f"{name}: {sum(found[name].values())} of {tried} killed, {every - tried} not tried")
    wrong = verdict({name: killed for name, killed in found.items() if killed}, table(EXPLAINED))
    print(*wrong, sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
