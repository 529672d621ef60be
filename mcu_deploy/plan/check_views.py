"""Which edges are the same bytes by definition: views and what they show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mcu_deploy.choose.select import Choice
from mcu_deploy.ir import EdgeId
from mcu_deploy.plan.model import PlanError
from mcu_deploy.plan.stretch import Stretch


class Views:
    """The views among the choices; each must lie exactly where its source does."""

    def __init__(self, choices: Sequence[Choice], places: Mapping[EdgeId, Stretch]) -> None:
        self._pairs: list[tuple[EdgeId, EdgeId]] = []
        self._of: dict[EdgeId, list[EdgeId]] = {}
        for choice in choices:
            if choice.workload.is_view:
                source, target = choice.layer.input(0).edge, choice.layer.output.edge
                here, there = places[source], places[target]
                if (here.space, here.start) != (there.space, there.start):
                    raise PlanError(f"edge {target} is a view of {source}, but lies elsewhere")
                self._pairs.append((source, target))
                self._of.setdefault(source, []).append(target)

    def with_views(self, edges: Iterable[EdgeId]) -> set[EdgeId]:
        """The edges and all views of them: these hold their value as soon as the source does."""
        found: set[EdgeId] = set()
        pending = list(edges)
        while pending:
            edge = pending.pop()
            if edge not in found:
                found.add(edge)
                pending += self._of.get(edge, ())
        return found

    def same_memory(self, edge: EdgeId) -> set[EdgeId]:
        """The edges that show the bytes of this one: views, in both directions."""
        found, grown = {edge}, True
        while grown:
            size = len(found)
            for pair in self._pairs:
                found |= {*pair} if found & {*pair} else set()
            grown = len(found) > size
        return found
