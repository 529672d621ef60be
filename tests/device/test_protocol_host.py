"""Both ends of the protocol: the firmware as a process under sanitizers, the client in front."""

from __future__ import annotations

import socket
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from device.protocol_lab import (
    MODELS,
    SANITIZED,
    X,
    Y,
    build_host_firmware,
    mini_layers,
    noisy_line,
    running,
)

from mcu_deploy.device import (
    Device,
    DeviceFault,
    EndlessRun,
    ExpectedModel,
    FaultCause,
    ProtocolError,
    connect,
    describe_fault,
)
from mcu_deploy.device.line import wire as wire_module
from mcu_deploy.device.line.codes import REPLY, Capability, Code, Provoke, RunFlag, TensorKind, Type
from mcu_deploy.device.line.framing import (
    PROTOCOL_VERSION,
    Frame,
    FrameReader,
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
from mcu_deploy.errors import DeviceError, UsageError

pytestmark = pytest.mark.needs_host_gcc

LONG_NAME = "0123456789abcdef" * 4  # a byte more than is told of a name


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    named = f'-DFAILING_OUTPUT="{LONG_NAME}"'
    return build_host_firmware(tmp_path_factory.mktemp("firmware"), *SANITIZED, named)


@pytest.fixture
def url(elf: Path, tmp_path: Path) -> Iterator[str]:
    with running(elf, tmp_path / "stderr") as url:
        yield url


@pytest.fixture
def device(url: str) -> Iterator[Device]:
    with connect(url) as device:
        yield device


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


def test_hello_and_description(device: Device) -> None:
    assert (device.hello.board, device.hello.core) == ("host", "host")
    assert device.hello.mtu == 1024 and Capability.TEST_COMMANDS in device.hello.capabilities
    mini = device.models[0]
    assert [model.name for model in device.models] == MODELS
    assert mini.source_sha256 == "010203" + "00" * 29
    assert mini.object_sha256 == "040506" + "00" * 29
    assert (mini.num_layers, mini.workspace_bytes, mini.stack_bytes) == (3, 9036, 512)
    x, y = mini.inputs
    assert (x.name, x.dtype, x.shape, x.scale, x.zero_point) == ("x", "i1", (1, 3000), 0.5, -3)
    assert (y.dtype, y.shape, y.scale, y.bytes) == (np.dtype("<f4"), (4,), 0.0, 16)
    assert mini.outputs[0].name == "z é"
    assert device.models[2].outputs[0].name == LONG_NAME[:63]


def test_infer_runs_the_network(device: Device) -> None:
    for _ in range(2):
        z, w = device.infer("mini", [X, Y])
        assert [z.tobytes(), w.tobytes()] == mini_layers(X)[2]
        assert z.shape == (1, 3000) and z.dtype == np.int8
    assert device.infer(1, [np.array([255], np.uint8)]) == [0]
    assert device.resent == 0


def test_models_do_not_disturb_each_other(device: Device) -> None:
    device.write_input("mini", 0, X.tobytes())
    device.write_input("tiny", 0, b"\x07")
    device.write_input("mini", 1, Y.tobytes())
    device.run("tiny")
    device.run("mini")
    assert device.read_output("tiny", 0) == b"\x08"
    assert device.read_output("mini", 0) == mini_layers(X)[2][0]


def test_layers(device: Device) -> None:
    expected = mini_layers(X)
    crcs = device.layer_crcs("mini", [X, Y])
    assert [(c.layer, c.output) for c in crcs] == [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1)]
    for crc in crcs:
        tensor = expected[crc.layer][crc.output]
        assert (crc.crc, crc.bytes) == (zlib.crc32(tensor), len(tensor))
        assert device.read_layer_output("mini", [X, Y], crc.layer, crc.output) == tensor
        assert device.tensor_crc("mini", TensorKind.LAYER, crc.layer, crc.output) == crc.crc


