"""Chooses one workload for each node."""

from __future__ import annotations

import math
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

    The nodes that `layouts` inserted are in no assignment; each goes to the first backend of the
    preference that has it. Raises UnsupportedError where none has, or a backend makes no workload.
    """
    choices = []
    for node in graph.nodes:
        layer = layer_of(graph, node)
        backend = assignment.backends.get(node.id) or _first_with(layer, preference)
        workloads = backend.create_workloads(layer)
        if not workloads:
            raise UnsupportedError(
                f"The backend {backend.id} says that it computes the {layer.op} {layer.name!r}, "
                "but makes no workload for it. Leave the backend out, and report this."
            )
        choices.append(Choice(layer, min(workloads, key=_cost)))
    return tuple(choices)


def _first_with(layer: Layer, preference: Sequence[Backend]) -> Backend:
    for backend in preference:
        if backend.is_layer_supported(layer).supported:
            return backend
    raise UnsupportedError(
        f"No backend has the {layer.op} {layer.name!r}, which brings a tensor into the place or "
        "the memory order that is asked for. Add CpuRef to the backends."
    )


def _cost(workload: Workload) -> tuple[float, int]:
    """Modelled cycles, else instructions; what states neither comes last. Then scratch bytes."""
    costs = workload.costs
    known = costs.cycles if costs.cycles is not None else costs.instructions
    return (math.inf if known is None else known, workload.scratch_bytes)
