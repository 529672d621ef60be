"""If, Loop and Scan from ONNX files: the interpreter computes what onnxruntime computes."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from control_cases import BOOL, FLOAT, INT, X, graph_of, load, node
from onnx import helper

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.agreement.reference import run_onnxruntime
from mcu_deploy.ir import Graph, verify

Array = npt.NDArray[Any]


def compare(
    graph: onnx.GraphProto,
    path: Path,
    *samples: Sequence[Array],
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> Graph:
    """The graph, which computes what onnxruntime computes, before optimisation and after it."""
    loaded = load(graph, path, shapes)
    wanted = run_onnxruntime(path / "model.onnx", samples)
    for stage in (loaded, passes.run(loaded)):
        verify(stage)
        for inputs, outputs in zip(samples, wanted.outputs, strict=True):
            for found, expected in zip(interpreter.run(stage, inputs), outputs, strict=True):
                assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
                assert np.allclose(found, expected, rtol=1e-6, atol=1e-6)
    return loaded


@functools.cache
def node_tests() -> Mapping[str, Any]:
    """ONNX's own node tests of these operators by name: a module makes its tests when imported.

    collect_testcases() would import them all, which takes long."""
    package = importlib.import_module("onnx.backend.test.case.node")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # overflowing casts, wanted ones
        for module in ("if_", "loop", "rangeop", "scan"):
            importlib.import_module(f"{package.__name__}.{module}")
    return {case.name: case for case in package._NodeTestCases}


def data_of(name: str) -> tuple[list[Array], list[Array]]:
    ((inputs, outputs),) = node_tests()[name].data_sets
    return [np.asarray(a) for a in inputs], [np.asarray(a) for a in outputs]


@pytest.mark.parametrize(
    "name",
    [
        "test_if", "test_scan9_sum", "test_scan9_multi_state", "test_scan9_scalar",
        "test_range_float_type_positive_delta_expanded",
        "test_range_int32_type_negative_delta_expanded",
    ],
)  # fmt: skip
def test_node_tests_of_onnx(name: str, tmp_path: Path) -> None:
    if name not in node_tests():
        pytest.skip("this version of onnx has other node tests")
    inputs, outputs = data_of(name)
    path = tmp_path / "model.onnx"
    path.write_bytes(node_tests()[name].model.SerializeToString())
    loaded = formats.load(path)
    for graph in (loaded, passes.run(loaded)):
        verify(graph)
        for found, wanted in zip(interpreter.run(graph, inputs), outputs, strict=True):
            assert found.dtype == wanted.dtype
            assert np.allclose(found, wanted)


def test_the_loop_of_onnx_that_slices_where_a_number_says(tmp_path: Path) -> None:
    """test_loop11: a slice of one element has a known size wherever it begins."""
    path = tmp_path / "model.onnx"
    path.write_bytes(node_tests()["test_loop11"].model.SerializeToString())
    inputs, outputs = data_of("test_loop11")
    for found, wanted in zip(interpreter.run(formats.load(path), inputs), outputs, strict=True):
        assert np.array_equal(found, wanted)


def test_branches_read_outer_values(tmp_path: Path) -> None:
    """Computed ones are extra inputs, initializers are constants of the branch."""
    then = graph_of([node("Add", "mid w", "t0"), node("Relu", "t0", "t")], {}, {"t": (FLOAT, None)})
    other = graph_of([node("Mul", "x mid", "e")], {}, {"e": (FLOAT, None)})
    graph = compare(
        graph_of(
            [
                node("Abs", "x", "mid"),
                node("If", "c", "y", then_branch=then, else_branch=other),
            ],
            {"c": (BOOL, []), "x": (FLOAT, [2, 3])}, {"y": (FLOAT, None)},
            {"w": np.full(3, -1, np.float32)},
        ),
        tmp_path, [np.array(True), X], [np.array(False), X],
    )  # fmt: skip
    (held,) = [n for n in graph.nodes if n.op == "If"]
    assert [graph.edge_name(e) for e in held.extra_inputs] == ["x", "mid"]
    branch = graph.subgraphs(held.id)["then_branch"]
    assert [branch.edge_name(e) for e in branch.inputs] == ["x", "mid"]
    assert [branch.edge_name(e) for e in branch.data.constants] == ["w"]


def test_a_branch_inside_of_a_loop_reads_from_both_graphs_around_it(tmp_path: Path) -> None:
    """Nothing states the shapes of what the loop carries and collects."""
    then = graph_of([node("Add", "state step", "t")], {}, {"t": (FLOAT, None)}, name="then")
    other = graph_of([node("Sub", "state scale", "e")], {}, {"e": (FLOAT, None)}, name="else")
    body = graph_of(
        [
            node("Identity", "go", "again"),
            node("Cast", "i", "flag", to=BOOL),
            node("If", "flag", "next", then_branch=then, else_branch=other),
            node("ReduceSum", "next", "total", keepdims=0),
        ],
        {"i": (INT, []), "go": (BOOL, []), "state": (FLOAT, None)},
        {"again": (BOOL, None), "next": (FLOAT, None), "total": (FLOAT, None)},
        name="body",
    )  # fmt: skip
    graph = compare(
        graph_of(
            [
                node("Abs", "x", "step"),
                node("Loop", "count yes x", "last sums", body=body),
                node("Neg", "sums", "y"),
            ],
            {"x": (FLOAT, [2, 3])}, {"last": (FLOAT, None), "y": (FLOAT, None)},
            {"count": np.int64(5), "yes": np.array(True), "scale": np.full(3, 2, np.float32)},
        ),
        tmp_path, [X],
    )  # fmt: skip
    (loop,) = [n for n in graph.nodes if n.op == "Loop"]
    assert [graph.edge_name(e) for e in loop.extra_inputs] == ["step"]
    assert graph.type(graph.outputs[1]).shape == (5,)


def test_a_loop_that_ends_by_its_condition(tmp_path: Path) -> None:
    body = graph_of(
        [node("Add", "state state", "next"), node("ReduceMax", "next", "top", keepdims=0),
         node("Sub", "limit top", "left"), node("Relu", "left", "some"),
         node("Cast", "some", "again", to=BOOL)],
        {"i": (INT, []), "go": (BOOL, []), "state": (FLOAT, ["n", 3])},
        {"again": (BOOL, []), "next": (FLOAT, None)},
    )  # fmt: skip
    graph = graph_of(
        [helper.make_node("Loop", ["", "go", "x"], ["y"], body=body)],
        {"go": (BOOL, []), "x": (FLOAT, [2, 3]), "limit": (FLOAT, [])}, {"y": (FLOAT, None)},
    )  # fmt: skip
    limit = np.array(100, np.float32)
    compare(graph, tmp_path, [np.array(True), X, limit], [np.array(False), X, limit])


@pytest.mark.parametrize("axes", [(0, 0), (1, 1), (-1, 0)])
@pytest.mark.parametrize("directions", [(0, 0), (1, 0), (0, 1)])
def test_scans_along_any_axis_in_any_direction(
    axes: tuple[int, int], directions: tuple[int, int], tmp_path: Path
) -> None:
    size = X.shape[1 - axes[0] % 2]
    body = graph_of(
        [node("Add", "state part", "next"), node("Mul", "next scale", "seen")],
        {"state": (FLOAT, [size]), "part": (FLOAT, [size])},
        {"next": (FLOAT, None), "seen": (FLOAT, None)},
    )
    scan = node(
        "Scan", "first x", "last y", body=body, num_scan_inputs=1, scan_input_axes=axes[:1],
        scan_output_axes=axes[1:], scan_input_directions=directions[:1],
        scan_output_directions=directions[1:],
    )  # fmt: skip
    graph = graph_of(
        [scan], {"first": (FLOAT, [size]), "x": (FLOAT, [2, 3]), "scale": (FLOAT, [])},
        {"last": (FLOAT, None), "y": (FLOAT, None)},
    )  # fmt: skip
    compare(graph, tmp_path, [np.ones(size, np.float32), X, np.array(0.5, np.float32)])


def test_a_branch_that_is_known_takes_the_place_of_its_if(tmp_path: Path) -> None:
    """Also where the other branch has another shape, as exporters write it for Squeeze."""
    then = graph_of(
        [node("Squeeze", "mid axes", "s"), node("Neg", "s", "t")], {},
        {"t": (FLOAT, None)}, {"axes": np.array([0])},
    )  # fmt: skip
    other = graph_of([node("Identity", "mid", "e")], {}, {"e": (FLOAT, None)})
    nodes = [
        node("Abs", "x", "mid"),
        node("Shape", "mid", "sizes"),
        node("Gather", "sizes zero", "size"),
        node("Equal", "size one", "c"),
        node("If", "c", "y", then_branch=then, else_branch=other),
        node("If", "c", "z", then_branch=then, else_branch=other),
    ]
    for x in (X[None], np.stack([X, X])):
        graph = compare(
            graph_of(
                nodes, {"x": (FLOAT, ["n", 2, 3])}, {"y": (FLOAT, None), "z": (FLOAT, None)},
                {"zero": np.int64(0), "one": np.int64(1)},
            ),
            tmp_path, [x], shapes={"x": x.shape},
        )  # fmt: skip
        assert not graph.data.subgraphs
        assert [graph.edge_name(e) for e in graph.outputs] == ["y", "z"]


def test_quantized_operators_in_a_branch_become_integer_nodes(tmp_path: Path) -> None:
    """Their scales are constants of the graph around it."""

    def pair(op: str) -> onnx.GraphProto:
        added = helper.make_node(
            op, ["q", "s", "z", "q", "s", "z", "s2", "z"], ["a"], "inner", domain="com.microsoft"
        )
        return graph_of([added, node("DequantizeLinear", "a s2 z", "t")], {}, {"t": (FLOAT, None)})

    graph = graph_of(
        [
            node("QuantizeLinear", "x s z", "q"),
            node("If", "c", "y", then_branch=pair("QLinearAdd"), else_branch=pair("QLinearMul")),
        ],
        {"c": (BOOL, []), "x": (FLOAT, [2, 3])}, {"y": (FLOAT, [2, 3])},
        {"s": np.float32(0.1), "s2": np.float32(0.25), "z": np.int8(3)},
    )  # fmt: skip
    loaded = compare(graph, tmp_path, [np.array(True), X], [np.array(False), X])
    (held,) = [n for n in passes.run(loaded).nodes if n.op == "If"]
    branch = passes.run(loaded).subgraphs(held.id)["then_branch"]
    assert [n.op for n in branch.nodes] == ["Add", "DequantizeLinear"]
