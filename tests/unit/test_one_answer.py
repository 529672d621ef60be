"""What stands against a model, in one answer: operators, then forms, then shapes and types."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from command_line import call
from onnx import TensorProto, helper, numpy_helper
from tflite_models import Operator, Tensor, write

from benchmarks.made import chain
from mcu_deploy import compile_model
from mcu_deploy.backends.interface import Proposals, SubgraphView, Target
from mcu_deploy.boards import load_board
from mcu_deploy.errors import McuDeployError
from mcu_deploy.formats.imported import Dimension
from mcu_deploy.options import Options

FLOAT = TensorProto.FLOAT
node = helper.make_node


def refused(
    path: Path,
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[Dimension | None]],
    outputs: Sequence[str] = ("y",),
    constants: Mapping[str, np.ndarray] | None = None,
) -> list[str]:
    """The lines of the refusal of a model."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        list(nodes), "g",
        [info(name, FLOAT, shape) for name, shape in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [numpy_helper.from_array(v, n) for n, v in (constants or {}).items()],
    )  # fmt: skip
    for output in graph.output:
        output.type.tensor_type.elem_type = FLOAT
    opsets = [helper.make_opsetid(*o) for o in (("", 17), ("ai.onnx.ml", 3), ("vendor", 1))]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    path.write_bytes(model.SerializeToString())
    return lines_of(path)


def lines_of(path: Path) -> list[str]:
    with pytest.raises(McuDeployError) as caught:
        compile_model(path, load_board("host"))
    text = str(caught.value)
    return text.removeprefix(f"{path}: ").splitlines()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.onnx"


FOO = node("Foo", ["x"], ["f"], "foo", domain="vendor")


def test_many_nodes_of_few_operators_are_few_lines(path: Path) -> None:
    chain = [node("Blur", [f"n{i}"], [f"n{i + 1}"], f"norm{i}", domain="vendor") for i in range(30)]
    lines = refused(path, chain, {"n0": [None, 4]}, ["n30"])
    assert lines[0] == "30 nodes of the model cannot be computed:"
    assert lines[1] == (
        "  vendor::Blur: 30 nodes, such as 'norm0', 'norm1', 'norm2': no backend has this operator"
    )
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("op", "attributes", "told"),
    [
        ("ZipMap", {"classlabels_int64s": [0, 1]}, "options={'zipmap': False}"),
        ("LinearClassifier", {"coefficients": [1.0, 2.0], "classlabels_strings": ["a", "b"],
                              "intercepts": [0.5]}, "train the model with whole numbers"),
        ("LinearClassifier", {"coefficients": [1.0], "classlabels_ints": [1, 2],
                              "intercepts": [0.5]}, "do not fit together"),
    ],
)  # fmt: skip
def test_what_scikit_learn_wraps_a_model_in_is_told_with_the_remedy(
    path: Path, op: str, attributes: dict[str, object], told: str
) -> None:
    outputs = ["y"] if op == "ZipMap" else ["label", "y"]
    made = node(op, ["x"], outputs, "last", domain="ai.onnx.ml", **attributes)
    lines = refused(path, [made], {"x": [1, 2]})
    assert any(f"ai.onnx.ml::{op}" in line and told in line for line in lines), lines


def test_open_shapes_do_not_hide_operators(path: Path) -> None:
    """What only computes with shapes is no obstacle, nor is what no output needs."""
    nodes = [
        FOO,
        node("NonZero", ["f"], ["i"], "nz"),
        node("Shape", ["x"], ["s"]),
        node("ReduceProd", ["s"], ["p"], keepdims=1),
        node("Reshape", ["f", "p"], ["y"], "flat"),
        node("Mystery", ["x"], ["unused"], "dead", domain="vendor"),
        node("Cast", ["i"], ["z"], to=FLOAT),
    ]
    lines = refused(path, nodes, {"x": ["h", "w"]}, ["y", "z"])
    assert lines[0] == "2 nodes of the model cannot be computed:"
    assert lines[1] == "  vendor::Foo 'foo': no backend has this operator"
    assert lines[2].startswith("  NonZero 'nz': how many elements it gives depends on the data")
    assert lines[4] == "Beside that:"
    assert "--shape x=<h>,<w>" in lines[5]
    assert len(lines) == 6