def test_a_layer_is_readable_only_while_it_is_there(device: Device) -> None:
    device.read_layer_output("mini", [X, Y], 1)
    device.write_input("tiny", 0, b"\x01")
    with pytest.raises(ProtocolError, match="NOT_THERE") as error:
        device.tensor_crc("mini", TensorKind.LAYER, 1)
    assert error.value.code == Code.NOT_THERE


def test_repetitions_say_whether_the_outputs_are_of_use(device: Device) -> None:
    device.write_input("tiny", 0, b"\x29")
    result = device.run("tiny", repeat=5)
    assert result.repetitions == 5 and result.outputs_valid
    assert 0 < result.counter_least <= result.counter_most
    assert 5 * result.counter_least <= result.counter_total <= 5 * result.counter_most
    assert 0 < result.stack_used < result.stack_size
    device.write_input("mini", 0, X.tobytes())
    device.write_input("mini", 1, Y.tobytes())
    assert not device.run("mini", repeat=2).outputs_valid  # layer 1 overwrites x
    with pytest.raises(UsageError, match="Write input 'x' of model mini before"):
        device.run("mini")


def test_profile(device: Device) -> None:
    profile = device.profile("mini", [X, Y], repeat=3)
    assert len(profile.layers) == 3 and all(cost > 0 for cost in profile.layers)
    assert sum(profile.layers) <= profile.run.counter_most


def test_echo_of_every_size(device: Device) -> None:
    data = bytes(range(256)) * 4
    for size in (*range(0, 1025, 61), 253, 254, 255, 256, 508, 1023, 1024):
        assert device.echo(data[:size]) == data[:size]
        assert device.echo(bytes(size)) == bytes(size)


def test_self_test(device: Device) -> None:
    device.write_input("tiny", 0, b"\x01")
    assert device.self_test() == 0
    with pytest.raises(UsageError, match="Write input"):
        device.run("tiny")


def test_wrong_arguments_are_said_before_anything_is_sent(device: Device) -> None:
    with pytest.raises(
        UsageError, match="no model 'vww'; it has mini, tiny, failing, slow, parts, sized"
    ):
        device.infer("vww", [])
    with pytest.raises(UsageError, match="takes 2 inputs, 1 were given"):
        device.infer("mini", [X])
    with pytest.raises(UsageError, match=r"'y' of model mini is float32 of shape \(4,\); float64"):
        device.infer("mini", [X, Y.astype(np.float64)])
    with pytest.raises(UsageError, match="has 3000 bytes, 2 were given"):
        device.write_input("mini", 0, b"xx")
    with pytest.raises(UsageError, match="no output 2; it has 2"):
        device.read_output("mini", 2)


def test_a_failed_run_names_the_reason(device: Device) -> None:
    with pytest.raises(ProtocolError) as error:
        device.infer("failing", [np.array([1], np.uint8)])
    assert (error.value.code, error.value.detail) == (Code.RUN_FAILED, -13)
    assert "RUN: " in str(error.value) and "RUN_FAILED, -13" in str(error.value)
    assert device.infer("tiny", [np.array([1], np.uint8)]) == [2]


def test_a_long_run_keeps_the_line_alive(url: str) -> None:
    with connect(url, latency=0.02) as device:
        began = time.monotonic()
        assert device.infer("slow", [np.array([8], np.uint8)]) == [9]
        assert time.monotonic() - began > 0.3
        assert device.resent == 0


def test_log(url: str) -> None:
    said: list[str] = []
    with connect(url, log=said.append) as device:
        device.provoke(Provoke.LOG)
        with pytest.raises(ProtocolError, match="RUN_FAILED"):
            device.infer("failing", [np.array([1], np.uint8)])
    assert said == ["test", "0123456789abcdef" * 6]  # and no more than an event holds


