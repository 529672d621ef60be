"""ONNX models that end or fill the process that reads them, and refusals in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mcu_deploy import formats
from mcu_deploy.errors import ModelError
from mcu_deploy.formats.onnx_reasons import reason

pytestmark = pytest.mark.usefixtures("forked")


def _model(
    nodes: list[onnx.NodeProto],
    constants: dict[str, list[int]],
    value_info: list[onnx.ValueInfoProto] | None = None,
    functions: list[onnx.FunctionProto] | None = None,
) -> onnx.ModelProto:
    """From x, 1 x 8 floats, to y."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in constants.items()],
        value_info=value_info or [],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, functions=functions or [])


def _load(model: onnx.ModelProto, folder: Path) -> object:
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return formats.load(path)


def _refusal(model: onnx.ModelProto, folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        _load(model, folder)
    message = str(caught.value)
    assert message.isprintable() and len(message) < 800
    assert str(folder / "m.onnx") in message
    return message


def test_a_negative_size_in_value_info_is_an_unknown_one(tmp_path: Path) -> None:
    """onnx's inference of Slice clamps to it, which ends the process by an assertion."""
    node = helper.make_node
    model = _model(
        [
            node("Slice", ["x", "zero", "four"], ["a"]),
            node("Slice", ["a", "zero", "two"], ["y"]),
        ],
        {"zero": [0], "two": [2], "four": [4]},
        [helper.make_tensor_value_info("a", TensorProto.FLOAT, [-1, 8])],
    )
    graph = _load(model, tmp_path)
    assert [graph.type(e).shape for e in graph.outputs] == [(1, 8)]


def test_a_crash_of_onnx_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As before, without what cleans the model."""
    monkeypatch.setattr("mcu_deploy.formats.onnx.forget_negative_sizes", lambda graph: None)
    slices = [
        helper.make_node("Slice", ["x", "zero", "four"], ["a"]),
        helper.make_node("Slice", ["a", "zero", "two"], ["y"]),
    ]
    value_info = [helper.make_tensor_value_info("a", TensorProto.FLOAT, [-1, 8])]
    model = _model(slices, {"zero": [0], "two": [2], "four": [4]}, value_info)
    assert "cannot be read: onnx crashed (SIGABRT) on" in _refusal(model, tmp_path)


def _calls(name: str, calls: list[str]) -> onnx.FunctionProto:
    """A function that calls others, one after the other."""
    tensors = ["x", *(f"t{i}" for i in range(len(calls) - 1)), "y"]
    nodes = [
        helper.make_node(callee, [tensors[i]], [tensors[i + 1]], domain="own" * (callee != "Relu"))
        for i, callee in enumerate(calls)
    ]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_function("own", name, ["x"], ["y"], nodes, imports)


@pytest.mark.parametrize(
    "functions",
    [
        [_calls("F0", ["F0"])],
        [_calls("F0", ["F1"]), _calls("F1", ["F0"])],
        pytest.param(
            [_calls("F0", ["Relu"]), *(_calls(f"F{i}", [f"F{i - 1}"] * 8) for i in range(1, 20))],
            marks=pytest.mark.matrix,  # takes all the memory that it may
        ),
    ],
    ids=["itself", "each-other", "eight-to-the-twentieth"],
)
def test_functions_without_end(functions: list[onnx.FunctionProto], tmp_path: Path) -> None:
    call = helper.make_node(functions[-1].name, ["x"], ["y"], domain="own")
    _refusal(_model([call], {}, functions=functions), tmp_path)


def test_constants_that_grow(tmp_path: Path) -> None:
    """A few bytes of model that stand for terabytes."""
    node = helper.make_node
    wide = _model([node("Expand", ["x", "shape"], ["y"])], {"shape": [1 << 20, 1 << 20, 8]})
    assert "2 GiB" in _refusal(wide, tmp_path)
    grown = _model(
        [
            node("ConstantOfShape", ["shape"], ["c"]),
            node("ReduceSum", ["c"], ["s"], keepdims=0),
            node("Add", ["x", "s"], ["y"]),
        ],
        {"shape": [1 << 20, 1 << 20]},
    )
    assert "2 GiB" in _refusal(grown, tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[ShapeInferenceError] Inference error(s): (op_type:Relu, node name: act): "
            "[ShapeInferenceError] Inferred shape and existing shape differ\n(op_type:Add): ...\n",
            "Relu 'act': Inferred shape and existing shape differ",
        ),
        (
            "No Op registered for Foo\n\n==> Context: Bad node spec for node. Name: n OpType: Foo",
            "No Op registered for Foo (Foo 'n')",
        ),
        (
            "[ONNXRuntimeError] : 1 : FAIL : Load model failed:Protobuf parsing failed.",
            "Load model failed:Protobuf parsing failed",
        ),
        (
            "unsorted, input 'z' of node: \nname:  OpType: Add\n is not output of any node.",
            "unsorted, input 'z' of Add is not output of any node",
        ),
        (
            "[TypeInferenceError] Cannot infer type for node name . No opset import",
            "Cannot infer type. No opset import",
        ),
        ("\x1b[31m" + "long " * 1000, "\\x1b[31m" + "long " * 58 + "l…"),
        ("", "ValueError"),
    ],
)
def test_reasons_are_one_line(text: str, expected: str) -> None:
    assert reason(ValueError(text)) == expected
