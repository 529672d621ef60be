"""Substitution: other nodes in place of a part of the graph, and a fused node's body given back.

As in Arm NN a backend answers with pairs of a part and its replacement; the
framework applies them to the one graph, so every later view shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mcu_deploy import operators
from mcu_deploy.ir.edit import GraphEditor, shared_constants
from mcu_deploy.ir.graph import EdgeId, Graph, GraphData, Node, NodeId
from mcu_deploy.ir.naming import inherit
from mcu_deploy.ir.types import TensorType
from mcu_deploy.ir.verify import GraphError, verify
from mcu_deploy.ir.view import SubgraphView, unwrapped


class SubstitutionError(ValueError):
    """A replacement that cannot stand for its part; the message is a sentence without its stop."""


def substitute(
    graph: Graph, part: SubgraphView, replacement: Graph
) -> tuple[Graph, tuple[NodeId, ...]]:
    """The graph with `replacement` in place of `part`, and the ids of the replacement's live nodes
    in their order; one whose result nobody reads is not in the graph.

    The replacement's inputs and outputs stand for those of `part`, in order. Its nodes, inner edges
    and constants get new ids; the outputs of `part` keep their ids and names. One node alone gets
    the replaced nodes as its body; of several, each keeps the body that it brought. Where an output
    of the replacement is one of its inputs or constants, readers read that; if it is an output of
    the model, an Identity (not among the ids that come back) writes it.

    `part` may be a view of an earlier value of the graph, if its nodes are still there. Raises
    SubstitutionError for a replacement that does not fit, or would make a cycle.
    """
    require_fit(graph, part, replacement)
    editor = GraphEditor(graph)
    new = put(editor, part, replacement)
    return editor.finish(), new


def put(editor: GraphEditor, part: SubgraphView, replacement: Graph) -> tuple[NodeId, ...]:
    """`substitute` within an editor, for one of several parts that `require_fit` has found to fit
    and that together make no cycle. Returns the ids of the replacement's live nodes."""
    arguments = _arguments(editor.nodes, editor.attributes, part)
    replacement = GraphEditor(replacement).finish()  # without dead parts
    edges = dict(zip(replacement.inputs, arguments, strict=True))
    for edge, value in replacement.data.constants.items():
        name = replacement.edge_name(edge)
        edges[edge] = editor.add_constant(name, value, replacement.type(edge))
    aliases: list[tuple[EdgeId, EdgeId]] = []
    for ours, theirs in zip(part.outputs, replacement.outputs, strict=True):
        if theirs in edges:
            aliases.append((ours, edges[theirs]))
        else:
            edges[theirs] = ours
    new: tuple[NodeId, ...]
    if len(replacement.topology.nodes) == 1:
        new = (_fuse(editor, part, replacement, edges),)
    else:
        for node_id in part.topology.nodes:
            editor.remove_node(node_id)
        last = [*part.topology.nodes][-1]
        new = editor.add_graph(inherit(replacement, tuple(part.nodes)), edges, beside=last)
    for ours, source in aliases:
        _alias(editor, ours, source)
    return new


def lone_node(part: SubgraphView, replacement: Graph) -> tuple[Graph, NodeId]:
    """What `substitute` makes of a part by itself, where one node replaces it: a graph that holds
    the node, with its body. Costs what the part costs. Raises SubstitutionError."""
    data, nodes, edges = part.data, part.topology.nodes, part.topology.edges
    own = GraphData(
        types={e: data.types[e] for e in edges},
        constants={e: data.constants[e] for e in edges if e in data.constants},
        attributes={n: data.attributes[n] for n in nodes},
        bodies={n: data.bodies[n] for n in nodes if n in data.bodies},
        subgraphs={n: data.subgraphs[n] for n in nodes if n in data.subgraphs},
    )
    editor = GraphEditor(Graph(part.name, part.topology, own, opset=part.opset))
    (node,) = put(editor, part, replacement)
    return editor.finish(), node


def require_fit(graph: Graph, part: SubgraphView, replacement: Graph) -> None:
    """Raises SubstitutionError where `replacement` cannot stand for `part`."""
    arguments = _arguments(graph.topology.nodes, graph.attributes, part)
    _require_convex(graph, part)
    try:
        verify(replacement)
    except GraphError as error:
        raise SubstitutionError(f"the replacement is no sound graph: {error}") from error
    _require_alike(graph, "input", arguments, replacement, replacement.inputs)
    _require_alike(graph, "output", part.outputs, replacement, replacement.outputs)
    alive = GraphEditor(replacement).finish()
    if len(alive.topology.nodes) != 1:
        _require_known(alive)


def expand(graph: Graph, node: NodeId) -> Graph:
    """The graph with a fused node's body in its place, the nodes and inner edges with new ids.

    Raises SubstitutionError where the node has no body.
    """
    body = graph.body(node)
    if body is None:
        raise SubstitutionError(f"the node {graph.node(node).name!r} has no body to give back")
    editor = GraphEditor(graph)
    editor.remove_node(node)
    editor.add_graph(
        body,
        {e: e for e in (*body.inputs, *body.outputs, *shared_constants(body, graph))},
        beside=node,
    )
    return editor.finish()


