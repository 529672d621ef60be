"""Frames on the serial line: COBS between zeros, a fixed header, CRC-32 (docs/protocol.md, 1)."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

PROTOCOL_VERSION = 2
HEADER = struct.Struct("<BBHH")
CRC = struct.Struct("<I")
OVERHEAD = HEADER.size + CRC.size
MAX_PAYLOAD = 32768
"""No firmware may have a larger MTU (crt/include/mcu/protocol.h)."""

_MAX_LINE = (MAX_PAYLOAD + OVERHEAD) * 255 // 254 + 2
_NOISE_KEPT = 400


@dataclass(frozen=True)
class Frame:
    """One frame: `type` and `seq` as in docs/protocol.md; payload at most MAX_PAYLOAD bytes."""

    type: int
    seq: int
    payload: bytes = b""
    version: int = PROTOCOL_VERSION


def cobs_encode(data: bytes) -> bytes:
    """`data` without zeros: at most len(data) + 1 + len(data) // 254 bytes."""
    out = bytearray()
    parts = data.split(b"\0")
    for number, part in enumerate(parts):
        rest = part
        while len(rest) >= 254:
            out.append(255)
            out += rest[:254]
            rest = rest[254:]
        if rest or len(part) == 0 or number < len(parts) - 1:
            out.append(len(rest) + 1)
            out += rest
    return bytes(out)


def cobs_decode(data: bytes) -> bytes | None:
    """The inverse of `cobs_encode`; None where `data` is no such encoding."""
    out = bytearray()
    at = 0
    while at < len(data):
        code = data[at]
        end = at + code
        if code == 0 or end > len(data):
            return None
        block = data[at + 1 : end]
        if 0 in block:
            return None
        out += block
        at = end
        if code < 255 and at < len(data):
            out.append(0)
    return bytes(out)


def encode_frame(frame: Frame) -> bytes:
    """The bytes for the line, delimiters included."""
    body = HEADER.pack(frame.version, frame.type, frame.seq, len(frame.payload)) + frame.payload
    return b"\0" + cobs_encode(body + CRC.pack(zlib.crc32(body))) + b"\0"


def encoded_size(payload_bytes: int) -> int:
    """The most bytes that a frame with so much payload takes on the line."""
    body = payload_bytes + OVERHEAD
    return body + 1 + body // 254 + 2


def decode_frame(line: bytes) -> Frame | None:
    """The frame between two delimiters, or None for noise. Any bytes are allowed."""
    body = cobs_decode(line)
    return None if body is None else unpack_frame(body)


def unpack_frame(body: bytes) -> Frame | None:
    """The frame that a decoded packet is, or None for noise. Any bytes are allowed."""
    if len(body) < OVERHEAD:
        return None
    version, kind, seq, length = HEADER.unpack_from(body)
    (crc,) = CRC.unpack_from(body, len(body) - CRC.size)
    if length != len(body) - OVERHEAD or crc != zlib.crc32(body[: -CRC.size]):
        return None
    return Frame(kind, seq, body[HEADER.size : -CRC.size], version)


class FrameReader:
    """Finds the frames in a stream of bytes; keeps count of what was not a frame."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._overlong = False
        self.bytes_seen = 0
        self.frames_seen = 0
        self.dropped = 0
        """Packets between two delimiters that were no frames."""
        self.noise = b""
        """The last bytes that were part of no frame, for a diagnosis."""

    def feed(self, data: bytes) -> list[Frame]:
        """Takes the next bytes; returns the frames that they complete."""
        self.bytes_seen += len(data)
        frames = []
        *ended, rest = data.split(b"\0")
        for part in ended:
            self._append(part)
            frame = None if self._overlong else decode_frame(bytes(self._line))
            if frame is not None:
                frames.append(frame)
            elif self._line or self._overlong:
                self.dropped += 1
                self._drop()
            self._line.clear()
            self._overlong = False
        self._append(rest)
        self.frames_seen += len(frames)
        return frames

    def unframed(self) -> bytes:
        """The noise so far, with what has come since the last delimiter."""
        return (self.noise + bytes(self._line))[-_NOISE_KEPT:]

    def _append(self, part: bytes) -> None:
        if len(self._line) + len(part) > _MAX_LINE:
            self._overlong = True
            self._drop()
            self._line.clear()
        self._line += part[-_MAX_LINE:]

    def _drop(self) -> None:
        self.noise = (self.noise + bytes(self._line[-_NOISE_KEPT:]))[-_NOISE_KEPT:]
