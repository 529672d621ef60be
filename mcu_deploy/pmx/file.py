"""A .pmx file: a header, a text, the bytes of constants, and what can go wrong with it.

    4 bytes   "MPMX"
    4         the version of the format
    4         CRC-32 (zlib) over the version, then over everything behind this field
    4         how many bytes the text takes in the file, compressed with zlib
    4         how many bytes it has
    12        zero
    ...       the text, JSON in UTF-8, then zeros up to a multiple of 16 bytes
    ...       the data: constants, each at a multiple of 16 bytes

Numbers are little-endian.
"""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

from mcu_deploy.errors import ModelError
from mcu_deploy.pmx.constants import ALIGNMENT, inflate
from mcu_deploy.pmx.damage import damaged, reading
from mcu_deploy.schema import Clause

FORMAT = 2
IDENTIFIER = b"MPMX"
_HEADER = struct.Struct("<4sIIII12x")
_BEHIND_CHECKSUM = 12
# Of a network of thousands of layers it is 2 MB; a hostile one of this size takes 400 MB to read.
_MOST_TEXT = 16 << 20


def wrap(tree: Any, data: bytes) -> bytes:
    """The file that holds a content. Raises ModelError for one that is too large."""
    separators = (",", ":")
    text = json.dumps(tree, ensure_ascii=False, separators=separators, allow_nan=False).encode()
    if len(text) > _MOST_TEXT:
        raise ModelError(
            f"The optimised model has {len(text):,} bytes beside its constants, and a .pmx file "
            f"holds {_MOST_TEXT:,}. Build from the model file itself."
        )
    stored = zlib.compress(text)
    padding = bytes(-(_HEADER.size + len(stored)) % ALIGNMENT)
    header = _HEADER.pack(IDENTIFIER, FORMAT, 0, len(stored), len(text))
    raw = bytearray(b"".join((header, stored, padding, data)))
    struct.pack_into("<I", raw, 8, checksum(FORMAT, memoryview(raw)[_BEHIND_CHECKSUM:]))
    return bytes(raw)


def unwrap(raw: bytes, path: Path) -> tuple[Any, memoryview]:
    """The tree and the data of a file. Raises ModelError for what is none, damaged, too old or new.

    The data are no copy.
    """
    if raw[4:8] == IDENTIFIER:  # where version 1, a FlatBuffer, had it
        raise ModelError(
            f"{path} is of version 1 of the format, which this mcu-deploy does not read. Make it "
            "again with `mcu-deploy optimize`, of the model that it was made of."
        )
    if raw[:4] != IDENTIFIER:
        raise ModelError(
            f"{path} is no .pmx file of mcu-deploy: it does not begin as one. Make it anew with "
            "`mcu-deploy optimize MODEL -o FILE.pmx --board BOARD`."
        )
    if len(raw) < _HEADER.size:
        raise damaged(path, "it is too short")
    _, version, expected, stored, size = _HEADER.unpack_from(raw)
    view = memoryview(raw)
    # Before the version: a bit that flipped there is damage, and no newer file.
    if checksum(version, view[_BEHIND_CHECKSUM:]) != expected:
        raise damaged(path, "its checksum is not that of its content")
    if version != FORMAT:
        raise ModelError(
            f"{path} is of version {version} of the format, and this mcu-deploy reads version "
            f"{FORMAT}. Update mcu-deploy, or make the file anew with `mcu-deploy optimize`."
        )
    with reading(path):
        end = _HEADER.size + stored
        if end > len(raw) or size > _MOST_TEXT:
            raise Clause(f"its text cannot have {size:,} bytes, in {stored:,}")
        text = inflate(view[_HEADER.size : end], size)
        tree = json.loads(text, parse_constant=_no_constant)
    return tree, view[end + -end % ALIGNMENT :]


def _no_constant(word: str) -> None:
    raise Clause(f"{word} is no JSON")


def checksum(version: int, content: bytes | memoryview) -> int:
    """CRC-32 over the version, 4 bytes little-endian, and the content."""
    return zlib.crc32(content, zlib.crc32(struct.pack("<I", version)))
