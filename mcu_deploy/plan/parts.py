"""Partitions that can be run alone: which layers they need, and what must survive in them."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.errors import UsageError
from mcu_deploy.ir import Graph
from mcu_deploy.plan.exposure import Exposure, Partition
from mcu_deploy.plan.groups import Run, reads_of
from mcu_deploy.plan.model import Part
from mcu_deploy.select import Choice


def find_parts(graph: Graph, choices: Sequence[Choice], exposure: Exposure) -> tuple[Part, ...]:
    """The layers of each partition: all that its outputs need, back to its inputs.

    Positions count the layers that are called; the copies into the states stand behind them.
    Raises UsageError for an output that needs more than the inputs, and for a partition that
    computes nothing.
    """
    return tuple(_part(graph, choices, exposure, p) for p in exposure.partitions)


def _part(
    graph: Graph, choices: Sequence[Choice], exposure: Exposure, partition: Partition
) -> Part:
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
            raise UsageError(
                f"The partition {partition.name!r} needs {graph.edge_name(edge)!r}, which is not "
                "among its inputs. Add it to them, or cut the model elsewhere."
            )
        if writer not in needed:
            needed.add(writer)
            pending += reads_of(choices[writer].layer)
    positions = _positions(choices)
    called = {positions[index] for index in needed if not choices[index].workload.is_view}
    behind = sum(not choice.workload.is_view for choice in choices)
    copies = {
        behind + number
        for number, state in enumerate(exposure.states)
        if writers.get(state.output) in needed
    }
    writes = frozenset(o.edge for index in needed for o in choices[index].layer.outputs)
    return Part(
        partition.name, partition.inputs, partition.outputs, frozenset(called | copies), writes
    )


def _positions(choices: Sequence[Choice]) -> list[int]:
    """The position at which each choice is called; that of the next one for a view."""
    positions, next_ = [], 0
    for choice in choices:
        positions.append(next_)
        next_ += not choice.workload.is_view
    return positions


def runs_of(graph: Graph, exposure: Exposure, parts: Sequence[Part], positions: int) -> list[Run]:
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
