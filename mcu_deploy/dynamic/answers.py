"""What a backend answers: its structs, copied into JSON and blobs with every bound checked.

Here is checked what can be told in the worker: counts, pointers, text, enumerations. What an answer
means is checked on the session's side. minor: the table's version is (1, minor), and of an older
one what is newer is not read. Runs in workers: the standard library only.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Sequence
from ctypes import c_double, c_float, c_int32, c_int64, c_uint32, c_void_p
from typing import Any

from . import structs
from .memory import (
    MAX_BODIES,
    MAX_BODY_NODES,
    array_at,
    bytes_at,
    nonsense,
    optional_text,
    text_at,
    texts_at,
)
from .wire import Blob

Json = dict[str, Any]


def info(answer: structs.BackendInfo, blobs: list[Blob], minor: int) -> Json:
    return {
        "rank": answer.rank,
        "cores": texts_at(answer.cores, answer.num_cores, "cores"),
        "operators": texts_at(answer.operators, answer.num_operators, "operators"),
        "bodies": minor >= 1,
    }


def support(answer: structs.Support, blobs: list[Blob]) -> Json:
    return {
        "supported": _flag(answer.supported, "supported"),
        "reason": optional_text(answer.reason, "the reason"),
        "layout": _word(structs.LAYOUTS, answer.layout, "layout"),
    }


def costs(answer: structs.Costs, blobs: list[Blob]) -> Json:
    names = ("macs", "instructions", "cycles")
    return {**{name: getattr(answer, name) for name in names}, "flash": answer.flash_bytes}


def _flag(value: int, what: str) -> bool:
    if value not in (0, 1):
        raise nonsense(f"{what} is {value}, neither 0 nor 1")
    return bool(value)


def _word(words: Sequence[str], number: int, what: str) -> str:
    if not 0 <= number < len(words):
        raise nonsense(f"the {what} {number} does not exist")
    return words[number]


def workloads(answer: structs.Workloads, blobs: list[Blob], minor: int) -> Json:
    found = array_at(structs.Workload, answer.workloads, answer.num_workloads, "workloads")
    return {"workloads": [_workload(workload, blobs, minor) for workload in found]}


def _workload(work: structs.Workload, blobs: list[Blob], minor: int) -> Json:
    arguments = array_at(structs.Argument, work.arguments, work.num_arguments, "arguments")
    constants = array_at(structs.Constant, work.constants, work.num_constants, "constants")
    helpers = array_at(structs.Function, work.helpers, work.num_helpers, "helpers")
    in_place = array_at(structs.InPlace, work.in_place, work.num_in_place, "in-place facts")
    regions = array_at(structs.Region, work.regions, work.num_regions, "regions")
    scratch = work.num_scratch_regions if minor >= 1 else 0
    if scratch > len(regions):
        raise nonsense(f"{scratch} of {len(regions)} regions are scratch")
    private = len(regions) - scratch
    function = _optional_function(work.function)
    parameters = function["parameters"] if function else []
    return {
        "backend": "",
        "function": function,
        "arguments": [
            _argument(argument, parameters[i]["ctype"] if i < len(parameters) else "")
            for i, argument in enumerate(arguments)
        ],
        "constants": [_constant(constant, blobs) for constant in constants],
        "helpers": [_function(helper) for helper in helpers],
        "headers": texts_at(work.headers, work.num_headers, "headers"),
        "scratch_bytes": work.scratch_bytes,
        "in_place": [
            {"input": fact.input, "output": fact.output, "distance": fact.distance}
            for fact in in_place
        ],
        "regions": [
            _region(region) | ({"kind": "scratch"} if index >= private else {})
            for index, region in enumerate(regions)
        ],
        "costs": costs(work.costs, blobs),
    }


def _argument(argument: structs.Argument, ctype: str) -> Json:
    """An argument, which of a scalar has the bits of the parameter's type."""
    role = _word(structs.ROLES, argument.role, "role")
    if role != "scalar":
        return {"role": role, "index": argument.index}
    form = {"int32_t": "=i", "float": "=f"}.get(ctype.strip(), "=I")
    (value,) = struct.unpack(form, struct.pack("=I", argument.index))
    if not math.isfinite(value):
        raise nonsense("a scalar is no number")
    return {"role": role, "value": value}


def _optional_function(address: int | None) -> Json | None:
    return _function(structs.Function.from_address(address)) if address else None


