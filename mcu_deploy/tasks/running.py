"""Who runs tasks: processes beside us, or the workers of a Dask scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from mcu_deploy.options.means import HERE, Workers
from mcu_deploy.processes.workers import in_processes
from mcu_deploy.tasks.cluster import run_on_cluster

A = TypeVar("A")
T = TypeVar("T")


def run_tasks(
    function: Callable[[A], T], tasks: Sequence[A], workers: Workers = HERE
) -> Iterator[tuple[int, T]]:
    """What a function of a module makes of each task, with the task's number, as they are done.

    Tasks and records must be something that pickle takes. A task whose worker dies is done again by
    another one. What the function raises is raised here, and ends the others. What it logs is
    logged here. Raises ToolError where Dask or the scheduler is missing, or the workers have other
    tools than this machine.
    """
    if not workers.are_asked_for:
        yield from enumerate(in_processes(function, tasks))
        return
    if tasks:
        yield from run_on_cluster(function, tasks, workers)
