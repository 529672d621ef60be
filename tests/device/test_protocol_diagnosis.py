"""What the host says of devices that do not answer, and of those that go wrong on the way."""

from __future__ import annotations

import random
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from device.damaged_line import VirtualLine, device_on
from device.protocol_lab import server

from mcu_deploy.device import DeviceFault, connect
from mcu_deploy.device.line.codes import Type
from mcu_deploy.device.line.framing import PROTOCOL_VERSION, Frame, FrameReader, encode_frame
from mcu_deploy.device.line.transfers import read_tensor
from mcu_deploy.device.line.transport import LineClosed
from mcu_deploy.device.line.wire import DeviceRestarted, NoAnswer
from mcu_deploy.errors import DeviceError, UsageError

HELLO = (
    struct.pack("<BBHIIIIIIH", PROTOCOL_VERSION, 0, 1024, 0, 63, 1, 0, 115200, 1024, 0)
    + b"\4fake\4none"
)


def frame(kind: int, seq: int, payload: bytes = b"", version: int = PROTOCOL_VERSION) -> bytes:
    return encode_frame(Frame(kind, seq, payload, version))


class Fake(VirtualLine):
    """A device that says HELLO right, and to everything else what `reply` says."""

    def __init__(self, reply: Callable[[Frame], bytes], greeting: bytes = b"") -> None:
        super().__init__("fake")
        self._reply, self._reader = reply, FrameReader()
        self.say(greeting)

    def answer(self, data: bytes) -> None:
        for request in self._reader.feed(data):
            if request.type == Type.HELLO:
                self.say(frame(0x81, request.seq, HELLO))
            else:
                self.say(self._reply(request))


class Talker(VirtualLine):
    """Something that sends `data` each 20 ms, whatever it is asked."""

    def __init__(self, data: bytes) -> None:
        super().__init__("talker")
        self._data, self._next = data, 0.0

    def answer(self, data: bytes) -> None:
        pass

    def read(self, timeout: float) -> bytes:
        if not self._data or self.now() + timeout < self._next:
            return super().read(timeout)
        self._time = max(self._time, self._next)
        self._next = self._time + 0.02
        return self._data


def silent(request: Frame) -> bytes:
    return b""


def diagnosis(data: bytes) -> str:
    with pytest.raises(DeviceError) as error:
        device_on(Talker(data))
    return str(error.value)


def test_silence() -> None:
    assert "No byte came from talker" in (said := diagnosis(b""))
    assert "after 10 attempts" in said and "load firmware.elf" in said
    line = Talker(b"")
    with pytest.raises(DeviceError, match="No byte came"):
        device_on(line, retries=1, latency=2.0)
    assert 2.0 <= line.now() < 4.0  # it has its time, however few retries


def test_who_looks_at_an_emulator_is_not_sent_to_its_cable() -> None:
    for data, came in (
        (b"", "No byte came from"),
        (b"text\r\n", "bytes, but no valid frame, came"),
    ):
        line = Talker(data)
        line.emulator = "Renode"
        with pytest.raises(DeviceError, match=came) as error:
            device_on(line)
        said = str(error.value)
        assert "the firmware in Renode after" in said and "emulators.md" in said
        assert "cable" not in said and "baud" not in said and "port" not in said


def test_text() -> None:
    assert "prints text ('" in (said := diagnosis(b"Hello world, I am a blinky!\r\n"))
    assert "I am a blinky!" in said


def test_garbage_is_taken_for_a_wrong_baud_rate() -> None:
    said = diagnosis(random.Random(3).randbytes(300))
    assert "no valid frame after 30 attempts: the baud rate is not" in said


class Echo(VirtualLine):
    """A line whose other end sends back what comes."""

    def __init__(self, zero: bytes = b"\0") -> None:
        super().__init__("echo")
        self._zero = zero

    def answer(self, data: bytes) -> None:
        self.say(data.replace(b"\0", self._zero))


@pytest.mark.parametrize("latency", [0.5, 3.0, 600.0])
@pytest.mark.parametrize("zero", [b"\0", b"^@"])
def test_an_echo_is_named_within_ten_seconds(zero: bytes, latency: float) -> None:
    line = Echo(zero)
    with pytest.raises(NoAnswer, match="echoes what is sent to it, and nothing else came"):
        device_on(line, latency=latency)
    assert line.now() < 10.0


def test_a_device_behind_an_echo_is_used() -> None:
    """As where the two data wires are one (RS-485, a smartcard's line)."""

    class Both(Fake):
        def answer(self, data: bytes) -> None:
            self.say(data)
            super().answer(data)

    device = device_on(Both(lambda request: frame(0x83, request.seq, request.payload)))
    assert device.echo(b"there and back") == b"there and back" and device.resent == 0


def test_another_version_of_the_protocol() -> None:
    said = diagnosis(frame(0x81, 1, b"", version=9))
    assert "speaks version 9 of the protocol, this mcu-deploy version 2" in said


def test_valid_frames_but_no_answer() -> None:
    device = device_on(Fake(silent))
    with pytest.raises(DeviceError, match="did not answer ECHO after 10 attempts"):
        device.echo(b"x")


def test_a_device_that_answers_ping_alone() -> None:
    def answer(request: Frame) -> bytes:
        return frame(0x82, request.seq) if request.type == Type.PING else b""

    with pytest.raises(DeviceError, match="did not answer ECHO after 100 attempts"):
        device_on(Fake(answer)).echo(b"x")
    with pytest.raises(DeviceError, match="did not answer ECHO after 7 attempts"):
        device_on(Fake(answer), retries=7).echo(b"x")


