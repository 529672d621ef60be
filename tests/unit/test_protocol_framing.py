"""COBS, frames and the reader that finds them in noise."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcu_deploy.device.line.framing import (
    MAX_PAYLOAD,
    OVERHEAD,
    Frame,
    FrameReader,
    cobs_decode,
    cobs_encode,
    decode_frame,
    encode_frame,
    encoded_size,
)

zeroish = st.lists(st.sampled_from([b"\0", b"\1", b"x" * 253, b"y" * 254, b"\xff"]), max_size=12)
payloads = st.one_of(st.binary(max_size=600), zeroish.map(b"".join))
frames = st.builds(Frame, st.integers(0, 255), st.integers(0, 65535), payloads)


@pytest.mark.parametrize(
    ("data", "encoded"),
    [  # zeros alone, at the end, in the middle; the borders of a block of 254 bytes
        ("00", "0101"),
        ("0000", "010101"),
        ("11223300" + "44", "041122330244"),
        ("11000000", "0211010101"),
        (bytes(range(1, 255)).hex(), "ff" + bytes(range(1, 255)).hex()),
        (bytes(range(255)).hex(), "01ff" + bytes(range(1, 255)).hex()),
        (bytes(range(1, 256)).hex(), "ff" + bytes(range(1, 255)).hex() + "02ff"),
    ],
)
def test_cobs_known_answers(data: str, encoded: str) -> None:
    assert cobs_encode(bytes.fromhex(data)).hex() == encoded
    assert cobs_decode(bytes.fromhex(encoded)) == bytes.fromhex(data)


def test_a_block_that_lacks_a_byte_is_none() -> None:
    assert cobs_decode(bytes.fromhex("0211")) == b"\x11"
    assert cobs_decode(bytes.fromhex("0311")) is None


@pytest.mark.parametrize("size", [10, 253, 255, 507, 509])
def test_the_most_that_a_frame_takes_is_taken_without_zeros(size: int) -> None:
    """And these do not end with a full block, behind which the last byte is not needed."""
    line = cobs_encode(b"\1" * size)
    assert encoded_size(size - OVERHEAD) == 1 + len(line) + 1


def test_the_examples_of_the_specification(repository: Path) -> None:
    text = (repository / "docs" / "protocol.md").read_text()
    lines = re.findall(r"^(?:PING|DESCRIBE).*: +((?:[0-9a-f]{2} ?)+)$", text, re.MULTILINE)
    found = [FrameReader().feed(bytes.fromhex(line)) for line in lines]
    assert found == [[Frame(2, 1)], [Frame(4, 258, b"\1\0")]]


@given(payloads)
def test_cobs_round_trip(data: bytes) -> None:
    encoded = cobs_encode(data)
    assert 0 not in encoded
    assert len(encoded) <= len(data) + 1 + len(data) // 254
    assert cobs_decode(encoded) == data


@given(st.binary(max_size=300))
def test_decoders_take_any_bytes(data: bytes) -> None:
    decoded = cobs_decode(data)
    assert decoded is None or len(decoded) <= len(data)
    assert decode_frame(data) is None  # noise with a right CRC-32 is not found by chance


@given(frames)
def test_frame_round_trip(frame: Frame) -> None:
    line = encode_frame(frame)
    assert line[0] == line[-1] == 0 and 0 not in line[1:-1]
    assert len(line) <= encoded_size(len(frame.payload))
    assert FrameReader().feed(line) == [frame]


@given(frames, st.data())
def test_a_changed_byte_is_noticed(frame: Frame, data: st.DataObject) -> None:
    line = bytearray(encode_frame(frame))
    at = data.draw(st.integers(1, len(line) - 2))
    line[at] ^= data.draw(st.integers(1, 255))
    assert frame not in FrameReader().feed(bytes(line))


@given(st.lists(frames, max_size=6), st.lists(st.binary(max_size=80), min_size=7, max_size=7))
def test_noise_between_frames_costs_no_frame(found: list[Frame], noise: list[bytes]) -> None:
    stream = noise[0] + b"".join(
        encode_frame(f) + n for f, n in zip(found, noise[1:], strict=False)
    )
    reader = FrameReader()
    chunks = [stream[i : i + 7] for i in range(0, len(stream), 7)]
    assert [frame for chunk in chunks for frame in reader.feed(chunk)] == found
    assert reader.bytes_seen == len(stream) and reader.frames_seen == len(found)


def test_lost_bytes_cost_only_their_own_frames() -> None:
    rng = random.Random(5)
    sent = [Frame(3, seq, rng.randbytes(rng.randrange(200))) for seq in range(400)]
    got, hit = [], set()
    reader = FrameReader()
    for frame in sent:
        line = bytearray(encode_frame(frame))
        if rng.random() < 0.3:
            hit.add(frame.seq)
            del line[rng.randrange(len(line))]
        got += reader.feed(bytes(line))
    seen = {frame.seq for frame in got}
    assert all(frame in sent for frame in got)
    assert {frame.seq for frame in sent} - hit <= seen  # two zeros between frames: one may go


def test_an_endless_line_is_bounded() -> None:
    reader = FrameReader()
    largest = Frame(2, 8, b"\x55" * MAX_PAYLOAD)
    assert reader.feed(encode_frame(largest)) == [largest]
    for _ in range(100):
        assert reader.feed(b"\x55" * 10_000) == []
    assert len(reader._line) < 100_000
    assert reader.feed(b"\0" + encode_frame(Frame(2, 9))) == [Frame(2, 9)]
    assert set(reader.unframed()) == {0x55}
