"""Tasks on the workers of a scheduler of Dask: one of our own here, or one that runs somewhere."""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeVar

from mcu_deploy.errors import DeviceError, ToolError, one_line
from mcu_deploy.options.means import Workers
from mcu_deploy.tasks.machine import require_alike, this_machine

A = TypeVar("A")
T = TypeVar("T")

_CONNECT_SECONDS = 30
_POLL_SECONDS = 1.0
# So long may a scheduler be without any worker: they start anew, or are being moved.
_PATIENCE_SECONDS = 60


def run_on_cluster(
    function: Callable[[A], T], tasks: Sequence[A], workers: Workers
) -> Iterator[tuple[int, T]]:
    """See `run_tasks`. The tools of all workers are compared with ours first, and of each worker
    that comes later with its first task."""
    distributed = _distributed()
    # What Dask logs of a scheduler that is lost is pages long; ours is a sentence.
    with (
        distributed.utils.silence_logging_cmgr(logging.CRITICAL),
        _client(distributed, workers) as client,
    ):
        try:
            require_alike(client.run(this_machine), this_machine())
        except ImportError as error:
            raise ToolError(
                f"The workers of {workers.scheduler} lack what this machine has "
                f"({one_line(str(error), 200)}). Install the same version of mcu-deploy there."
            ) from error
        waiting = {
            client.submit(_done, function, task, dict(this_machine()), pure=False): number
            for number, task in enumerate(tasks)
        }
        address = client.scheduler.address
        seen = time.monotonic()  # when there was a worker
        try:
            while waiting:
                try:
                    done, _ = distributed.wait(
                        [*waiting], timeout=_POLL_SECONDS, return_when="FIRST_COMPLETED"
                    )
                except TimeoutError:
                    seen = _require_workers(client, seen)
                    continue
                for future in sorted(done, key=waiting.__getitem__):
                    yield waiting.pop(future), _result(distributed, future)
        except CancelledError as error:
            raise DeviceError(
                f"The scheduler at {address} has gone. Start it anew; what is done is kept."
            ) from error


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ToolError(
            "Dask, which --workers and --scheduler take, is not installed. Install it by "
            "`pip install 'mcu-deploy[cluster]'`, or leave the option out."
        ) from None
    return distributed


@contextmanager
def _client(distributed: Any, workers: Workers) -> Iterator[Any]:
    """A client of the scheduler that is asked for."""
    if workers.scheduler is None:
        with _own_workers(distributed, workers.count) as cluster, distributed.Client(cluster) as c:
            yield c
        return
    try:
        client = distributed.Client(workers.scheduler, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError, TypeError) as error:  # of the net, of the address, of TLS
        raise ToolError(
            f"No scheduler answers at {workers.scheduler} ({one_line(str(error), 200)}). Start one "
            "by `dask scheduler`, or give the address that it prints."
        ) from error
    with client:
        yield client


@contextmanager
def _own_workers(distributed: Any, count: int | None) -> Iterator[Any]:
    """Processes on this machine, which no other one reaches; they leave no files."""
    import dask

    with (
        tempfile.TemporaryDirectory(prefix="mcu-deploy-", ignore_cleanup_errors=True) as scratch,
        dask.config.set({"temporary-directory": scratch}),
        distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address=None, worker_dashboard_address=None, memory_limit=None,
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            silence_logs=logging.CRITICAL, env={"TMPDIR": scratch},
        ) as cluster,
    ):  # fmt: skip
        yield cluster


def _require_workers(client: Any, seen: float) -> float:
    """The time by which there is a worker, or was lately. Raises DeviceError where there is none
    for long."""
    if client.status == "running" and client.scheduler_info()["workers"]:
        return time.monotonic()
    if time.monotonic() - seen < _PATIENCE_SECONDS:
        return seen
    raise DeviceError(
        f"There has been no worker for {_PATIENCE_SECONDS} seconds. Start some by `dask worker` "
        "with the scheduler's address; what is done is kept."
    )


def _result(distributed: Any, future: Any) -> Any:
    """What a task came to, after its worker's warnings."""
    try:
        logged, result = future.result()
    except distributed.KilledWorker as error:
        raise DeviceError(
            "Several workers died of one and the same task, as they do where memory is short "
            f"({one_line(str(error), 200)}). Start fewer on each machine."
        ) from error
    for record in logged:
        logging.getLogger(record.name).handle(record)
    return result


def _done(
    function: Callable[[A], T], task: A, tools: Mapping[str, str]
) -> tuple[list[logging.LogRecord], T]:
    """In a worker: what was logged, and what came of a task."""
    if tools != this_machine():
        require_alike({_distributed().get_worker().address: this_machine()}, tools)
    logged = _Logged()
    logging.getLogger().addHandler(logged)
    try:
        return logged.records, function(task)
    finally:
        logging.getLogger().removeHandler(logged)


class _Logged(logging.Handler):
    """What this thread logs as a warning or worse, in a form that can be sent."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread and record.name.startswith("mcu_deploy"):
            record.msg, record.args = record.getMessage(), None
            record.exc_info = None
            self.records.append(record)
