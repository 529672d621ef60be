"""The oracle: runs a graph in numpy, tensor by tensor, by the arithmetic of docs/arithmetic.md.

For tensors of integer type every kernel of every backend gives these bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import ModelError, RequestError
from mcu_deploy.ir import EdgeId, Graph, Node
from mcu_deploy.operators import Call, find, lookup
from mcu_deploy.operators.base import Subgraph, evaluate
from mcu_deploy.operators.shapes import misfit


def node_call(graph: Graph, node: Node, values: Mapping[EdgeId, Array]) -> Call:
    """The call of a node, with the values known so far; unknown ones are None."""
    return Call(
        node.op,
        graph.attributes(node.id),
        tuple(None if e is None else values.get(e) for e in node.inputs),
        tuple(None if e is None else graph.type(e) for e in node.inputs),
        tuple(graph.type(e) for e in node.outputs if e is not None),
        graph.opset,
        {name: _subgraph(g, node, values) for name, g in graph.subgraphs(node.id).items()},
    )


def _subgraph(graph: Graph, node: Node, values: Mapping[EdgeId, Array]) -> Subgraph:
    """Runs a graph that a node holds; its last inputs are the node's extra inputs."""

    def call(inputs: Sequence[Array]) -> list[Array]:
        # ONNX lets one number be a scalar or a vector of one.
        shapes = [graph.type(edge).shape for edge in graph.inputs]
        given = [
            value.reshape(shape) if value.size == 1 and math.prod(shape) == 1 else value
            for value, shape in zip(inputs, shapes, strict=False)
        ]
        return run(graph, [*given, *(values[e] for e in node.extra_inputs)])

    return call


def merged(graph: Graph, node: Node) -> Graph | None:
    """The nodes that a fused node is, where they alone say what it computes."""
    return graph.body(node.id) if find(node.domain, node.op) is None else None


def run_node(graph: Graph, node: Node, values: Mapping[EdgeId, Array]) -> tuple[Array, ...]:
    """The outputs of one node (absent outputs left out).

    A fused node whose operator is unknown is what its body computes.
    """
    operator, body = find(node.domain, node.op), merged(graph, node)
    if body is not None:
        return tuple(run(body, [values[e] for e in body.inputs]))
    call = node_call(graph, node, values)
    clause = None if node.domain else misfit(call)
    if clause is not None:
        raise ModelError(
            f"{node.op} {node.name!r} was given values that the model was not compiled for: "
            f"{clause}. Give the model inputs for which its shapes hold."
        )
    return evaluate(operator or lookup(node.domain, node.op), call)


def run_all(graph: Graph, inputs: Sequence[Array]) -> dict[EdgeId, Array]:
    """Runs a graph and returns the value of every edge, constants and inputs included.

    `inputs` are logical arrays in the graph's order. Raises UsageError where their number, type
    or shape is not the graph's.
    """
    if len(inputs) != len(graph.inputs):
        raise RequestError(
            f"The model has {len(graph.inputs)} inputs, but {len(inputs)} were given."
        )
    values: dict[EdgeId, Array] = dict(graph.data.constants)
    for edge, value in zip(graph.inputs, inputs, strict=True):
        type_ = graph.type(edge)
        if tuple(value.shape) != type_.shape or value.dtype != type_.dtype.numpy:
            raise RequestError(
                f"Input {graph.edge_name(edge)!r} must be {type_.dtype.value}{list(type_.shape)}, "
                f"but {value.dtype}{list(value.shape)} was given."
            )
        values[edge] = np.asarray(value)
    for node in graph.nodes:
        results = run_node(graph, node, values)
        written = [e for e in node.outputs if e is not None]
        values.update(zip(written, results, strict=True))
    return values


def run(graph: Graph, inputs: Sequence[Array]) -> list[Array]:
    """Runs a graph and returns its outputs as logical arrays."""
    values = run_all(graph, inputs)
    return [values[edge] for edge in graph.outputs]
