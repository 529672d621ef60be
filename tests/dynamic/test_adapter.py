"""A dynamic backend as a `Backend`: every method of the interface, and a network built with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import graph_cases
import network_programs as programs
import numpy as np
import pytest
from dynamic import mock_objects

from mcu_deploy.backends.interface import (
    API_VERSION,
    Costs,
    CreationOptions,
    LayerCount,
    LayoutRule,
    RegionCall,
    RegionKind,
    Role,
    no,
    yes,
)
from mcu_deploy.backends.layer import Layer, Target, layer_of
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.dynamic.adapter import DynamicBackend
from mcu_deploy.dynamic.process import WorkerPool
from mcu_deploy.errors import BackendFault
from mcu_deploy.ir import DType, Graph, TensorType, view_of_all
from mcu_deploy.options import Options
from mcu_deploy.session import Session

pytestmark = pytest.mark.needs_host_gcc

SECONDS = 5.0


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(SECONDS) as pool:
        yield pool


def backend_of(pool: WorkerPool, path: Path) -> DynamicBackend:
    worker = pool.open(path)
    worker.create()
    return DynamicBackend(worker)


@pytest.fixture(scope="module")
def mock() -> Iterator[DynamicBackend]:
    """In one process for all tests that want nothing wrong of it."""
    with WorkerPool(SECONDS) as pool:
        yield backend_of(pool, mock_objects.compiled())


def relus(count: int = 3) -> Graph:
    net = graph_cases.Net()
    edge = net.input(1, 6)
    for _ in range(count):
        edge = net.op("Relu", [edge], (1, 6))
    return net.finish(edge)


def first_layer(graph: Graph) -> Layer:
    return layer_of(graph, next(graph.nodes), Target("cortex-m4"))


def softmax() -> Layer:
    net = graph_cases.Net()
    return first_layer(net.finish(net.op("Softmax", [net.input(1, 6)], (1, 6), axis=1)))


def test_it_describes_itself(mock: DynamicBackend) -> None:
    assert (mock.id, mock.version, mock.rank) == ("Mock", API_VERSION, 200)
    assert (mock.cores, mock.operators) == (("host", "cortex-m4"), ("Relu",))


def test_it_says_what_it_takes(mock: DynamicBackend) -> None:
    support = mock.layer_support()
    for layer, answer in (
        (first_layer(relus()), yes(LayoutRule.SAME)),
        (softmax(), no("the mock computes Relu only")),
    ):
        found = support.is_layer_supported(layer, layer.inputs, layer.outputs, layer.attributes)
        assert found == answer
    assert mock.estimate(first_layer(relus())) == Costs(
        macs=first_layer(relus()).macs, instructions=1234
    )


def test_it_is_not_asked_about_types_that_its_interface_has_no_words_for(
    mock: DynamicBackend,
) -> None:
    layer = first_layer(relus())
    narrow = [replace(o, type=TensorType(DType.FLOAT16, (1, 6))) for o in layer.outputs]
    support = mock.layer_support()
    found = support.is_layer_supported(layer, layer.inputs, narrow, layer.attributes)
    assert found == no(
        "it has a type of few bits, of which the interface of dynamic backends has no words"
    )


def test_its_workloads_are_values(mock: DynamicBackend) -> None:
    layer = first_layer(relus())
    manager = mock.create_memory_manager()
    factory = mock.create_workload_factory(manager)
    (workload,) = factory.create_workloads(layer.info, layer.descriptor)
    (again,) = factory.create_workloads(layer.info, layer.descriptor)
    assert workload.backend == "Mock"
    assert workload.function is not None
    assert workload.function.stem == "mock_relu"
    assert [a.role for a in workload.arguments] == [
        Role.INPUT, Role.OUTPUT, Role.CONSTANT, Role.REGION,
    ]  # fmt: skip
    assert workload.constants[0].value.tolist() == [6]
    assert workload.headers == ("stdint.h",)
    assert [helper.inline for helper in workload.helpers] == [True]
    assert workload.costs == Costs(macs=layer.macs, instructions=30, flash=60)
    (region,) = workload.regions
    assert (region.name, region.kind, region.bytes) == ("runs", RegionKind.PRIVATE, 4)
    assert again.regions == (region,), "regions of equal name are one"
    assert isinstance(manager.acquire, RegionCall)
    assert manager.acquire.regions == (region,)
    assert manager.release is None
    assert manager.regions == (region,)


def test_networks_have_regions_of_their_own(mock: DynamicBackend) -> None:
    layer = first_layer(relus())
    managers = [mock.create_memory_manager() for _ in range(2)]
    mock.create_workload_factory(managers[0]).create_workloads(layer.info, layer.descriptor)
    assert len(managers[0].regions) == 1
    assert managers[1].acquire is not None
    assert managers[1].regions == managers[1].acquire.regions


def test_it_fuses(monkeypatch: pytest.MonkeyPatch, pool: WorkerPool) -> None:
    monkeypatch.setenv("MOCK_Mock", "optimize_subgraph fuse")
    view = view_of_all(relus())
    views = backend_of(pool, mock_objects.compiled()).optimize_subgraph(view)
    (substitution,) = views.substitutions
    assert substitution.substitutable.node_ids == view.node_ids
    (node,) = substitution.replacement.nodes
    assert (node.domain, node.op) == ("mock", "Relus")
    assert (views.failed, views.untouched) == ((), ())


def test_it_fails_parts(monkeypatch: pytest.MonkeyPatch, pool: WorkerPool) -> None:
    monkeypatch.setenv("MOCK_Mock", "optimize_subgraph fail")
    view = view_of_all(relus())
    views = backend_of(pool, mock_objects.compiled()).optimize_subgraph(view)
    assert [part.node_ids for part in views.failed] == [view.node_ids]


def test_without_an_answer_all_is_untouched(mock: DynamicBackend) -> None:
    view = view_of_all(relus())
    assert mock.optimize_subgraph(view).untouched == (view,)


def test_its_context_and_its_counters(mock: DynamicBackend) -> None:
    options = CreationOptions(backend_options={"Mock": {"speed": "9"}, "Other": {"speed": "1"}})
    context = mock.create_backend_context(options)
    assert context is not None
    context.before_load_network(3)
    context.after_load_network(3)
    context.before_unload_network(3)
    context.after_unload_network(3)
    found: dict[str, int] = {}

    class Report:
        def add_counter(self, name: str, value: int) -> None:
            found[name] = value

    profiling = mock.create_profiling_context(options, Report())
    assert profiling is not None
    counts = [LayerCount(i, f"relu{i}", "Relu", 0, 2**40, "cycles") for i in range(3)]
    profiling.layers_measured("net", counts)
    assert found == {
        "outstanding": 1, "context calls": 302, "options": 1, "length of the name": 3,
        "total": 3 * 2**40,
    }  # fmt: skip


def test_what_it_lacks_is_left_out(pool: WorkerPool) -> None:
    bare = backend_of(pool, mock_objects.compiled("BARE"))
    view, layer = view_of_all(relus()), first_layer(relus())
    assert bare.optimize_subgraph(view).untouched == (view,)
    assert bare.estimate(layer) == Costs(macs=layer.macs)
    assert bare.create_backend_context(CreationOptions()) is None
    manager = bare.create_memory_manager()
    assert (manager.acquire, manager.release, manager.regions) == (None, None, ())


@pytest.mark.parametrize(
    ("place", "deed", "reason"),
    [
        ("describe", "not UTF-8", "UTF-8"),
        ("is_layer_supported", "maybe", "supported is 2"),
        ("is_layer_supported", "false layout", "the layout 9 does not exist"),
        ("create_workload", "none", "there is no workload"),
        ("create_workload", "error", "failed in create_workload for the Relu 'relu0': no € left"),
        ("create_workload", "crash", "SIGSEGV"),
    ],
)
def test_what_is_wrong_is_one_fault_that_names_the_layer(
    place: str, deed: str, reason: str, monkeypatch: pytest.MonkeyPatch, pool: WorkerPool
) -> None:
    monkeypatch.setenv("MOCK_Mock", f"{place} {deed}")
    layer = first_layer(relus())
    if place == "describe":
        with pytest.raises(Exception, match=reason):
            backend_of(pool, mock_objects.compiled())
        return
    mock = backend_of(pool, mock_objects.compiled())
    with pytest.raises(BackendFault, match=reason) as fault:
        if place == "create_workload":
            factory = mock.create_workload_factory(mock.create_memory_manager())
            factory.create_workloads(layer.info, layer.descriptor)
        else:
            mock.layer_support().is_layer_supported(
                layer, layer.inputs, layer.outputs, layer.attributes
            )
    assert f"{place} for the Relu 'relu0'" in str(fault.value)
    assert fault.value.backend == "Mock"


def test_a_no_by_status_is_a_no(monkeypatch: pytest.MonkeyPatch, pool: WorkerPool) -> None:
    monkeypatch.setenv("MOCK_Mock", "is_layer_supported unsupported")
    mock, layer = backend_of(pool, mock_objects.compiled()), first_layer(relus())
    support = mock.layer_support()
    found = support.is_layer_supported(layer, layer.inputs, layer.outputs, layer.attributes)
    assert found == no("it has nothing for this layer")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return mock_objects.three_layers(tmp_path)


@pytest.mark.parametrize(
    ("order", "used"),
    [
        ("", {"Mock", "CpuRef"}),
        ("is_layer_supported crash", {"CpuRef"}),
        ("create_workload hang", {"CpuRef"}),
        ("memory exit", {"CpuRef"}),
        ("before_load_network crash", {"CpuRef"}),
    ],
)
def test_a_network_is_built_with_it_or_in_spite_of_it(
    order: str, used: set[str], model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_Mock", order)
    folder, lines = tmp_path / "backends", list[str]()
    folder.mkdir()
    mock_objects.installed(folder, mock_objects.compiled())
    seconds = 5.0 if "hang" in order else 60.0  # each call, the load too
    options = CreationOptions(dynamic_backends_path=str(folder), call_timeout=seconds)
    with Session(options=options, report=lines.append) as session:
        network = compile_model(
            model, load_board("host"), name="net", session=session,
            options=Options(backends=("Mock", "CpuRef")),
        )  # fmt: skip
    assert {step.choice.workload.backend for step in network.plan.steps} == used
    assert len(lines) == (0 if not order else 1), lines
    if used == {"CpuRef"}:  # then the code is that of a session without it, which others run
        without = compile_model(model, load_board("host"), name="net")
        assert network.sources.source == without.sources.source
        return
    value = np.array([[-2, -1, 0, 1, 2, 3]], np.float32)
    raw = programs.run(
        [programs.host_program([network], tmp_path, flags=programs.SANITIZERS)],
        given=value.tobytes(),
    )
    (outputs,) = programs.split(raw, [network])
    programs.assert_equal(outputs, programs.expected(network, [value]))
