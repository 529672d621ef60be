"""Makes the workloads of what has won, and takes one for each node."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from mcu_deploy.backends.c_rules import require
from mcu_deploy.backends.cost import common_unit
from mcu_deploy.backends.interface import (
    HOST,
    Backend,
    CFunction,
    Layer,
    LayoutRule,
    MemoryManager,
    Price,
    Target,
    Workload,
    WorkloadFactory,
    layer_of,
)
from mcu_deploy.backends.measured import NOT_MEASURED, MeasuredCosts
from mcu_deploy.backends.workload_check import check_call, check_workload
from mcu_deploy.choose import Assignment
from mcu_deploy.choose.offers import ask, making_sense
from mcu_deploy.errors import UnsupportedError, one_line
from mcu_deploy.ir import Graph, Node, NodeId
from mcu_deploy.selection.choices import Choice, Chosen, Control, Selection


def select(
    graph: Graph,
    assignment: Assignment,
    preference: Sequence[Backend],
    target: Target = HOST,
    measured: MeasuredCosts = NOT_MEASURED,
) -> Selection:
    """Of each backend's workloads the cheapest, by measured costs where there are any.

    The nodes that `layouts` inserted are in no assignment; each goes to the first backend of the
    preference that has it. Raises UnsupportedError where none has, and BackendFault where a
    backend makes no workload.
    """
    workshop = _Workshop(preference, target, measured)
    choices = workshop.choose(graph, assignment)
    used = [(name, m) for name, m in workshop.managers.items() if m is not None]
    selection = Selection(
        choices,
        tuple((name, m.acquire) for name, m in used if m.acquire is not None),
        tuple((name, m.release) for name, m in used if m.release is not None),
    )
    for backend, call in (*selection.acquire, *selection.release):
        with making_sense(backend, "memory"):
            check_call(call)
    return selection


Facts = dict[Hashable, Workload]


def unmade(
    graph: Graph, assignment: Assignment, target: Target = HOST, known: Facts | None = None
) -> tuple[Chosen, ...]:
    """What the planner needs to know of workloads that are not made yet: the memory facts of their
    prices.

    Arm NN has no word for these, so a backend in its words is asked for the workload itself, unless
    it has a memory manager, which would remember that. What is not known shares no bytes. known:
    what was asked for before, of other covers of the graph.
    """
    facts: Facts = {} if known is None else known

    def chosen(node: Node) -> Chosen:
        layer = layer_of(graph, node, target)
        parts = assignment.subgraphs.get(node.id)
        if parts is not None:
            held = graph.subgraphs(node.id)
            return Control(layer, {n: unmade(held[n], p, target, facts) for n, p in parts.items()})
        support = assignment.supports.get(node.id)
        backend = assignment.backends.get(node.id)
        name = "" if backend is None else backend.id
        if support is not None and support.layout is LayoutRule.VIEW:
            return Choice(layer, Workload(name, None))
        proposal, _ = assignment.proposals.get(node.id, (None, 0))
        if proposal is None and backend is not None:
            key = (backend.id, node, *(o.type for o in (*layer.inputs, *layer.outputs) if o))
            if key not in facts and backend.create_memory_manager() is None:
                facts[key] = _first_made(backend, layer)
            if key in facts:
                return Choice(layer, facts[key])
        price = Price() if proposal is None or len(proposal.layouts) > 1 else proposal.price
        function = CFunction("unmade", (), "{}")
        return Choice(
            layer,
            Workload(
                name, function, scratch_bytes=price.scratch_bytes, in_place=price.in_place
            ),
        )  # fmt: skip

    return tuple(chosen(node) for node in graph.nodes)


def _first_made(backend: Backend, layer: Layer) -> Workload:
    """A workload for its memory facts."""
    workloads = backend.create_workload_factory(None).create_workloads(layer.info, layer.descriptor)
    with making_sense(backend.id, f"create_workload for {_title(layer)}"):
        _require_several(workloads)
        require(len(workloads) > 0, "there is no workload")
        _check(workloads[0], layer, backend)
    return workloads[0]


def _title(layer: Layer) -> str:
    return f"the {one_line(layer.op)} {one_line(layer.name)!r}"


class _Workshop:
    """The workload factory of each backend that is used, with its memory manager."""

    def __init__(
        self, preference: Sequence[Backend], target: Target, measured: MeasuredCosts
    ) -> None:
        self._preference, self._target, self._measured = preference, target, measured
        self.managers: dict[str, MemoryManager | None] = {}
        self._factories: dict[str, WorkloadFactory] = {}

    def choose(self, graph: Graph, assignment: Assignment) -> tuple[Chosen, ...]:
        """Of a graph in its order."""
        made = self._proposed(graph, assignment)
        return tuple(
            made[node.id] if node.id in made else self._chosen(graph, node, assignment)
            for node in graph.nodes
        )

    def _proposed(self, graph: Graph, assignment: Assignment) -> dict[NodeId, Choice]:
        """What was proposed and has won, made: all nodes of a proposal at once."""
        winners: dict[int, dict[int, NodeId]] = {}
        for node, (proposal, place) in assignment.proposals.items():
            winners.setdefault(id(proposal), {})[place] = node
        found: dict[NodeId, Choice] = {}
        for places in winners.values():
            nodes = [places[place] for place in sorted(places)]
            proposal, _ = assignment.proposals[nodes[0]]
            backend = assignment.backends[nodes[0]]
            layers = [layer_of(graph, graph.node(node), self._target) for node in nodes]
            workloads = proposal.make(layers, self.manager(backend))
            with making_sense(backend.id, f"make for {proposal.title or layers[0].name!r}"):
                _require_several(workloads)
                count = f"{len(workloads)} workloads for {len(layers)} layers"
                require(len(workloads) == len(layers), f"there are {count}")
                for node, layer, workload in zip(nodes, layers, workloads, strict=True):
                    _check(workload, layer, backend)
                    found[node] = Choice(layer, self._measured.applied(workload))
        return found

    def _chosen(self, graph: Graph, node: Node, assignment: Assignment) -> Chosen:
        layer = layer_of(graph, node, self._target)
        parts = assignment.subgraphs.get(node.id)
        if parts is not None:
            held = graph.subgraphs(node.id)
            return Control(
                layer, {name: self.choose(held[name], part) for name, part in parts.items()}
            )
        backend = assignment.backends.get(node.id) or _first_with(layer, self._preference)
        workloads = self.factory(backend).create_workloads(layer.info, layer.descriptor)
        with making_sense(backend.id, f"create_workload for {_title(layer)}"):
            _require_several(workloads)
            require(len(workloads) > 0, "there is no workload")
            for workload in workloads:
                _check(workload, layer, backend)
        return Choice(layer, _cheapest([self._measured.applied(w) for w in workloads]))

    def factory(self, backend: Backend) -> WorkloadFactory:
        if backend.id not in self._factories:
            manager = self.manager(backend)
            self._factories[backend.id] = backend.create_workload_factory(manager)
        return self._factories[backend.id]

    def manager(self, backend: Backend) -> MemoryManager | None:
        """The backend's memory manager for the network."""
        if backend.id not in self.managers:
            self.managers[backend.id] = backend.create_memory_manager()
        return self.managers[backend.id]


