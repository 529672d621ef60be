"""Operators that are read as the functions that ONNX defines them to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from mcu_deploy import compile_model, formats, interpreter
from mcu_deploy.boards import load_board
from mcu_deploy.errors import McuDeployError
from mcu_deploy.formats import onnx_functions
from mcu_deploy.ir import Graph
from mcu_deploy.options import Options

X = np.random.default_rng(0).standard_normal((2, 3, 4, 4)).astype(np.float32)


def _read(
    path: Path,
    op: str,
    shapes: Mapping[str, Sequence[int | str]],
    opset: int,
    name: str = "norm",
    **attributes: Any,
) -> Graph:
    """The graph of a model of one node; "" is an absent input."""
    info = helper.make_tensor_value_info
    given = [info(n, onnx.TensorProto.FLOAT, s) for n, s in shapes.items() if n]
    output = info("y", onnx.TensorProto.FLOAT, None)
    node = helper.make_node(op, [*shapes], ["y"], name, **attributes)
    model = helper.make_model(
        helper.make_graph([node], "g", given, [output]),
        opset_imports=[helper.make_opsetid("", opset)], ir_version=8,
    )  # fmt: skip
    path.write_bytes(model.SerializeToString())
    return formats.load(path, {})


def _normalized(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / x.std(axes, keepdims=True)


@pytest.mark.parametrize("opset", [9, 13, 18])
def test_attributes_that_the_node_leaves_out_have_their_defaults(
    opset: int, tmp_path: Path
) -> None:
    """Of the body for the opset: axes are an attribute of ReduceMean-13, and an input of -18."""
    graph = _read(tmp_path / "m.onnx", "MeanVarianceNormalization", {"x": X.shape}, opset)
    assert {node.op for node in graph.nodes} == {"ReduceMean", "Pow", "Sub", "Sqrt", "Add", "Div"}
    (y,) = interpreter.run(graph, [X])
    np.testing.assert_allclose(y, _normalized(X, (0, 2, 3)), rtol=1e-4, atol=1e-5)


def test_attributes_of_the_node_are_those_of_the_body(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    graph = _read(path, "MeanVarianceNormalization", {"x": X.shape}, 18, axes=[1])
    (y,) = interpreter.run(graph, [X])
    np.testing.assert_allclose(y, _normalized(X, (1,)), rtol=1e-4, atol=1e-5)


def test_nodes_of_a_body_bear_the_name_of_its_node(tmp_path: Path) -> None:
    graph = _read(tmp_path / "m.onnx", "RMSNormalization", {"x": X.shape, "s": (4,)}, 23)
    assert all(node.name.startswith("norm/") for node in graph.nodes)
    unnamed = _read(tmp_path / "u.onnx", "RMSNormalization", {"x": X.shape, "s": (4,)}, 23, "")
    assert all(node.name.startswith("RMSNormalization_0/") for node in unnamed.nodes)


def test_an_open_batch_is_bound_before(tmp_path: Path) -> None:
    graph = _read(tmp_path / "m.onnx", "RMSNormalization", {"x": ("N", 4), "s": (4,)}, 23)
    assert graph.type(graph.outputs[0]).shape == (1, 4)


def test_an_absent_input_stays_absent(tmp_path: Path) -> None:
    """Query, key and value, without a mask and with the keys that are past."""
    heads = (1, 2, 3, 4)
    given = {"q": heads, "k": heads, "v": heads, "": (), "pk": heads, "pv": heads}
    graph = _read(tmp_path / "m.onnx", "Attention", given, 23)
    rng = np.random.default_rng(1)
    q, k, v, pk, pv = (rng.standard_normal(heads).astype(np.float32) for _ in range(5))
    (y,) = interpreter.run(graph, [q, k, v, pk, pv])
    keys, values = np.concatenate([pk, k], 2), np.concatenate([pv, v], 2)
    scores = np.exp(q @ keys.transpose(0, 1, 3, 2) / 2)
    np.testing.assert_allclose(y, scores / scores.sum(-1, keepdims=True) @ values, rtol=1e-4)


def test_what_is_known_stays_one_node(tmp_path: Path) -> None:
    graph = _read(tmp_path / "m.onnx", "LeakyRelu", {"x": X.shape}, 16)
    assert [node.op for node in graph.nodes] == ["LeakyRelu"]
    assert not {"LeakyRelu", "Softmax", "Bernoulli"} & set(onnx_functions.names())


def test_a_refusal_names_the_node_of_the_body(tmp_path: Path) -> None:
    """By a backend that has kernels of integers alone."""
    info, real = helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    given = [info(name, real, (1, 2, 3, 4)) for name in "qkv"]
    node = helper.make_node("Attention", [*"qkv"], ["y"], "attend")
    graph = helper.make_graph([node], "g", given, [info("y", real, None)])
    path = tmp_path / "m.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    with pytest.raises(McuDeployError, match="Softmax 'attend/Softmax"):
        compile_model(path, load_board("mps2-an386"), options=Options(backends=("ArmDsp",)))
