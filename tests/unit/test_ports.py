"""The serial port of a board, by its USB id."""

from __future__ import annotations

import socket
import threading
from types import SimpleNamespace

import pytest
from serial.tools import list_ports

from mcu_deploy.device.line.codes import REPLY
from mcu_deploy.device.line.framing import Frame, FrameReader, encode_frame
from mcu_deploy.device.line.ports import find_port
from mcu_deploy.errors import DeviceError, RequestError


def _plugged_in(monkeypatch: pytest.MonkeyPatch, *found: tuple[str, int | None, str]) -> None:
    ports = [
        SimpleNamespace(
            device=device, vid=None if pid is None else 0x0483, pid=pid, serial_number=number,
            description="n/a" if pid is None else "STM32 STLink",
        )
        for device, pid, number in found
    ]  # fmt: skip
    monkeypatch.setattr(list_ports, "comports", lambda: ports)


def test_the_one_port_with_the_id(monkeypatch: pytest.MonkeyPatch) -> None:
    _plugged_in(monkeypatch, ("/dev/ttyS0", None, ""), ("/dev/ttyACM1", 0x374B, "066F"))
    assert find_port("b", ("0483:374b", "0483:374e")) == "/dev/ttyACM1"


def test_none_and_several_list_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    _plugged_in(monkeypatch, ("/dev/ttyS0", None, ""), ("/dev/ttyACM1", 0x3748, "066F"))
    with pytest.raises(DeviceError) as none:
        find_port("b", ("0483:374b",))
    assert str(none.value).startswith("No port has the USB id of b (0483:374b): it is not plugged")
    assert "/dev/ttyACM1 (0483:3748, STM32 STLink, 066F), /dev/ttyS0 (no USB)." in str(none.value)
    with pytest.raises(RequestError, match=r"the key usb.*name the port with --port\. There are:"):
        find_port("b", ())
    _plugged_in(monkeypatch, ("/dev/no0", 0x374B, "A"), ("/dev/no1", 0x374B, "B"))
    with pytest.raises(DeviceError, match=r"at none a firmware answers: .*no0 .*no1 .* --port wh"):
        find_port("b", ("0483:374b",))
    _plugged_in(monkeypatch)
    with pytest.raises(DeviceError, match="There is no serial port at all"):
        find_port("b", ("0483:374b",))


def _firmware() -> str:
    """The URL of a line where HELLO is answered, to one client after the other."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            line, _ = server.accept()
            with line:
                for frame in FrameReader().feed(line.recv(4096)):
                    line.sendall(encode_frame(Frame(frame.type + REPLY, frame.seq)))
                line.recv(1)

    threading.Thread(target=serve, daemon=True).start()
    return f"socket://127.0.0.1:{server.getsockname()[1]}"


def test_of_a_probe_with_two_ports_the_one_where_a_firmware_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, other = _firmware(), _firmware()
    _plugged_in(monkeypatch, ("/dev/no0", 0x374B, "A"), (ours, 0x374B, "A"))
    assert find_port("b", ("0483:374b",)) == ours
    _plugged_in(monkeypatch, (other, 0x374B, "A"), (ours, 0x374B, "A"))
    with pytest.raises(DeviceError, match="a firmware answers at several: "):
        find_port("b", ("0483:374b",))


def test_a_board_that_comes_back_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def comports() -> list[SimpleNamespace]:
        calls.append(1)
        port = SimpleNamespace(device="/dev/x", vid=1, pid=2, serial_number="", description="")
        return [port] if len(calls) > 2 else []

    monkeypatch.setattr(list_ports, "comports", comports)
    assert find_port("b", ("0001:0002",), patience=60) == "/dev/x"
