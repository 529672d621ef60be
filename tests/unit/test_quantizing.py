"""Float models become int8: the form before, ranges, equalisation, biases, borders; and sentences
for what cannot be done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from quantizing_nets import dense_net, depthwise_net, model_of, normalized_net, results, samples

from mcu_deploy import formats, passes
from mcu_deploy.api.quantizing import quantize
from mcu_deploy.errors import McuDeployError, RequestError, UsageError
from mcu_deploy.files.samples import open_samples
from mcu_deploy.options.quantizing import Quantizing
from mcu_deploy.quantizing import (
    choosing,
    equalizing,
    judging,
    preparing,
    ranges,
    rounding,
    scales,
)
from mcu_deploy.quantizing.choosing import Recipe, Trials
from mcu_deploy.quantizing.names import FLOAT_TENSORS
from mcu_deploy.quantizing.oracle import Oracle
from mcu_deploy.quantizing.statistics import BINS, SampleShare, Summary, observe


def prepared(model: onnx.ModelProto, folder: Path) -> preparing.Net:
    onnx.save(model, folder / "m.onnx")
    return preparing.prepare(folder / "m.onnx")[1]


def trials(model: onnx.ModelProto, values: np.ndarray, folder: Path) -> Trials:
    net = prepared(model, folder)
    np.savez(folder / "s.npz", in0=values)
    return Trials(net, open_samples(folder / "s.npz", formats.load(folder / "m.onnx")))


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


def summary(values: np.ndarray) -> Summary:
    counts, _ = np.histogram(values, BINS, (values.min(), values.max()))
    each = np.array([values.min()]), np.array([values.max()]), np.array([values.mean()])
    return Summary(float(values.min()), float(values.max()), *each, counts, 1000)


def test_ranges_hold_zero_and_leave_out_what_is_rare() -> None:
    values = np.abs(np.random.default_rng(4).normal(size=200_000)) + 0.5
    values[0] = 60.0
    found = {method: of(summary(values)) for method, of in ranges.METHODS.items()}
    assert found["min-max"] == (0.0, 60.0)
    assert found.pop("min-max, widened")[1] == pytest.approx(60.06)
    for method, (low, high) in found.items():
        assert low == 0.0
        assert method == "min-max" or high < 55, method
    assert found["percentile 99.9"][1] < found["percentile 99.99"][1]


@pytest.mark.parametrize("method", ranges.METHODS)
def test_a_range_has_an_end_on_either_side_of_what_lies_there(method: str) -> None:
    values = np.random.default_rng(5).normal(size=100_000)
    low, high = ranges.METHODS[method](summary(values))
    assert -6 < low < -2 < 2 < high < 6
    counts = np.eye(1, BINS, dtype=np.int64)[0]
    constant = Summary(3.0, 3.0, *[np.array([3.0])] * 3, counts, 9, 9, 9)
    assert ranges.METHODS[method](constant) == (0.0, 3.0)


def test_the_range_of_least_error_is_that() -> None:
    values = np.random.default_rng(6).standard_t(3, size=50_000)

    def error(low: float, high: float) -> float:
        step = (high - low) / 255
        return float(((np.clip(np.rint(values / step) * step, low, high) - values) ** 2).mean())

    best = error(*ranges.METHODS["MSE"](summary(values)))
    for method in ranges.METHODS:
        assert best <= 1.02 * error(*ranges.METHODS[method](summary(values))), method


def test_statistics_are_those_of_all_samples(tmp_path: Path) -> None:
    values = samples(7)
    tried = trials(depthwise_net(), values, tmp_path)
    found = observe(tried.net, SampleShare(tried.file, frozenset({0, 2, 5})))["x"]
    some = values[[0, 2, 5]]
    assert (found.low, found.high) == (some.min(), some.max())
    np.testing.assert_allclose(found.means, some.mean(axis=(0, 1, 3, 4)), rtol=1e-5)
    np.testing.assert_array_equal(found.highs, some.max(axis=(0, 1, 3, 4)))
    assert found.counts.sum() == some.size
    wanted, _ = np.histogram(some, BINS, (some.min(), some.max()))
    assert np.abs(np.cumsum(found.counts - wanted)).max() <= 2  # a value at an edge


def test_equalised_channels_compute_the_same_and_lose_less(tmp_path: Path) -> None:
    tried = trials(depthwise_net(spread=200.0), samples(24), tmp_path)
    whole = SampleShare(tried.file, frozenset(range(24)))
    for kind in equalizing.KINDS:
        net, _ = equalizing.equalised(tried.net, observe(tried.net, whole), kind)
        x = samples(1)[0]
        found, wanted = results(net.model(), x)[0], results(tried.net.model(), x)[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-4)
    plain = tried.score(Recipe())
    assert tried.score(Recipe(equalised="whole, depthwise")) > plain + 6
    assert choosing.choose(tried).equalised != equalizing.NONE


def test_corrected_biases_leave_no_mean_error(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    nodes = [helper.make_node("Gemm", ["x", "w"], ["y"], "dense")]
    model = model_of(nodes, {"w": random.normal(size=(40, 6))}, {"x": [1, 40]}, {"y": [1, 6]})
    values = samples(40, (1, 40)) + 3.0
    tried = trials(model, values.astype(np.float32), tmp_path)
    whole = SampleShare(tried.file, frozenset(range(40)))

    def means(recipe: Recipe) -> np.ndarray:
        made = tried.make(recipe, whole)
        found = judging.results(made, judging.judged_names(made), whole)
        apart = [a[0] - b[0] for a, b in zip(found, tried.wanted(whole), strict=True)]
        return np.abs(np.mean(apart, axis=0)).max()

    assert means(Recipe(biases=True)) < 0.3 * means(Recipe())


@pytest.mark.parametrize("io", ["int8", "uint8", "float"])
def test_inputs_and_outputs_are_of_the_type_that_is_asked_for(io: str, tmp_path: Path) -> None:
    onnx.save(depthwise_net(), tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(12))
    made = quantize(
        tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx", options=Quantizing(io=io),
        samples_output=tmp_path / "q.npz",
    )  # fmt: skip
    kind = "float32" if io == "float" else io
    assert [b.dtype for b in made.borders] == [kind, kind]
    model = onnx.load(tmp_path / "q.onnx")
    assert (model.graph.input[0].name, model.graph.output[0].name) == ("x", "y")
    taken = np.load(tmp_path / "q.npz")["in0"]
    assert (taken.dtype, taken.shape) == (np.dtype(kind), (12, 1, 3, 8, 8))
    found = results(tmp_path / "q.onnx", taken[0])[0]
    oracle = Oracle(tmp_path / "q.onnx")
    outputs = oracle.outputs([found])[0]
    wanted = results(tmp_path / "m.onnx", samples(12)[0])[0]
    assert np.abs(outputs - wanted).max() < 0.05
    graph = oracle.graph
    inside = [graph.type(e) for n in graph.nodes for e in n.writes if e not in graph.outputs]
    assert not any(t.dtype.is_float for t in inside)
    assert FLOAT_TENSORS in {p.key for p in model.metadata_props}


def test_equal_inputs_give_equal_bytes(tmp_path: Path) -> None:
    onnx.save(depthwise_net(), tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(9))
    for name in ("a.onnx", "b.onnx"):
        quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / name)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


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


def test_layers_get_more_bits_until_a_budget_is_kept(tmp_path: Path) -> None:
    onnx.save(depthwise_net(), tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(12))
    names = (tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    made = quantize(*names, options=Quantizing(sensitivity=True))
    table = made.sensitivity
    assert {s.name for s in table} == {"conv0", "conv1", "conv2", "dense"}
    assert [s.gain_a_mac for s in table] == sorted((s.gain_a_mac for s in table), reverse=True)
    assert {s.name: s.macs for s in table}["conv1"] == 8 * 64 * 9
    kept = quantize(*names, options=Quantizing(budget=f"{max(s.sqnr for s in table) - 0.01}dB"))
    assert 0 < len(kept.layers_in_float) + len(kept.layers_in_16_bits) < 4
    session = onnx.load(names[2])
    real = {n.name for n in session.graph.node if n.op_type in ("Conv", "Gemm")}
    assert real >= set(kept.layers_in_float)
    with pytest.raises(RequestError, match="what lies between them is quantized still"):
        quantize(*names, options=Quantizing(budget="110dB"))
    with pytest.raises(RequestError, match="have no classes"):
        quantize(*names, options=Quantizing(budget="1%"))
    with pytest.raises(RequestError, match="is of a board"):
        quantize(*names, options=Quantizing(budget="100 cycles"))
    with pytest.raises(UsageError, match="--budget much is none"):
        quantize(*names, options=Quantizing(budget="much"))


def test_weights_alone_are_a_quarter(tmp_path: Path) -> None:
    onnx.save(depthwise_net(), tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(4))
    made = quantize(
        tmp_path / "m.onnx",
        tmp_path / "s.npz",
        tmp_path / "q.onnx",
        options=Quantizing(weights_only="int8"),
    )
    assert made.accuracy[-1].judged.mean_sqnr > 35
    graph = passes.run(formats.load(tmp_path / "q.onnx"))
    held = [n for n in graph.nodes if n.op in ("Conv", "Gemm")]
    assert {n.domain for n in held} == {"mcu"}
    assert len(held) == 4


@pytest.mark.parametrize("transposed", [False, True])
def test_dense_layers_may_have_weights_of_4_bits(transposed: bool, tmp_path: Path) -> None:
    """Blocks of 32 inputs, of 8, and none of 9; a convolution has 8 bits."""
    random = np.random.default_rng(6)

    def matrix(*shape: int) -> np.ndarray:
        value = random.normal(size=shape) / shape[0] ** 0.5
        return value.T if transposed else value

    nodes = [
        helper.make_node("Conv", ["x", "c"], ["a"], "conv"),
        helper.make_node("Flatten", ["a"], ["f"]),
        helper.make_node("Gemm", ["f", "w0"], ["b"], "by32", transB=int(transposed)),
        helper.make_node("Gemm", ["b", "w1"], ["d"], "by8", transB=int(transposed)),
        helper.make_node("Gemm", ["d", "w2"], ["y"], "by9", transB=int(transposed)),
    ]
    constants = {
        "c": random.normal(size=(4, 2, 1, 1)), "w0": matrix(64, 24), "w1": matrix(24, 9),
        "w2": matrix(9, 5),
    }  # fmt: skip
    model = model_of(nodes, constants, {"x": [1, 2, 4, 4]}, {"y": [1, 5]})
    onnx.save(model, tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(4, (1, 2, 4, 4)))
    made = quantize(
        tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx",
        options=Quantizing(weights_only="int4"),
    )  # fmt: skip
    assert made.accuracy[-1].judged.mean_sqnr > 18
    assert made.notes[0].startswith("2 dense layers have weights of 4 bits;")
    graph = passes.run(formats.load(tmp_path / "q.onnx"))
    blocks = {n.name: graph.attributes(n.id).get("block_size") for n in graph.nodes}
    held = {name: blocks[name] for name in ("conv", "by32", "by8", "by9")}
    assert held == {"conv": None, "by32": 32, "by8": 8, "by9": None}
    assert {n.domain for n in graph.nodes if n.name in held} == {"mcu"}


def test_top1_is_that_of_the_classes(tmp_path: Path) -> None:
    model, values = depthwise_net(), samples(12)
    onnx.save(model, tmp_path / "m.onnx")
    right = np.array([results(model, v)[0].argmax() for v in values])
    right[:3] = (right[:3] + 1) % 4
    np.savez(tmp_path / "s.npz", in0=values, labels=right)
    made = quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    assert made.accuracy[0].judged.top1 == 0.75
    assert made.accuracy[-1].judged.top1 is not None
    np.save(tmp_path / "l.npy", right[:5])
    with pytest.raises(RequestError, match="one for each of the 12 samples"):
        quantize(
            tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx", labels=tmp_path / "l.npy"
        )


def spoiled(values: np.ndarray, what: float) -> np.ndarray:
    values[2, 0, 1, 3, 3] = what
    return values


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (samples(1), "holds one sample"),
        (spoiled(samples(5), np.nan), "Sample 2 in .* has infinite values or NaN in its input 0"),
        (spoiled(samples(5), np.inf), "Sample 2 in .* has infinite values or NaN"),
        (np.ones((5, 1, 3, 8, 8), np.float32), "is 1 everywhere in all samples"),
        (samples(5, (1, 3, 8, 7)), r"must be \[samples, 1, 3, 8, 8\]"),
        (samples(5).astype(np.float64), "Convert the array"),
        (samples(0), "holds no sample"),
    ],
)
def test_bad_samples_get_a_sentence(values: np.ndarray, says: str, tmp_path: Path) -> None:
    onnx.save(depthwise_net(), tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=values)
    with pytest.raises(McuDeployError, match=says):
        quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    assert not (tmp_path / "q.onnx").exists()


def test_what_is_no_float_model_gets_a_sentence(tmp_path: Path, kws_dir: Path) -> None:
    np.savez(tmp_path / "s.npz", in0=samples(5))
    with pytest.raises(RequestError, match="quantized already"):
        quantize(kws_dir / "model.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    (tmp_path / "m.tflite").write_bytes(b"TFL3")
    with pytest.raises(RequestError, match="no ONNX file"):
        quantize(tmp_path / "m.tflite", tmp_path / "s.npz", tmp_path / "q.onnx")
    onnx.save(depthwise_net(), tmp_path / "m.onnx")
    with pytest.raises(UsageError, match=r"does not end in \.onnx"):
        quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.tflite")
    with pytest.raises(UsageError, match="--io int4 is not known"):
        quantize(
            tmp_path / "m.onnx",
            tmp_path / "s.npz",
            tmp_path / "q.onnx",
            options=Quantizing(io="int4"),
        )


def test_two_inputs_and_one_of_whole_numbers(tmp_path: Path) -> None:
    """A gather by an int64 input beside a float one: the integers stay as they are."""
    nodes = [
        helper.make_node("Gather", ["x", "n"], ["g"], axis=1),
        helper.make_node("Gemm", ["g", "w"], ["y"]),
    ]
    random = np.random.default_rng(9)
    constants = {"w": random.normal(size=(3, 2))}
    model = model_of(nodes, constants, {"x": [1, 8], "n": [3]}, {"y": [1, 2]})
    model.graph.input[1].type.tensor_type.elem_type = TensorProto.INT64
    onnx.save(model, tmp_path / "m.onnx")
    picks = random.integers(0, 8, (10, 3))
    np.savez(tmp_path / "s.npz", in0=samples(10, (1, 8)), in1=picks)
    made = quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    assert [b.dtype for b in made.borders] == ["int8", "int64", "int8"]
    assert made.accuracy[-1].judged.mean_sqnr > 30


def test_a_recipe_says_what_it_is() -> None:
    recipe = Recipe("MSE", "half, all", True)
    assert str(recipe) == "MSE, equalised (half, all), biases corrected"
    assert str(replace(recipe, equalised=equalizing.NONE, biases=False)) == "MSE"


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


def test_dense_layers_get_one_scale_where_that_is_worth_it(tmp_path: Path) -> None:
    tried = trials(dense_net(192), samples(9, (1, 192)), tmp_path)
    recipe = scales.fewer(tried, choosing.SAFE)
    assert recipe.one_scale
    assert tried.score(recipe) > tried.score(Recipe())
    model = tried.make(recipe, SampleShare(tried.file, frozenset(range(9))))
    dims = {t.name: list(t.dims) for t in model.graph.initializer}
    of = {n.name: n.input[1] for n in tried.net.nodes if n.op_type == "Gemm"}
    for name, weights in of.items():
        assert dims[f"{weights}_scale"] == ([] if name in recipe.one_scale else [192])
    small = trials(dense_net(16), samples(9, (1, 16)), tmp_path)
    assert scales.fewer(small, choosing.SAFE) == choosing.SAFE


def test_scales_of_weights_move_to_where_integers_round(tmp_path: Path) -> None:
    tried = trials(dense_net(192), samples(9, (1, 192)), tmp_path)
    model = tried.make(choosing.SAFE, SampleShare(tried.file, frozenset(range(9))))

    def unsolved(of: onnx.ModelProto) -> int:
        count, constants = 0, {t.name: t for t in of.graph.initializer}
        for layer in rounding.layers(of, constants):
            count += int(layer.unsolved(layer.weight_scale, np.arange(192)).sum())
        return count

    made = rounding.settled(model)
    assert unsolved(made) < 0.3 * unsolved(model)
    before, after = (
        {t.name: onnx.numpy_helper.to_array(t) for t in m.graph.initializer} for m in (model, made)
    )
    moved = [name for name, value in before.items() if not np.array_equal(value, after[name])]
    assert moved
    for name in moved:
        assert name.endswith("_scale")
        np.testing.assert_allclose(after[name], before[name], rtol=1e-5)
    x = samples(1, (1, 192))[0]
    np.testing.assert_allclose(results(made, x)[0], results(model, x)[0], atol=0.05)


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


def test_a_damaged_model_gets_the_sentence_of_a_build(tmp_path: Path) -> None:
    model = depthwise_net()
    model.graph.node[0].input[0] = "nowhere"
    onnx.save(model, tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(5))
    with pytest.raises(McuDeployError) as built:
        formats.load(tmp_path / "m.onnx")
    with pytest.raises(McuDeployError) as caught:
        quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    assert "nowhere" in str(caught.value)
    assert str(caught.value) == str(built.value)


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