def _function(function: structs.Function) -> Json:
    parameters = array_at(
        structs.Parameter, function.parameters, function.num_parameters, "parameters"
    )
    return {
        "stem": text_at(function.stem, "a function's stem"),
        "result": text_at(function.result, "a function's result"),
        "parameters": [
            {
                "ctype": text_at(p.type, "a parameter's type"),
                "name": text_at(p.name, "a parameter's name"),
            }
            for p in parameters
        ],
        "body": text_at(function.body, "a function's body"),
        "inline": _flag(function.is_helper, "is_helper"),
    }


def _constant(constant: structs.Constant, blobs: list[Blob]) -> Json:
    shape = [constant.num_elements]
    return {
        "stem": text_at(constant.stem, "a constant's stem"),
        "value": _array(constant.dtype, shape, constant.data, None, blobs),
        "alignment": constant.alignment or 4,
    }


def _array(
    dtype: int, shape: list[int], address: int | None, size: int | None, blobs: list[Blob]
) -> list[Any]:
    """[element type, shape, number of the blob]; size: of the data, if they say so themselves."""
    name, width = structs.DTYPES[_dtype(dtype)]
    elements = math.prod(shape) * width
    blobs.append(bytes_at(address, elements if size is None else size, "a constant"))
    return [name, shape, len(blobs) - 1]


def _dtype(dtype: int) -> int:
    if not 0 <= dtype < len(structs.DTYPES):
        raise nonsense(f"the element type {dtype} does not exist")
    return dtype


def _region(region: structs.Region) -> Json:
    return {"name": text_at(region.name, "a region's name"), "bytes": region.bytes}


def optimization(answer: structs.Optimization, blobs: list[Blob], minor: int) -> Json:
    graphs = _Replacements(blobs, has_bodies=minor >= 1)
    found = array_at(
        structs.Substitution, answer.substitutions, answer.num_substitutions, "substitutions"
    )
    return {
        "substitutions": [
            {"nodes": _nodes_of(s.substitutable), "replacement": graphs.read(s.replacement)}
            for s in found
        ],
        "failed": _subgraphs(answer.failed, answer.num_failed),
        "untouched": _subgraphs(answer.untouched, answer.num_untouched),
    }


def _subgraphs(address: int | None, count: int) -> list[list[int]]:
    return [_nodes_of(part) for part in array_at(structs.Subgraph, address, count, "subgraphs")]


def _nodes_of(part: structs.Subgraph) -> list[int]:
    return list(array_at(c_uint32, part.nodes, part.num_nodes, "nodes of a subgraph"))


class _Replacements:
    """Reads the graphs of one answer, whose bodies may not go on for ever."""

    def __init__(self, blobs: list[Blob], *, has_bodies: bool) -> None:
        self._blobs = blobs
        self._has_bodies = has_bodies
        self._nodes = 0

    def read(self, address: int | None, depth: int = 0) -> Json:
        """A replacement, or a body that so many hold."""
        if not address:
            raise nonsense("a replacement is NULL")
        if depth > MAX_BODIES:
            raise nonsense(f"more than {MAX_BODIES} bodies lie in one another")
        graph, blobs = structs.Graph.from_address(address), self._blobs
        nodes = array_at(structs.Node, graph.nodes, graph.num_nodes, "nodes of a replacement")
        edges = array_at(structs.Edge, graph.edges, graph.num_edges, "edges of a replacement")
        self._nodes += len(nodes) if depth else 0
        if self._nodes > MAX_BODY_NODES:
            raise nonsense(f"more than {MAX_BODY_NODES} nodes in bodies")
        inputs = array_at(c_uint32, graph.inputs, graph.num_inputs, "inputs of a graph")
        outputs = array_at(c_uint32, graph.outputs, graph.num_outputs, "outputs of a graph")
        return {
            "name": optional_text(graph.name, "a graph's name"),
            "opset": graph.opset,
            "topology": {
                "nodes": [_node(node) for node in nodes],
                "edges": [[edge.id, optional_text(edge.name, "an edge's name")] for edge in edges],
                "inputs": list(inputs),
                "outputs": list(outputs),
                "next_node": max((node.id for node in nodes), default=-1) + 1,
                "next_edge": max((edge.id for edge in edges), default=-1) + 1,
            },
            "data": {
                "types": [[edge.id, _type(edge)] for edge in edges],
                "constants": [[edge.id, _value(edge, blobs)] for edge in edges if edge.data],
                "attributes": [[node.id, _attributes(node, blobs)] for node in nodes],
                "bodies": self._bodies(graph, nodes, depth),
            },
        }

    def _bodies(self, graph: structs.Graph, nodes: Sequence[structs.Node], depth: int) -> list[Any]:
        # a graph that 1.0 made may be a copy of ours, struct_size included, with nothing behind it
        has = self._has_bodies and graph.struct_size >= ctypes.sizeof(structs.Graph)
        if not has or not graph.bodies:
            return []
        bodies = array_at(c_void_p, graph.bodies, len(nodes), "bodies")
        return [
            [node.id, self.read(body, depth + 1)]
            for node, body in zip(nodes, bodies, strict=True)
            if body
        ]


