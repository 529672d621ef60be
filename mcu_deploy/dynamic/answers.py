"""What a backend answers: its structs, copied into JSON and blobs with every bound checked.

Here is checked what can be told in the worker: counts, pointers, text, enumerations. What an answer
means is checked on the session's side. Runs in workers: the standard library only.
"""

from __future__ import annotations

from ctypes import c_double, c_float, c_int32, c_int64, c_uint32
from typing import Any

from . import structs
from .memory import array_at, bytes_at, nonsense, optional_text, text_at, texts_at
from .wire import Blob

Json = dict[str, Any]


def info(answer: structs.BackendInfo, blobs: list[Blob]) -> Json:
    return {
        "rank": answer.rank,
        "cores": texts_at(answer.cores, answer.num_cores, "cores"),
        "operators": texts_at(answer.operators, answer.num_operators, "operators"),
    }


def support(answer: structs.Support, blobs: list[Blob]) -> Json:
    return {
        "supported": answer.supported,
        "reason": optional_text(answer.reason, "the reason"),
        "layout": answer.layout,
    }


def costs(answer: structs.Costs, blobs: list[Blob]) -> Json:
    return {
        name: getattr(answer, name) for name in ("macs", "instructions", "cycles", "flash_bytes")
    }


def workloads(answer: structs.Workloads, blobs: list[Blob]) -> Json:
    found = array_at(structs.Workload, answer.workloads, answer.num_workloads, "workloads")
    return {"workloads": [_workload(workload, blobs) for workload in found]}


def _workload(work: structs.Workload, blobs: list[Blob]) -> Json:
    arguments = array_at(structs.Argument, work.arguments, work.num_arguments, "arguments")
    constants = array_at(structs.Constant, work.constants, work.num_constants, "constants")
    helpers = array_at(structs.Function, work.helpers, work.num_helpers, "helpers")
    in_place = array_at(structs.InPlace, work.in_place, work.num_in_place, "in-place facts")
    regions = array_at(structs.PrivateRegion, work.regions, work.num_regions, "regions")
    return {
        "function": _optional_function(work.function),
        "arguments": [[argument.role, argument.index] for argument in arguments],
        "constants": [_constant(constant, blobs) for constant in constants],
        "helpers": [_function(helper) for helper in helpers],
        "headers": texts_at(work.headers, work.num_headers, "headers"),
        "scratch_bytes": work.scratch_bytes,
        "in_place": [[fact.input, fact.output, fact.distance] for fact in in_place],
        "regions": [_region(region) for region in regions],
        "costs": costs(work.costs, blobs),
    }


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
            [text_at(p.type, "a parameter's type"), text_at(p.name, "a parameter's name")]
            for p in parameters
        ],
        "body": text_at(function.body, "a function's body"),
        "is_helper": function.is_helper,
    }


def _constant(constant: structs.Constant, blobs: list[Blob]) -> Json:
    size = constant.num_elements * _dtype_bytes(constant.dtype)
    blobs.append(bytes_at(constant.data, size, "a constant"))
    return {
        "stem": text_at(constant.stem, "a constant's stem"),
        "dtype": constant.dtype,
        "alignment": constant.alignment or 4,
        "shape": [constant.num_elements],
        "data": len(blobs) - 1,
    }


def _dtype_bytes(dtype: int) -> int:
    if not 0 <= dtype < len(structs.DTYPE_BYTES):
        raise nonsense(f"the element type {dtype} does not exist")
    return structs.DTYPE_BYTES[dtype]


def _region(region: structs.PrivateRegion) -> Json:
    return {"name": text_at(region.name, "a region's name"), "bytes": region.bytes}


def optimization(answer: structs.Optimization, blobs: list[Blob]) -> Json:
    found = array_at(
        structs.Substitution, answer.substitutions, answer.num_substitutions, "substitutions"
    )
    return {
        "substitutions": [
            {"nodes": _nodes_of(s.substitutable), "replacement": _graph(s.replacement, blobs)}
            for s in found
        ],
        "failed": _subgraphs(answer.failed, answer.num_failed),
        "untouched": _subgraphs(answer.untouched, answer.num_untouched),
    }


def _subgraphs(address: int | None, count: int) -> list[list[int]]:
    return [_nodes_of(part) for part in array_at(structs.Subgraph, address, count, "subgraphs")]


