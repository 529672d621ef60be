"""`--layer-backend LAYER=ID`: who must compute a layer, by its short name or the model's."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

from mcu_deploy.backends.interface import Backend
from mcu_deploy.errors import RequestError
from mcu_deploy.ir import Graph, Node, NodeId


def resolve(
    graph: Graph, nodes: Iterable[Node], layers: Mapping[str, Backend]
) -> dict[NodeId, Backend]:
    """The backend of each node that was named: by its own name, or by one that was fused into it.

    Raises UsageError where names that became one layer ask for different backends.
    """
    found: dict[NodeId, Backend] = {}
    for node in nodes:
        wanted = {n: layers[n] for n in _names(graph, node) if n in layers}
        if len({b.id for b in wanted.values()}) > 1:
            asked = ", ".join(f"{name}={b.id}" for name, b in wanted.items())
            raise RequestError(
                f"--layer-backend {asked}: these became one layer, {node.name!r}, which one "
                "backend must compute. Name one of them, or build with --layers all."
            )
        if wanted:
            found[node.id] = next(iter(wanted.values()))
    return found


def require_known(graph: Graph, layers: Mapping[str, Backend]) -> None:
    """Raises UsageError for a name that no layer has."""
    known = dict.fromkeys(_all_names(graph))
    for name, backend in layers.items():
        if name not in known:
            close = difflib.get_close_matches(name, known, n=3)
            hint = f"Close are {', '.join(map(repr, close))}." if close else "See build --explain."
            raise RequestError(
                f"--layer-backend {name}={backend.id}: the model has no layer {name!r}. {hint}"
            )


def _all_names(graph: Graph) -> Iterator[str]:
    for node in graph.nodes:
        yield from _names(graph, node)
        for subgraph in graph.subgraphs(node.id).values():
            yield from _all_names(subgraph)


def _names(graph: Graph, node: Node) -> tuple[str, ...]:
    """All that a layer may be called: the short names and the model's."""
    nodes = (node, *graph.leaves(node.id))
    return (*(n.short for n in nodes if n.short), *(n.name for n in nodes))
