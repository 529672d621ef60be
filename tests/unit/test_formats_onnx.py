"""Damaged, hostile and odd ONNX files: a sentence or a graph, never a traceback."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.backends.registry import Registry
from mcu_deploy.choose import assign
from mcu_deploy.errors import McuDeployError, ModelError
from mcu_deploy.ir import Graph, verify

EXAMPLE = Path(__file__).resolve().parents[2] / "mcu_deploy" / "examples" / "kws" / "model.onnx"


def save(path: Path, model: onnx.ModelProto) -> Path:
    path.write_bytes(model.SerializeToString())
    return path


def model_of(
    nodes: Sequence[onnx.NodeProto],
    shape: Sequence[int | str | None] = (1, 4),
    constants: dict[str, np.ndarray] | None = None,
    opset: int = 17,
) -> onnx.ModelProto:
    """A model with the float32 input x and the output y."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(v, n) for n, v in (constants or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def relu() -> onnx.ModelProto:
    return model_of([helper.make_node("Relu", ["x"], ["y"], "relu")])


def refused(path: Path, shapes: dict[str, list[int]] | None = None) -> str:
    """The sentence that a file is refused with."""
    with pytest.raises(McuDeployError) as caught:
        formats.load(path, shapes)
    text = str(caught.value)
    assert len(text.split()) > 5
    assert "Traceback" not in text
    assert len(text) < 1500
    return text


def go_all_the_way(path: Path) -> Graph | None:
    """Import, optimisation, assignment and a run; None where a stage refuses with a sentence."""
    try:
        graph = passes.run(formats.load(path))
        assign(graph, Registry.builtin().preference("host"))
    except McuDeployError as error:
        assert str(error)
        return None
    verify(graph)
    types = [graph.type(edge) for edge in graph.inputs]
    interpreter.run(graph, [np.zeros(t.shape, t.dtype.numpy) for t in types])
    return graph


def small_model() -> bytes:
    """A quantized convolution network of under 2 kB."""
    rng = np.random.default_rng(0)
    constants = {
        "s": np.float32(0.05), "z": np.int8(3), "w": rng.integers(-9, 9, (2, 1, 3, 3), np.int8),
        "ws": np.array([0.1, 0.2], np.float32), "wz": np.zeros(2, np.int8),
        "shape": np.array([1, -1], np.int64),
    }  # fmt: skip
    node = helper.make_node
    model = model_of(
        [
            node("QuantizeLinear", ["x", "s", "z"], ["q"], "q"),
            node("DequantizeLinear", ["q", "s", "z"], ["d"], "d"),
            node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], "wd", axis=0),
            node("Conv", ["d", "wd"], ["c"], "conv", pads=[1, 1, 1, 1], strides=[2, 2]),
            node("Relu", ["c"], ["r"], "relu"),
            node("QuantizeLinear", ["r", "s", "z"], ["rq"], "rq"),
            node("DequantizeLinear", ["rq", "s", "z"], ["rd"], "rd"),
            node("MaxPool", ["rd"], ["m"], "pool", kernel_shape=[2, 2]),
            node("Reshape", ["m", "shape"], ["y"], "reshape"),
        ],
        (1, 1, 6, 6),
        constants,
    )
    return model.SerializeToString()


