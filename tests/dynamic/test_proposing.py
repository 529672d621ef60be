"""Dynamic backends that propose: an honest chain at a low price wins, as a package and in C."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from arm_dsp_conv_pool_cases import Pooled, model
from choose.test_offer_check import HOSTILE, Diamond, Proposer, chain
from control_cases import BOOL, FLOAT, graph_of, load, node
from dynamic import mock_objects
from dynamic.package_cases import HERE, Installs
from dynamic.worker_cases import created
from graph_cases import Net
from quantized_layers import extremes
from sampling import chosen

from mcu_deploy import choose
from mcu_deploy.api.building import build
from mcu_deploy.api.validating import validate
from mcu_deploy.backends.CpuRef import CpuRef
from mcu_deploy.backends.interface import (
    HOST,
    Argument,
    BackendBase,
    CFunction,
    Costs,
    CreationOptions,
    Layer,
    LayoutRule,
    Parameter,
    Price,
    Proposal,
    Proposals,
    RegionManager,
    Role,
    SubgraphView,
    Target,
    Workload,
)
from mcu_deploy.boards import load_board
from mcu_deploy.choose import Choosing
from mcu_deploy.compiler import compile_model
from mcu_deploy.dynamic.adapter import ProposingBackend
from mcu_deploy.dynamic.forms import Json
from mcu_deploy.dynamic.package_worker import PackageBackend
from mcu_deploy.dynamic.process import Worker
from mcu_deploy.dynamic.wire import Declined
from mcu_deploy.errors import BackendFault
from mcu_deploy.ir import Graph, GraphEditor, view_of_all
from mcu_deploy.options import Options
from mcu_deploy.report import explain
from mcu_deploy.selection import choices_within, select
from mcu_deploy.session import Session

SHORT, SECONDS = 0.3, 60.0

pytestmark = pytest.mark.needs_host_gcc

CASES = (Pooled((8, 12, 10), 8, zeros=(5, -7, -7)), Pooled((3, 8, 16), 6))
BOARDS = (
    "host",
    pytest.param(
        "mps2-an386",
        marks=[pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.matrix],
    ),
)


@pytest.fixture(params=["PyChain", "CChain"])
def session(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Session]]:
    """A session with one of the two, and its id."""
    lines: list[str] = []
    with Installs(tmp_path, monkeypatch) as installs:
        options = installs.options
        if request.param == "PyChain":
            installs.add_to_path(HERE / "mcu_chain")
        else:
            mock_objects.installed(tmp_path, mock_objects.chain(), "Test_Chain_backend.so")
            options = CreationOptions(dynamic_backends_path=str(tmp_path), call_timeout=60.0)
        with Session(options=options, report=lines.append) as made:
            yield request.param, made
    assert lines == []


@pytest.mark.parametrize("board", BOARDS)
def test_an_honest_chain_wins_and_gives_the_bits_of_the_oracle(
    board: str, session: tuple[str, Session], tmp_path: Path
) -> None:
    backend, opened = session
    path = model(CASES, tmp_path / "pairs.onnx")
    built = build(path, board, tmp_path / "build", session=opened)
    chains = [layer for layer in built.report.layers if layer.backend == backend]
    assert [layer.op for layer in chains] == ["ConvPool"] * len(CASES)
    assert not {"Conv", "MaxPool"} & {layer.op for layer in built.report.layers}
    assert validate(built, extremes(path), session=opened).passed
    rows = explain(built.networks[0].network)
    assert all("title='conv + pool" in repr(row) for row in rows if row.backend == backend)
    refused = {r.reason for row in rows for r in row.refusals if r.backend == backend}
    assert refused == {"it computes convolutions with a pool"}


@pytest.mark.matrix
def test_where_it_is_not_asked_others_compute_the_same(
    session: tuple[str, Session], tmp_path: Path
) -> None:
    _, opened = session
    path = model(CASES[:1], tmp_path / "pair.onnx")
    options = Options(backends=("CpuRef",))
    built = build(path, "host", tmp_path / "build", session=opened, options=options)
    assert {layer.backend for layer in built.report.layers} == {"CpuRef"}


# ---- Proposals that make no sense ----


def pair() -> Graph:
    """A convolution of 3x3 with a pool of 2x2, and something behind it."""
    net = Net()
    weights = net.constant(np.ones((4, 2, 3, 3), np.float32))
    x = net.op("Conv", [net.input(1, 2, 4, 4), weights], (1, 4, 4, 4), pads=(1, 1, 1, 1))
    x = net.op("MaxPool", [x], (1, 4, 2, 2), kernel_shape=(2, 2), strides=(2, 2))
    return net.finish(net.op("Relu", [x], (1, 4, 2, 2)))


HOSTILE_C = {
    "negative cycles": "nonsense to propose: the price's costs.cycles is -5",
    "endless cycles": "nonsense to propose: the price's costs.cycles is 9223372036854775807",
    "no such node": "nonsense to propose: node 4711 is not in the view",
    "no nodes": "nonsense to propose: a part without nodes",
    "nodes at NULL": "nonsense to propose: 2 nodes of a subgraph at NULL",
    "nothing in place": "nonsense to propose: 2 nodes, and nothing that replaces them",
    "no such input": "nonsense to propose: an in-place fact names input 7 of 1",
    "no such layout": "nonsense to propose: the layout 9 does not exist",
    "no layouts": "nonsense to propose: 0 layouts for 1 nodes",
    "no such goal": "nonsense to propose: only_for is 'fame', and none of balanced, speed, size, "
    "ram",
    "title": "nonsense to propose: a title is not UTF-8",
    "nameless code": "nonsense to propose: the key of code is NULL",
    "endless code": "nonsense to propose: .*18446744073709551615 is no integer of 64 bits",
    "much scratch": "nonsense to propose: the price's scratch_bytes is 4294967295",
    "cycle": "nonsense to propose: .*",
    "other type": "nonsense to propose: output 0 of the part, .* is .*, but that of its "
    "replacement is",
    "scale": "nonsense to propose: a scale of edge 1 is inf",
    "many": "nonsense to propose: 4294967295 proposals, 65536 at most",
    "at NULL": "nonsense to propose: 1 proposals at NULL",
    "strange refusal": "nonsense to propose: it refuses node 4711, which it was not asked about",
    "error": "failed in propose: it gives no reason",
    "crash": r"crashed in propose \(SIGSEGV\)",
    "hang": "did not return from propose within 0.3 seconds",
}


@pytest.mark.parametrize("deed", HOSTILE_C)
def test_what_c_proposes_and_makes_no_sense_is_one_sentence(
    deed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_CChain", f"propose {deed}")
    with created(mock_objects.chain(), SHORT if deed == "hang" else SECONDS) as worker:
        backends = (ProposingBackend(worker), CpuRef())
        with pytest.raises(BackendFault, match=f"^The backend CChain .*{HOSTILE_C[deed]}") as fault:
            choose.assign(pair(), backends, HOST, Choosing(strategy="cost"))
    assert fault.value.backend == "CChain"
    assert "\n" not in str(fault.value)


def test_of_what_was_proposed_one_workload_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_CChain", "create_workload two ways")
    path = model(CASES[:1], tmp_path / "pair.onnx")
    mock_objects.installed(tmp_path, mock_objects.chain(), "Test_Chain_backend.so")
    options = CreationOptions(dynamic_backends_path=str(tmp_path), call_timeout=SECONDS)
    lines: list[str] = []
    with Session(options=options, report=lines.append) as session:
        network = compile_model(path, load_board("host"), session=session)
    assert {step.choice.workload.backend for step in network.plan.steps} == {"CpuRef"}
    (line,) = lines
    says = "answered nonsense to create_workload for the ConvPool"
    assert line.startswith(f"The backend CChain {says}")
    assert "there are 2 workloads for what it proposed" in line


class Ways(BackendBase):
    """Proposes two nodes in place of Neg and Abs, and Relu as it is."""

    id = "Ways"
    rank = 1

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        neg, after, relu = view.topology.nodes
        part, price = view.part([neg, after]), Price(Costs(cycles=np.int64(1)))
        editor = GraphEditor.empty("two")
        x, between, y = (editor.add_edge(n, part.type(part.inputs[0])) for n in ("x", "b", "y"))
        editor.inputs, editor.outputs = [x], [y]
        editor.add_node("Abs", [x], [between], "first", {})
        editor.add_node("Relu", [between], [y], "second", {})
        layouts = [LayoutRule.NATURAL] * 2  # a list, and numpy's number above, are as good
        both = Proposal(part, price, self.make, editor.finish(opset=view.opset), layouts)
        return Proposals((both, Proposal(view.part([relu]), price, self.make)))

    def make(self, layers: Sequence[Layer], manager: RegionManager) -> Sequence[Workload]:
        region = manager.private("state", 4)
        parameters = Parameter("const float *", "x"), Parameter("float *", "y")
        arguments = (Argument(Role.INPUT), Argument(Role.OUTPUT), Argument(Role.REGION))
        return [
            Workload(
                self.id,
                CFunction(layer.op.lower(), (*parameters, Parameter("void *", "s")), "{}"),
                arguments,
                regions=(region,),
            )
            for layer in layers
        ]

    def create_memory_manager(self) -> RegionManager:
        return RegionManager(self.id)


def test_several_nodes_and_one_as_it_is_are_made_with_the_regions_of_one_network() -> None:
    backends = (ProposingBackend(cast(Worker, Local(Ways()))), CpuRef())
    graph, assignment = choose.assign(chain(), backends, HOST, Choosing(strategy="cost"))
    assert [node.op for node in graph.nodes] == ["Abs", "Relu", "Relu"]
    made = [
        choice.workload for choice in choices_within(select(graph, assignment, backends).choices)
    ]
    assert [w.function.stem for w in made if w.function] == ["abs", "relu", "relu"]
    assert {w.backend for w in made} == {"Ways"}
    assert [r.bytes for w in made for r in w.regions] == [4, 4, 4]


class Local:
    """A worker without a process: what goes over the wire, and comes back, is the same."""

    def __init__(self, backend: Any) -> None:
        self._served = PackageBackend()
        self._served._backend = backend
        self.id, self.version = backend.id, (1, 2)
        self.methods = tuple(self._answer("BackendFactory", {}, ())[0]["methods"])
        self.description = self._answer("describe", {}, ())[0]

    def call(
        self, method: str, message: Json, blobs: Sequence[Any] = (), about: str = ""
    ) -> tuple[Json, list[bytearray]]:
        try:
            return self._answer(method, message, blobs)
        except Declined as declined:
            raise self.nonsense(method, declined.reason) from None

    def nonsense(self, what: str, reason: str) -> BackendFault:
        return BackendFault(self.id, f"The backend {self.id} answered nonsense to {what}: {reason}")

    def _answer(
        self, method: str, message: Json, blobs: Sequence[Any]
    ) -> tuple[Json, list[bytearray]]:
        sent = json.loads(json.dumps(message))
        answer, out = self._served.handle(method, sent, [bytearray(b) for b in blobs])
        return json.loads(json.dumps(answer)), [bytearray(b) for b in out]


class Refusing(BackendBase):
    id = "Refusing"
    rank = 1

    def propose(self, view: SubgraphView, target: Target) -> Proposals:
        return Proposals(refused={node.id: f"{node.op} is not its own." for node in view.nodes})


def test_of_graphs_in_graphs_it_sees_what_lies_inside(tmp_path: Path) -> None:
    """And If itself is not sent: the wire has no words for it."""
    branch = {
        op: graph_of([node(op, "x", f"{op}_out")], {}, {f"{op}_out": (FLOAT, [1, 4])}, name=op)
        for op in ("Neg", "Abs")
    }
    choice = node("If", "c", "y", then_branch=branch["Neg"], else_branch=branch["Abs"])
    ends = {"x": (FLOAT, [1, 4]), "c": (BOOL, [1])}
    graph = load(graph_of([choice], ends, {"y": (FLOAT, [1, 4])}), tmp_path)
    backends = (ProposingBackend(cast(Worker, Local(Refusing()))), CpuRef())
    _, found = choose.assign(graph, backends, HOST, Choosing(strategy="cost"))
    (parts,) = found.subgraphs.values()
    reasons = [r.reason for part in parts.values() for r in part.refusals]
    assert sorted(reasons) == ["Abs is not its own", "Neg is not its own"]
    backend = backends[0]
    assert isinstance(backend, ProposingBackend)
    (refused,) = backend.propose(view_of_all(graph), HOST).refused.values()
    assert refused.startswith("it holds graphs")


# The sentences of test_offer_check.py, but where the wire knows it first.
EARLIER = {"endless": "is no integer of 64 bits"}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_a_package_proposes_and_makes_no_sense_is_the_same_sentence(case: str) -> None:
    change, says = HOSTILE[case]
    backends = (ProposingBackend(cast(Worker, Local(Proposer(change)))), CpuRef())
    match = f"^The backend Proposer .*{EARLIER.get(case, says)}"
    with pytest.raises(BackendFault, match=match) as fault:
        choose.assign(chain(), backends, HOST, Choosing(strategy="cost"))
    assert fault.value.backend == "Proposer"
    assert "\n" not in str(fault.value)


def test_over_the_wire_parts_that_overlap_are_never_taken_together() -> None:
    net = Net()
    x = net.input(1, 4)
    a, c = net.op("Neg", [x], (1, 4)), net.op("Abs", [x], (1, 4))
    graph = net.finish(net.op("Relu", [a], (1, 4)), net.op("Neg", [c], (1, 4)))
    backends = (ProposingBackend(cast(Worker, Local(Diamond()))), CpuRef())
    after, found = choose.assign(graph, backends, HOST, Choosing(strategy="cost"))
    assert len(list(after.nodes)) < 4
    assert {found.backends[n.id].id for n in after.nodes} <= {"Diamond", "CpuRef"}


def test_what_nobody_has_any_more_is_forgotten() -> None:
    local = Local(Proposer(lambda answer: answer))
    backend, view = ProposingBackend(cast(Worker, local)), view_of_all(chain())
    first = backend.propose(view, HOST)
    second = backend.propose(view, HOST)
    assert len(local._served._proposed) == 4
    del first
    gc.collect()
    third = backend.propose(view, HOST)
    assert len(local._served._proposed) == 4
    assert second.proposals != third.proposals


BAD = """
from mcu_chain import *
import dataclasses
class Bad(Chain):
    id = "Bad"
    rank = 1
    def propose(self, view, target):
        answer = super().propose(view, target)
        {}
        return dataclasses.replace(answer, proposals=(first, *answer.proposals[1:]))
    def changed(self, proposal, **costs):
        price = dataclasses.replace(proposal.price, costs=Costs(**costs))
        return dataclasses.replace(proposal, price=price)
