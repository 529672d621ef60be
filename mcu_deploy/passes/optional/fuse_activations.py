"""Fuses Relu and Clip into the operator before them, by the rules of the generic pass.

Of use where a model was built without fusion (`passes.run(graph, fuse=False)`), but a backend's
kernels clamp for nothing.
"""

from __future__ import annotations

from mcu_deploy.backends.interface import SubgraphView, Substitution
from mcu_deploy.ir import Graph, Node, NodeId
from mcu_deploy.passes import activations


def optimize(view: SubgraphView) -> tuple[Substitution, ...]:
    """Each operator with as many clamps behind it as it can take."""
    found: list[Substitution] = []
    taken: set[NodeId] = set()
    for node in view.nodes:
        if node.id in taken:
            continue
        substitution = _with_clamps(view, node)
        if substitution is not None:
            taken |= substitution.substitutable.node_ids
            found.append(substitution)
    return tuple(found)


def _with_clamps(view: SubgraphView, node: Node) -> Substitution | None:
    members, last = [node.id], node
    fused: Graph | None = None
    while (follower := _follower(view, last)) is not None:
        attempt = activations.fuse(view.part([*members, follower.id]))
        if len(attempt.topology.nodes) > 1:
            break
        fused, last = attempt, follower
        members.append(follower.id)
    return None if fused is None else Substitution(view.part(members), fused)


def _follower(view: SubgraphView, node: Node) -> Node | None:
    if len(node.writes) != 1 or view.subgraphs(node.id):
        return None
    return view.sole_consumer(node.writes[0])
