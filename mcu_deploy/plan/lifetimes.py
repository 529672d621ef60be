"""From the choices to buffers: which edges share memory, and how long each buffer lives."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan.model import Buffer, Step, Tensor
from mcu_deploy.select import Choice


class _Groups:
    """Union-find over edges; the first edge of a group names it."""

    def __init__(self) -> None:
        self.parent: dict[EdgeId, EdgeId] = {}

    def find(self, edge: EdgeId) -> EdgeId:
        root = edge
        while self.parent.setdefault(root, root) != root:
            root = self.parent[root]
        self.parent[edge] = root
        return root

    def join(self, first: EdgeId, second: EdgeId) -> None:
        self.parent[self.find(second)] = self.find(first)


def analyse(
    graph: Graph, choices: Sequence[Choice], reuse: bool = True
) -> tuple[tuple[Step, ...], tuple[Buffer, ...], dict[EdgeId, Tensor]]:
    """Steps, buffers and tensors of a network in the order of `choices`.

    reuse=False keeps every tensor for the whole run and computes nothing in place, so that each
    can be read afterwards.
    """
    groups = _Groups()
    positions = _positions(choices)
    end = 1 + max(positions, default=-1)
    born: dict[EdgeId, int] = dict.fromkeys(graph.inputs, -1)
    dies: dict[EdgeId, int] = dict(born)
    for choice, position in zip(choices, positions, strict=True):
        for operand in choice.layer.inputs:
            if operand is not None and operand.constant is None:
                dies[operand.edge] = max(dies.get(operand.edge, position), position)
        for operand in choice.layer.outputs:
            born[operand.edge] = position
            dies[operand.edge] = max(dies.get(operand.edge, position), position)
    for edge in graph.outputs:
        dies[edge] = end
    members: dict[EdgeId, set[EdgeId]] = {edge: {edge} for edge in born}

    def last_use(edge: EdgeId) -> int:
        return max(dies[e] for e in members[groups.find(edge)])

    def join(source: EdgeId, target: EdgeId) -> None:
        root, other = groups.find(source), groups.find(target)
        groups.join(source, target)
        members[root] |= members[other]

    for choice, position in zip(choices, positions, strict=True):
        layer, workload = choice.layer, choice.workload
        if workload.is_view:
            join(layer.input(0).edge, layer.output.edge)
            continue
        if not reuse:
            continue
        taken: set[EdgeId] = set()
        for sharing in workload.in_place:
            source, target = layer.input(sharing.input), layer.outputs[sharing.output]
            root = groups.find(source.edge)
            twice = sum(o is not None and o.constant is None and groups.find(o.edge) == root
                        for o in layer.inputs) > 1  # fmt: skip
            if (
                source.constant is None
                and target.edge not in taken
                and sharing.distance == 0
                and not twice
                and source.type.bytes >= target.type.bytes
                and last_use(source.edge) == position
            ):
                taken.add(target.edge)
                join(source.edge, target.edge)
    return _collect(graph, choices, positions, end, groups, born, dies, reuse)


def _positions(choices: Sequence[Choice]) -> list[int]:
    """The step at which each choice happens; a view happens with the step before it."""
    positions = []
    step = -1
    for choice in choices:
        if not choice.workload.is_view:
            step += 1
        positions.append(step)
    return positions


def _collect(
    graph: Graph,
    choices: Sequence[Choice],
    positions: Sequence[int],
    end: int,
    groups: _Groups,
    born: dict[EdgeId, int],
    dies: dict[EdgeId, int],
    reuse: bool,
) -> tuple[tuple[Step, ...], tuple[Buffer, ...], dict[EdgeId, Tensor]]:
    numbers: dict[EdgeId, int] = {}
    spans: dict[int, tuple[int, int, int]] = {}
    tensors: dict[EdgeId, Tensor] = {}
    labels: dict[int, str] = {}
    for edge in born:
        root = groups.find(edge)
        buffer = numbers.setdefault(root, len(numbers))
        size = graph.type(edge).bytes
        old = spans.get(buffer, (size, born[edge], dies[edge]))
        spans[buffer] = (
            max(old[0], size), min(old[1], born[edge]), max(old[2], dies[edge])
        )  # fmt: skip
        labels.setdefault(buffer, graph.edge_name(edge))
        tensors[edge] = Tensor(edge, buffer, size)
    buffers = [
        Buffer(i, max(size, 1), first, last if reuse else end, labels[i])
        for i, (size, first, last) in spans.items()
    ]
    steps = []
    for choice, position in zip(choices, positions, strict=True):
        if choice.workload.is_view:
            continue
        scratch = None
        if choice.workload.scratch_bytes:
            scratch = len(buffers)
            label = f"scratch of {choice.layer.name}"
            buffers.append(
                Buffer(scratch, choice.workload.scratch_bytes, position, position, label)
            )
        steps.append(Step(position, choice, scratch))
    return tuple(steps), tuple(buffers), tensors