def test_forms_that_no_backend_takes_are_in_the_same_answer(path: Path) -> None:
    odd = node("ReduceSum", ["x", "axes"], ["r"], "odd")  # axes that are known at run time
    nodes = [
        FOO,
        node("Cast", ["x"], ["axes2"], to=TensorProto.INT64),
        node("Squeeze", ["axes2"], ["axes"]),
        odd,
        node("Undefined", ["x"], ["u"], "undefined"),
    ]
    nodes[3].attribute.append(helper.make_attribute("keepdims", 1))
    lines = refused(path, nodes, {"x": [1, 2]}, ["f", "r", "u"])
    told = "\n".join(lines)
    assert "vendor::Foo 'foo': no backend has this operator" in told
    assert "Undefined 'undefined': ONNX's opset 17 does not define it" in told
    assert "ReduceSum 'odd'" in told


def test_axes_that_are_computed_are_the_reason(path: Path) -> None:
    nodes = [
        node("Cast", ["x"], ["i"], to=TensorProto.INT64),
        node("Slice", ["i", "zero", "one"], ["axes"]),
        node("ReduceSum", ["x", "axes"], ["y"], "sum", keepdims=0),
    ]
    bounds = {"zero": np.array([0]), "one": np.array([1])}
    lines = refused(path, nodes, {"x": [2]}, constants=bounds)
    assert "ReduceSum 'sum': the shape of its output depends on the values of" in lines[1]
    assert "'axes', which is computed" in lines[1]


def test_types_are_told_once_with_operators(path: Path) -> None:
    complex_ = np.ones(4, np.complex64)
    nodes = [
        FOO,
        node("Cast", ["x"], ["h"], to=TensorProto.COMPLEX64),
        node("Add", ["h", "a"], ["h2"]),
        node("Mul", ["h2", "b"], ["h3"]),
        node("Cast", ["h3"], ["y"], to=FLOAT),
    ]
    lines = refused(path, nodes, {"x": [1, 4]}, ["f", "y"], {"a": complex_, "b": complex_})
    assert "vendor::Foo" in lines[1]
    assert lines[-1].startswith(
        "  3 tensors, 'a', 'b' and 'h': each has elements of type COMPLEX64"
    )


def test_operators_inside_of_graphs_are_told_with_those_outside(path: Path) -> None:
    def branch(op: str, name: str) -> onnx.GraphProto:
        out = helper.make_tensor_value_info(name, FLOAT, None)
        return helper.make_graph([node(op, ["x"], [name], f"in_{name}")], name, [], [out])

    nodes = [
        node("ReduceMax", ["x"], ["m"], keepdims=0),
        node("Cast", ["m"], ["c"], to=TensorProto.BOOL),
        node(
            "If",
            ["c"],
            ["y"],
            then_branch=branch("Bernoulli", "t"),
            else_branch=branch("Bernoulli", "e"),
        ),
        node("Bernoulli", ["x"], ["z"], "out"),
    ]
    lines = refused(path, nodes, {"x": [1, 2, 2]}, ["y", "z"])
    assert lines[1].startswith("  Bernoulli: 3 nodes, ")


def test_models_that_are_not_valid_tell_operators_first(path: Path) -> None:
    lines = refused(path, [FOO, node("Relu", ["f"], ["y"], "r", nonsense=1)], {"x": [1, 4]})
    assert "vendor::Foo 'foo'" in lines[1]
    assert "nonsense" in lines[-1]


def test_an_answer_fits_on_a_screen(path: Path) -> None:
    nodes = [node(f"Op{i}", ["x"], [f"y{i}"], f"n{i}", domain="vendor") for i in range(60)]
    lines = refused(path, nodes, {"x": [1, 4]}, [f"y{i}" for i in range(60)])
    assert lines[0].startswith("60 nodes of the model cannot be computed")
    assert lines[-2] == "  and 46 more nodes"
    assert len(lines) < 20