def test_a_device_that_starts_again_and_again() -> None:
    class Looping(VirtualLine):
        def answer(self, data: bytes) -> None:
            self.say(frame(Type.READY, 0, b"\2"), after=0.01)

    with pytest.raises(DeviceError, match="HELLO after 100 attempts, although frames come from"):
        device_on(Looping())


def test_a_device_that_faults_at_its_start_is_named_so() -> None:
    fault = frame(Type.FAULT, 0, struct.pack("<5I", 1, 7, 4, 0x20000000, 0x1000))
    assert "a stack overflow at PC 0x00001000" in diagnosis(fault)


def test_a_device_that_always_faults_at_its_start_is_given_up_soon() -> None:
    class Faulting(VirtualLine):
        def answer(self, data: bytes) -> None:
            self.say(frame(Type.FAULT, 0, struct.pack("<5I", 1, 7, 4, 0x20000000, 0x1000)))
            self.say(frame(Type.READY, 0, b"\2"), after=0.01)

    line = Faulting()
    with pytest.raises(DeviceError, match="a stack overflow at PC 0x00001000"):
        device_on(line)
    assert line.sent < 10 * 20  # requests; a hundred would be tried


def test_an_old_fault_on_the_line_does_not_disturb_the_greeting() -> None:
    fault = frame(Type.FAULT, 0, struct.pack("<4I", 0, 1, 3, 0))
    greeting = b"boot noise\r\n" + fault + frame(Type.READY, 0, b"\1")
    assert device_on(Fake(silent, greeting)).hello.board == "fake"


def test_nonsense_in_a_reply_is_a_sentence() -> None:
    device = device_on(Fake(lambda request: frame(request.type + 0x80, request.seq, b"x")))
    with pytest.raises(DeviceError, match="SELF_TEST reply makes no sense: it ends after 1 byte"):
        device.self_test()


def test_a_tensor_that_is_not_what_the_device_holds_is_not_given_out() -> None:
    """A damaged frame passes its CRC-32 once in four thousand million times."""

    def answer(request: Frame) -> bytes:
        numbers = struct.pack("<II", 0, 4)
        return frame(
            request.type + 0x80, request.seq, numbers + b"abcd" * (request.type == Type.READ)
        )

    with pytest.raises(DeviceError, match="not the tensor of 4 bytes that the device holds"):
        read_tensor(device_on(Fake(answer))._link, bytes(8))


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (frame(Type.READY, 0, b"\1"), DeviceRestarted),
        (frame(Type.FAULT, 0, struct.pack("<4I", 0, 2, 3, 0)), DeviceFault),
    ],
)
def test_events_in_place_of_a_reply(event: bytes, error: type[DeviceError]) -> None:
    with pytest.raises(error):
        device_on(Fake(lambda request: event)).echo(b"x")


def test_late_and_foreign_replies_are_passed_over() -> None:
    def answer(request: Frame) -> bytes:
        stale = frame(request.type + 0x80, request.seq - 1, b"old")
        return stale + frame(0xFF, request.seq - 1, bytes(8)) + frame(0x83, request.seq, b"new")

    device = device_on(Fake(answer))
    assert device.echo(b"new") == b"new" and device.resent == 0


class Worker(Fake):
    """A device whose first run takes `seconds`; meanwhile it says BUSY, and takes nothing in."""

    def __init__(self, seconds: float, every: float) -> None:
        super().__init__(self.work)
        self._seconds, self._every = seconds, every
        self._free = 0.0
        self.runs = 0

    def work(self, request: Frame) -> bytes:
        wait = max(self._free - self.now(), 0.0)
        if request.type == Type.RUN:
            self.runs += 1
            self._free = self.now() + self._seconds
            self._coming += [
                (self.now() + number * self._every, frame(Type.BUSY, request.seq, bytes(4)))
                for number in range(int(self._seconds / self._every))
            ]
            wait = self._seconds
        self.say(frame(request.type + 0x80, request.seq), after=wait)
        return b""


def test_a_long_run_is_waited_for_and_hardly_disturbed() -> None:
    line = Worker(600.0, 0.1)
    device = device_on(line)
    before = line.sent
    device._link.request(Type.RUN, bytes(8), patient=True)
    assert line.runs == 1 and device.resent == 0
    assert line.sent - before < 600 * 15 / 3 + 100  # a PING each three seconds
    device._link.wire.doubt()
    before = line.sent
    device._link.request(Type.RUN, bytes(8), patient=True)
    assert line.runs == 2 and device.resent == 0
    assert line.sent - before < 600 * 15 / 3 + 300


def test_a_run_without_a_sign_of_life_is_given_up() -> None:
    line = Worker(600.0, 1000.0)
    device = device_on(line, run_timeout=50.0)
    began = line.now()
    with pytest.raises(DeviceError, match="did not answer RUN"):
        device._link.request(Type.RUN, bytes(8), patient=True)
    assert 50 <= line.now() - began < 70


def test_a_run_whose_layers_end_and_that_never_does_is_given_up() -> None:
    line = Worker(2000.0, 0.1)
    device = device_on(line, run_timeout=10.0)
    began = line.now()
    with pytest.raises(DeviceError, match="did not answer RUN"):
        device._link.request(Type.RUN, bytes(8), patient=True)
    assert 600 <= line.now() - began < 630


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
    assert "Errno" not in str(error.value), "what pyserial says, without its wrapping"


@pytest.mark.parametrize(
    "option", [{"latency": 0.0}, {"latency": float("nan")}, {"retries": 0}, {"run_timeout": 0.0}]
)
def test_options_that_make_no_sense_are_said(option: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="make no sense: give"):
        connect("socket://127.0.0.1:1", **option)  # type: ignore[arg-type]


def test_a_file_is_no_serial_port(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    with pytest.raises(DeviceError, match="Cannot open"):
        connect(str(tmp_path / "x"))
