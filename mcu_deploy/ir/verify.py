"""The graph's invariants, checked after every pass in the tests."""

from __future__ import annotations

from mcu_deploy.ir.graph import Graph


def verify(graph: Graph) -> None:
    """Raises AssertionError with a sentence where a graph breaks an invariant."""
    topology, data = graph.topology, graph.data
    seen: set[int] = set()
    available = set(graph.inputs) | set(data.constants)
    for node_id, node in topology.nodes.items():
        assert node.id == node_id, f"node {node_id} is filed under a foreign id"
        assert node.id < topology.next_node, f"node {node.id} was not given by this graph"
        for edge in node.inputs:
            if edge is not None:
                assert edge in available, f"{node.name!r} reads edge {edge} before it is written"
        for edge in node.outputs:
            if edge is not None:
                assert edge not in seen, f"edge {edge} has two producers"
                assert edge not in data.constants, f"{node.name!r} writes constant edge {edge}"
                assert edge not in graph.inputs, f"{node.name!r} writes an input"
                seen.add(edge)
                available.add(edge)
        assert node_id in data.attributes, f"{node.name!r} has no attributes entry"
    for edge in graph.outputs:
        assert edge in available, f"output {edge} is never written"
    for edge in topology.edges:
        assert edge < topology.next_edge, f"edge {edge} was not given by this graph"
        assert edge in data.types, f"edge {edge} has no type"
    for edge, value in data.constants.items():
        type_ = data.types[edge]
        assert tuple(value.shape) == type_.shape, f"constant {edge} has a shape unlike its type"
        assert value.dtype == type_.dtype.numpy, f"constant {edge} has a dtype unlike its type"
    for edge, type_ in data.types.items():
        quantization = type_.quantization
        if quantization is not None and quantization.axis is not None:
            size = type_.shape[quantization.axis]
            assert len(quantization.scale) == size, f"edge {edge}: {size} scales expected"
        if type_.layout is not None:
            assert sorted(type_.layout) == list(range(type_.rank)), f"edge {edge}: bad layout"
    for node_id, body in data.bodies.items():
        assert node_id in topology.nodes, f"a body of the missing node {node_id}"
        verify(body)
