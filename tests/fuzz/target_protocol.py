"""What a device answers: a recorded conversation, its replies changed, and bytes on the line.

A file is the conversation: of each request the frames of its reply. The line has a clock of its
own, so that nothing is waited for.
"""

from __future__ import annotations

import functools
import random
import struct
import tempfile
import zlib
from pathlib import Path

import numpy as np
from device.protocol_lab import build_host_firmware, running
from fuzz.harness import change_bytes
from fuzz.target_report import built

from mcu_deploy.api.folder import open_folder
from mcu_deploy.device import connect
from mcu_deploy.device.emulators import open_emulator
from mcu_deploy.device.line.client import Device
from mcu_deploy.device.line.codes import REPLY, Type
from mcu_deploy.device.line.framing import Frame, FrameReader, encode_frame
from mcu_deploy.device.line.link import Link
from mcu_deploy.device.line.transport import Transport
from mcu_deploy.errors import DeviceError

SUFFIX = ".frames"
Conversation = list[list[tuple[int, bytes]]]


class _Recorder(Transport):
    """A line that keeps what goes over it."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.sent, self.received = b"", b""

    def read(self, timeout: float) -> bytes:
        data = super().read(timeout)
        self.received += data
        return data

    def write(self, data: bytes) -> None:
        self.sent += data
        super().write(data)


class _Line:
    """Answers each request with the next reply of a conversation, then with nothing."""

    url, baud, emulator = "fuzz", 115200, ""

    def __init__(self, conversation: Conversation, noise: bytes) -> None:
        self._replies = iter(conversation)
        self._reader = FrameReader()
        self._out = noise
        self._seconds = 0.0

    def now(self) -> float:
        return self._seconds

    def read(self, timeout: float) -> bytes:
        self._seconds += 0.001 if self._out else max(timeout, 0.001)
        out, self._out = self._out, b""
        return out

    def write(self, data: bytes) -> None:
        for request in self._reader.feed(data):
            if request.type == Type.PING:
                self._out += encode_frame(Frame(Type.PING + REPLY, request.seq))
                continue
            for kind, payload in next(self._replies, []):
                self._out += encode_frame(Frame(kind, request.seq, payload))

    def reopen(self, patience: float) -> None:
        raise DeviceError("The line is gone.")

    def close(self) -> None:
        pass


def _talk(link: Link) -> None:
    device = Device(link)
    if not device.models:
        return
    model = device.models[-1]
    if model.size is not None:
        model = device.resize(model.index, (model.size.least + model.size.most) // 2)
    inputs = [np.zeros(t.shape, t.dtype) for t in model.inputs]
    device.infer(model.index, inputs)
    device.watch(model.index, inputs)
    device.profile(model.index, inputs)
    for kept in model.kept:
        device.kept(model.index, kept.name)
    device.echo(b"hello")
    device.self_test()


def _link(transport: object) -> Link:
    return Link(transport, latency=3.0, retries=20, run_timeout=60.0, log=lambda text: None)  # type: ignore[arg-type]


@functools.cache
def SEEDS() -> list[bytes]:
    """A built model, and the last of the hand-written ones, whose size each run decides."""
    folder = open_folder(built())
    with open_emulator(folder.board, folder.firmware) as emulator:
        found = [_recorded(emulator.url)]
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with running(build_host_firmware(directory), directory / "stderr") as url:
            return [*found, _recorded(url)]


def _recorded(url: str) -> bytes:
    connect(url).close()
    with _Recorder(url) as line:
        _talk(_link(line))
    requests, replies = FrameReader().feed(line.sent), FrameReader().feed(line.received)
    answers = [
        [(r.type, r.payload) for r in replies if r.seq == q.seq]
        for q in requests
        if q.type != Type.PING  # a busy machine brings some, and what was asked again
    ]
    return _pack([frames for frames in answers if frames])


def _pack(conversation: Conversation) -> bytes:
    made = b""
    for frames in conversation:
        made += struct.pack("<B", min(len(frames), 255))
        for kind, payload in frames[:255]:
            made += struct.pack("<BH", kind, len(payload)) + payload
    return zlib.compress(made)


def _unpack(data: bytes) -> Conversation:
    data = zlib.decompress(data)
    conversation: Conversation = []
    place = 0
    while place < len(data):
        frames, count, place = [], data[place], place + 1
        for _ in range(count):
            kind, size = struct.unpack_from("<BH", data, place)
            frames.append((kind, data[place + 3 : place + 3 + size]))
            place += 3 + size
        conversation.append(frames)
    return conversation


def mutate(choose: random.Random, seed: bytes, seeds: list[bytes]) -> bytes:
    conversation = _unpack(seed)
    for _ in range(choose.choice((1, 1, 1, 2, 3))):
        frames = choose.choice(conversation)
        way = choose.randrange(8)
        if way <= 4 and frames:
            index = choose.randrange(len(frames))
            kind, payload = frames[index]
            frames[index] = (kind, change_bytes(choose, payload or b"\0", [payload])[:60000])
        elif way == 5 and frames:
            index = choose.randrange(len(frames))
            frames[index] = (choose.randrange(256), frames[index][1])
        elif way == 6:
            frames.extend(choose.choice(conversation))
        else:
            del frames[choose.randrange(len(frames) + 1) :]
    return _pack(conversation)


def read(path: Path) -> None:
    data = path.read_bytes()
    noise = data if len(data) % 4 == 0 else b""
    _talk(_link(_Line(_unpack(data), noise)))
