"""From choices to a flat list of what happens: the graphs of If, Loop and Scan in their places."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mcu_deploy.arrange.flow import Rounds, Slices, rounds_of
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.ir import EdgeId, Graph, NodeId
from mcu_deploy.plan.control import Branch, ControlItem, Count, Element, End, Otherwise, Repeat
from mcu_deploy.plan.model import Copy
from mcu_deploy.selection import Choice, Chosen, Control

Happening = Choice | Copy | ControlItem


Join = tuple[NodeId, Copy]  # a copy at the end of a stretch of this node


@dataclass
class Lowered:
    """What happens, without views. extents: of each choice, where it begins and where the next
    one does. branches, rounds: the copies into what a Branch writes and a Repeat carries, which are
    not needed where both edges may have one place.
    """

    happenings: list[Happening] = field(default_factory=list)
    extents: list[tuple[int, int]] = field(default_factory=list)
    branches: list[Join] = field(default_factory=list)
    rounds: list[Join] = field(default_factory=list)


def lower(graph: Graph, choices: Sequence[Chosen]) -> Lowered:
    """What happens in the order of `choices`. graph: with all graphs inside of it (ir.nested)."""
    lowering = _Lowering(graph)
    for chosen in choices:
        begin = len(lowering.made.happenings)
        lowering.add([chosen])
        lowering.made.extents.append((begin, len(lowering.made.happenings)))
    return lowering.made


def require_plain_memory(choices: Sequence[Chosen], memory: str, schedule: str) -> None:
    """Raises UnsupportedError where a control meets a way of planning that has no word for it."""
    control = next((c for c in choices if isinstance(c, Control)), None)
    if control is None:
        return
    plain_ones = (("memory", memory, "offline"), ("schedule", schedule, "sequential"))
    for option, value, plain in plain_ones:
        if value != plain:
            raise UnsupportedError(
                f"The model has the {control.layer.op} {control.layer.name!r}, and --{option} "
                f"{value} is for models whose layers run each once, one after the other. Build "
                f"with --{option} {plain}."
            )


class _Lowering:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.made = Lowered()

    def add(self, choices: Iterable[Chosen]) -> None:
        for chosen in choices:
            if isinstance(chosen, Choice):
                if not chosen.workload.is_view:
                    self.made.happenings.append(chosen)
            elif chosen.layer.op == "If":
                self._branch(chosen)
            else:
                self._repeat(chosen)

    def _branch(self, control: Control) -> None:
        node = control.layer.node
        self._do(Branch(node.id, control.layer.input(0).edge))
        self._way(control, "then_branch")
        self._do(Otherwise(node.id))
        self._way(control, "else_branch")
        self._do(End(node.id))

    def _way(self, control: Control, name: str) -> None:
        node = control.layer.node
        self.add(control.blocks[name])
        for source, target in zip(
            self.graph.subgraphs(node.id)[name].outputs, node.outputs, strict=True
        ):
            if target is not None:
                self._do(Copy(source, target))
                self.made.branches.append((node.id, Copy(source, target)))

    def _repeat(self, control: Control) -> None:
        node = control.layer.node
        rounds = rounds_of(self.graph, node)
        used = _used(control.blocks["body"], rounds)
        for carried in rounds.carried:
            assert carried.initial is not None
            self._do(Copy(carried.initial, carried.state))
        self._do(self._head(control, rounds))
        if rounds.number in used:
            assert rounds.number is not None
            self._do(Count(node.id, rounds.number))
        for taken in rounds.taken:
            if taken.element in used:
                self._do(self._element(node.id, taken, into=False))
        self.add(control.blocks["body"])
        for collected in rounds.collected:
            self._do(self._element(node.id, collected, into=True))
        for carried in rounds.carried:
            if carried.next != carried.state:
                self._do(Copy(carried.next, carried.state))
                self.made.rounds.append((node.id, Copy(carried.next, carried.state)))
        self._do(End(node.id))
        for carried in rounds.carried:
            if carried.result is not None:
                self._do(Copy(carried.state, carried.result))

    def _head(self, control: Control, rounds: Rounds) -> Repeat:
        if control.layer.op == "Scan":
            return Repeat(control.layer.node.id, None, rounds.count, None, rounds.count)
        trips, most = rounds.trips, None
        value = self.graph.constant(trips)
        if value is not None:
            trips, most = None, max(0, int(value.reshape(-1)[0]))
        condition = None if rounds.condition is None else rounds.condition.state
        return Repeat(control.layer.node.id, trips, most, condition, rounds.count)

    def _element(self, node: NodeId, slices: Slices, *, into: bool) -> Element:
        whole = self.graph.type(slices.whole)
        pieces = math.prod(whole.shape[: slices.axis])
        size = math.prod(whole.shape[slices.axis + 1 :]) * whole.dtype.bytes
        return Element(
            node, slices.whole, slices.element, into, pieces, size, whole.shape[slices.axis],
            slices.backwards,
        )  # fmt: skip

    def _do(self, item: Copy | ControlItem) -> None:
        self.made.happenings.append(item)


def held_inputs(graph: Graph, control: Control) -> list[EdgeId]:
    """The inputs of a body that need memory: what is carried, and what its layers read."""
    if control.layer.op == "If":
        return []
    rounds = rounds_of(graph, control.layer.node)
    used = _used(control.blocks["body"], rounds)
    elements = [taken.element for taken in rounds.taken if taken.element in used]
    number = [] if rounds.number is None or rounds.number not in used else [rounds.number]
    return [*(carried.state for carried in rounds.carried), *number, *elements]


def _used(body: Sequence[Chosen], rounds: Rounds) -> set[EdgeId]:
    """The edges that the layers of a body read, or that it gives back."""
    return {*(e for layer in body for e in layer.layer.node.reads), *rounds.body.outputs}
