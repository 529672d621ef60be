"""Constants: each once in a file, on request compressed one by one."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcu_deploy.pmx.reordered import Reordered
from mcu_deploy.schema import Clause

ALIGNMENT = 16
_LEVEL = 9
# Of all constants together: more than the flash and the external memory of any board.
MOST_BYTES = 1 << 28


@dataclass(frozen=True)
class Stored:
    """A constant in the file's data, from `at` on, in `bytes` bytes.

    inflated: how many bytes it has, if it is compressed with zlib.
    """

    at: int
    bytes: int
    inflated: int | None = None


Constant = Stored | Reordered


def store(
    constants: Sequence[bytes], reordered: Mapping[int, Reordered], compress: bool
) -> tuple[tuple[Constant, ...], bytes]:
    """Where each constant is, and the data; one that does not become smaller stays as it is."""
    places: list[Constant] = []
    data = bytearray()
    for number, constant in enumerate(constants):
        if number in reordered:
            places.append(reordered[number])
            continue
        packed = zlib.compress(constant, _LEVEL) if compress else constant
        smaller = len(packed) < len(constant)
        kept = packed if smaller else constant
        places.append(Stored(len(data), len(kept), len(constant) if smaller else None))
        data += kept + bytes(-len(kept) % ALIGNMENT)
    return tuple(places), bytes(data)


def restore(places: Sequence[Constant], data: memoryview) -> list[memoryview | Reordered]:
    """All constants. Raises Misfit, before memory is taken, for what is too large."""
    size = sum(p.inflated or p.bytes for p in places if isinstance(p, Stored))
    if size > MOST_BYTES:
        raise Clause(f"its constants have {size:,} bytes; {MOST_BYTES:,} are allowed")
    return [p if isinstance(p, Reordered) else _restored(p, data) for p in places]


def _restored(place: Stored, data: memoryview) -> memoryview:
    if not 0 <= place.at <= place.at + place.bytes <= len(data) or place.at % ALIGNMENT:
        raise Clause(f"a constant of {place.bytes:,} bytes cannot be at {place.at:,}")
    found = data[place.at : place.at + place.bytes]
    return found if place.inflated is None else memoryview(inflate(found, place.inflated))


def inflate(data: memoryview, size: int) -> bytes:
    """Decompresses to `size` bytes; never more than that is made."""
    stream = zlib.decompressobj()
    try:
        made = stream.decompress(data, max_length=size) if size > 0 else b""
        # What is left is the end mark, for which no byte may come out.
        rest = stream.decompress(stream.unconsumed_tail, max_length=1) if made else b""
    except zlib.error as error:
        raise Clause(f"something cannot be decompressed ({error})") from None
    if rest or len(made) != size or not stream.eof or stream.unused_data:
        raise Clause(f"something is compressed from other than {size:,} bytes")
    return made
