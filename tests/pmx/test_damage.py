"""Files that are cut short, changed, too new, or none at all: one sentence that names the file."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path

import flatbuffers
import numpy as np
import pytest
from pmx_cases import compiled, content_of, packed, small_network

from mcu_deploy import pmx
from mcu_deploy.errors import McuDeployError, ModelError
from mcu_deploy.pmx import file
from mcu_deploy.pmx import pmx_generated as fb
from mcu_deploy.pmx.checked import Content
from mcu_deploy.pmx.content import encode


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return packed(small_network(tmp_path_factory.mktemp("damage")))


def _sentence(raw: bytes, folder: Path) -> str:
    """What is said of a file; it is one line and names the file."""
    path = folder / "m.pmx"
    path.write_bytes(raw)
    with pytest.raises(ModelError) as caught:
        pmx.load(path)
    text = str(caught.value)
    assert str(path) in text
    assert "\n" not in text
    assert text.endswith(".")
    return text


def test_a_sound_file_loads(raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.pmx"
    path.write_bytes(raw)
    assert pmx.load(path).model.name == "small"


def test_cut_short_at_every_place_of_head_and_tail(raw: bytes, tmp_path: Path) -> None:
    ends = [*range(128), *range(128, len(raw), 997), *range(len(raw) - 16, len(raw))]
    for end in ends:
        text = _sentence(raw[:end], tmp_path)
        assert "is damaged or cut short" in text or "is no .pmx file" in text


def test_something_behind_the_end_is_not_read(raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.pmx"
    path.write_bytes(raw + b"\0" * 100)
    assert pmx.load(path).model.name == "small"


def test_every_byte_of_the_head_and_many_of_the_rest(raw: bytes, tmp_path: Path) -> None:
    for place in [*range(96), *range(96, len(raw), 499)]:
        changed = bytearray(raw)
        changed[place] ^= 0x41
        path = tmp_path / "m.pmx"
        path.write_bytes(changed)
        try:
            loaded = pmx.load(path)
        except McuDeployError as error:
            assert "\n" not in str(error)
        else:  # padding around the content, which nothing reads
            assert place < 96
            assert loaded.model.name == "small"


def test_too_new(raw: bytes, tmp_path: Path) -> None:
    content = content_of(raw)
    newer = fb.FileT()
    newer.version = file.FORMAT + 1
    newer.checksum = file.checksum(file.FORMAT + 1, content)
    newer.content = np.frombuffer(content, np.uint8)
    text = _sentence(_finished(newer), tmp_path)
    assert f"of version {file.FORMAT + 1} of the format" in text
    assert "Update mcu-deploy" in text


def test_a_flipped_version_is_damage_and_no_newer_file(raw: bytes, tmp_path: Path) -> None:
    content = content_of(raw)
    flipped = fb.FileT()
    flipped.version = file.FORMAT + 4
    flipped.checksum = file.checksum(file.FORMAT, content)
    flipped.content = np.frombuffer(content, np.uint8)
    assert "its checksum is not that of its content" in _sentence(_finished(flipped), tmp_path)


def _finished(table: fb.FileT) -> bytes:
    builder = flatbuffers.Builder(1024)
    builder.Finish(table.Pack(builder), file_identifier=file.IDENTIFIER)
    return bytes(builder.Output())


@pytest.mark.parametrize("other", [b"", b"\x08\0\0\0", b"PK\x03\x04" * 40, b"\0" * 500])
def test_other_files(other: bytes, tmp_path: Path) -> None:
    assert "is no .pmx file of mcu-deploy" in _sentence(other, tmp_path)


def test_an_empty_content(tmp_path: Path) -> None:
    assert "it is too short" in _sentence(file.wrap(b""), tmp_path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.pmx cannot be read \(No such file"):
        compiled(tmp_path / "nowhere.pmx")


# ---- A right checksum around nonsense ----


def _model(raw: bytes) -> fb.ModelT:
    buffer = Content(content_of(raw))
    table = fb.Model()
    table.Init(buffer, buffer.root)
    return fb.ModelT.InitFromObj(table)


def _wrapped(model: fb.ModelT) -> bytes:
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder))
    return file.wrap(bytes(builder.Output()))


def test_taken_apart_and_packed_again_it_loads(raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.pmx"
    path.write_bytes(_wrapped(_model(raw)))
    assert pmx.load(path).model.name == "small"


def test_a_bomb_is_not_inflated(raw: bytes, tmp_path: Path) -> None:
    model = _model(raw)
    bomb = zlib.compress(b"\0" * 50_000_000, 9)
    for constant in model.constants:
        constant.source = -1
        constant.flags = fb.Compression.ZLIB
        constant.data = np.frombuffer(bomb, np.uint8)
    assert "is compressed from other than" in _sentence(_wrapped(model), tmp_path)


def test_constants_larger_than_any_board(raw: bytes, tmp_path: Path) -> None:
    model = _model(raw)
    model.constants[0].bytes = 1 << 40
    assert "are allowed" in _sentence(_wrapped(model), tmp_path)


def test_a_way_of_compression_that_is_not_known(raw: bytes, tmp_path: Path) -> None:
    model = _model(raw)
    next(c for c in model.constants if c.source < 0).flags = 9
    assert "compressed in the way 9" in _sentence(_wrapped(model), tmp_path)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("source", 10_000, "IndexError"),
        ("source", None, "a reordered one in another order"),
        ("order", [0, 0], "ValueError"),
        ("shape", [1 << 31, 1 << 31], "ValueError"),
        ("item", 3, "ValueError"),
    ],
)
def test_a_reordered_constant_that_is_impossible(
    raw: bytes, tmp_path: Path, field: str, value: object, sentence: str
) -> None:
    model = _model(raw)
    number, constant = next((n, c) for n, c in enumerate(model.constants) if c.source >= 0)
    setattr(constant, field, number if value is None else value)
    assert sentence in _sentence(_wrapped(model), tmp_path)


def test_a_plan_that_overwrites_a_tensor(raw: bytes, tmp_path: Path) -> None:
    model = _model(raw)
    for place in model.plan.places:
        place.value.inPool.offset = 0
    assert "PlanError" in _sentence(_wrapped(model), tmp_path)


def test_a_plan_without_end(raw: bytes, tmp_path: Path) -> None:
    model = _model(raw)
    model.plan.pools[0].bytes = 1 << 50
    assert "more memory than any board" in _sentence(_wrapped(model), tmp_path)


def test_an_argument_that_is_not_there(raw: bytes, tmp_path: Path) -> None:
    model = _model(raw)
    model.arguments[0].index = 77
    assert "an argument is input 77" in _sentence(_wrapped(model), tmp_path)


def test_a_node_that_reads_its_own_output(raw: bytes, tmp_path: Path) -> None:
    model = _model(raw)
    model.graph.links = list(reversed(model.graph.links))
    assert "GraphError" in _sentence(_wrapped(model), tmp_path)


def test_a_body_that_is_not_the_nodes(raw: bytes, tmp_path: Path) -> None:
    """Bodies are read when they are asked for: then there is a sentence."""
    model = _model(raw)
    assert model.graph.bodies
    model.graph.bodies[0].graph.outputs = []
    path = tmp_path / "m.pmx"
    path.write_bytes(_wrapped(model))
    loaded = pmx.load(path).model
    with pytest.raises(ModelError, match=r"m\.pmx is damaged .* computes other edges"):
        list(loaded.graph.data.bodies.values())
    with pytest.raises(ModelError, match=r"m\.pmx is damaged"):
        compiled(path)


@pytest.mark.parametrize("alignment", [0, 3, 8192, 1 << 30])
def test_an_alignment_that_would_fill_the_memory(alignment: int, tmp_path: Path) -> None:
    """The weights file is laid out by it."""
    network = small_network(tmp_path)
    first, *others = network.selection.choices
    constants = [
        replace(constant, alignment=alignment)
        for choice in network.selection.choices
        for constant in choice.workload.constants
    ]
    workload = replace(first.workload, constants=tuple(constants))
    choices = (replace(first, workload=workload), *others)
    changed = replace(network, selection=replace(network.selection, choices=choices))
    content = encode(changed)
    text = _sentence(file.wrap(content), tmp_path)
    assert f"is {alignment}, not a power of two from 1 to 4096" in text
