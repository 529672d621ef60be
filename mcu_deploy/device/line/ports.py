"""Serial ports of this machine, and the one that a board is at, by its USB id."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from serial.tools import list_ports

from mcu_deploy.device.line.codes import REPLY, Type
from mcu_deploy.device.line.framing import Frame, FrameReader, encode_frame
from mcu_deploy.device.line.transport import DEFAULT_BAUD, Transport
from mcu_deploy.errors import DeviceError, RequestError

AUTO = "auto"
_POLL_SECONDS = 0.1
_HELLO_SECONDS = 2.0


@dataclass(frozen=True)
class Port:
    """A serial port. usb: vendor and product id in hex, "" for one that is not on USB."""

    device: str
    usb: str = ""
    serial_number: str = ""
    description: str = ""

    def __str__(self) -> str:
        about = [self.usb or "no USB", self.description, self.serial_number]
        return f"{self.device} ({', '.join(text for text in about if text)})"


def ports() -> tuple[Port, ...]:
    """Every serial port that the operating system knows, by name."""
    found = (
        Port(
            port.device,
            "" if port.vid is None or port.pid is None else f"{port.vid:04x}:{port.pid:04x}",
            port.serial_number or "",
            "" if port.description in (None, "n/a") else port.description,
        )
        for port in list_ports.comports()
    )
    return tuple(sorted(found, key=lambda port: port.device))


def ports_of(usb: Sequence[str]) -> tuple[Port, ...]:
    """The ports with one of these USB ids."""
    return tuple(port for port in ports() if port.usb in usb)


def find_port(
    board: str, usb: Sequence[str], *, patience: float = 0.0, baud: int = DEFAULT_BAUD
) -> str:
    """The device of the one port that has a board's USB id.

    Where several have it (some probes have two ports), it is the one at which a firmware answers.
    patience: seconds to wait for it; a board that was just flashed may come back slowly.
    RequestError where the board names no id; DeviceError, which lists what there is, where there
    is no such port, or where there are several.
    """
    if not usb:
        raise RequestError(
            f"The board file of {board} does not say by which USB id its serial port is found "
            f"(the key usb); name the port with --port. {_all_ports()}"
        )
    deadline = time.monotonic() + patience
    while not (found := ports_of(usb)) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    if len(found) == 1:
        return found[0].device
    if found:
        answering = [port for port in found if _greets(port.device, baud)]
        if len(answering) == 1:
            return answering[0].device
        what = (
            "and a firmware answers at several" if answering else "and at none a firmware answers"
        )
        raise DeviceError(
            f"Several ports have the USB id of {board}, {what}: "
            f"{', '.join(map(str, answering or found))}; say with --port which one is meant."
        )
    raise DeviceError(
        f"No port has the USB id of {board} ({' or '.join(usb)}): it is not plugged in, its cable "
        f"carries no data, or it is another board; plug it in, or name a port. {_all_ports()}"
    )


def _greets(device: str, baud: int) -> bool:
    """Whether HELLO is answered there."""
    reader = FrameReader()
    try:
        with Transport(device, baud) as line:
            line.write(encode_frame(Frame(Type.HELLO, 1)))
            deadline = line.now() + _HELLO_SECONDS
            while (left := deadline - line.now()) > 0:
                if any(f.type == Type.HELLO + REPLY for f in reader.feed(line.read(left))):
                    return True
    except DeviceError:  # another program has it, or it is no port that can be opened
        return False
    return False


def _all_ports() -> str:
    known = ports()
    listed = ", ".join(map(str, known[:12]))
    return f"There are: {listed}." if known else "There is no serial port at all."
