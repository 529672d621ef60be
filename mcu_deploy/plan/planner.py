"""The offline planner: an order, the lives of all buffers in it, and a place for each.

The order is one in which few bytes live at once (`ordering`); the places are the best that several
strategies find (`placement`). What comes out is checked from the definition (`check`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mcu_deploy.backends.interface import RegionCall
from mcu_deploy.ir import Graph
from mcu_deploy.plan import lifetimes
from mcu_deploy.plan.check import check
from mcu_deploy.plan.exposure import Exposure
from mcu_deploy.plan.lifetimes import Lifetimes, Pair, analyse
from mcu_deploy.plan.model import InPool, InSlot, Place, Plan, PoolUse, aligned
from mcu_deploy.plan.placement import Problem, solve
from mcu_deploy.select import Choice

WORKSPACE = "workspace"
STATE = "state"


@dataclass(frozen=True)
class Options(lifetimes.Options):
    """How memory is planned; see lifetimes.Options.

    separate_state: what outlives a run (states, backends' private memory, the table of pointers)
    gets a pool of its own, so that networks which take turns can share the workspace.
    """

    separate_state: bool = False


def make(
    graph: Graph,
    choices: Sequence[Choice],
    options: Options | None = None,
    calls: Sequence[RegionCall] = (),
    exposure: Exposure | None = None,
) -> Plan:
    """Plans the memory of a network, and has the plan checked from the definition.

    calls: what is called beside the layers, with private regions (Selection.acquire, .release).
    exposure: what is reached beside inputs and outputs.
    """
    chosen, shown = options or Options(), exposure or Exposure()
    lives = analyse(graph, choices, calls, shown, chosen)
    places, pools = _places(lives, chosen)
    plan = Plan(
        lives.program, lives.buffers, lives.tensors, places, pools, lives.lower_bound,
        private=lives.private, private_offsets=lives.private_offsets, exposure=shown,
        parts=lives.parts, slots=len(lives.slots), table=lives.table,
    )  # fmt: skip
    check(graph, choices, plan, calls)
    return plan


def _places(lives: Lifetimes, options: Options) -> tuple[dict[int, Place], tuple[PoolUse, ...]]:
    """The place of every buffer, and the pools that they need."""
    places: dict[int, Place] = {
        buffer: InSlot(slot, caller=True) for buffer, slot in lives.slots.items()
    }
    placed = [b.id for b in lives.buffers if b.id not in lives.slots]
    apart = [b for b in placed if options.separate_state and lives.buffers[b].persistent]
    shared = [b for b in placed if b not in apart]
    pools = []
    for number, (name, members) in enumerate(((WORKSPACE, shared), (STATE, apart))):
        if number == 0 or members:
            placement = solve(problem(lives, members))
            places |= {
                b: InPool(number, o) for b, o in zip(members, placement.offsets, strict=True)
            }
            pools.append(PoolUse(name, placement.bytes))
    return places, tuple(pools)


def problem(lives: Lifetimes, members: Sequence[int]) -> Problem:
    """The placement of some of the buffers in one pool."""
    number = {buffer: index for index, buffer in enumerate(members)}
    sizes = tuple(aligned(lives.buffers[buffer].bytes) for buffer in members)
    conflicts = {}
    for first, second in sorted(lives.conflicts):
        if first in number and second in number:
            i, j = number[first], number[second]
            interval = _interval(sizes[i], sizes[j], lives.overlaps, first, second)
            if interval[0] < interval[1]:
                conflicts[i, j] = interval
    made = Problem(sizes, conflicts)
    return replace(made, lower_bound=_bound(lives, number))


def _interval(
    first_size: int, second_size: int, overlaps: Mapping[Pair, int], first: int, second: int
) -> tuple[int, int]:
    """Where offset[first] - offset[second] must not lie."""
    low, high = -first_size, second_size
    if (first, second) in overlaps:  # first is the output: at least so far below its input
        low = max(low, -aligned(overlaps[first, second]))
    if (second, first) in overlaps:
        high = min(high, aligned(overlaps[second, first]))
    return low, high


def _bound(lives: Lifetimes, members: Mapping[int, int]) -> int:
    """Bytes that no placement of the members can do without.

    Of what lives at one position each pair that may overlap saves at most what one of the two has
    behind the distance (Bonferroni's inequality: a union is no smaller than the sum of the parts
    less the sum of the pairs).
    """
    most = 0
    for position in {lives.buffers[b].first for b in members}:
        live = {b for b in members if lives.buffers[b].first <= position <= lives.buffers[b].last}
        need = sum(aligned(lives.buffers[b].bytes) for b in live)
        for (output, source), distance in lives.overlaps.items():
            if output in live and source in live:
                out = aligned(lives.buffers[output].bytes)
                shared = min(out, out - aligned(distance), aligned(lives.buffers[source].bytes))
                need -= max(0, shared)
        most = max(most, need)
    return most
