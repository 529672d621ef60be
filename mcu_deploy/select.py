"""Chooses one workload for each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.backends.interface import Backend, Layer, Workload, layer_of
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.ir import Graph
from mcu_deploy.partition import Assignment


@dataclass(frozen=True)
class Choice:
    """A layer and the workload that computes it."""

    layer: Layer
    workload: Workload


def select(
    graph: Graph, assignment: Assignment, preference: Sequence[Backend]
) -> tuple[Choice, ...]:
    """The choices in the order of execution: of each backend's workloads the cheapest.

    Conversion nodes that belong to no backend are given to the first one that has them.
    """
    choices = []
    for node in graph.nodes:
        layer = layer_of(graph, node)
        backend = assignment.backends.get(node.id)
        if backend is None:
            backend = next((b for b in preference if b.is_layer_supported(layer).supported), None)
        if backend is None:
            raise UnsupportedError(
                f"No backend can convert the layout of {layer.name!r}. Add CpuRef to the backends."
            )
        workloads = backend.create_workloads(layer)
        choices.append(Choice(layer, min(workloads, key=_cost)))
    return tuple(choices)


def _cost(workload: Workload) -> tuple[int, int]:
    costs = workload.costs
    return (costs.cycles or costs.instructions or 0, workload.scratch_bytes)
