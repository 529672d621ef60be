"""Which emulator is taken for a board, where it is looked for, and what is said without it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mcu_deploy.boards import load_board
from mcu_deploy.device.emulators import choose_emulator, launchers, open_emulator
from mcu_deploy.device.emulators.renode import find_renode
from mcu_deploy.device.emulators.trace import (
    Event,
    WatchedAddresses,
    ends,
    is_whole,
    read_events,
    read_histograms,
    read_rows,
)
from mcu_deploy.errors import ToolError, UsageError


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any program on its PATH. Returns the folder that is the PATH."""
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MCU_DEPLOY_RENODE", raising=False)
    return programs


def _program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_every_emulator_is_found_by_its_file() -> None:
    assert [launcher.name for launcher in launchers()] == ["host", "qemu", "renode"]


@pytest.mark.parametrize(
    ("board", "name"),
    [
        ("host", "host"),
        ("mps2-an385", "qemu"),
        ("mps2-an386", "qemu"),
        ("mps2-an500", "qemu"),
        ("mps2-an505", "qemu"),
        ("mps2-an521", "qemu"),
        ("mps3-an547", "qemu"),
        ("stm32f746", "renode"),
    ],
)
def test_boards_that_one_emulator_has(board: str, name: str) -> None:
    choice = choose_emulator(load_board(board))
    assert choice.launcher.name == name
    assert "the only one that has" in choice.reason


def test_a_board_that_both_have(bare_machine: Path) -> None:
    board = load_board("netduinoplus2")
    assert choose_emulator(board).launcher.name == "qemu"
    assert "although it is not installed" in choose_emulator(board).reason

    _program(bare_machine / "renode")
    choice = choose_emulator(board)
    assert (choice.launcher.name, choice.reason) == (
        "renode",
        "Renode, because QEMU is not installed",
    )

    _program(bare_machine / "qemu-system-arm")
    choice = choose_emulator(board)
    assert choice.launcher.name == "qemu"
    assert choice.reason.startswith("QEMU (netduinoplus2) rather than Renode: it faults where")
    assert choose_emulator(board, "renode").launcher.name == "renode"


def test_an_emulator_that_lacks_the_board() -> None:
    with pytest.raises(UsageError, match=r"has no machine for board stm32f746\. Use --emulator"):
        choose_emulator(load_board("stm32f746"), "qemu")
    with pytest.raises(UsageError, match="no emulator called 'simics'; use one of: host, qemu"):
        choose_emulator(load_board("stm32f746"), "simics")
    nowhere = replace(load_board("stm32f746"), name="mine", renode=None)
    with pytest.raises(UsageError, match=r"No emulator has a machine for board mine\. Connect"):
        choose_emulator(nowhere)


@pytest.mark.parametrize(
    ("board", "sentence"),
    [
        ("mps2-an386", r"qemu-system-arm is not on the PATH; .*apt-get install qemu-system-arm"),
        ("stm32f746", r"Renode is not installed: .*make renode"),
    ],
)
def test_a_missing_emulator(board: str, sentence: str, bare_machine: Path, tmp_path: Path) -> None:
    elf = tmp_path / "firmware.elf"
    elf.write_bytes(b"")
    with (
        pytest.raises(ToolError, match=sentence),
        open_emulator(load_board(board), elf),
    ):
        pytest.fail("it started")


def test_where_renode_is_looked_for(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "home" / ".config" / "renode"
    with pytest.raises(ToolError, match="renode-run has downloaded none"):
        find_renode()

    old = _program(tmp_path / "old" / "renode")
    settings.mkdir(parents=True)
    (settings / "renode-run.path").write_text(f"{old.parent}\n")
    assert find_renode().path == old

    portable = _program(settings / "renode-run.download" / "dotnet-portable" / "r" / "renode")
    config = {
        "version": "2.0",
        "installations": {str(old.parent): {"version": "1", "variant": "mono-portable"}},
        "default": {"dotnet-portable": str(portable.parent)},
    }
    (settings / "renode-run.json").write_text(json.dumps(config))
    assert find_renode().path == portable
    assert find_renode().found == "through renode-run"

    named = _program(tmp_path / "own folder" / "renode")
    monkeypatch.setenv("MCU_DEPLOY_RENODE", str(named.parent))
    assert find_renode().path == named
    monkeypatch.setenv("MCU_DEPLOY_RENODE", str(named))
    assert find_renode().path == named
    monkeypatch.setenv("MCU_DEPLOY_RENODE", str(tmp_path / "nothing"))
    with pytest.raises(ToolError, match=r"MCU_DEPLOY_RENODE names .*nothing, which is no program"):
        find_renode()

    on_path = _program(bare_machine / "renode")
    assert find_renode().path == on_path


@pytest.mark.parametrize("text", ["", "[]", "{", '{"default": 3, "installations": []}', "\0"])
def test_damaged_settings_of_renode_run(text: str, bare_machine: Path, tmp_path: Path) -> None:
    settings = tmp_path / "home" / ".config" / "renode"
    settings.mkdir(parents=True)
    (settings / "renode-run.json").write_text(text)
    (settings / "renode-run.path").write_text("")
    with pytest.raises(ToolError, match="Renode is not installed"):
        find_renode()


def test_an_event_log_that_is_still_being_written(tmp_path: Path) -> None:
    log = tmp_path / "events.txt"
    assert read_rows(log) == ()
    log.write_text("8000044 3\n8000048 2007\n80000")
    assert read_rows(log) == ((0x8000044, 3), (0x8000048, 2007))
    assert read_events(log) == (Event(0x8000044, 3), Event(0x8000048, 2007))


def test_a_file_of_the_plugin_that_is_cut_anywhere_is_not_whole(tmp_path: Path) -> None:
    log = tmp_path / "histograms.txt"
    assert not is_whole(log)
    text = "100 7\n102 1\n200 0\nend 3\n"
    log.write_text(text)
    assert is_whole(log)
    assert read_histograms(log) == ({0x100: 7, 0x102: 1},)
    lines = text.splitlines(keepends=True)
    others = [text[:size] for size in range(len(text))]
    others += ["".join(lines[:at] + lines[at + 1 :]) for at in range(len(lines))]  # one lost
    for other in (*others, text + "100 7\n", "end 3\n", "\n"):
        log.write_text(other)
        assert not is_whole(log), other
    log.write_text("end 0\n")
    assert is_whole(log) and read_histograms(log) == read_events(log) == ()


def test_events_of_two_cores(tmp_path: Path) -> None:
    log = tmp_path / "events.txt"
    assert read_events(log) == ()
    log.write_text("44 3\n48 2007 0 2007 12\n50 40 1 2010 40\n52 41 1 20")
    first, second, third = read_events(log)
    assert (first.core, first.cores) == (0, (3,))
    assert (second.core, second.count, second.cores) == (0, 2007, (2007, 12))
    assert (third.core, third.count, third.cores) == (1, 40, (2010, 40))


def test_when_a_run_is_at_its_end() -> None:
    marks = WatchedAddresses(mark=(1,), once=(2,), stop=(3,))
    one, two, three = Event(1, 0), Event(2, 0), Event(3, 0)
    assert not ends((one, one, two), marks)
    assert ends((one, two, two), marks)
    assert ends((three,), marks)
