"""Workloads, costs and memory as messages, in the words of mcu_workload_t, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from mcu_deploy.backends.interface import MemoryManager
from mcu_deploy.backends.layer import Layer
from mcu_deploy.backends.workload import (
    Argument,
    CFunction,
    Constant,
    Costs,
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
    ctype,
    dtype,
    identifier,
    integer,
    integers,
    items,
    member,
    name,
    parts,
    require,
    text,
)
from mcu_deploy.ir import DType

_ROLES = tuple(Role)  # in the order of mcu_role_t
_KINDS = tuple(RegionKind)
_MOST_WORKLOADS = 1000
_MOST_PARAMETERS = 1000
_LARGEST_MEMORY = 1 << 30
_LARGEST_ALIGNMENT = 4096
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
    made = Workload(
        backend=regions.backend,
        function=None if function is None else _kernel(function),
        arguments=tuple(_argument(a) for a in items(member(item, "arguments"), "arguments")),
        constants=tuple(_constant(c, blobs) for c in items(member(item, "constants"), "constants")),
        helpers=_helpers(item),
        headers=_headers(item),
        scratch_bytes=integer(
            member(item, "scratch_bytes"), "the scratch memory", 0, _LARGEST_MEMORY
        ),
        in_place=tuple(
            InPlace(*_triple(fact, layer)) for fact in items(member(item, "in_place"), "facts")
        ),
        costs=decode_costs(member(item, "costs"), layer, is_view=function is None),
        regions=_regions(item, regions),
    )
    check_workload(made, layer)
    return made


def check_workload(workload: Workload, layer: Layer) -> None:
    """Raises Nonsense where a workload refers to something that its layer does not have."""
    parameters = () if workload.function is None else workload.function.parameters
    _require_as_many(parameters, workload.arguments, "arguments")
    for argument in workload.arguments:
        _check_argument(argument, workload, layer)
    for constant in workload.constants:
        _require_alignment(constant.alignment, constant.stem)
    require(
        0 <= workload.scratch_bytes <= _LARGEST_MEMORY,
        f"its scratch memory has {workload.scratch_bytes} bytes",
    )
    for region in workload.regions:
        size = region.bytes
        require(1 <= size <= _LARGEST_MEMORY, f"the region {region.name!r} has {size} bytes")
    if workload.is_view:
        require(
            bool(layer.inputs) and layer.inputs[0] is not None,
            "a workload without a function needs a first input",
        )


def _kernel(item: Any) -> CFunction:
    """A function that the network calls: every parameter is a pointer."""
    function = _function(item)
    require(not function.inline, f"the function {function.stem} is called as a helper")
    for parameter in function.parameters:
        require("*" in parameter.ctype, f"the parameter {parameter.name} is no pointer")
    return function


def _helpers(item: Any) -> tuple[CFunction, ...]:
    helpers = tuple(_function(helper) for helper in items(member(item, "helpers"), "helpers"))
    for helper in helpers:
        require(helper.inline, f"the helper {helper.stem} does not say is_helper")
    return helpers


def _function(item: Any) -> CFunction:
    stem = identifier(member(item, "stem"), "a function's stem")
    pairs = items(member(item, "parameters"), f"parameters of {stem}", _MOST_PARAMETERS)
    parameters = []
    for pair in pairs:
        kind, parameter = parts(pair, "a parameter", 2)
        what = f"a parameter of {stem}"
        parameters.append(
            Parameter(ctype(kind, f"the type of {what}"), identifier(parameter, what))
        )
    names = {parameter.name for parameter in parameters}
    require(len(names) == len(parameters), f"two parameters of {stem} have one name")
    body = text(member(item, "body"), f"the body of {stem}")
    require(
        body.strip().startswith("{") and body.strip().endswith("}"),
        f"the body of {stem} does not begin with {{ and end with }}",
    )
    return CFunction(
        stem,
        tuple(parameters),
        body,
        ctype(member(item, "result"), f"the result of {stem}"),
        integer(member(item, "is_helper"), f"is_helper of {stem}", 0, 1) == 1,
    )


def _headers(item: Any) -> tuple[str, ...]:
    headers = tuple(text(h, "a header", 64) for h in items(member(item, "headers"), "headers"))
    for header in headers:
        require(
            re.fullmatch(r"[a-z0-9_]+\.h", header) is not None,
            f"the header {header!r} is no name like string.h",
        )
    return headers


def _argument(item: Any) -> Argument:
    role, index = integers(parts(item, "an argument", 2), "parts of an argument")
    require(role < len(_ROLES), f"the role {role} does not exist")
    return Argument(_ROLES[role], index)


def _check_argument(argument: Argument, workload: Workload, layer: Layer) -> None:
    """An argument refers to something that is there, and lies in the instance's memory."""
    role, index = argument.role, argument.index
    if role is Role.SCRATCH:
        require(workload.scratch_bytes > 0, "an argument is the scratch memory, of 0 bytes")
        require(index == 0, f"an argument is scratch memory {index}, and there is but one")
        return
    things: dict[Role, Sequence[Any]] = {
        Role.INPUT: layer.inputs,
        Role.OUTPUT: layer.outputs,
        Role.CONSTANT: workload.constants,
        Role.REGION: workload.regions,
    }
    count = len(things[role])
    require(index < count, f"an argument is {role.value} {index}, and there are {count}")
    if role is Role.INPUT:
        _require_computed(layer, index)