"""
DEEDS = {
    "nan": (
        "first = self.changed(answer.proposals[0], cycles=float('nan'))",
        r"nonsense to propose: its answer.proposals[0].price.costs.cycles is nan, and no integer",
    ),
    "negative": (
        "first = self.changed(answer.proposals[0], cycles=-7)",
        "nonsense to propose: the price's costs.cycles is -7",
    ),
    "none": ("return None", "nonsense to propose: its answer is None, and no Proposals"),
    "exception": ("raise ValueError('odd')", "to propose: it raised ValueError: odd"),
    "crash": ("import ctypes; ctypes.string_at(8)", "crashed in propose (SIGSEGV)"),
    "exit": ("raise SystemExit(3)", "ended its process in propose with exit(3)"),
    "make": (
        "first = dataclasses.replace(answer.proposals[0], make=lambda *_: [None])",
        "nonsense to make: its answer[0] is None, and no Workload",
    ),
    "none made": (
        "first = dataclasses.replace(answer.proposals[0], make=lambda *_: [])",
        "nonsense to make: there are 0 workloads for 1 layers",
    ),
}


@pytest.mark.parametrize("deed", chosen(DEEDS, ("negative", "make")))
def test_a_package_whose_proposals_fail_is_dropped_in_one_line(
    deed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the others compute the model."""
    body, says = DEEDS[deed]
    path = model(CASES[:1], tmp_path / "pair.onnx")
    with Installs(tmp_path, monkeypatch) as installs:
        installs.add_to_path(HERE / "mcu_chain")
        installs.package("bad", BAD.format(body), ("entry", "bad:Bad"))
        with Session(options=installs.options, report=installs.lines.append) as session:
            assert session.registry.is_registered("Bad")
            network = compile_model(path, load_board("host"), session=session)
            assert "Bad" not in session.registry.ids
    makers = {step.choice.workload.backend for step in network.plan.steps}
    assert makers == {"PyChain", "CpuRef"}
    (line,) = installs.lines
    assert line.startswith("The backend Bad ")
    assert says in line
    assert line.endswith("Its layers go to the next backend.")
