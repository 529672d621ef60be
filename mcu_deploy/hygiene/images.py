"""Whether a linked image is whole: an emulator that is given a part of one prints its registers."""

from __future__ import annotations

import struct
from pathlib import Path

from mcu_deploy.elf.reader import Elf, Unreadable, read_elf, read_file
from mcu_deploy.errors import RequestError
from mcu_deploy.files.given import is_file

# By the class of the file: where the program headers' place and number stand, their layout, and
# which of its numbers are offset and size in the file.
_SEGMENTS = {32: ("<I", 28, 44, "<8I", 1, 4), 64: ("<Q", 32, 56, "<2I6Q", 2, 5)}


def require_whole(path: Path) -> Path:
    """The path. Raises RequestError for a file that is missing, cut off, damaged, or no image."""
    if not is_file(path):
        raise RequestError(f"{path} is not there; build again.")
    try:
        elf = read_elf(read_file(path))
    except Unreadable as error:
        how = "cut off" if error.rule == "truncated" else f"damaged ({error.message.rstrip('.')})"
        raise RequestError(f"{path} is {how}; build again.") from None
    if not elf.linked:
        raise RequestError(f"{path} is an object and no linked image; build again.")
    if not _has_its_segments(elf):
        raise RequestError(f"{path} is cut off; build again.")
    return path


def _has_its_segments(elf: Elf) -> bool:
    """Whether the program headers and what they place in memory lie in the file."""
    where, start, count, layout, offset, size = _SEGMENTS[elf.bits]
    (first,) = struct.unpack_from(where, elf.data, start)
    (number,) = struct.unpack_from("<H", elf.data, count)
    each = struct.calcsize(layout)
    if not number or first + number * each > len(elf.data):
        return False
    tables = (struct.unpack_from(layout, elf.data, first + i * each) for i in range(number))
    return all(table[offset] + table[size] <= len(elf.data) for table in tables)
