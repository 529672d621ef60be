"""What version 1.1 of the interface brought: bodies, scratch regions, save and load."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import graph_cases
import network_programs as programs
import numpy as np
import pytest
from dynamic import mock_objects
from dynamic.package_cases import HERE, Installs
from sampling import first

from mcu_deploy import pmx
from mcu_deploy.backends.interface import API_VERSION, Backend, CreationOptions, RegionKind
from mcu_deploy.backends.layer import layer_of
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.dynamic.adapter import DynamicBackend
from mcu_deploy.dynamic.memory import MAX_BODIES
from mcu_deploy.dynamic.process import WorkerPool
from mcu_deploy.errors import BackendFault
from mcu_deploy.ir import Graph, GraphEditor, view_of_all
from mcu_deploy.options import Options
from mcu_deploy.session import Session

pytestmark = pytest.mark.needs_host_gcc

FUSED = """\
net opset 17 size 1 for  0 0 0 in 0 out 3
node 3 test::Twice relu1 in 0 out 2
node 2 ::Relu relu2 in 2 out 3
edge 0 in0 dtype 9 shape 1 6 axis -1 from - to 3
edge 2 relu1_out dtype 9 shape 1 6 axis -1 from 3 to 2
edge 3 relu2_out dtype 9 shape 1 6 axis -1 from 2 to
node 3 is net opset 17 size 1 for  0 0 0 in 0 out 2
node 0 ::Relu relu0 in 0 out 1
node 1 ::Relu relu1 in 1 out 2
edge 0 in0 dtype 9 shape 1 6 axis -1 from - to 0
edge 1 relu0_out dtype 9 shape 1 6 axis -1 from 0 to 1
edge 2 relu1_out dtype 9 shape 1 6 axis -1 from 1 to
"""


def relus(count: int = 3) -> Graph:
    net = graph_cases.Net()
    edge = net.input(1, 6)
    for _ in range(count):
        edge = net.op("Relu", [edge], (1, 6))
    return net.finish(edge)


def fused(graph: Graph, members: int) -> Graph:
    """With one node in place of the first ones."""
    editor = GraphEditor(graph)
    nodes = list(graph.nodes)[:members]
    editor.fuse(
        [n.id for n in nodes], "Twice", nodes[0].reads, nodes[-1].writes, {}, nodes[-1].name,
        domain="test",
    )  # fmt: skip
    return editor.finish()


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(60.0) as pool:
        yield pool


def mock(pool: WorkerPool, path: Path | None = None) -> DynamicBackend:
    worker = pool.open(path or mock_objects.compiled())
    worker.create()
    return DynamicBackend(worker)


# ---- Bodies ----


def test_a_shared_object_sees_the_bodies_of_fused_nodes(pool: WorkerPool) -> None:
    assert mock(pool).save_data(view_of_all(fused(relus(), 2))) == FUSED.encode()


def test_bodies_that_lie_too_deep_are_left_out(pool: WorkerPool) -> None:
    graph = relus(MAX_BODIES + 3)
    for _ in range(MAX_BODIES + 2):
        graph = fused(graph, 2)
    seen = mock(pool).save_data(view_of_all(graph))
    assert seen is not None
    assert seen.count(b"::Twice") == MAX_BODIES + 1
    assert seen.count(b" is ") == MAX_BODIES


def test_a_replacement_brings_its_body(pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_Mock", "optimize_subgraph body")
    (substitution,) = mock(pool).optimize_subgraph(view_of_all(relus())).substitutions
    ((node, body),) = substitution.replacement.data.bodies.items()
    assert node == 0
    assert [(n.op, n.inputs, n.outputs) for n in body.nodes] == [("Relu", (0,), (1,))]
    assert body.opset == 17


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("body in itself", f"more than {MAX_BODIES} bodies lie in one another"),
        ("many bodies", "more than 16384 nodes in bodies"),
    ],
)
def test_bodies_have_bounds(
    deed: str, reason: str, pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_Mock", f"optimize_subgraph {deed}")
    with pytest.raises(BackendFault, match=reason):
        mock(pool).optimize_subgraph(view_of_all(relus()))


# ---- A network ----


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return mock_objects.three_layers(tmp_path)


class Use:
    """Sessions with one shared object, and what they report."""

    def __init__(self, folder: Path, path: Path) -> None:
        self.lines: list[str] = []
        folder.mkdir()
        mock_objects.installed(folder, path)
        self._options = CreationOptions(dynamic_backends_path=str(folder), call_timeout=60.0)

    def session(self) -> Session:
        return Session(options=self._options, report=self.lines.append)

    def compile(self, model: Path, session: Session) -> Network:
        options = None if model.suffix == ".pmx" else Options(backends=("Mock", "CpuRef"))
        return compile_model(model, load_board("host"), session=session, options=options)

    def saved(self, model: Path) -> tuple[Path, Network]:
        """The .pmx file of a model."""
        path = model.with_suffix(".pmx")
        with self.session() as session:
            network = self.compile(model, session)
            path.write_bytes(pmx.pack(network, session))
        return path, network


@pytest.fixture
def use(tmp_path: Path) -> Use:
    return Use(tmp_path / "backends", mock_objects.compiled())


def runs_right(network: Network, folder: Path) -> None:
    """Built for the host with sanitizers, it gives what the oracle gives."""
    value = np.array([[-2, -1, 0, 1, 2, 3]], np.float32)
    program = programs.host_program([network], folder, flags=programs.SANITIZERS)
    (outputs,) = programs.split(programs.run([program], given=value.tobytes()), [network])
    programs.assert_equal(outputs, programs.expected(network, [value]))


def test_scratch_regions(
    use: Use, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_Mock", "create_workload scratch")
    with use.session() as session:
        network = use.compile(model, session)
    kinds = [
        [(region.name, region.kind) for region in step.choice.workload.regions]
        for step in network.plan.steps
        if step.choice.workload.backend == "Mock"
    ]
    assert kinds == [[("runs", RegionKind.PRIVATE), ("room", RegionKind.SCRATCH)]] * 2
    runs_right(network, tmp_path)


def test_no_more_regions_are_scratch_than_there_are(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_Mock", "create_workload scratch too much")
    backend, layer = mock(pool), layer_of(relus(), next(relus().nodes))
    with pytest.raises(BackendFault, match="3 of 2 regions are scratch"):
        backend.create_workload_factory(None).create_workloads(layer.info, layer.descriptor)


# ---- Save and load ----


def test_what_a_shared_object_saves_it_gets_back(use: Use, model: Path) -> None:
    path, network = use.saved(model)
    (kept,) = pmx.load(path).data
    assert (kept.backend, kept.version) == ("Mock", API_VERSION)
    assert b"::Relu first" in kept.data
    assert b"Softmax" not in kept.data, "it sees its own nodes"
    with use.session() as session:  # it refuses what it has not saved
        loaded = use.compile(path, session)
    assert loaded.sources.files == network.sources.files
    assert use.lines == []


@pytest.mark.parametrize(
    ("order", "data", "line"),
    [
        ("save_data nothing", False, None),
        ("save_data crash", False, "crashed in save_data (SIGSEGV). Leave it out"),
        ("save_data endless", False, "what is to be saved has 18446744073709551615 bytes"),
        ("load_data crash", True, "crashed in load_data (SIGSEGV). Leave it out"),
    ],
)
def test_a_file_is_whole_whatever_a_backend_saves(
    order: str, data: bool, line: str | None, use: Use, model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("MOCK_Mock", order)
    path, network = use.saved(model)
    assert bool(pmx.load(path).data) == data
    with use.session() as session:
        assert use.compile(path, session).sources.files == network.sources.files
    assert len(use.lines) == (line is not None)
    assert (line or "") in "".join(use.lines)


def test_data_that_it_does_not_understand(
    use: Use, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = use.saved(model)
    monkeypatch.setenv("MOCK_Mock", "load_data refuse")
    says = "Mock cannot use what it saved: version 2 of its data is not known. Make the file anew"
    with use.session() as session, pytest.raises(BackendFault, match=says):
        use.compile(path, session)


SAVING = """
from mcu_relu import *
class Saving(Relu):
    id = "Saving"
    version = (1, 1)
    rank = 1
    def save_data(self, view):
        return {returns}
    def load_data(self, network, view, data):
        if data != repr([node.name for node in view.nodes]).encode():
            raise ValueError("it is not its own")
        open({log!r}, "a").write(f"{{network}}")
