"""Float models become int8: borders, budgets, weights alone; and sentences for what cannot be
done."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from quantizing_nets import dense_net, depthwise_net, model_of, results, samples
from sampling import first

from mcu_deploy import formats, passes
from mcu_deploy.api.quantizing import quantize
from mcu_deploy.errors import McuDeployError, RequestError, UsageError
from mcu_deploy.options.quantizing import Quantizing
from mcu_deploy.output.progress import listening
from mcu_deploy.quantizing.names import FLOAT_TENSORS
from mcu_deploy.quantizing.oracle import Oracle


@pytest.mark.usefixtures("one_recipe")
@pytest.mark.parametrize("io", first(["uint8", "int8", "float"]))
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


@pytest.mark.usefixtures("one_recipe")
def test_a_stack_of_matrices_has_one_scale(tmp_path: Path) -> None:
    """Its second axis, which onnxruntime gives scales, is that of the inputs: no integers."""
    weights = np.random.default_rng(7).normal(size=(4, 8, 5)).astype(np.float32)
    node = helper.make_node("MatMul", ["x", "w"], ["y"], "stack")
    model = model_of([node], {"w": weights}, {"x": (4, 2, 8)}, {"y": (4, 2, 5)})
    onnx.save(model, tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(12, (4, 2, 8)))
    quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    graph = passes.run(formats.load(tmp_path / "q.onnx"))
    assert not any(graph.type(e).dtype.is_float for n in graph.nodes for e in n.writes)
    alone = Quantizing(weights_only="int8")
    with pytest.raises(RequestError, match="has no weights that --weights-only rounds"):
        quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "w.onnx", options=alone)
    assert not (tmp_path / "w.onnx").exists()


@pytest.mark.usefixtures("one_recipe")
def test_equal_inputs_give_equal_bytes(tmp_path: Path) -> None:
    onnx.save(dense_net(24), tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(9, (1, 24)))
    for name in ("a.onnx", "b.onnx"):
        quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / name)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


@pytest.mark.usefixtures("one_recipe")
def test_layers_get_more_bits_until_a_budget_is_kept(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    nodes = [
        helper.make_node("Gemm", ["x", "v"], ["a"], "first"),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("Gemm", ["r", "w"], ["d"], "last"),
        helper.make_node("Softmax", ["d"], ["y"]),
    ]
    constants = {"v": random.normal(size=(24, 24)) / 5, "w": random.normal(size=(24, 4)) / 5}
    onnx.save(model_of(nodes, constants, {"x": [1, 24]}, {"y": [1, 4]}), tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(12, (1, 24)))
    names = (tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    made = quantize(*names, options=Quantizing(sensitivity=True))
    table = made.sensitivity
    assert {s.name for s in table} == {"first", "last"}
    assert [s.gain_a_mac for s in table] == sorted((s.gain_a_mac for s in table), reverse=True)
    assert {s.macs for s in table} == {24 * 24, 24 * 4}
    kept = quantize(*names, options=Quantizing(budget=f"{max(s.sqnr for s in table) - 0.01}dB"))
    assert 0 < len(kept.layers_in_float) + len(kept.layers_in_16_bits) < 2
    session = onnx.load(names[2])
    real = {n.name for n in session.graph.node if n.op_type == "Gemm"}
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


@pytest.mark.usefixtures("one_recipe")
def test_top1_is_that_of_the_classes(tmp_path: Path) -> None:
    model, values = dense_net(4), samples(12, (1, 4))
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
        (np.repeat(samples(1), 5, axis=0), "The 5 samples in .* are all the same"),
        (
            spoiled(samples(5), -3e38),
            r"Sample 2 in .* reaches 3e\+38 in its input 0 .*Leave it out",
        ),
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
    for options, says in (
        (Quantizing(), "s.npz is what the command reads"),
        (Quantizing(weights_only="int8"), "--weights-only leaves inputs as they are"),
    ):
        with pytest.raises(UsageError, match=says):
            quantize(
                tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx", options=options,
                samples_output=tmp_path / "s.npz",
            )  # fmt: skip
    with pytest.raises(UsageError, match="--io int4 is not known"):
        quantize(
            tmp_path / "m.onnx",
            tmp_path / "s.npz",
            tmp_path / "q.onnx",
            options=Quantizing(io="int4"),
        )


@pytest.mark.usefixtures("one_recipe")
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


def test_recipes_that_are_tried_are_counted(tmp_path: Path) -> None:
    onnx.save(depthwise_net(), tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(6))
    told: list[tuple[int, int | None]] = []
    with listening(
        lambda what, done, total: told.append((done, total)) if what == "trying recipes" else None
    ):
        made = quantize(tmp_path / "m.onnx", tmp_path / "s.npz", tmp_path / "q.onnx")
    (most,) = {total for _, total in told}
    counts = [done for done, _ in told]
    assert counts[0] == 0 and counts == sorted(counts)
    assert most is not None and len(made.trials) - 1 <= counts[-1] < most
