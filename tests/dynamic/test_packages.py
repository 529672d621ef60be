"""Backends in installed Python packages: real packages on sys.path, each in its worker."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from dynamic.package_cases import HERE, Installs
from graph_cases import Net

from mcu_deploy.backends.interface import (
    Backend,
    CreationOptions,
    InPlace,
    LayerCount,
    Region,
    RegionKind,
    Role,
    layer_of,
)
from mcu_deploy.dynamic.loading import LoadedBackend
from mcu_deploy.dynamic.packages import installed
from mcu_deploy.ir import DType, Graph, TensorType, view_of_all


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installs]:
    with Installs(tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedBackend]:
    """What is loaded of packages/mcu_relu, in one process for all tests."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        installs = Installs(tmp_path_factory.mktemp("relu"), monkeypatch)
        installs.add_to_path(HERE / "mcu_relu")
        (loaded,) = installs.load().backends
        assert installs.lines == []
    with installs:
        yield loaded


@pytest.fixture(scope="module")
def relu(found: LoadedBackend) -> Backend:
    return found.factory()


def chain(*names: str) -> Graph:
    """Relus of these names, one behind the other."""
    net = Net()
    edge = net.input(2, 3)
    for name in names:
        out = net.editor.add_edge(f"{name}_out", TensorType(DType.FLOAT32, (2, 3)))
        net.editor.add_node("Relu", [edge], [out], name, {})
        edge = out
    return net.finish(edge)


def test_an_installed_package_is_a_backend(found: LoadedBackend, relu: Backend) -> None:
    assert (found.id, found.origin, found.version) == ("PyRelu", "package mcu-relu 1.0", (1, 0))
    assert (relu.id, relu.rank, relu.operators) == ("PyRelu", 50, ("Relu",))
    assert "mcu_relu" not in sys.modules


def test_support_and_costs_travel(relu: Backend) -> None:
    net = Net()
    x = net.op("Relu", [net.input(2, 3)], (2, 3))
    graph = net.finish(net.op("Neg", [x], (2, 3)))
    first, second = (layer_of(graph, node) for node in graph.nodes)
    support = relu.layer_support()
    assert support.is_layer_supported(first, first.inputs, first.outputs, {}).supported
    answer = support.is_layer_supported(second, second.inputs, second.outputs, {})
    assert (answer.supported, answer.reason) == (False, "it computes Relu only")
    assert relu.estimate(first).instructions == 36


def test_workloads_and_memory_travel_whole(relu: Backend) -> None:
    graph = chain("relu0", "relu1")
    memory = relu.create_memory_manager()
    assert memory is not None
    factory = relu.create_workload_factory(memory)
    made = []
    for node in graph.nodes:
        layer = layer_of(graph, node)
        made += factory.create_workloads(layer.info, layer.descriptor)
    first, second = made
    assert first.backend == "PyRelu"
    assert first.function is not None
    assert first.function.stem == "relu"
    assert [str(p) for p in first.function.parameters] == [
        "const float *x", "float *y", "const float *floor", "uint32_t *state"
    ]  # fmt: skip
    assert "i < 6" in first.function.body
    assert [a.role for a in first.arguments] == [
        Role.INPUT, Role.OUTPUT, Role.CONSTANT, Role.REGION
    ]  # fmt: skip
    (constant,) = first.constants
    np.testing.assert_array_equal(constant.value, np.zeros(1, np.float32))
    assert constant.value.dtype == np.float32
    assert (first.headers, first.in_place) == (("stdint.h",), (InPlace(0, 0),))
    # regions of equal name are apart, as the package's own manager has it
    assert first.regions == (Region("PyRelu", 0, RegionKind.PRIVATE, "runs", 4),)
    assert second.regions == (Region("PyRelu", 1, RegionKind.PRIVATE, "runs", 4),)
    assert memory.acquire is not None
    assert memory.acquire.regions == second.regions
    assert memory.release is None


def test_each_network_has_a_memory_manager_of_its_own(relu: Backend) -> None:
    graph = chain("relu0")
    layer = layer_of(graph, next(graph.nodes))
    for _ in range(2):
        memory = relu.create_memory_manager()
        relu.create_workload_factory(memory).create_workloads(layer.info, layer.descriptor)
        assert memory is not None
        assert len(memory.regions) == 1


def test_optimisations_travel(relu: Backend) -> None:
    graph = chain("relu0", "refuse1", "relu2")
    views = relu.optimize_subgraph(view_of_all(graph))
    assert [[n.name for n in part.nodes] for part in views.failed] == [["refuse1"]]
    assert [[n.name for n in part.nodes] for part in views.untouched] == [["relu0", "relu2"]]


