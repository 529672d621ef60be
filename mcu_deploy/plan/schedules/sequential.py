"""One layer after the other, in the order in which they stand."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.plan.schedules.model import Job, Stage

NAME = "sequential"


def arrange(jobs: Sequence[Job]) -> tuple[Stage, ...]:
    """A single lane."""
    return (Stage((tuple(range(len(jobs))),)),) if jobs else ()
