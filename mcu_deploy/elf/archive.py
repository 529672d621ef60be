"""The members of ar archives, whose bytes come from anywhere."""

from __future__ import annotations

from collections.abc import Iterator

from mcu_deploy.elf.reader import Unreadable, truncated
from mcu_deploy.errors import one_line


def is_archive(data: bytes) -> bool:
    """Whether the bytes start as an ar archive."""
    return data.startswith((b"!<arch>\n", b"!<thin>\n"))


def read_archive(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each member of an ar archive (System V/GNU and BSD names).

    Symbol tables are left out. Raises Unreadable for thin and for broken archives.
    """
    if data.startswith(b"!<thin>\n"):
        raise Unreadable(
            "not-an-object",
            "This is a thin archive: it holds the names of its members, not their bytes.",
            "Check the member files themselves, or make the archive without `T`.",
        )
    position, long_names = 8, b""
    while position < len(data):
        header = data[position : position + 60]
        if len(header) < 60:
            raise truncated("The archive ends in the middle of a member's header.")
        if header[58:60] != b"`\n" or not header[48:58].strip().isdigit():
            raise Unreadable(
                "damaged",
                f"The archive's member header at byte {position} is damaged.",
                "Make the archive again with arm-none-eabi-ar.",
            )
        size = int(header[48:58])
        start = position + 60
        if start + size > len(data):
            raise truncated("The archive ends in the middle of a member.")
        body, raw = data[start : start + size], header[:16].rstrip(b" ")
        position = start + size + (size & 1)
        if raw == b"//":
            long_names = body
        elif raw in (b"/", b"/SYM64/"):
            continue
        else:
            name, body = _member_name(raw, body, long_names)
            if not name.startswith("__.SYMDEF"):
                yield name, body


def _member_name(raw: bytes, body: bytes, long_names: bytes) -> tuple[str, bytes]:
    name = raw.removesuffix(b"/")
    if raw.startswith(b"/") and raw[1:].isdigit():
        name = long_names[int(raw[1:]) :].split(b"/\n", 1)[0].split(b"\0", 1)[0][:1024]
    elif raw.startswith(b"#1/") and raw[3:].isdigit():
        length = int(raw[3:])
        name, body = body[:length].rstrip(b"\0"), body[length:]
    return one_line(name.decode("utf-8", "backslashreplace"), 1024), body
