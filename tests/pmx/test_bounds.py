"""The checked tables: offsets out of the file, tables without end, texts that are read twice."""

from __future__ import annotations

import struct

import flatbuffers
import pytest

from mcu_deploy.pmx import pmx_generated as fb
from mcu_deploy.pmx.checked import Content, Table
from mcu_deploy.pmx.damage import Damage


def _table(data: bytes, position: int = 0) -> Table:
    return Table(Content(data), position)


def test_a_description_before_the_file() -> None:
    with pytest.raises(Damage, match="begins before the file"):
        _table(struct.pack("<ii", 8, 0)).Offset(4)


def test_a_description_behind_the_file() -> None:
    with pytest.raises(struct.error):
        _table(struct.pack("<ii", -4096, 0)).Offset(4)


@pytest.mark.parametrize("size", [0, 2, 7])
def test_a_description_of_an_impossible_size(size: int) -> None:
    with pytest.raises(Damage, match="no description"):
        _table(struct.pack("<iHHHH", -4, size, 8, 4, 0)).Offset(4)


def test_a_field_behind_its_table() -> None:
    with pytest.raises(Damage, match="outside of the table"):
        _table(struct.pack("<iHHHH", -4, 6, 8, 9, 0)).Offset(4)


def test_a_field_that_older_files_lack_is_absent() -> None:
    assert _table(struct.pack("<iHHHH", -4, 6, 8, 4, 0)).Offset(10) == 0


def test_a_text_longer_than_the_file() -> None:
    data = struct.pack("<iII", 0, 4, 1 << 31) + b"abc\0"
    with pytest.raises(Damage, match="longer than the file"):
        _table(data).String(4)


def test_a_text_that_a_million_fields_share() -> None:
    data = struct.pack("<iII", 0, 4, 4) + b"abcd"
    table = _table(data)
    with pytest.raises(Damage, match="longer than the file"):
        for _ in range(5):
            assert table.String(4) == b"abcd"


def test_a_table_that_holds_itself() -> None:
    """A body in a body in a body: it ends before the stack does, or with it."""
    builder = flatbuffers.Builder(256)
    graph = fb.GraphT()
    body = fb.BodyT()
    body.graph = fb.GraphT()
    graph.bodies = [body]
    builder.Finish(graph.Pack(builder))
    data = bytearray(builder.Output())
    buffer = Content(bytes(data))
    inner = fb.Graph()
    inner.Init(buffer, buffer.root)
    with pytest.raises(Damage, match="without end"):
        while True:
            inner.BodiesLength()
            again = fb.Graph()
            again.Init(buffer, buffer.root)
