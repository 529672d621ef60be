"""What proposals of several nodes share."""

from __future__ import annotations

from mcu_deploy.backends.interface import Layer, SubgraphView, layer_of
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.ir import Graph, GraphEditor


def reader(view: SubgraphView, layer: Layer) -> Layer | None:
    """The layer of the view that alone reads what a layer writes; None where there is none, or
    something else needs what is between them."""
    assert view.whole is not None
    edge = layer.output.edge
    readers = view.whole.topology.consumers[edge]
    if len(readers) != 1 or edge in view.whole.outputs or readers[0] not in view.topology.nodes:
        return None
    return layer_of(view, view.node(readers[0]), layer.target)


def followed(view: SubgraphView, layer: Layer) -> tuple[Convolution, SubgraphView] | None:
    """The convolution that alone reads what a layer writes, and the part of the view that both
    are."""
    last = reader(view, layer)
    behind = "" if last is None else read(last)
    if last is None or isinstance(behind, str):
        return None
    return behind, view.part([layer.node.id, last.node.id])


def fused(part: SubgraphView, operator: str, backend: str) -> Graph:
    """The chain as one node, whose body the replaced nodes become."""
    editor = GraphEditor.empty("chain")
    editor.inputs = [editor.add_edge("x", part.type(e)) for e in part.inputs]
    editor.outputs = [editor.add_edge("y", part.type(e)) for e in part.outputs]
    name = " + ".join(node.name for node in part.nodes)
    editor.add_node(operator, editor.inputs, editor.outputs, name, {}, backend)
    return editor.finish(opset=part.opset)