def test_the_small_model_itself_is_good(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(small_model())
    assert go_all_the_way(path) is not None


def test_truncated_files(tmp_path: Path) -> None:
    raw = small_model()
    path = tmp_path / "m.onnx"
    for length in range(0, len(raw), 29):
        path.write_bytes(raw[:length])
        go_all_the_way(path)
    whole = EXAMPLE.read_bytes()
    for length in range(0, len(whole), len(whole) // 40):
        path.write_bytes(whole[:length])
        refused(path)


def test_random_bytes(tmp_path: Path) -> None:
    rng = random.Random(1)
    path = tmp_path / "m.onnx"
    for _ in range(30):
        path.write_bytes(rng.randbytes(rng.randrange(200)))
        refused(path)


def test_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.touch()
    assert "empty" in refused(path)


def test_folder_missing_file_and_other_endings(tmp_path: Path) -> None:
    folder = tmp_path / "m.onnx"
    folder.mkdir()
    assert "is a folder" in refused(folder)
    assert "does not exist" in refused(tmp_path / "n.onnx")
    other = tmp_path / "m.pt"
    other.touch()
    assert "convert the model to ONNX" in refused(other)


def _old(op: str, operand: Sequence[int], **attributes: int) -> onnx.ModelProto:
    """An operator of opset 6 with a constant behind its input of the shape [1, 3, 2]: 1, 2, ..."""
    values = 1 + np.arange(np.prod(operand), dtype=np.float32).reshape(operand)
    node = helper.make_node(op, ["x", "w"], ["y"], "old", **attributes)
    return model_of([node], (1, 3, 2), {"w": values}, opset=6)


@pytest.mark.parametrize("is_listed", [False, True])  # as IR version 3 has it
def test_an_old_opset_is_converted(tmp_path: Path, is_listed: bool) -> None:
    model = _old("Add", [2], broadcast=1)
    if is_listed:
        model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, (2,)))
    graph = formats.load(save(tmp_path / "m.onnx", model))
    (y,) = interpreter.run(graph, [np.ones((1, 3, 2), np.float32)])
    assert y[0].tolist() == [[2.0, 3.0]] * 3


@pytest.mark.parametrize("axis", [1, -2])
def test_an_operand_along_an_axis(tmp_path: Path, axis: int) -> None:
    """Add-6: "axis" is where the operand's first axis lies in the other shape."""
    model = _old("Add", [3], broadcast=1, axis=axis)
    graph = formats.load(save(tmp_path / "m.onnx", model))
    (y,) = interpreter.run(graph, [np.ones((1, 3, 2), np.float32)])
    assert y[0].tolist() == [[2.0, 2.0], [3.0, 3.0], [4.0, 4.0]]


def test_a_slope_for_each_channel(tmp_path: Path) -> None:
    """PRelu-6: one number, or one a channel."""
    x = -np.ones((1, 3, 2), np.float32)
    graph = formats.load(save(tmp_path / "m.onnx", _old("PRelu", [3])))
    (y,) = interpreter.run(graph, [x])
    assert y[0].tolist() == [[-1.0, -1.0], [-2.0, -2.0], [-3.0, -3.0]]
    graph = formats.load(save(tmp_path / "m.onnx", _old("PRelu", [1])))
    (y,) = interpreter.run(graph, [x])
    assert y[0].tolist() == [[-1.0, -1.0]] * 3


def test_an_operand_along_an_axis_of_who_knows_what(tmp_path: Path) -> None:
    model = _old("Add", [3], broadcast=1, axis=1)
    model.graph.input[0].type.tensor_type.ClearField("shape")
    told = refused(save(tmp_path / "m.onnx", model))
    assert "opset 6" in told and "Add 'old' broadcasts along an axis" in told


def test_an_old_opset_that_cannot_be_converted(tmp_path: Path) -> None:
    tile = helper.make_node("Tile", ["x", "n", "a"], ["y"])
    constants = {"n": np.array(2, np.int64), "a": np.array(0, np.int64)}
    told = refused(save(tmp_path / "m.onnx", model_of([tile], (1, 4), constants, opset=5)))
    assert "opset 5" in told and "No Adapter" in told


def test_nodes_in_any_order(tmp_path: Path) -> None:
    """Each reads what the one before it in the file does not write."""
    names = ["x", *"abcdefgh", "y"]
    chain = [helper.make_node("Relu", [r], [w]) for r, w in itertools.pairwise(names)]
    graph = formats.load(save(tmp_path / "m.onnx", model_of(chain[::-1])))
    assert [node.op for node in graph.nodes] == ["Relu"] * len(chain)


def test_nodes_in_a_circle(tmp_path: Path) -> None:
    circle = [helper.make_node("Add", ["x", "b"], ["y"]), helper.make_node("Relu", ["y"], ["b"])]
    assert "sorted" in refused(save(tmp_path / "m.onnx", model_of(circle)))


def test_opset_of_the_future(tmp_path: Path) -> None:
    refused(
        save(tmp_path / "m.onnx", model_of([helper.make_node("Relu", ["x"], ["y"])], opset=999))
    )


