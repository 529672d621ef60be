"""Compiled models: any change of a content, with a checksum that fits it, up to the C source."""

from __future__ import annotations

import copy
import functools
import random
import tempfile
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
from fuzz.harness import change_bytes
from pmx_cases import content_of, packed, session, small_network

from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.pmx import file
from mcu_deploy.pmx import pmx_generated as fb
from mcu_deploy.pmx.checked import Content

SUFFIX = ".pmx"
_EDGES = (0, 1, 2, 3, 5, 16, 255, 4096, 1 << 15, 1 << 16, 1 << 20, 1 << 24, 1 << 28, 1 << 30,
          (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, -1, -2,
          -(1 << 31))  # fmt: skip
# Fields that somebody might allocate or count by.
_SIZES = ("alignment", "bytes", "offset", "shape", "scratchBytes", "slots", "distance", "last",
          "first")  # fmt: skip


@functools.cache
def SEEDS() -> list[bytes]:
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for memory in ("offline", "plain", "compact"):
            made.append(packed(small_network(Path(folder), memory), compress=memory == "plain"))
    return made


def mutate(choose: random.Random, seed: bytes, seeds: list[bytes]) -> bytes:
    content = content_of(seed)
    if choose.random() < 0.5:
        return file.wrap(change_bytes(choose, content, [content_of(s) for s in seeds]))
    for _ in range(20):  # not all that is changed can be written
        tree = copy.deepcopy(_tree(content))
        try:
            for _ in range(choose.choice((1, 1, 1, 2, 3))):
                _change(choose, tree, content)
            builder = flatbuffers.Builder(1 << 16)
            builder.Finish(tree.Pack(builder))
        except Exception:
            continue
        return file.wrap(bytes(builder.Output()))
    return seed


@functools.cache
def _tree(content: bytes) -> Any:
    buffer = Content(content)
    table = fb.Model()
    table.Init(buffer, buffer.root)
    return fb.ModelT.InitFromObj(table)


@functools.cache
def _fields(content: bytes) -> dict[tuple[str, str], list[tuple[str | int, ...]]]:
    """The paths from the root to each field, by its table and name: rare ones count like others."""
    found: dict[tuple[str, str], list[tuple[str | int, ...]]] = {}

    def walk(node: Any, path: tuple[str | int, ...]) -> None:
        for name, value in vars(node).items():
            found.setdefault((type(node).__name__, name), []).append((*path, name))
            for index, item in enumerate(value if isinstance(value, list) else [value]):
                if hasattr(item, "Pack"):
                    walk(item, (*path, name, index) if isinstance(value, list) else (*path, name))

    walk(_tree(content), ())
    return found


def _change(choose: random.Random, tree: Any, content: bytes) -> None:
    """Changes a field of a table."""
    fields = _fields(content)
    sizes = [field for field in fields if field[1] in _SIZES]
    kinds = sizes if choose.random() < 0.3 else list(fields)
    *path, name = choose.choice(fields[choose.choice(kinds)])
    node = tree
    for step in path:
        node = node[step] if isinstance(step, int) else getattr(node, step)
    value = getattr(node, str(name))
    if isinstance(value, list) and value and not hasattr(value[0], "Pack"):
        value[choose.randrange(len(value))] = _other(choose, value[0])
    elif isinstance(value, list):
        setattr(node, str(name), choose.choice((value[1:], value * 2, value[::-1], [], None)))
    else:
        setattr(node, str(name), _other(choose, value))


def _other(choose: random.Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return choose.choice((*_EDGES, value + choose.randint(-4, 4), value * 2))
    if isinstance(value, float):
        return choose.choice((0.0, -1.0, float("nan"), float("inf"), 1e30, value * 2))
    if isinstance(value, bytes | str):
        noise: Any = choose.choice(("", "x" * 9000, "é\n", "a/../b", "../../x", "*/", "%s"))
        return noise if isinstance(value, str) else noise.encode()
    if isinstance(value, np.ndarray) and value.size:
        changed = value.copy()
        changed[choose.randrange(len(changed))] = choose.randrange(128)
        return choose.choice((changed, value[:-1], np.concatenate([value, value])))
    return None


@functools.cache
def _board() -> Any:
    return load_board("mps2-an386")


def read(path: Path) -> None:
    with session() as own:
        compile_model(path, _board(), session=own)
