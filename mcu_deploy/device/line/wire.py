"""Frames over an open transport: what comes, how long to wait for it, why nothing comes.

Knows frames and events, and measures the line; which request is answered by what is link.py's.
"""

from __future__ import annotations

import string
from collections.abc import Callable

from mcu_deploy.device.line.codes import Type, name_of_request
from mcu_deploy.device.line.fault import DeviceFault, unpack_fault
from mcu_deploy.device.line.framing import PROTOCOL_VERSION, Frame, FrameReader, encoded_size
from mcu_deploy.device.line.transport import Line
from mcu_deploy.errors import DeviceError
from mcu_deploy.resources import page

_BITS_PER_BYTE = 10
_FIRST_WAIT = 0.1
_LEAST_WAIT = 0.02
_DOUBTFUL_REPLIES = 50
_MOST_START_FAULTS = 5
"""So often a device may fault before it answers HELLO; behind one fault is the run before."""
_STOP = bytes(256)
"""Ends what a device runs: a row of 32 zeros does (MCU_STOP_ZEROS), also where some get lost."""
_SHOWN_ZERO = b"^@"
_PRINTABLE = frozenset(string.printable.encode())


class DeviceRestarted(DeviceError):
    """The device has restarted by itself: what was written to it is lost. ran: what it was running,
    where it was."""

    def __init__(self, ran: str = "") -> None:
        during, more = "", ""
        if ran:
            # A kernel may write over what would report its fault.
            during, more = f" while it ran {ran}", ", or a kernel that writes where it must not"
        super().__init__(
            f"The device has restarted by itself{during} (power, watchdog, its reset button{more});"
            " what was written to it is lost: start again."
        )


class NoAnswer(DeviceError):
    """Nothing came that is of this protocol: nothing at all, text, or bytes of another speed."""


class Echo(NoAnswer):
    """What came is what was sent, at whatever speed."""


