"""What nobody computes, and why."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy import operators
from mcu_deploy.backends.interface import Backend, Target
from mcu_deploy.choose import offers
from mcu_deploy.choose.model import Refusal
from mcu_deploy.errors import shorten
from mcu_deploy.formats.obstacles import Obstacle
from mcu_deploy.formats.qoperator import why_it_stays
from mcu_deploy.ir import Graph, Node


def find(graph: Graph, preference: Sequence[Backend], target: Target) -> list[Obstacle]:
    """The nodes that no backend takes, in the graph and in those that its nodes hold.

    Of a fused node that nobody takes its body is looked at.
    """
    found = []
    asked = dict.fromkeys(graph.topology.nodes, tuple(preference))
    offered = offers.collect(graph, asked, asked, target, {})
    in_parts = {n for part in offered.parts for n in part.nodes}
    for node in graph.nodes:
        if offered.candidates[node.id] or node.id in in_parts:
            continue
        body = graph.body(node.id) if is_its_body(graph, node) else None
        held = [body] if body is not None else list(graph.subgraphs(node.id).values())
        if not held:
            refusals = [r for (n, _), r in offered.refusals.items() if n == node.id]
            found.append(obstacle(graph, node, refusals, preference))
        for inner in held:
            found += find(inner, preference, target)
    return found


def is_its_body(graph: Graph, node: Node) -> bool:
    """Whether a node's body computes what the node does, bit for bit.

    An integer operator keeps the sandwich of floats that it was made of as its body, and rounds
    otherwise than that.
    """
    if graph.body(node.id) is None:
        return False
    is_known = operators.find(node.domain, node.op) is not None
    return not (is_known and any(graph.type(edge).is_quantized for edge in node.writes))


def cannot_honour(refused: Refusal) -> str:
    return (
        f"The backend {refused.backend} cannot compute the {refused.node.op} "
        f"{shorten(refused.node.name)!r}, as --layer-backend asks: {refused.reason}. Name another "
        "backend for this layer, or leave the choice to the strategy."
    )


def obstacle(
    graph: Graph, node: Node, refusals: Sequence[Refusal], asked: Sequence[Backend]
) -> Obstacle:
    """Why nobody takes a node. Backends that lack its operator altogether are named only where
    others could have it: --backend may ask few of those that there are."""
    label = operators.label(node.domain, node.op)
    lacking = {b.id for b in asked if b.operators and label not in b.operators}
    reasons = [f"{r.backend}: {r.reason}" for r in refusals if r.backend not in lacking]
    given = [edge is not None for edge in node.inputs]
    nobody = why_it_stays(node.domain, node.op, given, graph.attributes(node.id))
    if not asked:
        nobody = "no backend was given"
    if lacking and operators.find(node.domain, node.op) is not None:
        nobody = f"not an operator of {' or '.join(sorted(lacking))}"
    return Obstacle(label, node.name, "; ".join(reasons) or nobody)
