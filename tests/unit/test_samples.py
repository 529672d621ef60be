"""Samples that fit a model, and what of a file is too much."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from command_line import call
from onnx import TensorProto, helper
from sampling import first

from mcu_deploy import formats, passes
from mcu_deploy.errors import RequestError
from mcu_deploy.files.samples import load_samples
from mcu_deploy.ir import Graph

ONE = np.zeros((2, 1, 3), np.float32)


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    """A sum of the inputs a and b, called y."""
    a, b, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 3]) for n in ("a", "b", "y"))
    made = helper.make_graph([helper.make_node("Add", ["a", "b"], ["y"])], "sum", [a, b], [y])
    onnx.save(helper.make_model(made), tmp_path / "sum.onnx")
    return passes.run(formats.load(tmp_path / "sum.onnx"))


@pytest.mark.parametrize("answers", [(), ("y",), ("out0", "ort0", "fp32_0", "labels")])
def test_answers_may_lie_beside_the_inputs(
    answers: tuple[str, ...], tmp_path: Path, graph: Graph
) -> None:
    np.savez(tmp_path / "s.npz", in0=ONE, b=ONE, **dict.fromkeys(answers, ONE))
    assert len(load_samples(tmp_path / "s.npz", graph)) == 2


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("in0", "in1", "in2"), r"has in2, and the model has no such input: it has in0, in1\."),
        (("in0", "in1", "mask"), "has mask, and the model has no such input"),
        (("a", "b", "x", "in00"), "has x, in00, and the model has no such input: it has a, b"),
        (("in0", "a", "in1"), "has two arrays for input 0, 'in0' and 'a'; remove one"),
        (("in0", "mask"), r"no array for input 1 \('b'\)"),
    ],
)
def test_an_array_too_many_is_named(
    names: tuple[str, ...], said: str, tmp_path: Path, graph: Graph
) -> None:
    np.savez(tmp_path / "s.npz", **dict.fromkeys(names, ONE))
    with pytest.raises(RequestError, match=said):
        load_samples(tmp_path / "s.npz", graph)


def test_samples_may_lie_along_a_first_axis_of_one(tmp_path: Path, graph: Graph) -> None:
    """As data sets have them: [samples, 3] for an input [1, 3]."""
    a, b = np.arange(12, dtype=np.float32).reshape(4, 3), np.ones((4, 1, 3), np.float32)
    np.savez(tmp_path / "s.npz", in0=a, in1=b)
    found = load_samples(tmp_path / "s.npz", graph)
    assert [[each.shape for each in inputs] for inputs in found.inputs] == [[(1, 3), (1, 3)]] * 4
    assert np.array_equal(np.concatenate([inputs[0] for inputs in found.inputs]), a)
    np.savez(tmp_path / "s.npz", in0=np.asfortranarray(a), in1=np.asfortranarray(a))
    transposed = load_samples(tmp_path / "s.npz", graph)
    assert np.array_equal(np.concatenate([inputs[1] for inputs in transposed.inputs]), a)
    np.savez(tmp_path / "s.npz", in0=a[:, :2], in1=b)
    with pytest.raises(
        RequestError, match=r"shape \[4, 2\] for input 'a'; it must be \[samples, 1"
    ):
        load_samples(tmp_path / "s.npz", graph)
    np.savez(tmp_path / "s.npz", in0=a[:0], in1=b[:0])
    with pytest.raises(RequestError, match="holds no sample"):
        load_samples(tmp_path / "s.npz", graph)


@pytest.mark.parametrize("words", first([["validate", "--data"], ["run", "--input"]]))
@pytest.mark.needs_host_gcc
def test_the_commands_name_it(words: list[str], tmp_path: Path, kws_dir: Path) -> None:
    given = dict(np.load(kws_dir / "samples.npz"))
    np.savez(tmp_path / "s.npz", **given, in1=given["in0"])
    command, option = words
    model = kws_dir / "model.onnx"
    done = call(command, model, "--board", "host", option, tmp_path / "s.npz", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "s.npz has in1, and the model has no such input" in done.stderr


def test_how_an_array_of_another_type_is_converted(
    tmp_path: Path, graph: Graph, kws_dir: Path
) -> None:
    np.savez(tmp_path / "s.npz", in0=ONE.astype(np.float64), in1=ONE)
    with pytest.raises(RequestError, match=r"array\.astype\(np\.float32\)\.$"):
        load_samples(tmp_path / "s.npz", graph)
    kws = passes.run(formats.load(kws_dir / "model.onnx"))
    features = np.load(kws_dir / "samples.npz")["in0"]
    np.savez(tmp_path / "s.npz", in0=(features.astype(np.float32) - 83) * np.float32(0.5847029))
    with pytest.raises(RequestError) as raised:
        load_samples(tmp_path / "s.npz", kws)
    given = str(raised.value).partition("convert the array: ")[2].removesuffix(".")
    array = np.load(tmp_path / "s.npz")["in0"]
    converted = eval(given, {"np": np, "array": array})
    assert converted.dtype == features.dtype and np.array_equal(converted, features)
