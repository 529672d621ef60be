"""Sequences and optionals in ONNX files: known ones are their elements, others are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from operators.lab import Array

from mcu_deploy import formats, interpreter
from mcu_deploy.errors import McuDeployError

X = np.arange(12, dtype=np.float32).reshape(2, 6)
FLOATS = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
SEQUENCE = helper.make_sequence_type_proto(FLOATS)
node = helper.make_node


def model(
    nodes: Sequence[onnx.NodeProto],
    output: onnx.TypeProto = FLOATS,
    constants: Mapping[str, Array] | None = None,
    given: onnx.TypeProto | None = None,
) -> onnx.ModelProto:
    """Nodes between the input x and the output y."""
    x = given or helper.make_tensor_type_proto(TensorProto.FLOAT, X.shape)
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_value_info("x", x)],
        [helper.make_value_info("y", output)],
        [numpy_helper.from_array(v, n) for n, v in (constants or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def run(made: onnx.ModelProto, folder: Path) -> list[Array]:
    path = folder / "model.onnx"
    path.write_bytes(made.SerializeToString())
    return interpreter.run(formats.load(path), [X])


def check(made: onnx.ModelProto, folder: Path) -> None:
    """The elements are those of onnx's evaluator."""
    (wanted,) = ReferenceEvaluator(made).run(None, {"x": X})
    found = run(made, folder)
    expected = wanted if isinstance(wanted, list) else [wanted]
    for value, element in zip(found, expected, strict=True):
        assert value.dtype == element.dtype
        assert np.array_equal(value, element)


ONE, TWO, LAST = np.array(1), np.array(2), np.array(-1)
TWICE = node("Add", ["x", "x"], ["xx"])


@pytest.mark.parametrize("reader", ["SequenceAt", "ConcatFromSequence", "stacked", "whole"])
def test_what_is_made_of_tensors(tmp_path: Path, reader: str) -> None:
    """x and 2x; 3x before the last one; without the first one."""
    nodes = [
        TWICE,
        node("Add", ["x", "xx"], ["xxx"]),
        node("SequenceConstruct", ["x", "xx"], ["a"]),
        node("Identity", ["a"], ["b"]),
        node("SequenceInsert", ["b", "xxx", "last"], ["c"]),
        node("SequenceInsert", ["c", "x"], ["d"]),
        node("SequenceErase", ["d", "zero"], ["e" if reader != "whole" else "y"]),
    ]
    nodes += {
        "SequenceAt": [node("SequenceAt", ["e", "last"], ["y"])],
        "ConcatFromSequence": [node("ConcatFromSequence", ["e"], ["y"], axis=-1)],
        "stacked": [node("ConcatFromSequence", ["e"], ["y"], axis=1, new_axis=1)],
        "whole": [],
    }[reader]
    constants = {"last": LAST, "zero": np.array(0)}
    check(model(nodes, SEQUENCE if reader == "whole" else FLOATS, constants), tmp_path)


@pytest.mark.parametrize(
    ("split", "attributes"),
    [
        (None, {"axis": 0}),
        (None, {"axis": -1, "keepdims": 0}),
        (np.array(4), {"axis": 1}),
        (np.array([1, 2, 3]), {"axis": 1, "keepdims": 0}),
    ],
)
def test_a_tensor_in_parts(tmp_path: Path, split: Array | None, attributes: dict[str, int]) -> None:
    """An output that is a sequence is as many outputs."""
    given = ["x"] if split is None else ["x", "split"]
    nodes = [node("SplitToSequence", given, ["y"], **attributes)]
    check(model(nodes, SEQUENCE, {} if split is None else {"split": split}), tmp_path)


def test_a_part_without_elements_that_nobody_reads(tmp_path: Path) -> None:
    """As PyTorch's older exporter has it behind the last piece of a chunk."""
    nodes = [
        node("SplitToSequence", ["x", "sizes"], ["a"], axis=1),
        node("SequenceAt", ["a", "one"], ["y"]),
    ]
    check(model(nodes, constants={"sizes": np.array([4, 2, 0]), "one": ONE}), tmp_path)


def test_the_outputs_of_a_sequence_are_named_after_it(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    made = model([node("SplitToSequence", ["x"], ["y"])], SEQUENCE)
    path.write_bytes(made.SerializeToString())
    graph = formats.load(path)
    assert [graph.edge_name(edge) for edge in graph.outputs] == ["y_0", "y_1"]
    assert all(graph.type(edge).shape == (1, 6) for edge in graph.outputs)


def test_the_length(tmp_path: Path) -> None:
    nodes = [
        node("SequenceEmpty", [], ["a"], dtype=TensorProto.FLOAT),
        node("SequenceInsert", ["a", "x"], ["b"]),
        node("SequenceLength", ["b"], ["n"]),
        node("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["x", "f"], ["y"]),
    ]
    check(model(nodes), tmp_path)


def test_a_body_for_each_element(tmp_path: Path) -> None:
    """A sequence and a tensor; the body has a constant of its own and reads one from outside."""
    tensor = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            node("Add", ["e", "t"], ["s"]),
            node("Mul", ["s", "own"], ["m"]),
            node("Sub", ["m", "xx"], ["r"]),
        ],
        "body",
        [tensor("e", TensorProto.FLOAT, X.shape), tensor("t", TensorProto.FLOAT, X.shape)],
        [tensor("r", TensorProto.FLOAT, X.shape)],
        [numpy_helper.from_array(np.array(3, np.float32), "own")],
    )
    nodes = [
        TWICE,
        node("SequenceConstruct", ["x", "xx"], ["a"]),
        node("SequenceMap", ["a", "x"], ["y"], body=body),
    ]
    # onnx's evaluator lets no body read from outside
    first, second = run(model(nodes, SEQUENCE), tmp_path)
    assert np.array_equal(first, (X + X) * 3 - 2 * X)
    assert np.array_equal(second, (2 * X + X) * 3 - 2 * X)