def test_context_options_and_profile_reach_one_and_the_same_process(relu: Backend) -> None:
    options = CreationOptions(
        backend_options={"PyRelu": {"speed": "9"}, "CpuRef": {"secret": "yes"}}
    )
    context = relu.create_backend_context(options)
    assert context is not None
    context.before_load_network(1)
    context.after_load_network(1)
    context.before_unload_network(1)
    context.after_unload_network(1)
    counters: dict[str, int] = {}

    class Report:
        def add_counter(self, name: str, value: int) -> None:
            counters[name] = value

    profiling = relu.create_profiling_context(options, Report())
    assert profiling is not None
    profiling.layers_measured("net", [LayerCount(0, "relu0", "Relu", 0, 41, "instructions")])
    assert counters == {
        "net: instructions": 41,
        "options {'speed': '9'}": 1,
        "before load 1": 1,
        "after load 1": 1,
        "before unload 1": 1,
        "after unload 1": 1,
    }


def test_what_a_package_prints_does_not_reach_the_user(
    relu: Backend, capfd: pytest.CaptureFixture[str]
) -> None:
    relu.optimize_subgraph(view_of_all(chain("relu0")))
    assert capfd.readouterr() == ("", "")


def test_numbers_may_be_those_of_numpy(installs: Installs) -> None:
    installs.add_to_path(HERE / "mcu_relu", modules_only=True)
    source = "from mcu_relu import *\nclass Numpy(Relu):\n    rank = np.int64(7)\n"
    source += "    def estimate(self, layer): return Costs(np.int32(5), np.uint8(6), np.int64(7))\n"
    installs.package("numeric", source, ("entry", "numeric:Numpy"))
    (loaded,) = installs.load().backends
    graph = chain("relu0")
    costs = loaded.factory().estimate(layer_of(graph, next(graph.nodes)))
    assert loaded.factory().rank == 7
    assert (costs.macs, costs.instructions, costs.cycles) == (5, 6, 7)


def test_entry_points_are_found_by_package_then_by_name(installs: Installs) -> None:
    source = "from mcu_relu import Relu\ndef made(n):\n r = Relu()\n r.id = n\n return r\n"
    source += "".join(f"def {n}(): return made('{n}')\n" for n in ("B1", "B2", "A"))
    installs.add_to_path(HERE / "mcu_relu", modules_only=True)
    installs.package("zeta", source, ("two", "zeta:B2"), ("one", "zeta:B1"))
    installs.package("alpha", source, ("entry", "alpha:A"))
    loaded = installs.load()
    assert [(b.id, b.origin) for b in loaded.backends] == [
        ("A", "package alpha 2.5"),
        ("B1", "package zeta 2.5 (one)"),
        ("B2", "package zeta 2.5 (two)"),
    ]


def test_shared_objects_and_packages_share_the_ids(installs: Installs) -> None:
    installs.add_to_path(HERE / "mcu_relu")
    installs.package("zz", "from mcu_relu import Relu\n", ("entry", "zz:Relu"))
    loaded = installs.load()
    assert [b.origin for b in loaded.backends] == ["package mcu-relu 1.0"]
    assert installs.lines == [
        "package zz 2.5 was skipped: its id PyRelu is taken by the backend from package mcu-relu "
        "1.0."
    ]
    assert installs.load(taken=("PyRelu",)).backends == ()


def test_no_dynamic_backends_turns_packages_off(installs: Installs) -> None:
    installs.add_to_path(HERE / "mcu_relu")
    installs.options = CreationOptions(dynamic_backends=False)
    assert installs.load().backends == ()


def test_a_package_that_is_there_twice_is_taken_from_where_it_is_imported(
    installs: Installs,
) -> None:
    installs.add_to_path(HERE / "mcu_relu")
    folder = installs.package("shadow", "", ("entry", "mcu_relu:Relu"), name="MCU.Relu")
    installs.add_to_path(folder)
    assert [package.origin for package in installed()] == ["package MCU.Relu 2.5"]


def test_the_worker_sees_the_path_of_the_session_and_nothing_else(
    installs: Installs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installs.add_to_path(HERE / "mcu_relu", modules_only=True)
    source = "import json, sys\nfrom mcu_relu import Relu\n"
    source += f"open({str(tmp_path / 'path.json')!r}, 'w').write(json.dumps(sys.path))\n"
    installs.package("paths", source, ("entry", "paths:Relu"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    installs.load()
    assert json.loads((tmp_path / "path.json").read_text()) == [str(p) for p in sys.path]


def test_packages_do_not_hide_behind_a_broken_neighbour(installs: Installs) -> None:
    installs.add_to_path(HERE / "mcu_relu")
    installs.distribution("broken", "[mcu_deploy.backends]\nno equals sign\n")
    installs.distribution("unrelated", "[console_scripts]\nno equals sign\n")
    loaded = installs.load()
    assert [b.id for b in loaded.backends] == ["PyRelu"]
    (line,) = installs.lines
    assert line.startswith("package broken 2.5 was skipped: its entry_points.txt cannot be read")
    assert loaded.skipped[0].origin == "package broken 2.5"
