"""From the choices to buffers: which edges share memory, and how long each buffer lives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcu_deploy.backends.interface import Layer, Region, RegionCall, RegionKind, Workload
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan.model import Buffer, PlanError, Step, Tensor, aligned
from mcu_deploy.select import Choice


@dataclass(frozen=True)
class Lifetimes:
    """What is to be placed: the layers that are called, the buffers, and who lies in which."""

    steps: tuple[Step, ...]
    buffers: tuple[Buffer, ...]
    tensors: dict[EdgeId, Tensor]
    private: int | None
    private_offsets: dict[Region, int]


def analyse(
    graph: Graph,
    choices: Sequence[Choice],
    calls: Sequence[RegionCall] = (),
    reuse: bool = True,
) -> Lifetimes:
    """Steps, buffers and tensors of a network in the order of `choices`.

    calls: what is called beside the layers, with private regions. reuse=False keeps every tensor
    for the whole run and computes nothing in place, so that each can be read afterwards.
    """
    positions = _positions(choices)
    end = 1 + max(positions, default=-1)
    shared = _lives(graph, choices, positions, end)
    if reuse:
        # Only now, when the readers of every view are known to its source.
        for choice, position in zip(choices, positions, strict=True):
            _share_in_place(shared, choice, position)
    buffers, tensors = _tensors(graph, shared, keep_until=None if reuse else end)
    steps = _steps(choices, positions, buffers)
    offsets = _private_offsets(choices, calls)
    private = None
    if offsets:
        # They hold their content between two runs: nothing else ever lies there.
        private = len(buffers)
        size = max(offset + region.bytes for region, offset in offsets.items())
        buffers.append(Buffer(private, size, -1, end, "private memory of backends"))
    return Lifetimes(tuple(steps), tuple(buffers), tensors, private, offsets)


def _positions(choices: Sequence[Choice]) -> list[int]:
    """The step at which each choice happens; a view happens with the step before it."""
    positions = []
    step = -1
    for choice in choices:
        if not choice.workload.is_view:
            step += 1
        positions.append(step)
    return positions


@dataclass
class _Group:
    """Edges that lie in one buffer, from the first that is written to the last that is read."""

    edges: list[EdgeId]
    bytes: int
    first: int
    last: int


class _Shared:
    """The group of every computed edge, in the order in which they are first written."""

    def __init__(self) -> None:
        self.group: dict[EdgeId, _Group] = {}

    def write(self, edge: EdgeId, size: int, position: int) -> None:
        self.group[edge] = _Group([edge], size, position, position)

    def read(self, edge: EdgeId, position: int) -> None:
        group = self.group[edge]
        group.last = max(group.last, position)

    def join(self, source: EdgeId, target: EdgeId) -> None:
        kept, dissolved = self.group[source], self.group[target]
        kept.edges += dissolved.edges
        kept.bytes = max(kept.bytes, dissolved.bytes)
        kept.first = min(kept.first, dissolved.first)
        kept.last = max(kept.last, dissolved.last)
        for edge in dissolved.edges:
            self.group[edge] = kept


def _lives(graph: Graph, choices: Sequence[Choice], positions: Sequence[int], end: int) -> _Shared:
    """Every edge from its writer to its last reader; a view shares the life of its source."""
    shared = _Shared()
    for edge in graph.inputs:
        shared.write(edge, graph.type(edge).bytes, -1)
    for choice, position in zip(choices, positions, strict=True):
        layer = choice.layer
        for operand in layer.inputs:
            if operand is not None and operand.constant is None:
                shared.read(operand.edge, position)
        for operand in layer.outputs:
            shared.write(operand.edge, operand.type.bytes, position)
        if choice.workload.is_view:
            if layer.input(0).constant is not None:
                raise PlanError(
                    f"{layer.name!r} is a view of a constant, which has no place in RAM"
                )
            shared.join(layer.input(0).edge, layer.output.edge)
    for edge in graph.outputs:
        if graph.constant(edge) is not None:
            raise PlanError(f"output {graph.edge_name(edge)!r} is a constant without a copy in RAM")
        shared.read(edge, end)
    return shared


def _share_in_place(shared: _Shared, choice: Choice, position: int) -> None:
    """Lets outputs take over the memory of inputs that nothing reads after this step."""
    layer, workload = choice.layer, choice.workload
    taken: set[EdgeId] = set()
    for source, target in _in_place_pairs(layer, workload):
        group = shared.group[source]
        readers = [
            o for o in layer.inputs
            if o is not None and o.constant is None and shared.group[o.edge] is group
        ]  # fmt: skip
        holds_an_output = any(o.edge in group.edges for o in layer.outputs)
        if (
            target not in taken
            and not holds_an_output
            and len(readers) == 1
            and group.last == position
        ):
            taken.add(target)
            shared.join(source, target)


def _in_place_pairs(layer: Layer, workload: Workload) -> list[tuple[EdgeId, EdgeId]]:
    """The (input, output) edges that the workload lets share memory, element by element."""
    pairs = []
    for sharing in workload.in_place:
        source, target = layer.inputs[sharing.input], layer.outputs[sharing.output]
        if source is None or source.constant is not None or sharing.distance != 0:
            continue
        if source.type.bytes >= target.type.bytes:
            pairs.append((source.edge, target.edge))
    return pairs


def _tensors(
    graph: Graph, shared: _Shared, keep_until: int | None
) -> tuple[list[Buffer], dict[EdgeId, Tensor]]:
    buffers: list[Buffer] = []
    tensors: dict[EdgeId, Tensor] = {}
    for edge, group in shared.group.items():
        if edge not in tensors:
            number = len(buffers)
            last = group.last if keep_until is None else keep_until
            label = graph.edge_name(group.edges[0])
            buffers.append(Buffer(number, max(group.bytes, 1), group.first, last, label))
            for member in group.edges:
                tensors[member] = Tensor(member, number, graph.type(member).bytes)
    return buffers, tensors


def _steps(
    choices: Sequence[Choice], positions: Sequence[int], buffers: list[Buffer]
) -> list[Step]:
    """The layers that are called; their scratch is added to the buffers."""

    def add(size: int, position: int, label: str) -> int:
        buffers.append(Buffer(len(buffers), size, position, position, label))
        return len(buffers) - 1

    steps = []
    for choice, position in zip(choices, positions, strict=True):
        if choice.workload.is_view:
            continue
        scratch, size = None, choice.workload.scratch_bytes
        if size:
            scratch = add(size, position, f"scratch of {choice.layer.name}")
        regions = {
            region: add(region.bytes, position, f"{region.name} of {choice.layer.name}")
            for region in dict.fromkeys(choice.workload.regions)
            if region.kind is RegionKind.SCRATCH
        }
        steps.append(Step(position, choice, scratch, regions))
    return steps


def _private_offsets(choices: Sequence[Choice], calls: Sequence[RegionCall]) -> dict[Region, int]:
    """Where each private region that anyone uses lies among them, in the order of asking."""
    used = {r for c in choices if not c.workload.is_view for r in c.workload.regions}
    used |= {r for call in calls for r in call.regions}
    private = [r for r in used if r.kind is RegionKind.PRIVATE]
    offsets: dict[Region, int] = {}
    size = 0
    for region in sorted(private, key=lambda r: (r.backend, r.number)):
        offsets[region] = size
        size += aligned(region.bytes)
    return offsets
