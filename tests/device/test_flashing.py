"""A person's board, played by an emulator behind its GDB server: flash, find the port, test."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import call
from emulated_firmware import ECHO, link
from serial.tools import list_ports

from mcu_deploy.boards import load_board
from mcu_deploy.device import connect
from mcu_deploy.device.emulators import Emulator, open_emulator

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_gdb]

BOARD = """
inherits = "{base}"
name = "mine"
usb = ["1209:0001"]

[runners.gdb]
before = "{before}"
"""
# Renode's server stops the program where it is; QEMU is started with the core in its reset.
EMULATORS = [
    pytest.param("qemu", "mps2-an386", "echo flashing", marks=pytest.mark.needs_qemu),
    pytest.param(
        "renode", "netduinoplus2", "monitor machine Reset",
        marks=[pytest.mark.needs_renode, pytest.mark.matrix],
    ),
]  # fmt: skip


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def _board_with_another_program(
    emulator: str, base: str, folder: Path
) -> Iterator[tuple[str, str]]:
    """The URL of its serial line, and the address of its GDB server."""
    elf = link(base, folder, ECHO)
    server = f"127.0.0.1:{_free_port()}"
    told = {
        "qemu": ["-S", "-gdb", f"tcp:{server}"],
        "renode": ["-e", f"machine StartGdbServer {server.partition(':')[2]}"],
    }[emulator]
    with open_emulator(load_board(base), elf, emulator=emulator, extra_args=told) as running:
        if emulator == "qemu":  # whose GDB server comes after the serial line's first client
            host, _, port = running.url.removeprefix("socket://").partition(":")
            with socket.create_connection((host, int(port))):
                _wait_for(server, running)
        yield running.url, server


def _wait_for(server: str, running: Emulator) -> None:
    """Until it listens; looked up without connecting, which the server would take for GDB."""
    wanted = f"0100007F:{int(server.partition(':')[2]):04X}"
    while wanted not in Path("/proc/net/tcp").read_text():
        assert running.process.is_running, "QEMU has ended before its GDB server listened"
        time.sleep(0.01)


@pytest.mark.parametrize(("emulator", "base", "before"), EMULATORS)
def test_one_command_for_a_person_with_a_board(
    emulator: str,
    base: str,
    before: str,
    tmp_path: Path,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The board runs another program; after the command it has run, and measured, the build."""
    file = tmp_path / "board.toml"
    file.write_text(BOARD.format(base=base, before=before))
    model = repository / "tests" / "golden" / "residual.onnx"
    built = call("build", model, "--board", file, "--name", "small", "-o", tmp_path / "built")
    assert built.returncode == 0, built.stderr
    report = tmp_path / "report.md"
    with _board_with_another_program(emulator, base, tmp_path) as (url, server):
        found = SimpleNamespace(
            device=url, vid=0x1209, pid=1, serial_number="7", description="emulated"
        )
        monkeypatch.setattr(list_ports, "comports", lambda: [found])
        done = call("field-test", tmp_path / "built", "--probe", server, "-o", report, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        result = json.loads(done.stdout)
        assert result["passed"]
        assert (result["port"], result["flash"]["runner"]) == (url, "gdb")
        (network,) = result["networks"]
        assert network["validation"]["verdict"] == "passed"
        assert network["profile"]["total"] > 0
        assert network["profile"]["milliseconds"] > 0
        text = report.read_text()
        assert text.startswith("# Field test of small on mine: passed\n")
        assert f"target extended-remote {server}" in text
        assert "| host | " in text
        # The program is in memory to the byte: what it runs says so of itself, and GDB compares.
        with connect(url) as device:
            assert device.models[0].object_sha256 == network["object_sha256"]
        # Another build of the model is refused, and is what the report is about then.
        again = call("build", model, "--board", file, "--name", "small", "-o", tmp_path / "other",
                     "--backend", "CpuRef")  # fmt: skip
        assert again.returncode == 0, again.stderr
        done = call("field-test", tmp_path / "other", "--no-flash", "-o", report)
        assert done.returncode == 1
        assert "another build of the same model file" in done.stdout
        assert "# Field test of no network on mine: FAILED" in report.read_text()
        done = call("run", tmp_path / "other", "--input", _samples(tmp_path), "--port", "auto")
        assert "load firmware.elf of this build" in done.stderr


def _samples(folder: Path) -> Path:
    import numpy as np
    import onnx

    model = onnx.load(Path(__file__).parents[1] / "golden" / "residual.onnx")
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    kind = onnx.helper.tensor_dtype_to_np_dtype(model.graph.input[0].type.tensor_type.elem_type)
    np.savez(folder / "in.npz", in0=np.zeros([1, *shape], kind))
    return folder / "in.npz"


@pytest.mark.needs_qemu
def test_a_board_that_cannot_be_flashed_still_gives_a_report(
    tmp_path: Path, repository: Path
) -> None:
    file = tmp_path / "board.toml"
    file.write_text(BOARD.format(base="mps2-an386", before="echo x"))
    model = repository / "tests" / "golden" / "residual.onnx"
    assert call("build", model, "--board", file, "-o", tmp_path / "built").returncode == 0
    server = tmp_path / "no_such_device"
    report = tmp_path / "report.md"
    done = call("field-test", tmp_path / "built", "--probe", server, "-o", report)
    assert done.returncode == 1
    assert "GDB reached no server (it said: " in report.read_text()
    assert "| port | not reached |" in report.read_text()
    for program in (tmp_path / "built", tmp_path / "built" / "bench.elf"):
        shown = call("flash", program, "--probe", server, "--dry-run")
        assert f"-ex 'target extended-remote {server}' -ex 'echo x' -ex load" in shown.stdout
    shutil.copy(tmp_path / "built" / "bench.elf", tmp_path)
    nowhere = call("image", tmp_path / "bench.elf", "-o", tmp_path / "x.bin")
    assert nowhere.returncode == 2
    assert "lies in no build folder, which would say which board" in nowhere.stderr