def _require_computed(layer: Layer, index: int) -> None:
    operand = layer.optional(index)
    require(operand is not None, f"input {index} is referred to, which is absent")
    assert operand is not None
    require(
        operand.constant is None,
        f"input {index} is referred to, a constant; make it one of the workload's constants",
    )


def _triple(fact: Any, layer: Layer) -> tuple[int, int, int]:
    *pair, number = parts(fact, "an in-place fact", 3)
    source, target = integers(pair, "parts of an in-place fact")
    distance = integer(number, "the distance of an in-place fact", -(2**31), 2**31 - 1)
    require(source < len(layer.inputs), f"an in-place fact names input {source}")
    require(target < len(layer.outputs), f"an in-place fact names output {target}")
    _require_computed(layer, source)
    return source, target, distance


def _constant(item: Any, blobs: Blobs) -> Constant:
    stem = identifier(member(item, "stem"), "a constant's stem")
    kind = dtype(member(item, "dtype"), f"the constant {stem}")
    shape = integers(member(item, "shape"), f"axes of the constant {stem}", 1, _LARGEST_MEMORY)
    alignment = integer(member(item, "alignment"), f"the alignment of {stem}")
    _require_alignment(alignment, stem)
    value = array(item, kind, shape, blobs, f"the constant {stem}")
    return Constant(stem, value, max(alignment, kind.bytes))


def _require_alignment(alignment: int, stem: str) -> None:
    fits = 1 <= alignment <= _LARGEST_ALIGNMENT and alignment & (alignment - 1) == 0
    clause = f"not a power of two from 1 to {_LARGEST_ALIGNMENT}"
    require(fits, f"the alignment of {stem} is {alignment}, {clause}")


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
    macs, *rest = (value if value >= lowest else None for value in values)
    return Costs(layer.macs if macs is None else macs, *rest)


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
    call = RegionCall(
        _kernel(member(item, "function")), _regions(item, regions), _helpers(item), _headers(item)
    )
    _require_as_many(call.function.parameters, call.regions, "regions")
    for region in call.regions:
        require(region.kind is RegionKind.PRIVATE, f"the region {region.name!r} is not private")
    return call


def _require_as_many(parameters: Sequence[Any], given: Sequence[Any], what: str) -> None:
    require(
        len(parameters) == len(given),
        f"the function has {len(parameters)} parameters, but the call {len(given)} {what}",
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
