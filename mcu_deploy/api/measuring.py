"""A build of `ci` as a task: bytes of the model and the board in, numbers and the build out."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mcu_deploy import formats
from mcu_deploy.agreement.made_up import random_samples
from mcu_deploy.api.building import Build, build
from mcu_deploy.api.folder import BuildFolder, open_folder
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.sending import SentBoard
from mcu_deploy.api.validating import validate
from mcu_deploy.backends import measured
from mcu_deploy.boards import Board
from mcu_deploy.device.emulators import choose_emulator, launchers_for
from mcu_deploy.errors import InternalError, McuDeployError, RequestError
from mcu_deploy.files.given import is_file
from mcu_deploy.files.samples import Samples, load_samples
from mcu_deploy.hygiene import check_files
from mcu_deploy.options import Options
from mcu_deploy.output import MARKER, locked
from mcu_deploy.output.paths import write_files
from mcu_deploy.pipelines.configuration import BuildJob
from mcu_deploy.pipelines.table import CostRow
from mcu_deploy.report.profile import Profile
from mcu_deploy.tasks.machine import digest
from mcu_deploy.toolchain import gcc_number
from mcu_deploy.version import VERSION

# Where a task's files lie while it is done, and its build; in sentences they stand for it.
_PLACE = "{task}"
_MODEL, _DATA, _BOARD, _BUILD = "model", "data", "board", "build"

# By their names in a folder: what is in them, and whether they may be executed.
Files = Mapping[str, tuple[bytes, bool]]


@dataclass(frozen=True)
class BuildTask:
    """A build that is wanted. model, data: names of files, these and those that they need being in
    `files`, if they were there."""

    name: str
    model: str
    data: str | None
    samples: int
    board: SentBoard
    options: Options
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class Measured:
    """What came of a build: as in BuildOutcome, and its files, none where it failed."""

    row: CostRow | None
    done: str
    failures: tuple[str, ...]
    files: Files


def task_of(job: BuildJob) -> BuildTask:
    """The task of a build. A file that is missing is missing in it, and told of when it is done."""
    model, data = job.model.file, job.model.data
    files: dict[str, bytes] = {}
    for path in (model, *_data_files(model), measured.file_beside(model)):
        if is_file(path):
            files[f"{_MODEL}/{_within(path, model)}"] = path.read_bytes()
    if data is not None and is_file(data):
        files[f"{_DATA}/{data.name}"] = data.read_bytes()
    return BuildTask(
        job.model.name, model.name, None if data is None else data.name, job.model.samples,
        SentBoard.of(job.board), job.options, files,
    )  # fmt: skip


def _data_files(model: Path) -> list[Path]:
    """Those of the model's folder: others are nobody's to send, and the build refuses them."""
    folder = model.parent.resolve()
    try:
        found = [path for path in formats.data_files(model) if is_file(path)]
    except (McuDeployError, OSError):  # which the build will say
        return []
    return [
        path for path in found
        if path.resolve().is_relative_to(folder) and ".." not in _within(path, model).parts
    ]  # fmt: skip


def _within(path: Path, model: Path) -> PurePosixPath:
    return PurePosixPath(os.path.relpath(path, model.parent))


def told_here(text: str, job: BuildJob, directory: Path) -> str:
    """A sentence of a task as one of the job's own files."""
    folders = {_MODEL: job.model.file.parent, _BOARD: job.board.path.parent, _BUILD: directory}
    if job.model.data is not None:
        folders[_DATA] = job.model.data.parent
    for name, folder in folders.items():
        text = text.replace(f"{_PLACE}/{name}/", f"{folder}/").replace(
            f"{_PLACE}/{name}", f"{folder}"
        )
    return text


def measure(task: BuildTask) -> Measured:
    """Builds one model for one board, and does with it what there is an emulator for."""
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-") as directory:
        folder = Path(directory)
        write_files(task.files, folder)
        found = _measured(task, task.board.load(folder / _BOARD), folder)
        failures = (failure.replace(directory, _PLACE) for failure in found.failures)
        return Measured(found.row, found.done, tuple(failures), found.files)


