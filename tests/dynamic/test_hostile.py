"""Hostile backends: whatever one does to its process, it is one reported line, and its own."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from dynamic import mock_objects
from dynamic.hostile_cases import CALLS, DEEDS, SLOW, is_well, mock, pattern, seconds
from dynamic.worker_cases import (
    SECONDS,
    children_of,
    created,
    is_running,
    marked,
    relu_message,
    wait_for,
)
from sampling import chosen, first

from mcu_deploy.dynamic.process import LoadError, Worker, WorkerPool
from mcu_deploy.errors import BackendFault

pytestmark = pytest.mark.needs_host_gcc

# Deeds that the sample tries when a backend is loaded, and those later.
_LOADING, _LATER = [*DEEDS][::2], [*DEEDS][1::2]


def each_once(deeds: Sequence[str], places: Sequence[str]) -> list[Any]:
    """Each deed and each place are in the sample, most of them once."""
    count = max(len(deeds), len(places))
    sample = [(deeds[n % len(deeds)], places[n % len(places)]) for n in range(count)]
    pairs = [(deed, place) for place in places for deed in deeds]
    return first(sample + [pair for pair in pairs if pair not in sample], count)


def order(monkeypatch: pytest.MonkeyPatch, place: str, deed: str) -> None:
    monkeypatch.setenv("MOCK_Mock", f"{place} {deed}")


@pytest.fixture(scope="module", autouse=True)
def compiled_first() -> None:
    """So that no compiler runs while time is measured."""
    mock_objects.named("Good")
    mock_objects.compiled()
    mock_objects.throwing()


@pytest.fixture(scope="module")
def good(compiled_first: None) -> Iterator[Worker]:
    """A neighbour, to whom nothing of it matters."""
    with created(mock_objects.named("Good")) as worker:
        yield worker


@pytest.mark.parametrize(
    ("place", "deed"),
    first([("load", deed) for deed in (*_LOADING, *_LATER)], len(_LOADING))
    + first([("describe", deed) for deed in DEEDS if deed not in SLOW]),
)
def test_at_load_it_is_one_reason_and_the_others_are_well(
    place: str, deed: str, good: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    order(monkeypatch, place, deed)
    with WorkerPool(seconds(deed)) as pool:
        with pytest.raises(LoadError, match=pattern(deed)) as refused:
            pool.open(mock(deed)).create()
        assert refused.value.reason.startswith("it ")
        if deed != "heap":  # who stumbles over that, and when, depends on what lies there
            assert ("dlopen" if place == "load" else place) in refused.value.reason
        assert "\n" not in refused.value.reason
        assert is_well(good)


@pytest.mark.parametrize(
    ("deed", "place"),
    each_once(["crash", "hang", "exit", "garbage", "throw"], ["GetBackendId", "BackendFactory"]),
)
def test_every_exported_function_may_fail(
    place: str, deed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    order(monkeypatch, place, deed)
    with (
        WorkerPool(seconds(deed)) as pool,
        pytest.raises(LoadError, match=pattern(deed)) as refused,
    ):
        pool.open(mock(deed)).create()
    assert place in refused.value.reason


@pytest.mark.parametrize("deed", chosen(DEEDS, _LATER))
def test_later_it_is_one_fault_and_the_others_are_well(
    deed: str, good: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    order(monkeypatch, "create_workload", deed)
    with created(mock(deed), seconds(deed)) as worker:
        with pytest.raises(BackendFault, match=pattern(deed)) as fault:
            worker.call("create_workload", relu_message(), about="the Relu 'r'")
        text = str(fault.value)
        assert fault.value.backend == "Mock"
        assert text.startswith("The backend Mock ")
        assert "create_workload for the Relu 'r'" in text
        assert "\n" not in text
        with pytest.raises(BackendFault) as again:
            worker.call("is_layer_supported", relu_message())
        assert str(again.value) == text, "it stays ended"
        assert not worker.alive
        assert is_well(good)


@pytest.mark.parametrize(
    ("deed", "method"), each_once(["crash", "hang", "exit", "garbage"], list(CALLS))
)
def test_every_method_may_fail(method: str, deed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    order(monkeypatch, method, deed)
    with created(mock(deed), seconds(deed)) as worker:
        with pytest.raises(BackendFault, match=pattern(deed)):
            worker.call(method, CALLS[method])
        assert not worker.alive


@pytest.mark.parametrize(
    ("deed", "place"),
    each_once(["crash", "hang", "exit", "garbage", "kill parent"], ["release", "free"]),
)
def test_giving_back_may_fail(place: str, deed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    order(monkeypatch, place, deed)
    monkeypatch.setenv("MCU_TEST_MARK", f"giving back {place} {deed}")
    with WorkerPool(SECONDS) as pool:
        worker = pool.open(mock(deed))
        pool.timeout = seconds(deed)
        if place == "release":
            with pytest.raises(LoadError, match=r"release after describe"):
                worker.create()
        else:
            worker.create()
            worker.close()
        assert wait_for(lambda: not marked(f"giving back {place} {deed}"))


@pytest.mark.parametrize(
    ("place", "answer", "reason"),
    [
        ("describe", "many cores", "4294967295 cores, 65536 at most"),
        ("describe", "null cores", "2 cores at NULL"),
        ("describe", "not UTF-8", "operators is not UTF-8"),
        ("describe", "error", "the mock is out of order"),
        ("is_layer_supported", "false status", "the status 77 does not exist"),
        ("create_workload", "false type", "the element type 99 does not exist"),
        ("create_workload", "endless constant", "a constant has [0-9]+ bytes"),
        ("create_workload", "null constant", "a constant is NULL"),
        ("create_workload", "null arguments", "4 arguments at NULL"),
        ("create_workload", "wild pointer", "SIGSEGV"),
    ],
)
def test_an_answer_that_cannot_be_read_is_nonsense(
    place: str, answer: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    order(monkeypatch, place, answer)
    with WorkerPool(SECONDS) as pool, pytest.raises((LoadError, BackendFault), match=reason):
        worker = pool.open(mock_objects.compiled())
        worker.create()
        worker.call(place, relu_message())


def test_a_forged_answer_is_to_another_call(monkeypatch: pytest.MonkeyPatch) -> None:
    order(monkeypatch, "create_workload", "forged answer")
    with created(mock_objects.compiled()) as worker:
        with pytest.raises(BackendFault, match="the answer is to another call"):
            worker.call("create_workload", relu_message())
        assert not worker.alive


def test_talking_harms_nobody(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    order(monkeypatch, "is_layer_supported", "loud")
    with created(mock_objects.compiled(), 5.0) as worker:
        assert all(is_well(worker) for _ in range(5))
    assert capfd.readouterr() == ("", "")


def test_a_crash_between_two_calls_is_a_fault_at_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    order(monkeypatch, "is_layer_supported", "crash later")
    with created(mock_objects.compiled()) as worker:
        assert is_well(worker)
        time.sleep(0.2)
        with pytest.raises(BackendFault, match="SIGSEGV"):
            worker.call("create_workload", relu_message())


def test_what_a_backend_leaves_behind_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    order(monkeypatch, "is_layer_supported", "daemons")
    monkeypatch.setenv("MCU_TEST_MARK", "leaves daemons behind")
    with WorkerPool(SECONDS) as pool:
        worker = pool.open(mock_objects.compiled())
        worker.create()
        with pytest.raises(BackendFault):
            worker.call("is_layer_supported", relu_message())
        assert marked("leaves daemons behind") == []


def test_no_core_file_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    order(monkeypatch, "is_layer_supported", "crash")
    with created(mock_objects.compiled()) as worker, pytest.raises(BackendFault):
        worker.call("is_layer_supported", relu_message())
    assert list(tmp_path.iterdir()) == []


def test_the_end_of_a_warden_is_that_of_its_worker_alone() -> None:
    with WorkerPool(SECONDS) as pool:
        worker, good = pool.open(mock_objects.compiled()), pool.open(mock_objects.named("Good"))
        worker.create()
        good.create()
        (inner,) = children_of(worker.pid)
        killed = worker.pid
        os.kill(killed, signal.SIGKILL)
        assert wait_for(lambda: not is_running(killed))
        with pytest.raises(BackendFault, match="ended the process that watches it"):
            worker.call("is_layer_supported", relu_message())
        assert wait_for(lambda: not is_running(inner))
        assert is_well(good)


@pytest.mark.parametrize("place", ["load", "describe", "create_workload"])
def test_who_kills_its_warden_is_found_and_the_others_go_on(
    place: str, good: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    order(monkeypatch, place, "kill parent")
    with WorkerPool(SECONDS) as pool:
        with pytest.raises((LoadError, BackendFault), match="ended the process that watches it"):
            bad = pool.open(mock_objects.compiled())
            bad.create()
            bad.call("create_workload", relu_message())
        assert is_well(good)


def test_a_stopped_warden_is_ended(good: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    order(monkeypatch, "create_workload", "stop parent")
    with WorkerPool(SECONDS) as pool:
        bad = pool.open(mock_objects.compiled())
        bad.create()
        stopped = bad.pid
        pool.timeout = seconds("stop parent")
        with pytest.raises(BackendFault, match="did not return"):
            bad.call("create_workload", relu_message())
        assert is_well(good)
        assert wait_for(lambda: not is_running(stopped))


def test_a_worker_has_a_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_Mock", "estimate hoard")
    with WorkerPool(SECONDS, memory_bytes=256 << 20) as pool:
        worker = pool.open(mock_objects.compiled())
        worker.create()
        with pytest.raises(BackendFault, match=r"crashed in estimate \(SIGSEGV\)"):
            worker.call("estimate", relu_message())
