"""Workloads, costs and memory as messages, in the words of mcu_workload_t, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mcu_deploy.backends.c_rules import require
from mcu_deploy.backends.cost import Costs
from mcu_deploy.backends.interface import MemoryManager
from mcu_deploy.backends.layer import Layer
from mcu_deploy.backends.workload import (
    Argument,
    CFunction,
    Constant,
    InPlace,
    Parameter,
    Region,
    RegionCall,
    RegionKind,
    Role,
    Workload,
)
from mcu_deploy.dynamic.checks import (
    DTYPES,
    Blobs,
    Json,
    array,
    blob,
    dtype,
    integer,
    integers,
    items,
    member,
    name,
    parts,
    text,
)
from mcu_deploy.ir import DType

_ROLES = tuple(Role)  # in the order of mcu_role_t
_KINDS = tuple(RegionKind)
_MOST_WORKLOADS = 1000
_MOST_PARAMETERS = 1000
_LARGEST_MEMORY = 1 << 30
_INT64 = 2**63 - 1

Message = tuple[Json, list[memoryview]]


class NetworkRegions:
    """The regions of one backend in one network: those of equal name and kind are one.

    `number`: what tells apart regions of equal name; None: nothing does.
    """

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self._regions: dict[tuple[RegionKind, str, int | None], Region] = {}

    @property
    def all(self) -> tuple[Region, ...]:
        """In the order of asking."""
        return tuple(self._regions.values())

    def region(self, kind: RegionKind, name: str, size: int, number: int | None) -> Region:
        """The region of this name, a new one at first. Raises Nonsense for another size."""
        key = (kind, name, number)
        if key not in self._regions:
            self._regions[key] = Region(self.backend, len(self._regions), kind, name, size)
        known = self._regions[key].bytes
        require(known == size, f"the region {name!r} has {size} bytes, but elsewhere {known}")
        return self._regions[key]


# ---- From the session's side ----


def decode_workloads(
    message: Json, blobs: Blobs, layer: Layer, regions: NetworkRegions
) -> tuple[Workload, ...]:
    """The workloads of a layer, one at least. Raises Nonsense."""
    found = items(member(message, "workloads"), "workloads", _MOST_WORKLOADS)
    require(len(found) > 0, "there is no workload")
    return tuple(_workload(item, blobs, layer, regions) for item in found)


def _workload(item: Any, blobs: Blobs, layer: Layer, regions: NetworkRegions) -> Workload:
    function = member(item, "function")
    return Workload(
        backend=regions.backend,
        function=None if function is None else _function(function),
        arguments=tuple(_argument(a) for a in items(member(item, "arguments"), "arguments")),
        constants=tuple(_constant(c, blobs) for c in items(member(item, "constants"), "constants")),
        helpers=_helpers(item),
        headers=_headers(item),
        scratch_bytes=integer(
            member(item, "scratch_bytes"), "the scratch memory", 0, _LARGEST_MEMORY
        ),
        in_place=tuple(
            InPlace(*_triple(fact)) for fact in items(member(item, "in_place"), "facts")
        ),
        costs=decode_costs(member(item, "costs"), layer, is_view=function is None),
        regions=_regions(item, regions),
    )


def _helpers(item: Any) -> tuple[CFunction, ...]:
    return tuple(_function(helper) for helper in items(member(item, "helpers"), "helpers"))


def _function(item: Any) -> CFunction:
    stem = text(member(item, "stem"), "a function's stem")
    pairs = items(member(item, "parameters"), f"parameters of {stem}", _MOST_PARAMETERS)
    return CFunction(
        stem,
        tuple(_parameter(pair, f"a parameter of {stem}") for pair in pairs),
        text(member(item, "body"), f"the body of {stem}"),
        text(member(item, "result"), f"the result of {stem}"),
        integer(member(item, "is_helper"), f"is_helper of {stem}", 0, 1) == 1,
    )


def _parameter(pair: Any, what: str) -> Parameter:
    kind, name_ = parts(pair, "a parameter", 2)
    return Parameter(text(kind, f"the type of {what}"), text(name_, what))


def _headers(item: Any) -> tuple[str, ...]:
    return tuple(text(header, "a header") for header in items(member(item, "headers"), "headers"))


def _argument(item: Any) -> Argument:
    role, index = integers(parts(item, "an argument", 2), "parts of an argument")
    require(role < len(_ROLES), f"the role {role} does not exist")
    return Argument(_ROLES[role], index)


def _triple(fact: Any) -> tuple[int, int, int]:
    *pair, number = parts(fact, "an in-place fact", 3)
    source, target = integers(pair, "parts of an in-place fact")
    distance = integer(number, "the distance of an in-place fact", -(2**31), 2**31 - 1)
    return source, target, distance


def _constant(item: Any, blobs: Blobs) -> Constant:
    stem = text(member(item, "stem"), "a constant's stem")
    kind = dtype(member(item, "dtype"), f"the constant {stem}")
    shape = integers(member(item, "shape"), f"axes of the constant {stem}", 1, _LARGEST_MEMORY)
    alignment = integer(member(item, "alignment"), f"the alignment of {stem}")
    value = array(item, kind, shape, blobs, f"the constant {stem}")
    return Constant(stem, value, max(alignment, kind.bytes))


def _regions(item: Any, regions: NetworkRegions) -> tuple[Region, ...]:
    found = []
    for region in items(member(item, "regions"), "regions"):
        label = name(member(region, "name"), "a region's name")
        size = integer(member(region, "bytes"), f"the size of {label}", 1, _LARGEST_MEMORY)
        number = region.get("number")
        if number is not None:
            integer(number, f"the number of {label}")
        kind = integer(region.get("kind", 1), f"the kind of {label}", 0, len(_KINDS) - 1)
        found.append(regions.region(_KINDS[kind], label, size, number))
    return tuple(found)


def decode_costs(message: Any, layer: Layer, *, is_view: bool = False) -> Costs:
    """Costs of a layer. Negative is not known; so is 0, but for what computes nothing."""
    values = [
        integer(member(message, key), key, -_INT64 - 1, _INT64)
        for key in ("macs", "instructions", "cycles", "flash_bytes")
    ]
    lowest = 0 if is_view else 1
    macs, instructions, cycles, flash = (v if v >= lowest else None for v in values)
    return Costs(layer.macs if macs is None else macs, instructions, cycles, flash)


def decode_memory(
    message: Json, regions: NetworkRegions
) -> tuple[RegionCall | None, RegionCall | None]:
    """What is called at the begin of every run, and at an instance's end. Raises Nonsense."""
    return (
        _region_call(member(message, "acquire"), regions),
        _region_call(member(message, "release"), regions),
    )


