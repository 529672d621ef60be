"""In which order of its axes each tensor lies, by the rules of who writes and who reads it."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.interface import LayoutRule
from mcu_deploy.choose.paths import Arrangement, Order
from mcu_deploy.ir import EdgeId, Graph, Node


class Orders:
    """Of the tensors of a graph. natural: of each the order of its shape."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.natural = {e: tuple(range(t.rank)) for e, t in graph.data.types.items()}
        self._in_memory: dict[tuple[EdgeId, Order], Order] = {}

    def copies(
        self, edge: EdgeId, rule: LayoutRule, leader: Order | None, tensors: Arrangement
    ) -> bool:
        """Whether a tensor is copied for a reader: not where its bytes lie alike, or a copy is
        there already."""
        order, copies = tensors[edge]
        wanted = self._wanted(edge, rule, leader)
        if wanted == order:
            return False
        target = self._lying(edge, wanted)
        if target == self._lying(edge, order) or target in copies:
            return False
        tensors[edge] = (order, copies | {target})
        return True

    def _lying(self, edge: EdgeId, order: Order) -> Order:
        """An order without the axes of size 1, which have no place in memory."""
        key = edge, order
        if key not in self._in_memory:
            shape = self._graph.type(edge).shape
            self._in_memory[key] = tuple(axis for axis in order if shape[axis] != 1)
        return self._in_memory[key]

    def leader(self, node: Node, inputs: Sequence[EdgeId], tensors: Arrangement) -> Order | None:
        """How the input lies that the others follow under the rule SAME (as in `layouts`)."""
        rank = self._graph.type(node.writes[0]).rank
        alike = [e for e in inputs if self._graph.type(e).rank == rank]
        if not alike:
            return None
        return tensors[max(alike, key=lambda edge: self._graph.type(edge).bytes)][0]

    def written(
        self,
        node: Node,
        edge: EdgeId,
        rule: LayoutRule,
        leader: Order | None,
        tensors: Arrangement,
    ) -> Order:
        if rule is not LayoutRule.VIEW:
            return self._wanted(edge, rule, leader)
        source = node.inputs[0]
        if source is None or source not in tensors:
            return self.natural[edge]
        order = tensors[source][0]
        if node.op != "Transpose":
            return order
        perm = self._graph.attributes(node.id).get("perm", tuple(reversed(range(len(order)))))
        return tuple(tuple(perm).index(axis) for axis in order)

    def _wanted(self, edge: EdgeId, rule: LayoutRule, leader: Order | None) -> Order:
        """The order in which a layer wants a tensor that it reads or writes."""
        natural = self.natural[edge]
        return rule.order(len(natural), leader) or natural