def test_cycle(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"], "one"),
        helper.make_node("Relu", ["a"], ["b"], "two"),
        helper.make_node("Relu", ["b"], ["y"], "three"),
    ]
    refused(save(tmp_path / "m.onnx", model_of(nodes)))


def test_a_tensor_written_twice(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"], n) for n in ("one", "two")]
    refused(save(tmp_path / "m.onnx", model_of(nodes)))


def test_a_tensor_that_nothing_writes(tmp_path: Path) -> None:
    model = model_of([helper.make_node("Add", ["x", "ghost"], ["y"], "sum")])
    assert "ghost" in refused(save(tmp_path / "m.onnx", model))


def test_missing_inputs(tmp_path: Path) -> None:
    for op in ("Conv", "Gemm", "Add", "Reshape", "MatMul", "QuantizeLinear"):
        model = model_of([helper.make_node(op, ["x"], ["y"], op)])
        refused(save(tmp_path / "m.onnx", model))


def test_no_output(tmp_path: Path) -> None:
    model = relu()
    del model.graph.output[:]
    refused(save(tmp_path / "m.onnx", model))


def test_equal_names_of_nodes_are_fine(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], "same"),
        helper.make_node("Neg", ["a"], ["y"], "same"),
    ]
    assert go_all_the_way(save(tmp_path / "m.onnx", model_of(nodes))) is not None


def test_an_output_without_a_type_and_a_graph_without_a_name_are_fine(tmp_path: Path) -> None:
    """As for onnxruntime."""
    model = relu()
    model.graph.name = ""
    model.graph.output[0].ClearField("type")
    graph = go_all_the_way(save(tmp_path / "m.onnx", model))
    assert graph is not None and (graph.name, graph.type(graph.outputs[0]).rank) == ("m", 2)


def test_names_of_10000_characters(tmp_path: Path) -> None:
    long = "n" * 10_000
    nodes = [
        helper.make_node("Relu", ["x"], [long], long),
        helper.make_node("Neg", [long], ["y"], long + "2"),
    ]
    graph = go_all_the_way(save(tmp_path / "m.onnx", model_of(nodes)))
    assert graph is not None
    bad = model_of([helper.make_node("Reshape", ["x", long], ["y"], long)])
    refused(save(tmp_path / "m.onnx", bad))


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    raw = relu().SerializeToString().replace(b"relu", b"\xff\xfe\x80u")
    path = tmp_path / "m.onnx"
    path.write_bytes(raw)
    graph = go_all_the_way(path)
    assert graph is None or all(isinstance(n.name, str) for n in graph.nodes)


def test_input_without_elements(tmp_path: Path) -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], (1, 0))
    graph = go_all_the_way(save(tmp_path / "m.onnx", model))
    assert graph is not None and graph.type(graph.outputs[0]).shape == (1, 0)


def test_tensor_of_more_than_2_gib(tmp_path: Path) -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], (1, 2**40))
    assert "2 GiB" in refused(save(tmp_path / "m.onnx", model))


def test_a_constant_that_would_explode_is_not_computed(tmp_path: Path) -> None:
    constants = {"s": np.array([2**20, 2**20], np.int64)}
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["c"], "huge"),
        helper.make_node("Add", ["x", "c"], ["y"], "sum"),
    ]
    refused(save(tmp_path / "m.onnx", model_of(nodes, (1, 1), constants)))


def test_symbolic_batch_becomes_one(tmp_path: Path) -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], ("N", 4))
    graph = formats.load(save(tmp_path / "m.onnx", model))
    assert graph.type(graph.inputs[0]).shape == (1, 4)
    assert graph.type(graph.outputs[0]).shape == (1, 4)