def _region_call(item: Any, regions: NetworkRegions) -> RegionCall | None:
    if item is None:
        return None
    return RegionCall(
        _function(member(item, "function")), _regions(item, regions), _helpers(item), _headers(item)
    )


# ---- From a worker's side ----


def encode_workloads(workloads: Iterable[Workload]) -> Message:
    """The answer to create_workload."""
    blobs: list[memoryview] = []
    return {"workloads": [_encode_workload(w, blobs) for w in workloads]}, blobs


def _encode_workload(workload: Workload, blobs: list[memoryview]) -> Json:
    return {
        "function": None if workload.function is None else _encode_function(workload.function),
        "arguments": [[_ROLES.index(a.role), a.index] for a in workload.arguments],
        "constants": [_encode_constant(constant, blobs) for constant in workload.constants],
        "helpers": [_encode_function(helper) for helper in workload.helpers],
        "headers": list(workload.headers),
        "scratch_bytes": workload.scratch_bytes,
        "in_place": [[fact.input, fact.output, fact.distance] for fact in workload.in_place],
        "regions": [_encode_region(region) for region in workload.regions],
        "costs": encode_costs(workload.costs),
    }


def _encode_function(function: CFunction) -> Json:
    return {
        "stem": function.stem,
        "result": function.result,
        "parameters": [[p.ctype, p.name] for p in function.parameters],
        "body": function.body,
        "is_helper": int(function.inline),
    }


def _encode_constant(constant: Constant, blobs: list[memoryview]) -> Json:
    blobs.append(blob(constant.value))
    return {
        "stem": constant.stem,
        "dtype": DTYPES.index(DType.of(constant.value.dtype)),
        "alignment": constant.alignment,
        "shape": list(constant.value.shape),
        "data": len(blobs) - 1,
    }


def _encode_region(region: Region) -> Json:
    return {
        "name": region.name,
        "bytes": region.bytes,
        "kind": _KINDS.index(region.kind),
        "number": region.number,
    }


def encode_costs(costs: Costs) -> Json:
    """The answer to estimate."""
    rest = (costs.instructions, costs.cycles, costs.flash)
    known = [-1 if value is None else value for value in (costs.macs, *rest)]
    return dict(zip(("macs", "instructions", "cycles", "flash_bytes"), known, strict=True))


def encode_memory(manager: MemoryManager | None) -> Json:
    """The answer to memory."""
    acquire = None if manager is None else manager.acquire
    release = None if manager is None else manager.release
    return {"acquire": _encode_region_call(acquire), "release": _encode_region_call(release)}


def _encode_region_call(call: RegionCall | None) -> Json | None:
    if call is None:
        return None
    return {
        "function": _encode_function(call.function),
        "regions": [_encode_region(region) for region in call.regions],
        "helpers": [_encode_function(helper) for helper in call.helpers],
        "headers": list(call.headers),
    }
