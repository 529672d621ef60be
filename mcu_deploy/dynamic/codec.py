"""What goes over the wire, as the interface's values: each encode_ has its decode_.

A session encodes what it asks and decodes what comes back; a worker for Python packages does the
reverse. Decoding trusts nothing and raises Nonsense.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcu_deploy.backends.c_rules import Nonsense, require
from mcu_deploy.backends.interface import (
    Backend,
    LayerCount,
    LayoutRule,
    Support,
)
from mcu_deploy.dynamic.checks import (
    Blobs,
    Json,
    integer,
    items,
    line,
    member,
    name,
    parts,
    text,
)
from mcu_deploy.dynamic.graph_codec import (
    Message,
    decode_layer,
    decode_target,
    decode_view,
    encode_layer,
    encode_view,
)
from mcu_deploy.dynamic.optimization_codec import decode_optimization, encode_optimization
from mcu_deploy.dynamic.workload_codec import (
    NetworkRegions,
    decode_costs,
    decode_memory,
    decode_workloads,
    encode_costs,
    encode_memory,
    encode_workloads,
)

__all__ = [
    "Blobs",
    "Description",
    "Json",
    "Message",
    "NetworkRegions",
    "Nonsense",
    "decode_costs",
    "decode_counters",
    "decode_counts",
    "decode_description",
    "decode_layer",
    "decode_memory",
    "decode_optimization",
    "decode_options",
    "decode_support",
    "decode_target",
    "decode_view",
    "decode_workloads",
    "encode_costs",
    "encode_counters",
    "encode_counts",
    "encode_description",
    "encode_layer",
    "encode_memory",
    "encode_optimization",
    "encode_options",
    "encode_support",
    "encode_view",
    "encode_workloads",
]  # fmt: skip

_LAYOUTS = tuple(LayoutRule)  # in the order of mcu_layout_rule_t
_INT32 = 2**31 - 1
_INT64 = 2**63 - 1


@dataclass(frozen=True)
class Description:
    """What `describe` says of a backend.

    bodies: it wants to see what fused nodes stand for, which the C interface has no words for.
    """

    rank: int
    cores: tuple[str, ...]
    operators: tuple[str, ...]
    bodies: bool = False


def encode_description(backend: Backend) -> Json:
    return {
        "rank": backend.rank,
        "cores": list(backend.cores),
        "operators": list(backend.operators),
        "bodies": 1,
    }


def decode_description(message: Json) -> Description:
    def names(key: str) -> tuple[str, ...]:
        return tuple(name(value, f"one of the {key}") for value in items(member(message, key), key))

    rank = integer(member(message, "rank"), "the rank", -_INT32 - 1, _INT32)
    bodies = integer(message.get("bodies", 0), "bodies", 0, 1) == 1
    return Description(rank, names("cores"), names("operators"), bodies)


def encode_support(support: Support) -> Json:
    return {
        "supported": int(support.supported),
        "reason": support.reason,
        "layout": _LAYOUTS.index(support.layout),
    }


def decode_support(message: Json) -> Support:
    supported = integer(member(message, "supported"), "supported", 0, 1) == 1
    layout = integer(member(message, "layout"), "the layout", 0, len(_LAYOUTS) - 1)
    reason = line(member(message, "reason"), "the reason")
    if supported:
        return Support(True, layout=_LAYOUTS[layout])
    return Support(False, reason.rstrip(".") or "it gives no reason")


def encode_options(options: Mapping[str, str]) -> Json:
    """The options that the session has for one backend."""
    return {"options": dict(options)}


def decode_options(message: Json) -> dict[str, str]:
    options = member(message, "options")
    require(isinstance(options, dict), "the options are no object")
    return {key: text(value, f"the option {key}") for key, value in options.items()}


def encode_counts(network: str, counts: Sequence[LayerCount]) -> Json:
    """What was measured of a backend's layers."""
    return {
        "network": network,
        "counts": [
            {
                "index": count.index,
                "name": count.name,
                "op": count.op,
                "unit": count.unit,
                "macs": count.macs,
                "count": count.count,
            }
            for count in counts
        ],
    }


def decode_counts(message: Json) -> tuple[str, tuple[LayerCount, ...]]:
    def count(item: Any) -> LayerCount:
        return LayerCount(
            integer(member(item, "index"), "an index"),
            text(member(item, "name"), "a name"),
            text(member(item, "op"), "an operator"),
            integer(member(item, "macs"), "the MACs", 0, _INT64),
            integer(member(item, "count"), "a count", 0, _INT64),
            text(member(item, "unit"), "a unit"),
        )

    counts = items(member(message, "counts"), "counts")
    return text(member(message, "network"), "the network"), tuple(count(item) for item in counts)


def encode_counters(counters: Iterable[tuple[str, int]]) -> Json:
    """A backend's own counters for the report."""
    return {"counters": [[label, value] for label, value in counters]}


def decode_counters(message: Json) -> tuple[tuple[str, int], ...]:
    pairs = [
        parts(pair, "a counter", 2) for pair in items(member(message, "counters"), "counters", 1000)
    ]
    return tuple(
        (name(label, "a counter's name"), integer(value, "a counter", -_INT64 - 1, _INT64))
        for label, value in pairs
    )
