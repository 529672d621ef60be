"""Kept tensors, partitions and states: names that users give, and the edges that are meant."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from operators.lab import make_model

from mcu_deploy import formats
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import UsageError
from mcu_deploy.ir import Graph
from mcu_deploy.options import (
    Options,
    PartitionRequest,
    Requests,
    StateRequest,
    parse_partition,
    parse_state,
)
from mcu_deploy.passes import marks


def quantized(folder: Path) -> Path:
    """x_q -> DQ -> (x) Conv -> (c) Relu -> (r) Q -> y_q -> DQ -> (y) MaxPool -> (p) Q -> z."""
    scale, zero = np.float32(0.5), np.int8(0)
    constants = {
        "s": np.array(scale), "z8": np.array(zero), "w_q": np.ones((1, 1, 1, 1), np.int8),
    }  # fmt: skip
    quantize = [("DequantizeLinear", "x_q", "x"), ("DequantizeLinear", "w_q", "w")]
    nodes = [helper.make_node(op, [a, "s", "z8"], [b]) for op, a, b in quantize]
    nodes += [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("QuantizeLinear", ["r", "s", "z8"], ["y_q"]),
        helper.make_node("DequantizeLinear", ["y_q", "s", "z8"], ["y"]),
        helper.make_node("MaxPool", ["y"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("QuantizeLinear", ["p", "s", "z8"], ["z"]),
    ]
    model = make_model(
        nodes, {"x_q": ("int8", (1, 1, 4, 4))}, {"z": ("int8", (1, 1, 2, 2))}, constants
    )
    path = folder / "quantized.onnx"
    path.write_bytes(model.SerializeToString())
    return path


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return formats.load(quantized(tmp_path))


def compiled(path: Path, requests: Requests) -> Network:
    return compile_model(path, load_board("host"), name="net", options=Options(requests=requests))


@pytest.mark.parametrize(
    ("name", "meant"), [("x_q", "x_q"), ("x", "x_q"), ("r", "y_q"), ("y", "y_q"), ("p", "z")]
)
def test_a_real_tensor_between_quantizers_is_the_one_in_memory(
    graph: Graph, name: str, meant: str
) -> None:
    edge = graph.find_edge(name)
    assert edge is not None
    assert graph.edge_name(marks.stored(graph, edge)) == meant


def test_a_cut_inside_of_an_integer_layer_is_made_behind_it(graph: Graph) -> None:
    for name, meant in (("c", "y_q"), ("r", "y_q"), ("y", "y_q"), ("x", "x_q")):
        assert graph.edge_name(marks.find_cut(graph, name, "--split")) == meant


def test_the_parts_of_a_cut_inside_of_a_layer_stay_integer(tmp_path: Path) -> None:
    parts = (
        PartitionRequest("head", ("x_q",), ("c",)), PartitionRequest("tail", ("c",), ("z",)),
    )  # fmt: skip
    network = compiled(quantized(tmp_path), Requests(partitions=parts))
    head, tail = network.plan.exposure.partitions
    assert head.outputs == tail.inputs
    assert network.graph.type(head.outputs[0]).dtype.is_integer
    assert len(network.plan.steps) == 2


def test_one_tensor_may_be_asked_for_by_several_names(tmp_path: Path) -> None:
    network = compiled(quantized(tmp_path), Requests(keep=("y", "y_q", "r", "y")))
    kept = network.plan.exposure.kept
    assert [k.name for k in kept] == ["y", "y_q", "r"]
    assert len({network.plan.place(k.edge) for k in kept}) == 1


@pytest.mark.parametrize(
    ("requests", "sentence"),
    [
        (Requests(keep=("y_p",)), r"--keep y_p names 'y_p', but the model has no.*Did you mean y"),
        (Requests(keep=("nothing_like_it",)), r"has no tensor of this name\. A viewer"),
        (Requests(keep=("w_q",)), "which is a constant of the model"),
        (
            Requests(partitions=(PartitionRequest("a", ("x_q",), ("why",)),)),
            "--partition a names 'why'",
        ),
        (
            Requests(partitions=(PartitionRequest("a", (), ("z",)),)),
            "partition 'a' needs 'x_q', which is not among its inputs",
        ),
        (
            Requests(partitions=(PartitionRequest("a", ("x_q",), ("z",)),) * 2),
            "--partition says 'a' twice",
        ),
        (Requests(states=(StateRequest("x_q", "z"),) * 2), "--state says 'x_q' twice"),
        (Requests(states=(StateRequest("x", "z"),)), "no input 'x'; it has x_q"),
        (Requests(states=(StateRequest("x_q", "y_q"),)), "no output 'y_q'; it has z"),
        (Requests(states=(StateRequest("x_q", "z"),)), "must be alike, quantization included"),
    ],
)
def test_what_cannot_be_reached_is_said(requests: Requests, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=sentence):
        compiled(quantized(tmp_path), requests)


def test_a_state_is_neither_input_nor_output(tmp_path: Path) -> None:
    nodes = [helper.make_node("Add", ["x", "s"], ["t"]), helper.make_node("Neg", ["t"], ["y"])]
    shape = ("float32", (3,))
    path = tmp_path / "s.onnx"
    model = make_model(nodes, {"x": shape, "s": shape}, {"t": shape, "y": shape})
    path.write_bytes(model.SerializeToString())
    network = compiled(path, Requests(states=(StateRequest("s", "t"),), keep=("t",)))
    names = network.graph.edge_name
    assert [names(e) for e in network.inputs] == ["x"]
    assert [names(e) for e in network.outputs] == ["y"]
    (state,) = network.plan.exposure.states
    assert (names(state.input), names(state.output)) == ("s", "t")
    assert not state.first(network.graph).any()


def test_a_state_has_one_scale(tmp_path: Path) -> None:
    constants = {"s": np.array(0.5, np.float32), "t": np.array(0.25, np.float32),
                 "z": np.array(0, np.int8)}  # fmt: skip
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("QuantizeLinear", ["b", "t", "z"], ["y"]),
    ]
    shape = ("int8", (3,))
    path = tmp_path / "s.onnx"
    path.write_bytes(make_model(nodes, {"x": shape}, {"y": shape}, constants).SerializeToString())
    with pytest.raises(UsageError, match="must be alike, quantization included"):
        compiled(path, Requests(states=(StateRequest("x", "y"),)))


def test_requests_survive_a_report() -> None:
    requests = Requests(
        ("a",), (PartitionRequest("p", ("i", "j"), ("o",)),), (StateRequest("s", "t"),)
    )
    assert Requests(**json.loads(json.dumps(asdict(requests)))) == requests
    assert replace(requests, keep=()) != requests


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("p=a:b", PartitionRequest("p", ("a",), ("b",))),
        ("p=a,b:c,d", PartitionRequest("p", ("a", "b"), ("c", "d"))),
        ('p="a,x":"b:y"', PartitionRequest("p", ("a,x",), ("b:y",))),
        ("p=:b", PartitionRequest("p", (), ("b",))),
    ],
)
def test_partitions_are_read(text: str, parsed: PartitionRequest) -> None:
    assert parse_partition(text) == parsed


@pytest.mark.parametrize("text", ["p", "p=a", "=a:b", "p=a:"])
def test_what_is_no_partition_is_said(text: str) -> None:
    with pytest.raises(UsageError, match=r"NAME=IN,\.\.:OUT,\.\."):
        parse_partition(text)


def test_states_are_read() -> None:
    assert parse_state("a=b") == StateRequest("a", "b")
    for text in ("a", "=b", "a="):
        with pytest.raises(UsageError, match="INPUT=OUTPUT"):
            parse_state(text)
