"""Messages between a session and a worker: a header, JSON, and blobs of bytes.

Neither side trusts the other's length fields: sizes are bounded, a checksum covers what is parsed,
and an answer bears the number of its call. Runs in workers too: the standard library only.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any

# magic, number of the call, bytes of JSON, number of blobs, CRC-32 of the blob sizes and the JSON
_HEADER = struct.Struct("<4sIIII")
_SIZE = struct.Struct("<Q")
_MAGIC = b"mcuB"

MAX_JSON = 32 << 20
MAX_BLOBS = 1 << 16
MAX_TOTAL = 256 << 20

Blob = bytes | bytearray | memoryview
Message = tuple[int, dict[str, Any], list[bytearray]]


class WireError(Exception):
    """The other side does not hold to the protocol: a clause that says how."""


class Closed(Exception):
    """The other side has closed the connection, or ended."""


class TimedOut(Exception):
    """The deadline went by."""


class Stream:
    """One end of a stream of messages. Deadlines are those of time.monotonic(); None: none.

    `lifeline`: a file descriptor that becomes readable when the other side has ended. With it an
    end is seen even where the other side's children keep the socket open.
    """

    def __init__(self, end: socket.socket, lifeline: int | None = None) -> None:
        self._socket = end
        self._lifeline = lifeline
        end.setblocking(False)

    def close(self) -> None:
        """Closes the socket; the lifeline is its owner's."""
        self._socket.close()

    def send(
        self,
        call: int,
        message: dict[str, Any],
        blobs: Sequence[Blob] = (),
        deadline: float | None = None,
    ) -> None:
        """Sends a message. Raises Closed, TimedOut, and WireError for one that is too large."""
        text = json.dumps(message, separators=(",", ":")).encode()
        views = [memoryview(blob).cast("B") for blob in blobs]
        _check_sizes(len(text), len(views), sum(len(view) for view in views))
        checked = b"".join(_SIZE.pack(len(view)) for view in views) + text
        header = _HEADER.pack(_MAGIC, call, len(text), len(views), zlib.crc32(checked))
        for part in (memoryview(header + checked), *views):
            self._send(part, deadline)

    def receive(self, deadline: float | None = None) -> Message:
        """The next message: the number of its call, its JSON, its blobs.

        Raises Closed, TimedOut, and WireError for bytes that are no message.
        """
        magic, call, text_size, count, crc = _HEADER.unpack(self._receive(_HEADER.size, deadline))
        if magic != _MAGIC:
            raise WireError("what came is no message")
        _check_sizes(text_size, count, 0)
        checked = self._receive(count * _SIZE.size + text_size, deadline)
        if zlib.crc32(checked) != crc:
            raise WireError("a message is damaged")
        sizes = [size for (size,) in _SIZE.iter_unpack(checked[: count * _SIZE.size])]
        _check_sizes(text_size, count, sum(sizes))
        try:
            message = json.loads(checked[count * _SIZE.size :])
        except (ValueError, RecursionError) as error:
            raise WireError("a message is not JSON") from error
        if not isinstance(message, dict):
            raise WireError("a message is no JSON object")
        return call, message, [self._receive(size, deadline) for size in sizes]

    def _send(self, view: memoryview, deadline: float | None) -> None:
        while len(view) > 0:
            try:
                view = view[self._socket.send(view, socket.MSG_NOSIGNAL) :]
            except BlockingIOError:
                self._wait(deadline, writing=True)
            except OSError as error:
                raise Closed from error

    def _receive(self, size: int, deadline: float | None) -> bytearray:
        """Exactly `size` bytes, in memory of their own, which is aligned to 16 bytes."""
        buffer = bytearray(size)
        view = memoryview(buffer)
        ended = False
        while len(view) > 0:
            try:
                count = self._socket.recv_into(view)
            except BlockingIOError:
                if ended:
                    raise Closed from None
                ended = self._wait(deadline, writing=False)
                continue
            except OSError as error:
                raise Closed from error
            if count == 0:
                raise Closed
            view = view[count:]
        return buffer

    def _wait(self, deadline: float | None, *, writing: bool) -> bool:
        """Waits until the socket is ready. Tells whether the other side's process has ended."""
        poll = select.poll()
        poll.register(self._socket, select.POLLOUT if writing else select.POLLIN)
        if self._lifeline is not None:
            poll.register(self._lifeline, select.POLLIN)
        seconds = None if deadline is None else deadline - time.monotonic()
        if seconds is not None and seconds <= 0:
            raise TimedOut
        ready = poll.poll(None if seconds is None else seconds * 1000)
        if not ready:
            raise TimedOut
        ended = any(fd == self._lifeline for fd, _ in ready)
        if ended and writing:
            raise Closed
        return ended


Handler = Callable[[str, dict[str, Any], list[bytearray]], tuple[dict[str, Any], list[Blob]]]


def serve(connection: Stream, handler: Handler) -> None:
    """A worker's life: answers calls by `handler` until the other side closes the connection.

    A call is {"method": ..., "message": ...}; the answer is {"answer": ...}, or {"declined": [kind,
    reason]} where the handler raises Declined.
    """
    while True:
        try:
            call, message, blobs = connection.receive()
        except Closed:
            return
        out: list[Blob] = []
        try:
            answer, out = handler(message["method"], message["message"], blobs)
            reply: dict[str, Any] = {"answer": answer}
        except Declined as error:
            reply = {"declined": [error.kind, error.reason]}
        try:
            connection.send(call, reply, out)
        except WireError as error:
            connection.send(call, {"declined": [NONSENSE, f"its answer is too large: {error}"]})
        except Closed:
            return


# Why a call was declined: what is wrong with the answer, or what the method itself said.
NONSENSE = "nonsense"
ERROR = "error"
UNSUPPORTED = "unsupported"


class Declined(Exception):
    """A call without an answer. kind: NONSENSE, ERROR or UNSUPPORTED; reason: a clause."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


def _check_sizes(text: int, count: int, blobs: int) -> None:
    if text > MAX_JSON:
        raise WireError(f"{text} bytes of JSON, {MAX_JSON} at most")
    if count > MAX_BLOBS:
        raise WireError(f"{count} blobs, {MAX_BLOBS} at most")
    if blobs > MAX_TOTAL:
        raise WireError(f"{blobs} bytes of data, {MAX_TOTAL} at most")
