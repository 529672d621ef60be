"""What the firmware answers to single requests and frames, wrong ones among them."""

from __future__ import annotations

import socket
import struct
import zlib
from collections.abc import Iterator

import numpy as np
import pytest

from mcu_deploy.device import ProtocolError, connect
from mcu_deploy.device.line.codes import REPLY, Code, RunFlag, TensorKind, Type
from mcu_deploy.device.line.framing import (
    CRC,
    HEADER,
    PROTOCOL_VERSION,
    Frame,
    FrameReader,
    cobs_encode,
    encode_frame,
    unpack_frame,
)
from mcu_deploy.device.line.messages import (
    pack_partition,
    pack_read,
    pack_read_reply,
    pack_resize,
    pack_run,
    pack_tensor,
    pack_write,
    unpack_read_reply,
)

pytestmark = pytest.mark.needs_host_gcc


class Wire:
    """Raw frames to and from the firmware, without any help from the client."""

    def __init__(self, url: str) -> None:
        self._port = int(url.rpartition(":")[2])
        self._line = socket.create_connection(("127.0.0.1", self._port))
        self._reader = FrameReader()

    def send(self, data: bytes) -> None:
        self._line.sendall(data)

    def ask(
        self, kind: int, payload: bytes = b"", seq: int = 1, version: int = PROTOCOL_VERSION
    ) -> list[Frame]:
        """What comes, events included, before the answer to a PING that is sent behind."""
        last = Frame(Type.PING, 0xFFFF)
        self.send(encode_frame(Frame(kind, seq, payload, version)) + encode_frame(last))
        self._line.settimeout(60)
        found: list[Frame] = []
        while not found or (found[-1].type, found[-1].seq) != (last.type + REPLY, last.seq):
            found += self._reader.feed(self._line.recv(65536))
        return [frame for frame in found[:-1] if frame.type != Type.READY]

    def close(self) -> None:
        self._line.close()


@pytest.fixture
def wire(url: str) -> Iterator[Wire]:
    wire = Wire(url)
    wire.ask(Type.HELLO, seq=100)
    yield wire
    wire.close()


