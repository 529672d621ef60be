"""The graphs inside of a graph: which there are, what they read from outside, names for outputs."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import onnx

from mcu_deploy.ir.order import in_order


def subgraphs_of(node: onnx.NodeProto) -> Mapping[str, onnx.GraphProto]:
    """The graphs that a node holds, by attribute."""
    return {a.name: a.g for a in node.attribute if a.HasField("g")}


def subgraphs_below(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """All graphs inside of a graph, outer ones first."""
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield inner
                yield from subgraphs_below(inner)


def all_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Nodes, each followed by those of the graphs that it holds."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from all_nodes(inner.node)


def put(field: Any, messages: Iterable[Any]) -> None:
    """Messages in the place of those that a repeated field has, of which some may be."""
    copied = [copy.deepcopy(message) for message in messages]
    del field[:]
    field.extend(copied)


def sort_nodes(graph: onnx.GraphProto) -> None:
    """Puts each node behind those that write what it reads, where an exporter did not; the nodes of
    a graph with a circle stay as they are.
    """
    for scope in (graph, *subgraphs_below(graph)):
        written = {name: k for k, node in enumerate(scope.node) for name in node.output if name}
        before = {
            k: {written[n] for n in reads(node) if n in written}
            for k, node in enumerate(scope.node)
        }
        order = in_order(before)
        if order != [*before] and len(order) == len(before):
            put(scope.node, [scope.node[k] for k in order])


def reads(node: onnx.NodeProto) -> list[str]:
    """What a node reads, the graphs that it holds included."""
    held = (name for inner in subgraphs_of(node).values() for name in free_names(inner))
    return [*(name for name in node.input if name), *held]


def free_names(graph: onnx.GraphProto) -> list[str]:
    """The tensors that a graph reads from the graphs around it, in the order of reading."""
    own = {i.name for i in (*graph.input, *graph.initializer)}
    own.update(o for node in graph.node for o in node.output)
    read: dict[str, None] = {}
    for node in graph.node:
        read.update(dict.fromkeys(node.input))
        for inner in subgraphs_of(node).values():
            read.update(dict.fromkeys(free_names(inner)))
    read.update(dict.fromkeys(o.name for o in graph.output))
    return [name for name in read if name and name not in own]


def live_nodes(graph: onnx.GraphProto) -> set[int]:
    """The places of the nodes that an output of the graph depends on."""
    needed = {o.name for o in graph.output}
    live = set()
    for index, node in reversed(list(enumerate(graph.node))):
        if any(o in needed for o in node.output):
            live.add(index)
            needed.update(node.input)
            for inner in subgraphs_of(node).values():
                needed.update(free_names(inner))
    return live


def rename(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    """Gives tensors other names, in a graph and in those inside of it."""
    for scope in (graph, *subgraphs_below(graph)):
        for named in (*scope.input, *scope.output, *scope.value_info, *scope.initializer):
            named.name = names.get(named.name, named.name)
        for node in scope.node:
            node.input[:] = [names.get(name, name) for name in node.input]
            node.output[:] = [names.get(name, name) for name in node.output]


def name_outputs(graph: onnx.GraphProto) -> None:
    """Names the absent outputs before a present one, so that outputs go by their place; of nodes
    that hold graphs all. The sequence of an LSTM, GRU or RNN, which costs most, may stay absent.
    """
    for scope in (graph, *subgraphs_below(graph)):
        for index, node in enumerate(scope.node):
            present = [place for place, name in enumerate(node.output) if name]
            end = len(node.output) if subgraphs_of(node) else max(present, default=0)
            first = 1 if node.op_type in ("GRU", "LSTM", "RNN") else 0
            for place in range(first, end):
                if not node.output[place]:
                    node.output[place] = f"{scope.name}/{node.op_type}_{index}/unused_{place}"


def static_shapes(graph: onnx.GraphProto) -> dict[str, list[int]]:
    """The shapes that a graph states for its tensors and constants, where they are static."""
    found = {}
    for value in (*graph.input, *graph.value_info, *graph.output):
        tensor = value.type.tensor_type
        if tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim):
            found[value.name] = [d.dim_value for d in tensor.shape.dim]
    for tensor_proto in graph.initializer:
        found[tensor_proto.name] = list(tensor_proto.dims)
    return found


def state_shape(value_info: onnx.ValueInfoProto, shape: list[int]) -> bool:
    """Gives a tensor a shape if it has no static one; whether it did."""
    tensor = value_info.type.tensor_type
    if tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim):
        return False
    tensor.shape.Clear()
    tensor.shape.SetInParent()
    for size in shape:
        tensor.shape.dim.add().dim_value = size
    return True
