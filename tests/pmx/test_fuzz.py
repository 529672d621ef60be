"""Any change of a content, with a checksum that fits it: a model, or one sentence, and soon."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from cpu_limit import cpu_limit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pmx_cases import content_of, packed, session, small_network

from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import McuDeployError
from mcu_deploy.pmx import file

BOARD = load_board("mps2-an386")
_SETTINGS = settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module", params=["offline", "plain", "compact"])
def content(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return content_of(packed(small_network(tmp_path_factory.mktemp("fuzz"), request.param)))


def _try(content: bytes, folder: Path) -> None:
    """Compiles what a changed content says: no other error than ours, in one line and in time."""
    path = folder / "m.pmx"
    path.write_bytes(file.wrap(content))
    with cpu_limit(), session() as own:
        try:
            compile_model(path, BOARD, session=own)
        except McuDeployError as error:
            assert "\n" not in str(error)


@given(data=st.data())
@_SETTINGS
def test_flipped_bits(content: bytes, tmp_path: Path, data: st.DataObject) -> None:
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4), "flips")):
        place = data.draw(st.integers(0, len(content) - 1), "place")
        changed[place] ^= 1 << data.draw(st.integers(0, 7), "bit")
    _try(bytes(changed), tmp_path)


@given(data=st.data())
@_SETTINGS
def test_numbers_at_the_edge(content: bytes, tmp_path: Path, data: st.DataObject) -> None:
    """Offsets and lengths are 32-bit numbers at multiples of 4."""
    changed = bytearray(content)
    values = st.sampled_from((0, 1, 2, 3, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF))
    for _ in range(data.draw(st.integers(1, 3), "words")):
        place = 4 * data.draw(st.integers(0, len(content) // 4 - 1), "word")
        own = struct.unpack_from("<I", content, place)[0]
        near = st.integers(-16, 16).map(lambda step, own=own: (own + step) & 0xFFFFFFFF)
        struct.pack_into("<I", changed, place, data.draw(values | near, "value"))
    _try(bytes(changed), tmp_path)


@given(end=st.floats(0, 1))
@_SETTINGS
def test_cut_short(content: bytes, tmp_path: Path, end: float) -> None:
    _try(content[: int(end * len(content))], tmp_path)


@given(raw=st.binary(max_size=400))
@_SETTINGS
def test_anything(tmp_path: Path, raw: bytes) -> None:
    _try(raw, tmp_path)


@given(data=st.data())
@_SETTINGS
def test_a_stretch_copied_elsewhere(content: bytes, tmp_path: Path, data: st.DataObject) -> None:
    """Tables refer to tables of another kind, or to themselves."""
    size = 4 * data.draw(st.integers(1, 32), "words")
    places = st.integers(0, (len(content) - size) // 4)
    source, target = 4 * data.draw(places, "from"), 4 * data.draw(places, "to")
    changed = bytearray(content)
    changed[target : target + size] = content[source : source + size]
    _try(bytes(changed), tmp_path)
