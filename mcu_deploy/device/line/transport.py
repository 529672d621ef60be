"""A serial line: a device node, or a `socket://host:port` URL, through the same pyserial code."""

from __future__ import annotations

import errno
import os
import re
import select
import socket
import time
from typing import Protocol

import serial

from mcu_deploy.errors import DeviceError

DEFAULT_BAUD = 115200

_WRITE_SECONDS = 20.0
_AT_ONCE = 4096


class LineClosed(DeviceError):
    """The other end is gone: cable pulled, emulator ended, process restarting."""


class Line(Protocol):
    """What the protocol needs of a line: bytes there and back, and a clock."""

    url: str
    """What sentences call it."""
    baud: int
    emulator: str = ""
    """What runs the firmware at the other end, or nothing, where it is a board."""

    def now(self) -> float:
        """Seconds on the clock that time-outs are measured with."""

    def read(self, timeout: float) -> bytes:
        """Bytes that have come; waits up to `timeout` seconds for the first. May be empty."""

    def write(self, data: bytes) -> None:
        """Sends all of `data`."""

    def reopen(self, patience: float) -> None:
        """Opens it again after LineClosed, trying for `patience` seconds."""

    def close(self) -> None:
        """Closes it; also when it is closed already."""


class Transport(Line):
    """An open serial line. A context manager; used by one thread.

    url: `/dev/ttyACM0`, `COM3`, `socket://127.0.0.1:5000`, or another URL of pyserial; emulator:
    what is behind it, if it is none of a board's.
    Every failure is a DeviceError with what to do.
    """

    def __init__(self, url: str, baud: int = DEFAULT_BAUD, emulator: str = "") -> None:
        self.url = url
        self.baud = baud
        self.emulator = emulator
        self._port = self._open()

    def __enter__(self) -> Transport:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def now(self) -> float:
        """Seconds on the clock that time-outs are measured with."""
        return time.monotonic()

    def read(self, timeout: float) -> bytes:
        """Bytes that have come; waits up to `timeout` seconds for the first. May be empty."""
        try:
            if self._selectable:
                ready, _, _ = select.select([self._port.fileno()], [], [], max(timeout, 0.0))
                return self._port.read(_AT_ONCE) if ready else b""
            deadline = time.monotonic() + timeout
            while not (waiting := self._port.in_waiting) and time.monotonic() < deadline:
                time.sleep(0.001)
            return self._port.read(waiting) if waiting else b""
        except (OSError, ValueError, TypeError) as error:
            raise self._closed(error) from None

    def write(self, data: bytes) -> None:
        """Sends all of `data`."""
        try:
            self._port.write(data)
        except serial.SerialTimeoutException:
            raise LineClosed(
                f"{self.url} has taken no bytes for {_WRITE_SECONDS:.0f} s: the device or the "
                "emulator behind it hangs; restart it."
            ) from None
        except (OSError, ValueError, TypeError) as error:
            raise self._closed(error) from None

    def reopen(self, patience: float) -> None:
        """Closes the line and opens it again, trying for `patience` seconds."""
        self.close()
        deadline = time.monotonic() + patience
        while True:
            try:
                self._port = self._open()
                return
            except DeviceError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def close(self) -> None:
        """Closes the line; also when it is closed already."""
        self._port.close()

    def _closed(self, error: Exception) -> LineClosed:
        return LineClosed(
            f"The line {self.url} was closed ({error}): the device was unplugged, or the emulator "
            "ended; connect or start it again."
        )

    def _open(self) -> serial.Serial:
        try:
            port = serial.serial_for_url(
                self.url,
                baudrate=self.baud,
                timeout=0,
                write_timeout=_WRITE_SECONDS,
                exclusive=True,
            )
        except (serial.SerialException, OSError, LookupError, TypeError, ValueError) as error:
            raise DeviceError(self._why_not(error)) from None
        try:
            self._selectable = port.fileno() >= 0
        except (AttributeError, OSError):
            self._selectable = False
        # pyserial leaves Nagle's algorithm on, which makes each small frame wait for the
        # acknowledgement of the one before.
        line = getattr(port, "_socket", None)
        if isinstance(line, socket.socket):
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return port

    def _why_not(self, error: Exception) -> str:
        number = getattr(error, "errno", None)
        if number == errno.EACCES:
            remedy = "add yourself to the group dialout (`sudo usermod -aG dialout $USER`, log in)"
        elif number == errno.EBUSY or "lock" in str(error):
            remedy = "another program has it open: close it"
        elif number == errno.ENOENT:
            remedy = "there is no such port: is the board plugged in? `pyserial-ports` lists them"
        elif "refused" in str(error):
            remedy = "nothing listens there: start the emulator first"
        else:
            remedy = "give a port (/dev/ttyACM0) or an address (socket://127.0.0.1:5000)"
        # pyserial's own texts repeat the port and the number, or are Python's.
        said = re.search(r"(?:\[Errno -?\d+\] |\(\d+, ')([^'\]]+)", str(error))
        reason = os.strerror(number) if number else said[1] if said else "it is no address"
        return f"Cannot open {self.url or 'a port without a name'} ({reason}); {remedy}."
