"""Compiled models: any change of a content, with a checksum that fits it, up to the C source."""

from __future__ import annotations

import functools
import json
import random
import struct
import tempfile
import zlib
from pathlib import Path
from typing import Any

from fuzz.harness import change_bytes
from pmx_cases import content_of, packed, session, small_network

from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.pmx import file

SUFFIX = ".pmx"
_EDGES = (0, 1, 2, 3, 5, 16, 255, 4096, 1 << 15, 1 << 16, 1 << 20, 1 << 24, 1 << 28, 1 << 30,
          (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, -1, -2,
          -(1 << 31))  # fmt: skip
# Fields that somebody might allocate or count by.
_SIZES = ("alignment", "bytes", "offset", "shape", "scratch_bytes", "slots", "distance", "last",
          "first", "at", "inflated")  # fmt: skip


@functools.cache
def SEEDS() -> list[bytes]:
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for memory in ("offline", "plain", "compact"):
            made.append(packed(small_network(Path(folder), memory), compress=memory == "plain"))
    return made


def mutate(choose: random.Random, seed: bytes, seeds: list[bytes]) -> bytes:
    tree, data = content_of(seed)
    if choose.random() < 0.3:
        text = change_bytes(choose, _text(tree), [_text(content_of(s)[0]) for s in seeds])
        return _wrapped(text, data)
    if choose.random() < 0.2:
        return file.wrap(tree, change_bytes(choose, data, [content_of(s)[1] for s in seeds]))
    for _ in range(choose.choice((1, 1, 1, 2, 3))):
        _change(choose, tree)
    return _wrapped(_text(tree), data)


def _text(tree: Any) -> bytes:
    return json.dumps(tree, separators=(",", ":")).encode()


def _wrapped(text: bytes, data: bytes) -> bytes:
    """A file with any text, and a checksum that fits."""
    stored = zlib.compress(text)
    head = struct.pack("<II12x", len(stored), len(text)) + stored
    behind = head + bytes(-(12 + len(head)) % 16) + data
    checksum = file.checksum(file.FORMAT, behind)
    return file.IDENTIFIER + struct.pack("<II", file.FORMAT, checksum) + behind


def _change(choose: random.Random, tree: Any) -> None:
    """Changes a member of an object, or an element of a list; rare names count like others."""
    places: dict[str, list[tuple[Any, Any]]] = {}

    def walk(node: Any, name: str) -> None:
        for key in node if isinstance(node, dict) else range(len(node)):
            own = key if isinstance(key, str) else name
            places.setdefault(own, []).append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key], own)

    walk(tree, "")
    sizes = [name for name in places if name in _SIZES]
    names = sizes if sizes and choose.random() < 0.3 else sorted(places)
    if not names:
        return
    node, key = choose.choice(places[choose.choice(names)])
    if choose.random() < 0.1:
        del node[key]
    else:
        node[key] = _other(choose, node[key])


def _other(choose: random.Random, value: Any) -> Any:
    if choose.random() < 0.05:
        return choose.choice((None, True, -1, 1.5, "", "x", [], {}, [[]], {"float": "nan"}))
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return choose.choice((*_EDGES, value + choose.randint(-4, 4), value * 2))
    if isinstance(value, float):
        return choose.choice((0.0, -1.0, {"float": "nan"}, {"float": "inf"}, 1e30, value * 2))
    if isinstance(value, str):
        return choose.choice(("", "x" * 9000, "é\n", "a/../b", "../../x", "*/", "%s", "\0"))
    if isinstance(value, list):
        return choose.choice((value[1:], value * 2, value[::-1], [], None))
    return choose.choice(({}, None))


@functools.cache
def _board() -> Any:
    return load_board("mps2-an386")


def read(path: Path) -> None:
    with session() as own:
        compile_model(path, _board(), session=own)
