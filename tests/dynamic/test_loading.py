"""The twelve unit tests of Arm NN's plan for dynamic backends, by number. Its runtime is a Session
here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from dynamic import mock_objects
from graph_cases import Net
from sampling import first

from mcu_deploy.backends.interface import (
    API_VERSION,
    BackendProfiling,
    CreationOptions,
    LayerCount,
    Role,
    layer_of,
)
from mcu_deploy.backends.registry import Registry
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.dynamic import loading, naming, search, version
from mcu_deploy.dynamic.adapter import DynamicBackend
from mcu_deploy.dynamic.loading import Loaded
from mcu_deploy.dynamic.process import LoadError, WorkerPool
from mcu_deploy.errors import UsageError
from mcu_deploy.ir import view_of_all
from mcu_deploy.session import Session

pytestmark = pytest.mark.needs_host_gcc


class Loads:
    """Loads from a folder; what was loaded is ended with the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.options = CreationOptions(dynamic_backends_path=str(folder), call_timeout=60.0)
        self.lines: list[str] = []
        self.results: list[Loaded] = []

    def add(self, backend_id: str, *switches: str, name: str = "Test_Mock_backend.so") -> Path:
        """Puts a mock with this id and these switches into the folder."""
        mock = mock_objects.named(backend_id, *switches)
        return mock_objects.installed(self.folder, mock, name)

    def load(self, taken: Sequence[str] = ("CpuRef",)) -> Loaded:
        self.lines.clear()
        self.results.append(loading.load(self.options, taken, self.lines.append))
        return self.results[-1]

    def refuse(self, reason: str) -> None:
        """Loads, and expects one file that is skipped with this reason, in one line."""
        loaded = self.load()
        assert loaded.backends == ()
        (skipped,) = loaded.skipped
        assert reason in skipped.reason
        assert self.lines == [f"{skipped.origin} was skipped: {skipped.reason}."]
        assert self.lines[0].isprintable()


