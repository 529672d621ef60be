"""Requests and replies over a line that loses and changes bytes (docs/protocol.md, 2).

Numbers the requests, finds out which were lost, repeats those, and cuts tensors into frames that
are as long as the line allows. Knows nothing of models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mcu_deploy.device.line import messages
from mcu_deploy.device.line.codes import REPLY, Capability, Code, Type
from mcu_deploy.device.line.fault import DeviceFault, EndlessRun, FaultCause
from mcu_deploy.device.line.framing import Frame, encode_frame, unpack_frame
from mcu_deploy.device.line.messages import Hello, ProtocolError
from mcu_deploy.device.line.transport import Line
from mcu_deploy.device.line.wire import DeviceRestarted, Wire
from mcu_deploy.errors import DeviceError

EventHandler = Callable[[Frame], None]

_MOST_AHEAD = 8
"""Requests on the way at one time, however large the window is."""

_STEP = 16
"""Bytes by which pieces of tensors grow, and that they have at least. A piece costs some 38 bytes
beside its own, both ways together; growing by about half of that after each success and halving
after each loss brings pieces near the size that carries most on any line (AIMD, as in TCP)."""

_WHOLE_ATTEMPTS = 2
"""Attempts of a request, before its reply is read in parts of _STEP bytes."""

_ECHO_SECONDS = 5.0
"""After these, bytes that are all one's own are an echo, however long a device may take."""

_MOST_TIMEOUTS = 60
"""A run may take so many time-outs as long as its layers end: a loop of a model may never end."""

_STOP_SECONDS = 10.0
"""A device that listens says at once where it was, and restarts; a busy emulator takes its time."""

_PIECE_OVERHEAD = 12
"""Bytes of a WRITE's payload beside the data; READ has fewer."""


@dataclass
class _Piece:
    """A request on its way: whole, or `count` bytes of a tensor at `offset`."""

    kind: int
    offset: int = 0
    count: int = 0
    limit: int = 0  # what the line seemed to carry when it was cut
    seq: int = 0
    line: bytes = b""
    reply_bytes: int = 0
    attempts: int = 0
    sent: float = 0.0
    is_probe: bool = False


