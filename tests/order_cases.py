"""Graphs of tasks for tests, and what the best order of a small one needs, by trying all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from mcu_deploy.plan.ordering import Task


@dataclass
class Tasks:
    """Writes tasks one by one. Buffer 0 is the input; the last buffer is the output."""

    sizes: list[int]
    tasks: list[Task] = field(default_factory=list)
    shares: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def step(self, size: int, *reads: int, scratch: int = 0) -> int:
        """Adds a task that reads buffers and writes a new one, whose number is returned."""
        self.sizes.append(size)
        written = len(self.sizes) - 1
        self.tasks.append(Task(frozenset(reads), frozenset([written]), scratch))
        return written

    @property
    def kept(self) -> frozenset[int]:
        return frozenset([len(self.sizes) - 1])


@st.composite
def random_tasks(draw: st.DrawFn, most: int = 7) -> tuple[Tasks, frozenset[int], frozenset[int]]:
    """A small graph with scratch, tasks that come after others for no data, inputs and kept."""
    graph = Tasks(draw(st.lists(st.integers(0, 9), min_size=1, max_size=3)))
    inputs = frozenset(range(len(graph.sizes)))
    for number in range(draw(st.integers(1, most))):
        known = range(len(graph.sizes))
        reads = draw(st.frozensets(st.sampled_from(known), max_size=3))
        written = []
        for _ in range(draw(st.integers(0, 2))):
            graph.sizes.append(draw(st.integers(0, 9)))
            written.append(len(graph.sizes) - 1)
            for read in sorted(reads):
                if draw(st.integers(0, 3)) == 0:
                    graph.shares[number, read, written[-1]] = draw(st.integers(-4, 4))
        after = frozenset(
            {draw(st.integers(0, number - 1))} if number and draw(st.booleans()) else ()
        )
        graph.tasks.append(Task(reads, frozenset(written), draw(st.integers(0, 3)), after))
    kept = draw(st.frozensets(st.sampled_from(range(len(graph.sizes))), max_size=2))
    return graph, inputs, kept


def all_orders(tasks: Sequence[Task]) -> Iterator[tuple[int, ...]]:
    """Every order in which each task runs after those that it needs."""
    needs = [
        task.after | {p for p, other in enumerate(tasks) if other.writes & task.reads}
        for task in tasks
    ]

    def extend(order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(order) == len(tasks):
            yield order
        for task in range(len(tasks)):
            if task not in order and needs[task] <= set(order):
                yield from extend((*order, task))

    return extend(())


def peak_by_definition(
    graph: Tasks, inputs: frozenset[int], kept: frozenset[int], order: Sequence[int],
    shares: Mapping[tuple[int, int, int], int],
) -> int:  # fmt: skip
    """Buffer by buffer and time by time: who lives from when to when."""
    end = len(order)
    spans = {}
    for buffer in range(len(graph.sizes)):
        times = [t for t, n in enumerate(order)
                 if buffer in graph.tasks[n].reads | graph.tasks[n].writes]  # fmt: skip
        if buffer in inputs:
            times.append(-1)
        if times:
            spans[buffer] = (min(times), end if buffer in kept else max(times))
    most = 0
    for time in range(-1, end):
        live = sum(graph.sizes[b] for b, (first, last) in spans.items() if first <= time <= last)
        if time >= 0:
            number = order[time]
            live += graph.tasks[number].scratch - _saved(graph, spans, time, number, shares)
        most = max(most, live)
    return most


def _saved(
    graph: Tasks, spans: Mapping[int, tuple[int, int]], time: int, number: int,
    shares: Mapping[tuple[int, int, int], int],
) -> int:  # fmt: skip
    """The largest savings first, each input and each output once."""
    savings = []
    for (task, read, written), distance in shares.items():
        if task == number and spans[read][1] == time:
            i, o = graph.sizes[read], graph.sizes[written]
            savings.append((max(0, i + o - max(i, o, i + distance)), -read, -written))
    saved, used = 0, set()
    for size, read, written in sorted(savings, reverse=True):
        if ("in", read) not in used and ("out", written) not in used:
            used |= {("in", read), ("out", written)}
            saved += size
    return saved
