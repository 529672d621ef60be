"""Partitions that can be run alone: which layers they need, and what must survive in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from mcu_deploy.arrange.exposure import Exposure, Partition
from mcu_deploy.errors import RequestError
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan.model import PlannedPart
from mcu_deploy.plan.storage import Run, reads_of
from mcu_deploy.selection import Chosen


def find_parts(
    graph: Graph,
    choices: Sequence[Chosen],
    extents: Sequence[tuple[int, int]],
    exposure: Exposure,
) -> tuple[PlannedPart, ...]:
    """The layers of each partition: all that its outputs need, back to its inputs.

    extents: of each choice, where in the program it begins and where the next one does; the copies
    into the states stand behind all. An If or a Loop is part of a partition as a whole.
    Raises UsageError for an output that needs more than the inputs, and for a partition that
    computes nothing.
    """
    return tuple(_part(graph, choices, extents, exposure, p) for p in exposure.partitions)


def _part(
    graph: Graph,
    choices: Sequence[Chosen],
    extents: Sequence[tuple[int, int]],
    exposure: Exposure,
    partition: Partition,
) -> PlannedPart:
    writers = {o.edge: index for index, c in enumerate(choices) for o in c.layer.outputs}
    states = {state.input for state in exposure.states}
    needed: set[int] = set()
    pending = [edge for edge in partition.outputs if edge not in partition.inputs]
    while pending:
        edge = pending.pop()
        if edge in partition.inputs or edge in states:
            continue
        writer = writers.get(edge)
        if writer is None:
            raise RequestError(
                f"The partition {partition.name!r} needs {graph.edge_name(edge)!r}, which is not "
                "among its inputs. Add it to them, or cut the model elsewhere."
            )
        if writer not in needed:
            needed.add(writer)
            pending += reads_of(choices[writer].layer)
    needed |= _copies_of_kept(choices, exposure, writers, needed)
    called = {position for index in needed for position in range(*extents[index])}
    behind = extents[-1][1] if extents else 0
    copies = {
        behind + number
        for number, state in enumerate(exposure.states)
        if writers.get(state.output) in needed
    }
    writes = frozenset(o.edge for index in needed for o in choices[index].layer.outputs)
    return PlannedPart(
        partition.name, partition.inputs, partition.outputs, frozenset(called | copies), writes
    )


def _copies_of_kept(
    choices: Sequence[Chosen], exposure: Exposure, writers: Mapping[EdgeId, int], needed: Set[int]
) -> set[int]:
    """The reorderings that bring what a partition computes to where kept tensors are read."""
    found = set()
    for kept in exposure.kept:
        writer = writers.get(kept.edge)
        if writer is None or writer in needed:
            continue
        layer = choices[writer].layer
        sources = {writers.get(edge) for edge in reads_of(layer)}
        if (layer.domain, layer.op) == ("mcu", "Reorder") and sources <= needed:
            found.add(writer)
    return found


def runs_of(
    graph: Graph, exposure: Exposure, parts: Sequence[PlannedPart], positions: int
) -> list[Run]:
    """The ways of running a network: all of it first, then each partition."""
    kept = frozenset(kept.edge for kept in exposure.kept)
    whole = Run(
        frozenset(graph.inputs),
        frozenset(exposure.outputs(graph)) | kept,
        frozenset(range(positions)),
    )
    return [
        whole,
        *(
            Run(frozenset(part.inputs), frozenset(part.outputs) | (kept & part.writes), part.items)
            for part in parts
        ),
    ]
