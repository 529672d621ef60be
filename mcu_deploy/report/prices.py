"""The time of a run as the prices of its layers have it: known when a network is built, before
anything has run. `profile` follows each instruction instead; docs/costs.md has both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcu_deploy.backends.cost import Cost, Costs
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.boards import Board, Processor
from mcu_deploy.compiled import Network
from mcu_deploy.memory_timing import MemoryTiming
from mcu_deploy.plan import hot_code
from mcu_deploy.report.model import NetworkReport, PricedTime

# Of a network's price, where no FPU computes floats: above that it is 1.2 to 1.6 times the count.
_MOST_FLOATS = 0.1


def is_kept(memory: MemoryTiming | None, flash: Mapping[str, int]) -> bool:
    """Whether a network lies whole in the caches, so that only its first run waits. flash: its
    bytes by parts, as reports have them."""
    if memory is None:
        return False
    constants = flash["constants"]
    code = sum(flash.values()) - constants
    if memory.unified:
        code, constants = code + constants, 0
    held = [of.bytes if of else 0 for of in (memory.instruction_cache, memory.data_cache)]
    return code <= held[0] and constants <= held[1]


def of_layer(costs: Costs, *, kept: bool) -> Cost | None:
    """Of one call. kept: see `is_kept`."""
    if kept and costs.cycles is not None:
        costs = replace(costs, cycles=costs.cycles - costs.waits)
    return costs.stated


def of_network(
    board: Processor, network: Network, *, kept: bool = False
) -> tuple[PricedTime | None, str]:
    """Of all layers of a run that is not the first, at the clock that the board is rated for;
    without that a clause that says why. kept: see `is_kept`."""
    reason = _unpriced(board, network)
    if reason or not isinstance(board, Board):
        return None, reason
    for step in network.plan.steps:
        workload = step.choice.workload
        if workload.costs.cycles is None and not workload.is_view:
            return None, f"{workload.backend} states no cycles of the layer {step.short}"
    cycles = network.plan.cycles
    if kept:
        cycles -= network.plan.waits
    else:
        cycles += hot_code.correction(network.sources.kernels.values(), network.target.hot)
    return _at(board.rated_clock_hz or board.clock_hz, cycles), ""


def joint(networks: Sequence[NetworkReport]) -> tuple[PricedTime | None, str]:
    """Of a run of each network of a build, one after the other."""
    times = [n.priced_time for n in networks if n.priced_time is not None]
    if len(times) < len(networks):
        return None, next(n.no_priced_time for n in networks if n.priced_time is None)
    return _at(times[0].clock_hz, sum(time.cycles for time in times)), ""


def depends_on_values(network: Network) -> bool:
    """Whether so much of a network is float32 that no price says what it takes without an FPU."""
    if network.target.fpu:
        return False
    floats = total = 0.0
    for step in network.plan.steps:
        layer, cycles = step.choice.layer, step.choice.workload.costs.cycles or 0
        operands = (*layer.inputs, *layer.outputs)
        total += cycles
        if any(o is not None and o.type.dtype.is_float for o in operands):
            floats += cycles
    return floats > _MOST_FLOATS * total


def _at(clock_hz: int, cycles: int) -> PricedTime:
    return PricedTime(cycles, 1000 * cycles / clock_hz, clock_hz)


def _unpriced(board: Processor, network: Network) -> str:
    """A clause that says why the prices of a network are no time on a board; "" where they are."""
    if not isinstance(board, Board):
        return "no board is named, whose clock and memories would be known"
    if board.is_host:
        return "nothing is modelled of the host"
    if board.core not in MODELS:
        return f"there are no timings of the {board.core}"
    if depends_on_values(network):
        return (
            f"much of it is float32, which this {board.core} has no FPU for: the functions of the "
            "C library take what the values make them take"
        )
    if network.target.memory is None:
        roles = (board.memory_for("code"), board.memory_for("weights"))
        names = dict.fromkeys(m.name for m in roles if m.rated_timing is None)
        answer = "answers" if len(names) == 1 else "answer"
        return (
            f"the file of board {board.name} does not say how its {' and '.join(names)} {answer} "
            "(`timing`)"
        )
    return ""