def test_optionals(tmp_path: Path) -> None:
    """Whether one has a value decides an If."""
    tensor = helper.make_tensor_value_info
    branches = {
        name: helper.make_graph([n], name, [], [tensor("z", TensorProto.FLOAT, X.shape)])
        for name, n in (
            ("then_branch", node("OptionalGetElement", ["o"], ["z"])),
            ("else_branch", node("Neg", ["x"], ["z"])),
        )
    }
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, X.shape)
    for made, sign in (
        (node("Optional", ["x"], ["o"]), 1),
        (node("Optional", [], ["o"], type=kind), -1),
    ):
        nodes = [
            made,
            node("OptionalHasElement", ["o"], ["c"]),
            node("If", ["c"], ["y"], **branches),
        ]
        (y,) = run(model(nodes), tmp_path)
        assert np.array_equal(y, sign * X)


def test_an_optional_input_is_given(tmp_path: Path) -> None:
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, X.shape)
    nodes = [node("OptionalGetElement", ["x"], ["e"]), node("Neg", ["e"], ["y"])]
    (y,) = run(model(nodes, given=helper.make_optional_type_proto(tensor)), tmp_path)
    assert np.array_equal(y, -X)


@pytest.mark.parametrize(
    "nodes",
    [
        [node("SequenceConstruct", ["x"], ["a"]), node("SequenceAt", ["a", "one"], ["y"])],
        [node("SequenceConstruct", ["x"], ["a"]), node("SequenceErase", ["a", "one"], ["b"]),
         node("SequenceAt", ["b", "zero"], ["y"])],
        [node("SplitToSequence", ["x", "one"], ["a"]), node("SequenceAt", ["a", "i"], ["y"])],
        [node("SequenceEmpty", [], ["a"]), node("ConcatFromSequence", ["a"], ["y"], axis=0)],
    ],
)  # fmt: skip
def test_what_is_not_there_is_refused(tmp_path: Path, nodes: list[onnx.NodeProto]) -> None:
    """Positions beyond the end, and those that are computed."""
    made = model(nodes, FLOATS, {"one": ONE, "zero": np.array(0)})
    index = helper.make_tensor_value_info("i", TensorProto.INT64, [])
    made.graph.input.append(index)
    with pytest.raises(McuDeployError, match=r"Sequence\w*"):
        run(made, tmp_path)


def test_a_sequence_as_an_input_is_as_many_as_are_given_shapes(tmp_path: Path) -> None:
    """Of other sizes along the axis that the file has a name for."""
    some = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", 6])
    nodes = [
        node("Identity", ["x"], ["y"]),
        node("ConcatFromSequence", ["y"], ["z"], axis=0),
    ]
    made = model(nodes, SEQUENCE, given=helper.make_sequence_type_proto(some))
    made.graph.output.append(helper.make_value_info("z", FLOATS))
    path = tmp_path / "model.onnx"
    path.write_bytes(made.SerializeToString())
    graph = formats.load(path, {"x_0": (2, 6), "x_1": (1, 6)})
    assert [graph.edge_name(edge) for edge in graph.inputs] == ["x_0", "x_1"]
    found = interpreter.run(graph, [X, X[:1]])
    for value, wanted in zip(found, (X, X[:1], np.concatenate([X, X[:1]])), strict=True):
        assert np.array_equal(value, wanted)
    for shapes, said in (
        ({}, r"element of a sequence a shape \(--shape x_0=<size>,"),
        ({"x": (2, 6)}, "the input 'x', which the model does not have. Its inputs: 'x_0'"),
        ({"x_0": (2, 6), "x_2": (2, 6)}, "names the input 'x_2'"),
    ):
        with pytest.raises(McuDeployError, match=said):
            formats.load(path, shapes)


@pytest.mark.parametrize("taken", ["x_0", "y_1"])
def test_an_element_has_a_name_of_its_own(tmp_path: Path, taken: str) -> None:
    nodes = [node("Identity", ["x"], ["y"]), node("SequenceLength", ["y"], [taken])]
    path = tmp_path / "model.onnx"
    path.write_bytes(model(nodes, SEQUENCE, given=SEQUENCE).SerializeToString())
    with pytest.raises(McuDeployError, match=f"'{taken}' is an element of the sequence"):
        formats.load(path, {"x_0": (2, 6), "x_1": (2, 6)})