def test_other_symbolic_dimensions_want_a_shape(tmp_path: Path) -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], (1, 3, "H", "W"))
    path = save(tmp_path / "m.onnx", model)
    assert "--shape x=1,3,<H>,<W>" in refused(path)
    graph = formats.load(path, {"x": [1, 3, 8, 9]})
    assert graph.type(graph.outputs[0]).shape == (1, 3, 8, 9)


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ({"z": [1, 3, 8, 8]}, "does not have"),
        ({"x": [1, 3, 8]}, "Give a shape that agrees"),
        ({"x": [1, 4, 8, 8]}, "Give a shape that agrees"),
        ({"x": [1, 3, 0, 8]}, "1 or more"),
        ({"x": [1, 3, -2, 8]}, "1 or more"),
        ({"x": [1, 3, 2**20, 2**20]}, "2 GiB"),
    ],
)
def test_wrong_shapes(tmp_path: Path, shapes: dict[str, list[int]], words: str) -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], (1, 3, "H", "W"))
    assert words in refused(save(tmp_path / "m.onnx", model), shapes)


def _external(location: str, length: str | None = None) -> onnx.ModelProto:
    model = model_of([helper.make_node("Add", ["x", "w"], ["y"])], (1, 4), {"w": np.ones(4, "f4")})
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entries = {"location": location} | ({"length": length} if length else {})
    for key, value in entries.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return model


def test_external_data_beside_the_model(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(np.full(4, 2.5, "<f4").tobytes())
    graph = formats.load(save(tmp_path / "m.onnx", _external("w.bin")))
    (output,) = interpreter.run(graph, [np.zeros((1, 4), np.float32)])
    assert output.tolist() == [[2.5] * 4]


def test_external_data_elsewhere_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret.bin"
    secret.write_bytes(bytes(16))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link.bin").symlink_to(secret)
    (folder / "dir").symlink_to(tmp_path)
    for location in ("../secret.bin", str(secret), "link.bin", "dir/secret.bin", "./../secret.bin"):
        text = refused(save(folder / "m.onnx", _external(location)))
        assert "outside" in text, location


def test_external_data_that_is_missing_or_short(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(8))
    for location, length in (
        ("none.bin", None), ("", None), (".", None), ("w.bin", None), ("w.bin", "16"),
        ("w.bin", "-1"), ("w.bin", "many"), ("w.bin", str(2**70)), ("a\0b", None),
        ("n" * 9999, None),
    ):  # fmt: skip
        refused(save(tmp_path / "m.onnx", _external(location, length)))


def test_deeply_nested_graphs(tmp_path: Path) -> None:
    """Protobuf has a limit of its own; below it the model is only unsupported."""
    for depth in (5, 40, 400):
        graph = helper.make_graph([], "g", [], [])
        for _ in range(depth):
            outer = helper.make_graph([], "g", [], [])
            node = outer.node.add(op_type="If", output=["y"])
            node.input.append("c")
            for branch in ("then_branch", "else_branch"):
                attribute = node.attribute.add(name=branch, type=onnx.AttributeProto.GRAPH)
                if branch == "then_branch":
                    attribute.g.CopyFrom(graph)
            graph = outer
        model = relu()
        model.graph.node.append(helper.make_node("If", ["x"], ["z"], "if"))
        attribute = model.graph.node[1].attribute.add(name="then_branch")
        attribute.type = onnx.AttributeProto.GRAPH
        attribute.g.CopyFrom(graph)
        refused(save(tmp_path / "m.onnx", model))


@pytest.mark.parametrize("version", [16, 17])  # of the model: 17
def test_functions_are_inlined(tmp_path: Path, version: int) -> None:
    body = [helper.make_node("Relu", ["a"], ["b"]), helper.make_node("Neg", ["b"], ["c"])]
    function = helper.make_function(
        "local", "Both", ["a"], ["c"], body, [helper.make_opsetid("", version)]
    )
    model = model_of([helper.make_node("Both", ["x"], ["y"], "call", domain="local")])
    model.opset_import.append(helper.make_opsetid("local", 1))
    model.functions.append(function)
    graph = formats.load(save(tmp_path / "m.onnx", model))
    assert [n.op for n in graph.nodes] == ["Relu", "Neg"]
    del model.functions[0].node[0].input[:]
    refused(save(tmp_path / "m.onnx", model))


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_scales_that_are_no_scales(tmp_path: Path, scale: float) -> None:
    constants = {"s": np.float32(scale), "z": np.int8(0)}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], "q"),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], "d"),
    ]
    path = save(tmp_path / "m.onnx", model_of(nodes, constants=constants))
    assert "not a positive number" in refused(path)


