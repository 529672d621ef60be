"""What is chosen for a quantized model by what its samples show: ranges, equalisation, biases,
scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from quantizing_nets import dense_net, depthwise_net, model_of, prepared, results, samples, trials

from mcu_deploy.quantizing import biases, choosing, equalizing, judging, ranges, rounding, scales
from mcu_deploy.quantizing.choosing import Recipe
from mcu_deploy.quantizing.net import Net
from mcu_deploy.quantizing.statistics import BINS, SampleShare, Summary, observe

_KINDS = equalizing.KINDS


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
    twice = replace(summary(values), low=-2.0, at_low=2, samples=9)
    assert ranges.METHODS["min-max, widened"](twice) == (-2.0, 60 * (1 + 1 / 9))
    for method, (low, high) in found.items():
        assert low == 0.0
        assert method == "min-max" or high < 55, method
    assert found["percentile 99.9"][1] < found["percentile 99.99"][1]


@pytest.mark.parametrize("method", ranges.METHODS)
def test_a_range_has_an_end_on_either_side_of_what_lies_there(method: str) -> None:
    values = np.random.default_rng(5).normal(size=100_000)
    low, high = ranges.METHODS[method](summary(values))
    assert -6 < low < -2 < 2 < high < 6
    if method.startswith("percentile"):
        outside = np.mean((values < low) | (values > high))
        assert outside == pytest.approx(1 - float(method.split()[1]) / 100, rel=0.2, abs=2e-5)
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
    assert found.counts[0] and found.counts[-1]
    wanted, _ = np.histogram(some, BINS, (some.min(), some.max()))
    assert np.abs(np.cumsum(found.counts - wanted)).max() <= 2  # a value at an edge


@pytest.mark.usefixtures("one_recipe")
def test_equalised_channels_compute_the_same_and_lose_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(equalizing, "KINDS", _KINDS)
    tried = trials(depthwise_net(spread=200.0), samples(24), tmp_path)
    whole = SampleShare(tried.file, frozenset(range(24)))
    least = {}
    for kind in equalizing.KINDS:
        net, factors = equalizing.equalised(tried.net, observe(tried.net, whole), kind)
        least[kind] = min((factor.min() for factor in factors.values()), default=1)
        assert least[kind] >= 1 / 32, kind
        x = samples(1)[0]
        found, wanted = results(net.model(), x)[0], results(tried.net.model(), x)[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert least["whole, depthwise"] < least["half, depthwise"] < 1
    plain = tried.score(Recipe())
    assert tried.score(Recipe(equalised="whole, depthwise")) > plain + 6
    assert choosing.choose(tried).equalised != equalizing.NONE


def test_a_channel_is_divided_by_its_reach_and_by_how_loud_it_is_read(tmp_path: Path) -> None:
    """To the root, where that is no layer of the channel alone, and then to a power of two."""
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["a"], "first"),
        helper.make_node("Gemm", ["a", "v"], ["y"], "second", transB=1),
    ]
    weights = {"w": np.ones((3, 4)), "v": np.array([[1, 1, 1, 1 / 16], [1, 1, 1, 1 / 32]])}
    net = prepared(model_of(nodes, weights, {"x": [1, 3]}, {"y": [1, 2]}), tmp_path)
    lows, highs = np.array([-16.0, 0, 0, -1]), np.array([2.0, 5, 1, 16])
    seen = Summary(-16, 16, lows, highs, highs, np.zeros(2048))
    made, factors = equalizing.equalised(net, {"a": seen}, "half, all")
    assert factors["a"].tolist() == [1, 0.5, 0.25, 4]
    first, second = made.nodes
    assert made.constants[first.input[1]][0].tolist() == [1, 2, 4, 0.25]
    assert made.constants[second.input[1]][0].tolist() == [1, 0.5, 0.25, 0.25]


def test_what_a_dense_layer_adds_is_not_equalised_with_it(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["a"], "first"),
        helper.make_node("Gemm", ["x", "v", "a"], ["y"], "second"),
    ]
    weights = {name: np.random.default_rng(9).normal(size=(6, 6)) for name in "wv"}
    model = model_of(nodes, weights, {"x": [1, 6]}, {"y": [1, 6]})
    assert not equalizing.has_pairs(prepared(model, tmp_path))


@pytest.mark.parametrize(
    "more",
    [
        {"auto_pad": "SAME_LOWER"},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"pads": [2, 1, 0, 3], "dilations": [2, 2]},
    ],
)
def test_a_corrected_bias_knows_which_taps_are_in_the_padding(more: dict[str, Any]) -> None:
    """Where the input is 1 everywhere it makes good all that the weights have lost."""
    random = np.random.default_rng(8)
    integers = random.integers(-128, 128, (3, 2, 2, 4)).astype(np.int8)
    scale, zero = np.array(0.05, np.float32), np.array(3, np.int8)
    rounded = (integers.astype(np.float32) - zero) * scale
    weights = rounded + random.uniform(-1, 1, rounded.shape).astype(np.float32)
    ones = np.ones((1, 2, 7, 9), np.float32)
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], "conv", **more)

    def outputs(weights: np.ndarray, bias: np.ndarray, *shape: int | str) -> np.ndarray:
        return results(model(weights, bias, shape), ones)[0]

    def model(weights: np.ndarray, bias: np.ndarray, shape: Sequence[Any]) -> onnx.ModelProto:
        return model_of([node], {"w": weights, "b": bias}, {"x": ones.shape}, {"y": shape})

    wanted = outputs(weights, np.zeros(3), 1, 3, "h", "v")
    integer = [helper.make_node("DequantizeLinear", ["q", "s", "z"], ["w"]), node]
    constants = {"q": integers, "s": scale, "z": zero, "b": np.zeros(3)}
    quantized = model_of(integer, constants, {"x": ones.shape}, {"y": wanted.shape})
    each = np.zeros(2), np.ones(2), np.ones(2)
    seen = {"x": Summary(0.0, 1.0, *each, np.zeros(BINS))}
    net = biases.corrected(Net(model(weights, np.zeros(3), wanted.shape)), quantized, seen)
    bias = net.constants[net.nodes[0].input[2]]
    found = outputs(rounded, bias, *wanted.shape)
    np.testing.assert_allclose(found.mean((0, 2, 3)), wanted.mean((0, 2, 3)), atol=1e-4)


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


def test_a_recipe_says_what_it_is() -> None:
    recipe = Recipe("MSE", "half, all", True)
    assert str(recipe) == "MSE, equalised (half, all), biases corrected"
    assert str(replace(recipe, equalised=equalizing.NONE, biases=False)) == "MSE"


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
