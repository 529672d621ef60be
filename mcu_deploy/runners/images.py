"""What of an ELF image goes into a chip, as raw bytes and Intel HEX for tools that read no ELF."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mcu_deploy.errors import RequestError

_DATA, _END, _ADDRESS = 0, 1, 4
_ROW = 16
_WIDEST = 64 << 20  # no flash of a microcontroller is as large


def loadable(elf: Path) -> tuple[tuple[int, bytes], ...]:
    """(load address, bytes) of each segment, in the order of addresses. ToolError for no ELF."""
    from mcu_deploy.elf.reader import load_elf  # slow to import, and every board file names runners

    image = load_elf(elf)
    return tuple(
        sorted(
            (s.load_address, image.data[s.offset : s.offset + s.size])
            for s in image.segments
            if s.loaded and s.size
        )
    )


def binary(elf: Path) -> bytes:
    """The image from its lowest load address to its highest; what lies between segments is 0xFF, as
    erased flash. RequestError where these are too far apart."""
    segments = loadable(elf)
    start, end = segments[0][0], max(at + len(data) for at, data in segments)
    if end - start > _WIDEST:
        raise RequestError(
            f"{elf} has bytes from {start:#010x} to {end:#010x}, too far apart for a file of raw "
            "bytes; write a .hex, which has addresses."
        )
    content = bytearray(b"\xff" * (end - start))
    for at, data in segments:
        content[at - start : at - start + len(data)] = data
    return bytes(content)


def intel_hex(elf: Path) -> str:
    """The image as Intel HEX with 32-bit addresses (Intel, "Hexadecimal Object File Format
    Specification", revision A, 1988)."""
    return "\n".join(_records(loadable(elf))) + "\n"


def _records(segments: tuple[tuple[int, bytes], ...]) -> Iterator[str]:
    upper = 0
    for start, data in segments:
        at = start
        while at < start + len(data):
            if at >> 16 != upper:
                upper = at >> 16
                yield _record(_ADDRESS, 0, upper.to_bytes(2, "big"))
            end = min(start + len(data), (at // _ROW + 1) * _ROW)  # a row never crosses 64 KiB
            yield _record(_DATA, at & 0xFFFF, data[at - start : end - start])
            at = end
    yield _record(_END, 0, b"")


def _record(kind: int, address: int, data: bytes) -> str:
    body = bytes([len(data), *address.to_bytes(2, "big"), kind]) + data
    return f":{(body + bytes([-sum(body) & 0xFF])).hex().upper()}"
