"""What something costs: a number with its unit, and how it is known."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass


class Unit(enum.Enum):
    """What a cost counts. Instructions are not cycles: LDM takes one for each register."""

    INSTRUCTIONS = "instructions"
    CYCLES = "cycles"
    BYTES = "bytes"


class Known(enum.Enum):
    """How a cost is known: counted in an emulator or a file, modelled, or measured on a chip."""

    COUNTED = "counted"
    MODELLED = "modelled"
    MEASURED = "measured"


@dataclass(frozen=True)
class Cost:
    """A value in its unit. Costs of one unit compare; those of two raise TypeError."""

    value: int
    unit: Unit
    known: Known = Known.MODELLED

    def __lt__(self, other: Cost) -> bool:
        if self.unit is not other.unit:
            raise TypeError(f"{self} and {other} do not compare: their units differ")
        return self.value < other.value

    def __str__(self) -> str:
        return f"{self.value:,} {self.known.value} {self.unit.value}"


@dataclass(frozen=True)
class Costs:
    """What a workload costs. None where only a measurement can tell.

    instructions: executed in one run; cycles: what they take on the target's core; flash: bytes of
    constants, and of code that no other layer has. code: bytes of the function, where layers of
    equal types and attributes share one. known: how the instructions and cycles are known. waits:
    of the cycles those that it waits for code and constants, as if no cache had any of them before.
    """

    macs: int = 0
    instructions: int | None = None
    cycles: int | None = None
    flash: int | None = None
    known: Known = Known.MODELLED
    code: int = 0
    waits: int = 0

    @staticmethod
    def sum(every: Iterable[Costs]) -> Costs:
        """Of several together; what one of them does not say is not known, and the run time as
        well as the weakest is."""
        parts = tuple(every)

        def added(values: Iterable[int | None]) -> int | None:
            known = [v for v in values if v is not None]
            return sum(known) if len(known) == len(parts) else None

        all_known = {p.known for p in parts}
        return Costs(
            sum(p.macs for p in parts),
            added(p.instructions for p in parts),
            added(p.cycles for p in parts),
            added(p.flash for p in parts),
            all_known.pop() if len(all_known) == 1 else Known.MODELLED,
            sum(p.code for p in parts),
            sum(p.waits for p in parts),
        )

    def price(self, unit: Unit) -> Cost | None:
        """What it costs in a unit; None where it does not say."""
        if unit is Unit.BYTES:
            return None if self.flash is None else Cost(self.flash, unit)
        value = self.cycles if unit is Unit.CYCLES else self.instructions
        return None if value is None else Cost(value, unit, self.known)

    def known_as(self, cost: Cost) -> Costs:
        """With the run time that was measured. Instructions do not take the place of cycles, which
        are what is compared."""
        if cost.unit is Unit.INSTRUCTIONS and self.cycles is not None:
            return self
        in_cycles = cost.unit is Unit.CYCLES
        instructions, cycles = (None, cost.value) if in_cycles else (cost.value, None)
        return Costs(self.macs, instructions, cycles, self.flash, cost.known, self.code)

    @property
    def stated(self) -> Cost | None:
        """The run time as it is shown: in cycles where it says them, else in instructions."""
        return self.price(Unit.CYCLES) or self.price(Unit.INSTRUCTIONS)


def common_unit(all_costs: Iterable[Costs]) -> Unit:
    """The one unit in which the run times of these compare: cycles, which all built-in backends
    state, where any does; else instructions. What does not state it has no price."""
    return Unit.CYCLES if any(c.cycles is not None for c in all_costs) else Unit.INSTRUCTIONS
