"""Recurrent layers of a model that is quantized: float32, with weights of 8 bits, and named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from quantizing_nets import model_of, samples
from sampling import chosen

from mcu_deploy import compiler, formats
from mcu_deploy.api.quantizing import quantize
from mcu_deploy.boards import load_board
from mcu_deploy.files.samples import open_samples
from mcu_deploy.ir import DType
from mcu_deploy.operators import recurrent
from mcu_deploy.operators.recurrent import GATES
from mcu_deploy.options.quantizing import Quantizing
from mcu_deploy.quantizing import judging, preparing
from mcu_deploy.quantizing.choosing import SAFE, Trials, parts
from mcu_deploy.quantizing.net import Net
from mcu_deploy.quantizing.recurrent_moments import second_moments
from mcu_deploy.quantizing.weights_only import recurrent_layers, recurrent_weights
from mcu_deploy.report.floats import float_layers

pytestmark = pytest.mark.usefixtures("one_recipe")

STEPS, INPUTS, HIDDEN = 6, 5, 7


def _net(op: str) -> onnx.ModelProto:
    """A dense layer, a recurrent one, and a dense layer of its last state; of [6, 1, 5]."""
    random = np.random.default_rng(4)
    rows = GATES[op] * HIDDEN
    constants = {
        "e": random.normal(size=(INPUTS, INPUTS)), "w": random.normal(size=(1, rows, INPUTS)) / 2,
        "r": random.normal(size=(1, rows, HIDDEN)) / 2, "b": random.normal(size=(1, 2 * rows)) / 2,
        "o": random.normal(size=(HIDDEN, 3)),
    }  # fmt: skip
    nodes = [
        helper.make_node("MatMul", ["x", "e"], ["d"], "first"),
        helper.make_node(op, ["d", "w", "r", "b"], ["", "h"], "steps", hidden_size=HIDDEN),
        helper.make_node("MatMul", ["h", "o"], ["y"], "last"),
    ]
    return model_of(nodes, constants, {"x": [STEPS, 1, INPUTS]}, {"y": [1, 1, 3]})


@pytest.fixture(params=chosen(GATES, ("LSTM",)))
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    onnx.save(_net(request.param), tmp_path / "m.onnx")
    np.savez(tmp_path / "s.npz", in0=samples(90, (STEPS, 1, INPUTS)))
    return tmp_path


def _kinds(path: Path) -> dict[str, set[str]]:
    """The types of the constants behind the weights of each node with two of them or more."""
    model = onnx.load(path)
    constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    writers = {n.output[0]: n for n in model.graph.node if n.op_type == "DequantizeLinear"}
    found: dict[str, set[str]] = {}
    for node in model.graph.node:
        for name in node.input[1:3] if node.op_type in GATES else ():
            source = writers[name].input[0] if name in writers else name
            found.setdefault(node.name, set()).add(constants[source].dtype.name)
    return found


def test_weights_are_bytes_and_layers_are_named(folder: Path) -> None:
    made = quantize(folder / "m.onnx", folder / "s.npz", folder / "q.onnx")
    assert _kinds(folder / "q.onnx") == {"steps": {"int8"}}
    (note,) = made.notes
    assert note.startswith("steps (")
    assert "computes in float32, with weights of 8 bits: ONNX has no integer form of it." in note
    assert all(each.judged.mean_sqnr > 30 for each in made.accuracy[2:])
    network = compiler.compile_model(folder / "q.onnx", load_board("mps2-an386"))
    (layer,) = float_layers(network)
    assert "there is no integer form of" in layer.reason
    (step,) = (s for s in network.plan.steps if s.index == layer.index)
    inputs = [step.choice.layer.input(n).type.dtype for n in (recurrent.W, recurrent.R)]
    assert inputs == [DType.INT8, DType.INT8]


def test_scales_have_the_least_error(folder: Path) -> None:
    """No row's is more than by the scale that just holds its largest (but for what float32 rounds
    of a scale), and some row's is less."""
    model = onnx.load(folder / "m.onnx")
    net = Net(onnx.shape_inference.infer_shapes(model))
    (node,) = recurrent_layers(net)
    made = recurrent_weights(net.copy().model(), {})
    after = {t.name: numpy_helper.to_array(t) for t in made.graph.initializer}
    gained = False
    for name in node.input[1:3]:
        place = list(node.input).index(name)
        read = next(n for n in made.graph.node if n.name == node.name).input[place]
        (writer,) = (n for n in made.graph.node if read in n.output)
        integers, scale, _ = (after[each] for each in writer.input)
        real = net.constants[name].astype(np.float64)
        plain = np.abs(real).max(axis=2, keepdims=True) / 127
        errors = [
            ((steps * each - real) ** 2).sum(axis=2)
            for steps, each in ((integers, scale[None, :, None]), (np.rint(real / plain), plain))
        ]
        assert (errors[0] <= errors[1] * 1.001).all()
        gained = gained or bool((errors[0] < 0.95 * errors[1]).any())
    assert gained


