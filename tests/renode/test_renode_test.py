"""The keywords of mcu_deploy.robot in Renode's own test runner, and in plain Robot Framework."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

import pytest
from renode_runner import renode_platforms, renode_test
from sampling import every_board, first, one_of_each_core

from mcu_deploy.boards import list_boards

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
SENSOR = REPOSITORY / "examples" / "renode_sensor"
PAGE = REPOSITORY / "docs" / "renode-ci.md"
BOARDS = [board.name for board in every_board() if board.renode is not None]
HELIUM = [board.name for board in every_board() if board.renode is not None and board.mve]
SCALAR = [name for name in BOARDS if name not in HELIUM]
CORES = sorted(one_of_each_core(SCALAR))
SAMPLE = ["ek_ra8m1_scalar"]

HANGS = 1800.0
"""Seconds after which a run is no slow one: with an idle machine all boards take 45."""

_RUNS = [
    *first([(("--include", "sample"), SAMPLE), (("--exclude", "helium"), SCALAR)]),
    pytest.param(
        ("--include", "helium"), HELIUM,
        marks=[pytest.mark.matrix, pytest.mark.needs_renode_helium],
    ),
]  # fmt: skip

Results = dict[str, str]
"""Of each test what it failed with, or nothing."""


def run(*command: str | Path, folder: Path) -> str:
    """What a command prints, with this Python and its packages before any other. One that hangs is
    ended with all that it has started, so that a Renode of another age cannot stop the tests."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, cwd=folder, stdin=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "PATH": path, "XDG_CONFIG_HOME": str(folder)},
    ) as process:  # fmt: skip
        try:
            return process.communicate(timeout=HANGS)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            pytest.fail(f"{command[0]} did not end in {HANGS} s; {process.communicate()[0]}")


def junit(results: Path) -> Results:
    """The tests of a run, by the JUnit file that rebot makes of Robot's own."""
    report = results / "junit.xml"
    rebot = ("robot.rebot", "--output", "NONE", "--log", "NONE", "--report", "NONE")
    said = run(
        sys.executable, "-m", *rebot, "--xunit", report, results / "robot_output.xml",
        folder=results,
    )  # fmt: skip
    assert report.is_file(), said
    cases = ElementTree.parse(report).iter("testcase")
    return {
        str(case.get("name")): "".join(str(f.get("message")) for f in case.iter("failure"))
        for case in cases
    }


def in_renode(folder: Path, *words: str | Path) -> Results:
    program = renode_test()
    assert program is not None
    # A failed test is not to save the machine: that takes seconds.
    quick = ("--variable", "CREATE_SNAPSHOT_ON_FAIL:False")
    said = run(program, "-r", folder / "results", *quick, *words, folder=folder)
    assert (folder / "results" / "robot_output.xml").is_file(), said
    return junit(folder / "results")