def _check(workload: Workload, layer: Layer, backend: Backend) -> None:
    """Raises Nonsense for a workload that breaks a rule of what one may hold."""
    check_workload(workload, layer)
    owner = workload.backend
    require(owner == backend.id, f"a workload says that it is of the backend {owner!r}")


def _require_several(workloads: Any) -> None:
    """Raises Nonsense for what is no sequence of workloads, which are looked at one by one."""
    fits = isinstance(workloads, tuple | list)
    require(fits, f"its answer is a {type(workloads).__name__}, and no tuple")


def _first_with(layer: Layer, preference: Sequence[Backend]) -> Backend:
    for backend in preference:
        if ask(backend, layer).supported:
            return backend
    raise UnsupportedError(
        f"No backend has the {layer.op} {layer.name!r}, which brings a tensor into the place or "
        "the memory order that is asked for. Add CpuRef to the backends."
    )


def _cheapest(workloads: Sequence[Workload]) -> Workload:
    """In the unit that they share; what does not state it comes last. Then by scratch bytes."""
    unit = common_unit(w.costs for w in workloads)

    def key(workload: Workload) -> tuple[float, int]:
        price = workload.costs.price(unit)
        return (math.inf if price is None else price.value, workload.scratch_bytes)

    return min(workloads, key=key)
