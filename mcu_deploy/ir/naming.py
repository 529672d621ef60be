"""Short names of layers: `conv_3`, `depthwise_2`.

A model's own names are long, alike at both ends, sometimes empty or doubled. So each node of the
source model gets, as it is imported, a word for what it computes and its number among the nodes
with that word: counted from 1 in the model's order, a node before the graphs that it holds.
Backend, board and goal come later and change none of it: a layer made of several nodes bears the
name of the one that leads, and what the compiler adds is named after what it belongs to
(`conv_3_reorder`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from mcu_deploy.ir.graph import EdgeId, Graph, Node, NodeId

# The field's words where the operator's name is not one, or is long.
_WORDS = {
    "AveragePool": "avg_pool",
    "BatchNormalization": "batch_norm",
    "DequantizeLinear": "dequantize",
    "DynamicQuantizeLinear": "quantize",
    "FullyConnected": "dense",
    "Gemm": "dense",
    "GlobalAveragePool": "avg_pool",
    "GlobalMaxPool": "max_pool",
    "GroupNormalization": "group_norm",
    "InstanceNormalization": "instance_norm",
    "LayerNormalization": "layer_norm",
    "LpNormalization": "lp_norm",
    "MatMulInteger": "matmul",
    "MatMul": "matmul",
    "PRelu": "prelu",
    "QuantizeLinear": "quantize",
    "UnidirectionalSequenceLstm": "lstm",
}
_LONGEST_WORD = 20

# Of the nodes of one layer these lead; those that move or convert only where there is no other.
_LEADERS = (
    "Conv", "ConvTranspose", "FullyConnected", "GRU", "Gemm", "LSTM", "MatMul", "RNN",
    "UnidirectionalSequenceLstm",
)  # fmt: skip
_FOLLOWERS = (
    "Cast", "DequantizeLinear", "Flatten", "Identity", "Pad", "QuantizeLinear", "Reshape",
    "Squeeze", "Transpose", "Unsqueeze",
)  # fmt: skip

# The layers that the compiler adds.
_ADDED = {"Reorder": "reorder", "Identity": "copy"}


def number(graph: Graph) -> Graph:
    """The imported graph, each node with its short name. Names that nodes have stay."""
    counts: dict[str, int] = {}

    def name(holder: Graph, node: Node) -> str:
        if node.short:
            return node.short
        word = _word(holder, node)
        counts[word] = counts.get(word, 0) + 1
        return f"{word}_{counts[word]}"

    return _named(graph, name)


def complete(graph: Graph) -> Graph:
    """The compiled graph, each node with a short name that no other has.

    What no node of the source model led to is named after the node that it reads from, else after
    the node that holds its graph, else after the model's input.
    """
    taken = {node.short for node in _all_nodes(graph)}
    used: set[str] = set()
    holders: dict[int, str] = {}  # by the identity of the graphs that they hold
    done: dict[tuple[int, NodeId], str] = {}

    def name(holder: Graph, node: Node) -> str:
        short = node.short or _added(holder, node, done, holders.get(id(holder), ""))
        if short in used or (not node.short and short in taken):
            short = next(s for i in itertools.count(2) if (s := f"{short}_{i}") not in taken | used)
        used.add(short)
        done[id(holder), node.id] = short
        for inner in holder.subgraphs(node.id).values():
            holders[id(inner)] = short
        return short

    return _named(graph, name)


def inherit(replacement: Graph, part: Sequence[Node]) -> Graph:
    """What a backend puts in the place of several nodes, each of its nodes with a short name.

    Those that it made are named after the leader of the part; the last of them is called as the
    leader was, if no other is.
    """
    short = leader(part).short
    made = [node.id for node in replacement.nodes if not node.short]
    heir = made[-1:] if short not in {node.short for node in replacement.nodes} else []

    def name(_: Graph, node: Node) -> str:
        return node.short or (short if node.id in heir else f"{short}_{_snake(node.op)}")

    return _named(replacement, name) if short else replacement


def leader(nodes: Sequence[Node]) -> Node:
    """Of the nodes that become one layer, in their order, the one that it is named after."""
    found = [node for node in nodes if node.short] or nodes
    computing = [node for node in found if node.op not in _FOLLOWERS]
    heavy = [node for node in computing if node.op in _LEADERS]
    return (heavy or computing or found)[0]


def _named(graph: Graph, name: Callable[[Graph, Node], str]) -> Graph:
    """The graph with a name for each node; a node is asked for before those of its subgraphs."""
    nodes: dict[NodeId, Node] = {}
    subgraphs: dict[NodeId, Mapping[str, Graph]] = {}
    for node in graph.nodes:
        nodes[node.id] = replace(node, short=name(graph, node))
        held = graph.subgraphs(node.id)
        if held:
            subgraphs[node.id] = {key: _named(inner, name) for key, inner in held.items()}
    topology = replace(graph.topology, nodes=nodes)
    return replace(graph, topology=topology, data=replace(graph.data, subgraphs=subgraphs))


def _all_nodes(graph: Graph) -> Iterable[Node]:
    for node in graph.nodes:
        yield node
        for inner in graph.subgraphs(node.id).values():
            yield from _all_nodes(inner)


def _word(graph: Graph, node: Node) -> str:
    """What a node computes, in a word: letters, digits and underscores."""
    if node.op == "Conv" and _is_depthwise(graph, node):
        return "depthwise"
    if node.op == "MatMul" and any(_is_constant(graph, e) for e in node.inputs[1:]):
        return "dense"
    return _WORDS.get(node.op) or _snake(node.op)


def _snake(op: str) -> str:
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", op)
    return parts.strip("_").lower()[:_LONGEST_WORD].strip("_") or "layer"


def _is_depthwise(graph: Graph, node: Node) -> bool:
    """Whether a convolution has a group for each channel, and several channels."""
    data = node.inputs[0] if node.inputs else None
    group = graph.attributes(node.id).get("group", 1)
    if data is None or graph.type(data).rank < 2:
        return False
    return bool(group > 1 and group == graph.type(data).shape[1])


def _is_constant(graph: Graph, edge: EdgeId | None) -> bool:
    """Whether an edge holds a constant, or what a DequantizeLinear makes of one."""
    producer = None if edge is None else graph.producer(edge)
    if producer is not None and producer.op == "DequantizeLinear":
        edge = producer.inputs[0]
    return graph.constant(edge) is not None


def _added(graph: Graph, node: Node, done: Mapping[tuple[int, NodeId], str], holder: str) -> str:
    """The name of a node that the compiler made."""
    word = _ADDED.get(node.op) or _snake(node.op)
    source = next((e for e in node.reads if graph.constant(e) is None), None)
    producer = None if source is None else graph.producer(source)
    if producer is not None:
        return f"{done[id(graph), producer.id]}_{word}"
    if source in graph.inputs:
        word = f"input_{graph.inputs.index(source) + 1}_{word}"
    return f"{holder}_{word}" if holder else word
