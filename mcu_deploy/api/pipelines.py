"""`ci`: everything that a repository's mcu-deploy.toml asks for, beside the table of costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mcu_deploy.api import measuring
from mcu_deploy.api.measuring import BuildTask, Measured
from mcu_deploy.errors import McuDeployError, RequestError
from mcu_deploy.output.progress import tell
from mcu_deploy.pipelines.comparing import compare
from mcu_deploy.pipelines.configuration import UPDATE, BuildJob, Configuration
from mcu_deploy.pipelines.result import BuildOutcome, PipelineResult
from mcu_deploy.pipelines.table import CostRow, read_table
from mcu_deploy.tasks import HERE, KeptResults, Workers, run_tasks
from mcu_deploy.tasks.results import fingerprint


def run_pipeline(
    configuration: Configuration,
    output: Path,
    *,
    finished: Callable[[BuildOutcome], None] = lambda outcome: None,
    workers: Workers = HERE,
    results: Path | None = None,
) -> PipelineResult:
    """Builds and checks every model for every board, and validates and counts it where there is an
    emulator; compares what it costs with the table, which is only read.

    output: each build goes to GOAL/BOARD/MODEL in it. finished: is told each outcome, in the order
    of the configuration. results: a file with what was found before, which is not done again while
    its build lies there, and is added to. What fails is told in the outcomes, and the others are
    tried all the same.
    """
    known, no_table = {}, ""
    try:
        known = read_table(configuration.table)
    except RequestError as error:
        no_table = str(error).replace(UPDATE, configuration.update)
    jobs = configuration.jobs
    outcomes: list[BuildOutcome] = []
    run = _Run(jobs, output, None if results is None else KeptResults(results))

    def settle() -> None:
        while outcome := run.outcomes.get(len(outcomes)):
            outcomes.append(outcome)
            finished(outcome)
        tell("builds", len(run.outcomes), len(jobs))

    settle()
    wanted = [*run.tasks]
    try:
        for number, found in run_tasks(measuring.measure, [*run.tasks.values()], workers):
            run.take(wanted[number], found)
            settle()
    except KeyboardInterrupt:
        if results is None:
            raise
        raise KeyboardInterrupt(
            f"interrupted; {results} has what was found so far, and the same command goes on from "
            "there"
        ) from None
    rows = [outcome.row for outcome in outcomes if outcome.row is not None]
    compared = compare(known, rows, {job.key for job in jobs}, configuration.thresholds)
    return PipelineResult(configuration, tuple(outcomes), compared, no_table)


class _Run:
    """outcomes: of the jobs that are done, by their numbers; tasks: of the others."""

    def __init__(
        self, jobs: tuple[BuildJob, ...], output: Path, results: KeptResults | None
    ) -> None:
        self.jobs, self.output, self.results = jobs, output, results
        self.outcomes: dict[int, BuildOutcome] = {}
        self.tasks: dict[int, BuildTask] = {}
        self._fingerprints: dict[int, str] = {}
        for number, job in enumerate(jobs):
            try:
                task = measuring.task_of(job)
            except (McuDeployError, OSError) as error:
                self.outcomes[number] = BuildOutcome(job, None, "", (f"build: {error}",))
                continue
            if not self._is_known(number, task):
                self.tasks[number] = task

    def _folder(self, number: int) -> Path:
        job = self.jobs[number]
        return self.output / job.goal / job.board.name / job.model.name

    def _is_known(self, number: int, task: BuildTask) -> bool:
        """Whether the results have a task, and its build is where it was put."""
        if self.results is None:
            return False
        self._fingerprints[number] = fingerprint(measuring.measure, task)
        kept = self.results.find(self._fingerprints[number])
        if kept is None:
            return False
        try:
            row, done, digest = CostRow(**kept["row"]), kept["done"], kept["build"]
        except (TypeError, LookupError):  # changed by hand
            return False
        if measuring.digest_of(measuring.files_of(self._folder(number))) != digest:
            return False
        self.outcomes[number] = BuildOutcome(self.jobs[number], row, done, ())
        return True

    def take(self, number: int, found: Measured) -> None:
        """Puts a build in place, and keeps its record where nothing failed."""
        job, folder = self.jobs[number], self._folder(number)
        failures = [measuring.told_here(failure, job, folder) for failure in found.failures]
        row, done = found.row, found.done
        if found.files:
            try:
                measuring.put(found.files, folder)
            except McuDeployError as error:
                row, done, failures = None, "", [f"build: {error}"]
        if self.results is not None and row is not None and not failures:
            kept: dict[str, Any] = {"row": asdict(row), "done": done}
            kept["build"] = measuring.digest_of(found.files)
            self.results.keep(self._fingerprints[number], kept)
        self.outcomes[number] = BuildOutcome(job, row, done, tuple(failures))
