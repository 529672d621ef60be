"""A serial line in words: frames, faults, text, and what is none of these."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
import sys

import pytest

from mcu_deploy.device.line.codes import REPLY, Type
from mcu_deploy.device.line.framing import Frame, FrameReader, encode_frame
from mcu_deploy.device.line.models import ExpectedModel
from mcu_deploy.device.line.monitor import Monitor

HELLO = struct.pack("<BBHIIIIIIH", 2, 1, 1024, 512, 0, 1, 16_000_000, 115_200, 8192, 1)
HELLO += b"\x05board" + b"\x09cortex-m4"
MODEL = struct.pack("<HHHHHHHIII", 0, 1, 2, 3, 0, 0, 0, 4096, 100, 1) + bytes(64) + b"\x03kws"
FAULT = struct.pack("<4I", 1, 8, 3, 0x2000_0100) + struct.pack("<I", 0x0800_1234)


def _event(kind: int, payload: bytes = b"", seq: int = 0) -> bytes:
    return encode_frame(Frame(kind, seq, payload))


def _asked(monitor: Monitor) -> list[int]:
    return [frame.type for frame in FrameReader().feed(monitor.to_send())]


def test_a_device_is_asked_who_it_is_and_again_when_it_restarts() -> None:
    monitor = Monitor()
    assert _asked(monitor) == [Type.HELLO]
    assert _asked(monitor) == []
    (line,) = monitor.feed(_event(Type.HELLO + REPLY, HELLO, 1))
    assert line.startswith(
        "hello: board board, cortex-m4 at 16,000,000 Hz, counter of cycles, 1 mod"
    )
    assert _asked(monitor) == [Type.DESCRIBE]
    (line,) = monitor.feed(_event(Type.DESCRIBE + REPLY, MODEL, 2))
    assert line.startswith(
        "model 0: kws, 1 in, 2 out, 3 layers, arena 4,096 bytes, model file 0000"
    )
    assert monitor.feed(_event(Type.HELLO + REPLY, HELLO, 3)) == []
    assert monitor.feed(_event(Type.READY, b"\2")) == [
        "ready: the device has started (protocol version 2)"
    ]
    assert _asked(monitor) == [Type.HELLO]
    assert len(monitor.feed(_event(Type.HELLO + REPLY, HELLO, 4))) == 1


def test_another_model_than_was_built_is_said() -> None:
    built = [ExpectedModel("kws", "00" * 32, "00" * 32)]
    for expect, said in (built, 0), ([ExpectedModel("vww", "00" * 32, "00" * 32)], 1):
        monitor = Monitor(expect=expect)
        monitor.feed(_event(Type.HELLO + REPLY, HELLO, 1))
        _, *other = monitor.feed(_event(Type.DESCRIBE + REPLY, MODEL, 2))
        assert len(other) == said
        assert all("has kws, not vww" in line for line in other)


def test_events_faults_and_errors_in_words() -> None:
    monitor = Monitor(asks=False)
    assert _asked(monitor) == []
    said = {
        _event(Type.LOG, b"one\ntwo"): ["log: one", "log: two"],
        _event(Type.BUSY, b"\0\0\5\0"): ["busy: model 0 runs, 5 layers are finished"],
        _event(Type.FAULT, FAULT): ["fault: a read from a bad address at PC 0x08001234"],
        _event(Type.PING + REPLY, b"", 3): ["reply to PING, 0 bytes"],
        _event(0x33, b"abc"): ["request number 51, 3 bytes"],
    }
    for data, expected in said.items():
        assert monitor.feed(data) == expected
    error = struct.pack("<HHi", 4, Type.RUN, 7) + b"no such model"
    (line,) = monitor.feed(_event(Type.ERROR, error))
    assert line == "The device refused the request RUN: no such model (NO_SUCH_MODEL, 7)."
    (line,) = monitor.feed(_event(Type.FAULT, b"\1"))
    assert "FAULT frame of only 1 bytes" in line
    (line,) = monitor.feed(encode_frame(Frame(Type.PING, 1, b"", version=9)))
    assert "version 9 of the protocol" in line


def test_text_of_another_program_and_noise() -> None:
    monitor = Monitor()
    assert monitor.feed(b"booting\r\nhel") == ["booting"]
    assert monitor.flush() == ["hel"]
    assert monitor.feed("größe\n\n".encode()) == ["größe"]
    assert monitor.feed(b"\x1b[31mred\n") == ["\\x1b[31mred"]
    assert monitor.feed(b"text" + _event(Type.LOG, b"x")) == ["text", "log: x"]
    assert monitor.feed(b"\xff\x01\x02\0") == ["3 bytes that are no frame: ff 01 02"]
    assert monitor.feed(bytes([255]) * 20 + b"\0")[0].endswith("ff ...")
    assert len(monitor.feed(b"\xfe" * 70_000)) == 1  # no end of it is waited for


@pytest.mark.parametrize("step", [1, 3, 64])
def test_it_does_not_matter_in_which_pieces_bytes_come(step: int) -> None:
    data = b"starts\n" + _event(Type.LOG, b"a\nb") + _event(Type.FAULT, FAULT) + b"ends\n"
    monitor, lines = Monitor(), []
    for at in range(0, len(data), step):
        lines += monitor.feed(data[at : at + step])
    assert lines == [
        "starts", "log: a", "log: b", "fault: a read from a bad address at PC 0x08001234", "ends",
    ]  # fmt: skip


def test_the_command_ends_by_ctrl_c() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        process = subprocess.Popen(
            [sys.executable, "-m", "mcu_deploy", "monitor", "--port", url],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            # a job in the background ignores it, and so would what it starts
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        assert process.stdout is not None
        line, _ = server.accept()
        with line:
            assert [f.type for f in FrameReader().feed(line.recv(4096))] == [Type.HELLO]
            line.sendall(_event(Type.FAULT, FAULT))
            assert process.stdout.readline() == f"{url}, 115,200 baud; Ctrl-C ends\n"
            assert process.stdout.readline().startswith("The device stopped: a read from")
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0