X_REF = pack_tensor(0, TensorKind.INPUT, 0)
ERRORS = [
    (0x11, b"", Code.UNKNOWN_TYPE, 17),
    (0x00, b"", Code.UNKNOWN_TYPE, 0),
    (Type.HELLO, b"x", Code.BAD_LENGTH, 1),
    (Type.PING, b"x", Code.BAD_LENGTH, 1),
    (Type.DESCRIBE, b"\0", Code.BAD_LENGTH, 1),
    (Type.DESCRIBE, b"\0\0x", Code.BAD_LENGTH, 3),
    (Type.DESCRIBE, b"\6\0", Code.NO_SUCH_MODEL, 6),
    (Type.DESCRIBE_TENSOR, X_REF + b"x", Code.BAD_LENGTH, 9),
    (Type.DESCRIBE_TENSOR, pack_tensor(0, TensorKind.OUTPUT, 2), Code.NO_SUCH_TENSOR, 2),
    (Type.READ, X_REF, Code.BAD_LENGTH, 8),
    (Type.READ, pack_read(X_REF, 2999, 2), Code.OUT_OF_RANGE, 3000),
    (Type.READ, pack_read(X_REF, 0, 1017), Code.OUT_OF_RANGE, 3000),
    (Type.READ, pack_read(X_REF, 0xFFFFFFFF, 2), Code.OUT_OF_RANGE, 3000),
    (Type.WRITE, pack_write(X_REF, 2999, b"xx"), Code.OUT_OF_RANGE, 3000),
    (Type.WRITE, pack_write(X_REF, 0xFFFFFFFF, b"xx"), Code.OUT_OF_RANGE, 3000),
    (
        Type.WRITE,
        pack_write(pack_tensor(0, TensorKind.OUTPUT, 0), 0, b"x"),
        Code.NO_SUCH_TENSOR,
        0,
    ),
    (Type.WRITE, pack_write(pack_tensor(9, TensorKind.INPUT, 0), 0, b"x"), Code.NO_SUCH_MODEL, 6),
    (Type.TENSOR_CRC, struct.pack("<HHHH", 0, 7, 0, 0), Code.NO_SUCH_TENSOR, 0),
    (Type.TENSOR_CRC, struct.pack("<HHHH", 0, 256, 0, 0), Code.NO_SUCH_TENSOR, 0),
    (Type.TENSOR_CRC, pack_tensor(0, TensorKind.INPUT, 0, 1), Code.NO_SUCH_TENSOR, 2),
    (Type.TENSOR_CRC, pack_tensor(0, TensorKind.LAYER, 3), Code.NO_SUCH_LAYER, 3),
    (Type.TENSOR_CRC, pack_tensor(0, TensorKind.LAYER, 1, 2), Code.NO_SUCH_TENSOR, 2),
    (Type.TENSOR_CRC, pack_tensor(0, TensorKind.LAYER, 1), Code.NOT_THERE, 1),
    (Type.RUN, b"\0" * 9, Code.BAD_LENGTH, 9),
    (Type.RUN, pack_run(0, RunFlag(0), 1, 0, [1]), Code.BAD_LENGTH, 14),
    (Type.RUN, pack_run(6, RunFlag(0), 1, 0, []), Code.NO_SUCH_MODEL, 6),
    (Type.RUN, pack_run(0, RunFlag(0), 0, 0, []), Code.BAD_VALUE, 0),
    (Type.RUN, pack_run(0, RunFlag(0), 1, 1, []), Code.BAD_VALUE, 0),
    (Type.RUN, pack_run(0, RunFlag.LAYER_CRC, 2, 0, []), Code.BAD_VALUE, 1),
    (Type.RUN, struct.pack("<5H", 0, 0xFFFF, 64, 1, 0), Code.BAD_VALUE, 64),
    (Type.RUN, pack_run(0, RunFlag.STOP_AFTER, 1, 3, []), Code.NO_SUCH_LAYER, 3),
    (Type.RUN, pack_run(0, RunFlag(0), 1, 0, [zlib.crc32(bytes(3000)), 1]), Code.INPUT_CRC, 1),
    (Type.RUN, pack_run(4, RunFlag(0), 1, 0, [], 2), Code.NO_SUCH_PARTITION, 2),
    (Type.RUN, pack_run(4, RunFlag(0), 1, 0, [1, 2], 1), Code.BAD_LENGTH, 18),
    (Type.RUN, pack_run(4, RunFlag(0), 1, 0, [1], 1), Code.INPUT_CRC, 0),
    (Type.DESCRIBE_PARTITION, pack_partition(4, 2), Code.NO_SUCH_PARTITION, 2),
    (Type.DESCRIBE_PARTITION, pack_partition(0, 0), Code.NO_SUCH_PARTITION, 0),
    (Type.DESCRIBE_PARTITION, pack_partition(6, 0), Code.NO_SUCH_MODEL, 6),
    (Type.DESCRIBE_PARTITION, b"\4\0", Code.BAD_LENGTH, 2),
    (Type.DESCRIBE_PARTITION, b"\4\0\0\0x", Code.BAD_LENGTH, 5),
    (Type.RESET_STATE, b"\4", Code.BAD_LENGTH, 1),
    (Type.RESET_STATE, b"\4\0x", Code.BAD_LENGTH, 3),
    (Type.READ_REPLY, bytes(5), Code.BAD_LENGTH, 5),
    (Type.READ_REPLY, bytes(7), Code.BAD_LENGTH, 7),
    (Type.RESET_STATE, b"\6\0", Code.NO_SUCH_MODEL, 6),
    (Type.READ, pack_read(pack_tensor(4, TensorKind.KEPT, 1), 0, 1), Code.NO_SUCH_TENSOR, 1),
    (Type.READ, pack_read(pack_tensor(4, TensorKind.STATE, 1), 0, 1), Code.NO_SUCH_TENSOR, 1),
    (Type.TENSOR_CRC, pack_tensor(4, TensorKind.STATE, 0, 1), Code.NO_SUCH_TENSOR, 1),
    (Type.TENSOR_CRC, pack_tensor(4, TensorKind.PARTITION_INPUT, 2), Code.NO_SUCH_PARTITION, 2),
    (Type.TENSOR_CRC, pack_tensor(4, TensorKind.PARTITION_OUTPUT, 1, 2), Code.NO_SUCH_TENSOR, 2),
    (
        Type.WRITE,
        pack_write(pack_tensor(4, TensorKind.KEPT, 0), 0, b"x"),
        Code.NO_SUCH_TENSOR,
        0,
    ),
    (Type.RESIZE, bytes(5), Code.BAD_LENGTH, 5),
    (Type.RESIZE, bytes(7), Code.BAD_LENGTH, 7),
    (Type.RESIZE, pack_resize(6, 4), Code.NO_SUCH_MODEL, 6),
    (Type.RESIZE, pack_resize(0, 1), Code.BAD_SIZE, 0),
    (Type.RESIZE, pack_resize(5, 1), Code.BAD_SIZE, 9),
    (Type.RESIZE, pack_resize(5, 10), Code.BAD_SIZE, 9),
    (Type.RESIZE, pack_resize(5, 0xFFFFFFFF), Code.BAD_SIZE, 9),
    (Type.PROVOKE, b"", Code.BAD_LENGTH, 0),
    (Type.PROVOKE, struct.pack("<BBHH", 99, 0, 0, 0), Code.BAD_VALUE, 99),
    (Type.PROVOKE, struct.pack("<BBHH", 1, 1, 0, 3), Code.NO_SUCH_LAYER, 3),
]


