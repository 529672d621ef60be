"""Chooses one workload for each node."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.backends.interface import (
    HOST,
    Backend,
    Layer,
    MemoryManager,
    RegionCall,
    Target,
    Workload,
    WorkloadFactory,
    layer_of,
)
from mcu_deploy.errors import BackendFault, UnsupportedError
from mcu_deploy.ir import Graph
from mcu_deploy.partition import Assignment
from mcu_deploy.partition.offers import ask


@dataclass(frozen=True)
class Choice:
    """A layer and the workload that computes it."""

    layer: Layer
    workload: Workload


@dataclass(frozen=True)
class Selection:
    """The choices in the order of execution, and what the backends' memory managers call.

    acquire: at the begin of every run; release: at the end of an instance. By backend id.
    """

    choices: tuple[Choice, ...]
    acquire: tuple[tuple[str, RegionCall], ...] = ()
    release: tuple[tuple[str, RegionCall], ...] = ()


def select(
    graph: Graph, assignment: Assignment, preference: Sequence[Backend], target: Target = HOST
) -> Selection:
    """Of each backend's workloads the cheapest.

    The nodes that `layouts` inserted are in no assignment; each goes to the first backend of the
    preference that has it. Raises UnsupportedError where none has, and BackendFault where a
    backend makes no workload.
    """
    workshop = _Workshop()
    choices = []
    for node in graph.nodes:
        layer = layer_of(graph, node, target)
        if node.id in assignment.subgraphs:
            raise UnsupportedError(
                f"The subgraphs of the {layer.op} {layer.name!r} are given to backends, but code "
                "for control flow is not generated yet. Unroll it, or make its condition constant, "
                "in the model."
            )
        backend = assignment.backends.get(node.id) or _first_with(layer, preference)
        workloads = workshop.factory(backend).create_workloads(layer.info, layer.descriptor)
        if not workloads:
            raise BackendFault(
                backend.id,
                f"The backend {backend.id} says that it computes the {layer.op} {layer.name!r}, "
                "but makes no workload for it. Leave the backend out, and report this to its "
                "vendor.",
            )
        choices.append(Choice(layer, min(workloads, key=_cost)))
    used = [(name, m) for name, m in workshop.managers.items() if m is not None]
    return Selection(
        tuple(choices),
        tuple((name, m.acquire) for name, m in used if m.acquire is not None),
        tuple((name, m.release) for name, m in used if m.release is not None),
    )


class _Workshop:
    """The workload factory of each backend that is used, with its memory manager."""

    def __init__(self) -> None:
        self.managers: dict[str, MemoryManager | None] = {}
        self._factories: dict[str, WorkloadFactory] = {}

    def factory(self, backend: Backend) -> WorkloadFactory:
        if backend.id not in self._factories:
            manager = backend.create_memory_manager()
            self.managers[backend.id] = manager
            self._factories[backend.id] = backend.create_workload_factory(manager)
        return self._factories[backend.id]


def _first_with(layer: Layer, preference: Sequence[Backend]) -> Backend:
    for backend in preference:
        if ask(backend, layer).supported:
            return backend
    raise UnsupportedError(
        f"No backend has the {layer.op} {layer.name!r}, which brings a tensor into the place or "
        "the memory order that is asked for. Add CpuRef to the backends."
    )


def _cost(workload: Workload) -> tuple[float, int]:
    """Modelled cycles, else instructions; what states neither comes last. Then scratch bytes."""
    known = workload.costs.time
    return (math.inf if known is None else known, workload.scratch_bytes)
