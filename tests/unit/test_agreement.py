"""What `validate` asks for: bits, one step, or a share; of whole networks and of single layers."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import arm_dsp_cases
import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper
from operators.lab import Array, Case, make_model
from operators.test_lowering import lowered
from quantized_layers import extremes
from tflite_models import Operator, Tensor, constant, write

from mcu_deploy import formats, interpreter, passes
from mcu_deploy.agreement import metrics
from mcu_deploy.agreement.made_up import random_samples
from mcu_deploy.agreement.reference import Reference, reference_tensors, run_reference
from mcu_deploy.agreement.rules import BITS, EQUAL, ONE_STEP, SHARE, STEP, Rule, judge_layer, rules
from mcu_deploy.agreement.second_opinion import compare_with
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import open_folder
from mcu_deploy.api.validating import _Verdict, validate
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.files.samples import load_samples
from mcu_deploy.ir import Graph
from mcu_deploy.options import Options

_NAN = float("nan")


@pytest.mark.filterwarnings("error")
def test_infinities_are_compared_without_a_warning() -> None:
    value = [np.array([1.0, np.inf, -np.inf, _NAN], np.float32)]
    same = metrics.compare(value, value)
    assert (same.equal, same.cosine) == (1.0, 1.0)
    other = metrics.compare(value, [np.zeros(4, np.float32)])
    assert other.equal == 0.0 and np.isnan(other.worst)
    beside = metrics.compare([np.array([1.0, np.inf])], [np.array([2.0, np.inf])])
    assert beside.worst == 1.0 and np.isnan(beside.cosine)


@pytest.mark.parametrize(
    ("rule", "ours", "theirs", "broken"),
    [
        (EQUAL, [1, 2, 3], [1, 2, 4], [2]),
        (ONE_STEP, [1, 2, -128], [2, 4, 127], [1, 2]),
        (Rule(SHARE, 1e-5), [100.0005, 1.0], [100.0, 1.002], [1]),
        (Rule(SHARE, 1e-5, 0.25), [1.2, 3.0], [1.0, 3.3], [1]),
        (Rule(SHARE, 1e-5), [_NAN, np.inf, 1.0], [_NAN, np.inf, _NAN], [2]),
    ],
)
def test_where_a_rule_is_broken(
    rule: Rule, ours: list[float], theirs: list[float], broken: list[int]
) -> None:
    dtype = np.float32 if rule.kind == SHARE else np.int8
    found = rule.broken(np.array(ours, dtype), np.array(theirs, dtype))
    assert list(np.flatnonzero(found)) == broken


def _graph(nodes: list[NodeProto], constants: Mapping[str, Array], folder: Path) -> Graph:
    model = make_model(
        nodes, {"x": ("float32", (1, 4, 8, 8))}, {"y": ("int16", None)}, constants, 21
    )
    return lowered(Case("case", model, (np.zeros((1, 4, 8, 8), np.float32),)), folder)


_SCALE = {"s": np.float32(1e-4), "z": np.int16(0)}


def _q(x: str, y: str) -> NodeProto:
    return helper.make_node("QuantizeLinear", [x, "s", "z"], [y], f"q_{y}")


def test_one_step_is_allowed_behind_a_float_sum_alone(tmp_path: Path) -> None:
    weights = {"w": np.ones((4, 4, 3, 3), np.float32), **_SCALE}
    behind = _graph([helper.make_node("Conv", ["x", "w"], ["c"]), _q("c", "y")], weights, tmp_path)
    assert [rules(behind)[e].kind for e in behind.outputs] == [STEP]
    sums = _graph([helper.make_node("Add", ["x", "x"], ["c"]), _q("c", "y")], _SCALE, tmp_path)
    assert [rules(sums)[e].kind for e in sums.outputs] == [BITS]


def test_integers_give_bits_and_long_sums_have_more_room(kws_dir: Path, tmp_path: Path) -> None:
    graph = passes.run(formats.load(kws_dir / "model.onnx"))
    assert {rule.kind for rule in rules(graph).values()} == {BITS}
    for depth, limit in ((900, 1e-5), (1100, 1e-4)):
        node = helper.make_node("MatMul", ["x", "w"], ["y"], "m")
        model = make_model(
            [node], {"x": ("float32", (1, depth))}, {"y": ("float32", None)},
            {"w": np.ones((depth, 2), np.float32)},
        )  # fmt: skip
        made = lowered(Case("m", model, (np.zeros((1, depth), np.float32),)), tmp_path)
        assert rules(made)[made.outputs[0]] == Rule(SHARE, limit)


def test_sums_inside_of_a_node_add_up(tmp_path: Path) -> None:
    """No tensor between the nodes of a branch is compared."""
    text = """<ir_version: 8, opset_import: ["" : 17]>
        net (bool c, float[1, 600] x) => (float[1, 600] y) {
            y = If(c) <
                then_branch = t () => (float[1, 600] a) { m = MatMul(x, w) a = MatMul(m, w) },
                else_branch = e () => (float[1, 600] b) { b = MatMul(x, w) }
            >
        }"""
    model = onnx.parser.parse_model(text)
    weights = onnx.numpy_helper.from_array(np.ones((600, 600), np.float32), "w")
    model.graph.initializer.append(weights)
    onnx.save_model(model, tmp_path / "m.onnx")
    graph = passes.run(formats.load(tmp_path / "m.onnx"))
    assert rules(graph)[graph.outputs[0]] == Rule(SHARE, 1e-4)


def test_of_a_recurrent_layer_what_cancels_is_allowed(tmp_path: Path) -> None:
    shapes = {"w": (1, 4, 3), "r": (1, 4, 1)}
    constants = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    node = helper.make_node("LSTM", ["x", "w", "r"], ["y"], "l", hidden_size=1)
    x = np.zeros((2, 1, 3), np.float32)
    model = make_model([node], {"x": ("float32", x.shape)}, {"y": ("float32", None)}, constants)
    graph = lowered(Case("l", model, (x,)), tmp_path)
    (layer,) = (n for n in graph.nodes if n.op == "LSTM")
    values = interpreter.run_all(graph, [x])
    edge = layer.writes[0]
    for apart, is_right in ((0.9e-7, True), (1.1e-7, False)):
        rule, wrong = judge_layer(graph, layer, edge, values, values[edge] + np.float32(apart))
        assert wrong.any() != is_right and rule == Rule(SHARE, 1e-5, 1e-7)
    assert str(rule) == "1e-05 of the largest value, or 1e-07"


def test_of_products_that_cancel_what_is_left_is_allowed(tmp_path: Path) -> None:
    """Terms of 4 and of -4: a millionth of the 8 that they are without their signs; a clamp behind
    them changes nothing."""
    weights = {"w": np.array([[2.0], [-4.0]], np.float32)}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["y"])]
    x = np.array([[2.0, 1.0]], np.float32)
    model = make_model(nodes, {"x": ("float32", x.shape)}, {"y": ("float32", None)}, weights)
    graph = lowered(Case("l", model, (x,)), tmp_path)
    (layer,) = graph.nodes
    values, edge = interpreter.run_all(graph, [x]), graph.outputs[0]
    assert values[edge] == 0
    for apart, is_right in ((7.9e-6, True), (1.1e-5, False)):
        rule, wrong = judge_layer(graph, layer, edge, values, values[edge] + np.float32(apart))
        assert wrong.any() != is_right
    assert rule == Rule(SHARE, 1e-5, pytest.approx(8e-6))


@pytest.mark.needs_host_gcc
def test_int16_behind_float_sums_is_right(tmp_path: Path) -> None:
    """Two convolutions in float between int16 tensors: the second one multiplies what the first one
    rounded otherwise, and is right all the same."""
    rng = np.random.default_rng(0)
    constants = {
        "w": rng.standard_normal((16, 4, 3, 3)).astype(np.float32),
        "v": rng.standard_normal((8, 16, 3, 3)).astype(np.float32),
        "t": np.float32(1e-3), **_SCALE,
    }  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "first"),
        helper.make_node("QuantizeLinear", ["c", "t", "z"], ["q"], "q"),
        helper.make_node("DequantizeLinear", ["q", "t", "z"], ["d"], "d"),
        helper.make_node("Conv", ["d", "v"], ["e"], "second"),
        helper.make_node("QuantizeLinear", ["e", "t", "z"], ["y"], "q2"),
    ]
    model = make_model(
        nodes, {"x": ("float32", (1, 4, 12, 12))}, {"y": ("int16", None)}, constants, 21
    )
    path = tmp_path / "int16.onnx"
    path.write_bytes(model.SerializeToString())
    built = build(path, "host", tmp_path / "b", name="int16")
    result = validate(built, layers=True)
    assert result.passed, result.problems
    assert [rule.kind for rule in result.rules] == [STEP]
    assert result.oracle[0].equal < 1, "the sums are the oracle's, so that nothing is tested"


def _opinion(model: Path, samples: Path) -> tuple[Graph, Mapping[str, Array]]:
    network = compile_model(model, load_board("host"), name="n")
    given = load_samples(samples, network.graph, network.inputs).first(1)
    return network.graph, dict(reference_tensors(model, given.inputs))


def test_every_layer_agrees_with_onnxruntime(kws_dir: Path) -> None:
    graph, tensors = _opinion(kws_dir / "model.onnx", kws_dir / "samples.npz")
    opinion = compare_with(graph, tensors)
    assert (opinion.compared, opinion.left) == (len(list(graph.nodes)), ())
    assert opinion.disagreements == ()


def test_onnxruntime_sends_and_keeps_nothing_and_complains_of_nothing(
    kws_dir: Path, tmp_path: Path
) -> None:
    """Neither where it may write into the home folder, nor where it may not."""
    program = (
        "import sys, pathlib, numpy\n"
        "from mcu_deploy.agreement.reference import run_onnxruntime\n"
        "sample = [numpy.zeros((1, 49, 10, 1), numpy.int8)]\n"
        "run_onnxruntime(pathlib.Path(sys.argv[1]), [sample])\n"
    )
    for home in (tmp_path, Path("/proc/no/home")):
        environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
        done = subprocess.run(
            [sys.executable, "-c", program, kws_dir / "model.onnx"],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
    assert not list(tmp_path.iterdir())


def test_the_layer_that_disagrees_is_named(kws_dir: Path) -> None:
    """And it alone: the layers behind it are computed from what the other program has."""
    graph, tensors = _opinion(kws_dir / "model.onnx", kws_dir / "samples.npz")
    node = next(n for n in graph.nodes if n.short == "conv_3")
    name = graph.edge_name(node.writes[0])
    wrong = tensors[name].copy()
    wrong.reshape(-1)[:5] ^= 8
    later = dict(tensors) | {name: wrong}
    values = {e: tensors[graph.edge_name(e)] for e in graph.inputs}
    known = dict(graph.data.constants) | values
    for other in graph.nodes:
        results = interpreter.run_node(graph, other, known)
        known.update(zip(other.writes, results, strict=True))
        if other is node:
            known[node.writes[0]] = wrong
        later |= {graph.edge_name(e): known[e] for e in other.writes}
    (found,) = compare_with(graph, later).disagreements
    assert (found.short, found.differing, found.worst) == ("conv_3", 5, 8)
    assert "by up to 8 steps" in str(found)


def test_inside_of_a_chain_each_of_its_layers_is_compared(tmp_path: Path) -> None:
    """A step behind its first layer may be several behind its last."""
    model = arm_dsp_cases.model([arm_dsp_cases.TABLE], tmp_path / "model.onnx")
    goal = Options(optimize_for="speed")
    network = compile_model(model, load_board("mps2-an386"), options=goal, name="n")
    graph = network.graph
    given = load_samples(extremes(model), graph, network.inputs).first(1)
    tensors = dict(reference_tensors(model, given.inputs))
    chain = next(n for n in graph.nodes if graph.body(n.id) and n.op == "ConvolutionTable")
    body = graph.body(chain.id)
    assert body is not None
    inner = body.edge_name(next(iter(body.nodes)).writes[0])
    assert compare_with(graph, tensors).disagreements == ()
    tensors[inner] = tensors[inner] ^ 8
    first = compare_with(graph, tensors).disagreements[0]
    assert (first.short, first.op, first.tensor) == (chain.short, chain.op, inner)


@pytest.mark.parametrize(("is_sorted", "differing"), [(0, 0), (1, 2)])
def test_an_unsorted_top_k_has_no_order(is_sorted: int, differing: int, tmp_path: Path) -> None:
    x, k = np.array([3, 1, 4, 2], np.float32), {"k": np.array([2])}
    top = helper.make_node("TopK", ["x", "k"], ["v", "i"], sorted=is_sorted)
    outputs = {"v": ("float32", [2]), "i": ("int64", [2])}
    model = make_model([top], {"x": ("float32", [4])}, outputs, k)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    tensors = {"x": x, "v": np.array([3, 4], np.float32), "i": np.array([0, 2])}
    found = compare_with(formats.load(tmp_path / "m.onnx"), tensors).disagreements
    assert len(found) == differing


def test_elements_of_sequences_are_fed_and_found_by_their_names(tmp_path: Path) -> None:
    made = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    sequence = helper.make_sequence_type_proto(made)
    nodes = [helper.make_node("SequenceInsert", ["x", "a"], ["y"])]
    types = {"a": made, "x": sequence, "y": sequence}
    a, x, y = (helper.make_value_info(name, type_) for name, type_ in types.items())
    graph = helper.make_graph(nodes, "g", [a, x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    given = [np.full(size, size, np.float32) for size in (1, 2, 3)]
    found = run_reference(tmp_path / "model.onnx", [given], names=["a", "x_0", "x_1"])
    assert isinstance(found, Reference)
    assert [list(value) for value in found.outputs[0]] == [[2, 2], [3, 3, 3], [1]]


def test_what_differs_from_onnxruntime_is_no_pass(kws_dir: Path) -> None:
    """Outputs far apart fail, unless every layer agrees; then the roundings are told."""
    model = kws_dir / "model.onnx"
    network = compile_model(model, load_board("host"), name="n")
    given = load_samples(kws_dir / "samples.npz", network.graph, network.inputs).first(2)
    reference = run_reference(model, given.inputs)
    assert isinstance(reference, Reference)
    ours = [list(outputs) for outputs in reference.outputs]
    ours[1][0] = ours[1][0] ^ 32
    tensors = dict(reference_tensors(model, given.inputs[:1]))
    right = _Verdict(network, ours)
    assert right.ask_reference(reference) == 1
    right.ask_opinion(reference, compare_with(network.graph, tensors), True)
    assert not right.problems
    assert "layers of the oracle agree with onnxruntime" in right.notes[0]
    assert "are up to 32" in right.notes[0]
    (name,) = [network.graph.edge_name(e) for e in network.outputs]
    tensors[name] = tensors[name] ^ 32
    wrong = _Verdict(network, ours)
    wrong.ask_reference(reference)
    wrong.ask_opinion(reference, compare_with(network.graph, tensors), True)
    assert wrong.problems[0].startswith("differs from onnxruntime: softmax_1 (Softmax)")
    left = compare_with(network.graph, {})
    assert left.compared == 0 and left.left
    blind = _Verdict(network, ours)
    blind.ask_reference(reference)
    blind.ask_opinion(reference, left, True)
    assert "not all of its layers can be compared" in blind.problems[0]


_needs_litert = pytest.mark.skipif(
    importlib.util.find_spec("ai_edge_litert") is None,
    reason="LiteRT is not installed: `make litert` does that",
)


@_needs_litert
@pytest.mark.parametrize("model", ["mlperf_kws_int8", "tflm_mnist_lstm_int8"])
def test_every_layer_agrees_with_litert(model: str, models_dir: Path) -> None:
    folder = models_dir / model
    graph, tensors = _opinion(folder / "model.tflite", folder / "io.npz")
    opinion = compare_with(graph, tensors, is_tflite=True)
    assert (opinion.left, opinion.disagreements) == ((), ())


@_needs_litert
@pytest.mark.parametrize(("op", "kernels"), [("ABS", "reference"), ("ROUND", "optimized")])
def test_litert_runs_what_it_has_no_reference_kernel_of(
    op: str, kernels: str, tmp_path: Path
) -> None:
    model, x = tmp_path / "m.tflite", np.array([-1.5, 0.7], np.float32)
    tensors = [Tensor(name, (2,)) for name in ("x", "y")]
    operator = Operator(op, ("x",), ("y",))
    model.write_bytes(write(tensors, [operator], ["x"], ["y"]))
    found = run_reference(model, [[x]])
    assert isinstance(found, Reference) and found.settings.startswith(kernels)
    assert np.array_equal(found.outputs[0][0], np.abs(x) if op == "ABS" else [-2, 1])


@_needs_litert
@pytest.mark.parametrize(("kind", "zero"), [("int8", -128), ("int16", 0)])
def test_litert_sums_integers_with_the_kernel_that_does(
    kind: str, zero: int, tmp_path: Path
) -> None:
    model, x = tmp_path / "m.tflite", np.array([[-120, 5, 7]], kind)
    tensors = [
        Tensor("x", (1, 3), kind.upper(), (0.5,), (zero,)),
        constant("axis", np.array([1], np.int32)),
        Tensor("y", (1,), kind.upper(), (2.0,), (zero,)),
    ]
    operator = Operator("SUM", ("x", "axis"), ("y",), "ReducerOptions", {})
    model.write_bytes(write(tensors, [operator], ["x"], ["y"]))
    found = run_reference(model, [[x]])
    assert isinstance(found, Reference)
    assert found.outputs[0][0] == [(x.sum(dtype=int) - 3 * zero) // 4 + zero]


@pytest.mark.needs_host_gcc
def test_a_build_without_a_second_opinion_says_so(kws_dir: Path, tmp_path: Path) -> None:
    build(kws_dir / "model.onnx", "host", tmp_path / "b", name="kws")
    folder = open_folder(tmp_path / "b")
    given = random_samples(folder.compile_again("kws").graph, 1)
    alone = validate(folder, given, onnxruntime=False)
    assert (alone.passed, alone.verdict) == (True, "passed against the oracle alone")
    both = validate(folder, given, layers=True)
    assert (both.verdict, both.problems) == ("passed", ())
    assert both.opinion is not None and not both.opinion.left