class Link:
    """The host's end of the protocol over an open transport.

    latency: seconds that a wait for an answer may grow to; retries: attempts of one request before
    it gives up, a tenth of it (but ten, if it is so many) where no byte comes; run_timeout: seconds
    without a sign of life from a run; log: gets the text of each LOG frame.
    """

    def __init__(
        self,
        transport: Line,
        *,
        latency: float,
        retries: int,
        run_timeout: float,
        log: Callable[[str], None],
    ) -> None:
        self.transport = transport
        self.wire = Wire(transport, latency, log)
        self.window = 0
        self.retries = retries
        self.run_timeout = run_timeout
        self.piece_bytes = 0
        """Bytes of a tensor that a frame carries now."""
        self.most_piece_bytes = 0
        self.reads_replies = True
        """Whether the device may have READ_REPLY; before HELLO nobody knows."""
        self.resent = 0
        """How many requests had to be repeated so far."""

    def forget(self) -> None:
        """Before a HELLO: nothing is known of the device."""
        self.wire.restart()
        self.window = 0
        self.reads_replies = True

    def adopt(self, hello: Hello) -> None:
        """Takes sizes and the baud rate (an emulator's line has none of its own)."""
        self.wire.greeted()
        self.wire.baud = hello.baud or self.transport.baud
        self.window = hello.receive_window
        self.reads_replies = Capability.READ_REPLY in hello.capabilities
        self.most_piece_bytes = hello.mtu - _PIECE_OVERHEAD
        self.piece_bytes = min(self.piece_bytes or self.most_piece_bytes, self.most_piece_bytes)

    def request(
        self,
        kind: int,
        payload: bytes = b"",
        *,
        reply_bytes: int = 64,
        on_event: EventHandler | None = None,
        patient: bool = False,
    ) -> bytes:
        """Sends a request and returns the reply's payload.

        reply_bytes: the largest payload of the reply; on_event: gets the events of this request;
        patient: the device may be at work for long, and not even answer PING.

        Raises ProtocolError (refused), DeviceFault, DeviceRestarted, or DeviceError (no answer,
        with a diagnosis).
        """
        piece = _Piece(kind, reply_bytes=reply_bytes)
        try:
            while True:
                exchange = _Exchange(self, lambda *_: payload, [piece], on_event, patient)
                if replies := exchange.replies():
                    return replies[0]
                if (reply := self._reply_in_parts(piece)) is not None:
                    return reply
        except KeyboardInterrupt:
            self.wire.stop()  # else a board would run on, deaf to the next command
            raise

    def transfer(
        self, kind: int, size: int, payload: Callable[[int, int], bytes]
    ) -> dict[int, bytes]:
        """Sends requests (READ, WRITE) for the `size` bytes of a tensor; returns the replies by
        offset. payload(offset, count) is that of a request for a part. Errors as of `request`.

        What has arrived is not sent again; parts get shorter while frames are lost.
        """
        if not size:
            return {}
        return _Exchange(self, payload, [_Piece(kind, 0, size)], None, False).replies()

    def _reply_in_parts(self, asked: _Piece) -> bytes | None:
        """The reply's payload, read in parts that are short; None where there is none yet: the
        request itself was lost."""

        def read(first: int, end: int) -> dict[int, bytes]:
            parts = [_Piece(Type.READ_REPLY, at, _STEP) for at in range(first, end, _STEP)]
            return _Exchange(
                self,
                lambda at, count: messages.pack_read_reply(asked.seq, at, count),
                parts,
                None,
                False,
                kind=asked.kind,
            ).replies()

        try:
            replies = read(0, _STEP)
            total, _ = messages.unpack_read_reply(replies[0])
            if total > _STEP:
                replies |= read(_STEP, total)
        except (ProtocolError, DeviceRestarted):
            return None  # of a firmware that has no READ_REPLY; or the request itself will tell
        parts = [messages.unpack_read_reply(replies[at])[1] for at in sorted(replies)]
        frame = unpack_frame(b"".join(parts))
        if frame is None or frame.seq != asked.seq:
            return None
        if frame.type == Type.ERROR:
            raise _refusal(frame)
        return frame.payload if frame.type == asked.kind + REPLY else None

    def lost(self, piece: _Piece) -> None:
        """A piece or its reply was lost: halves the size that was in force when it was cut, once
        for all that were. So a tensor shorter than that is cut too, if it is lost again."""
        self.wire.doubt()
        self.resent += 1
        if piece.count:
            self.piece_bytes = max(min(self.piece_bytes, piece.limit // 2), _STEP)

    def arrived(self, piece: _Piece) -> None:
        """A piece and its reply came through: lets the pieces grow."""
        if piece.count >= self.piece_bytes:
            self.piece_bytes = min(self.piece_bytes + _STEP, self.most_piece_bytes)


class _Exchange:
    """Requests, some of them on the way, until all are answered.

    The device answers in order. So a reply, also that to a PING, tells that what was sent before
    it and has no answer is lost: nothing is repeated on a guess, however slow the line is.
    """

    def __init__(
        self,
        link: Link,
        payload: Callable[[int, int], bytes],
        unsent: list[_Piece],
        on_event: EventHandler | None,
        patient: bool,
        *,
        kind: int = 0,
    ) -> None:
        self._link, self._wire = link, link.wire
        self._payload = payload
        self._unsent = unsent
        self._on_way: list[_Piece] = []
        self._replies: dict[int, bytes] = {}
        self._on_event = on_event
        self._patient = patient
        self._kind = kind or unsent[0].kind
        self._is_stuck = False
        self._vain = 0
        """Waits in a row in which no valid answer came."""
        self._silent = 0
        """Of these the last ones, in which no byte came."""
        self._came = self._wire.bytes_seen
        self._run_limit = link.run_timeout + link.wire.latency  # which may hold a sign of life back
        self._began = self._heard = self._wire.transport.now()

    def replies(self) -> dict[int, bytes]:
        """Sends, waits and repeats; the payloads of the replies by offset. None at all where a
        request without pieces was lost again and its reply can be read in parts."""
        self._send()
        while not self._is_stuck and (self._unsent or _requests(self._on_way)):
            frame = self._wire.next_frame(self._deadline)
            if frame is None:
                self._probe()
            elif frame.type == Type.READY:
                lost, self._on_way = _requests(self._on_way), []
                self._repeat(lost)
            else:
                self._take(frame)
            if not self._is_stuck:
                self._send()
        return self._replies

    def _send(self) -> None:
        """Sends what may be sent now: one request always, more as the window allows. On a line
        that has lost something a PING follows, which tells at once what of it was lost."""
        lines = []
        while self._unsent and len(_requests(self._on_way)) < _MOST_AHEAD:
            piece = self._cut(self._unsent[0])
            on_way = sum(len(other.line) for other in self._on_way)
            if self._on_way and on_way + len(piece.line) > self._link.window:
                break
            self._unsent.pop(0)
            lines.append(self._put_on_way(piece))
        ends_blind = bool(self._on_way) and not self._on_way[-1].is_probe and not self._unsent
        if ends_blind and self._wire.is_doubtful:
            lines.append(self._put_on_way(self._ping()))
        if lines:
            self._wire.send(lines)
            self._wait()

    def _cut(self, piece: _Piece) -> _Piece:
        """The piece, or its beginning where it is too long; the rest goes back to the unsent."""
        step = max(self._link.piece_bytes, _STEP)  # nothing is set before HELLO
        if piece.count > step:
            rest = _Piece(piece.kind, piece.offset + step, piece.count - step)
            piece = _Piece(piece.kind, piece.offset, step)
            self._unsent[0:1] = [piece, rest]
        piece.limit = step
        if not piece.seq:
            if piece.kind in (Type.READ, Type.READ_REPLY):
                piece.reply_bytes = piece.count + 8
            payload = self._payload(piece.offset, piece.count)
            piece.seq = self._wire.next_seq()
            piece.line = encode_frame(Frame(piece.kind, piece.seq, payload))
        return piece

    def _ping(self) -> _Piece:
        seq = self._wire.next_seq()
        return _Piece(Type.PING, seq=seq, line=encode_frame(Frame(Type.PING, seq)), is_probe=True)

    def _put_on_way(self, piece: _Piece) -> bytes:
        piece.sent = self._wire.transport.now()
        piece.attempts += 1
        self._on_way.append(piece)
        return piece.line

    def _wait(self) -> None:
        """Sets the time at which a PING has to ask what has become of the requests."""
        on_line = sum(
            self._wire.seconds_for(len(piece.line)) + self._wire.seconds_for(piece.reply_bytes)
            for piece in self._on_way
        )
        patience = self._wire.patience(self._vain if self._patient else self._silent)
        if self._patient and not self._wire.is_doubtful:
            patience = self._wire.latency  # it is at work: not to be disturbed
        now = self._wire.transport.now()
        if self._patient:
            patience = min(patience, max(self._heard + self._run_limit - now, 0.1))
        self._deadline = now + on_line + patience

    def _probe(self) -> None:
        """Nothing valid came for too long: asks whether the device is there. Where not even damaged
        bytes come, the next wait is longer."""
        self._vain += 1
        came, self._came = self._came, self._wire.bytes_seen
        self._silent = self._silent + 1 if came == self._came else 0
        waited = self._wire.transport.now() - self._heard
        tries = self._link.retries
        few = max(min(tries, 10), tries // 10)
        most = tries if self._wire.has_understood else 3 * few
        gone = (self._silent >= few or self._vain >= most) and waited >= self._wire.latency
        if self._patient:
            gone = waited >= self._run_limit
        if self._wire.is_echo and self._vain >= few and waited >= _ECHO_SECONDS:
            gone = True
        if self._kind == Type.RUN:
            ran = self._wire.transport.now() - self._began
            if gone:
                self._stop_run(f"No layer ended for {self._link.run_timeout:g} s")
            elif ran >= _MOST_TIMEOUTS * self._link.run_timeout:
                self._stop_run(f"Layers end, but not the run, for {ran:.0f} s")
                gone = True
        if gone:
            raise self._wire.diagnosis(self._kind, self._vain)
        probes = [piece for piece in self._on_way if piece.is_probe]
        if len(probes) >= _MOST_AHEAD:
            self._on_way.remove(probes[0])
        self._wire.send([self._put_on_way(self._ping())])
        self._wait()

    def _stop_run(self, why: str) -> None:
        """Raises EndlessRun where the device still listens, to say what it was doing."""
        self._wire.stop()
        deadline = self._wire.transport.now() + max(self._wire.latency, _STOP_SECONDS)
        try:
            while self._wire.next_frame(deadline) is not None:
                pass
        except DeviceFault as fault:
            if fault.report.cause != FaultCause.STOPPED:
                raise
            raise EndlessRun(fault.report, why) from None

    def _take(self, frame: Frame) -> None:
        """A reply or an event; others are late ones, of requests that are over."""
        sought = [n for n, piece in enumerate(self._on_way) if piece.seq == frame.seq]
        if not sought:
            return
        piece = self._on_way[sought[0]]
        now = self._wire.transport.now()
        if frame.type < REPLY:
            self._heard = now
            if self._on_event is not None:
                self._on_event(frame)
            return
        if frame.type == Type.ERROR:
            raise _refusal(frame)
        if frame.type != piece.kind + REPLY:
            return
        self._heard = now
        self._silent = self._vain = 0
        passed, self._on_way = self._on_way[: sought[0]], self._on_way[sought[0] + 1 :]
        if piece.attempts == 1 and not self._patient:
            both = self._wire.seconds_for(len(piece.line)) + self._wire.seconds_for(
                len(frame.payload)
            )
            self._wire.note_round_trip(now - piece.sent - both)
        if not piece.is_probe:
            self._replies[piece.offset] = frame.payload
            self._link.arrived(piece)
        for other in _requests(passed):
            self._link.lost(other)
        self._repeat(_requests(passed))
        self._wait()

    def _repeat(self, lost: list[_Piece]) -> None:
        """Puts requests that have no answer before the unsent."""
        if any(piece.attempts >= self._link.retries for piece in lost):
            raise self._wire.diagnosis(self._kind, self._link.retries)
        self._unsent = lost + self._unsent
        self._is_stuck = self._link.reads_replies and any(
            not piece.count and piece.attempts >= _WHOLE_ATTEMPTS for piece in lost
        )


def _refusal(frame: Frame) -> DeviceError:
    """The error that an ERROR frame is."""
    error = messages.unpack_error(frame.payload)
    return DeviceRestarted() if error.code == Code.NOT_GREETED else error


def _requests(pieces: list[_Piece]) -> list[_Piece]:
    return [piece for piece in pieces if not piece.is_probe]
