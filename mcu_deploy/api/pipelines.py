"""`ci`: everything that a repository's mcu-deploy.toml asks for, beside the table of costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mcu_deploy.api.building import Build, build
from mcu_deploy.api.folder import BuildFolder, open_folder
from mcu_deploy.api.profiling import Profile, profile
from mcu_deploy.api.validating import validate
from mcu_deploy.device.emulators import choose_emulator, launcher_named, launchers_for
from mcu_deploy.errors import InternalError, McuDeployError, RequestError
from mcu_deploy.files.samples import Samples, load_samples, random_samples
from mcu_deploy.hygiene import check_files
from mcu_deploy.output.progress import counted
from mcu_deploy.pipelines.comparing import compare
from mcu_deploy.pipelines.configuration import UPDATE, BuildJob, Configuration, read_configuration
from mcu_deploy.pipelines.result import BuildOutcome, PipelineResult
from mcu_deploy.pipelines.table import CostRow, read_table
from mcu_deploy.processes.workers import in_processes
from mcu_deploy.toolchain import gcc_number
from mcu_deploy.version import VERSION

# A BuildOutcome without its job.
_Done = tuple[CostRow | None, str, tuple[str, ...]]


def run_pipeline(
    configuration: Configuration,
    output: Path,
    *,
    finished: Callable[[BuildOutcome], None] = lambda outcome: None,
) -> PipelineResult:
    """Builds and checks every model for every board, and validates and counts it where there is an
    emulator; compares what it costs with the table, which is only read.

    output: each build goes to GOAL/BOARD/MODEL in it. finished: is told each outcome, in the order
    of the configuration. What fails is told in the outcomes, and the others are tried all the same.
    """
    known, no_table = {}, ""
    try:
        known = read_table(configuration.table)
    except RequestError as error:
        no_table = str(error).replace(UPDATE, configuration.update)
    jobs = configuration.jobs
    outcomes: list[BuildOutcome] = []
    work = partial(_measure_one, configuration.path, output)
    results = in_processes(work, range(len(jobs)))
    for job, done in zip(counted("builds", jobs), results, strict=True):
        outcomes.append(BuildOutcome(job, *done))
        finished(outcomes[-1])
    rows = [outcome.row for outcome in outcomes if outcome.row is not None]
    compared = compare(known, rows, {job.key for job in jobs}, configuration.thresholds)
    return PipelineResult(configuration, tuple(outcomes), compared, no_table)


def _measure_one(path: Path, output: Path, index: int) -> _Done:
    """`_measure` for a worker, to which no board can be sent."""
    return _measure(read_configuration(path).jobs[index], output)


def _measure(job: BuildJob, output: Path) -> _Done:
    """Builds one model for one board, and does with it what there is an emulator for."""
    failures: list[str] = []
    directory = output / job.goal / job.board.name / job.model.name
    built: Build | None = None
    counted: Profile | None = None
    with _told("build", failures):
        built = build(
            job.model.file, job.board, directory, name=job.model.name, options=job.options
        )
    if built is None:
        return None, "", tuple(failures)
    done = ["built"]
    with _told("check", failures):
        _check(built)
        done.append("checked")
    emulated = bool(launchers_for(job.board))
    if emulated:
        with _told("validate", failures):
            done.append(_validate(job, open_folder(directory)))
        if not job.board.is_host:
            with _told("profile", failures):
                counted = profile(directory)
    is_whole = job.board.is_host or counted is not None or not emulated
    said = " and ".join(done) if len(done) < 3 else f"{done[0]} and {done[1]}, {done[2]}"
    said += "" if emulated else " only: no emulator has it"
    said += "".join(f", but {failure.split(':')[0]} fails" for failure in failures)
    return (_row(job, built, counted) if is_whole else None), said, tuple(failures)


@contextmanager
def _told(step: str, failures: list[str]) -> Iterator[None]:
    """Notes what fails in a step, so that the others go on."""
    try:
        yield
    except McuDeployError as error:
        failures.append(f"{step}: {error}")
    except Exception as error:
        failures.append(f"{step}: {InternalError.of(error)}")


def _check(built: Build) -> None:
    """What `mcu-deploy check` says of the objects and the firmware."""
    objects = [network.object for network in built.networks]
    report = check_files([*objects, built.directory / "libmcu_crt.a"], built.board)
    if report.findings:
        found = "; ".join(f"{finding.file}: {finding.message}" for finding in report.findings[:3])
        raise RequestError(f"{len(report.findings)} findings: {found}")


def _validate(job: BuildJob, folder: BuildFolder) -> str:
    """Validates a build, and says how that was done."""
    result = validate(folder, _samples(job, folder))
    if not result.passed:
        raise RequestError(" ".join(result.problems))
    emulator = launcher_named(choose_emulator(job.board).name)
    samples = "sample" if result.samples == 1 else "samples"
    beside = f" beside {result.reference.split()[0]}" if result.onnxruntime else ""
    return f"validated in {emulator.title} with {result.samples} {samples}{beside}"


def _samples(job: BuildJob, folder: BuildFolder) -> Samples:
    network = folder.compile_again(job.model.name)
    if job.model.data is None:
        return random_samples(network.graph, job.model.samples, edges=network.inputs)
    given = load_samples(job.model.data, network.graph, network.inputs)
    return given.first(job.model.samples)


def _row(job: BuildJob, built: Build, counted: Profile | None) -> CostRow:
    report = built.report
    return CostRow(
        model=job.model.name,
        board=job.board.name,
        goal=job.goal,
        flash_bytes=report.flash_bytes,
        ram_bytes=report.ram_bytes,
        stack_bytes=report.stack_bytes,
        instructions=None if counted is None else counted.total,
        cycles=None if counted is None else counted.cycles,
        macs=report.macs,
        gcc=gcc_number(report.tools["compiler"]),
        mcu_deploy=VERSION,
    )
