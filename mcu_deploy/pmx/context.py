"""What saving and loading carry along: the dense ids, and what the file holds only once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy.typing as npt

from mcu_deploy.backends.interface import Support
from mcu_deploy.backends.layer import HOST, Layer, layer_of
from mcu_deploy.backends.workload import Argument, CFunction, Region
from mcu_deploy.ir import DType, EdgeId, Graph, Node, NodeId, TensorType
from mcu_deploy.operators import find
from mcu_deploy.pmx.constants import MOST_BYTES
from mcu_deploy.pmx.reordered import Reordered
from mcu_deploy.records import Reader, Writer, integer
from mcu_deploy.records.blobs import array_of
from mcu_deploy.schema import Clause, Form
from mcu_deploy.selection import Choice

# What several things share: saved once, and referred to by a number.
SHARED = (TensorType, CFunction, Region, Argument, Support)


class SerializationContext:
    """The ids that nodes and edges have in a file (as in ppl.nn): 0, 1, 2 ... in the old order.

    Ids in a graph only grow, so that passes leave gaps; a file has none. The map is over all graphs
    together, those that nodes hold and those that fused nodes stand for: equal ids stay equal, so
    that it does not matter which of them share theirs. `others`: edges of the source model.
    """

    def __init__(self, graph: Graph, others: Iterable[EdgeId] = ()) -> None:
        graphs = list(_with_inner(graph))
        edges = {e for g in graphs for e in g.topology.edges}.union(others)
        nodes = {n for g in graphs for n in g.topology.nodes}
        self.edges = {old: new for new, old in enumerate(sorted(edges))}
        self.nodes = {old: new for new, old in enumerate(sorted(nodes))}


def _with_inner(graph: Graph) -> Iterator[Graph]:
    yield graph
    for body in graph.data.bodies.values():
        yield from _with_inner(body)
    yield from (g for inner in _subgraphs(graph) for g in _with_inner(inner))


def _subgraphs(graph: Graph) -> Iterator[Graph]:
    for inner in graph.data.subgraphs.values():
        yield from inner.values()


class ModelWriter(Writer):
    """Gathers what is referred to by a number, while a model is being saved."""

    def __init__(self, ids: SerializationContext) -> None:
        super().__init__()
        self.ids = ids
        self.shared: dict[type, dict[Any, int]] = {kind: {} for kind in SHARED}
        self.constants: dict[bytes, int] = {}
        self.arrays: list[npt.NDArray[Any]] = []  # that the bytes were first seen in

    def number(self, value: Any) -> int:
        """The number of a value of a SHARED class; equal ones are saved once."""
        known = self.shared[type(value)]
        return known.setdefault(value, len(known))

    def blob(self, value: npt.NDArray[Any]) -> int:
        """The number of an array's bytes in row-major order; equal bytes are saved once."""
        data = value.tobytes()
        if data not in self.constants:
            self.constants[data] = len(self.constants)
            self.arrays.append(value)
        return self.constants[data]


class ModelReader(Reader):
    """What was read so far of a file, for what refers to it by a number."""

    def __init__(self, path: Path, constants: Sequence[memoryview | Reordered]) -> None:
        super().__init__()
        self.path = path  # of the file, for messages
        self.target = HOST
        self.shared: dict[type, list[Any]] = {kind: [] for kind in SHARED}
        self.choices: dict[NodeId, Choice] = {}
        self._constants = constants
        self._copied = 0  # bytes of constants that are in memory beside the file
        self._arrays: dict[tuple[int, DType, tuple[int, ...]], npt.NDArray[Any]] = {}
        self._graphs: dict[NodeId, Graph] = {}

    def array(self, dtype: DType, shape: tuple[int, ...], number: int) -> npt.NDArray[Any]:
        """The read-only array of a constant's bytes; one for all that have it in this type."""
        key = number, dtype, shape
        found = self._arrays.get(key)
        if found is None:
            found = self._arrays[key] = self._array(dtype, shape, number)
        return found

    def _array(self, dtype: DType, shape: tuple[int, ...], number: int) -> npt.NDArray[Any]:
        if not 0 <= number < len(self._constants):
            raise Clause(f"constant {number} is not there")
        data = self._constants[number]
        if isinstance(data, Reordered):
            elements = data.elements(self._constants)
            if data.item == dtype.bytes and elements.shape == shape and dtype is not DType.BOOL:
                return elements.view(dtype.numpy)
            self._count_copy(elements.nbytes)
            data = memoryview(elements.tobytes())
        if dtype is DType.BOOL:
            self._count_copy(len(data))
        return array_of(data, dtype, shape)

    def _count_copy(self, size: int) -> None:
        """One constant may be asked for in many types: what is copied for that has an end."""
        self._copied += size
        if self._copied > MOST_BYTES:
            raise Clause(f"more than {MOST_BYTES:,} bytes of constants are copies of others")

    def use(self, graph: Graph) -> None:
        """Sets the graph whose layers are asked for, with the graphs that its nodes hold.

        Where such a graph has ids of its own, nothing in it is a layer: the outer one counts.
        """
        bare = replace(graph, data=replace(graph.data, bodies={}))
        for number, node in graph.topology.nodes.items():
            # Who knows the operator does not look into its body; in the graph it is there for all.
            known = find(node.domain, node.op) is not None
            self._graphs.setdefault(number, bare if known else graph)
        for inner in _subgraphs(graph):
            self.use(inner)

    def node(self, number: NodeId) -> Node:
        """A node that can be a layer. Raises Misfit where there is none."""
        if number not in self._graphs:
            raise Clause(f"node {number} is to be computed, which is in no graph")
        return self._graphs[number].node(number)

    def layer(self, number: NodeId) -> Layer:
        """The layer of a node. Raises Misfit where there is none."""
        node = self.node(number)
        return layer_of(self._graphs[number], node, self.target)


def shared(kind: type) -> Form:
    """The number of a value of a SHARED class."""

    def decode_all(reader: ModelReader, values: list[Any]) -> list[Any]:
        known = reader.shared[kind]
        for value in values:
            if not 0 <= integer(reader, value) < len(known):
                raise Clause(f"{kind.__name__} {value} is not there")
        return [known[value] for value in values]

    return Form(
        lambda writer, value: writer.number(value),
        lambda reader, value: decode_all(reader, [value])[0],
        decode_all,
    )
