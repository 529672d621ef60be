"""The time of a run as the prices of its layers have it: known when a network is built, before
anything has run. `profile` follows each instruction instead; docs/costs.md has both."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.boards import Board, Processor
from mcu_deploy.compiled import Network
from mcu_deploy.plan import hot_code
from mcu_deploy.report.model import NetworkReport, PricedTime


def of_network(board: Processor, network: Network) -> tuple[PricedTime | None, str]:
    """Of all layers of a run, at the clock that the board is rated for; without that a clause that
    says why."""
    reason = _unpriced(board, network)
    if reason or not isinstance(board, Board):
        return None, reason
    for step in network.plan.steps:
        workload = step.choice.workload
        if workload.costs.cycles is None and not workload.is_view:
            return None, f"{workload.backend} states no cycles of the layer {step.short}"
    kernels = network.sources.kernels.values()
    cycles = network.plan.cycles + hot_code.correction(kernels, network.target.hot)
    return _at(board.rated_clock_hz or board.clock_hz, cycles), ""


def joint(networks: Sequence[NetworkReport]) -> tuple[PricedTime | None, str]:
    """Of a run of each network of a build, one after the other."""
    times = [n.priced_time for n in networks if n.priced_time is not None]
    if len(times) < len(networks):
        return None, next(n.no_priced_time for n in networks if n.priced_time is None)
    return _at(times[0].clock_hz, sum(time.cycles for time in times)), ""


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
    if not board.dsp or board.fpu == "none":
        # CpuRef's are of a Cortex-M4F, and give no more than the order of layers elsewhere.
        return (
            f"prices are of cores with an FPU and DSP instructions, which this {board.core} is not"
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
