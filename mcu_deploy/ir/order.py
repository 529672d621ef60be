"""The order of nodes: each behind those whose results it reads."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

from mcu_deploy.errors import ModelError
from mcu_deploy.ir.graph import Node, NodeId

_Item = TypeVar("_Item", bound=Hashable)


def in_order(
    before: Mapping[_Item, Collection[_Item]], places: Mapping[_Item, int] | None = None
) -> list[_Item]:
    """The items, each behind those that it has before it, by Kahn's algorithm; of those that are
    ready the one that stands first in `before`, or has the lowest of `places`, stays first. A cycle
    and what is behind it are left out.
    """
    position = {item: k for k, item in enumerate(before)} if places is None else places
    followers: dict[_Item, list[_Item]] = {item: [] for item in before}
    for item, others in before.items():
        for other in others:
            followers[other].append(item)
    waiting = {item: len(others) for item, others in before.items()}
    ready = [(position[item], item) for item, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        _, item = heapq.heappop(ready)
        order.append(item)
        for follower in followers[item]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heapq.heappush(ready, (position[follower], follower))
    return order


def ordered(
    nodes: Mapping[NodeId, Node], what: str, places: Mapping[NodeId, int] | None = None
) -> dict[NodeId, Node]:
    """The nodes `in_order`. what: the graph, for the sentence. Raises ModelError where the nodes
    form a cycle.
    """
    producers = {e: n.id for n in nodes.values() for e in n.writes}
    before = {n.id: {producers[e] for e in n.reads if e in producers} for n in nodes.values()}
    order = dict.fromkeys(in_order(before, places))
    if len(order) != len(nodes):
        stuck = next(n.name for n in nodes.values() if n.id not in order)
        raise ModelError(
            f"The nodes of {what} form a cycle through {stuck!r}; a network must be acyclic. "
            "Re-export the model."
        )
    return {n: nodes[n] for n in order}