def _node(node: structs.Node) -> Json:
    inputs = array_at(c_uint32, node.inputs, node.num_inputs, "inputs of a node")
    outputs = array_at(c_uint32, node.outputs, node.num_outputs, "outputs of a node")
    return {
        "id": node.id,
        "op": text_at(node.op, "a node's operator"),
        "domain": optional_text(node.domain, "a node's domain"),
        "name": optional_text(node.name, "a node's name"),
        "inputs": [None if edge == structs.NONE else edge for edge in inputs],
        "outputs": [None if edge == structs.NONE else edge for edge in outputs],
    }


def _attributes(node: structs.Node, blobs: list[Blob]) -> Json:
    found = array_at(structs.Attribute, node.attributes, node.num_attributes, "attributes")
    return {text_at(a.name, "an attribute's name"): _attribute(a, blobs) for a in found}


def _attribute(attribute: structs.Attribute, blobs: list[Blob]) -> Any:
    """A list in every case: C has no single values."""
    kind, count, what = attribute.kind, attribute.count, "values of an attribute"
    if kind == structs.ATTRIBUTE_INTS:
        return list(array_at(c_int64, attribute.ints, count, what))
    if kind == structs.ATTRIBUTE_FLOATS:
        return list(array_at(c_double, attribute.floats, count, what))
    if kind == structs.ATTRIBUTE_STRINGS:
        return texts_at(attribute.strings, count, what)
    if kind == structs.ATTRIBUTE_TENSOR and attribute.tensor:
        return {"tensor": _value(structs.Edge.from_address(attribute.tensor), blobs)}
    name = text_at(attribute.name, "an attribute's name")
    raise nonsense(f"the attribute {name!r} has neither a known kind nor a value")


def _type(edge: structs.Edge) -> Json:
    name, _ = structs.DTYPES[_dtype(edge.dtype)]
    answer: Json = {"dtype": name, "shape": _shape(edge)}
    if edge.layout:
        answer["layout"] = list(array_at(c_uint32, edge.layout, edge.rank, "axes of a layout"))
    if edge.num_scales:
        points = array_at(c_int32, edge.zero_points, edge.num_scales, "zero points of an edge")
        answer["quantization"] = {
            "scale": list(array_at(c_float, edge.scales, edge.num_scales, "scales of an edge")),
            "zero_point": list(points),
            "axis": None if edge.quantization_axis < 0 else edge.quantization_axis,
        }
    return answer


def _shape(edge: structs.Edge) -> list[int]:
    return list(array_at(c_int64, edge.shape, edge.rank, "axes of an edge"))


def _value(edge: structs.Edge, blobs: list[Blob]) -> list[Any]:
    return _array(edge.dtype, _shape(edge), edge.data, edge.data_bytes, blobs)


def saved(answer: structs.Saved, blobs: list[Blob]) -> Json:
    """The data, if there are some, are the only blob."""
    if answer.data:
        blobs.append(bytes_at(answer.data, answer.data_bytes, "what is to be saved"))
    return {}


def memory(answer: structs.Memory, blobs: list[Blob]) -> Json:
    return {"acquire": _region_call(answer.acquire), "release": _region_call(answer.release)}


def _region_call(call: structs.RegionCall) -> Json | None:
    function = _optional_function(call.function)
    if function is None:
        return None
    regions = array_at(structs.Region, call.regions, call.num_regions, "regions")
    helpers = array_at(structs.Function, call.helpers, call.num_helpers, "helpers")
    return {
        "function": function,
        "regions": [_region(region) for region in regions],
        "helpers": [_function(helper) for helper in helpers],
        "headers": texts_at(call.headers, call.num_headers, "headers"),
    }


def counters(answer: structs.Counters, blobs: list[Blob]) -> Json:
    found = array_at(structs.Counter, answer.counters, answer.num_counters, "counters")
    return {"counters": [[text_at(c.name, "a counter's name"), c.value] for c in found]}
