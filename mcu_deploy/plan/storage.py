"""Which edges share memory: a view lies in its source, a state's next value may lie in the state.

A storage is a set of edges with one place in memory. What it holds over time is written down as
uses, by position in the program; what follows from that for other storages is in `lifetimes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mcu_deploy.arrange.exposure import Exposure
from mcu_deploy.backends.interface import InPlace, Layer
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan.alignment import aligned
from mcu_deploy.plan.lowering import held_inputs
from mcu_deploy.plan.model import PlanError
from mcu_deploy.plan.pieces import pieces
from mcu_deploy.selection import Choice, Chosen, Control, every


@dataclass
class Storage:
    """Edges that lie in one place.

    at: where in there each begins, in bytes. persistent: what it holds outlives the run. slot: it
    lies in a buffer of the caller, to which this entry of the table of pointers points.
    """

    at: dict[EdgeId, int]
    bytes: int
    persistent: bool = False
    slot: int | None = None

    @property
    def edges(self) -> list[EdgeId]:
        return list(self.at)

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
        self.of[edge] = Storage({edge: 0}, size)

    def join(self, source: EdgeId, target: EdgeId, offset: int = 0) -> None:
        """Lets the target, and all that lies with it, begin so many bytes behind the source."""
        kept, dissolved = self.of[source], self.of[target]
        if kept is dissolved:
            return
        begin = kept.at[source] + offset - dissolved.at[target]
        kept.at |= {edge: begin + at for edge, at in dissolved.at.items()}
        kept.bytes = max(kept.bytes, begin + dissolved.bytes)
        kept.persistent |= dissolved.persistent
        for edge in dissolved.edges:
            self.of[edge] = kept

    def at(self, edge: EdgeId) -> int:
        """Where in its storage an edge begins."""
        return self.of[edge].at[edge]

    def ahead(self, found: Sharing) -> int | None:
        """The distance of a sharing, from storage to storage; None where they cannot meet."""
        begin = 0 if found.target is None else self.at(found.target)
        shift = begin - self.at(found.source)
        return None if found.exactly and shift else found.distance + shift

    def same_room(self, source: EdgeId, target: EdgeId) -> bool:
        """Whether the storages of two edges need equally many bytes, if both edges begin at one
        place."""
        first, second = self.of[source], self.of[target]
        return self.at(source) == self.at(target) and aligned(first.bytes) == aligned(second.bytes)

    def is_overwritten(self, found: Sharing) -> bool:
        """Whether another output of the layer lies in the input's memory already."""
        return not found.others.isdisjoint(self.of[found.source].edges)

    @property
    def all(self) -> list[Storage]:
        """Each storage once."""
        return list({id(storage): storage for storage in self.of.values()}.values())


def of_views(graph: Graph, choices: Sequence[Chosen], exposure: Exposure) -> Storages:
    """The storages that must be: a view and its source; a state is persistent.

    graph: with all graphs inside of it (ir.nested). Raises PlanError where a piece lies in
    something else already.
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
            for piece in pieces(layer):
                if storages.of[piece.part].bytes != graph.type(piece.part).bytes:
                    raise PlanError(f"edge {piece.part} lies in another tensor already")
                storages.join(piece.whole, piece.part, piece.offset)
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

    target: None is the scratch. Its start plus `distance` is at most the source's start. exactly:
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
    allows it for both, and two outputs that are pieces of one tensor are not shared.
    """
    allowed = {(p.input, p.output): p for p in choice.workload.in_place}
    found = []
    outputs = [operand.edge for operand in layer.outputs]
    owners = [id(storages.of[edge]) for edge in outputs]
    for o, target in [*enumerate(outputs), (None, None)]:
        if o is not None and owners.count(owners[o]) > 1:
            continue
        facts: dict[int, list[tuple[EdgeId, InPlace | None]]] = {}
        for i, operand in enumerate(layer.inputs):
            if operand is None or operand.constant is not None:
                continue
            stated = facts.setdefault(id(storages.of[operand.edge]), [])
            stated.append((operand.edge, allowed.get((i, o))))
        others = frozenset(outputs) - {target}
        for stated in facts.values():
            source = stated[0][0]
            # How far each input lets the target begin before the first one.
            known = [
                (fact.distance - storages.at(edge) + storages.at(source), fact.exactly)
                for edge, fact in stated
                if fact is not None
            ]
            if len(known) < len(stated):
                continue
            distance = max(distance for distance, _ in known)
            exact = {distance for distance, exactly in known if exactly}
            if not exact or {distance} == exact == {0}:  # else no place is right for all
                found.append(Sharing(position, source, target, distance, others, bool(exact)))
    return found