def _nodes_of(part: structs.Subgraph) -> list[int]:
    return list(array_at(c_uint32, part.nodes, part.num_nodes, "nodes of a subgraph"))


def _graph(address: int | None, blobs: list[Blob]) -> Json:
    if not address:
        raise nonsense("a replacement is NULL")
    graph = structs.Graph.from_address(address)
    nodes = array_at(structs.Node, graph.nodes, graph.num_nodes, "nodes of a replacement")
    edges = array_at(structs.Edge, graph.edges, graph.num_edges, "edges of a replacement")
    return {
        "name": optional_text(graph.name, "a graph's name"),
        "opset": graph.opset,
        "nodes": [_node(node, blobs) for node in nodes],
        "edges": [_edge(edge, blobs) for edge in edges],
        "inputs": list(array_at(c_uint32, graph.inputs, graph.num_inputs, "inputs of a graph")),
        "outputs": list(array_at(c_uint32, graph.outputs, graph.num_outputs, "outputs of a graph")),
    }


def _node(node: structs.Node, blobs: list[Blob]) -> Json:
    inputs = array_at(c_uint32, node.inputs, node.num_inputs, "inputs of a node")
    outputs = array_at(c_uint32, node.outputs, node.num_outputs, "outputs of a node")
    attributes = array_at(
        structs.Attribute, node.attributes, node.num_attributes, "attributes of a node"
    )
    return {
        "id": node.id,
        "op": text_at(node.op, "a node's operator"),
        "domain": optional_text(node.domain, "a node's domain"),
        "name": optional_text(node.name, "a node's name"),
        "inputs": [None if edge == structs.NONE else edge for edge in inputs],
        "outputs": [None if edge == structs.NONE else edge for edge in outputs],
        "attributes": [_attribute(attribute, blobs) for attribute in attributes],
    }


def _attribute(attribute: structs.Attribute, blobs: list[Blob]) -> Json:
    name, kind, count = (
        text_at(attribute.name, "an attribute's name"),
        attribute.kind,
        attribute.count,
    )
    answer: Json = {"name": name, "kind": kind}
    if kind == structs.ATTRIBUTE_INTS:
        answer["values"] = list(array_at(c_int64, attribute.ints, count, "values of an attribute"))
    elif kind == structs.ATTRIBUTE_FLOATS:
        values = array_at(c_double, attribute.floats, count, "values of an attribute")
        answer["values"] = list(values)
    elif kind == structs.ATTRIBUTE_STRINGS:
        answer["values"] = texts_at(attribute.strings, count, "values of an attribute")
    elif kind == structs.ATTRIBUTE_TENSOR and attribute.tensor:
        answer["tensor"] = _edge(structs.Edge.from_address(attribute.tensor), blobs)
    else:
        raise nonsense(f"the attribute {name!r} has neither a known kind nor a value")
    return answer


def _edge(edge: structs.Edge, blobs: list[Blob]) -> Json:
    _dtype_bytes(edge.dtype)
    answer: Json = {
        "id": edge.id,
        "name": optional_text(edge.name, "an edge's name"),
        "dtype": edge.dtype,
        "shape": list(array_at(c_int64, edge.shape, edge.rank, "axes of an edge")),
        "layout": None,
        "scales": list(array_at(c_float, edge.scales, edge.num_scales, "scales of an edge")),
        "zero_points": list(
            array_at(c_int32, edge.zero_points, edge.num_scales, "zero points of an edge")
        ),
        "axis": edge.quantization_axis,
        "data": None,
    }
    if edge.layout:
        answer["layout"] = list(array_at(c_uint32, edge.layout, edge.rank, "axes of a layout"))
    if edge.data:
        blobs.append(bytes_at(edge.data, edge.data_bytes, "a constant"))
        answer["data"] = len(blobs) - 1
    return answer


def memory(answer: structs.Memory, blobs: list[Blob]) -> Json:
    return {"acquire": _region_call(answer.acquire), "release": _region_call(answer.release)}


def _region_call(call: structs.RegionCall) -> Json | None:
    function = _optional_function(call.function)
    if function is None:
        return None
    regions = array_at(structs.PrivateRegion, call.regions, call.num_regions, "regions")
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
