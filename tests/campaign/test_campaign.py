"""The campaign's harness: what it runs and judges, how it goes on, what it counts and keeps."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import onnx
import pytest
from campaign import faults, hostile, kinds, run
from drawn import judge
from fuzz import target_npz

from mcu_deploy.boards import load_board

pytestmark = [pytest.mark.needs_host_gcc, pytest.mark.usefixtures("forked")]


def started(folder: Path, *words: str, share: str = "0.00002") -> tuple[int, dict[str, Any]]:
    """A campaign of some cases: the exit code, and the counts."""
    places = ("--results", str(folder / "r" / "results.jsonl"), "--counts", str(folder / "c.json"))
    code = run.main([*places, "--share", share, *words])
    told = json.loads((folder / "c.json").read_text())
    assert set(told) == {"commit", "tools", "date", "counts"}
    assert len(told["commit"].split()[0]) == 40
    return code, told["counts"]


@pytest.fixture(autouse=True)
def one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks are done in this process."""
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0})


@pytest.mark.matrix
def test_what_was_done_is_not_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert started(tmp_path, "files", "--minutes", "0")[1]["files npz"]["ran"] == 0
    code, counts = started(tmp_path, "files")
    assert code == 0
    assert {name: c["ran"] for name, c in counts.items() if name.startswith("files")} == {
        f"files {name}": 2 for name in kinds.FORMATS
    }
    assert counts["frames"]["ran"] == 0
    assert "files npz" in capsys.readouterr().out
    monkeypatch.setattr(target_npz, "read", lambda path: pytest.fail("it is read again"))
    assert started(tmp_path, "files") == (0, counts)
    code, more = started(tmp_path, "frames")
    assert code == 0
    assert more["frames"] == {"of": "frames to the device", "ran": 200, "goal": 200, "findings": 0}
    assert more["files npz"] == counts["files npz"]


def test_a_finding_is_printed_counted_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read(path: Path) -> None:
        raise ZeroDivisionError(path.name)

    monkeypatch.setattr(target_npz, "read", read)
    task = kinds.tasks(kinds.kinds()["files npz"], 2)[0]
    found = kinds.done(task)
    assert found["ran"] == 2
    assert "ZeroDivisionError" in found["findings"][0]["what"]
    monkeypatch.setattr(kinds, "FORMATS", ("npz",))
    code, counts = started(tmp_path, "files", share="0.000003")
    assert code == 1
    assert counts["files npz"]["findings"] == counts["files npz"]["ran"] > 1
    assert "FOUND in files npz: case 100000" in capsys.readouterr().out
    assert (tmp_path / "r" / "findings" / "files_npz" / "100000.npz").is_file()


def test_all_kinds_get_on_alike() -> None:
    known = kinds.kinds()
    order = run.in_turn([(known["files npz"], 5000), (known["frames"], 250_000)])
    assert [task.kind for task in order[:8]].count("frames") == 2
    assert sum(task.count for task in order if task.kind == "frames") == 250_000
    assert kinds.goal(known["faults"], 0.1) == len(faults.every())
    assert kinds.goal(known["backends"], 0.1) == 100
    assert sum(kinds.goal(known[f"files {name}"], 0.1) for name in kinds.FORMATS) == 100_000


@pytest.mark.parametrize("words", [("--share", "0"), ("nonsense",)])
def test_wrong_words_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        run.main(list(words))


@pytest.mark.parametrize("core", kinds.BOARDS)
def test_every_board_is_emulated_and_has_the_core(core: str) -> None:
    board = load_board(kinds.BOARDS[core])
    assert board.core == f"cortex-{core.lower().replace('+', 'plus')}"
    assert board.qemu or board.renode


def test_cases_are_of_their_own_sources_alone() -> None:
    for word, patterns in kinds._SOURCES.items():
        assert all([*kinds._TESTS.glob(pattern)] for pattern in patterns), word
    assert len({kinds._digest(word) for word in kinds._SOURCES}) == len(kinds._SOURCES)


def test_faults_are_of_every_byte_and_frame_and_change_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    every = faults.every()
    clean, sizes, frames = faults._clean()
    assert len(set(every)) == len(every) == 3 * sum(sizes) + sum(frames)
    assert min(frames) > 20
    for fault in every[:: len(every) // 40]:
        assert faults.complaint(fault) == ""
    monkeypatch.setattr(faults, "_clean", lambda: ([*clean[:-1], b"else"], sizes, frames))
    assert str(every[0]) in faults.complaint(every[0])


def test_a_fault_is_on_the_line() -> None:
    for what, found in (("dropped", b"\0bc\0"), ("flipped", b"\0cbc\0"), ("doubled", b"\0aabc\0")):
        line = faults.FaultyLine(faults._firmware(), faults.Fault(False, what, 1))
        line.bytes, line.frames, line._inside = [0, 0], [0, 0], [False, False]
        assert line.damage(b"\0abc\0") == found
        line.close()
    line = faults.FaultyLine(faults._firmware(), faults.Fault(False, faults.OF_FRAMES, 1))
    line.bytes, line.frames, line._inside = [0, 0], [0, 0], [False, False]
    assert line.damage(b"\0ab\0\0c") + line.damage(b"d\0\0e\0") == b"\0ab\0\0\0\0e\0"
    line.close()


def test_hostile_backends_are_of_every_deed_and_place(monkeypatch: pytest.MonkeyPatch) -> None:
    every = hostile.every()
    assert len(set(every)) == len(every)
    assert {place for _, place in every[:40]} >= {"load", "describe", *hostile.CALLS}
    assert {deed for deed, _ in every[:100]} == set(hostile.DEEDS)
    assert hostile.complaint("crash", "create_workload") == ""
    assert hostile.complaint("garbage", "load") == ""
    assert "nothing is reported" in hostile.complaint("no deed", "create_workload")
    monkeypatch.setitem(hostile.DEEDS, "crash", "something else")
    assert "reported as" in hostile.complaint("crash", "estimate")


def test_graphs_of_operators_are_judged_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    task = kinds.tasks(kinds.kinds()["operators"], 2)[0]
    assert kinds.done(task) == {"ran": 2, "findings": []}
    monkeypatch.setattr(judge, "_apart", lambda item, outputs: "far apart")
    monkeypatch.setattr(judge, "_verdict", lambda case, folder: "failed")
    first, second = kinds.done(task)["findings"]
    assert first["what"].endswith("far apart; failed")
    assert (first["name"], second["name"]) == ("10000.onnx", "10001.onnx")
    assert onnx.load_from_string(base64.b64decode(first["data"])) == judge.draw(10000).model


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_random_networks_are_judged_on_a_board() -> None:
    (task,) = kinds.tasks(kinds.kinds()["graphs M3"], 2)
    assert kinds.done(task) == {"ran": 2, "findings": []}
    (found,) = kinds.done(kinds.Task("graphs M3", 0, 1, "", "nonsense"))["findings"]
    assert "networks 10000 to 10000 for speed on nonsense" in found["what"]