def test_errors_name_what_was_wrong_and_the_device_goes_on(url: str) -> None:
    with connect(url) as device:
        for kind, payload, code, detail in ERRORS:
            with pytest.raises(ProtocolError) as error:
                device._link.request(kind, payload)
            got = error.value
            assert (got.code, got.request) == (code, kind), (kind, payload)
            assert got.detail == detail, (kind, payload)
            assert len(got.text) > 10
        assert device.infer("tiny", [np.array([1], np.uint8)]) == [2]


def test_another_version_is_refused_with_the_device_s(wire: Wire) -> None:
    (reply,) = wire.ask(Type.HELLO, version=3)
    assert (reply.type, reply.version) == (Type.ERROR, PROTOCOL_VERSION)
    assert struct.unpack_from("<HHi", reply.payload) == (
        Code.BAD_VERSION,
        Type.HELLO,
        PROTOCOL_VERSION,
    )


def test_a_reply_is_read_in_parts(wire: Wire) -> None:
    """Of the last request, by its number, as often as asked for, and never more than there is."""

    def part(seq: int, offset: int, count: int) -> tuple[int, bytes]:
        (reply,) = wire.ask(Type.READ_REPLY, pack_read_reply(seq, offset, count), seq=50)
        return unpack_read_reply(reply.payload)

    (whole,) = wire.ask(Type.DESCRIBE, b"\0\0", seq=7)
    total, first = part(7, 0, 16)
    parts = [first, *(part(7, at, 16)[1] for at in range(16, total, 16))]
    assert unpack_frame(b"".join(parts)) == whole
    assert part(7, total - 3, 0xFFFF) == (total, b"".join(parts)[-3:])
    assert part(7, 0, 0xFFFF) == (total, b"".join(parts)[:94])
    assert part(7, 0xFFFF, 0xFFFF) == (total, b"")
    assert part(8, 0, 16) == (0, b"")
    (greeting,) = wire.ask(Type.HELLO, seq=9)
    assert part(9, 0, 6) == (
        len(greeting.payload) + 10,
        b"\2\x81\x09\0" + bytes([len(greeting.payload), 0]),
    )
    assert part(7, 0, 16) == (0, b"")


