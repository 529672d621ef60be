"""Groups nodes of one backend into groups, so that no cycle arises between them.

A group runs as a whole, so a path that leaves it must never come back (it is convex): of the
diamond A -> B -> D, A -> C -> D with only C of another backend, {A, B, D} would have to run both
before and after {C}. The whole quotient must be acyclic, which is more than each part being convex:
two parts that each need the other's result are a cycle as well.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.choose.model import Group
from mcu_deploy.ir import Graph, NodeId
from mcu_deploy.ir.order import in_order


def group(graph: Graph, labels: Mapping[NodeId, str]) -> tuple[Group, ...]:
    """The groups of the labelled nodes, in a topological order; a label is a backend's id.

    Nodes that have no label are in no group, but paths through them count. Nodes that are
    joined by edges come together as far as that is possible: of two groups of one label with an
    edge between them, none could take the other in without a cycle. Equal arguments give equal
    results: groups that do not depend on each other come in the order of their first nodes.
    """
    grouping = _Grouping()
    for node in graph.nodes:
        producers = {
            graph.topology.producers[edge]
            for edge in node.reads
            if edge in graph.topology.producers
        }
        grouping.add(node.id, labels.get(node.id), producers)
    part_of = {node.id: grouping.part(node.id) for node in graph.nodes}
    nodes: dict[int, list[NodeId]] = {}
    for node in graph.nodes:
        nodes.setdefault(part_of[node.id], []).append(node.id)
    order = in_order(parts_before(graph, part_of))
    assert len(order) == len(nodes), "a cycle between groups"
    return tuple(
        Group(label, tuple(nodes[part]))
        for part in order
        if (label := grouping.labels[part]) is not None
    )


class _Grouping:
    """Parts that grow while nodes are added in a topological order; an unlabelled node is one too.

    A new node joins all parts of its label that feed it, but for those that also lie before another
    part which feeds it: from these a path leaves and comes back.

    No cycle arises, since none of the parts that are joined lies before another. And all is joined
    that can be: between two parts of one label with an edge between them there is always a path
    through a part of another label, which is there to stay. For if all parts on the longest path
    between them had their label, two neighbours on it would have no other path between them, and
    would have been joined when their edge came.
    """

    def __init__(self) -> None:
        self.labels: list[str | None] = []
        self._part_of: dict[NodeId, int] = {}
        self._into: list[int] = []  # the part that took this one in; itself where none did
        self._before: list[int] = []  # a bit for each part that a path leads from
        self._next: list[set[int]] = []

    def part(self, node: NodeId) -> int:
        """The part that a node is in by now."""
        return self._now(self._part_of[node])

    def add(self, node: NodeId, label: str | None, producers: set[NodeId]) -> None:
        """Adds a node whose producers were added before."""
        feeding = {self.part(producer) for producer in producers}
        before = 0
        for part in feeding:
            before |= self._before[part]
        joined = sorted(
            part
            for part in feeding
            if label is not None and self.labels[part] == label and not before >> part & 1
        )
        target = joined[0] if joined else self._new(label)
        self._part_of[node] = target
        for part in joined[1:]:
            self._into[part] = target
            self._next[target] |= self._next[part]
        for part in feeding.difference(joined):
            self._next[part].add(target)
            before |= 1 << part
        # The bits of parts that were taken in stay set where they are; nobody asks for them again.
        if len(joined) > 1 or before & ~self._before[target]:
            self._before[target] |= before
            self._tell_followers(target)

    def _new(self, label: str | None) -> int:
        part = len(self.labels)
        self.labels.append(label)
        self._into.append(part)
        self._before.append(0)
        self._next.append(set())
        return part

    def _now(self, part: int) -> int:
        while self._into[part] != part:
            self._into[part] = self._into[self._into[part]]
            part = self._into[part]
        return part

    def _tell_followers(self, changed: int) -> None:
        """Lets a part, and all that is before it, be before all parts that come after it."""
        before = self._before[changed] | 1 << changed
        pending = [changed]
        while pending:
            for follower in self._next[pending.pop()]:
                part = self._now(follower)
                if before & ~self._before[part]:
                    self._before[part] |= before
                    pending.append(part)


def parts_before(graph: Graph, part_of: Mapping[NodeId, int]) -> dict[int, set[int]]:
    """For each part those that it reads of. part_of: of nodes, in the graph's order; other nodes do
    not count."""
    before: dict[int, set[int]] = {part: set() for part in part_of.values()}
    for node, part in part_of.items():
        for edge in graph.node(node).reads:
            producer = graph.topology.producers.get(edge)
            if producer is not None and part_of.get(producer, part) != part:
                before[part].add(part_of[producer])
    return before