@pytest.fixture(autouse=True)
def no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed on this machine is no part of these tests."""
    monkeypatch.setattr(loading, "installed", lambda: ())


@pytest.fixture
def loads(tmp_path: Path) -> Iterator[Loads]:
    made = Loads(tmp_path)
    yield made
    for result in made.results:
        result.close()


def ids(loaded: Loaded) -> list[str]:
    return [backend.id for backend in loaded.backends]


def holders(path: Path) -> set[int]:
    """The processes that have a file mapped into their memory."""
    found = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            if str(path) in maps.read_text():
                found.add(int(maps.parent.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def test_01_a_valid_backend_is_loaded(loads: Loads) -> None:
    path = loads.add("Valid")
    loaded = loads.load()
    (backend,) = loaded.backends
    assert (backend.id, backend.origin, backend.version) == ("Valid", str(path), API_VERSION)
    assert (backend.factory().id, backend.factory().operators) == ("Valid", ("Relu",))
    assert (loaded.skipped, loaded.paths, loads.lines) == ((), (loads.folder,), [])


def test_02_an_invalid_shared_object_is_not_loaded_text(loads: Loads) -> None:
    (loads.folder / "Test_Text_backend.so").write_text("this is no shared object\n" * 100)
    loads.refuse("invalid ELF header")


def test_02_an_invalid_shared_object_is_not_loaded_dangling_link(loads: Loads) -> None:
    (loads.folder / "Test_Link_backend.so").symlink_to("nothing")
    loads.refuse("it is a link to nothing: No such file or directory")


def test_02_an_invalid_shared_object_is_not_loaded_misnamed(loads: Loads) -> None:
    loads.add("Misnamed", name="backend.so")
    loaded = loads.load()
    assert (loaded.backends, loads.lines) == ((), [])
    (skipped,) = loaded.skipped
    assert skipped.reason == 'its name lacks "_backend" before ".so"'


@pytest.mark.parametrize(
    ("switch", "reason"),
    first(
        [
            ("WITHOUT_ID", "it does not export GetBackendId"),
            ("WITHOUT_VERSION", "it does not export GetVersion"),
            ("WITHOUT_FACTORY", "it does not export BackendFactory"),
            ("NEEDS_UNKNOWN", "undefined symbol: nobody_has_this_variable"),
            ("NO_TABLE", "BackendFactory returned NULL"),
            ("TABLE_SIZE=16", "its table has 16 bytes"),
            ("TABLE_MAJOR=3", "its table says version 3.2, but GetVersion 1.2"),
            ("LACKS=create_workload", "the method create_workload of its table is NULL"),
        ],
        2,
    ),
)
def test_03_an_invalid_backend_is_not_loaded(loads: Loads, switch: str, reason: str) -> None:
    loads.add("Invalid", switch)
    loads.refuse(reason)


@pytest.mark.parametrize("backend_id", ["", "0", "has space", "x" * 65])
def test_03_an_invalid_backend_is_not_loaded_id(loads: Loads, backend_id: str) -> None:
    loads.add(backend_id)
    loads.refuse("id")


@pytest.mark.parametrize(
    ("switches", "says"),
    [(("MINOR=3",), "1.3"), (("MAJOR=2", "MINOR=0"), "2.0"), (("MAJOR=0", "MINOR=9"), "0.9")],
)
def test_04_an_unsupported_version_is_not_loaded(
    loads: Loads, switches: tuple[str, ...], says: str
) -> None:
    # its factory would end the process, if it were called
    loads.add("Unsupported", *switches, "NO_TABLE")
    loads.refuse(f"it is written for version {says} of the backend interface, mcu-deploy has 1.2")


def test_05_several_different_backends_are_loaded_by_name(loads: Loads) -> None:
    loads.add("Third", name="Test_C_backend.so")
    loads.add("First", name="Test_A_backend.so")
    loads.add("Second", name="Test_B_backend.so")
    assert ids(loads.load()) == ["First", "Second", "Third"]


def test_06_an_id_that_is_loaded_already_is_not_loaded_again(loads: Loads) -> None:
    first = loads.add("Same", name="Test_A_backend.so")
    loads.add("Same", "BARE", name="Test_B_backend.so")
    loaded = loads.load()
    assert [backend.origin for backend in loaded.backends] == [str(first)]
    (skipped,) = loaded.skipped
    assert skipped.id == "Same"
    assert skipped.reason == f"its id Same is taken by the backend from {first}"
    assert len(loads.lines) == 1


def test_06_an_id_that_is_built_in_is_not_loaded(loads: Loads) -> None:
    loads.add("CpuRef")
    loads.refuse("its id CpuRef is taken by a backend that is registered already")


def test_07_one_shared_object_is_loaded_once_in_a_runtime(
    loads: Loads, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = loads.add("Once", name="Test_Once_backend.so.1.2")
    (loads.folder / "Test_Once_backend.so").symlink_to(path.name)
    second = loads.folder / "second"
    second.mkdir()
    (second / "Test_Again_backend.so").symlink_to(path)
    monkeypatch.setenv(search.ENVIRONMENT, f"{loads.folder}:{second}")
    loads.options = CreationOptions()
    loaded = loads.load()
    assert (ids(loaded), loaded.skipped, loads.lines) == (["Once"], (), [])
    assert loaded.paths == (loads.folder, second)
    assert len(holders(path)) == 1


def test_08_all_loaded_backends_are_unloaded_when_the_runtime_ends(loads: Loads) -> None:
    paths = [loads.add(f"End{n}", name=f"Test_{n}_backend.so") for n in range(3)]
    with Session(Registry.builtin(), loads.options) as session:
        assert {"End0", "End1", "End2"} < set(session.registry.ids)
        assert [len(holders(path)) for path in paths] == [1, 1, 1]
    assert [len(holders(path)) for path in paths] == [0, 0, 0]


class Counters(dict[str, int]):
    def add_counter(self, name: str, value: int) -> None:
        self[name] = value


def test_09_all_methods_of_a_loaded_backend_can_be_called(loads: Loads) -> None:
    loads.add("Mock")
    (loaded,) = loads.load().backends
    backend = loaded.factory()
    assert isinstance(backend, DynamicBackend)
    assert (backend.rank, backend.cores) == (200, ("host", "cortex-m4"))
    built = Net()
    graph = built.finish(built.op("Relu", [built.input(2, 3)], (2, 3)))
    layer = layer_of(graph, next(graph.nodes))
    options = CreationOptions(backend_options={"Mock": {"speed": "9"}})
    context = backend.create_backend_context(options)
    assert context is not None
    context.before_load_network(7)
    support = backend.layer_support()
    assert support.is_layer_supported(layer, layer.inputs, layer.outputs, {}).supported
    assert backend.estimate(layer).instructions == 1234
    view = view_of_all(graph)
    assert backend.optimize_subgraph(view).untouched == (view,)
    memory = backend.create_memory_manager()
    factory = backend.create_workload_factory(memory)
    (workload,) = factory.create_workloads(layer.info, layer.descriptor)
    assert [a.role for a in workload.arguments] == [
        Role.INPUT, Role.OUTPUT, Role.CONSTANT, Role.REGION
    ]  # fmt: skip
    assert memory.acquire is not None
    assert memory.acquire.regions == workload.regions
    assert memory.release is None
    context.after_load_network(7)
    context.before_unload_network(7)
    context.after_unload_network(7)
    counters: BackendProfiling = Counters()
    profiling = backend.create_profiling_context(CreationOptions(), counters)
    assert profiling is not None
    profiling.layers_measured("net", [LayerCount(0, "relu0", "Relu", 0, 41, "instructions")])
    assert counters == {
        "outstanding": 1, "context calls": 702, "options": 1, "length of the name": 3, "total": 41
    }  # fmt: skip


def test_10_a_runtime_without_backends_is_an_error(kws_dir: Path, tmp_path: Path) -> None:
    options = CreationOptions(dynamic_backends_path=str(tmp_path))
    with (
        Session(Registry({}), options) as session,
        pytest.raises(UsageError, match="There is no backend for the core 'host'"),
    ):
        compile_model(kws_dir / "model.onnx", load_board("host"), session=session)


def test_11_several_runtimes_have_the_same_backend_each_its_own_instance(loads: Loads) -> None:
    path = loads.add("Shared")
    with Session(options=loads.options) as one, Session(options=loads.options) as other:
        for session in (one, other):
            backend = session.registry.create("Shared")
            context = backend.create_backend_context(session.options)
            assert context is not None
            context.before_load_network(1)
        assert len(holders(path)) == 2
        one.close()
        assert len(holders(path)) == 1
        counters = Counters()
        backend = other.registry.create("Shared")
        profiling = backend.create_profiling_context(other.options, counters)
        assert profiling is not None
        profiling.layers_measured("net", [])
        assert counters["context calls"] == 101  # its own only


def test_12_the_functions_that_loading_is_made_of(loads: Loads) -> None:
    """Those of Arm NN's DynamicBackendUtils; each has more tests of its own."""
    path = loads.add("Parts")
    # GetBackendPaths, IsPathValid
    assert search.search_paths(loads.options) == search.SearchPaths((loads.folder,))
    # IsBackendSupported
    assert version.is_compatible(API_VERSION, API_VERSION)
    # GetSharedObjects
    assert list(naming.scan(loads.folder)) == [naming.BackendFile(path)]
    with WorkerPool(5.0) as pool:
        # OpenHandle, GetDlError
        with pytest.raises(LoadError, match="cannot open shared object file"):
            pool.open(loads.folder / "absent.so")
        # GetEntryPoint
        with pytest.raises(LoadError, match="does not export GetBackendId"):
            pool.open(mock_objects.named("Empty", "WITHOUT_ANYTHING"))
        # LoadDynamicBackend
        worker = pool.open(path)
        assert (worker.id, worker.version) == ("Parts", API_VERSION)
        worker.create()
        assert worker.alive
        # CloseHandle
        worker.close()
        assert not worker.alive
        assert holders(path) == set()
