"""What comes over a serial line, in words: frames of the protocol, and any other bytes as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcu_deploy.device.line import codes, messages
from mcu_deploy.device.line.codes import REPLY, Type
from mcu_deploy.device.line.fault import FaultReport, unpack_fault
from mcu_deploy.device.line.framing import (
    MAX_PAYLOAD,
    PROTOCOL_VERSION,
    Frame,
    decode_frame,
    encode_frame,
)
from mcu_deploy.device.line.models import ExpectedModel, refuse_other_models
from mcu_deploy.device.line.wire import other_version
from mcu_deploy.errors import DeviceError

_SHOWN_BYTES = 16
_LAST_SEQ = 0xFFFF


class Monitor:
    """Takes bytes, gives lines of text; asks the device who it is, where it may.

    fault: a fault report in words. asks: whether to send HELLO at the start and after a restart,
    and DESCRIBE for each model; `to_send` then holds the bytes for the line. expect: the models
    that were built; a device with others is said to be one.
    """

    def __init__(
        self,
        fault: Callable[[FaultReport], str] = lambda report: f"fault: {report.sentence}",
        *,
        asks: bool = True,
        expect: Sequence[ExpectedModel] = (),
    ) -> None:
        self._fault = fault
        self._asks = asks
        self._expect = expect
        self._seq = 0
        self._rest = b""
        self._asked = b""
        self._greeted: messages.Hello | None = None
        self._models: dict[int, messages.ModelHeader] = {}
        self._ask(Type.HELLO)

    def to_send(self) -> bytes:
        """Requests for the device, once each."""
        asked, self._asked = self._asked, b""
        return asked

    def feed(self, data: bytes) -> list[str]:
        """Takes the next bytes; returns the lines that they complete."""
        lines: list[str] = []
        *whole, self._rest = (self._rest + data).split(b"\0")
        for part in whole:
            frame = decode_frame(part)
            lines += self._words(frame) if frame is not None else _text(part)
        # A frame's second byte is its version, which is not printable: so this is none.
        text, newline, rest = self._rest.rpartition(b"\n")
        if newline and _is_text(text):
            lines += _text(text)
            self._rest = rest
        if len(self._rest) > 2 * MAX_PAYLOAD:
            lines += self.flush()
        return lines

    def flush(self) -> list[str]:
        """What has come of a line of text that does not go on; a frame that is cut off stays."""
        if not _is_text(self._rest) and len(self._rest) <= 2 * MAX_PAYLOAD:
            return []
        rest, self._rest = self._rest, b""
        return _text(rest)

    def _ask(self, kind: Type, payload: bytes = b"") -> None:
        if self._asks:
            self._seq = self._seq % _LAST_SEQ + 1
            self._asked += encode_frame(Frame(kind, self._seq, payload))

    def _words(self, frame: Frame) -> list[str]:
        if frame.version != PROTOCOL_VERSION:
            return [str(other_version(frame.version))]
        try:
            return self._known(frame)
        except DeviceError as error:
            return [str(error)]

    def _known(self, frame: Frame) -> list[str]:
        payload = frame.payload
        match frame.type:
            case Type.LOG:
                return [f"log: {line}" for line in payload.decode(errors="replace").splitlines()]
            case Type.FAULT:
                return self._fault(unpack_fault(payload)).splitlines()
            case Type.READY:
                self._greeted = None
                self._ask(Type.HELLO)
                return [f"ready: the device has started (protocol version {PROTOCOL_VERSION})"]
            case Type.BUSY:
                model, layers = messages.unpack_busy(payload)
                return [f"busy: model {model} runs, {layers} layers are finished"]
            case Type.LAYER_CRC:
                crc = messages.unpack_layer_crc(payload)
                return [f"layer {crc.layer}, output {crc.output}: CRC-32 {crc.crc:08x}"]
            case Type.LAYER_TIME:
                time = messages.unpack_layer_time(payload)
                return [f"layer {time.layer}, repetition {time.repetition}: {time.counter:,}"]
            case Type.ERROR:
                return [str(messages.unpack_error(payload))]
            case kind if kind == Type.HELLO + REPLY:
                return self._hello(messages.unpack_hello(payload))
            case kind if kind == Type.DESCRIBE + REPLY:
                return self._model(messages.unpack_describe(payload))
            case kind if kind == Type.RUN + REPLY:
                run = messages.unpack_run(payload)
                return [
                    f"run: model {run.model}, {run.layers} layers, {run.repetitions} times; "
                    f"counter {run.counter_least:,} at least; stack {run.stack_used:,} of "
                    f"{run.stack_size:,} bytes"
                ]
            case kind:
                name = codes.name_of_request(kind & ~REPLY)
                what = "reply to" if kind & REPLY else "request"
                return [f"{what} {name}, {len(payload)} bytes"]

    def _hello(self, hello: messages.Hello) -> list[str]:
        if hello == self._greeted:  # asked before and after it started
            return []
        self._greeted = hello
        self._models.clear()
        for model in range(hello.num_models):
            self._ask(Type.DESCRIBE, model.to_bytes(2, "little"))
        counter = hello.counter_kind.name.lower()
        return [
            f"hello: board {hello.board}, {hello.core} at {hello.clock_hz:,} Hz, counter of "
            f"{counter}, {hello.num_models} model{'s' * (hello.num_models != 1)}, protocol version "
            f"{hello.protocol_version}, frames up to {hello.mtu:,} bytes, stack "
            f"{hello.stack_bytes:,} bytes"
        ]

    def _model(self, model: messages.ModelHeader) -> list[str]:
        said = [_header(model)]
        self._models[model.index] = model
        if self._greeted is not None and len(self._models) == self._greeted.num_models:
            try:
                refuse_other_models(self._greeted.board, tuple(self._models.values()), self._expect)
            except DeviceError as other:
                said.append(str(other))
        return said


def _header(model: messages.ModelHeader) -> str:
    return (
        f"model {model.index}: {model.name}, {model.num_inputs} in, {model.num_outputs} out, "
        f"{model.num_layers} layers, arena {model.workspace_bytes:,} bytes, model file "
        f"{model.source_sha256[:12]}..., object {model.object_sha256[:12]}... (SHA-256)"
    )


def _is_text(data: bytes) -> bool:
    """Whether these bytes are printable, in UTF-8: a frame never is."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return all(c.isprintable() or c in "\t\r\n\x1b" for c in text)


def _text(data: bytes) -> list[str]:
    """Text as its lines, without what a terminal would obey; other bytes in hex."""
    if _is_text(data):
        lines = (line.rstrip("\r") for line in data.decode().split("\n"))
        return [line.replace("\x1b", "\\x1b") for line in lines if line]
    if not data:
        return []
    more = " ..." if len(data) > _SHOWN_BYTES else ""
    return [f"{len(data)} bytes that are no frame: {data[:_SHOWN_BYTES].hex(' ')}{more}"]
