"""Tensors of as many elements as the values say: those of onnxruntime, and how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from operators.lab import (
    Array,
    Case,
    Compiled,
    build_on_host,
    compile_case,
    make_model,
    run_onnxruntime,
    run_turns,
)

from mcu_deploy import interpreter
from mcu_deploy.agreement.counted import with_room
from mcu_deploy.errors import McuDeployError

RNG = np.random.default_rng(5)
Shapes = Mapping[str, tuple[str, Sequence[int]]]


def _floats(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def _few(*shape: int) -> Array:
    """Floats of few values, zeros of both signs among them."""
    return RNG.choice(np.array([0.0, -0.0, 1.0, -2.5, np.inf, 7.0], np.float32), shape)


def _case(
    name: str,
    nodes: Sequence[onnx.NodeProto],
    given: Mapping[str, Array],
    outputs: Mapping[str, str],
    constants: Mapping[str, Array] | None = None,
) -> Case:
    shapes = {k: (v.dtype.name, v.shape) for k, v in given.items()}
    model = make_model(nodes, shapes, {k: (v, None) for k, v in outputs.items()}, constants)
    return Case(name, model, tuple(given.values()))


def _unique(name: str, shape: tuple[int, ...], outputs: str, **attributes: int) -> Case:
    types = {"y": "float32", "first": "int64", "of": "int64", "often": "int64"}
    written = outputs.split(",")
    node = helper.make_node("Unique", ["x"], written, **attributes)
    return _case(name, [node], {"x": _few(*shape)}, {n: types[n] for n in written if n})


def _suppression(name: str, shape: tuple[int, int, int], most: int, center: bool = False) -> Case:
    batches, _, boxes = shape
    node = helper.make_node(
        "NonMaxSuppression", ["b", "s", "most", "overlap", "score"], ["y"],
        center_point_box=int(center),
    )  # fmt: skip
    given = {
        "b": RNG.random((batches, boxes, 4)).astype(np.float32),
        "s": (RNG.integers(0, 40, shape) / 40).astype(np.float32),  # equal ones among them
    }
    constants = {
        "most": np.array([most]), "overlap": np.array([0.3], np.float32),
        "score": np.array([0.25], np.float32),
    }  # fmt: skip
    return _case(name, [node], given, {"y": "int64"}, constants)


def _detector() -> Case:
    """How an exported detector ends: the boxes that are kept, scaled."""
    make = helper.make_node
    nodes = [
        make("NonMaxSuppression", ["b", "s", "most", "overlap"], ["kept"]),
        make("Slice", ["kept", "two", "three", "one"], ["column"]),
        make("Squeeze", ["column", "one"], ["k"]),
        make("Squeeze", ["b", "zero"], ["flat"]),
        make("Gather", ["flat", "k"], ["boxes"], axis=0),
        make("Mul", ["boxes", "scale"], ["scaled"]),
        make("Transpose", ["scaled"], ["y"], perm=[1, 0]),
    ]
    sizes = {"b": (1, 30, 4), "s": (1, 3, 30)}
    given = {name: RNG.random(size).astype(np.float32) for name, size in sizes.items()}
    constants = {
        "most": np.array([4]), "overlap": np.array([0.4], np.float32), "zero": np.array([0]),
        "one": np.array([1]), "two": np.array([2]), "three": np.array([3]),
        "scale": np.array([320, 240, 320, 240], np.float32),
    }  # fmt: skip
    return _case("detector", nodes, given, {"y": "float32", "k": "int64"}, constants)


def cases() -> list[Case]:
    make = helper.make_node
    condition = RNG.random(9) < 0.5
    return [
        _case("NonZero", [make("NonZero", ["x"], ["y"])], {"x": _few(2, 1, 3, 4)}, {"y": "int64"}),
        _case("NonZero none", [make("NonZero", ["x"], ["y"])], {"x": np.zeros((2, 3), np.int64)},
              {"y": "int64"}),
        _case("NonZero turned", [make("NonZero", ["x"], ["p"]), make("Transpose", ["p"], ["y"])],
              {"x": RNG.random((3, 5)) < 0.5}, {"y": "int64"}),
        _case("Compress all", [make("Compress", ["x", "c"], ["y"])],
              {"x": _floats(3, 4), "c": condition}, {"y": "float32"}),
        _case("Compress axis", [make("Compress", ["x", "c"], ["y"], axis=-2)],
              {"x": _floats(3, 9, 2), "c": condition}, {"y": "float32"}),
        _case("Compress first", [make("Compress", ["x", "c"], ["y"], axis=1)],
              {"x": _floats(3, 9, 2), "c": condition[:4]}, {"y": "float32"}),
        _unique("Unique", (4, 5), "y,first,of,often"),
        _unique("Unique as met", (20,), "y,first,of,often", sorted=0),
        _unique("Unique places", (20,), "y,,of"),
        _unique("Unique columns", (2, 40), "y,,of,often", axis=1),
        _unique("Unique planes", (2, 9, 1), "y,first", axis=1, sorted=0),
        _suppression("NonMaxSuppression", (2, 3, 25), 6),
        _suppression("NonMaxSuppression centers", (1, 2, 25), 100, center=True),
        _detector(),
    ]  # fmt: skip


def _judge(compiled: Compiled, inputs: Sequence[Array], device: Sequence[Array]) -> None:
    """The device has the oracle's bits in all of its room, and onnxruntime's elements in front."""
    ours = interpreter.run(compiled.graph, list(inputs))
    for a, b in zip(device, ours, strict=True):
        np.testing.assert_array_equal(a, b)
    theirs = run_onnxruntime(compiled.case.model, inputs, optimise=False)
    (whole,) = with_room(compiled.graph, compiled.graph.outputs, [ours], [theirs])
    for place, (a, b) in enumerate(zip(ours, whole, strict=True)):
        np.testing.assert_array_equal(a, b, f"output {place}")


@pytest.mark.needs_host_gcc
def test_elements_and_counts_are_those_of_onnxruntime(tmp_path: Path) -> None:
    compiled = [compile_case(case, tmp_path, k) for k, case in enumerate(cases())]
    for item in compiled:
        name = item.graph.edge_name(item.graph.outputs[-1])
        assert name.endswith("_count")
    rooms = {item.case.name: item.graph.type(item.graph.outputs[0]).shape for item in compiled}
    assert (rooms["Compress axis"], rooms["Compress first"]) == ((3, 9, 2), (3, 4, 2))
    program = build_on_host(compiled, tmp_path)
    turns = [
        [
            [RNG.permutation(x.reshape(-1)).reshape(x.shape) for x in item.case.inputs]
            for item in compiled
        ]
        for _ in range(5)
    ]
    for inputs, results in zip(turns, run_turns(program, compiled, turns), strict=True):
        for item, given, (status, found) in zip(compiled, inputs, results, strict=True):
            assert status == 0
            _judge(item, given, found)


def test_a_condition_that_is_constant_counts_nothing(tmp_path: Path) -> None:
    condition = np.array([True, False, True])
    for number, (axis, wanted) in enumerate((({"axis": 1}, (2, 2)), ({}, (2,)))):
        node = helper.make_node("Compress", ["x", "c"], ["y"], **axis)
        case = _case("c", [node], {"x": _floats(2, 3)}, {"y": "float32"}, {"c": condition})
        compiled = compile_case(case, tmp_path, number)
        (y,) = compiled.expected
        assert y.shape == wanted
        np.testing.assert_array_equal(y, run_onnxruntime(case.model, case.inputs, False)[0])


def test_a_name_that_is_taken_is_not_taken_twice(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("NonZero", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["y_count"])
    ]  # fmt: skip
    case = _case("n", nodes, {"x": _floats(3)}, {"y": "int64", "y_count": "float32"})
    graph = compile_case(case, tmp_path, 0).graph
    assert [graph.edge_name(e) for e in graph.outputs] == ["y", "y_count", "y_count_"]


@pytest.mark.parametrize(
    "reader",
    [
        helper.make_node("ReduceSum", ["f"], ["z"], keepdims=0),
        helper.make_node("Softmax", ["f"], ["z"], axis=1),
        helper.make_node("Concat", ["f", "f"], ["z"], axis=1),
        helper.make_node("Slice", ["f", "from", "to", "axis"], ["z"]),
        helper.make_node("Shape", ["p"], ["z"]),
    ],
    ids=lambda node: str(node.op_type),
)
def test_what_computes_with_all_elements_is_refused(tmp_path: Path, reader: onnx.NodeProto) -> None:
    """The model has them as an output as well: nothing is bound behind anybody's back."""
    nodes = [
        helper.make_node("NonZero", ["x"], ["p"], "places"),
        helper.make_node("Cast", ["p"], ["f"], to=1), reader,
    ]  # fmt: skip
    constants = {"from": np.array([0]), "to": np.array([1]), "axis": np.array([1])}
    type_ = "int64" if reader.op_type == "Shape" else "float32"
    case = _case("c", nodes, {"x": _floats(4)}, {"z": type_, "p": "int64"}, constants)
    with pytest.raises(McuDeployError, match=r"NonZero 'places': how many elements"):
        compile_case(case, tmp_path, 0)
