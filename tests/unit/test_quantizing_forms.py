"""What layers of float models become before and when they are quantized: they compute the same, and
in integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from quantizing_nets import (
    depthwise_net,
    model_of,
    normalized_net,
    prepared,
    results,
    samples,
    trials,
)

from mcu_deploy import compiler, formats, passes
from mcu_deploy.api.quantizing import quantize
from mcu_deploy.boards import load_board
from mcu_deploy.quantizing import judging
from mcu_deploy.quantizing.choosing import Recipe
from mcu_deploy.quantizing.statistics import SampleShare
from mcu_deploy.report.floats import require_integers

pytestmark = pytest.mark.usefixtures("one_recipe")


def test_what_can_be_folded_is_and_the_model_computes_the_same(tmp_path: Path) -> None:
    model, x = depthwise_net(), samples(1)[0]
    net = prepared(model, tmp_path)
    assert [n.op_type for n in net.nodes] == [
        *["Conv", "Relu"] * 3, "GlobalAveragePool", "Flatten", "Gemm", "Softmax"
    ]  # fmt: skip
    np.testing.assert_allclose(results(net.model(), x)[0], results(model, x)[0], rtol=1e-5)


@pytest.mark.parametrize(
    "attributes",
    [
        {"size": (2, 2), "strides": [2, 2]},
        {"size": (3, 3), "strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]},
        {"size": (4, 4), "group": 3, "strides": [2, 2], "pads": [1] * 4},
    ],
)
def test_a_transposed_convolution_is_computed_in_integers(
    attributes: dict[str, Any], tmp_path: Path
) -> None:
    """Whose biases make good what the rounded weights add to its outputs."""
    random, given = np.random.default_rng(2), dict(attributes)
    size = given.pop("size")
    node = helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], "up", **given)
    outputs = 2 * given.get("group", 1)
    constants = {"w": random.normal(size=(3, 2, *size)), "b": random.normal(size=outputs)}
    shape = (1, 3, 4, 5)
    whole = model_of([node], constants, {"x": shape}, {"y": [1, outputs, "h", "w"]})
    result = results(whole, samples(1, shape)[0])[0].shape
    model = model_of([node], constants, {"x": shape}, {"y": result})
    tried = trials(model, (samples(40, shape) + 3.0).astype(np.float32), tmp_path)
    share = SampleShare(tried.file, frozenset(range(40)))
    made = {biases: tried.make(Recipe(biases=biases), share) for biases in (False, True)}
    onnx.save(made[True], tmp_path / "q.onnx")
    graph = passes.run(formats.load(tmp_path / "q.onnx"))
    (layer,) = (n for n in graph.nodes if n.op == "ConvTranspose")
    assert graph.type(layer.writes[0]).is_quantized
    means = {}
    for biases, one in made.items():
        found = judging.results(one, judging.judged_names(one), share)
        apart = [a[0] - b[0] for a, b in zip(found, tried.wanted(share), strict=True)]
        means[biases] = np.abs(np.mean(apart, axis=(0, 1, 3, 4))).max()
    assert means[True] < 0.5 * means[False]


def attention_net() -> onnx.ModelProto:
    """LayerNormalization, a dense layer of [1, 4, 6], a Gelu of operators, a square."""
    random = np.random.default_rng(3)
    constants = {
        "g": random.normal(size=6), "b": random.normal(size=6), "w": random.normal(size=(6, 5)),
        "c": random.normal(size=5), "root": np.float32(2**0.5), "one": np.float32(1),
        "half": np.float32(0.5), "two": np.float32(2), "v": random.normal(size=(5, 3)),
    }  # fmt: skip
    nodes = [
        helper.make_node("LayerNormalization", ["x", "g", "b"], ["l"]),
        helper.make_node("MatMul", ["l", "w"], ["m"]),
        helper.make_node("Add", ["m", "c"], ["a"]),
        helper.make_node("Div", ["a", "root"], ["d"]),
        helper.make_node("Erf", ["d"], ["e"]),
        helper.make_node("Add", ["e", "one"], ["f"]),
        helper.make_node("Mul", ["a", "f"], ["h"]),
        helper.make_node("Mul", ["h", "half"], ["gelu"]),
        helper.make_node("Pow", ["gelu", "two"], ["s"]),
        helper.make_node("MatMul", ["s", "v"], ["y"]),
    ]
    return model_of(nodes, constants, {"x": [1, 4, 6]}, {"y": [1, 4, 3]})


def test_layers_of_a_transformer_become_integers(tmp_path: Path) -> None:
    model, x = attention_net(), samples(1, (1, 4, 6))[0]
    net = prepared(model, tmp_path)
    # The factor and the shift of the normalization are part of the dense layer.
    kinds = [n.op_type for n in net.nodes]
    assert kinds.count("Gemm") == 2
    (norm,) = (n for n in net.nodes if n.op_type == "LayerNormalization")
    assert len(norm.input) == 2 and (net.constants[norm.input[1]] == 1).all()
    np.testing.assert_allclose(results(net.model(), x)[0], results(model, x)[0], rtol=1e-4)
    np.savez(tmp_path / "s.npz", in0=samples(30, (1, 4, 6)))
    made = quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    graph = passes.run(formats.load(tmp_path / "q.onnx"))
    assert not any(graph.type(e).dtype.is_float for n in graph.nodes for e in n.writes)
    assert "Table" in {n.op for n in graph.nodes}  # the Gelu
    assert made.accuracy[-1].judged.mean_sqnr > 20


def test_a_concat_has_one_scale_and_relus_before_it_still_clamp(tmp_path: Path) -> None:
    random = np.random.default_rng(8)
    nodes = [
        helper.make_node("Conv", ["x", "a"], ["p"]),
        helper.make_node("Relu", ["p"], ["q"]),
        helper.make_node("Conv", ["x", "b"], ["r"]),
        helper.make_node("Concat", ["q", "r"], ["s"], axis=1),
        helper.make_node("Conv", ["s", "c"], ["y"]),
    ]
    shapes = {"a": (3, 2, 1, 1), "b": (3, 2, 1, 1), "c": (2, 6, 3, 3)}
    constants = {name: random.normal(size=shape) for name, shape in shapes.items()}
    model = model_of(nodes, constants, {"x": [1, 2, 5, 5]}, {"y": [1, 2, 3, 3]})
    onnx.save(model, tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(12, (1, 2, 5, 5)))
    made = quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    graph = passes.run(formats.load(tmp_path / "q.onnx"))
    assert not any(graph.type(e).dtype.is_float for n in graph.nodes for e in n.writes)
    assert made.accuracy[-1].judged.mean_sqnr > 30


def test_dense_layers_take_in_what_normalizations_end_with(tmp_path: Path) -> None:
    """Their gains and biases, which two of them share here; where nothing else reads them."""
    model = normalized_net()
    net, x = prepared(model, tmp_path), samples(1, (1, 5, 4))[0]
    norms = [node for node in net.nodes if node.op_type == "LayerNormalization"]
    assert [len(node.input) for node in norms] == [2, 2]
    assert all((net.constants[node.input[1]] == 1).all() for node in norms)
    np.testing.assert_allclose(results(net.model(), x)[0], results(model, x)[0], rtol=2e-4)
    model.graph.node.append(helper.make_node("Relu", ["n1"], ["z"]))
    model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 5, 6]))
    net = prepared(model, tmp_path)
    norms = [node for node in net.nodes if node.op_type == "LayerNormalization"]
    assert [len(node.input) for node in norms] == [2, 3]
    for found, wanted in zip(results(net.model(), x), results(model, x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-4)


def test_what_a_graph_inside_of_a_node_reads_stays(tmp_path: Path) -> None:
    """An If whose branches read a tensor and a constant from outside."""

    def branch(op: str) -> onnx.GraphProto:
        value = helper.make_tensor_value_info("r", TensorProto.FLOAT, [1, 4])
        return helper.make_graph([helper.make_node(op, ["a", "k"], ["r"])], op, [], [value])

    random = np.random.default_rng(13)
    constants = {"w": random.normal(size=(4, 4)), "k": random.normal(size=(1, 4))}
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["g"]),
        helper.make_node("Identity", ["g"], ["a"]),
        helper.make_node("ReduceMax", ["g"], ["m"], keepdims=0),
        helper.make_node("Greater", ["m", "zero"], ["c"]),
        helper.make_node("If", ["c"], ["i"], then_branch=branch("Add"), else_branch=branch("Mul")),
        helper.make_node("Gemm", ["i", "w"], ["y"]),
    ]
    constants["zero"] = np.float32(0)  # type: ignore[assignment]
    model = model_of(nodes, constants, {"x": [1, 4]}, {"y": [1, 4]})
    net, x = prepared(model, tmp_path), samples(1, (1, 4))[0]
    np.testing.assert_allclose(results(net.model(), x)[0], results(model, x)[0], rtol=1e-5)
    np.savez(tmp_path / "s.npz", in0=samples(12, (1, 4)))
    made = quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    assert made.accuracy[-1].judged.mean_sqnr > 20


def test_a_tensor_that_is_always_zero_and_an_old_opset(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Conv", ["r", "v"], ["y"]),
    ]
    random = np.random.default_rng(14)
    constants = {
        "w": random.normal(size=(3, 2, 1, 1)), "b": np.full(3, -100.0),
        "v": random.normal(size=(2, 3, 1, 1)),
    }  # fmt: skip
    model = model_of(nodes, constants, {"x": [1, 2, 4, 4]}, {"y": [1, 2, 4, 4]}, opset=11)
    onnx.save(model, tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(12, (1, 2, 4, 4)))
    made = quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    assert made.accuracy[-1].judged.mean_sqnr == judging.MOST_DB


def test_a_number_added_by_itself_is_no_layers_weight(tmp_path: Path) -> None:
    """What an Add has as its second input stands where a convolution has its weights."""
    random = np.random.default_rng(3)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "first"),
        helper.make_node("Add", ["c", "three"], ["d"], "shift"),
        helper.make_node("Conv", ["c", "v"], ["e"], "one"),
        helper.make_node("Conv", ["d", "v"], ["f"], "other"),
        helper.make_node("Mul", ["e", "f"], ["y"], "product"),
    ]
    constants = {
        "w": random.normal(size=(4, 2, 1, 1)), "v": random.normal(size=(3, 4, 1, 1)),
        "three": np.float32(3),
    }  # fmt: skip
    model = model_of(nodes, constants, {"x": [1, 2, 4, 4]}, {"y": [1, 3, 4, 4]})
    onnx.save(model, tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(30, (1, 2, 4, 4)))
    made = quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    assert made.accuracy[-1].judged.mean_sqnr > 20


def test_a_swish_of_a_clip_is_one_table(tmp_path: Path) -> None:
    """x * clip(x + 3, 0, 6) / 6, as exporters write HardSwish of older opsets."""
    random = np.random.default_rng(3)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "first"),
        helper.make_node("Add", ["c", "three"], ["d"], "add"),
        helper.make_node("Clip", ["d", "zero", "six"], ["e"], "clip"),
        helper.make_node("Mul", ["c", "e"], ["f"], "mul"),
        helper.make_node("Div", ["f", "six"], ["g"], "div"),
        helper.make_node("Conv", ["g", "v"], ["y"], "last"),
    ]
    constants = {
        "w": random.normal(size=(4, 2, 1, 1)), "v": random.normal(size=(3, 4, 1, 1)),
        "zero": np.float32(0), "three": np.float32(3), "six": np.float32(6),
    }  # fmt: skip
    model = model_of(nodes, constants, {"x": [1, 2, 4, 4]}, {"y": [1, 3, 4, 4]})
    onnx.save(model, tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(30, (1, 2, 4, 4)))
    quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    written = onnx.load(tmp_path / "q.onnx").graph.node
    between = {"add": "d", "clip": "e", "mul": "f"}
    for name, output in between.items():
        readers = {n.op_type for n in written if output in n.input}
        assert readers and "QuantizeLinear" not in readers, name


@pytest.mark.parametrize("slopes", [1, 4])
def test_slopes_become_integers(slopes: int, tmp_path: Path) -> None:
    """A PRelu of one slope, and of one a channel, leaves nothing in float."""
    random = np.random.default_rng(6)
    constants = {
        "w": random.normal(size=(4, 3, 3, 3)) / 5, "a": random.uniform(0.05, 0.5, (slopes, 1, 1)),
        "d": random.normal(size=(4 * 36, 5)) / 12,
    }  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("PRelu", ["c", "a"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "d"], ["y"]),
    ]
    model = model_of(nodes, constants, {"x": [1, 3, 8, 8]}, {"y": [1, 5]})
    net = prepared(model, tmp_path)
    (given,) = samples(1)
    (found,), (wanted,) = results(net.model(), given), results(model, given)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    np.savez(tmp_path / "s.npz", in0=samples(60))
    made = quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    require_integers(compiler.compile_model(tmp_path / "q.onnx", load_board("mps2-an386")))
    assert made.accuracy[-1].judged.mean_sqnr > 30
