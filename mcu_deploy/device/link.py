"""Requests and replies over a line that loses and changes bytes (docs/protocol.md, 2).

Numbers the requests, repeats them, resynchronises, derives the time-outs, and tells a silent device
from a wrong baud rate. Knows nothing of models.
"""

from __future__ import annotations

import string
import time
from collections.abc import Callable, Iterator, Sequence

from mcu_deploy.device import protocol
from mcu_deploy.device.fault import DeviceFault, unpack_fault
from mcu_deploy.device.framing import (
    PROTOCOL_VERSION,
    Frame,
    FrameReader,
    encode_frame,
    encoded_size,
)
from mcu_deploy.device.protocol import REPLY, Hello, Type, name_of_request
from mcu_deploy.device.transport import Transport
from mcu_deploy.errors import DeviceError

EventHandler = Callable[[Frame], None]

_BITS_PER_BYTE = 10
_MOST_AHEAD = 8
"""Requests on the way at one time, however large the window is."""


class DeviceRestarted(DeviceError):
    """The device has restarted by itself: what was written to it is lost."""


class _Batch:
    """Requests of one kind, and which of them are unsent, on the way, or answered."""

    def __init__(self, payloads: dict[int, bytes], kind: int) -> None:
        self._lines = {seq: encode_frame(Frame(kind, seq, data)) for seq, data in payloads.items()}
        self._replies: dict[int, bytes] = {}
        self.unsent = list(payloads)
        self.waiting: list[int] = []

    def to_send(self, window: int) -> Iterator[bytes]:
        """Moves what may be sent now to `waiting`. One request is always allowed."""
        while self.unsent and len(self.waiting) < _MOST_AHEAD:
            line = self._lines[self.unsent[0]]
            if self.waiting and self.bytes_waiting() + len(line) > window:
                return
            self.waiting.append(self.unsent.pop(0))
            yield line

    def bytes_waiting(self) -> int:
        return sum(len(self._lines[seq]) for seq in self.waiting)

    def takes(self, frame: Frame, kind: int) -> bool:
        """Whether this is the first reply to one of them; ProtocolError where it is an ERROR."""
        if frame.seq not in self._lines or frame.seq in self._replies:
            return False
        if frame.type == Type.ERROR:
            raise protocol.unpack_error(frame.payload)
        if frame.type != kind + REPLY:
            return False
        self._replies[frame.seq] = frame.payload
        self.waiting = [seq for seq in self.waiting if seq != frame.seq]
        self.unsent = [seq for seq in self.unsent if seq != frame.seq]
        return True

    def is_event(self, frame: Frame) -> bool:
        return frame.seq in self._lines and frame.type < REPLY

    def send_again(self) -> None:
        self.unsent, self.waiting = self.waiting + self.unsent, []

    def in_order(self) -> list[bytes]:
        return [self._replies[seq] for seq in self._lines]


