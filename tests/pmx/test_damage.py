"""Files that are cut short, changed, too new, or none at all: one sentence that names the file."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pmx_cases import compiled, content_of, packed, small_network

from mcu_deploy import pmx
from mcu_deploy.errors import ModelError
from mcu_deploy.pmx import constants, file
from mcu_deploy.pmx.content import encode
from mcu_deploy.schema import Misfit


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


def test_something_behind_the_end_is_damage(raw: bytes, tmp_path: Path) -> None:
    assert "its checksum is not that of" in _sentence(raw + b"\0" * 100, tmp_path)


def test_every_byte_of_the_head_and_many_of_the_rest(raw: bytes, tmp_path: Path) -> None:
    for place in [*range(96), *range(96, len(raw), 499)]:
        changed = bytearray(raw)
        changed[place] ^= 0x41
        text = _sentence(bytes(changed), tmp_path)
        assert "is damaged or cut short" in text or "is no .pmx file" in text


def _of_version(raw: bytes, version: int, *, sound: bool = True) -> bytes:
    """The file with another version, and a checksum that says so if it is to be sound."""
    checksum = file.checksum(version if sound else file.FORMAT, raw[12:])
    return raw[:4] + struct.pack("<II", version, checksum) + raw[12:]


def test_too_new(raw: bytes, tmp_path: Path) -> None:
    text = _sentence(_of_version(raw, file.FORMAT + 1), tmp_path)
    assert f"of version {file.FORMAT + 1} of the format" in text
    assert "Update mcu-deploy" in text


def test_a_flipped_version_is_damage_and_no_newer_file(raw: bytes, tmp_path: Path) -> None:
    flipped = _of_version(raw, file.FORMAT + 4, sound=False)
    assert "its checksum is not that of its content" in _sentence(flipped, tmp_path)


def test_version_1_is_refused_by_name(tmp_path: Path) -> None:
    """It was a FlatBuffer: the offset of its root stood before its identifier."""
    text = _sentence(bytes.fromhex("0c000000") + b"MPMX" + bytes(400), tmp_path)
    assert "is of version 1 of the format, which this mcu-deploy does not read" in text
    assert "Make it again with `mcu-deploy optimize`" in text


@pytest.mark.parametrize("other", [b"", b"\x08\0\0\0", b"PK\x03\x04" * 40, b"\0" * 500])
def test_other_files(other: bytes, tmp_path: Path) -> None:
    assert "is no .pmx file of mcu-deploy" in _sentence(other, tmp_path)


def test_an_empty_content(tmp_path: Path) -> None:
    assert "it is too short" in _sentence(b"MPMX", tmp_path)
    assert "constants is missing" in _sentence(file.wrap({}, b""), tmp_path)
    assert "it must be a table, not []" in _sentence(file.wrap([], b""), tmp_path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.pmx does not exist\. Check the path"):
        compiled(tmp_path / "nowhere.pmx")


# ---- A right checksum around nonsense ----


def _content(raw: bytes) -> tuple[Any, Any, bytes]:
    """The tree that may be changed, the model in it, and the data."""
    tree, data = content_of(raw)
    return tree, tree["model"], data


def test_taken_apart_and_wrapped_again_it_is_the_same(raw: bytes) -> None:
    assert file.wrap(*content_of(raw)) == raw


def test_a_bomb_is_not_inflated(raw: bytes, tmp_path: Path) -> None:
    tree, _, _ = _content(raw)
    bomb = zlib.compress(b"\0" * 50_000_000, 9)
    for constant in tree["constants"]:
        if "Stored" in constant:
            constant["Stored"] = {"at": 0, "bytes": len(bomb), "inflated": 64}
    assert "is compressed from other than 64" in _sentence(file.wrap(tree, bomb), tmp_path)


@pytest.mark.parametrize("change", [lambda raw: raw[:-1], lambda raw: raw + b"\0"])
def test_what_is_compressed_ends_where_it_says(change: Callable[[bytes], bytes]) -> None:
    content = bytes(range(100))
    assert constants.inflate(memoryview(zlib.compress(content)), 100) == content
    with pytest.raises(Misfit, match="is compressed from other than 100 bytes"):
        constants.inflate(memoryview(change(zlib.compress(content))), 100)


def test_a_text_that_is_a_bomb(raw: bytes, tmp_path: Path) -> None:
    bomb = zlib.compress(b" " * 50_000_000, 9)
    head = struct.pack("<II12x", len(bomb), 1000) + bomb
    checksum = file.checksum(file.FORMAT, head)
    text = _sentence(b"MPMX" + struct.pack("<II", file.FORMAT, checksum) + head, tmp_path)
    assert "is compressed from other than 1,000" in text
    large = struct.pack("<II12x", len(bomb), 50_000_000) + bomb
    checksum = file.checksum(file.FORMAT, large)
    text = _sentence(b"MPMX" + struct.pack("<II", file.FORMAT, checksum) + large, tmp_path)
    assert "its text cannot have 50,000,000 bytes" in text


def test_lists_in_lists_without_end(raw: bytes, tmp_path: Path) -> None:
    deep = b"[" * 100_000
    packed_text = zlib.compress(deep)
    head = struct.pack("<II12x", len(packed_text), len(deep)) + packed_text
    checksum = file.checksum(file.FORMAT, head)
    text = _sentence(b"MPMX" + struct.pack("<II", file.FORMAT, checksum) + head, tmp_path)
    assert "RecursionError" in text


def test_bodies_in_bodies_without_end(raw: bytes, tmp_path: Path) -> None:
    tree, model, data = _content(raw)
    (number, body), *_ = model["graph"]["data"]["bodies"]
    inner = body
    for _ in range(200):
        inner = {**body, "data": {**body["data"], "bodies": [[number, inner]]}}
    model["graph"]["data"]["bodies"] = [[number, inner]]
    path = tmp_path / "m.pmx"
    path.write_bytes(file.wrap(tree, data))
    with pytest.raises(ModelError, match=r"m\.pmx is damaged"):
        compiled(path)


def test_constants_larger_than_any_board(raw: bytes, tmp_path: Path) -> None:
    tree, _, data = _content(raw)
    tree["constants"][0] = {"Stored": {"at": 0, "bytes": 64, "inflated": 1 << 40}}
    assert "are allowed" in _sentence(file.wrap(tree, data), tmp_path)


@pytest.mark.parametrize(
    ("at", "size"), [(-16, 16), (0, -16), (8, 16), (1 << 40, 16), (0, 1 << 27), (16, 1 << 62)]
)
def test_constants_that_lie_elsewhere(raw: bytes, tmp_path: Path, at: int, size: int) -> None:
    tree, _, data = _content(raw)
    tree["constants"][-1] = {"Stored": {"at": at, "bytes": size}}
    text = _sentence(file.wrap(tree, data), tmp_path)
    assert "cannot be at" in text or "are allowed" in text


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("source", 10_000, "IndexError"),
        ("source", None, "a reordered one in another order"),
        ("order", [0, 0], "ValueError"),
        ("shape", [1 << 31, 1 << 31], "ValueError"),
        ("item", 3, "ValueError"),
        ("color", 3, "it has the unknown key 'color'"),
    ],
)
def test_a_reordered_constant_that_is_impossible(
    raw: bytes, tmp_path: Path, field: str, value: object, sentence: str
) -> None:
    tree, _, data = _content(raw)
    number, constant = next((n, c) for n, c in enumerate(tree["constants"]) if "Reordered" in c)
    constant["Reordered"][field] = number if value is None else value
    assert sentence in _sentence(file.wrap(tree, data), tmp_path)


@pytest.mark.parametrize("number", [-1, 10_000, True, 0.0, "0", None])
@pytest.mark.parametrize("what", ["function", "constant", "type"])
def test_a_number_of_what_is_not_there(
    raw: bytes, tmp_path: Path, number: object, what: str
) -> None:
    tree, model, data = _content(raw)
    workload = model["selection"]["choices"][0]["Choice"]["workload"]
    match what:
        case "function":
            workload["function"] = number
        case "constant":
            workloads = (c["Choice"]["workload"] for c in model["selection"]["choices"])
            workload = next(w for w in workloads if "constants" in w)
            workload["constants"][0]["value"][2] = number
        case "type":
            model["graph"]["data"]["types"][0][1] = number
    assert "is damaged" in _sentence(file.wrap(tree, data), tmp_path)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (1 << 63, "is no integer of 64 bits"),
        ("\ud800", "schedule has half of a character"),
        ("sequential?", "--schedule sequential? is not known"),
    ],
)
def test_a_value_that_no_field_can_have(
    raw: bytes, tmp_path: Path, value: Any, sentence: str
) -> None:
    tree, model, data = _content(raw)
    if isinstance(value, int):
        model["plan"]["lower_bound"] = value
    else:
        model["options"]["schedule"] = value
    wrapped = _wrapped_as_ascii(tree, data)
    assert sentence in _sentence(wrapped, tmp_path)


def _wrapped_as_ascii(tree: Any, data: bytes) -> bytes:
    """The file with a text that other programs may write: with escapes."""
    text = json.dumps(tree).encode()
    stored = zlib.compress(text)
    head = struct.pack("<II12x", len(stored), len(text)) + stored
    behind = head + bytes(-(12 + len(head)) % 16) + data
    return b"MPMX" + struct.pack("<II", 2, file.checksum(2, behind)) + behind


def test_a_plan_that_overwrites_a_tensor(raw: bytes, tmp_path: Path) -> None:
    tree, model, data = _content(raw)
    for _, place in model["plan"]["places"]:
        place["InPool"]["offset"] = 0
    assert "PlanError" in _sentence(file.wrap(tree, data), tmp_path)


def test_a_plan_without_end(raw: bytes, tmp_path: Path) -> None:
    tree, model, data = _content(raw)
    model["plan"]["pools"][0]["bytes"] = 1 << 50
    assert "more memory than any board" in _sentence(file.wrap(tree, data), tmp_path)


@pytest.mark.parametrize("above", [False, True])
def test_a_memory_manager_with_more_memory_than_any_board_has(
    raw: bytes, tmp_path: Path, above: bool
) -> None:
    tree, model, data = _content(raw)
    model["plan"]["managed"] = {
        "strategy": "bestfit", "configuration": ["bestfit"], "bytes": (1 << 26) + above,
        "peak": 0, "takes": [], "gives": [], "word": 4,
    }  # fmt: skip
    said = _sentence(file.wrap(tree, data), tmp_path)
    assert ("gives a memory manager more memory than any board has" in said) == above


def test_a_plan_of_partitions_without_end(raw: bytes, tmp_path: Path) -> None:
    tree, model, data = _content(raw)
    model["plan"]["parts"] = model["plan"]["parts"][:1] * 1001
    assert "its plan has 1001 partitions" in _sentence(file.wrap(tree, data), tmp_path)


@pytest.mark.parametrize(
    ("what", "titled"), [("partitions", "partitions"), ("kept", "kept tensors")]
)
def test_two_that_are_asked_for_by_one_name(
    what: str, titled: str, raw: bytes, tmp_path: Path
) -> None:
    tree, model, data = _content(raw)
    plan_ = model["plan"]
    named = plan_["parts"] if what == "partitions" else plan_["exposure"]["kept"]
    named *= 2
    said = _sentence(file.wrap(tree, data), tmp_path)
    assert f"2 of the {titled} of its plan are called" in said


def test_a_call_that_cannot_be_made(raw: bytes, tmp_path: Path) -> None:
    tree, model, data = _content(raw)
    model["selection"]["acquire"] = [["CpuRef", {"function": 0}]]
    said = _sentence(file.wrap(tree, data), tmp_path)
    assert re.search(r"what the backend CpuRef calls: .* but the call 0 regions", said)


def test_an_argument_that_is_not_there(raw: bytes, tmp_path: Path) -> None:
    tree, _, data = _content(raw)
    tree["shared"]["Argument"][0]["index"] = 77
    assert "an argument is input 77" in _sentence(file.wrap(tree, data), tmp_path)


def test_a_node_that_reads_its_own_output(raw: bytes, tmp_path: Path) -> None:
    tree, model, data = _content(raw)
    model["graph"]["topology"]["nodes"].reverse()
    assert "GraphError" in _sentence(file.wrap(tree, data), tmp_path)
    model["graph"]["topology"]["nodes"].append(model["graph"]["topology"]["nodes"][0])
    assert "have two nodes of one id" in _sentence(file.wrap(tree, data), tmp_path)


def test_what_is_no_number_of_json(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(file.json, "dumps", lambda tree, **how: "[NaN]")
    assert "NaN is no JSON" in _sentence(file.wrap([], b""), tmp_path)


def test_a_tensor_of_less_than_nothing(raw: bytes, tmp_path: Path) -> None:
    tree, _, data = _content(raw)
    for kind in tree["shared"]["TensorType"]:
        kind["shape"] = [-size for size in kind["shape"]]
    assert "is damaged" in _sentence(file.wrap(tree, data), tmp_path)


def test_a_body_that_is_not_the_nodes(raw: bytes, tmp_path: Path) -> None:
    """Bodies are read when they are asked for: then there is a sentence."""
    path = tmp_path / "m.pmx"
    for side, edges in (("inputs", [77]), ("outputs", [])):
        tree, model, data = _content(raw)
        model["graph"]["data"]["bodies"][0][1]["topology"][side] = edges
        path.write_bytes(file.wrap(tree, data))
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
    aligned = [
        replace(constant, alignment=alignment)
        for choice in network.selection.choices
        for constant in choice.workload.constants
    ]
    workload = replace(first.workload, constants=tuple(aligned))
    choices = (replace(first, workload=workload), *others)
    changed = replace(network, selection=replace(network.selection, choices=choices))
    text = _sentence(file.wrap(*encode(changed)), tmp_path)
    assert f"is {alignment}, not a power of two from 1 to 4096" in text
