"""Which copies a plan does without: of a Concat, Slice, Split or Gather whose pieces are placed.

All tensors of such a layer lie in one buffer then, for as long as one of them is needed. That may
take more memory than the copy would; what that is worth is for the goal to say.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from mcu_deploy.arrange.exposure import Exposure
from mcu_deploy.backends.cost import common_unit
from mcu_deploy.backends.interface import RegionCall, Workload
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan import schedules
from mcu_deploy.plan.model import Plan, PlanError
from mcu_deploy.plan.pieces import movable
from mcu_deploy.plan.planner import COMPACT, OFFLINE, Planning, make
from mcu_deploy.plan.storage import of_views
from mcu_deploy.selection import Choice, Chosen

# How many plans are made to find out which copies need no memory to do without.
PLANS = 32


def make_without_copies(
    graph: Graph, choices: Sequence[Chosen], planning: Planning, calls: Sequence[RegionCall],
    exposure: Exposure, goal: str = "ram",
) -> tuple[tuple[Chosen, ...], Plan]:  # fmt: skip
    """The choices, with views in the place of copies that are not needed, and their plan.

    goal: of `--optimize-for`. "ram" takes no byte more for that, "balanced" an eighth where the
    copies cost over 2 % of the time, "speed" and "size" any. All copies stay in models with If,
    Loop or Scan, where partitions run alone, every tensor is kept, or memory is divided, given at
    run time, or used by two cores.
    """
    plain = tuple(choices), make(graph, choices, planning, calls, exposure)
    straight = [choice for choice in choices if isinstance(choice, Choice)]
    if (
        len(straight) < len(choices)
        or exposure.partitions
        or not planning.reuse
        or planning.memories.is_divided
        or planning.memory not in (OFFLINE, COMPACT)
        or planning.schedule != schedules.SEQUENTIAL
    ):
        return plain
    possible = _possible(graph, straight, planning, exposure)
    if not possible:
        return plain

    @cache  # a first half that is taken leaves the question that was asked of both
    def planned(found: frozenset[int]) -> tuple[tuple[Chosen, ...], Plan]:
        made = _with_views(straight, found)
        return made, make(graph, made, planning, calls, exposure)

    every = planned(frozenset(possible))
    if every[1].arena_bytes <= plain[1].arena_bytes or goal in ("speed", "size"):
        return every
    best, free = plain, list[int]()
    pending = _halves(possible)
    for _ in range(PLANS):
        if not pending:
            break
        block = pending.pop()
        more = planned(frozenset([*free, *block]))
        if more[1].arena_bytes <= best[1].arena_bytes:
            best, free = more, [*free, *block]
        else:
            pending += _halves(block)
    times = _times(straight)
    dear = sum(times[number] for number in possible if number not in free)
    is_worth_it = 50 * dear > sum(times) and 8 * every[1].arena_bytes <= 9 * plain[1].arena_bytes
    return every if goal == "balanced" and is_worth_it else best


def _halves(block: Sequence[int]) -> list[Sequence[int]]:
    """The second half and the first; of one that cannot be halved none."""
    middle = len(block) // 2
    return [block[middle:], block[:middle]] if middle else []


def _possible(
    graph: Graph, choices: Sequence[Choice], planning: Planning, exposure: Exposure
) -> list[int]:
    """The layers that can be views, all together, by their index.

    What is the caller's has a place already. A piece of a state is copied: its next value can be
    written over it then.
    """
    fixed: set[EdgeId] = set()
    if planning.io == "caller":
        fixed = {*exposure.inputs(graph), *exposure.outputs(graph)}
    states = {state.input for state in exposure.states}
    wholes: dict[int, EdgeId] = {}
    for number, choice in enumerate(choices):
        is_copy = not choice.workload.is_view and not choice.workload.can_fail
        own = movable(choice.layer) if is_copy else ()
        if own and own[0].whole not in states:
            wholes[number] = own[0].whole

    def are_free(numbers: Sequence[int]) -> bool:
        try:
            storages = of_views(graph, _with_views(choices, numbers), exposure)
        except PlanError:  # a part lies in something else already
            return False
        together = (set(storages.of[wholes[number]].edges) for number in numbers)
        return all(fixed.isdisjoint(t) and _lasts(graph, exposure, t) for t in together)

    if are_free([*wholes]):
        return [*wholes]
    found: list[int] = []
    for number in wholes:
        found += [number] if are_free([*found, number]) else []
    return found


def _lasts(graph: Graph, exposure: Exposure, inside: set[EdgeId]) -> bool:
    """Whether edges that lie together outlive a run as they must: at its end a state among them
    gets its next value, which overwrites the others.
    """
    here = [state for state in exposure.states if state.input in inside]
    lasting = {*exposure.outputs(graph), *(kept.edge for kept in exposure.kept)}
    lasting |= {state.output for state in exposure.states if state not in here[:1]}
    return not here or (len(here) == 1 and lasting.isdisjoint(inside))


def _times(choices: Sequence[Choice]) -> list[int]:
    """What each layer takes, in the unit in which they compare; 0 where it does not say."""
    costs = [choice.workload.costs for choice in choices]
    prices = [cost.price(common_unit(costs)) for cost in costs]
    return [0 if price is None else price.value for price in prices]


def _with_views(choices: Sequence[Choice], found: Collection[int]) -> tuple[Choice, ...]:
    """The choices, of which some compute nothing."""
    views = set(found)
    return tuple(
        Choice(choice.layer, Workload(choice.workload.backend, None)) if number in views else choice
        for number, choice in enumerate(choices)
    )
