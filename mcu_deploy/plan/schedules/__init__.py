"""When which layer runs on which core: one file a schedule (ppl.nn: Scheduler).

A module here has NAME, what `--schedule` calls it, and `arrange(jobs)`, which puts jobs into
stages of one lane or two.
"""

from __future__ import annotations

from mcu_deploy.discovery import named
from mcu_deploy.options.checked import require_word
from mcu_deploy.plan.schedules.model import Job, Schedule, Stage

__all__ = ["SEQUENTIAL", "Job", "Schedule", "Stage", "find", "names"]

SEQUENTIAL = "sequential"


def names() -> tuple[str, ...]:
    """The schedules that there are, the default first."""
    return (SEQUENTIAL, *(name for name in named(__name__) if name != SEQUENTIAL))


def find(name: str) -> Schedule:
    """A schedule by its name. Raises UsageError where there is none."""
    require_word("--schedule", name, names())
    schedule: Schedule = named(__name__)[name].arrange
    return schedule