"""


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installs]:
    with Installs(tmp_path, monkeypatch) as made:
        made.add_to_path(HERE / "mcu_relu", modules_only=True)
        yield made


def saved_by_package(installs: Installs, model: Path, returns: str) -> tuple[Path, Path]:
    """The file, and what the package writes down when it gets its data back."""
    log, path = model.with_name("log"), model.with_suffix(".pmx")
    source = SAVING.format(returns=returns, log=str(log))
    installs.package("saving", source, ("entry", "saving:Saving"))
    with Session(options=installs.options, report=installs.lines.append) as session:
        path.write_bytes(
            pmx.pack(compile_model(model, load_board("host"), session=session), session)
        )
        compile_model(path, load_board("host"), session=session)
    return path, log


def test_what_a_package_saves_it_gets_back(installs: Installs, model: Path) -> None:
    path, log = saved_by_package(installs, model, "repr([n.name for n in view.nodes]).encode()")
    assert [kept.backend for kept in pmx.load(path).data] == ["Saving"]
    assert log.read_text() == "2", "the number of the network"
    assert installs.lines == []


def test_data_that_a_package_does_not_understand(installs: Installs, model: Path) -> None:
    with pytest.raises(BackendFault, match="cannot use what it saved: it is not its own"):
        saved_by_package(installs, model, "b'strange'")


@pytest.mark.parametrize(
    ("returns", "says"),
    first([("'text'", "it gives a str, and no bytes"), ("1 / 0", "it raised ZeroDivisionError")]),
)
def test_a_package_that_cannot_save(
    returns: str, says: str, installs: Installs, model: Path
) -> None:
    path, log = saved_by_package(installs, model, returns)
    assert pmx.load(path).data == ()
    assert not log.exists()
    (line,) = installs.lines
    assert says in line
    assert line.endswith("It saves nothing; its layers are in the file all the same.")


# ---- What was built for 1.0 ----


def test_an_object_that_was_built_for_1_0_is_used(model: Path, tmp_path: Path) -> None:
    """Compiled with the header as it was: all that it has works."""
    older = Use(tmp_path / "older", mock_objects.built_for("1.0"))
    path, network = older.saved(model)
    assert older.lines == []
    made = [step.choice for step in network.plan.steps]
    assert {choice.workload.backend for choice in made} == {"Mock", "CpuRef"}
    regions = [r for choice in made for r in choice.workload.regions]
    assert {region.kind for region in regions} == {RegionKind.PRIVATE}, "`reserved` is not read"
    runs_right(network, tmp_path)
    assert pmx.load(path).data == ()
    with older.session() as session:
        assert older.compile(path, session).sources.files == network.sources.files


def test_an_object_that_was_built_for_1_1_is_used(model: Path, tmp_path: Path) -> None:
    older = Use(tmp_path / "older", mock_objects.built_for("1.1"))
    path, network = older.saved(model)
    assert older.lines == []
    assert {step.choice.workload.backend for step in network.plan.steps} == {"Mock", "CpuRef"}
    runs_right(network, tmp_path)
    (kept,) = pmx.load(path).data
    assert kept.version == (1, 1)
    assert b"Relu" in kept.data, "what it saved, which is a graph as it sees it"
    with older.session() as session:
        assert session.registry.create("Mock").version == (1, 1)
        assert older.compile(path, session).sources.files == network.sources.files


def test_of_an_object_that_was_built_for_1_1_bodies_are_read(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_Mock", "optimize_subgraph body")
    older = mock(pool, mock_objects.built_for("1.1"))
    assert isinstance(older, DynamicBackend) and not older.has("propose")
    (substitution,) = older.optimize_subgraph(view_of_all(relus())).substitutions
    assert substitution.replacement.data.bodies, "its struct_size is of a smaller graph"


def test_of_an_object_that_was_built_for_1_0_nothing_newer_is_read(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_Mock", "optimize_subgraph fuse")
    older: Backend = mock(pool, mock_objects.built_for("1.0"))
    assert older.version == (1, 0)
    assert not isinstance(older, DynamicBackend) or not older.has("save_data")
    assert older.save_data(view_of_all(relus())) is None
    (substitution,) = older.optimize_subgraph(view_of_all(relus())).substitutions
    assert not substitution.replacement.data.bodies, "its struct_size is of a larger graph"


def test_to_an_object_that_was_built_for_1_0_a_graph_is_what_it_was(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_Mock", "is_layer_supported dump")
    graph = fused(relus(), 2)
    layer = layer_of(graph, next(graph.nodes))
    older = mock(pool, mock_objects.built_for("1.0"))
    support = older.layer_support()
    answer = support.is_layer_supported(layer, layer.inputs, layer.outputs, layer.attributes)
    assert "test::Twice" in answer.reason
    assert "relu0" not in answer.reason


def test_a_package_that_says_1_0_is_used(installs: Installs, model: Path) -> None:
    """mcu_relu says so, and knows nothing newer."""
    installs.add_to_path(HERE / "mcu_relu")
    with Session(options=installs.options, report=installs.lines.append) as session:
        assert session.registry.create("PyRelu").version == (1, 0)
        network = compile_model(model, load_board("host"), session=session)
        assert pmx.pack(network, session)
    assert {step.choice.workload.backend for step in network.plan.steps} == {"PyRelu", "CpuRef"}
    assert installs.lines == []