class Wire:
    """The host's end of the line. latency: seconds that a wait may grow to beside what the bytes
    take at the baud rate; log: gets the text of each LOG frame."""

    def __init__(self, transport: Line, latency: float, log: Callable[[str], None]) -> None:
        self.transport = transport
        self.latency = latency
        self._log = log
        self._seq = 0
        self._doubt = 0
        self._round_trip: tuple[float, float] | None = None
        self.restart()

    def restart(self) -> None:
        """Before a HELLO: a restart is no surprise, and what was half received is noise."""
        self._reader = FrameReader()
        self._echoes = 0
        self._frames: list[Frame] = []
        self._starting = True
        self._start_fault: DeviceFault | None = None
        self._start_faults = 0
        self.baud = self.transport.baud

    def greeted(self) -> None:
        """HELLO was answered: from now on a restart is an error."""
        self._starting = False

    @property
    def is_doubtful(self) -> bool:
        """Whether bytes were damaged lately."""
        return self._doubt > 0

    @property
    def bytes_seen(self) -> int:
        """How many came since HELLO."""
        return self._reader.bytes_seen

    @property
    def has_understood(self) -> bool:
        """Whether a valid frame of a device came since HELLO."""
        return self._reader.frames_seen > self._echoes

    @property
    def is_echo(self) -> bool:
        """Whether what comes is what was sent: as it was, or with the zeros as terminals show them.
        A device may be behind a line that echoes; then its own frames come too."""
        shown = self._reader.frames_seen == 0 and _SHOWN_ZERO in self._reader.unframed()
        return not self.has_understood and (self._echoes > 0 or shown)

    def doubt(self) -> None:
        """Something was damaged: the next replies are not taken for granted."""
        self._doubt = _DOUBTFUL_REPLIES

    def next_seq(self) -> int:
        """The next request's number: 1 ... 65535."""
        self._seq = self._seq % 0xFFFF + 1
        return self._seq

    def seconds_for(self, payload_bytes: int) -> float:
        """What a frame takes on the line."""
        return _BITS_PER_BYTE * encoded_size(payload_bytes) / self.baud

    def note_round_trip(self, seconds: float) -> None:
        """An answer took so long beside what its bytes took (RFC 6298's estimate)."""
        self._doubt = max(self._doubt - 1, 0)
        sample = max(seconds, 0.0)
        if self._round_trip is None:
            self._round_trip = sample, sample / 2
            return
        mean, deviation = self._round_trip
        deviation += (abs(sample - mean) - deviation) / 4
        self._round_trip = mean + (sample - mean) / 8, deviation

    def patience(self, silent: int) -> float:
        """Seconds to wait for an answer beside what its bytes take, after `silent` waits in vain:
        what answers have taken, doubled each time, at most the latency."""
        wait = _FIRST_WAIT
        if self._round_trip is not None:
            mean, deviation = self._round_trip
            wait = max(mean + 4 * deviation, _LEAST_WAIT)
        return min(wait * 2.0 ** min(silent, 20), self.latency)

    def send(self, lines: list[bytes]) -> None:
        """Sends encoded frames."""
        self.transport.write(b"".join(lines))

    def stop(self) -> None:
        """Makes a device that runs something break it off with a fault, which says where it was."""
        self.transport.write(_STOP)

    def next_frame(self, deadline: float) -> Frame | None:
        """The next frame that belongs to a request, or READY while the device is greeted; None
        when the time is over. Raises DeviceFault, DeviceRestarted, or DeviceError (the firmware
        speaks another version)."""
        while True:
            while self._frames:
                frame = self._frames.pop(0)
                if self._is_for_request(frame):
                    return frame
            left = deadline - self.transport.now()
            data = self.transport.read(max(left, 0.0))
            if not data and left <= 0:
                return None
            dropped = self._reader.dropped
            self._frames += self._reader.feed(data)
            if self._reader.dropped != dropped:
                self.doubt()

    def _is_for_request(self, frame: Frame) -> bool:
        if frame.type < Type.LOG:
            self._echoes += 1  # a request, which no device sends
            return False
        if frame.version != PROTOCOL_VERSION:
            raise other_version(frame.version)
        if frame.type == Type.LOG:
            self._log(frame.payload.decode("utf-8", errors="replace"))
        elif frame.type == Type.FAULT:
            fault = DeviceFault(unpack_fault(frame.payload))
            self._start_faults += 1
            if not self._starting or self._start_faults == _MOST_START_FAULTS:
                raise fault
            self._start_fault = fault
        elif frame.type == Type.READY:
            if self._starting:
                return True
            raise DeviceRestarted
        else:
            return True
        return False

    def diagnosis(self, kind: int, tries: int) -> DeviceError:
        """Why there is no answer after `tries` attempts, from what has been seen on the line."""
        if self._start_fault is not None:
            return self._start_fault
        reader = self._reader
        where = f"{self.transport.url} ({self.transport.baud} baud)"
        after = f"after {tries} attempt{'s' * (tries > 1)}"
        if (emulator := self.transport.emulator) and reader.frames_seen == 0:
            came = (
                f"{reader.bytes_seen} bytes, but no valid frame,"
                if reader.bytes_seen
                else "No byte"
            )
            return NoAnswer(
                f"{came} came from the firmware in {emulator} {after}: it stops before it speaks, "
                f"or {emulator} has another machine than the board's files say; try another "
                f"emulator or version of it ({page('emulators')}), build the firmware anew, or "
                "give a longer --latency where this machine is very busy."
            )
        if reader.bytes_seen == 0:
            return NoAnswer(
                f"No byte came from {where} {after}: the board is off, this is another port, or "
                "it does not run the firmware; check the cable and load firmware.elf (where the "
                "line itself is slow, give a longer --latency)."
            )
        if self.is_echo:
            return Echo(
                f"{where} echoes what is sent to it, and nothing else came {after}: its two data "
                "wires are joined (a loop-back plug, an adapter without a board), or a terminal is "
                "at its other end; connect the board that runs firmware.elf."
            )
        if reader.frames_seen == 0:
            unframed = reader.unframed()
            readable = sum(byte in _PRINTABLE for byte in unframed)
            if readable >= 0.9 * len(unframed):
                text = " ".join(unframed.decode("ascii", errors="replace").split())[:80]
                return NoAnswer(
                    f"The device on {where} prints text ({text!r}) and does not speak the "
                    "protocol: it runs another program; load firmware.elf."
                )
            return NoAnswer(
                f"Bytes came from {where}, but no valid frame {after}: the baud rate is not the "
                "firmware's, or another program runs there; check the baud rate, load firmware.elf."
            )
        frames = reader.dropped + reader.frames_seen
        noise = f" ({reader.dropped} of {frames} frames came damaged)" * (reader.dropped > 0)
        if kind == Type.HELLO:  # nothing has been answered yet: frames came by themselves
            return DeviceError(
                f"The device on {where} did not answer HELLO {after}, although frames come from "
                f"it{noise}: what is sent to it does not arrive (the wire of its receiver; in a "
                "board file of your own serial.irq, the receiver's pin, or the driver's "
                "interrupt), or it hangs, or starts again and again; reset it and try again."
            )
        return DeviceError(
            f"The device on {where} did not answer {name_of_request(kind)} {after}, although it "
            f"has answered before{noise}: it hangs, or the line is very bad; reset it and try "
            "again, or give more --retries."
        )


def other_version(version: int) -> DeviceError:
    """The firmware speaks another version of the protocol."""
    return DeviceError(
        f"The firmware speaks version {version} of the protocol, this mcu-deploy "
        f"version {PROTOCOL_VERSION}; build and load the firmware anew."
    )
