"""The names that `quantize` leaves: each float tensor has these values, times factors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from quantizing_nets import depthwise_net, model_of, normalized_net, samples

from mcu_deploy import formats
from mcu_deploy.api.quantizing import quantize
from mcu_deploy.errors import ModelError
from mcu_deploy.files.samples import open_samples
from mcu_deploy.quantizing import equalizing, judging, names, preparing
from mcu_deploy.quantizing.statistics import SampleShare, observe

_KINDS = equalizing.KINDS


def shifted_net() -> onnx.ModelProto:
    """A factor a feature, a Reshape, a Gemm that takes the factor in; and a transposed Conv."""
    random = np.random.default_rng(3)
    shapes = {"w": (6, 6), "f": 6, "k": (3, 2, 2, 2), "v": (6, 3)}
    constants = {name: random.normal(size=shape) + 1.5 for name, shape in shapes.items()}
    nodes = [
        helper.make_node("Gemm", ["x", "w"], ["a"]),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("Mul", ["r", "f"], ["m"]),
        helper.make_node("Reshape", ["m", "same"], ["s"]),
        helper.make_node("Gemm", ["s", "v"], ["g"]),
        helper.make_node("Reshape", ["g", "image"], ["i"]),
        helper.make_node("ConvTranspose", ["i", "k"], ["t"], strides=[2, 2]),
        helper.make_node("Relu", ["t"], ["y"]),
    ]
    more = {"same": np.array([4, 6]), "image": np.array([1, 3, 2, 2])}
    return model_of(nodes, constants | more, {"x": [4, 6]}, {"y": [1, 2, 4, 4]})


NETS = {
    "depthwise": (depthwise_net(spread=200.0), (1, 3, 8, 8)),
    "normalized": (normalized_net(), (1, 5, 4)),
    "shifted": (shifted_net(), (4, 6)),
}


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("net", NETS)
def test_what_keeps_its_name_keeps_its_values(net: str, kind: str, tmp_path: Path) -> None:
    model, shape = NETS[net]
    onnx.save(model, tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(6, shape))
    source, prepared, _ = preparing.prepare(tmp_path / "m.onnx")
    file = open_samples(tmp_path / "s.npz", formats.load(tmp_path / "m.onnx"))
    part = SampleShare(file, frozenset(range(6)))
    made, factors = equalizing.equalised(prepared, observe(prepared, part), kind)
    written = {name for node in made.nodes for name in node.output}
    common = sorted(written & names.tensors_of(source))
    # What a layer takes in has no name of the model's any more.
    assert (
        common
        == {
            "depthwise": ["d", "f", "n0", "n1", "n2", "p", "r0", "r1", "r2", "y"],
            "normalized": ["d0", "s0", "s1", "u", "y"],
            "shifted": ["a", "g", "i", "r", "t", "y"],
        }[net]
    )
    # Where channels are far apart and may be brought together, they are.
    assert bool(factors) == (net == "depthwise" and kind != equalizing.NONE)
    ours = judging.results(made.model(), common, part)
    theirs = judging.results(source.model(), common, part)
    for found, wanted in zip(ours, theirs, strict=True):
        for name, a, b in zip(common, found, wanted, strict=True):
            factor = tuple(factors[name]) if name in factors else None
            value = names.FloatTensor(name, factor).of(a)
            np.testing.assert_allclose(value, b, rtol=1e-3, atol=1e-4 * np.abs(b).max())


@pytest.mark.usefixtures("one_recipe")
def test_names_and_factors_are_read_as_they_were_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(equalizing, "KINDS", _KINDS)
    onnx.save(depthwise_net(spread=200.0), tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(4))
    made = quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    assert "equalised" in made.recipe
    model = onnx.load(tmp_path / "q.onnx")
    known = names.tensors_of(preparing.read_float(tmp_path / "m.onnx")[0])
    found = names.read(model, known)
    assert found["d_QuantizeLinear_Output"] == names.FloatTensor("d")
    scaled = found["r0_QuantizeLinear_Output"]
    assert scaled.name == "r0"
    assert scaled.factors is not None
    assert len(scaled.factors) == 8
    assert max(scaled.factors) >= 16 * min(scaled.factors)
    assert set(found) >= {"x", "y"}
    assert "c0" not in {tensor.name for tensor in found.values()}  # part of its layer
    # Without the metadata the names of QDQ say it; factors nobody knows then.
    del model.metadata_props[:]
    assert names.read(model, known)["r0_QuantizeLinear_Output"] == names.FloatTensor("r0")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (names.FLOAT_TENSORS, "[1, 2"), (names.FLOAT_TENSORS, "7"), (names.FLOAT_TENSORS, "[1]"),
        (names.FACTORS, "[]"), (names.FACTORS, '{"a": 3}'), (names.FACTORS, '{"a": ["x"]}'),
        (names.FACTORS, "[" * 100000),
    ],
)  # fmt: skip
def test_damaged_metadata_is_a_sentence(key: str, text: str) -> None:
    model = depthwise_net()
    texts = {names.FLOAT_TENSORS: json.dumps({"a": "r0"})} | {key: text}
    for name, value in texts.items():
        model.metadata_props.append(onnx.StringStringEntryProto(key=name, value=value))
    with pytest.raises(ModelError, match="is not what `quantize` writes"):
        names.read(model, {"r0"})


def test_factors_of_another_tensor_are_a_sentence() -> None:
    with pytest.raises(ModelError, match=r"2 factors for the tensor 'r0' of shape \[1, 3\]"):
        names.FloatTensor("r0", (1.0, 2.0)).of(np.zeros((1, 3)))
