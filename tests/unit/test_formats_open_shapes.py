"""Open dimensions of inputs: bound, taken as a batch and said so, or named all at once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from onnx import TensorProto, helper
from tflite_models import Operator, Tensor, write

from mcu_deploy import formats
from mcu_deploy.api.folder import folder_for
from mcu_deploy.api.optimizing import optimize_model
from mcu_deploy.errors import ModelError
from mcu_deploy.options import Options
from mcu_deploy.report.model import AssumedShapeReport

Dims = Sequence[int | str | None] | None


def relu_of(path: Path, **inputs: Dims) -> Path:
    """A model of a Relu for each input."""
    make = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Relu", [name], [f"{name}_y"], f"relu_{name}") for name in inputs],
        "g",
        [make(name, TensorProto.FLOAT, dims) for name, dims in inputs.items()],
        [make(f"{name}_y", TensorProto.FLOAT, None) for name in inputs],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def shapes_of(read: formats.Imported) -> list[tuple[int, ...]]:
    return [read.graph.type(edge).shape for edge in read.graph.inputs]


@pytest.mark.parametrize(
    "name",
    [None, "batch", "batch_size", "BatchSize", "input_batch", "N", "n", "B", "bs", "None", "?",
     "unk__232", "x_dynamic_axes_1", "s0", "s77", "DynamicDimension.0"],
)  # fmt: skip
def test_what_looks_like_a_batch_is_one_and_said_so(tmp_path: Path, name: str | None) -> None:
    read = formats.read(relu_of(tmp_path / "m.onnx", x=[name, 4]))
    assert shapes_of(read) == [(1, 4)]
    (assumed,) = read.assumed
    assert (assumed.input, assumed.size, assumed.shape) == ("x", 1, (1, 4))
    said = str(assumed)
    unnamed = name in (None, "None", "?")
    assert "its first dimension is open" in said if unnamed else f"dimension {name!r}" in said
    assert f"--shape x=<{'batch' if unnamed else name}>,4" in said


@pytest.mark.parametrize(
    ("dims", "option"),
    [
        (["time", 4], "x=<time>,4"),
        (["h", "w"], "x=<h>,<w>"),
        ([None, None, 4], "x=1,<size>,4"),
        (["N", 3, "H", "W"], "x=1,3,<H>,<W>"),
        (["seq", "batch", 4], "x=<seq>,<batch>,4"),
        (["N", "N"], "x=<N>,<N>"),
        (["batch", "batch"], "x=<batch>,<batch>"),
        (["N"], "x=<N>"),  # as likely the length of a signal
        ([None], "x=<size>"),
        (None, "x=<size>,..."),
    ],
)
def test_any_other_open_dimension_is_an_error(tmp_path: Path, dims: Dims, option: str) -> None:
    with pytest.raises(ModelError) as caught:
        formats.read(relu_of(tmp_path / "m.onnx", x=dims))
    assert f"--shape {option} " in str(caught.value)


def test_all_inputs_are_named_at_once(tmp_path: Path) -> None:
    path = relu_of(tmp_path / "m.onnx", **{"x": ["N", "H"], "y": [1, 2], "a b": ["H", None]})
    with pytest.raises(ModelError) as caught:
        formats.read(path)
    text = str(caught.value)
    assert "'x' is ['N', 'H'], 'a b' is ['H', '?']" in text
    assert "--shape x=1,<H> --shape 'a b'=<H>,<size> with" in text


def test_a_symbol_is_one_quantity_in_all_inputs(tmp_path: Path) -> None:
    path = relu_of(tmp_path / "m.onnx", x=["batch", "T"], state=[2, "batch", 8], mask=["T"])
    read = formats.read(path, {"mask": [5]})
    assert shapes_of(read) == [(1, 5), (2, 1, 8), (5,)]
    assert [(a.input, a.dimension) for a in read.assumed] == [("x", "batch"), ("state", "batch")]
    assert shapes_of(formats.read(path, {"x": [3, 5]})) == [(3, 5), (2, 3, 8), (5,)]
    assert not formats.read(path, {"x": [3, 5]}).assumed
    with pytest.raises(ModelError, match="'T' 5 in input 'x' and 6 in input 'mask'"):
        formats.read(path, {"x": [3, 5], "mask": [6]})


def test_a_made_up_name_is_no_batch_where_it_sizes_another_axis(tmp_path: Path) -> None:
    path = relu_of(tmp_path / "m.onnx", x=["s0", 4], y=[4, "s0"])
    with pytest.raises(ModelError, match="--shape x=<s0>,4 --shape y=4,<s0>"):
        formats.read(path)


@pytest.mark.parametrize(
    ("dims", "given", "words"),
    [
        ([], [1], "Give a shape that agrees"),
        ([2, 3], [2, 4], "Give a shape that agrees"),
        (["N", "N"], [2, 3], "it is one size"),
    ],
)
def test_shapes_that_contradict_the_model(
    tmp_path: Path, dims: Dims, given: list[int], words: str
) -> None:
    with pytest.raises(ModelError, match=words):
        formats.read(relu_of(tmp_path / "m.onnx", x=dims), {"x": given})


def test_an_input_without_a_shape_takes_any(tmp_path: Path) -> None:
    path = relu_of(tmp_path / "m.onnx", x=None)
    assert shapes_of(formats.read(path, {"x": [2, 3]})) == [(2, 3)]


def tflite_of(path: Path, shape: tuple[int, ...], signature: tuple[int, ...]) -> Path:
    tensors = [
        Tensor("x", shape, signature=signature),
        Tensor("y", shape),
    ]
    path.write_bytes(write(tensors, [Operator("RELU", ("x",), ("y",))], ["x"], ["y"]))
    return path


def test_tflite_leaves_dimensions_open_too(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    (assumed,) = formats.read(tflite_of(path, (1, 4), (-1, 4))).assumed
    assert (assumed.input, assumed.shape) == ("x", (1, 4))
    assert "convert the model" in str(assumed)
    assert not formats.read(path, {"x": [1, 4]}).assumed
    tflite_of(path, (1, 1, 1, 3), (-1, -1, -1, 3))
    with pytest.raises(ModelError, match="--shape x=1,1,1,3"):
        formats.read(path)
    assert shapes_of(formats.read(path, {"x": [1, 1, 1, 3]})) == [(1, 1, 1, 3)]


def _warned(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if "taken as a batch" in r.getMessage()]


def test_optimize_tells_what_it_assumed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = relu_of(tmp_path / "m.onnx", x=["N", 4])
    made = optimize_model(path, "host", tmp_path / "m.pmx")
    assert made.report().assumed_shapes == (AssumedShapeReport("m", "x", "N", 1, (1, 4)),)
    assert len(_warned(caplog)) == 1
    optimize_model(path, "host", tmp_path / "m.pmx", options=Options(shapes={"x": (1, 4)}))
    assert len(_warned(caplog)) == 1


def test_build_and_validate_tell_it_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = relu_of(tmp_path / "m.onnx", x=["N", 4])
    with folder_for(path, "host", name="net") as folder:
        folder.compile_again("net")
        report = json.loads((folder.directory / "report.json").read_text())
    row: Mapping[str, object] = {
        "network": "net", "input": "x", "dimension": "N", "size": 1, "shape": [1, 4],
    }  # fmt: skip
    assert report["assumed_shapes"] == [row]
    assert report["networks"][0]["assumed_shapes"] == [row]
    (said,) = _warned(caplog)
    assert said.startswith("m.onnx: input 'x': its dimension 'N'")
