"""mcu-deploy doctor: what it says of this machine, of probes, and of what is behind a port."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import subprocess
import termios
import threading
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import call
from device.protocol_lab import build_host_firmware

from mcu_deploy.api.doctor import Diagnosis, doctor, line, probes
from mcu_deploy.boards import load_board
from mcu_deploy.device import ExpectedModel

SPEEDS = {115200: termios.B115200, 9600: termios.B9600}


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_host_firmware(tmp_path_factory.mktemp("doctor"))


@contextlib.contextmanager
def _terminal(serve: Callable[[int, threading.Event], None]) -> Iterator[str]:
    """A terminal device, at whose other end `serve` is."""
    other, end = pty.openpty()
    tty.setraw(end)
    stop = threading.Event()
    thread = threading.Thread(target=serve, args=(other, stop), daemon=True)
    thread.start()
    try:
        yield os.ttyname(end)
    finally:
        stop.set()
        thread.join(5)
        os.close(end)
        os.close(other)


def _board(elf: Path, baud: int) -> Callable[[int, threading.Event], None]:
    """The firmware, at a line that carries garbage while the terminal has another speed."""

    def serve(other: int, stop: threading.Event) -> None:
        with subprocess.Popen(
            [elf, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        ) as process:
            assert process.stdin is not None and process.stdout is not None
            ends = {other: process.stdin.fileno(), process.stdout.fileno(): other}
            while not stop.is_set():
                for end in select.select(list(ends), [], [], 0.02)[0]:
                    data = os.read(end, 4096)
                    if termios.tcgetattr(other)[4] != SPEEDS[baud]:
                        data = bytes(byte | 0x81 for byte in data[::8])
                    os.write(ends[end], data)
            process.kill()

    return serve


def _nothing(other: int, stop: threading.Event) -> None:
    stop.wait()


def _text(other: int, stop: threading.Event) -> None:
    while not stop.wait(0.02):
        os.write(other, b"Hello from the factory demo!\r\n")


def _echo(other: int, stop: threading.Event) -> None:
    while not stop.is_set():
        if select.select([other], [], [], 0.02)[0]:
            os.write(other, os.read(other, 4096))


@pytest.mark.needs_host_gcc
def test_a_board_answers(firmware: Path) -> None:
    with _terminal(_board(firmware, 115200)) as port:
        finding = line(port, None)
    assert finding.state == "good"
    assert "host answers at 115200 baud, with mini" in finding.said


@pytest.mark.needs_host_gcc
def test_another_speed_is_found(firmware: Path) -> None:
    with _terminal(_board(firmware, 9600)) as port:
        finding = line(port, 115200)
    assert finding.state == "wrong"
    assert "it speaks 9600 baud, not 115200: host answers" in finding.said
    assert "--baud 9600" in finding.remedy


@pytest.mark.needs_host_gcc
def test_another_model_is_told_from_silence(firmware: Path) -> None:
    with _terminal(_board(firmware, 115200)) as port:
        finding = line(port, None, expect=[ExpectedModel("kws", "0" * 64, "0" * 64)])
    assert finding.state == "wrong"
    assert "kws" in finding.said and "mini" in finding.said


@pytest.mark.parametrize(
    ("serve", "said"),
    [(_nothing, "No byte came from"), (_text, "prints text (")],
)
def test_what_does_not_speak_the_protocol_is_said(
    serve: Callable[[int, threading.Event], None], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcu_deploy.api.doctor.BAUDS", (9600,))  # each costs a second of silence
    with _terminal(serve) as port:
        finding = line(port, None)
    assert finding.state == "wrong" and said in finding.said


def test_an_echo_is_said_and_no_other_speed_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcu_deploy.api.doctor.BAUDS", None)
    with _terminal(_echo) as port:
        finding = line(port, None)
    assert finding.state == "wrong" and "echoes what is sent to it" in finding.said


def test_a_port_that_is_not_there_is_said(tmp_path: Path) -> None:
    finding = line(str(tmp_path / "ttyACM0"), None)
    assert finding.state == "wrong" and "Cannot open" in finding.said


def _probe(folder: Path, nodes: Path, product: str, number: int) -> Path:
    """As the kernel shows a USB device, and its node."""
    folder.mkdir(parents=True)
    values = {
        "product": product, "idVendor": "0483", "idProduct": "374b", "serial": "066BFF",
        "busnum": "1", "devnum": str(number),
    }  # fmt: skip
    for name, value in values.items():
        (folder / name).write_text(f"{value}\n")
    node = nodes / "001" / f"{number:03}"
    node.parent.mkdir(parents=True, exist_ok=True)
    node.touch()
    return node


def test_probes_are_told_from_other_devices(tmp_path: Path) -> None:
    devices, nodes = tmp_path / "devices", tmp_path / "nodes"
    _probe(devices / "1-1", nodes, "STM32 STLink", 7)
    _probe(devices / "1-2", nodes, "USB Keyboard", 8)
    assert list(probes(devices, nodes)) == [
        Diagnosis("debug probe", "good", "STM32 STLink, 0483:374b, serial number 066BFF")
    ]


def test_a_probe_that_may_not_be_opened_is_wrong(tmp_path: Path) -> None:
    devices, nodes = tmp_path / "devices", tmp_path / "nodes"
    node = _probe(devices / "1-1", nodes, "DAPLink CMSIS-DAP", 9)
    node.unlink()  # root may open whatever is there
    (finding,) = probes(devices, nodes)
    assert finding.state == "wrong" and f"you may not open {node}" in finding.said
    assert "udev" in finding.remedy


@pytest.mark.needs_arm_gcc
def test_a_board_is_examined_for_what_it_needs() -> None:
    findings = list(doctor(load_board("mps2-an386")))
    subjects = [finding.subject for finding in findings]
    assert "compiler for Cortex-M" in subjects and "QEMU" in subjects
    assert "compiler of this machine" not in subjects and "Renode" not in subjects


def test_without_a_compiler_it_says_so_and_ends_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = call("doctor", "--json", cwd=tmp_path)
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    (compiler,) = [f for f in answer["findings"] if f["subject"] == "compiler for Cortex-M"]
    assert compiler["state"] == "wrong" and "sudo apt install" in compiler["said"]
    assert answer["is_well"] is False


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Puts a shell script of a name before what is on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def put(name: str, script: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    yield put


def _found(board: str | None, subject: str) -> Diagnosis:
    findings = doctor(load_board(board) if board else None)
    return next(finding for finding in findings if finding.subject == subject)


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize(
    ("script", "state", "said"),
    [
        ("echo QEMU emulator version 8.2.2", "good", "8.2.2"),
        ("echo QEMU emulator version 6.2.0", "wrong", "is older than 7.2, the oldest that was"),
        ("echo no libfoo.so.1 >&2; exit 127", "wrong", "gives no version but: no libfoo.so.1"),
        ("sleep 600", "wrong", "took longer than 0.2 seconds"),
        ("kill -SEGV $$", "wrong", "gives no version but: nothing"),
    ],
)
def test_an_emulator_is_run_and_its_age_is_told(
    tools: Callable[[str, str], None],
    script: str,
    state: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "sleep" in script:
        monkeypatch.setattr("mcu_deploy.device.emulators.qemu._START_SECONDS", 0.2)
    tools("qemu-system-arm", script)
    finding = _found("mps2-an386", "QEMU")
    assert (finding.state, said in finding.said) == (state, True), finding
    assert bool(finding.remedy) == (state == "wrong")


def test_renode_is_run(tools: Callable[[str, str], None]) -> None:
    """As 1.16.1 says it, which writes its settings where it is told to."""
    tools(
        "renode", 'mkdir "$XDG_CONFIG_HOME/renode" && echo "Renode v1.15.3.26" && echo "  build: 1"'
    )
    finding = _found("stm32f746", "Renode")
    assert finding.state == "wrong" and finding.said.startswith("1.15.3.26 (")
    assert "older than 1.16.1" in finding.said


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("case $1 in --version) echo 'arm-none-eabi-gcc (x) 10.3.1';; esac", "older than 12.2"),
        (
            "case $1 in --version) echo 'arm-none-eabi-gcc (x) 13.2.1';; "
            "-mcpu*|-wrapper) echo 'cc1: error: no libisl.so' >&2; exit 1;; esac",
            "three lines of C do not compile for board mps2-an386: cc1: error: no libisl.so",
        ),
    ],
)
@pytest.mark.needs_arm_gcc
def test_a_compiler_is_tried_out(
    tools: Callable[[str, str], None], script: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcu_deploy.api.doctor._LIBRARIES", ())
    tools("arm-none-eabi-gcc", script)
    finding = _found("mps2-an386", "compiler for Cortex-M")
    assert finding.state == "wrong" and said in finding.said, finding


def test_what_a_board_cannot_do_without_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a board it is only not there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MCU_DEPLOY_RENODE", raising=False)
    assert _found(None, "Renode").state == "absent"
    assert _found("stm32f746", "Renode").state == "wrong"
    assert _found("stm32f746", "runner openocd").state == "wrong"
    assert _found("mps2-an386", "QEMU").state == "wrong"


@pytest.mark.needs_qemu
def test_with_an_emulator_a_board_does_without_flashing_tools(
    tools: Callable[[str, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools("renode", "echo Renode v1.16.1.11450")
    found = {finding.subject: finding for finding in doctor(load_board("stm32f407"))}
    assert found["Renode"].state == "good"
    assert all(finding.state != "wrong" for name, finding in found.items() if "runner" in name)


def test_a_flashing_tool_that_does_not_run_is_wrong(tools: Callable[[str, str], None]) -> None:
    tools("st-flash", "echo libstlink.so.1 is missing >&2; exit 127")
    finding = _found("stm32f746", "runner stlink")
    assert finding.state == "wrong" and "libstlink.so.1 is missing" in finding.said


def test_the_shell_completes_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_MCU_DEPLOY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "mcu-deploy build m.onnx --board mps2-an38")
    monkeypatch.setenv("COMP_CWORD", "4")
    assert call().stdout.split() == ["mps2-an385", "mps2-an386"]
