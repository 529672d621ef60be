"""Workers: what is loaded, and what is refused with which reason."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from dynamic import mock_objects
from dynamic.worker_cases import (
    SECONDS,
    created,
    relu_message,
)
from sampling import first

from mcu_deploy.backends.interface import API_VERSION
from mcu_deploy.dynamic.process import LoadError, WorkerPool
from mcu_deploy.dynamic.wire import ERROR, UNSUPPORTED, Declined
from mcu_deploy.errors import BackendFault

pytestmark = pytest.mark.needs_host_gcc


def test_a_backend_is_loaded_in_two_steps() -> None:
    with WorkerPool(SECONDS) as pool:
        worker = pool.open(mock_objects.compiled())
        assert (worker.id, worker.version, worker.methods) == ("Mock", API_VERSION, ())
        worker.create()
        assert "optimize_subgraph" in worker.methods
        assert "before_unload_network" not in worker.methods
        assert worker.description == {
            "rank": 200, "cores": ["host", "cortex-m4"], "operators": ["Relu"], "bodies": True,
        }  # fmt: skip


@pytest.mark.parametrize("version", [(1, 9), (0, 3), (7, 0)])
def test_the_version_is_known_before_the_factory_is_called(
    version: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_Mock", "BackendFactory crash")
    with WorkerPool(SECONDS) as pool:
        path = mock_objects.compiled(f"MAJOR={version[0]}", f"MINOR={version[1]}")
        assert pool.open(path).version == version


def no_file(folder: Path) -> Path:
    return folder / "nothing.so"


def text_file(folder: Path) -> Path:
    path = folder / "text.so"
    path.write_text("a text that is long enough to be taken for the head of an object file\n")
    return path


def empty_file(folder: Path) -> Path:
    path = folder / "empty.so"
    path.touch()
    return path


def truncated_object(folder: Path) -> Path:
    path = folder / "truncated.so"
    path.write_bytes(mock_objects.compiled().read_bytes()[:600])
    return path


def damaged_object(folder: Path) -> Path:
    """Whole, but with nonsense where the program headers stand."""
    path = folder / "damaged.so"
    data = bytearray(mock_objects.compiled().read_bytes())
    data[64:400] = bytes([0xA5]) * 336
    path.write_bytes(data)
    return path


def object_for_arm(folder: Path) -> Path:
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed; `make setup` installs it")
    path, source = folder / "arm.so", folder / "arm.c"
    source.write_text("int nothing(void) { return 0; }\n")
    command = ["arm-none-eabi-gcc", "-shared", "-nostdlib", "-fPIC", source, "-o", path]
    subprocess.run(command, check=True)
    return path


@pytest.mark.parametrize(
    ("make", "reason"),
    first(
        [
            (no_file, "No such file"),
            (text_file, "invalid ELF header"),
            (empty_file, "file too short"),
            (truncated_object, "too short|truncated|cannot read|ELF|SIGBUS"),
            (damaged_object, "no loadable segments|ELF|SIG"),
            (object_for_arm, "wrong ELF class|cannot open|ELF"),
            (lambda folder: mock_objects.compiled("NEEDS_UNKNOWN"), "nobody_has_this_variable"),
            (lambda folder: mock_objects.compiled("WITHOUT_ID"), "does not export GetBackendId"),
            (lambda folder: mock_objects.compiled("WITHOUT_VERSION"), "does not export GetVersion"),
            (lambda folder: mock_objects.compiled("WITHOUT_FACTORY"), "not export BackendFactory"),
            (
                lambda folder: mock_objects.compiled("WITHOUT_ANYTHING"),
                "does not export GetBackendId",
            ),
            (lambda folder: mock_objects.named("0"), "the id is NULL"),
            (lambda folder: mock_objects.named(""), "its id '' is not 1 to 64 letters"),
            (lambda folder: mock_objects.named("Two words"), "its id 'Two words' is not 1 to 64"),
            (lambda folder: mock_objects.named("A" * 65), "the id is longer than 64 bytes"),
            (lambda folder: mock_objects.named("\udcc3("), "the id is not UTF-8"),
        ],
        8,
    ),
)
def test_what_is_no_backend_is_refused_with_the_reason(
    make: object, reason: str, tmp_path: Path
) -> None:
    assert callable(make)
    with WorkerPool(SECONDS) as pool, pytest.raises(LoadError, match=reason) as refused:
        pool.open(make(tmp_path))
    assert "\n" not in refused.value.reason


@pytest.mark.parametrize(
    ("switches", "reason"),
    first(
        [
            (["NO_TABLE"], "BackendFactory returned NULL"),
            (["TABLE_SIZE=40"], "its table has 40 bytes"),
            (["TABLE_SIZE=0"], "its table has 0 bytes"),
            (["TABLE_MAJOR=2"], "its table says version 2.2, but GetVersion 1.2"),
            (["TABLE_MINOR=3"], "its table says version 1.3, but GetVersion 1.2"),
            (["LACKS=describe"], "the method describe of its table is NULL"),
            (["LACKS=is_layer_supported"], "is_layer_supported of its table is NULL"),
            (["LACKS=create_workload"], "create_workload of its table is NULL"),
            (["LACKS=release"], "release of its table is NULL"),
            (["LACKS=free"], "free of its table is NULL"),
        ],
        3,
    ),
)
def test_a_table_that_cannot_be_used_is_refused(switches: list[str], reason: str) -> None:
    with WorkerPool(SECONDS) as pool:
        worker = pool.open(mock_objects.compiled(*switches))
        with pytest.raises(LoadError, match=reason):
            worker.create()
        assert not worker.alive


def test_symbols_are_bound_lazily() -> None:
    with created(mock_objects.compiled("CALLS_UNKNOWN")) as worker:
        assert worker.call("is_layer_supported", relu_message())[0]["supported"] == 1


@pytest.mark.parametrize("name", ["relative.so", "Zürich and blanks.so", "no\udcffunicode.so"])
def test_a_file_may_have_any_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name without a folder is that of a file, not of a library to be searched for."""
    shutil.copy(mock_objects.compiled(), tmp_path / name)
    monkeypatch.chdir(tmp_path)
    with WorkerPool(SECONDS) as pool:
        assert pool.open(Path(name)).id == "Mock"


def test_a_table_of_mandatory_methods_is_enough() -> None:
    with created(mock_objects.compiled("BARE")) as worker:
        assert worker.call("is_layer_supported", relu_message("Add"))[0]["supported"] == 0
        with pytest.raises(Declined, match="no method estimate") as declined:
            worker.call("estimate", relu_message())
        assert declined.value.kind == UNSUPPORTED
        assert worker.alive


def test_a_reason_comes_from_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_Mock", "create_workload error")
    with created(mock_objects.compiled()) as worker:
        with pytest.raises(Declined, match="no € left") as declined:
            worker.call("create_workload", relu_message())
        assert declined.value.kind == ERROR
        assert worker.alive


def test_every_handle_is_released() -> None:
    with created(mock_objects.compiled()) as worker:
        for _ in range(5):
            worker.call("is_layer_supported", relu_message())
            worker.call("create_workload", relu_message())
        counters, _ = worker.call("layers_measured", {"network": "net", "counts": []})
        assert ["outstanding", 1] in counters["counters"], "all but its own"


def test_a_closed_worker_cannot_be_called() -> None:
    with created(mock_objects.compiled()) as worker:
        worker.close()
        with pytest.raises(BackendFault, match="was unloaded"):
            worker.call("is_layer_supported", relu_message())