def test_unknown_operators_are_listed_together(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Foo", ["x"], ["a"], "one"),
        helper.make_node("Relu", ["a"], ["b"], "two"),
        helper.make_node("Bar", ["b"], ["y"], "three"),
    ]
    text = refused(save(tmp_path / "m.onnx", model_of(nodes)))
    assert "\n  Foo 'one': ONNX's opset 17 does not define it\n  Bar 'three': " in text


def test_operators_of_unknown_domains_are_listed_together(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Foo", ["x"], ["a"], "one", domain="vendor"),
        helper.make_node("Bar", ["x"], ["b"], "two", domain="vendor"),
        helper.make_node("Add", ["a", "b"], ["y"], "three"),
    ]
    model = model_of(nodes)
    model.opset_import.append(helper.make_opsetid("vendor", 1))
    text = refused(save(tmp_path / "m.onnx", model))
    assert "\n  vendor::Foo 'one': no backend has this operator\n  vendor::Bar 'two': " in text


@pytest.mark.parametrize("op", ["NonZero", "Unique", "Compress", "NonMaxSuppression"])
def test_as_many_elements_as_the_data_hold(tmp_path: Path, op: str) -> None:
    """No --shape helps there: the sum needs as many as there are."""
    inputs = {"Compress": ["x", "c"], "NonMaxSuppression": ["x", "x"]}.get(op, ["x"])
    nodes = [
        helper.make_node("Cast", ["x"], ["b"], "bool", to=TensorProto.BOOL),
        helper.make_node("Squeeze", ["b"], ["b1"], "flat"),
        helper.make_node("Slice", ["b1", "0", "1", "0"], ["c0"], "row"),
        helper.make_node("Squeeze", ["c0", "0"], ["c"], "condition"),
        helper.make_node(op, inputs, ["a"], "pick"),
        helper.make_node("Cast", ["a"], ["f"], "cast", to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["f"], ["y"], "sum"),
    ]
    constants = {"0": np.array([0]), "1": np.array([1])}
    model = model_of(nodes, (1, 2, 4), constants)
    text = refused(save(tmp_path / "m.onnx", model))
    assert "--shape" not in text
    assert f"{op} 'pick'" in text
    assert "depends on the data" in text


def test_a_shape_that_is_computed_at_run_time(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["s"], "cast", to=TensorProto.INT64),
        helper.make_node("Squeeze", ["s"], ["s1"], "squeeze"),
        helper.make_node("ConstantOfShape", ["s1"], ["y"], "fill"),
    ]
    text = refused(save(tmp_path / "m.onnx", model_of(nodes, (1, 2))))
    assert "--shape" not in text
    assert "the values of the tensor 's1'" in text


def test_sparse_and_string_tensors(tmp_path: Path) -> None:
    model = relu()
    text = helper.make_tensor("t", TensorProto.STRING, [1], [b"text"])
    model.graph.initializer.append(text)
    model.graph.node.append(helper.make_node("Identity", ["t"], ["z"], "id"))
    refused(save(tmp_path / "m.onnx", model))


def test_split_into_billions(tmp_path: Path) -> None:
    """It would take all memory in ONNX's own shape inference."""
    split = helper.make_node("Split", ["x"], ["y", "z"], "s", axis=1, num_outputs=2**31)
    text = refused(save(tmp_path / "m.onnx", model_of([split], opset=18)))
    assert "has 2 outputs" in text


def test_pool_whose_last_window_starts_in_the_padding(tmp_path: Path) -> None:
    """Only onnx's inference for old opsets counts it; onnxruntime and AveragePool-22 do not."""
    pool = helper.make_node(
        "MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 3], pads=[1, 1, 1, 1],
        ceil_mode=1,
    )  # fmt: skip
    graph = formats.load(save(tmp_path / "m.onnx", model_of([pool], (1, 1, 9, 8))))
    assert graph.type(graph.outputs[0]).shape == (1, 1, 5, 3)


def test_every_stage_keeps_errors_of_the_model_apart(tmp_path: Path) -> None:
    assert issubclass(ModelError, McuDeployError)
    graph = formats.load(save(tmp_path / "m.onnx", relu()))
    assert graph.source_sha256
    assert graph.opset == 17