def test_tflite_tells_all_at_once(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    tensors = [Tensor(name, (1, 4)) for name in "xabcy"] + [Tensor("s", (1, 4), "STRING")]
    operators = [
        Operator("UNIQUE", ("x",), ("a",)),
        Operator("UNIQUE", ("a",), ("b",)),
        Operator("RELU", ("b",), ("c",)),
        Operator("CUSTOM", ("c", "s"), ("y",), custom="MyOwn"),
    ]
    path.write_bytes(write(tensors, operators, ["x"], ["y"]))
    assert lines_of(path) == [
        "3 nodes of the model cannot be computed:",
        "  UNIQUE: 2 nodes, 'a' and 'b': it is not read from TFLite files",
        "  tflite.custom::MyOwn 'y': no backend has this operator",
        "Change the model where a reason says how, replace these operators, or add a backend that "
        "computes them (`mcu-deploy operators` lists what there is).",
        "Beside that:",
        "  The tensor 's' has elements of type STRING, which no backend computes; convert the "
        "model to float32 or int8.",
    ]


def test_a_model_that_nobody_can_build_is_refused_before_anything_is_priced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of it is not even asked about: what proposes looks at its layers for seconds."""
    from mcu_deploy.backends.ArmDsp import ArmDsp

    asked: list[str] = []
    propose = ArmDsp.propose

    def counted(self: ArmDsp, view: SubgraphView, target: Target) -> Proposals:
        asked.extend(node.op for node in view.nodes)
        return propose(self, view, target)

    monkeypatch.setattr(ArmDsp, "propose", counted)
    chain(3)(path)
    model = onnx.load(path)
    last = model.graph.output[0].name
    model.graph.node.append(node("Foo", [last], ["end"], "foo", domain="vendor"))
    model.graph.output[0].name = "end"
    model.opset_import.append(helper.make_opsetid("vendor", 1))
    onnx.save(model, path)
    board = load_board("mps2-an386")
    with pytest.raises(McuDeployError, match="'foo': no backend has this operator") as caught:
        compile_model(path, board)
    assert str(caught.value).count("\n") == 2
    assert set(asked) <= {"Foo"}
    # One that only some backends have, of which none was named, is known as early.
    del model.graph.node[-1]
    model.graph.node.append(node("Trilu", [last], ["end"], "upper"))
    onnx.save(model, path)
    with pytest.raises(McuDeployError, match="Trilu 'upper': not an operator of ArmDsp"):
        compile_model(path, board, options=Options(backends=("ArmDsp",)))
    compile_model(path, board)
    assert "Conv" in asked


def test_what_the_checker_refuses_does_not_hide_the_rest(path: Path) -> None:
    """Of a model that breaks a rule of ONNX: an attribute that Relu does not have."""
    odd = node("Relu", ["x"], ["r"], "odd", alpha=0.5)
    lines = refused(path, [odd, FOO, node("Bernoulli", ["x"], ["b"], "rand")], {"x": [2]}, "rfb")
    assert lines[0] == "2 nodes of the model cannot be computed:"
    assert lines[1].startswith("  vendor::Foo 'foo'") and lines[2].startswith("  Bernoulli 'rand'")
    assert "is no valid ONNX model" in lines[-1] and "alpha" in lines[-1]


def test_a_refusal_has_all_of_it_for_programs(path: Path) -> None:
    """However many nodes there are, of which the text shows the first."""
    many = [node(f"Foo{i}", ["x"], [f"f{i}"], f"foo{i}", domain="vendor") for i in range(30)]
    lines = refused(path, many, {"x": ["h", "w"]}, [f"f{i}" for i in range(30)])
    assert any(line.startswith("  and ") for line in lines)
    result = call("build", path, "--board", "host", "--json")
    assert result.returncode == 1
    told = json.loads(result.stdout)["error"]
    assert told["kind"] == "unsupported"
    assert [n["node"] for n in told["nodes"]] == [f"foo{i}" for i in range(30)]
    assert told["nodes"][0]["operator"] == "vendor::Foo0" and told["nodes"][0]["reason"]
    assert any("--shape x=<h>,<w>" in problem for problem in told["problems"])