class Link:
    """The host's end of the protocol over an open transport.

    latency: seconds that the operating system and the emulator may add to each exchange; retries:
    attempts without any progress before it gives up; run_timeout: seconds between two signs of
    life of a run; log: gets the text of each LOG frame.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        latency: float,
        retries: int,
        run_timeout: float,
        log: Callable[[str], None],
    ) -> None:
        self.transport = transport
        self.window = 0
        self.baud = transport.baud
        self.latency = latency
        self.retries = retries
        self.run_timeout = run_timeout
        self.resent = 0
        """How many requests had to be repeated so far."""
        self._log = log
        self._reader = FrameReader()
        self._frames: list[Frame] = []
        self._seq = 0
        self._starting = True
        self._start_fault: DeviceFault | None = None

    def forget(self) -> None:
        """Before a HELLO: a restart is no surprise, and what was half received is noise."""
        self._reader = FrameReader()
        self._frames = []
        self._starting = True
        self._start_fault = None
        self.window = 0
        self.baud = self.transport.baud

    def adopt(self, hello: Hello) -> None:
        """Takes the window and the baud rate (an emulator's line has none of its own)."""
        self.window = hello.receive_window
        self.baud = hello.baud or self.transport.baud

    def exchange(
        self,
        kind: int,
        payloads: Sequence[bytes],
        *,
        reply_bytes: int = 64,
        on_event: EventHandler | None = None,
        patient: bool = False,
    ) -> list[bytes]:
        """Sends requests of one kind and returns the replies' payloads, in the same order.

        Several payloads are sent ahead as the window allows (READ, WRITE, TENSOR_CRC only).
        reply_bytes: the largest payload of a reply; on_event: gets the events of these requests;
        patient: signs of life keep the time-out away.

        Raises ProtocolError (refused), DeviceFault, DeviceRestarted, or DeviceError (no answer,
        with a diagnosis).
        """
        batch = _Batch({self._next_seq(): payload for payload in payloads}, kind)
        failures = 0
        deadline = alive_until = 0.0
        while batch.unsent or batch.waiting:
            for line in batch.to_send(self.window):
                self.transport.write(line)
                deadline = self._deadline(batch, reply_bytes, failures)
            frame = self._next_frame(deadline)
            if frame is not None and batch.takes(frame, kind):
                failures = 0
                deadline = self._deadline(batch, reply_bytes, failures)
            elif frame is not None and batch.is_event(frame):
                if patient:
                    alive_until = time.monotonic() + self.run_timeout
                    deadline = self._deadline(batch, reply_bytes, 2)
                if on_event is not None:
                    on_event(frame)
            elif frame is not None and frame.type == Type.READY:
                batch.send_again()  # what it was sent before its start is lost
            elif frame is None:
                idle = self._resync()
                if self._frames:
                    continue  # the answer has come late
                if not idle and time.monotonic() < alive_until:
                    deadline = self._deadline(batch, reply_bytes, 2)
                    continue  # it is at work
                failures += 1
                if failures >= self.retries:
                    raise self._diagnosis(kind)
                self.resent += len(batch.waiting)
                batch.send_again()
        if kind == Type.HELLO:
            self._starting = False
        return batch.in_order()

    def request(
        self,
        kind: int,
        payload: bytes = b"",
        *,
        reply_bytes: int = 64,
        on_event: EventHandler | None = None,
        patient: bool = False,
    ) -> bytes:
        """One request: `exchange` with one payload."""
        (reply,) = self.exchange(
            kind, [payload], reply_bytes=reply_bytes, on_event=on_event, patient=patient
        )
        return reply

    def _next_seq(self) -> int:
        self._seq = self._seq % 0xFFFF + 1
        return self._seq

    def _deadline(self, batch: _Batch | None, reply_bytes: int, failures: int) -> float:
        on_line = encoded_size(reply_bytes)
        if batch is not None:
            on_line = batch.bytes_waiting() + len(batch.waiting) * on_line
        seconds = 2.0 * _BITS_PER_BYTE * on_line / self.baud + self.latency
        return time.monotonic() + seconds * min(2.0**failures, 4.0)

    def _resync(self) -> bool:
        """Ends what may be left of a frame, and asks whether the device is there and idle."""
        ping = self._next_seq()
        self.transport.write(b"\0\0" + encode_frame(Frame(Type.PING, ping)))
        deadline = self._deadline(None, 16, 0)
        kept = []
        idle = False
        while not idle and (frame := self._next_frame(deadline)) is not None:
            idle = frame.type == Type.PING + REPLY and frame.seq == ping
            if not idle and frame.type not in (Type.PING + REPLY, Type.READY):
                kept.append(frame)
        self._frames = kept + self._frames
        return idle

    def _next_frame(self, deadline: float) -> Frame | None:
        """The next frame that belongs to a request; None when the time is over."""
        while True:
            while self._frames:
                frame = self._frames.pop(0)
                if self._is_for_request(frame):
                    return frame
            left = deadline - time.monotonic()
            data = self.transport.read(max(left, 0.0))
            if not data and left <= 0:
                return None
            self._frames += self._reader.feed(data)

    def _is_for_request(self, frame: Frame) -> bool:
        if frame.version != PROTOCOL_VERSION:
            raise DeviceError(
                f"The firmware speaks version {frame.version} of the protocol, this mcu-deploy "
                f"version {PROTOCOL_VERSION}; build and load the firmware anew."
            )
        if frame.type == Type.LOG:
            self._log(frame.payload.decode("utf-8", errors="replace"))
        elif frame.type == Type.FAULT:
            fault = DeviceFault(unpack_fault(frame.payload))
            if not self._starting:
                raise fault
            self._start_fault = fault
        elif frame.type == Type.READY:
            if self._starting:
                return True
            raise DeviceRestarted(
                "The device has restarted by itself (power, watchdog, or its reset button); "
                "what was written to it is lost: start again."
            )
        else:
            return True
        return False

    def _diagnosis(self, kind: int) -> DeviceError:
        """Why there is no answer, from what has been seen on the line so far."""
        if self._start_fault is not None:
            return self._start_fault
        reader = self._reader
        where = f"{self.transport.url} ({self.transport.baud} baud)"
        tries = f"after {self.retries} attempts"
        if reader.bytes_seen == 0:
            return DeviceError(
                f"No byte came from {where} {tries}: the board is off, this is another port, or "
                "it does not run the firmware; check the cable and load firmware.elf."
            )
        if reader.frames_seen == 0:
            noise = reader.unframed()
            readable = sum(byte in _PRINTABLE for byte in noise)
            if readable >= 0.9 * len(noise):
                text = " ".join(noise.decode("ascii", errors="replace").split())[:80]
                return DeviceError(
                    f"The device on {where} prints text ({text!r}) and does not speak the "
                    "protocol: it runs another program; load firmware.elf."
                )
            return DeviceError(
                f"Bytes came from {where}, but no valid frame {tries}: the baud rate is not the "
                "firmware's, or another program runs there; check the baud rate, load firmware.elf."
            )
        return DeviceError(
            f"The device on {where} did not answer {name_of_request(kind)} {tries}, although it "
            "has answered before: it hangs, or the line is very bad; reset it and try again."
        )


_PRINTABLE = frozenset(string.printable.encode())