X_REF = pack_tensor(0, TensorKind.INPUT, 0)
ERRORS = [
    (0x11, b"", Code.UNKNOWN_TYPE, 17),
    (0x00, b"", Code.UNKNOWN_TYPE, 0),
    (Type.HELLO, b"x", Code.BAD_LENGTH, 1),
    (Type.PING, b"x", Code.BAD_LENGTH, 1),
    (Type.DESCRIBE, b"\0", Code.BAD_LENGTH, 1),
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
    (Type.RESET_STATE, b"\4", Code.BAD_LENGTH, 1),
    (Type.READ_REPLY, bytes(5), Code.BAD_LENGTH, 5),
    (Type.READ_REPLY, bytes(7), Code.BAD_LENGTH, 7),
    (Type.RESET_STATE, b"\6\0", Code.NO_SUCH_MODEL, 6),
    (Type.READ, pack_read(pack_tensor(4, TensorKind.KEPT, 1), 0, 1), Code.NO_SUCH_TENSOR, 1),
    (Type.READ, pack_read(pack_tensor(4, TensorKind.STATE, 1), 0, 1), Code.NO_SUCH_TENSOR, 1),
    (Type.TENSOR_CRC, pack_tensor(4, TensorKind.STATE, 0, 1), Code.NO_SUCH_TENSOR, 1),
    (Type.TENSOR_CRC, pack_tensor(4, TensorKind.PARTITION_INPUT, 2), Code.NO_SUCH_PARTITION, 2),
    (Type.TENSOR_CRC, pack_tensor(4, TensorKind.PARTITION_OUTPUT, 1, 1), Code.NO_SUCH_TENSOR, 1),
    (
        Type.WRITE,
        pack_write(pack_tensor(4, TensorKind.KEPT, 0), 0, b"x"),
        Code.NO_SUCH_TENSOR,
        0,
    ),
    (Type.RESIZE, bytes(5), Code.BAD_LENGTH, 5),
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
    assert [frame.type for frame in wire.ask(Type.PING, seq=2)] == [Type.PING + 0x80]
    wire.ask(Type.HELLO, seq=3)
    assert [frame.type for frame in wire.ask(Type.TENSOR_CRC, X_REF)] == [Type.TENSOR_CRC + 0x80]
    wire.close()


def test_what_is_no_request_gets_no_answer(wire: Wire) -> None:
    assert wire.ask(Type.HELLO | 0x80) == []  # a line that echoes
    assert wire.ask(Type.LOG, b"hello") == []
    good = encode_frame(Frame(Type.PING, 5))
    wire.send(good[:-6] + bytes([good[-6] ^ 1]) + good[-5:])  # a wrong CRC
    wire.send(b"\x05" * 3000 + b"\0")  # longer than its buffer
    wire.send(encode_frame(Frame(Type.ECHO, 6, b"half"))[:9])  # half a frame, then a whole one
    assert [(frame.type, frame.seq) for frame in wire.ask(Type.PING, seq=7)] == [(0x82, 7)]


FAULTS = {
    Provoke.UNDEFINED_INSTRUCTION: FaultCause.UNDEFINED_INSTRUCTION,
    Provoke.BAD_READ: FaultCause.BAD_READ,
    Provoke.BAD_WRITE: FaultCause.BAD_WRITE,
    Provoke.BAD_JUMP: FaultCause.BAD_JUMP,
    Provoke.STACK_OVERFLOW: FaultCause.STACK_OVERFLOW,
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_reaches_the_host_and_the_device_restarts(
    device: Device, elf: Path, what: Provoke
) -> None:
    with pytest.raises(DeviceFault) as fault:
        device.provoke(what)
    report = fault.value.report
    assert report.cause == FAULTS[what]
    assert report.layer is None
    text = describe_fault(report, elf)
    assert "LR" not in text and "CFSR" not in text  # a process has none
    if what in (Provoke.UNDEFINED_INSTRUCTION, Provoke.BAD_READ, Provoke.BAD_WRITE):
        assert " provoke+0x" in text
    device.await_restart()
    assert device.infer("tiny", [np.array([1], np.uint8)]) == [2]


def test_a_fault_in_a_layer_names_the_layer(device: Device) -> None:
    device.provoke(Provoke.BAD_READ, model=0, layer=1)
    with pytest.raises(DeviceFault, match="in layer 1 of model 0") as fault:
        device.infer("mini", [X, Y])
    assert (fault.value.report.model, fault.value.report.layer) == (0, 1)
    device.await_restart()
    z, _ = device.infer("mini", [X, Y])
    assert z.tobytes() == mini_layers(X)[2][0]


def test_a_run_that_does_not_end_is_stopped_and_its_layer_named(url: str) -> None:
    with connect(url, latency=0.5, run_timeout=0.5) as device:
        device.provoke(Provoke.ENDLESS, model=0, layer=1)
        with pytest.raises(EndlessRun, match=r"No layer ended for 0\.5 s") as fault:
            device.infer("mini", [X, Y])
        assert fault.value.report.cause == FaultCause.STOPPED
        assert (fault.value.report.model, fault.value.report.layer) == (0, 1)
        device.await_restart()
        z, _ = device.infer("mini", [X, Y])
        assert z.tobytes() == mini_layers(X)[2][0]
        with pytest.raises(ProtocolError):
            device.provoke(Provoke.ENDLESS)  # outside of a layer nothing would stop it


def test_a_fault_on_the_way_to_the_stop_is_told_as_it_is(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(url, latency=0.5, run_timeout=0.5) as device:
        with pytest.raises(DeviceFault) as real:
            device.provoke(Provoke.BAD_READ)
        device.await_restart()

        def stop(wire: wire_module.Wire) -> None:
            """The device has just come to a fault of its own."""

            def fault(*_: object) -> None:
                raise real.value

            monkeypatch.setattr(wire, "next_frame", fault)

        device.provoke(Provoke.ENDLESS, model=0, layer=1)
        monkeypatch.setattr(wire_module.Wire, "stop", stop)
        with pytest.raises(DeviceFault) as told:
            device.infer("mini", [X, Y])
        assert told.value is real.value


def test_what_the_device_computes_is_no_time_on_the_line(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long run would let the next lost frame be waited for as long."""
    noted: list[float] = []
    monkeypatch.setattr(wire_module.Wire, "note_round_trip", lambda _, s: noted.append(s))
    device.self_test()
    assert noted == []
    device.echo(b"quick")
    assert len(noted) == 1


def test_a_run_that_was_asked_often_can_still_be_stopped(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More has come than the firmware keeps while it runs: the rest is dropped, and read."""
    monkeypatch.setattr(wire_module, "_STOP", b"\x01" * 5000 + wire_module._STOP)
    with connect(url, latency=0.5, run_timeout=0.5) as device:
        device.provoke(Provoke.ENDLESS, model=0, layer=1)
        with pytest.raises(EndlessRun, match="in layer 1 of model 0"):
            device.infer("mini", [X, Y])


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


def test_reset_forgets_what_was_written(device: Device) -> None:
    device.write_input("tiny", 0, b"\x01")
    before = device.tensor_crc("tiny", TensorKind.INPUT, 0)
    device.reset()
    assert device.tensor_crc("tiny", TensorKind.INPUT, 0) == zlib.crc32(b"\0") != before


def test_another_build_is_refused(url: str) -> None:
    good = ExpectedModel("tiny", "07" + "00" * 31, "08" + "00" * 31)
    with connect(url, expect=[good]):
        pass
    with pytest.raises(DeviceError, match="another build of the same model file"):
        connect(url, expect=[good, ExpectedModel("mini", "010203" + "00" * 29, "11" * 32)])


def test_everything_arrives_over_a_noisy_line(url: str) -> None:
    """Through a socket; test_protocol_damage.py has the many."""
    with noisy_line(url, 3, 0.002) as noisy, connect(noisy) as device:
        expected = mini_layers(X)
        for _ in range(2):
            z, w = device.infer("mini", [X, Y])
            assert [z.tobytes(), w.tobytes()] == expected[2]
        crcs = {(c.layer, c.output): c.crc for c in device.layer_crcs("mini", [X, Y])}
        wanted = {(i, j): zlib.crc32(t) for i, ts in enumerate(expected) for j, t in enumerate(ts)}
        assert crcs == wanted
        assert device.read_layer_output("mini", [X, Y], 1) == expected[1][0]
        assert device.resent > 0
