"""What the host says of devices that do not answer, and of those that go wrong on the way."""

from __future__ import annotations

import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from device.protocol_lab import server

from mcu_deploy.device import Device, DeviceFault, connect
from mcu_deploy.device.framing import PROTOCOL_VERSION, Frame, FrameReader, encode_frame
from mcu_deploy.device.link import DeviceRestarted
from mcu_deploy.device.protocol import Type
from mcu_deploy.device.transport import LineClosed
from mcu_deploy.errors import DeviceError

HELLO = (
    struct.pack("<BBHIIIIIIH", PROTOCOL_VERSION, 0, 1024, 0, 63, 1, 0, 115200, 1024, 0)
    + b"\4fake\4none"
)


def frame(kind: int, seq: int, payload: bytes = b"", version: int = PROTOCOL_VERSION) -> bytes:
    return encode_frame(Frame(kind, seq, payload, version))


@contextmanager
def fake(answer: Callable[[Frame], bytes], greeting: bytes = b"") -> Iterator[str]:
    """A device that says HELLO right, and to everything else what `answer` says."""

    def serve(client: socket.socket, stop: threading.Event) -> None:
        client.settimeout(0.05)
        client.sendall(greeting)
        reader = FrameReader()
        while not stop.is_set():
            try:
                data = client.recv(4096)
            except TimeoutError:
                continue
            if not data:
                return
            for request in reader.feed(data):
                if request.type == Type.HELLO:
                    client.sendall(frame(0x81, request.seq, HELLO))
                else:
                    client.sendall(answer(request))

    with server(serve) as url:
        yield url


@contextmanager
def talking(data: bytes) -> Iterator[str]:
    """Something that sends `data` again and again, whatever it is asked."""

    def serve(client: socket.socket, stop: threading.Event) -> None:
        while not stop.wait(0.02):
            client.sendall(data)

    with server(serve) as url:
        yield url


def diagnosis(url: str) -> str:
    with pytest.raises(DeviceError) as error:
        connect(url, latency=0.05)
    return str(error.value)


def test_silence() -> None:
    with talking(b"") as url:
        assert "No byte came from socket://" in (said := diagnosis(url))
        assert "after 3 attempts" in said and "load firmware.elf" in said


def test_text() -> None:
    with talking(b"Hello world, I am a blinky!\r\n") as url:
        assert "prints text ('" in (said := diagnosis(url))
        assert "I am a blinky!" in said


def test_garbage_is_taken_for_a_wrong_baud_rate() -> None:
    with talking(random.Random(3).randbytes(300)) as url:
        assert "no valid frame after 3 attempts: the baud rate is not" in diagnosis(url)


def test_another_version_of_the_protocol() -> None:
    with talking(frame(0x81, 1, b"", version=9)) as url:
        assert "speaks version 9 of the protocol, this mcu-deploy version 2" in diagnosis(url)


def test_valid_frames_but_no_answer() -> None:
    with (
        fake(lambda request: b"") as url,
        connect(url, latency=0.05) as device,
        pytest.raises(DeviceError, match="did not answer ECHO after 3 attempts"),
    ):
        device.echo(b"x")


def test_a_device_that_faults_at_its_start_is_named_so() -> None:
    fault = frame(Type.FAULT, 0, struct.pack("<5I", 1, 7, 4, 0x20000000, 0x1000))
    with talking(fault) as url:
        assert "a stack overflow at PC 0x00001000" in diagnosis(url)


def test_an_old_fault_on_the_line_does_not_disturb_the_greeting() -> None:
    fault = frame(Type.FAULT, 0, struct.pack("<4I", 0, 1, 3, 0))
    greeting = b"boot noise\r\n" + fault + frame(Type.READY, 0, b"\1")
    with fake(lambda request: b"", greeting) as url, connect(url, latency=0.2) as device:
        assert device.hello.board == "fake"


def test_nonsense_in_a_reply_is_a_sentence() -> None:
    with (
        fake(lambda request: frame(request.type + 0x80, request.seq, b"x")) as url,
        connect(url) as device,
        pytest.raises(DeviceError, match="SELF_TEST reply makes no sense: it ends after 1 byte"),
    ):
        device.self_test()


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (frame(Type.READY, 0, b"\1"), DeviceRestarted),
        (frame(Type.FAULT, 0, struct.pack("<4I", 0, 2, 3, 0)), DeviceFault),
    ],
)
def test_events_in_place_of_a_reply(event: bytes, error: type[DeviceError]) -> None:
    with fake(lambda request: event) as url, connect(url) as device, pytest.raises(error):
        device.echo(b"x")


def test_late_and_foreign_replies_are_passed_over() -> None:
    def answer(request: Frame) -> bytes:
        stale = frame(request.type + 0x80, request.seq - 1, b"old")
        return stale + frame(0xFF, request.seq - 1, bytes(8)) + frame(0x83, request.seq, b"new")

    with fake(answer) as url, connect(url) as device:
        assert device.echo(b"new") == b"new" and device.resent == 0


def run_of(device: Device) -> None:
    device._link.request(Type.RUN, bytes(8), patient=True)


def test_signs_of_life_keep_the_time_out_away_but_not_for_ever() -> None:
    """A device that is at work does not even answer PING."""
    began: list[float] = []

    def answer(request: Frame) -> bytes:
        if request.type == Type.RUN and not began:
            began.append(time.monotonic())
            return frame(Type.BUSY, request.seq, bytes(4))
        if request.type == Type.RUN or time.monotonic() - began[0] < 0.5:
            return b""
        return frame(0x82, request.seq) if request.type == Type.PING else b""

    with fake(answer) as url, connect(url, latency=0.05, run_timeout=0.7) as device:
        with pytest.raises(DeviceError, match="did not answer RUN"):
            run_of(device)
        assert 0.5 < time.monotonic() - began[0] < 5
        assert device.resent <= 2


def test_a_line_that_is_cut_is_said() -> None:
    def serve(client: socket.socket, stop: threading.Event) -> None:
        client.recv(10)

    with server(serve) as url, pytest.raises(LineClosed, match="was closed"):
        connect(url, latency=0.1)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("/dev/ttyDoesNotExist", "there is no such port"),
        ("socket://127.0.0.1:1", "nothing listens there: start the emulator first"),
        ("gopher://x", "give a port"),
        ("socket://nowhere", "give a port"),
    ],
)
def test_lines_that_cannot_be_opened(url: str, said: str) -> None:
    with pytest.raises(DeviceError, match="Cannot open") as error:
        connect(url)
    assert said in str(error.value)


def test_a_file_is_no_serial_port(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    with pytest.raises(DeviceError, match="Cannot open"):
        connect(str(tmp_path / "x"))
