"""Models built with a backend from a package: alone, beside CpuRef, and when it fails midway."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from dynamic.package_cases import HERE, Installs
from onnx import TensorProto, helper
from sampling import first

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.api.building import build
from mcu_deploy.api.running import run
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.files.samples import Samples
from mcu_deploy.options import Options
from mcu_deploy.session import Session

pytestmark = pytest.mark.needs_host_gcc

SHAPE = [2, 5]
GIVEN = np.linspace(-3, 3, 10, dtype=np.float32).reshape(SHAPE)


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installs]:
    with Installs(tmp_path, monkeypatch) as made:
        made.add_to_path(HERE / "mcu_relu")
        yield made


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Relu(-Relu(x)) + x, in four nodes."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], "first"),
        helper.make_node("Neg", ["a"], ["b"], "negative"),
        helper.make_node("Relu", ["b"], ["c"], "refuse"),
        helper.make_node("Add", ["c", "x"], ["y"], "sum"),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, SHAPE) for n in ("x", "y")]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "model.onnx"
    path.write_bytes(made.SerializeToString())
    return path


def built(model: Path, folder: Path, session: Session, *backends: str) -> Network:
    """Built for the host, where it gives what the oracle has."""
    made = build(model, "host", folder, session=session, options=Options(backends=backends))
    ((output,),) = run(folder, Samples(((GIVEN,),), "here"), session=session)
    (expected,) = interpreter.run(passes.run(formats.load(model)), [GIVEN])
    np.testing.assert_array_equal(output, expected)
    return made.networks[0].network


def makers(network: Network) -> dict[str, str]:
    """Who computes which layer."""
    choices = [step.choice for step in network.plan.steps]
    return {choice.layer.name: choice.workload.backend for choice in choices}


def test_a_model_is_built_and_runs_with_a_package(
    installs: Installs, model: Path, tmp_path: Path
) -> None:
    with Session(options=installs.options, report=installs.lines.append) as session:
        network = built(model, tmp_path / "b", session)
        # what it fails in its optimisation goes to the next
        assert makers(network) == {
            "first": "PyRelu", "negative": "CpuRef", "refuse": "CpuRef", "sum": "CpuRef"
        }  # fmt: skip
        options = Options(backends=("CpuRef",))
        without = compile_model(model, load_board("host"), session=session, options=options)
        assert set(makers(without).values()) == {"CpuRef"}
    assert installs.lines == []
    assert network.sources.source.count("relu_acquire(") == 2  # defined, and called in each run


BAD = "from mcu_relu import *\nclass Bad(Relu):\n    id = 'Bad'\n    rank = 1\n"
DEEDS = {
    "exception": ("raise ValueError('odd')", "it raised ValueError: odd"),
    "exit": ("raise SystemExit(3)", "with exit(3)"),
    "crash": ("import ctypes; ctypes.string_at(8)", "(SIGSEGV)"),
}
PLACES = (
    "create_backend_context(self, options)",
    "layer_support(self)",
    "optimize_subgraph(self, view)",
    "create_workload_factory(self, manager)",
)


@pytest.mark.parametrize(
    ("place", "deed"),
    [
        ("layer_support(self)", "crash"),
        *first([(place, "exception") for place in reversed(PLACES)], 0),
        *first([(place, "exit") for place in PLACES], 0),
    ],
)
def test_a_package_that_fails_midway_is_dropped_in_one_line(
    installs: Installs, model: Path, place: str, deed: str
) -> None:
    body, says = DEEDS[deed]
    installs.package("bad", f"{BAD}    def {place}:\n        {body}\n", ("entry", "bad:Bad"))
    with Session(options=installs.options, report=installs.lines.append) as session:
        assert session.registry.is_registered("Bad")
        network = compile_model(model, load_board("host"), session=session)
        assert "Bad" not in session.registry.ids
    assert set(makers(network).values()) == {"PyRelu", "CpuRef"}
    (line,) = installs.lines
    assert line.startswith("The backend Bad ")
    assert says in line


FUSING = """
from mcu_deploy.backends.interface import OptimizationViews, Substitution, yes
from mcu_deploy.ir import GraphEditor
from mcu_relu import *
class Fusing(Relu):
    id = "Fusing"
    rank = 1
    def optimize_subgraph(self, view):
        found = []
        for node in view.nodes:
            after = view.sole_consumer(node.writes[0])
            if after is not None and after.op == "Relu":
                editor = GraphEditor.empty("twice")
                editor.inputs = [editor.add_edge("x", view.type(node.reads[0]))]
                editor.outputs = [editor.add_edge("y", view.type(after.writes[0]))]
                editor.add_node("Twice", editor.inputs, editor.outputs, after.name, {}, domain="t")
                part = view.part([node.id, after.id])
                found.append(Substitution(part, editor.finish(opset=view.opset)))
        return OptimizationViews.first_of_each(view, found)
    def layer_support(self):
        return self
    def is_layer_supported(self, layer, inputs, outputs, params):
        if layer.op != "Twice":
            return LayerSupport().is_layer_supported(layer, inputs, outputs, params)
        assert [node.op for node in layer.body.nodes] == ["Relu", "Relu"]
        assert layer.body.outputs == layer.node.outputs
        return yes()
"""


def test_a_package_sees_what_its_own_nodes_stand_for(installs: Installs, tmp_path: Path) -> None:
    """From the first question on, with the ids of the node that it is asked about."""
    nodes = [
        helper.make_node("Neg", ["x"], ["a"], "negative"),
        helper.make_node("Relu", ["a"], ["b"], "first"),
        helper.make_node("Relu", ["b"], ["y"], "second"),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, SHAPE) for n in ("x", "y")]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "twice.onnx"
    path.write_bytes(made.SerializeToString())
    installs.package("fusing", FUSING, ("entry", "fusing:Fusing"))
    with Session(options=installs.options, report=installs.lines.append) as session:
        network = built(path, tmp_path / "b", session, "Fusing", "CpuRef")
    assert installs.lines == []
    assert makers(network) == {"negative": "CpuRef", "second": "Fusing"}
