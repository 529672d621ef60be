"""Annotates integer edges with the quantization that Q and DQ nodes state for them.

A scale is what Q and DQ nodes say of bytes, not what the bytes are: a reader that sees them
otherwise gets an edge of its own. Operators that only move elements (`Operator.moves`) carry a
scale on, forwards and backwards; integer operators that compute (a Relu, a Clip, a Max of int8)
compute with the bytes as they are, which have no scale for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from mcu_deploy import operators
from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, Node, Quantization
from mcu_deploy.ir.groups import connected

BYTES = (DType.INT8, DType.UINT8)
# What activations may be.
INTEGERS = (*BYTES, DType.INT16)


def stated(graph: Graph | GraphEditor, node: Node) -> Quantization | None:
    """What a Q or DQ node says of its integer edge; None where it is computed at run time."""
    scale = graph.constant(node.inputs[1])
    zero_point = graph.constant(node.inputs[2]) if len(node.inputs) > 2 else None
    if scale is None or (
        len(node.inputs) > 2 and node.inputs[2] is not None and zero_point is None
    ):
        return None
    attributes = graph.attributes(node.id)
    if attributes.get("block_size", 0) or scale.ndim > 1:
        return None
    rank = graph.type(node.input(0)).rank
    axis = int(attributes.get("axis", 1))
    if scale.size > 1 and not -rank <= axis < rank:
        return None
    points = zero_point if zero_point is not None else [0] * scale.size
    return Quantization.from_arrays(scale, points, axis % rank if rank else None)


def moved(node: Node) -> tuple[EdgeId, ...]:
    """The inputs whose elements a node only moves into its outputs; none where it computes."""
    operator = operators.find(node.domain, node.op)
    if operator is None or operator.moves is None:
        return ()
    return tuple(e for e in node.inputs[operator.moves] if e is not None)


def dequantizer(graph: Graph | GraphEditor, edge: EdgeId | None) -> Node | None:
    """The DequantizeLinear that writes an edge, if it states what its integer edge says."""
    producer = None if edge is None else graph.producer(edge)
    if producer is None or producer.op != "DequantizeLinear" or producer.domain:
        return None
    says = stated(graph, producer)
    return producer if says and graph.type(producer.reads[0]).quantization == says else None


def quantizer(graph: Graph | GraphEditor, edge: EdgeId) -> Node | None:
    """The one QuantizeLinear that reads an edge, to 8 bits or int16, with one constant scale."""
    reader = graph.sole_consumer(edge)
    if reader is None or reader.op != "QuantizeLinear" or reader.domain:
        return None
    result, says = graph.type(reader.writes[0]), stated(graph, reader)
    fits = result.dtype in INTEGERS and says is not None and says.per_tensor
    return reader if fits and result.quantization == says else None


def annotate(graph: Graph) -> Graph:
    """The graph with the quantization of its integer edges, as each reader of them sees it.

    A constant that is seen in several ways becomes a constant for each, a computed tensor gets a
    view of the same bytes for each. Edges that have a quantization from the model file keep it.
    """
    if not any(converts(node) for node in graph.nodes):
        return graph
    seen = _Seen(graph)
    editor = GraphEditor(graph)
    for edge, quantization in seen.own.items():
        if quantization is not None:
            editor.types[edge] = replace(editor.types[edge], quantization=quantization)
    views: dict[tuple[EdgeId, Quantization | None], EdgeId] = {}
    for node in graph.nodes:
        wanted = {e: q for e, q in seen.readings(node) if q != seen.own[e]}
        for key in wanted.items():
            views.setdefault(key, _view(graph, editor, *key))
        if wanted:
            inputs = [views[e, wanted[e]] if e in wanted else e for e in node.inputs]
            editor.set_inputs(node.id, inputs)
    return editor.finish()


def converts(node: Node) -> bool:
    """Whether a node is a QuantizeLinear or a DequantizeLinear."""
    return node.op in ("QuantizeLinear", "DequantizeLinear") and not node.domain


def _view(
    graph: Graph, editor: GraphEditor, edge: EdgeId, quantization: Quantization | None
) -> EdgeId:
    """The same bytes, seen with another quantization."""
    name, type_ = graph.edge_name(edge), replace(graph.type(edge), quantization=quantization)
    value = graph.constant(edge)
    if value is not None:
        return editor.add_constant(name, value, type_)
    seen = editor.add_edge(name, type_)
    editor.add_node("BitCast", [edge], [seen], f"{name} seen otherwise")
    return seen


@dataclass
class _Seen:
    """What is known of the integer edges that the model file gives no quantization.

    own: of an edge, what its writer says, else what is known of all edges between which elements
    are only moved, else None.
    """

    graph: Graph
    own: dict[EdgeId, Quantization | None] = field(default_factory=dict)
    _known: dict[EdgeId, Quantization | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        graph = self.graph
        for edge, type_ in graph.data.types.items():
            if type_.dtype.is_integer and type_.quantization is None:
                self._known[edge] = None
        written = {e: q for node in graph.nodes for e, q in self._writings(node)}
        read = {
            node.inputs[0]: stated(graph, node)
            for node in reversed(list(graph.nodes))
            if node.op == "DequantizeLinear" and not node.domain and node.inputs[0] in self._known
        }
        for members in connected(self._known, self._moves()):
            said = [written[e] for e in members if e in written]
            if not said:
                said = [read[e] for e in members if e in read][:1]
            known = said[0] if said and all(q == said[0] for q in said) else None
            # A scale along an axis does not survive a move.
            if known and (known.per_tensor or len(members) == 1):
                self._known |= dict.fromkeys(members, known)
        self.own = self._known | written

    def _moves(self) -> Iterator[tuple[EdgeId, EdgeId]]:
        """The edges between which a node only moves elements: of one type, as the positions of a
        MaxPool's maxima are not."""
        for node in self.graph.nodes:
            inputs = moved(node)
            if inputs and inputs[0] in self._known:
                first = inputs[0]
                dtype = self.graph.type(first).dtype
                for edge in (*inputs[1:], *node.writes):
                    if self.graph.type(edge).dtype is dtype:
                        yield edge, first

    def _writings(self, node: Node) -> Iterator[tuple[EdgeId, Quantization | None]]:
        """What a node says of the edges that it writes; nothing of those that it only moves."""
        if moved(node) or self.graph.subgraphs(node.id):
            return
        says = stated(self.graph, node) if converts(node) else None
        yield from ((e, says) for e in node.writes if e in self._known)

    def readings(self, node: Node) -> Iterator[tuple[EdgeId, Quantization | None]]:
        """What a node sees in the edges that it reads."""
        if self.graph.subgraphs(node.id):
            return
        moves = moved(node)
        for edge in node.reads:
            if edge not in self._known:
                continue
            if edge in moves:
                yield edge, self._known[edge]
            elif node.op == "DequantizeLinear" and not node.domain and edge == node.inputs[0]:
                yield edge, stated(self.graph, node)
            else:
                yield edge, None
