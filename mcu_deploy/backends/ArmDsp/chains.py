"""What proposals of several nodes share."""

from __future__ import annotations

from mcu_deploy.backends.ArmDsp.workloads import ID
from mcu_deploy.backends.interface import Layer, SubgraphView
from mcu_deploy.ir import Graph, GraphEditor, Node


def only_reader(view: SubgraphView, layer: Layer) -> Node | None:
    """The one node of the view that reads what a layer writes, if nothing else needs it."""
    assert view.whole is not None
    edge = layer.output.edge
    readers = view.whole.topology.consumers[edge]
    is_inner = len(readers) == 1 and edge not in view.whole.outputs
    return view.node(readers[0]) if is_inner and readers[0] in view.node_ids else None


def fused(part: SubgraphView, operator: str) -> Graph:
    """The chain as one node, whose body the replaced nodes become."""
    editor = GraphEditor.empty("chain")
    editor.inputs = [editor.add_edge("x", part.type(e)) for e in part.inputs]
    editor.outputs = [editor.add_edge("y", part.type(e)) for e in part.outputs]
    name = " + ".join(node.name for node in part.nodes)
    editor.add_node(operator, editor.inputs, editor.outputs, name, {}, ID)
    return editor.finish(opset=part.opset)
