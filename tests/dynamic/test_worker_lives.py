"""Workers come quickly, and nothing of them stays behind."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from dynamic import mock_objects
from dynamic.worker_cases import (
    SECONDS,
    children_of,
    created,
    is_running,
    relu_message,
    wait_for,
)
from sampling import first

from mcu_deploy.dynamic.process import LoadError, WorkerPool

pytestmark = pytest.mark.needs_host_gcc


def descriptors() -> set[Path]:
    return set(Path("/proc/self/fd").iterdir())


@pytest.mark.parametrize("sessions", first([5, 50]))
def test_nothing_stays_behind_after_many_sessions(sessions: int) -> None:
    before, processes = descriptors(), set(children_of(os.getpid()))
    for round_ in range(sessions):
        with WorkerPool(SECONDS) as pool:
            pool.open(mock_objects.compiled()).create()
            if round_ % 10 == 0:
                with pytest.raises(LoadError):
                    pool.open(mock_objects.compiled("WITHOUT_ID"))
                with pytest.raises(LoadError):
                    pool.open(Path("/nowhere.so"))
    assert descriptors() == before
    assert set(children_of(os.getpid())) == processes


def test_a_session_has_no_zombies_and_no_descriptors_of_ended_workers() -> None:
    with WorkerPool(SECONDS) as pool:
        before, processes = descriptors(), set(children_of(os.getpid()))
        for _ in range(5):
            pool.open(mock_objects.compiled()).close()
        with pytest.raises(LoadError):
            pool.open(mock_objects.compiled("NEEDS_UNKNOWN"))
        assert set(children_of(os.getpid())) == processes
        assert descriptors() == before


def test_a_session_without_descriptors_left_is_told_so() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    path, taken = mock_objects.compiled(), list[int]()
    with WorkerPool(SECONDS) as pool:
        processes = set(children_of(os.getpid()))
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
        try:
            with contextlib.suppress(OSError):
                while True:
                    taken.append(os.open(os.devnull, os.O_RDONLY))
            with pytest.raises(LoadError, match="no process of its own: Too many open files"):
                pool.open(path)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for descriptor in taken:
                os.close(descriptor)
        assert set(children_of(os.getpid())) == processes
        assert pool.open(path).id == "Mock"


def test_sessions_may_run_in_threads() -> None:
    barrier, wardens, faults = threading.Barrier(4), [], []

    def session() -> None:
        try:
            with created(mock_objects.compiled(), 5.0) as worker:
                wardens.append(worker.pid)
                barrier.wait(20)
                for _ in range(20):
                    worker.call("is_layer_supported", relu_message())
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=session) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(set(wardens)) == 4


def test_workers_end_with_a_session_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "session.py"
    script.write_text(
        "import sys, time\n"
        "from pathlib import Path\n"
        "from mcu_deploy.dynamic.process import WorkerPool\n"
        "pool = WorkerPool()\n"
        "worker = pool.open(Path(sys.argv[1]))\n"
        "worker.create()\n"
        "print(worker.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    command = [sys.executable, str(script), str(mock_objects.compiled())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as session:
        assert session.stdout is not None
        warden = int(session.stdout.readline())
        workers = children_of(warden)
        assert len(workers) == 1
        session.send_signal(signal.SIGKILL)
    assert wait_for(lambda: not is_running(warden))
    assert wait_for(lambda: not is_running(workers[0]))
