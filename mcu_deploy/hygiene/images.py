"""Whether a linked image is whole: an emulator that is given a part of one prints its registers."""

from __future__ import annotations

from pathlib import Path

from mcu_deploy.elf.reader import Unreadable, read_elf, read_file
from mcu_deploy.errors import RequestError
from mcu_deploy.files.given import is_file


def require_whole(path: Path) -> Path:
    """The path. Raises RequestError for a file that is missing, cut off, damaged, or no image."""
    if not is_file(path):
        raise RequestError(f"{path} is not there; build again.")
    try:
        elf = read_elf(read_file(path))
        segments = elf.segments if elf.linked else ()
    except Unreadable as error:
        how = "cut off" if error.rule == "truncated" else f"damaged ({error.message.rstrip('.')})"
        raise RequestError(f"{path} is {how}; build again.") from None
    if not elf.linked:
        raise RequestError(f"{path} is an object and no linked image; give what was linked of it.")
    if not segments or any(s.offset + s.size > len(elf.data) for s in segments):
        raise RequestError(f"{path} is cut off; build again.")
    return path
