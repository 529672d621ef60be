"""How values of the interface become JSON and blobs, and come back: for `codec.py` and `offers.py`.

By the rules of `mcu_deploy.records`; `arguments` and `answers`, which stand between JSON and C,
keep them too. Decoding trusts nothing and raises Nonsense.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mcu_deploy.backends.c_rules import Nonsense, require
from mcu_deploy.backends.workload import Region, RegionKind, Workload
from mcu_deploy.dynamic.regions import NetworkRegions
from mcu_deploy.errors import one_line
from mcu_deploy.ir.graph import Topology
from mcu_deploy.records import Codec, Reader, Writer, nodes_form
from mcu_deploy.schema import Form, Misfit

Json = dict[str, Any]
Blobs = Sequence[bytes | bytearray | memoryview]
Message = tuple[Json, list[memoryview]]
# What a backend's context is told, each by a call of its own.
LOADING = (
    "before_load_network", "after_load_network", "before_unload_network", "after_unload_network",
)  # fmt: skip


@dataclass(frozen=True)
class _Region:
    """A region as it is asked for; the session gives it its number."""

    name: str
    bytes: int
    kind: RegionKind = RegionKind.PRIVATE
    number: int | None = None


class NetworkReader(Reader):
    """Reads what is about a network's regions."""

    def __init__(self, blobs: Blobs, regions: NetworkRegions) -> None:
        super().__init__(blobs)
        self.regions = regions


def _made() -> Codec:
    codec = Codec(whole=True)
    region = codec.record(_Region)

    def encode_region(writer: Any, value: Region) -> Any:
        return region.encode(writer, _Region(value.name, value.bytes, value.kind, value.number))

    def decode_region(reader: NetworkReader, value: Any) -> Region:
        asked: _Region = region.decode(reader, value)
        return reader.regions.region(asked.kind, asked.name, asked.bytes, asked.number)

    codec.special |= {
        (Topology, "nodes"): nodes_form(codec),
        Region: Form(encode_region, decode_region),
        # Whatever it says, it is of the backend that was asked.
        (Workload, "backend"): Form(lambda _, value: "", lambda reader, _: reader.regions.backend),
    }
    return codec


CODEC = _made()


def encoded(hint: Any, value: Any) -> Any:
    """A value of a type without arrays as JSON."""
    return CODEC.form(hint).encode(Writer(), value)


def decoded(hint: Any, value: Any, reader: Reader | None = None) -> Any:
    """The value of a type; reader: of the arrays' bytes. Raises Nonsense."""
    try:
        return CODEC.form(hint).decode(reader or Reader(), value)
    except Misfit as error:
        raise Nonsense(str(error)) from None


def member(message: Any, key: str) -> Any:
    """What a message must have. Raises Nonsense."""
    require(isinstance(message, dict) and key in message, f"{key} is missing")
    return message[key]


def reason(said: str) -> str:
    """A clause that a backend gives."""
    return one_line(said).rstrip(".") or "it gives no reason"
