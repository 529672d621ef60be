"""A model cut in two networks: the head computes some tensors, the tail goes on from them."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.errors import RequestError, shorten
from mcu_deploy.ir import Graph, GraphEditor
from mcu_deploy.options import HEAD, Half
from mcu_deploy.passes.marks import find_cut


def take(graph: Graph, half: Half) -> Graph:
    """One half of a model, as a network of its own.

    The head's outputs and the tail's first inputs are the tensors, in their order; inputs of the
    model that the tail reads too follow. Raises UsageError for names that the model does not have.
    """
    edges = [find_cut(graph, name, f"--split {shorten(name)}") for name in half.tensors]
    for name, edge in zip(half.tensors, edges, strict=True):
        if edge in graph.inputs or graph.producer(edge) is None:
            raise RequestError(
                f"--split {shorten(name)} names a tensor that no layer computes, so that the head "
                "would be empty. Name one behind a layer."
            )
    editor = GraphEditor(graph)
    if half.side == HEAD:
        editor.outputs = edges
        return _without_idle_inputs(editor.finish())
    for edge in edges:
        producer = editor.producer(edge)
        if producer is not None:  # not removed yet
            others = [e for e in producer.writes if e not in edges]
            if any(graph.consumers(e) or e in graph.outputs for e in others):
                raise RequestError(
                    f"{producer.op} {shorten(producer.name)!r} computes other tensors beside "
                    f"{shorten(graph.edge_name(edge))!r}. Split behind all of them: name each."
                )
            editor.remove_node(producer.id)
    editor.inputs = [*edges, *graph.inputs]
    return _without_idle_inputs(editor.finish(), keep=edges)


def _without_idle_inputs(graph: Graph, keep: Sequence[int] = ()) -> Graph:
    """The graph without inputs that nothing reads."""
    editor = GraphEditor(graph)
    editor.inputs = [
        e for e in graph.inputs if e in keep or graph.consumers(e) or e in graph.outputs
    ]
    return editor.finish()
