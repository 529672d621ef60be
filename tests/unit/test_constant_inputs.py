"""--constant-input: inputs that have one value for all time."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from typer.testing import CliRunner

from mcu_deploy.boards import load_board
from mcu_deploy.cli import create_app
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import ModelError, RequestError, UsageError
from mcu_deploy.options import ConstantInput, Options
from mcu_deploy.options.constants import read

SHAPE = np.array([3, 2], np.int64)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """x [2, 3] reshaped as the input `shape` says, times the input `factor`, plus itself."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [
            helper.make_node("Reshape", ["x", "shape"], ["r"]),
            helper.make_node("Mul", ["r", "factor"], ["y"]),
        ],
        "m",
        [
            info("shape", TensorProto.INT64, [2]), info("x", TensorProto.FLOAT, [2, 3]),
            info("factor", TensorProto.FLOAT, [1]),
        ],
        [info("y", TensorProto.FLOAT, None)],
    )  # fmt: skip
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


def bound(**values: Any) -> Options:
    return Options(constant_inputs={n: ConstantInput.of(v) for n, v in values.items()})


def test_a_refusal_of_a_parameter_names_the_option(tmp_path: Path) -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> net (float[1, 8] x, int64[1] k) =>
        (float[1, 3] v, int64[1, 3] i) { v, i = TopK(x, k) }"""
    onnx.save_model(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    with pytest.raises(ModelError, match="at run time; --constant-input makes an input of"):
        compile_model(tmp_path / "m.onnx", load_board("host"))
    compile_model(tmp_path / "m.onnx", load_board("host"), options=bound(k=np.array([3])))


def test_an_input_becomes_a_constant(model: Path) -> None:
    with pytest.raises(ModelError, match="as --constant-input does with its inputs"):
        compile_model(model, load_board("host"))
    options = bound(shape=SHAPE, factor=np.float32([2]))
    network = compile_model(model, load_board("host"), options=options)
    graph = network.graph
    assert [graph.edge_name(e) for e in graph.inputs] == ["x"]
    assert graph.type(graph.outputs[0]).shape == (3, 2)


def test_the_value_is_that_of_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", SHAPE)
    np.savez(tmp_path / "one.npz", anything=SHAPE)
    np.savez(tmp_path / "two.npz", a=SHAPE, b=SHAPE + 1)
    for text in ("n=a.npy", "a=b=a.npy", "n=one.npz", "a=two.npz"):
        name, _, file = text.rpartition("=")
        found, constant = read(f"{name}={tmp_path / file}")
        assert found == name
        assert np.array_equal(constant.value, SHAPE)
        assert constant.value.dtype == SHAPE.dtype
    with pytest.raises(RequestError, match="no array 'c', and not one alone"):
        read(f"c={tmp_path / 'two.npz'}")
    with pytest.raises(RequestError, match="does not exist"):
        read(f"c={tmp_path / 'none.npy'}")
    for wrong in ("x", "x=", f"={tmp_path / 'a.npy'}"):
        with pytest.raises(UsageError, match="not of the form INPUT=FILE"):
            read(wrong)


@pytest.mark.parametrize(
    "value",
    [np.float32([[1.5, -0.0, np.nan]]), np.array(7, np.int64), np.zeros((0, 3), bool)],
    ids=["floats", "number", "nothing"],
)
def test_what_json_gives_back_is_the_option(value: Any) -> None:
    options = bound(x=value)
    again = Options(**json.loads(json.dumps(asdict(options))))
    assert again == options
    assert again.constant_values["x"].tobytes() == value.tobytes()
    assert again.constant_values["x"].shape == value.shape


def test_what_does_not_fit_is_told(model: Path, tmp_path: Path) -> None:
    for values, sentence in (
        ({"shapes": SHAPE}, "'shapes', which is no tensor that the model takes. Its inputs: "),
        ({"shape": SHAPE.astype(np.int32)}, "int32 of shape [2] for input 'shape', but the model"),
        ({"shape": SHAPE[:1]}, "int64 of shape [1] for input 'shape', but the model says int64"),
    ):
        with pytest.raises(ModelError) as told:
            compile_model(model, load_board("host"), options=bound(**values))
        assert sentence in str(told.value)
    tflite = tmp_path / "m.tflite"
    tflite.write_bytes(b"")
    with pytest.raises(RequestError, match="tflite files cannot be read with one"):
        compile_model(tflite, load_board("host"), options=bound(x=SHAPE))
    with pytest.raises(UsageError, match="the bytes are no int64 of shape"):
        _ = ConstantInput("int64", (2,), "00").value


def test_narrow_types_are_given_as_their_bits(tmp_path: Path) -> None:
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "f"], ["y"])], "m",
        [info(n, TensorProto.BFLOAT16, [2]) for n in "xf"], [info("y", TensorProto.BFLOAT16, [2])],
    )  # fmt: skip
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    value = np.array([1.5, -2], ml_dtypes.bfloat16)
    network = compile_model(path, load_board("host"), options=bound(f=value.view(np.uint16)))
    (constant,) = network.graph.data.constants.values()
    assert constant.tolist() == [1.5, -2]


@pytest.mark.needs_host_gcc
def test_a_build_is_validated_against_onnxruntime_with_the_constants(
    model: Path, tmp_path: Path
) -> None:
    np.savez(tmp_path / "c.npz", shape=SHAPE, factor=np.float32([2]))
    words = [f"--constant-input={name}={tmp_path / 'c.npz'}" for name in ("shape", "factor")]
    out = tmp_path / "build"
    run = CliRunner().invoke
    app = create_app()
    built = run(app, ["build", str(model), "--board", "host", "-o", str(out), *words])
    assert built.exit_code == 0, built.output
    checked = run(app, ["validate", str(out), "--board", "host"])
    assert checked.exit_code == 0, checked.output
    assert "onnxruntime" in checked.output
    assert "passed" in checked.output
    assert "against the oracle alone" not in checked.output
