"""Plans with --memory for the tests: of any graph, and with moves where none would be needed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from graph_cases import preference

from mcu_deploy import choose, plan, selection
from mcu_deploy.arrange import layouts
from mcu_deploy.ir import Graph
from mcu_deploy.plan import Exposure, Plan, moving, planner
from mcu_deploy.plan.clearing import Extent, ordered
from mcu_deploy.plan.compaction import Compaction, Interval, Move, lower_bound
from mcu_deploy.plan.placement import Placement, PlacementProblem
from mcu_deploy.selection import Choice


def chosen(graph: Graph) -> tuple[Graph, tuple[Choice, ...]]:
    """A graph as it is planned for the host, and who computes its layers."""
    backends = preference()
    graph, assignment = choose.assign(graph, backends)
    graph = layouts.assign(graph, assignment)
    return graph, selection.select(graph, assignment, backends).choices


def planned(
    graph: Graph, memory: str, exposure: Exposure | None = None, **options: object
) -> tuple[Graph, tuple[Choice, ...], Plan]:
    """A plan for the host with a memory strategy."""
    graph, choices = chosen(graph)
    settings = plan.Planning(memory=memory, pointer_bytes=8, **options)  # type: ignore[arg-type]
    return graph, choices, plan.make(graph, choices, settings, exposure=exposure)


def move_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets `compact` move everything that may move before every position.

    The real one moves where nothing else helps, which is so rarely that no model of the pack needs
    it. Here all buffers lie at the arena's begin and at its end in turn; without moves each has
    bytes of its own and some to spare, so that this is smaller.
    """

    def stacked(problem: PlacementProblem) -> Placement:
        offsets = [4 * sum(problem.sizes[:i]) for i in range(len(problem.sizes))]
        return Placement(tuple(offsets), 4 * sum(problem.sizes), "stacked", False)

    monkeypatch.setattr(planner, "solve", stacked)
    monkeypatch.setattr(moving, "compact", _restless)


def _restless(buffers: Sequence[Interval]) -> Compaction:
    fixed = [i for i, b in enumerate(buffers) if not b.movable]
    room = 2 * lower_bound([b for b in buffers if b.movable])
    offsets: list[list[tuple[int, int]]] = [[] for _ in buffers]
    size = room
    for i in fixed:
        offsets[i].append((buffers[i].first, size))
        size += buffers[i].bytes
    moves: list[Move] = []
    before: dict[int, Extent] = {}
    for step in sorted({s for b in buffers for s in (b.first, b.last)}):
        after: dict[int, Extent] = {}
        at = 0
        for i, b in enumerate(buffers):
            if b.movable and b.first <= step <= b.last:
                start = at if step % 2 else room - at - b.bytes
                after[i] = Extent(start, b.bytes, i)
                at += b.bytes
        staying = {i: block for i, block in before.items() if i in after}
        order = ordered(staying, after.values())
        assert order is not None
        moves += [Move(step, b.buffer, before[b.buffer].start, b.start, b.bytes) for b in order]
        for i, block in after.items():
            if i not in before or before[i].start != block.start:
                offsets[i].append((step, block.start))
        before = after
    return Compaction(tuple(map(tuple, offsets)), tuple(moves), size)
