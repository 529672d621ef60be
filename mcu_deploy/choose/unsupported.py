"""What nobody computes, and why."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy import operators
from mcu_deploy.backends.interface import Backend, Layer, Proposes, Target, layer_of
from mcu_deploy.choose import offers
from mcu_deploy.choose.model import Rejection
from mcu_deploy.errors import shorten
from mcu_deploy.errors.obstacles import Obstacle
from mcu_deploy.formats.qoperator import why_it_stays
from mcu_deploy.ir import Graph, Node

_AT_RUN_TIME = "at run time"  # in what backends say of parameters that are no constants


def find(graph: Graph, preference: Sequence[Backend], target: Target) -> list[Obstacle]:
    """The nodes that no backend takes, in the graph and in those that its nodes hold.

    Of a fused node that nobody takes its body is looked at. What proposes is asked about all nodes
    only where it may have one that others do not take: to price all that it could do takes longer
    than all the rest.
    """
    found = []
    asked = dict.fromkeys(graph.topology.nodes, tuple(preference))
    alone = [b for b in preference if not isinstance(b, Proposes)]
    bare = [node for node in graph.nodes if not _is_taken(layer_of(graph, node, target), alone)]
    if not any(_may_have(b, node) for b in preference if b not in alone for node in bare):
        asked = {node.id: asked[node.id] for node in bare}
    offered = offers.collect(graph, asked, asked, target, {})
    in_parts = {n for part in offered.parts for n in part.nodes}
    for node in bare:
        if offered.candidates[node.id] or node.id in in_parts:
            continue
        held = _held(graph, node)
        if not held:
            refusals = [r for (n, _), r in offered.refusals.items() if n == node.id]
            found.append(obstacle(graph, node, refusals, preference))
        for inner in held:
            found += find(inner, preference, target)
    return found


def is_hopeless(graph: Graph, preference: Sequence[Backend]) -> bool:
    """Whether a node is there whose operator no backend has, by what they say of themselves: so
    much is known before anything is priced."""
    for node in graph.nodes:
        if not any(_may_have(backend, node) for backend in preference):
            held = _held(graph, node)
            if not held or any(is_hopeless(inner, preference) for inner in held):
                return True
    return False


def _is_taken(layer: Layer, backends: Sequence[Backend]) -> bool:
    return any(offers.ask(backend, layer).supported for backend in backends)


def _may_have(backend: Backend, node: Node) -> bool:
    """Whether a node's operator is one of a backend's, which may not say which it has."""
    return not backend.operators or operators.label(node.domain, node.op) in backend.operators


def _held(graph: Graph, node: Node) -> list[Graph]:
    """What a node stands for, or what it holds: graphs whose nodes may be computed in its place."""
    body = graph.body(node.id) if is_its_body(graph, node) else None
    return [body] if body is not None else list(graph.subgraphs(node.id).values())


def is_its_body(graph: Graph, node: Node) -> bool:
    """Whether a node's body computes what the node does, bit for bit.

    An integer operator keeps the sandwich of floats that it was made of as its body, and rounds
    otherwise than that.
    """
    if graph.body(node.id) is None:
        return False
    is_known = operators.find(node.domain, node.op) is not None
    return not (is_known and any(graph.type(edge).is_quantized for edge in node.writes))


def cannot_honour(refused: Rejection) -> str:
    return (
        f"The backend {refused.backend} cannot compute the {refused.node.op} "
        f"{shorten(refused.node.name)!r}, as --layer-backend asks: {refused.reason}. Name another "
        "backend for this layer, or leave the choice to the strategy."
    )


def obstacle(
    graph: Graph, node: Node, refusals: Sequence[Rejection], asked: Sequence[Backend]
) -> Obstacle:
    """Why nobody takes a node. Backends that lack its operator altogether are named only where
    others could have it: --backend may ask few of those that there are."""
    label = operators.label(node.domain, node.op)
    lacking = {b.id for b in asked if not _may_have(b, node)}
    reasons = [f"{r.backend}: {r.reason}" for r in refusals if r.backend not in lacking]
    given = [edge is not None for edge in node.inputs]
    nobody = why_it_stays(node.domain, node.op, given, graph.attributes(node.id))
    if not asked:
        nobody = "no backend was given"
    if lacking and operators.find(node.domain, node.op) is not None:
        nobody = f"not an operator of {' or '.join(sorted(lacking))}"
    if any(_AT_RUN_TIME in r.reason for r in refusals) and {*node.inputs[1:]} & {*graph.inputs}:
        reasons.append("--constant-input makes an input of the model a constant")
    return Obstacle(label, node.name, "; ".join(reasons) or nobody)
