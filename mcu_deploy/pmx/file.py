"""A .pmx file: identifier, version and checksum around a content, and what can go wrong with it."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import flatbuffers
import numpy as np

from mcu_deploy.errors import ModelError
from mcu_deploy.pmx import pmx_generated as fb
from mcu_deploy.pmx.checked import Content
from mcu_deploy.pmx.damage import damaged, reading

FORMAT = 1
IDENTIFIER = b"MPMX"
_LARGEST = (1 << 31) - (1 << 16)  # FlatBuffers' offsets have a sign


def wrap(content: bytes) -> bytes:
    """The file that holds this content. Raises ModelError for more than a FlatBuffer can hold."""
    if len(content) > _LARGEST:
        raise ModelError(
            f"The optimised model has {len(content):,} bytes, and a .pmx file holds "
            f"{_LARGEST:,}. Build from the model file itself."
        )
    file = fb.FileT()
    file.version = FORMAT
    file.checksum = checksum(FORMAT, content)
    file.content = np.frombuffer(content, np.uint8)
    builder = flatbuffers.Builder(len(content) + 64)
    builder.Finish(file.Pack(builder), file_identifier=IDENTIFIER)
    return bytes(builder.Output())


def unwrap(raw: bytes, path: Path) -> memoryview:
    """The content of a file. Raises ModelError for what is none, damaged, or too new."""
    if raw[4:8] != IDENTIFIER:
        raise ModelError(
            f"{path} is no .pmx file of mcu-deploy: it does not begin as one. Make it anew with "
            "`mcu-deploy optimize MODEL -o FILE.pmx --board BOARD`."
        )
    with reading(path):
        outer = Content(raw)
        file = fb.File()
        file.Init(outer, outer.root)
        version, expected = file.Version(), file.Checksum()
        content = memoryview(b"") if file.ContentIsNone() else memoryview(file.ContentAsNumpy())
    # Before the version: a bit that flipped there is damage, and no newer file.
    if checksum(version, content) != expected:
        raise damaged(path, "its checksum is not that of its content")
    if version != FORMAT:
        raise ModelError(
            f"{path} is of version {version} of the format, and this mcu-deploy reads version "
            f"{FORMAT}. Update mcu-deploy, or make the file anew with `mcu-deploy optimize`."
        )
    return content


def checksum(version: int, content: bytes | memoryview) -> int:
    """CRC-32 over the version, 4 bytes little-endian, and the content."""
    return zlib.crc32(content, zlib.crc32(struct.pack("<I", version)))