def listing(folder: Path) -> Path:
    """The suite that docs/renode-ci.md shows, beside what it names."""
    (text,) = re.findall(r"^```robotframework\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    (folder / "kws.robot").write_text(text)
    for name in ("model.onnx", "samples.npz"):
        (folder / name).symlink_to(REPOSITORY / "mcu_deploy" / "examples" / "kws" / name)
    return folder / "kws.robot"


@pytest.mark.needs_renode_test
@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize(("words", "boards"), _RUNS)
def test_boards(words: Sequence[str], boards: Sequence[str], tmp_path: Path) -> None:
    """In the sample of a Cortex-M85, which QEMU has not."""
    results = in_renode(tmp_path, *words, HERE / "boards.robot")
    assert {name: why for name, why in results.items() if why} == {}
    assert len(results) == len(boards)


@pytest.mark.matrix
@pytest.mark.needs_renode_test
@pytest.mark.needs_arm_gcc
def test_every_keyword(tmp_path: Path) -> None:
    suites = (HERE / "keywords.robot", listing(tmp_path))
    results = in_renode(tmp_path, *suites)
    assert {name: why for name, why in results.items() if why} == {}
    assert len(results) == 6 + 2


@pytest.mark.matrix
@pytest.mark.needs_renode_test
@pytest.mark.needs_arm_gcc
def test_a_renode_that_hangs_ends_with_its_keyword(tmp_path: Path) -> None:
    ((name, why),) = in_renode(tmp_path, HERE / "hangs.robot").items()
    assert name == "A Renode That Hangs Is Ended"
    assert why.startswith("Teardown failed:")  # of renode-test, which finds no Renode any more
    assert "Connection to remote server broken" in why


@pytest.mark.matrix
@pytest.mark.needs_renode_test
@pytest.mark.needs_arm_gcc
def test_a_sensor_beside_the_network(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    page = (SENSOR / "README.md").read_text()
    (commands,) = re.findall(r"^```sh\n(mcu-deploy build.*?)^```$", page, re.M | re.S)
    said = run("sh", "-e", "-c", commands, folder=tmp_path)
    firmware = tmp_path / "build" / "sensor" / "firmware.elf"
    assert firmware.is_file(), said
    assert "error" not in said
    results = in_renode(tmp_path, "--variable", f"FIRMWARE:{firmware}", SENSOR / "sensor.robot")
    assert {name: why for name, why in results.items() if why} == {}
    assert len(results) == 3


@pytest.mark.needs_robot
@pytest.mark.needs_host_gcc
def test_without_renode_test(tmp_path: Path) -> None:
    robot = ("robot.run", "--log", "NONE", "--report", "NONE", "--output", "robot_output.xml")
    said = run(sys.executable, "-m", *robot, HERE / "plain.robot", folder=tmp_path)
    assert (tmp_path / "robot_output.xml").is_file(), said
    *good, bad = junit(tmp_path).values()
    assert good == [""] * 4
    assert bad.startswith("Nobody has asked for this fault: The device stopped: an undefined")
    assert "in layer 0 of model 0" in bad


@pytest.mark.needs_robot
def test_the_keywords_are_those_of_the_page(tmp_path: Path) -> None:
    said = run(sys.executable, "-m", "robot.libdoc", "mcu_deploy.robot", "list", folder=tmp_path)
    rows = re.findall(r"^\| `((?:[A-Z]\w* ?)+?)(?:`|  )", PAGE.read_text(), re.M)
    assert said.split() == " ".join(sorted(rows)).split()


def test_every_board_of_renode_is_in_the_suite() -> None:
    suite = (HERE / "boards.robot").read_text()
    case = r"^\S.*? {2,}(\w+) {2,}\w.* {2,}\d+$"
    assert sorted(re.findall(case, suite, re.M)) == sorted(BOARDS)
    tagged = rf"{case}\n +\[Tags\] +core"
    assert sorted(re.findall(tagged, suite, re.M)) == sorted(CORES)
    assert sorted(re.findall(rf"{tagged} +sample$", suite, re.M)) == sorted(SAMPLE)


ADDRESS = re.compile(r"\b(?:https?|ftp)://")


def test_nothing_that_is_shipped_for_renode_names_an_address() -> None:
    files = [
        path
        for folder in (REPOSITORY / "renode", SENSOR, HERE)
        for path in folder.iterdir()
        if path.suffix in (".repl", ".resc", ".robot")
    ]
    assert len(files) > 15
    for path in files:
        assert not ADDRESS.search(path.read_text()), path


@pytest.mark.needs_renode
@pytest.mark.parametrize("board", BOARDS)
def test_what_renode_would_download_for_a_board_is_left_out(board: str) -> None:
    """Renode's own platforms name SVD files by their addresses in what they do with the system bus
    at first. Ours do something else with it instead, or include no such platform."""
    platforms = renode_platforms()
    if platforms is None:
        pytest.skip(
            "where Renode's platforms are is not known here; name `renode-test` on the PATH"
        )
    from mcu_deploy.device.emulators.renode_machine import platform_text

    text = platform_text(next(b for b in list_boards() if b.name == board))
    names, theirs = re.findall(r'^using "(.*?)"', text, re.M), []
    while names:
        theirs.append((platforms.parent / names.pop()).read_text(encoding="utf-8-sig"))
        names += re.findall(r'^using "(platforms/.*?)"', theirs[-1], re.M)
    assert theirs
    for line in "\n".join(theirs).splitlines():
        if ADDRESS.search(line.split("//")[0] if line.strip().startswith("//") else line):
            assert line.strip().startswith("ApplySVD @"), line
            assert re.search(r"^sysbus:\n +init:\n", text, re.M), line
