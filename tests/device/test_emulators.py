"""Firmwares at work in the emulators, and emulators that end when they should."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from emulated_firmware import ECHO, is_alive, link
from sampling import every_board, first, on_renode

from mcu_deploy.boards import load_board
from mcu_deploy.device.emulators import Emulator, open_emulator
from mcu_deploy.errors import DeviceError, ToolError, UsageError

pytestmark = pytest.mark.needs_arm_gcc
qemu = pytest.mark.needs_qemu
renode = pytest.mark.needs_renode

QEMU_BOARDS = [board.name for board in every_board() if board.qemu is not None]
EVERY_BYTE = bytes(range(256))


class Line:
    """A client of an emulator's serial line."""

    def __init__(self, emulator: Emulator) -> None:
        host, port = emulator.url.removeprefix("socket://").split(":")
        self._socket = socket.create_connection((host, int(port)), timeout=20)

    def receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise DeviceError(f"the line was closed after {data!r}")
            data += part
        return data

    def echo(self, data: bytes) -> bytes:
        self._socket.sendall(data)
        return self.receive(len(data))


def _greets_and_echoes(emulator: Emulator) -> None:
    line = Line(emulator)
    assert line.receive(6) == b"hello\n"  # sent before there was a client, and not lost
    data = bytes(byte for byte in EVERY_BYTE if byte != ord("R"))
    assert line.echo(data) == data
    line._socket.sendall(b"R")
    assert line.receive(6) == b"hello\n"  # it restarted, and its program was still there
    assert line.echo(b"again") == b"again"


@qemu
@pytest.mark.parametrize("board", first(QEMU_BOARDS))  # other tests run firmware of each core
def test_qemu_runs_a_firmware(board: str, tmp_path: Path) -> None:
    with open_emulator(load_board(board), link(board, tmp_path, ECHO), emulator="qemu") as emulator:
        assert emulator.launcher.name == "qemu"
        assert emulator.version.split(".")[0].isdigit()
        _greets_and_echoes(emulator)
        pid = emulator.process.pid
        assert is_alive(pid)
    assert not is_alive(pid)


@renode
@pytest.mark.matrix  # other tests of the sample run firmware there
@pytest.mark.parametrize("board", on_renode())
def test_renode_runs_a_firmware(board: str, tmp_path: Path) -> None:
    elf = link(board, tmp_path, ECHO)
    with open_emulator(load_board(board), elf, emulator="renode") as emulator:
        assert emulator.launcher.name == "renode"
        assert emulator.version.split(".")[0].isdigit()
        _greets_and_echoes(emulator)
        pid = emulator.process.pid
        assert is_alive(pid)
    assert not is_alive(pid)


@pytest.mark.needs_host_gcc
def test_the_host_runs_a_firmware(tmp_path: Path) -> None:
    with open_emulator(load_board("host"), link("host", tmp_path, ECHO)) as emulator:
        assert emulator.launcher.name == "host"
        line = Line(emulator)
        assert line.receive(6) == b"hello\n"
        assert line.echo(b"abc") == b"abc"
        pid = emulator.process.pid
    assert not is_alive(pid)