def test_a_repeated_request_is_answered_again_but_not_done_again(wire: Wire) -> None:
    tiny = pack_tensor(1, TensorKind.INPUT, 0)
    wire.ask(Type.WRITE, pack_write(tiny, 0, b"\5"), seq=1)
    first = wire.ask(Type.RUN, pack_run(1, RunFlag(0), 1, 0, []), seq=2)
    assert [frame.type for frame in first] == [Type.BUSY, Type.RUN + 0x80]
    ping = wire.ask(Type.PING, seq=9)
    assert [(frame.type, frame.seq) for frame in ping] == [(Type.PING + 0x80, 9)]
    again = wire.ask(Type.RUN, pack_run(1, RunFlag(0), 1, 0, []), seq=2)
    assert again == first[1:]
    other = wire.ask(Type.RUN, pack_run(1, RunFlag(0), 2, 0, []), seq=2)  # same seq, other request
    assert [frame.type for frame in other] == [Type.BUSY, Type.RUN + 0x80]
    wire.ask(Type.HELLO, seq=3)
    fresh = wire.ask(Type.RUN, pack_run(1, RunFlag(0), 2, 0, []), seq=2)  # HELLO forgets
    assert [frame.type for frame in fresh] == [Type.BUSY, Type.RUN + 0x80]


def test_who_has_not_said_hello_since_the_start_is_told_so(url: str) -> None:
    wire = Wire(url)
    (refused,) = wire.ask(Type.TENSOR_CRC, X_REF)
    assert refused.type == Type.ERROR and refused.payload[0] == Code.NOT_GREETED
    (part,) = wire.ask(Type.READ_REPLY, pack_read_reply(1, 0, 16), seq=2)
    assert unpack_read_reply(part.payload) == (0, b"")
    assert [frame.type for frame in wire.ask(Type.PING, seq=2)] == [Type.PING + 0x80]
    wire.ask(Type.HELLO, seq=3)
    assert [frame.type for frame in wire.ask(Type.TENSOR_CRC, X_REF)] == [Type.TENSOR_CRC + 0x80]
    wire.close()


def test_what_is_no_request_gets_no_answer(wire: Wire) -> None:
    assert wire.ask(Type.HELLO | 0x80) == []  # a line that echoes
    assert wire.ask(Type.LOG, b"hello") == []
    good = encode_frame(Frame(Type.PING, 5))
    wire.send(good[:-6] + bytes([good[-6] ^ 1]) + good[-5:])  # a wrong CRC
    body = HEADER.pack(PROTOCOL_VERSION, Type.ECHO, 5, 0) + b"x"  # more than the header says
    wire.send(b"\0" + cobs_encode(body + CRC.pack(zlib.crc32(body))) + b"\0")
    (hello,) = wire.ask(Type.HELLO, seq=101)
    (mtu,) = struct.unpack_from("<H", hello.payload, 2)
    body = HEADER.pack(PROTOCOL_VERSION, Type.ECHO, 5, mtu) + bytes(mtu)
    wire.send(b"\0" + cobs_encode(body + CRC.pack(zlib.crc32(body)) + b"x") + b"\0")
    wire.send(b"\x05" * 3000 + b"\0")  # longer than its buffer, as that is by a byte
    wire.send(encode_frame(Frame(Type.ECHO, 6, b"half"))[:9])  # half a frame, then a whole one
    assert [(frame.type, frame.seq) for frame in wire.ask(Type.PING, seq=7)] == [(0x82, 7)]


def test_a_frame_that_ends_inside_of_a_block_is_none(wire: Wire) -> None:
    """All of its bytes are there, and the checksum; the last block says that one is missing."""
    line = bytearray(encode_frame(Frame(Type.PING, 8, b"")))
    at = next(n for n, byte in enumerate(line) if byte)
    while line[at + line[at]] != 0:
        at += line[at]
    line[at] += 1
    wire.send(bytes(line))
    assert [frame.seq for frame in wire.ask(Type.PING, seq=9)] == [9]


def test_nothing_is_read_at_the_end_of_a_tensor(wire: Wire) -> None:
    for seq, (offset, is_there) in enumerate(((3000, True), (3001, False)), 20):
        (reply,) = wire.ask(Type.READ, pack_read(X_REF, offset, 0), seq=seq)
        assert (reply.type != Type.ERROR) == is_there


def test_zeros_stop_nothing_but_a_run(wire: Wire) -> None:
    wire.send(bytes(1000))
    assert [(frame.type, frame.seq) for frame in wire.ask(Type.PING, seq=7)] == [(0x82, 7)]
