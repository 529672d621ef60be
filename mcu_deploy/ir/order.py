"""The order of nodes: each behind those whose results it reads."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from mcu_deploy.errors import ModelError
from mcu_deploy.ir.graph import Node, NodeId


def ordered(
    nodes: Mapping[NodeId, Node], what: str, places: Mapping[NodeId, int] | None = None
) -> dict[NodeId, Node]:
    """The nodes sorted, by Kahn's algorithm; of those that are ready the one that stood first, or
    has the lowest of `places`, stays first.

    what: the graph, for the sentence. Raises ModelError where the nodes form a cycle.
    """
    position = {n: i for i, n in enumerate(nodes)} if places is None else places
    producers = {e: n.id for n in nodes.values() for e in n.writes}
    waiting: dict[NodeId, int] = {}
    followers: dict[NodeId, list[NodeId]] = {n: [] for n in nodes}
    for node in nodes.values():
        before = {producers[e] for e in node.reads if e in producers}
        waiting[node.id] = len(before)
        for other in before:
            followers[other].append(node.id)
    ready = [(position[n], n) for n, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    order: dict[NodeId, Node] = {}
    while ready:
        _, node_id = heapq.heappop(ready)
        order[node_id] = nodes[node_id]
        for follower in followers[node_id]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heapq.heappush(ready, (position[follower], follower))
    if len(order) != len(nodes):
        stuck = next(n.name for n in nodes.values() if n.id not in order)
        raise ModelError(
            f"The nodes of {what} form a cycle through {stuck!r}; a network must be acyclic. "
            "Re-export the model."
        )
    return order