def _arguments(
    nodes: Mapping[NodeId, Node], attributes: Callable[[NodeId], object], part: SubgraphView
) -> tuple[EdgeId, ...]:
    """The part's inputs as the graph has them now: an identity before them may have gone."""
    if not part.topology.nodes:
        raise SubstitutionError("the part that is to be replaced has no nodes")
    now: dict[EdgeId | None, EdgeId | None] = {}
    for node in part.nodes:
        current = nodes.get(node.id)
        if current is None:
            raise SubstitutionError(f"the node {node.name!r} is not in the graph, or no longer")
        # A node that descends from the same import has the very same attributes.
        if (
            unwrapped(attributes(node.id)) is not unwrapped(part.data.attributes.get(node.id))
            or current.outputs != node.outputs
            or _slots(current)[1:] != _slots(node)[1:]
        ):
            raise SubstitutionError(f"the node {node.name!r} is one of another graph")
        now.update(zip(_slots(node)[0], _slots(current)[0], strict=True))
    return tuple(e for e in (now[edge] for edge in part.inputs) if e is not None)


def _slots(node: Node) -> tuple[tuple[EdgeId | None, ...], int, int]:
    """What a node reads, place by place, and how many places it has."""
    return (*node.inputs, *node.extra_inputs), len(node.inputs), len(node.extra_inputs)


def _require_convex(graph: Graph, part: SubgraphView) -> None:
    inside, positions = part.node_ids, graph.topology.positions
    last = max(positions[n] for n in inside)
    pending = [r for n in inside for r in _readers(graph, n) if r not in inside]
    seen: set[NodeId] = set()
    while pending:
        node = pending.pop()
        if positions[node] > last:  # no path leads back from here
            continue
        for reader in _readers(graph, node):
            if reader in inside:
                raise SubstitutionError(
                    f"a path leaves the part and re-enters it from {graph.node(node).name!r} to "
                    f"{graph.node(reader).name!r}, so that its replacement would make a cycle"
                )
            if reader not in seen:
                seen.add(reader)
                pending.append(reader)


def _readers(graph: Graph, node: NodeId) -> list[NodeId]:
    return [r for e in graph.node(node).writes for r in graph.topology.consumers[e]]


def _require_alike(
    graph: Graph,
    what: str,
    ours: Sequence[EdgeId],
    replacement: Graph,
    theirs: Sequence[EdgeId],
) -> None:
    if len(ours) != len(theirs):
        raise SubstitutionError(
            f"the part has {len(ours)} {what}s, but its replacement has {len(theirs)}"
        )
    for index, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        wanted, given = graph.type(our), replacement.type(their)
        if _content(wanted) != _content(given):
            raise SubstitutionError(
                f"{what} {index} of the part, {graph.edge_name(our)!r}, is {wanted}, but that of "
                f"its replacement is {given}{_difference(wanted, given)}"
            )


def _content(type_: TensorType) -> tuple[object, ...]:
    """What values of a type mean, however they lie in memory."""
    return type_.dtype, type_.shape, type_.quantization


def _difference(wanted: TensorType, given: TensorType) -> str:
    return " with another scale or zero point" if str(wanted) == str(given) else ""


def _require_known(replacement: Graph) -> None:
    for node in replacement.nodes:
        known = operators.find(node.domain, node.op) is not None
        if not known and replacement.body(node.id) is None:
            label = operators.label(node.domain, node.op)
            raise SubstitutionError(
                f"the node {node.name!r} of the replacement has the operator {label}, which the "
                "interpreter does not know; as one of several nodes it must bring a body"
            )


def _fuse(
    editor: GraphEditor, part: SubgraphView, replacement: Graph, edges: dict[EdgeId, EdgeId]
) -> NodeId:
    """The replacement's only node, with those of the replaced nodes as its body that it needs."""
    node = next(replacement.nodes)
    inputs = [None if e is None else edges[e] for e in node.inputs]
    outputs = [None if e is None else edges.get(e) for e in node.outputs]
    extra_inputs = [edges[e] for e in node.extra_inputs]
    wanted = {e for e in outputs if e is not None}
    members: list[NodeId] = []
    for node_id in reversed(tuple(part.topology.nodes)):
        member = editor.nodes[node_id]
        if wanted.isdisjoint(member.writes):
            editor.remove_node(node_id)
            continue
        members.append(node_id)
        wanted.update(member.reads)
    written = {e for m in members for e in editor.nodes[m].writes}
    lacking = wanted - written - set(inputs) - set(extra_inputs) - set(editor.constants)
    if lacking:
        raise SubstitutionError(
            f"the node {node.name!r} does not read the edge {editor.edges[min(lacking)]!r}, on "
            "which its outputs depend in the nodes that it replaces"
        )
    return editor.fuse(
        members, node.op, inputs, outputs, replacement.attributes(node.id), node.name,
        domain=node.domain, extra_inputs=extra_inputs, subgraphs=replacement.subgraphs(node.id),
    )  # fmt: skip


def _alias(editor: GraphEditor, edge: EdgeId, source: EdgeId) -> None:
    """Lets the readers of an edge, which nothing writes any more, read another."""
    outputs = list(editor.outputs)
    editor.redirect(edge, source)
    editor.outputs = outputs
    if edge in outputs:
        editor.add_node("Identity", [source], [edge], f"{editor.edges[edge]} copied")