def carrying(rounds: str) -> list[onnx.NodeProto]:
    """A loop that puts x times the round's number into a sequence."""
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            node("Identity", ["c"], ["again"]),
            node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
            node("Mul", ["x", "f"], ["m"]),
            node("SequenceInsert", ["s", "m"], ["t"]),
        ],
        "body",
        [
            info("i", TensorProto.INT64, []),
            info("c", TensorProto.BOOL, []),
            helper.make_value_info("s", SEQUENCE),
        ],
        [info("again", TensorProto.BOOL, []), helper.make_value_info("t", SEQUENCE)],
    )
    return [
        node("SequenceEmpty", [], ["empty"]),
        node("Loop", [rounds, "", "empty"], ["y"], body=body),
    ]


def test_a_loop_that_carries_a_sequence_is_written_out(tmp_path: Path) -> None:
    # onnx's evaluator forgets all but the last round
    found = run(model(carrying("n"), SEQUENCE, {"n": np.array(3)}), tmp_path)
    for value, factor in zip(found, range(3), strict=True):
        assert np.array_equal(value, X * factor)
    with pytest.raises(McuDeployError, match="SequenceInsert"):
        run(model(carrying("n"), SEQUENCE, {"n": np.array(256)}), tmp_path)


def counting(limit: int) -> list[onnx.NodeProto]:
    """A Loop without a count that collects x * k for k from 0 on while k is less than `limit`."""
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            node("CastLike", ["k", "x"], ["f"]),
            node("Mul", ["x", "f"], ["m"]),
            node("SequenceInsert", ["s", "m"], ["t"]),
            node("Add", ["k", "one"], ["next"]),
            node("Less", ["next", "limit"], ["again"]),
        ],
        "body",
        [
            info("i", TensorProto.INT64, []),
            info("c", TensorProto.BOOL, []),
            info("k", TensorProto.INT64, []),
            helper.make_value_info("s", SEQUENCE),
        ],
        [
            info("again", TensorProto.BOOL, []),
            info("next", TensorProto.INT64, []),
            helper.make_value_info("t", SEQUENCE),
        ],
        [numpy_helper.from_array(np.array(limit), "limit")],
    )
    return [
        node("SequenceEmpty", [], ["empty"]),
        node("Loop", ["", "true", "zero", "empty"], ["last", "y"], body=body),
    ]


def test_a_condition_that_counts_says_how_often_a_loop_runs(tmp_path: Path) -> None:
    """As PyTorch's export of an EmbeddingBag has it."""
    constants = {"one": ONE, "zero": np.array(0), "true": np.array(True)}
    found = run(model(counting(3), SEQUENCE, constants), tmp_path)
    for value, factor in zip(found, range(3), strict=True):
        assert np.array_equal(value, X * factor)
    with pytest.raises(McuDeployError, match="SequenceInsert"):
        run(model(counting(256), SEQUENCE, constants), tmp_path)
    with pytest.raises(McuDeployError, match="SequenceInsert"):  # nobody knows whether it begins
        nodes = [
            node("ReduceMax", ["x"], ["most"], keepdims=0),
            node("Cast", ["most"], ["go"], to=9),
        ]
        nodes += counting(3)
        nodes[-1].input[1] = "go"
        run(model(nodes, SEQUENCE, constants), tmp_path)


def cutting(width: int) -> list[onnx.NodeProto]:
    """A Loop of three rounds that sums x[:, k:k + width], or x[:, k:] without a width."""
    info = helper.make_tensor_value_info
    end = [node("Add", ["k", "width"], ["stop"])] if width else []
    bounds = ["k1", "stop1" if width else "last", "one"]
    body = helper.make_graph(
        [
            *end,
            node("Unsqueeze", ["k", "zero"], ["k1"]),
            *([node("Unsqueeze", ["stop", "zero"], ["stop1"])] if width else []),
            node("Slice", ["x", *bounds], ["part"]),
            node("ReduceSum", ["part", "one"], ["sum"], keepdims=0),
            node("Identity", ["c"], ["again"]),
        ],
        "body",
        [info("k", TensorProto.INT64, []), info("c", TensorProto.BOOL, [])],
        [info("again", TensorProto.BOOL, []), info("sum", TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(np.array(width), "width"),
            numpy_helper.from_array(np.array([0]), "zero"),
            numpy_helper.from_array(np.array([1]), "one"),
            numpy_helper.from_array(np.array([6]), "last"),
        ],
    )
    return [node("Loop", ["three", "true"], ["y"], body=body)]


@pytest.mark.parametrize("width", [0, 2])
def test_a_loop_that_cuts_other_sizes_in_each_round_is_written_out(
    tmp_path: Path, width: int
) -> None:
    """As PyTorch's older exporter has an EmbeddingBag; one that cuts equal sizes stays a loop."""
    constants = {"three": np.array(3), "true": np.array(True)}
    made = model(cutting(width), constants=constants)
    check(made, tmp_path)
    ops = {n.op for n in formats.load(tmp_path / "model.onnx").nodes}
    assert ("Loop" in ops) == bool(width)
