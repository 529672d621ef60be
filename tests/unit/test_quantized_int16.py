"""Tensors of 16 bits in a quantized model: all that builds compute so, or those around a layer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from quantizing_nets import depthwise_net, model_of, results, samples
from sampling import first

from mcu_deploy import compiler, formats
from mcu_deploy.api.quantizing import Quantized, quantize
from mcu_deploy.boards import load_board
from mcu_deploy.errors import RequestError, UsageError
from mcu_deploy.files.samples import open_samples
from mcu_deploy.ir import DType
from mcu_deploy.options import Options
from mcu_deploy.options.quantizing import Quantizing
from mcu_deploy.quantizing import preparing
from mcu_deploy.quantizing.budgets import Budget, within
from mcu_deploy.quantizing.choosing import SAFE, Trials
from mcu_deploy.quantizing.net import Net
from mcu_deploy.quantizing.opset import with_more_types
from mcu_deploy.quantizing.sensitivity import Sensitivity, with_more_bits
from mcu_deploy.quantizing.sixteen_bits import wide_tensors

pytestmark = pytest.mark.usefixtures("one_recipe")


def _quantized(model: onnx.ModelProto, folder: Path, **options: object) -> Quantized:
    onnx.save(model, folder / "m.onnx")
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    np.savez(folder / "s.npz", in0=samples(90, shape))
    given = Quantizing(**options)  # type: ignore[arg-type]
    return quantize(folder / "m.onnx", folder / "s.npz", folder / "q.onnx", options=given)


def _compiled(folder: Path) -> set[DType]:
    """The types of the tensors that layers write; raises Refusal where any is computed in float."""
    network = compiler.compile_model(
        folder / "q.onnx", load_board("mps2-an385"), options=Options(no_float=True)
    )
    return {o.type.dtype for s in network.plan.steps for o in s.choice.layer.outputs}


def test_16_bits_lose_less_and_stay_integers(tmp_path: Path) -> None:
    narrow = _quantized(depthwise_net(), tmp_path)
    wide = _quantized(depthwise_net(), tmp_path, int16_activations=True, io="int16")
    assert wide.accuracy[-1].judged.mean_sqnr > narrow.accuracy[-1].judged.mean_sqnr + 3
    assert [b.dtype for b in wide.borders] == ["int16", "int8"]  # a Softmax looks bytes up
    assert DType.INT16 in _compiled(tmp_path)
    names = [each.what for each in wide.accuracy]
    assert names[2:] == ["this int16, by onnxruntime", "this int16, by the device's arithmetic"]


@pytest.mark.parametrize("io", first(["int8", "uint8"]))
def test_inputs_and_outputs_of_bytes_stay_so(io: str, tmp_path: Path) -> None:
    made = _quantized(depthwise_net(), tmp_path, int16_activations=True, io=io)
    assert [b.dtype for b in made.borders] == [io, io]
    assert DType.INT16 in _compiled(tmp_path)
    assert not any("No tensor has 16 bits" in note for note in made.notes)
    gemm = [helper.make_node("MatMul", ["x", "w"], ["y"], "dense")]
    alone = model_of(gemm, {"w": np.eye(8, 5)}, {"x": (2, 8)}, {"y": (2, 5)})
    made = _quantized(alone, tmp_path, int16_activations=True, io=io)
    assert any("No tensor has 16 bits" in note and "--io int16" in note for note in made.notes)


def test_a_clamp_of_16_bits_still_clamps(tmp_path: Path) -> None:
    """int16 lies around 0, so the end of the range is none."""
    random = np.random.default_rng(3)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv"),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    model = model_of(
        nodes, {"w": random.normal(size=(3, 2, 1, 1))}, {"x": [1, 2, 4, 4]}, {"y": [1, 3, 4, 4]}
    )
    made = _quantized(model, tmp_path, int16_activations=True, io="int16")
    assert [b.dtype for b in made.borders] == ["int16", "int16"]
    x = np.linspace(-20000, 20000, 32).astype(np.int16).reshape(1, 2, 4, 4)
    assert results(tmp_path / "q.onnx", x)[0].min() == 0
    assert _compiled(tmp_path) == {DType.INT16}


def test_what_moves_int16_leaves_no_conversion(tmp_path: Path) -> None:
    """A QuantizeLinear moves from behind a MaxPool to before it, where it changes nothing."""
    random = np.random.default_rng(3)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv"),
        helper.make_node("MaxPool", ["c"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p", "v"], ["y"], "last"),
    ]
    constants = {"w": random.normal(size=(4, 2, 1, 1)), "v": random.normal(size=(3, 4, 1, 1))}
    model = model_of(nodes, constants, {"x": [1, 2, 4, 4]}, {"y": [1, 3, 2, 2]})
    _quantized(model, tmp_path, int16_activations=True, io="int16")
    network = compiler.compile_model(tmp_path / "q.onnx", load_board("mps2-an386"))
    layers = [s.choice.layer.op for s in network.plan.steps]
    assert [op for op in layers if op != "Reorder"] == ["Conv", "MaxPool", "Conv"]


def _net(model: onnx.ModelProto) -> Net:
    return with_more_types(Net(onnx.shape_inference.infer_shapes(model)), "They")


def _two_layers(between: str, depth: int = 8, spread: float = 1.0) -> Net:
    """Two dense layers and an operator between them, of [1, depth]."""
    constants = {"v": np.full((depth, depth), spread), "w": np.full((depth, depth), spread)}
    nodes = [
        helper.make_node("MatMul", ["x", "v"], ["a"], "first"),
        helper.make_node(between, ["a"], ["b"], "between"),
        helper.make_node("MatMul", ["b", "w"], ["y"], "last"),
    ]
    return _net(model_of(nodes, constants, {"x": [1, depth]}, {"y": [1, depth]}))


@pytest.mark.parametrize(
    ("between", "wanted"),
    [
        ("Relu", {"x", "a", "b", "y"}),  # part of the layer before it
        ("Sigmoid", {"x", "y"}),  # a table of bytes
        ("Transpose", {"x", "a", "b", "y"}),
    ],
)
def test_tensors_are_wide_where_all_that_touches_them_can(between: str, wanted: set[str]) -> None:
    net = _two_layers(between)
    assert wide_tensors(net, {"first", "last"}, borders=True) == wanted
    assert wide_tensors(net, {"first", "last"}, borders=False) == wanted - {"x", "y"}
    assert wide_tensors(net, {"first"}, borders=True) == wanted - {"y"}
    assert not wide_tensors(net, set(), borders=True)


def test_a_layer_whose_sums_have_no_room_keeps_bytes() -> None:
    assert wide_tensors(_two_layers("Relu", 460), {"last"}, borders=True)
    assert not wide_tensors(_two_layers("Relu", 480), {"last"}, borders=True)


@pytest.fixture
def trials(tmp_path: Path) -> Trials:
    onnx.save(depthwise_net(spread=60), tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(90))
    net = with_more_types(preparing.prepare(tmp_path / "m.onnx")[1], "They")
    file = open_samples(tmp_path / "s.npz", formats.load(tmp_path / "m.onnx"))
    return Trials(net, file)


def test_the_table_shows_both(tmp_path: Path) -> None:
    made = _quantized(depthwise_net(spread=60), tmp_path, sensitivity=True)
    rows = {row.name: row for row in made.sensitivity}
    assert set(rows) == {"conv0", "conv1", "conv2", "dense"}
    conv1 = rows["conv1"]
    assert conv1.gain_16 is not None and conv1.sqnr_16 is not None
    assert conv1.sqnr_16 - conv1.gain_16 == pytest.approx(conv1.sqnr - conv1.gain)
    order = [row.gain_a_mac for row in made.sensitivity]
    assert order == sorted(order, reverse=True)


def test_a_budget_takes_int16_where_that_gains_most_of_it(trials: Trials) -> None:
    def row(name: str, gain: float, gain_16: float | None) -> Sensitivity:
        return Sensitivity(name, "Conv", 10, 0, 0.0, gain, 0.0, gain_16)

    table = [row("conv1", 4.0, 3.0), row("conv2", 3.0, 1.0), row("conv0", -1.0, None)]
    steps = [(r.in_16_bits, r.in_float) for r, _ in with_more_bits(trials, SAFE, table)]
    assert steps == [
        ((), ()),
        (("conv1",), ()),
        (("conv1",), ("conv2",)),
        (("conv1",), ("conv2", "conv0")),
        ((), ("conv2", "conv0", "conv1")),
    ]
    wide = trials.score(replace(SAFE, in_16_bits=("conv1",)))
    assert wide > trials.score(SAFE) + 1
    budget = Budget(wide - 0.01, "db")
    found = within(budget, trials, SAFE, table, labels=None, board=None)
    assert (found.in_16_bits, found.in_float) == (("conv1",), ())


def test_what_does_not_go_together_gets_a_sentence() -> None:
    with pytest.raises(UsageError, match="--io int16 is for --int16-activations"):
        Quantizing(io="int16")
    with pytest.raises(UsageError, match="Leave one out"):
        Quantizing(int16_activations=True, weights_only="int8")


def test_a_model_that_cannot_be_of_a_newer_opset_gets_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
        raise RuntimeError("no adapter for Upsample")

    monkeypatch.setattr(onnx.version_converter, "convert_version", fail)
    with pytest.raises(RequestError, match=r"opset 21 on.*no adapter for Upsample.*Export it"):
        _quantized(depthwise_net(), tmp_path, int16_activations=True)
    made = _quantized(depthwise_net(), tmp_path, sensitivity=True)
    assert any("16 bits were not tried" in note for note in made.notes)
    assert all(row.sqnr_16 is None for row in made.sensitivity)
