"""Made-up inputs for a network, for whom nobody has given any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.files.samples import Samples
from mcu_deploy.interpreter import node_call
from mcu_deploy.ir import EdgeId, Graph, TensorType
from mcu_deploy.operators import find
from mcu_deploy.operators.recurrent import GATES, LENGTHS, recurrence


class Drawn(NamedTuple):
    """An input to be made up. below: what its numbers are less than, where they are positions."""

    type: TensorType
    below: int | None


def drawn(graph: Graph, edges: Sequence[EdgeId]) -> list[Drawn]:
    """How these inputs of a graph are made up."""
    below = _positions(graph)
    return [Drawn(graph.type(edge), below.get(edge)) for edge in edges]


def random_samples(graph: Graph, count: int = 4, edges: Sequence[EdgeId] | None = None) -> Samples:
    """Samples for a graph's inputs, or for these of its edges, as `random_values` has them."""
    return random_values(drawn(graph, graph.inputs if edges is None else edges), count)


def random_values(inputs: Sequence[Drawn], count: int) -> Samples:
    """Positions along an axis over all that it has (as floats, where these are cast), other
    integers of 8 bits over their whole range, wider ones up to 100, floats from a standard
    normal."""
    generator = np.random.default_rng(0)

    def one(type_: TensorType, below: int | None) -> Array:
        dtype = type_.dtype
        if dtype.wide.is_float and below is not None:
            return generator.integers(0, below, type_.shape).astype(dtype.numpy)
        if dtype.wide.is_float:
            return generator.standard_normal(type_.shape).astype(dtype.numpy)
        if dtype.is_packed:
            packed = generator.integers(*dtype.range, type_.shape, endpoint=True)
            return packed.astype(dtype.numpy)
        if not dtype.is_integer:
            return generator.integers(0, 2, type_.shape).astype(dtype.numpy)
        low, high = dtype.range if dtype.bytes == 1 else (0, 100)
        if below is not None:
            low, high = 0, min(below - 1, dtype.range[1])
        return generator.integers(low, high, type_.shape, dtype=dtype.numpy, endpoint=True)

    samples = tuple(tuple(one(*of) for of in inputs) for _ in range(count))
    return Samples(samples, "a random generator (seed 0)")


def _positions(graph: Graph) -> Mapping[EdgeId, int]:
    """Of the edges whose integers are positions along an axis how many the shortest such axis has,
    whatever moves or casts them on the way; of lengths of sequences one more than the longest."""
    found: dict[EdgeId, int] = {}
    for node in reversed([*graph.nodes]):
        operator = find(node.domain, node.op)
        if operator is None:
            continue
        moved = slice(0, 1) if operator.name == "Cast" else operator.moves
        reads: dict[EdgeId | None, int] = {}
        if operator.positions is not None:
            reads[node.inputs[1]] = operator.positions(node_call(graph, node, {}))
        if operator.name in GATES and node.inputs[LENGTHS:]:
            reads[node.inputs[LENGTHS]] = 1 + recurrence(node_call(graph, node, {})).steps
        if moved is not None:
            least = min((found[edge] for edge in node.outputs if edge in found), default=None)
            if least is not None:
                reads |= dict.fromkeys(node.inputs[moved], least)
        for edge, count in reads.items():
            if edge is not None:
                found[edge] = min(count, found.get(edge, count))
    return found
