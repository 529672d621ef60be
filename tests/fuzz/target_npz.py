"""Samples: .npz and .npy files, their headers and the directory of the archive."""

from __future__ import annotations

import io
import random
import re
import zipfile
from pathlib import Path

import numpy as np
from fuzz.harness import change_bytes

from mcu_deploy.files.samples import load_samples
from mcu_deploy.ir import DType, Graph, GraphEditor, TensorType

SUFFIX = ".npz"
_NUMBERS = (
    b"0", b"1", b"-1", b"3", b"4294967296", b"10**9", b"1000000000000", b"True", b"None", b"1.5",
    b"9" * 40, b"()", b"'x'",
)  # fmt: skip
_TYPES = (b"'<f4'", b"'|i1'", b"'|O'", b"'>f4'", b"'<U9'", b"'|V2147483647'", b"'<c16'",
          b"'<m8[s]'", b"[('a', '<f4')]", b"'f4,f4'", b"'x'", b"b'<f4'")  # fmt: skip
_NOISE = (b"(" * 300, b"-" * 9000, b"[" * 90, b"{", b"\n", b"'", b"\\", b"\xff", b"L", b"#", b"\0",
          b"{[]: 1, ", b"1_0", b"0x", b"(" * 9000)  # fmt: skip


def _graph() -> Graph:
    editor = GraphEditor.empty("g")
    for name, type_ in (
        ("image", TensorType(DType.FLOAT32, (1, 4))),
        ("flag", TensorType(DType.INT8, (1, 3))),
    ):
        editor.inputs.append(editor.add_edge(name, type_))
    return editor.finish(opset=17)


_GRAPH = _graph()


def SEEDS() -> list[bytes]:
    image, flag = np.ones((5, 1, 4), np.float32), np.ones((5, 1, 3), np.int8)
    made = []
    for save in (np.savez, np.savez_compressed):
        for arrays in ({"in0": image, "in1": flag}, {"image": image[0], "flag": flag[0]}):
            stream = io.BytesIO()
            save(stream, **arrays)  # type: ignore[arg-type]
            made.append(stream.getvalue())
    for version in ((1, 0), (2, 0)):
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.asfortranarray(image), version=version)
        made.append(stream.getvalue())
    return made


def mutate(choose: random.Random, seed: bytes, seeds: list[bytes]) -> bytes:
    kind = choose.random()
    if kind < 0.4 and seed.startswith(b"PK"):
        return _in_archive(choose, seed)
    if kind < 0.6 and seed.startswith(b"\x93"):
        return _header(choose, seed)
    return change_bytes(choose, seed, seeds)


def _header(choose: random.Random, data: bytes) -> bytes:
    """Other numbers, types and brackets in the dictionary of a header, whose length is right."""
    size = int.from_bytes(data[8:10], "little")
    text, rest = data[10 : 10 + size], data[10 + size :]
    way = choose.randrange(5)
    if way == 0 and (numbers := list(re.finditer(rb"\d+", text))):
        hit = choose.choice(numbers)
        text = text[: hit.start()] + choose.choice(_NUMBERS) + text[hit.end() :]
    elif way == 1:
        text = re.sub(rb"'descr': [^,]*", b"'descr': " + choose.choice(_TYPES), text)
    elif way == 2:
        place = choose.randint(0, min(70, len(text)))
        text = text[:place] + choose.choice(_NOISE) + text[place:]
    elif way == 3 and text:
        text = change_bytes(choose, text, [data])
    size = len(text) if choose.random() < 0.9 else choose.randrange(1 << 16)
    return data[:8] + (size % (1 << 16)).to_bytes(2, "little") + text + rest


def _in_archive(choose: random.Random, data: bytes) -> bytes:
    """Changes a member, and packs the archive again."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            if choose.random() < 0.6:
                content = _header(choose, content)
            name = (
                info.filename
                if choose.random() < 0.9
                else choose.choice(("x", "in0", "é\n.npy", "/"))
            )
            ways = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
            new.writestr(name, content, ways[choose.choice((0, 0, 1, 1, 2, 3))])
    return (
        stream.getvalue()
        if choose.random() < 0.7
        else change_bytes(choose, stream.getvalue(), [data])
    )


def read(path: Path) -> None:
    is_archive = path.read_bytes().startswith(b"PK")
    load_samples(path, _GRAPH, _GRAPH.inputs if is_archive else _GRAPH.inputs[:1])
