"""When which layer runs on which core: one file a schedule (document 002, "Scheduler").

A module here has NAME, what `--schedule` calls it, and `arrange(jobs)`, which puts jobs into
stages of one lane or two.
"""

from __future__ import annotations

from types import ModuleType

from mcu_deploy import discovery
from mcu_deploy.errors import UsageError
from mcu_deploy.plan.schedules.model import Job, Schedule, Stage

__all__ = ["SEQUENTIAL", "Job", "Schedule", "Stage", "find", "names"]

SEQUENTIAL = "sequential"


def _schedules() -> dict[str, ModuleType]:
    found = {}
    for _, module in discovery.modules(__name__):
        if hasattr(module, "NAME"):
            found[module.NAME] = module
    return found


def names() -> tuple[str, ...]:
    """The schedules that there are, the default first."""
    return (SEQUENTIAL, *sorted(name for name in _schedules() if name != SEQUENTIAL))


def find(name: str) -> Schedule:
    """A schedule by its name. Raises UsageError where there is none."""
    module = _schedules().get(name)
    if module is None:
        raise UsageError(
            f"There is no schedule {name!r}; choose one of: {', '.join(names())} (--schedule)."
        )
    schedule: Schedule = module.arrange
    return schedule