FORMS: dict[str, tuple[str, bool, bool]] = {
    "forward": ("forward", False, False),
    "reverse": ("reverse", False, False),
    "both ways": ("bidirectional", False, False),
    "a state given": ("bidirectional", True, False),
    "each step's state read": ("forward", False, True),
}


def _correlated(op: str, form: str, folder: Path) -> tuple[onnx.ModelProto, Net]:
    """A recurrent layer alone, in one of the forms, and the net of it; samples beside it, whose
    inputs mostly go up and down together."""
    direction, has_state, is_whole = FORMS[form]
    inputs, hidden, random = 12, 16, np.random.default_rng(8)
    directions = 2 if direction == "bidirectional" else 1
    constants = {
        "w": random.normal(size=(directions, GATES[op] * hidden, inputs)) / 4,
        "r": random.normal(size=(directions, GATES[op] * hidden, hidden)) / 4,
    }
    state = [directions, 1, hidden]
    together = random.normal(size=(240, STEPS, 1, 1))
    arrays = {"in0": together + samples(240, (STEPS, 1, inputs)) * 0.2}
    taken = {"x": [STEPS, 1, inputs]}
    if has_state:
        arrays["in1"], taken["s"] = samples(240, tuple(state)) * 0.3, state
    read = ["x", "w", "r", *(["", "", "s"] if has_state else [])]
    node = helper.make_node(
        op, read, ["y"] if is_whole else ["", "y"], "steps",
        hidden_size=hidden, direction=direction,
    )  # fmt: skip
    model = model_of([node], constants, taken, {"y": [STEPS, *state] if is_whole else state})
    onnx.save(model, folder / "m.onnx")
    np.savez(folder / "s.npz", **{k: a.astype(np.float32) for k, a in arrays.items()})
    return model, preparing.prepare(folder / "m.onnx")[1]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("op", GATES)
def test_a_row_makes_up_for_what_its_weights_are_rounded_by(
    op: str, form: str, tmp_path: Path
) -> None:
    """Samples that took no part are computed better by it."""
    model, net = _correlated(op, form, tmp_path)
    own, other = parts(open_samples(tmp_path / "s.npz", formats.load(tmp_path / "m.onnx")))
    moments = second_moments(net, own)
    assert set(moments) == {"steps"}
    wanted = judging.results(model, ["y"], other)
    plain, better = (
        judging.compare(
            judging.results(recurrent_weights(net.model(), by), ["y"], other), wanted
        ).mean_sqnr
        for by in ({}, moments)
    )
    assert better > plain + 2, (plain, better)


def test_weights_alone_are_bytes_in_recurrent_layers_too(folder: Path) -> None:
    made = quantize(
        folder / "m.onnx", folder / "s.npz", folder / "q.onnx",
        options=Quantizing(weights_only="int8"),
    )  # fmt: skip
    assert _kinds(folder / "q.onnx") == {"steps": {"int8"}}
    assert made.accuracy[-1].judged.mean_sqnr > 40


def test_what_their_weights_lose_is_measured(folder: Path) -> None:
    given = folder / "m.onnx", folder / "s.npz", folder / "q.onnx"
    made = quantize(*given, options=Quantizing(sensitivity=True))
    (layer,) = (s for s in made.sensitivity if s.name == "steps")
    size = GATES[layer.op] * HIDDEN * (INPUTS + HIDDEN)
    assert (layer.macs, layer.more_bytes) == (STEPS * size, 3 * size)


def test_a_layer_that_is_kept_in_float32_keeps_its_weights(folder: Path) -> None:
    _, net, _ = preparing.prepare(folder / "m.onnx")
    trials = Trials(net, open_samples(folder / "s.npz", formats.load(folder / "m.onnx")))
    for kept, kind in (((), "int8"), (("steps",), "float32")):
        recipe = replace(SAFE, in_float=kept)
        onnx.save(trials.make(recipe, parts(trials.file)[0]), folder / "q.onnx")
        assert _kinds(folder / "q.onnx") == {"steps": {kind}}
