"""What holds of every view of a graph."""

from __future__ import annotations

from mcu_deploy.ir import GraphError, SubgraphView


def verify_view(view: SubgraphView) -> None:
    """Raises GraphError with a sentence where a view shows something else than its whole."""
    whole, topology = view.whole, view.topology
    if whole is None:
        raise GraphError("the view has no whole")
    _require(view.data is whole.data, "the view has a data store of its own")
    foreign = sorted(set(topology.nodes) - set(whole.topology.nodes))
    _require(not foreign, f"the view has the nodes {foreign}, which the whole lacks")
    for node_id, node in topology.nodes.items():
        _require(node is whole.node(node_id), f"{node.name!r} is another node than in the whole")
    ids = (topology.next_node, topology.next_edge)
    _require(ids == (whole.topology.next_node, whole.topology.next_edge), "ids may be given twice")
    order = [n for n in whole.topology.nodes if n in topology.nodes]
    _require(list(topology.nodes) == order, "the view has another order than the whole")
    read = [e for n in topology.nodes.values() for e in n.reads]
    written = [e for n in topology.nodes.values() for e in n.writes]
    touched = set(read) | set(written)
    _require(set(topology.edges) == touched, "the view has other edges than its nodes touch")
    for edge in touched:
        _require(
            topology.edges[edge] == whole.edge_name(edge), f"edge {edge} has a name of its own"
        )
        own = tuple(n for n in whole.topology.consumers[edge] if n in topology.nodes)
        _require(topology.consumers[edge] == own, f"edge {edge} has other consumers than inside")
        producer = whole.topology.producers.get(edge)
        inside = producer if producer in topology.nodes else None
        _require(topology.producers.get(edge) == inside, f"edge {edge} has another producer")
    entering = [e for e in dict.fromkeys(read) if e not in set(written) | set(whole.data.constants)]
    _require(list(view.inputs) == entering, "the inputs are not the edges that enter the view")
    leaving = [
        e for e in written
        if e in whole.outputs or set(whole.topology.consumers[e]) - set(topology.nodes)
    ]  # fmt: skip
    _require(list(view.outputs) == leaving, "the outputs are not the edges that leave the view")


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise GraphError(sentence)
