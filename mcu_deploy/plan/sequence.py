"""The order of the layers: one in which few bytes live at a time, views behind their sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from mcu_deploy.arrange.exposure import Exposure
from mcu_deploy.backends.cost import Unit, common_unit
from mcu_deploy.backends.interface import RegionKind
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.ir.nested import flat
from mcu_deploy.plan import schedules
from mcu_deploy.plan.alignment import aligned
from mcu_deploy.plan.analysis import scratches
from mcu_deploy.plan.model import Parallel
from mcu_deploy.plan.ordering import Task, best_order
from mcu_deploy.plan.pieces import shown
from mcu_deploy.plan.storage import Storages, of_views, reads_of, sharings
from mcu_deploy.selection import Choice, Chosen, choices_within

ChosenT = TypeVar("ChosenT", Choice, Chosen)


def arrange(graph: Graph, choices: Sequence[Chosen], exposure: Exposure) -> tuple[Chosen, ...]:
    """The choices in an order with a lower peak than the given one, if one is found.

    An If or a Loop is one task among the others; its graphs are put in order each by itself.
    """
    choices = [_inside(graph, choice) for choice in choices]
    storages = of_views(flat(graph), choices, exposure)
    number = {id(storage): index for index, storage in enumerate(storages.all)}
    called = [choice for choice in choices if not _is_view(choice)]
    kept = [*graph.outputs, *(k.edge for k in exposure.kept), *(s.input for s in exposure.states)]

    def buffers(edges: Sequence[EdgeId]) -> frozenset[int]:
        return frozenset(number[id(storages.of[edge])] for edge in edges)

    sizes = [aligned(max(storage.bytes, 1)) for storage in storages.all]
    tasks: list[Task] = []
    scratch: dict[int, int] = {}  # by task, where an input may lie in it: a buffer like any other
    for choice, needs in zip(called, _needs(called, choices), strict=True):
        writes, beside = buffers([o.edge for o in choice.layer.outputs]), _scratch(choice)
        if isinstance(choice, Choice) and any(f.output is None for f in choice.workload.in_place):
            scratch[len(tasks)] = len(sizes)
            writes |= {len(sizes)}
            sizes.append(aligned(choice.workload.scratch_bytes))
            beside -= sizes[-1]
        tasks.append(Task(buffers(reads_of(choice.layer)), writes, beside, needs))
    order = best_order(
        tasks,
        sizes,
        buffers(graph.inputs),
        buffers(kept),
        shares=_shares(called, storages, number, scratch),
    )
    return _with_views([called[index] for index in order], choices, graph.inputs)


def _inside(graph: Graph, chosen: Chosen) -> Chosen:
    """A control with its graphs in order."""
    if isinstance(chosen, Choice):
        return chosen
    blocks = {}
    for name, held in graph.subgraphs(chosen.layer.node.id).items():
        outputs = tuple(edge for edge in held.outputs if held.constant(edge) is None)
        inner = replace(held, topology=replace(held.topology, outputs=outputs))
        blocks[name] = arrange(inner, chosen.blocks[name], Exposure())
    return replace(chosen, blocks=blocks)


def _is_view(chosen: Chosen) -> bool:
    return isinstance(chosen, Choice) and chosen.workload.is_view


def _scratch(chosen: Chosen) -> int:
    """What a layer needs beside its tensors; of a control what its largest layer needs."""
    if isinstance(chosen, Choice):
        return sum(aligned(size) for size, _ in scratches(chosen))
    return max(
        (
            _scratch(choice) + sum(aligned(o.type.bytes) for o in choice.layer.outputs)
            for choice in choices_within([chosen])
        ),
        default=0,
    )


def schedule(
    graph: Graph, choices: Sequence[Choice], name: str
) -> tuple[tuple[Choice, ...], tuple[Parallel, ...]]:
    """The choices in the order of a schedule, and the stretches that run on several cores.

    A layer takes what its workload states in the one unit that all are compared in; where it does
    not, one for each multiply-accumulate. A layer with private memory of its backend runs alone:
    another one may use the same. So does one that may end the run.
    """
    called = [choice for choice in choices if not choice.workload.is_view]
    unit = common_unit(choice.workload.costs for choice in called)
    jobs = [
        schedules.Job(
            needs,
            _time(choice, unit),
            choice.workload.can_fail
            or any(r.kind is RegionKind.PRIVATE for r in choice.workload.regions),
        )
        for choice, needs in zip(called, _needs(called, choices), strict=True)
    ]
    order: list[int] = []
    parallel = []
    for stage in schedules.find(name)(jobs):
        lanes = []
        for lane in stage.lanes:
            lanes.append(tuple(range(len(order), len(order) + len(lane))))
            order += lane
        if len(lanes) > 1:
            parallel.append(Parallel(tuple(lanes)))
    return _with_views([called[i] for i in order], choices, graph.inputs), tuple(parallel)


def _time(choice: Choice, unit: Unit) -> int:
    price = choice.workload.costs.price(unit)
    return choice.layer.macs if price is None else price.value


def _needs(called: Sequence[Chosen], choices: Sequence[Chosen]) -> list[frozenset[int]]:
    """For each layer those that must have run before it: those that write what it reads."""
    sources = {o.edge: shown(c.layer) for c in choices if _is_view(c) for o in c.layer.outputs}
    numbers = {o.edge: index for index, c in enumerate(called) for o in c.layer.outputs}

    def writers(edges: Sequence[EdgeId]) -> set[int]:
        found = {numbers[edge] for edge in edges if edge in numbers}
        return found.union(*(writers(sources[edge]) for edge in edges if edge in sources))

    return [frozenset(writers(reads_of(choice.layer))) for choice in called]


def _shares(
    called: Sequence[Chosen], storages: Storages, number: dict[int, int], scratch: dict[int, int]
) -> dict[tuple[int, int, int], int]:
    """How far behind an output or scratch each input is read that it may overwrite, by task and
    buffers."""
    shares = {}
    for position, choice in enumerate(called):
        if isinstance(choice, Choice):
            for s in sharings(choice.layer, choice, position, storages):
                source = number[id(storages.of[s.source])]
                target = (
                    scratch[position] if s.target is None else number[id(storages.of[s.target])]
                )
                shares[position, source, target] = s.distance
    return shares


def _with_views(
    called: Sequence[ChosenT], choices: Sequence[ChosenT], inputs: Sequence[EdgeId]
) -> tuple[ChosenT, ...]:
    """The layers in their order, and each view as soon as all that it shows is there."""
    views: dict[EdgeId, list[ChosenT]] = {}
    for choice in choices:
        if _is_view(choice):
            for edge in shown(choice.layer):
                views.setdefault(edge, []).append(choice)
    ordered: list[ChosenT] = []
    there: set[EdgeId] = set()

    def show(edges: Sequence[EdgeId]) -> None:
        for edge in edges:
            there.add(edge)
            for view in views.get(edge, ()):
                if there.issuperset(shown(view.layer)):
                    ordered.append(view)
                    show([o.edge for o in view.layer.outputs])

    show(inputs)
    for choice in called:
        ordered.append(choice)
        show([o.edge for o in choice.layer.outputs])
    return tuple(ordered)