def _measured(task: BuildTask, board: Board, folder: Path) -> Measured:
    failures: list[str] = []
    directory = folder / _BUILD
    built: Build | None = None
    counted: Profile | None = None
    with _told("build", failures):
        model = folder / _MODEL / task.model
        built = build(model, board, directory, name=task.name, options=task.options)
    if built is None:
        return Measured(None, "", tuple(failures), {})
    done = ["built"]
    with _told("check", failures):
        _check(built)
        done.append("checked")
    emulated = bool(launchers_for(board))
    if emulated:
        with _told("validate", failures):
            done.append(_validate(task, board, open_folder(directory), folder))
        if not board.is_host:
            with _told("profile", failures):
                counted = profile(directory)
    is_whole = board.is_host or counted is not None or not emulated
    said = " and ".join(done) if len(done) < 3 else f"{done[0]} and {done[1]}, {done[2]}"
    said += "" if emulated else " only: no emulator has it"
    said += "".join(f", but {failure.split(':')[0]} fails" for failure in failures)
    row = _row(task, board, built, counted) if is_whole else None
    return Measured(row, said, tuple(failures), files_of(directory))


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


def _validate(task: BuildTask, board: Board, built: BuildFolder, folder: Path) -> str:
    """Validates a build, and says how that was done."""
    result = validate(built, _samples(task, built, folder))
    if not result.passed:
        raise RequestError(" ".join(result.problems))
    emulator = choose_emulator(board).launcher
    samples = "sample" if result.samples == 1 else "samples"
    beside = f" beside {result.reference.split()[0]}" if result.onnxruntime else ""
    return f"validated in {emulator.title} with {result.samples} {samples}{beside}"


def _samples(task: BuildTask, built: BuildFolder, folder: Path) -> Samples:
    network = built.compile_again(task.name)
    if task.data is None:
        return random_samples(network.graph, task.samples, edges=network.inputs)
    given = load_samples(folder / _DATA / task.data, network.graph, network.inputs)
    return given.first(task.samples)


def _row(task: BuildTask, board: Board, built: Build, counted: Profile | None) -> CostRow:
    report = built.report
    return CostRow(
        model=task.name,
        board=board.name,
        goal=task.options.optimize_for,
        flash_bytes=report.flash_bytes,
        ram_bytes=report.ram_bytes,
        stack_bytes=report.stack_bytes,
        instructions=None if counted is None else counted.total,
        cycles=None if counted is None else counted.cycles,
        macs=report.macs,
        gcc=gcc_number(report.tools["compiler"]),
        mcu_deploy=VERSION,
    )


# ---- The files of a build ----


def files_of(directory: Path) -> Files:
    """The files of a build but for its marker; none where there is no folder."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    return {
        path.relative_to(directory).as_posix(): (
            path.read_bytes(), bool(path.stat().st_mode & 0o100)
        )
        for path in paths if path.name != MARKER
    }  # fmt: skip


def digest_of(files: Files) -> str:
    """Tells the files of one build from those of another."""
    rows = ((name.encode(), *map(bytes, (data, [runs]))) for name, (data, runs) in files.items())
    return digest(rows)


def put(files: Files, directory: Path) -> None:
    """Puts a build in place as `build` does. Raises an McuDeployError where that cannot be."""
    for name in files:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise RequestError(
                f"A worker sent the file {name!r}, which is outside of the build. Look at that "
                "worker before you use it again."
            )
    with locked(directory) as folder:
        folder.require_pristine()
        with folder.replaced() as aside:
            write_files({name: content for name, (content, _) in files.items()}, aside)
            for name, (_, is_executable) in files.items():
                if is_executable:
                    (aside / name).chmod(0o755)