@qemu
def test_two_emulators_of_one_board_side_by_side(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    elf = link(board.name, tmp_path, ECHO)
    with open_emulator(board, elf) as first, open_emulator(board, elf) as second:
        assert first.url != second.url
        one, other = Line(first), Line(second)
        assert one.receive(6) == other.receive(6) == b"hello\n"
        assert (one.echo(b"one"), other.echo(b"other")) == (b"one", b"other")


@pytest.mark.matrix
@renode
def test_renode_takes_another_port_when_one_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcu_deploy.device.emulators import renode as module

    board = load_board("stm32f746")
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen(1)
        free = module._free_port
        answers = iter([taken.getsockname()[1]])
        monkeypatch.setattr(module, "_free_port", lambda: next(answers, None) or free())
        with open_emulator(board, link(board.name, tmp_path, ECHO)) as emulator:
            assert not emulator.url.endswith(f":{taken.getsockname()[1]}")
            assert Line(emulator).receive(6) == b"hello\n"


@qemu
def test_the_emulator_ends_when_its_user_fails(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    with (
        pytest.raises(ZeroDivisionError),
        open_emulator(board, link(board.name, tmp_path, ECHO)) as emulator,
    ):
        pid = emulator.process.pid
        raise ZeroDivisionError
    assert not is_alive(pid)


@pytest.mark.parametrize(
    ("board", "emulator"),
    [
        pytest.param("mps2-an386", "qemu", marks=qemu),
        pytest.param("stm32f746", "renode", marks=renode),
    ],
)
def test_the_emulator_ends_when_its_user_is_killed(
    board: str, emulator: str, tmp_path: Path
) -> None:
    elf = link(board, tmp_path, ECHO)
    user = subprocess.Popen(
        [
            *(sys.executable, "-c"),
            "import sys, time; from pathlib import Path\n"
            "from mcu_deploy.boards import load_board\n"
            "from mcu_deploy.device.emulators import open_emulator\n"
            "board, elf, name = sys.argv[1:]\n"
            "with open_emulator(load_board(board), Path(elf), emulator=name) as emulator:\n"
            "    print(emulator.process.pid, flush=True); time.sleep(60)\n",
            *(board, str(elf), emulator),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)},
    )
    assert user.stdout is not None
    pid = int(user.stdout.readline())
    assert is_alive(pid)
    user.send_signal(signal.SIGKILL)
    user.wait()
    for _ in range(500):
        if not is_alive(pid):
            return
        time.sleep(0.01)
    pytest.fail(f"{emulator} outlived its user")


@qemu
def test_extra_arguments_reach_qemu(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    elf = link(board.name, tmp_path, ECHO)
    log = tmp_path / "qemu.log"
    with open_emulator(board, elf, extra_args=["-d", "in_asm", "-D", str(log)]) as emulator:
        assert Line(emulator).receive(6) == b"hello\n"
    assert "mcu_firmware_main" in log.read_text()


@pytest.mark.matrix
@renode
def test_extra_arguments_reach_renode(tmp_path: Path) -> None:
    board = load_board("stm32f746")
    elf = link(board.name, tmp_path, ECHO)
    pid_file = tmp_path / "renode.pid"
    arguments = ["--pid-file", str(pid_file)]
    with open_emulator(board, elf, extra_args=arguments) as emulator:
        assert Line(emulator).receive(6) == b"hello\n"
        assert is_alive(int(pid_file.read_text()))


@qemu
def test_an_emulator_that_does_not_start_says_why(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    elf = link(board.name, tmp_path, ECHO)
    with (
        pytest.raises(ToolError, match=r"QEMU did not start .*exit code 1.*no-such-option"),
        open_emulator(board, elf, extra_args=["-no-such-option"]),
    ):
        pytest.fail("it started")


@qemu
def test_an_emulator_that_dies_at_work_says_why(tmp_path: Path) -> None:
    """A file that is no firmware: QEMU sees that only when its machine starts."""
    board = load_board("mps2-an386")
    broken = tmp_path / "firmware.elf"
    broken.write_bytes(b"\0" * 64)
    with (
        pytest.raises(ToolError, match=r"QEMU was ended by SIGABRT .*Lockup.* while it ran"),
        open_emulator(board, broken) as emulator,
    ):
        Line(emulator).receive(1)


@pytest.mark.matrix
@renode
def test_renode_names_what_it_cannot_load(tmp_path: Path) -> None:
    broken = tmp_path / "firmware.elf"
    broken.write_bytes(b"no ELF")
    with (
        pytest.raises(ToolError, match=r"Renode did not start firmware.elf .*Could not load ELF"),
        open_emulator(load_board("stm32f746"), broken),
    ):
        pytest.fail("it started")


def test_a_firmware_that_is_not_there(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match=r"absent\.elf is no file\. Build the firmware"),
        open_emulator(load_board("mps2-an386"), tmp_path / "absent.elf"),
    ):
        pytest.fail("it started")
