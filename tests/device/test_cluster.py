"""`ci`, `tune` and the benchmarks on a real scheduler with two workers, one of which is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from arm_dsp_cases import Case, model

from benchmarks import run
from mcu_deploy import resources
from mcu_deploy.api import pipelines
from mcu_deploy.api.pipelines import run_pipeline
from mcu_deploy.api.tuning import tune
from mcu_deploy.backends.measured import file_beside
from mcu_deploy.pipelines.configuration import read_configuration
from mcu_deploy.pipelines.result import BuildOutcome
from mcu_deploy.tasks import HERE, KeptResults, Workers

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

SINE = resources.root() / "examples" / "cmake" / "sine.tflite"


class Cluster:
    """The two commands of docs/cluster.md, with two workers."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / "scheduler.json"
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        # not at the top: to import it takes long, and the sample has none of these tests
        distributed = pytest.importorskip(
            "distributed", reason="Dask is not installed; make setup installs it"
        )
        self._start("scheduler", "--port", "0", "--dashboard-address", "127.0.0.1:0")
        while not self._file.exists():
            assert self._started[0].poll() is None, (self._folder / "scheduler.log").read_text()
            time.sleep(0.1)
        self.address = json.loads(self._file.read_text())["address"]
        self.client = distributed.Client(self.address)
        for name in ("first", "second"):
            self._start("worker", "--nthreads", "1", "--name", name, "--no-nanny")
        self.client.wait_for_workers(2, timeout=300)

    def _start(self, command: str, *words: str) -> None:
        dask = [sys.executable, "-m", "dask", command, "--scheduler-file", str(self._file)]
        dask += ["--host", "127.0.0.1", "--no-dashboard", *words]
        with (self._folder / f"{command}.log").open("ab") as log:
            self._started.append(subprocess.Popen(dask, cwd=self._folder, stdout=log, stderr=log))

    def kill_one_at_work(self) -> str:
        """Kills a worker that has a task in its hands, and returns its address."""
        while True:
            for address, tasks in self.client.processing().items():
                if tasks:
                    os.kill(self.client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
                    return str(address)

    def stop(self) -> None:
        for process in reversed(self._started):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        made.start()
        yield made
        made.client.close()
    finally:
        made.stop()


@pytest.mark.matrix
def test_the_table_is_the_same_where_a_worker_is_killed_and_where_nobody_else_works(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Also the files of the builds; and what is done is not done again."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "board.toml").write_text(
        'inherits = "mps2-an385"\nname = "own"\ntitle = "a board of the user\'s"\n'
    )
    (tmp_path / "sine.tflite").symlink_to(SINE)
    (tmp_path / "mcu-deploy.toml").write_text(
        'boards = ["mps2-an386", "host", "own/board.toml"]\nsamples = 1\n'
        '[models.sine]\nfile = "sine.tflite"\n'
        '[models.gone]\nfile = "gone.onnx"\nboards = ["host"]\n'
    )
    configuration = read_configuration(tmp_path / "mcu-deploy.toml")
    alone = run_pipeline(configuration, tmp_path / "alone")
    killed: list[str] = []

    def finished(_: BuildOutcome) -> None:
        if not killed:
            killed.append(cluster.kill_one_at_work())

    results, output = tmp_path / "results.jsonl", tmp_path / "spread"
    spread = run_pipeline(
        configuration, output, finished=finished, workers=Workers(scheduler=cluster.address),
        results=results,
    )  # fmt: skip
    assert killed and killed[0] not in cluster.client.scheduler_info()["workers"]
    assert (len(spread.rows), len(spread.failures)) == (3, 1)
    assert spread.outcomes == alone.outcomes and spread.comparison == alone.comparison
    assert _files(output) == _files(tmp_path / "alone")

    kept = KeptResults(results)
    assert pipelines._Run(configuration.jobs, output, kept).tasks.keys() == {3}  # what failed
    (output / "balanced" / "own" / "sine" / "firmware.elf").unlink()
    assert pipelines._Run(configuration.jobs, output, kept).tasks.keys() == {2, 3}


@pytest.mark.matrix
def test_costs_are_the_same_whoever_measures_them(cluster: Cluster, tmp_path: Path) -> None:
    """Of a board of the user's, whose file the worker does not see."""
    (tmp_path / "board.toml").write_text('inherits = "mps2-an386"\nname = "own"\ntitle = "own"\n')
    found = []
    for name, workers in (("alone", HERE), ("spread", Workers(scheduler=cluster.address))):
        (tmp_path / name).mkdir()
        path = model([Case(4, 2, 2, 2)], tmp_path / name / "net.onnx")
        tuned = tune(path, tmp_path / "board.toml", workers=workers)
        found.append((replace(tuned, file=path), file_beside(path).read_bytes()))
    (alone, costs), (spread, same) = found
    assert replace(alone, file=spread.file) == spread and costs == same
    assert alone.measured > 1


@pytest.mark.matrix
def test_a_line_of_the_benchmarks_is_measured_once(
    cluster: Cluster, models_dir: Path, tmp_path: Path
) -> None:
    key = ("tflm_hello_world_int8", "cortex-m4", "balanced")
    file, workers = tmp_path / "results.jsonl", Workers(scheduler=cluster.address)
    (line,) = run.measured([key], models_dir, workers, file)
    assert line == run.measure(key, models_dir)
    before = file.read_bytes()
    assert [*run.measured([key], models_dir, workers, file)] == [line]
    assert file.read_bytes() == before


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
