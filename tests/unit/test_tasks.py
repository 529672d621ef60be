"""Tasks: their fingerprints and results, who is refused, what workers on this machine leave."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest
from onnx import TensorProto, helper

from mcu_deploy.api import measuring
from mcu_deploy.errors import McuDeployError, RequestError, ToolError, UsageError
from mcu_deploy.options import Options
from mcu_deploy.output import MARKER
from mcu_deploy.pipelines.configuration import read_configuration
from mcu_deploy.tasks import KeptResults, Workers, run_tasks
from mcu_deploy.tasks.machine import require_alike, this_machine
from mcu_deploy.tasks.results import fingerprint

_NO_DASK = "Dask is not installed; make setup installs it"


@dataclass(frozen=True)
class Job:
    """Some input."""

    name: str
    content: bytes
    options: Options = Options()  # noqa: RUF009


def test_a_fingerprint_tells_what_a_record_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job("a", b"b", Options(shapes={"x": (1, 2)}))
    assert fingerprint(abs, job) == fingerprint(abs, replace(job))
    others = [
        fingerprint(abs, replace(job, name="ab", content=b"")),
        fingerprint(abs, replace(job, options=Options())),
        fingerprint(abs, replace(job, options=Options(shapes={"x": (12,)}))),
        fingerprint(abs, replace(job, name=b"a")),  # type: ignore[arg-type]
        fingerprint(len, job),
    ]
    newer = {**this_machine(), "QEMU": "10.0"}
    monkeypatch.setattr("mcu_deploy.tasks.results.this_machine", lambda: newer)
    others.append(fingerprint(abs, job))
    assert len({fingerprint(abs, job), *others[:-1]}) == len(others)
    with pytest.raises(TypeError, match="plain values"):
        fingerprint(abs, replace(job, name=Path()))  # type: ignore[arg-type]


def test_results_outlive_a_run_that_is_killed_while_it_writes(tmp_path: Path) -> None:
    path = tmp_path / "out" / "results.jsonl"
    results = KeptResults(path)
    results.keep("one", {"row": [1, None, "ü"]})
    results.keep("two", 2)
    path.write_bytes(path.read_bytes()[:-3])
    resumed = KeptResults(path)
    assert (resumed.find("one"), resumed.find("two")) == ({"row": [1, None, "ü"]}, None)
    resumed.keep("three", 3)
    again = KeptResults(path)
    assert (again.find("one"), again.find("three")) == ({"row": [1, None, "ü"]}, 3)


def test_a_file_of_the_user_s_is_no_results(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("mine\n")
    with pytest.raises(RequestError, match=r"holds no results of this version .* Take the file"):
        KeptResults(path)
    assert path.read_text() == "mine\n"


def test_a_worker_with_other_tools_is_named_with_what_differs() -> None:
    own = {"gcc": "12.2.1", "QEMU": "7.2.22", "numpy": "2.4.6"}
    require_alike({"tcp://a": own, "tcp://b": dict(own)}, own)
    with pytest.raises(ToolError) as caught:
        require_alike({"tcp://a": own, "tcp://b": {"gcc": "13.2", "numpy": "2.4.6"}}, own)
    assert str(caught.value) == (
        "Other tools make other numbers, and the worker tcp://b has gcc 13.2 (wanted: 12.2.1), "
        "QEMU none (wanted: 7.2.22). Install the same versions everywhere, or take such workers "
        "away."
    )


def test_who_is_asked_for_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    for asked, said in (
        ({"count": 2, "scheduler": "tcp://h:1"}, "contradict each other"),
        ({"count": 0}, "0 workers do nothing"),
        ({"scheduler": "host"}, "no address of a scheduler"),
    ):
        with pytest.raises(UsageError, match=said):
            Workers(**asked)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ToolError, match=r"pip install 'mcu-deploy\[cluster\]'"):
        [*run_tasks(abs, [1, 2], Workers(2))]
    assert [*run_tasks(abs, [-1, 2])] == [(0, 1), (1, 2)]


def test_where_no_scheduler_is_the_sentence_says_how_to_start_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("distributed", reason=_NO_DASK)
    monkeypatch.setattr("mcu_deploy.tasks.cluster._CONNECT_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "what://127.0.0.1:9"):
        with pytest.raises(ToolError, match=f"No scheduler answers at {address} .*dask scheduler"):
            [*run_tasks(abs, [1], Workers(scheduler=address))]


def test_tasks_are_done_by_the_workers_of_a_scheduler() -> None:
    distributed = pytest.importorskip("distributed", reason=_NO_DASK)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1",
        dashboard_address=None, worker_dashboard_address=None,
    ) as cluster:  # fmt: skip
        workers = Workers(scheduler=cluster.scheduler_address)
        tasks: list[dict[str, tuple[bytes, bool]]] = [{"a": (b"", True)}, {}]
        found = dict(run_tasks(measuring.digest_of, tasks, workers))
    assert found == {n: measuring.digest_of(task) for n, task in enumerate(tasks)}


def test_a_build_that_would_leave_its_folder_is_refused(tmp_path: Path) -> None:
    for name in ("../x", "/x", "a/../../x"):
        with pytest.raises(RequestError, match="outside of the build"):
            measuring.put({name: (b"", False)}, tmp_path / "build")
    assert not [*tmp_path.iterdir()]
    files = {"a": (b"1", True), "obj/b": (b"2", False)}
    measuring.put(files, tmp_path / "build")
    assert (tmp_path / "build" / MARKER).is_file()
    assert measuring.files_of(tmp_path / "build") == files
    (tmp_path / "build" / "mine").touch()
    with pytest.raises(McuDeployError, match="mine"):
        measuring.put(files, tmp_path / "build")


def test_a_task_holds_the_data_of_a_model_s_folder_and_of_no_other(tmp_path: Path) -> None:
    """A model may name any file as that of its data; building it refuses the others."""
    folder = tmp_path / "models"
    (folder / "inner").mkdir(parents=True)
    (tmp_path / "mcu-deploy.toml").write_text(
        'boards = ["host"]\n[models.net]\nfile = "models/net.onnx"\n'
    )
    (job,) = read_configuration(tmp_path / "mcu-deploy.toml").jobs
    places = {"inner/data": folder / "inner" / "data", "../secret": tmp_path / "secret"}
    places[str(tmp_path / "other")] = tmp_path / "other"
    (folder / "link").symlink_to(tmp_path / "secret")
    weights = []
    for number, (location, path) in enumerate([*places.items(), ("link", folder / "link")]):
        path.write_bytes(bytes(4))
        tensor = TensorProto(name=f"w{number}", dims=[1], data_type=TensorProto.FLOAT)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)
        weights.append(tensor)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    node = helper.make_node("Sum", [tensor.name for tensor in weights], ["y"])
    graph = helper.make_graph([node], "net", [], [output], weights)
    (folder / "net.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    (folder / "net.costs.json").write_text("{}")
    files = measuring.task_of(job).files
    assert files.keys() == {"model/net.onnx", "model/inner/data", "model/net.costs.json"}


def test_workers_on_this_machine_are_reached_from_it_alone_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason=_NO_DASK)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ours = psutil.Process()
    before = ours.children(recursive=True)
    work = run_tasks(measuring.digest_of, [{"a": (b"", True)}, {}], Workers(1))
    first = next(work)
    started = [p for p in ours.children(recursive=True) if p not in before]
    listening = {
        connection.laddr.ip
        for process in (ours, *started)
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert started and listening == {"127.0.0.1"}
    found = dict([first, *work])
    assert found == {0: measuring.digest_of({"a": (b"", True)}), 1: measuring.digest_of({})}
    assert not [p for p in started if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
    assert not [*tmp_path.iterdir()]
