"""Messages over a socket: whole, bounded, and in time, whatever the other side sends."""

from __future__ import annotations

import os
import random
import socket
import struct
import threading
import time
import zlib
from collections.abc import Iterator

import pytest

from mcu_deploy.dynamic import wire
from mcu_deploy.dynamic.wire import Closed, Stream, TimedOut, WireError

Ends = tuple[Stream, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    """A connection, and the bare socket at its other end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Stream(ours), theirs


def soon() -> float:
    return time.monotonic() + 0.2


def packed(
    text: bytes, sizes: tuple[int, ...] = (), magic: bytes = b"mcuB", wrong: int = 0
) -> bytes:
    checked = b"".join(struct.pack("<Q", size) for size in sizes) + text
    crc = zlib.crc32(checked) ^ wrong
    return struct.pack("<4sIIII", magic, 7, len(text), len(sizes), crc) + checked


def test_a_message_arrives_whole_though_it_is_larger_than_the_socket_holds(ends: Ends) -> None:
    ours, theirs = ends
    blobs = [os.urandom(3_000_000), b"", bytearray(b"abc"), memoryview(bytes(range(256)))]
    message = {
        "text": "Zürich \0 😀",
        "numbers": [1, -2, 1e300, float("inf")],
        "none": None,
    }
    sender = threading.Thread(target=lambda: Stream(theirs).send(9, message, blobs))
    sender.start()
    call, received, data = ours.receive(time.monotonic() + 20)
    sender.join()
    assert (call, received) == (9, message)
    assert data == [bytes(blob) for blob in blobs]


def test_a_message_may_come_byte_by_byte(ends: Ends) -> None:
    ours, theirs = ends
    whole = packed(b'{"a":1}', (2,)) + b"xy"

    def trickle() -> None:
        for byte in whole:
            theirs.sendall(bytes([byte]))

    sender = threading.Thread(target=trickle)
    sender.start()
    assert ours.receive(time.monotonic() + 20) == (7, {"a": 1}, [b"xy"])
    sender.join()


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"?" * 100, "no message"),
        (packed(b"{}", magic=b"mcuC"), "no message"),
        (packed(b"{}", wrong=1), "damaged"),
        (packed(b"{"), "not JSON"),
        (packed(b"\xff\xff"), "not JSON"),
        (packed(b"[" * 100_000), "not JSON"),
        (packed(b"9" * 10_000), "not JSON"),
        (packed(b"[]"), "no JSON object"),
        (packed(b"{}", (2**63,)), "bytes of data"),
        (packed(b"{}", (wire.MAX_TOTAL, 1)), "bytes of data"),
        (struct.pack("<4sIIII", b"mcuB", 0, 2**32 - 1, 0, 0), "bytes of JSON"),
        (struct.pack("<4sIIII", b"mcuB", 0, 0, 2**32 - 1, 0), "blobs"),
    ],
)
def test_what_is_no_message_is_an_error(ends: Ends, sent: bytes, reason: str) -> None:
    ours, theirs = ends
    theirs.sendall(sent)
    with pytest.raises(WireError, match=reason):
        ours.receive(soon())


def test_random_bytes_never_harm(ends: Ends) -> None:
    source = random.Random(3)
    for _ in range(300):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            data = bytearray(packed(b'{"answer":{"a":[1,2]}}', (3,)) + b"xyz")
            for _ in range(source.randint(1, 4)):
                data[source.randrange(len(data))] = source.randrange(256)
            theirs.sendall(data)
            theirs.shutdown(socket.SHUT_WR)
            try:
                _, message, _ = Stream(ours).receive(soon())
            except (Closed, WireError):
                continue
            assert isinstance(message, dict)


@pytest.mark.parametrize("sent", [b"", b"mcu", packed(b'{"a":1}', (5,)) + b"xy"])
def test_the_end_in_the_middle_is_an_end(ends: Ends, sent: bytes) -> None:
    ours, theirs = ends
    theirs.sendall(sent)
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(Closed):
        ours.receive(soon())


@pytest.mark.parametrize("sent", [b"", b"mcu", packed(b'{"a":1}', (5,)) + b"xy"])
def test_silence_is_a_time_out(ends: Ends, sent: bytes) -> None:
    ours, theirs = ends
    theirs.sendall(sent)
    with pytest.raises(TimedOut):
        ours.receive(soon())


def test_the_deadline_holds_for_the_whole_message(ends: Ends) -> None:
    """Not for each byte of one that trickles."""
    ours, theirs = ends
    stop, came = threading.Event(), threading.Event()

    def trickle() -> None:
        whole = packed(b'{"a":1}', (1000,)) + b"x" * 1000
        for byte in whole:
            if stop.wait(0.02):
                return
            theirs.sendall(bytes([byte]))
        came.set()

    sender = threading.Thread(target=trickle)
    sender.start()
    with pytest.raises(TimedOut):
        ours.receive(soon())
    stop.set()
    sender.join()
    assert not came.is_set(), "it did not wait for all of it"


def test_nobody_reading_is_a_time_out(ends: Ends) -> None:
    ours, _ = ends
    with pytest.raises(TimedOut):
        ours.send(1, {}, [bytes(8_000_000)], soon())


def test_too_much_is_not_sent(ends: Ends) -> None:
    ours, _ = ends
    block = memoryview(bytes(wire.MAX_TOTAL // 2))
    with pytest.raises(WireError, match="bytes of data"):
        ours.send(1, {}, [block, block, b"x"], soon())


def test_the_end_shows_though_others_hold_the_socket() -> None:
    ours, theirs = socket.socketpair()
    alive, lifeline = os.pipe()
    with ours, theirs:
        connection = Stream(ours, alive)
        os.close(lifeline)
        theirs.sendall(packed(b"{}")[:5])
        with pytest.raises(Closed):
            connection.receive(time.monotonic() + 5)
    os.close(alive)
