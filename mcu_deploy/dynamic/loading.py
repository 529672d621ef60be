"""Loads what was found: the shared objects of the search paths, then the installed packages.

A backend that cannot be loaded is one line of report, and the others are loaded all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mcu_deploy.backends.interface import API_VERSION, CreationOptions, Factory
from mcu_deploy.boards.cores import core_names
from mcu_deploy.boards.model import HOST_CORE
from mcu_deploy.dynamic.adapter import DynamicBackend, ProposingBackend
from mcu_deploy.dynamic.naming import UntriedFile, scan
from mcu_deploy.dynamic.packages import installed
from mcu_deploy.dynamic.process import LoadError, Worker, WorkerPool
from mcu_deploy.dynamic.search import search_paths
from mcu_deploy.dynamic.version import Version, is_compatible, why_incompatible
from mcu_deploy.errors import BackendFault, one_line

_CORES = frozenset((*core_names(), HOST_CORE))


@dataclass(frozen=True)
class LoadedBackend:
    """A dynamic backend in its worker. origin: the file, or "package NAME VERSION"."""

    id: str
    factory: Factory
    origin: str
    version: Version
    worker: Worker = field(repr=False)

    def close(self) -> None:
        """Unloads it: ends its worker."""
        self.worker.close()


@dataclass(frozen=True)
class Skipped:
    """What looked like a dynamic backend and is none, or is not used. reason: a clause.

    id: what it says that it is, where it was asked.
    """

    origin: str
    id: str | None
    reason: str


@dataclass(frozen=True)
class Loaded:
    """The dynamic backends of a session. paths: the folders that were searched."""

    backends: tuple[LoadedBackend, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    paths: tuple[Path, ...] = ()
    _resources: ExitStack = field(default_factory=ExitStack, repr=False, compare=False)

    def close(self) -> None:
        """Ends every worker."""
        self._resources.close()


def load(options: CreationOptions, taken: Collection[str], report: Callable[[str], None]) -> Loaded:
    """Loads the dynamic backends that these options ask for.

    taken: the ids that are registered already; of equal ids the first holds. report gets a line
    for each path that cannot be searched, and for each backend that cannot be loaded. Shared
    objects come in the order of the paths, in each by name; packages come behind them, by name.
    """
    if not options.dynamic_backends:
        return Loaded()
    with ExitStack() as resources:
        found = search_paths(options)
        for warning in found.warnings:
            report(warning)
        pool = resources.enter_context(WorkerPool(options.call_timeout))
        owners = dict.fromkeys(taken, "a backend that is registered already")
        backends: list[LoadedBackend] = []
        skipped: list[Skipped] = []
        sources = (*_shared_objects(found.folders, pool, report), *_packages(pool))
        for source in [_started(source) for source in sources]:
            result = source if isinstance(source, _Refused) else _try(*source, owners)
            if isinstance(result, LoadedBackend):
                owners[result.id] = f"the backend from {result.origin}"
                backends.append(result)
                continue
            skipped.append(result.skipped)
            if not result.misnamed:
                report(f"{result.skipped.origin} was skipped: {result.skipped.reason}.")
        return Loaded(tuple(backends), tuple(skipped), found.folders, resources.pop_all())


@dataclass(frozen=True)
class _Source:
    """What is to be tried: a file or a package."""

    origin: str
    start: Callable[[], Worker]


@dataclass(frozen=True)
class _Refused:
    """What is not. misnamed: nobody is warned of it."""

    skipped: Skipped
    misnamed: bool = False


def _shared_objects(
    folders: Iterable[Path], pool: WorkerPool, report: Callable[[str], None]
) -> Iterator[_Source | _Refused]:
    """Each file once, by its canonical path; a second link to it is no fault."""
    seen: set[Path] = set()
    for folder in folders:
        try:
            entries = list(scan(folder))
        except OSError as error:
            report(f"{one_line(str(folder))} cannot be searched: {error.strerror}.")
            continue
        for entry in entries:
            origin = one_line(str(entry.path))
            if isinstance(entry, UntriedFile):
                reason = one_line(entry.reason)
                yield _Refused(Skipped(origin, None, reason), entry.misnamed)
            elif entry.path not in seen:
                seen.add(entry.path)
                yield _Source(origin, partial(pool.start, entry.path))


def _packages(pool: WorkerPool) -> Iterator[_Source | _Refused]:
    for package in installed():
        if package.fault:
            yield _Refused(Skipped(package.origin, None, package.fault))
        else:
            yield _Source(package.origin, partial(package.start, pool))


def _started(source: _Source | _Refused) -> tuple[str, Worker] | _Refused:
    """Starts a worker, while others start; with its origin."""
    if isinstance(source, _Refused):
        return source
    try:
        return source.origin, source.start()
    except LoadError as error:
        return _Refused(Skipped(source.origin, None, _clause(error.reason)))


def _try(origin: str, worker: Worker, owners: Mapping[str, str]) -> LoadedBackend | _Refused:
    """Loads one. Whatever it is that fails, the worker is ended and the id stays free."""
    try:
        worker.load()
    except LoadError as error:
        return _Refused(Skipped(origin, None, _clause(error.reason)))
    try:
        if worker.id in owners:
            reason = f"its id {worker.id} is taken by {owners[worker.id]}"
        elif not is_compatible(worker.version, API_VERSION):
            reason = why_incompatible(worker.version, API_VERSION)
        else:
            worker.create()
            proposes = "propose" in worker.methods
            backend = (ProposingBackend if proposes else DynamicBackend)(worker)
            if not backend.cores or not _CORES.isdisjoint(backend.cores):
                return LoadedBackend(worker.id, lambda: backend, origin, worker.version, worker)
            reason = (
                f"it is for {', '.join(backend.cores)}, which mcu-deploy does not know; known are "
                f"{', '.join(sorted(_CORES))}"
            )
    except LoadError as error:
        reason = error.reason
    except BackendFault as fault:
        reason = str(fault)
    worker.close()
    return _Refused(Skipped(origin, worker.id, _clause(reason)))


def _clause(reason: str) -> str:
    """A reason from anywhere, to which the report adds the full stop."""
    return one_line(reason).rstrip(".")
