"""What `--optimize-for` chooses between: builds for each goal, and which of them no other beats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcu_deploy.report.tables import Table, Tabled, number


@dataclass(frozen=True)
class GoalBuild:
    """A build for a goal.

    cycles: of one run, modelled, milliseconds: these at the board's rated clock; None where they
    are not known. flash_bytes, ram_bytes, arena_bytes: of network and runtime, measured.
    is_asked: the build that was asked for. beaten_by: the goal of one that is better in one of
    cycles, flash and RAM and as good in the others, or "". refusal: why there is no build; its
    numbers are 0 then.
    """

    goal: str
    cycles: int | None
    milliseconds: float | None
    flash_bytes: int
    ram_bytes: int
    arena_bytes: int
    is_asked: bool = False
    beaten_by: str = ""
    refusal: str = ""

    @property
    def on_front(self) -> bool:
        """Whether no other build beats it."""
        return not (self.beaten_by or self.refusal)

    @property
    def _figures(self) -> tuple[int, int, int]:
        return (self.cycles or 0, self.flash_bytes, self.ram_bytes)

    def beats(self, other: GoalBuild) -> bool:
        """Whether it is better in one figure and as good in the others."""
        pairs = zip(self._figures, other._figures, strict=True)
        return self._figures != other._figures and all(own <= its for own, its in pairs)


@dataclass(frozen=True, repr=False)
class Front(Tabled):
    """Real builds of one model for one board, one for each goal.

    basis: where the cycles are from, a clause. reason: why there are no builds, a sentence, or "".
    """

    basis: str
    builds: tuple[GoalBuild, ...]
    reason: str = ""

    def table(self) -> Table:
        """A line for each goal."""
        rows = tuple(
            (
                goal.goal, number(goal.cycles),
                "" if goal.milliseconds is None else f"{goal.milliseconds:.3f}",
                *map(number, (goal.flash_bytes, goal.ram_bytes, goal.arena_bytes)),
                _said(goal),
            )
            if not goal.refusal
            else (goal.goal, "", "", "", "", "", goal.refusal)
            for goal in self.builds
        )  # fmt: skip
        numbers = ("cycles", "ms", "flash", "RAM", "arena")
        title = f"builds for each goal; cycles {self.basis}" if self.builds else self.reason
        return Table(title, ("goal", *numbers, ""), rows, frozenset(numbers))


def _said(goal: GoalBuild) -> str:
    parts = ["on the front" if goal.on_front else f"beaten by {goal.beaten_by}", "this build"]
    return ", ".join(parts[: 1 + goal.is_asked])


def compared(builds: Sequence[GoalBuild]) -> tuple[GoalBuild, ...]:
    """The builds, each with one that beats it."""
    made = [build for build in builds if not build.refusal]
    return tuple(
        replace(
            build,
            beaten_by=""
            if build.refusal
            else next((other.goal for other in made if other.beats(build)), ""),
        )
        for build in builds
    )
