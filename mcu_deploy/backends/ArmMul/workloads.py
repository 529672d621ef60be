"""How ArmMul's kernels are proposed: C functions by templates, and what they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from mcu_deploy.backends.interface import (
    CFunction,
    Costs,
    InPlace,
    Layer,
    LayoutRule,
    Price,
    Proposal,
    SubgraphView,
    Target,
    Workload,
)
from mcu_deploy.backends.kit.arguments import Prototype
from mcu_deploy.backends.kit.kit import Kit

KIT = Kit("ArmMul", Path(__file__).parent)

# Of each cycle, what code in loops waits of a wait state, and of a load of constants, where nothing
# keeps them: counted on a NUCLEO-G0B1RE.
_OF_A_CYCLE, _OF_A_LOAD = 0.035, 1.4


class RunCost(NamedTuple):
    """Of a run: cycles where all memory answers at once, and loads of constants, a byte or a word
    each."""

    cycles: float
    loads: float = 0.0

    def waits(self, target: Target) -> float:
        """The cycles that it waits for code and constants in the target's memory."""
        memory = target.memory
        if memory is None or memory.answers_at_once:
            return 0.0
        code = _OF_A_CYCLE * self.cycles if memory.waits_in_loops else 0.0
        at_once = 1 / memory.read_bytes if memory.data_cache else _OF_A_LOAD
        return memory.wait_states * (code + at_once * self.loads)


def proposal(
    view: SubgraphView,
    layer: Layer,
    stem: str,
    body: str,
    give: Callable[[Layer], Prototype],
    *,
    work: RunCost,
    flash: int,
    code: Mapping[str, int],
    title: str,
    layout: LayoutRule,
    helpers: tuple[CFunction, ...] = (),
    headers: tuple[str, ...] = (),
    scratch_bytes: int = 0,
    in_place: tuple[InPlace, ...] = (),
) -> Proposal:
    """A layer by one function. give: its parameters and constants. flash: bytes of constants; code:
    those of the functions, by what is in them, which other layers may have, too."""
    waits = work.waits(layer.target)
    costs = Costs(layer.macs, cycles=round(work.cycles + waits), flash=flash, waits=round(waits))
    price = Price(costs, code, scratch_bytes, in_place)

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        (made,) = layers
        workload = KIT.call(stem, body, give(made), helpers, headers, in_place, scratch_bytes)
        return (replace(workload, costs=costs),)

    return Proposal(view.part([layer.node.id]), price, make, None, (layout,), title)
