"""Which edges share memory: a view lies in its source, a state's next value may lie in the state.

A storage is a set of edges with one place in memory. What it holds over time is written down as
uses, by position in the program; what follows from that for other storages is in `lifetimes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mcu_deploy.backends.interface import InPlace, Layer
from mcu_deploy.choose.select import Choice, Chosen, Control, every
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan.alignment import aligned
from mcu_deploy.plan.exposure import Exposure
from mcu_deploy.plan.lowering import held_inputs
from mcu_deploy.plan.model import PlanError


@dataclass
class Storage:
    """Edges that lie in one place.

    persistent: what it holds outlives the run. slot: it lies in a buffer of the caller, to which
    this entry of the table of pointers points.
    """

    edges: list[EdgeId]
    bytes: int
    persistent: bool = False
    slot: int | None = None

    @property
    def is_free(self) -> bool:
        """Whether it may share its memory with what lives at another time."""
        return not self.persistent and self.slot is None


@dataclass(frozen=True)
class Run:
    """One way of running the network: all of it, or a partition alone.

    begin: the edges that hold a value before the first position; end: those that must hold theirs
    behind the last. positions: what is run.
    """

    begin: frozenset[EdgeId]
    end: frozenset[EdgeId]
    positions: frozenset[int]


@dataclass
class Storages:
    """The storage of every edge that has memory, in the order in which they are first written."""

    of: dict[EdgeId, Storage] = field(default_factory=dict)

    def write(self, edge: EdgeId, size: int) -> None:
        self.of[edge] = Storage([edge], size)

    def join(self, source: EdgeId, target: EdgeId) -> None:
        kept, dissolved = self.of[source], self.of[target]
        if kept is dissolved:
            return
        kept.edges += dissolved.edges
        kept.bytes = max(kept.bytes, dissolved.bytes)
        kept.persistent |= dissolved.persistent
        for edge in dissolved.edges:
            self.of[edge] = kept

    def is_overwritten(self, found: Sharing) -> bool:
        """Whether another output of the layer lies in the input's memory already."""
        return not found.others.isdisjoint(self.of[found.source].edges)

    @property
    def all(self) -> list[Storage]:
        """Each storage once."""
        return list({id(storage): storage for storage in self.of.values()}.values())


def of_views(graph: Graph, choices: Sequence[Chosen], exposure: Exposure) -> Storages:
    """The storages that must be: a view and its source; a state is persistent.

    graph: with all graphs inside of it (ir.nested).
    """
    storages = Storages()
    for edge in graph.inputs:
        storages.write(edge, graph.type(edge).bytes)
    for state in exposure.states:
        storages.of[state.input].persistent = True
    for choice in every(choices):
        layer = choice.layer
        for operand in layer.outputs:
            storages.write(operand.edge, operand.type.bytes)
        if isinstance(choice, Control):
            for edge in held_inputs(graph, choice):
                storages.write(edge, graph.type(edge).bytes)
        elif choice.workload.is_view:
            if layer.input(0).constant is not None:
                raise PlanError(
                    f"{layer.name!r} is a view of a constant, which has no place in RAM"
                )
            storages.join(layer.input(0).edge, layer.output.edge)
    for edge in graph.outputs:
        if graph.constant(edge) is not None:
            raise PlanError(f"output {graph.edge_name(edge)!r} is a constant without a copy in RAM")
    return storages


def give_to_caller(graph: Graph, exposure: Exposure, storages: Storages) -> int:
    """Lets inputs and outputs lie in the caller's buffers; returns how many do.

    Two arguments of one storage (an output that is a view of an input) stay in the arena, and are
    copied.
    """
    arguments = (*exposure.inputs(graph), *exposure.outputs(graph))
    owners = [id(storages.of[edge]) for edge in arguments]
    slots = 0
    for edge, owner in zip(arguments, owners, strict=True):
        if owners.count(owner) == 1 and not storages.of[edge].persistent:
            storages.of[edge].slot = slots
            slots += 1
    return slots


def reads_of(layer: Layer) -> list[EdgeId]:
    """The edges that a layer reads from memory; an If or a Loop all that its graphs read."""
    edges = [o.edge for o in layer.inputs if o is not None and o.constant is None]
    return [*edges, *layer.node.extra_inputs]


@dataclass(frozen=True)
class Sharing:
    """An output, or the scratch, that may overwrite an input which nothing reads after the layer.

    target: None is the scratch. Its start plus `distance` is at most the input's start. exactly:
    both start at one address, and the distance is 0; so it is with a copy, which is not needed
    there. others: what else the layer puts out.
    """

    position: int
    source: EdgeId
    target: EdgeId | None
    distance: int
    others: frozenset[EdgeId]
    exactly: bool = False


def sharings(layer: Layer, choice: Choice, position: int, storages: Storages) -> list[Sharing]:
    """Which outputs of a layer, or its scratch, may overlap which of its inputs, and how.

    An input whose memory the layer also reads as another input is shared only where the workload
    allows it for both.
    """
    allowed = {(p.input, p.output): p for p in choice.workload.in_place}
    found = []
    outputs = [operand.edge for operand in layer.outputs]
    for o, target in [*enumerate(outputs), (None, None)]:
        facts: dict[int, list[InPlace | None]] = {}
        sources: dict[int, EdgeId] = {}
        for i, operand in enumerate(layer.inputs):
            if operand is None or operand.constant is not None:
                continue
            storage = id(storages.of[operand.edge])
            facts.setdefault(storage, []).append(allowed.get((i, o)))
            sources.setdefault(storage, operand.edge)
        others = frozenset(outputs) - {target}
        for storage, stated in facts.items():
            known = [fact for fact in stated if fact is not None]
            if len(known) < len(stated):
                continue
            distance = max(fact.distance for fact in known)
            exactly = any(fact.exactly for fact in known)
            if not exactly or distance == 0:  # else no place is right for all
                source = sources[storage]
                found.append(Sharing(position, source, target, distance, others, exactly))
    return found


def same_room(first: Storage, second: Storage) -> bool:
    """Whether two storages need equally many bytes."""
    return aligned(first.bytes) == aligned(second.bytes)
