"""Gives each node to a backend: the first of the preference list that supports it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcu_deploy.backends.interface import Backend, layer_of
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.ir import Graph, Node, NodeId


@dataclass(frozen=True)
class Refusal:
    """A node that a backend does not take, and why."""

    node: Node
    backend: str
    reason: str


@dataclass(frozen=True)
class Assignment:
    """Which backend computes which node, and why others before it did not."""

    backends: Mapping[NodeId, Backend]
    refusals: tuple[Refusal, ...] = ()


def assign(graph: Graph, preference: Sequence[Backend]) -> Assignment:
    """Assigns every node. Raises UnsupportedError that lists all nodes that nobody takes."""
    chosen: dict[NodeId, Backend] = {}
    refusals: list[Refusal] = []
    orphans: list[Node] = []
    for node in graph.nodes:
        layer = layer_of(graph, node)
        for backend in preference:
            support = backend.is_layer_supported(layer)
            if support.supported:
                chosen[node.id] = backend
                break
            refusals.append(Refusal(node, backend.id, support.reason))
        else:
            orphans.append(node)
    if orphans:
        raise UnsupportedError(_explain(orphans, refusals))
    return Assignment(chosen, tuple(refusals))


def _explain(orphans: Sequence[Node], refusals: Sequence[Refusal]) -> str:
    lines = []
    for node in orphans:
        label = f"{node.domain}::{node.op}" if node.domain else node.op
        reasons = "; ".join(f"{r.backend}: {r.reason}" for r in refusals if r.node.id == node.id)
        lines.append(f"  {label} {_short(node.name)!r}: {reasons or 'no backend was given'}")
    count = "1 node" if len(orphans) == 1 else f"{len(orphans)} nodes"
    return (
        f"No backend can compute {count} of the model:\n"
        + "\n".join(lines)
        + "\nReplace these operators in the model, or add a backend that has them "
        "(`mcu-deploy operators` lists what there is)."
    )


def _short(name: str) -> str:
    return name if len(name) <= 80 else name[:77] + "..."
