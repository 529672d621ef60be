"""What differs between training and inference, absent outputs, and attributes of which one value is
computed: nothing is passed over.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from operators.exact_cases import one_node
from operators.lab import Array, Case, check_cases, compile_case, make_model, run_onnxruntime

from mcu_deploy import formats, interpreter
from mcu_deploy.errors import McuDeployError, UnsupportedError
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators import Call, lookup
from mcu_deploy.operators.base import evaluate

X = np.random.default_rng(1).standard_normal((2, 4)).astype(np.float32)
TRUE, FALSE = np.array(True), np.array(False)
HALF, ZERO = np.array(0.5, np.float32), np.array(0, np.float32)


def _model(
    nodes: list[onnx.NodeProto],
    outputs: dict[str, str],
    constants: dict[str, Array] | None = None,
    opset: int = 13,
    inputs: dict[str, tuple[str, tuple[int, ...]]] | None = None,
) -> onnx.ModelProto:
    given = inputs or {"x": ("float32", X.shape)}
    types = {name: (kind, None) for name, kind in outputs.items()}
    return make_model(nodes, given, types, constants, opset)


def _dropout(opset: int, *rest: str, outputs: tuple[str, ...] = ("y",)) -> onnx.NodeProto:
    return helper.make_node("Dropout", ["x", *rest], list(outputs), f"dropout_{opset}")


def _refusal(model: onnx.ModelProto, folder: Path) -> str:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(UnsupportedError) as caught:
        formats.load(path)
    return str(caught.value)


@pytest.mark.needs_host_gcc
def test_a_dropout_is_its_input_wherever_it_stands(tmp_path: Path) -> None:
    """Between input and output, behind a tensor that is an output too, with its mask."""
    plain = {"y": "float32"}
    relu = helper.make_node("Relu", ["x"], ["r"])
    behind = helper.make_node("Dropout", ["r"], ["y"])
    modes = {"ratio": HALF, "mode": FALSE}
    idle = {"ratio": ZERO, "mode": TRUE}
    models = [
        *(_model([_dropout(opset)], plain, opset=opset) for opset in (7, 10, 12, 13, 22)),
        _model([_dropout(13, "ratio", "mode")], plain, modes),
        _model([_dropout(13, "ratio", "mode")], plain, idle),
        _model([relu, behind], {"r": "float32", "y": "float32"}),
        _model([behind, relu][::-1], plain),
        _model([_dropout(13, outputs=("y", "m"))], {"y": "float32", "m": "bool"}),
        _model([_dropout(10, outputs=("y", "m"))], {"y": "float32", "m": "bool"}, opset=10),
    ]
    check_cases([Case(f"dropout {i}", m, (X,)) for i, m in enumerate(models)], tmp_path)


def test_a_dropout_that_trains_is_refused(tmp_path: Path) -> None:
    node = _dropout(13, "ratio", "mode")
    plain = {"y": "float32"}
    assert "training mode" in _refusal(
        _model([node], plain, {"ratio": HALF, "mode": TRUE}), tmp_path
    )
    without = _dropout(13, "", "mode")
    assert "training mode" in _refusal(_model([without], plain, {"mode": TRUE}), tmp_path)
    inputs: dict[str, tuple[str, tuple[int, ...]]] = {
        "x": ("float32", X.shape),
        "mode": ("bool", ()),
    }
    late = _model([node], plain, {"ratio": HALF}, inputs=inputs)
    assert "run time" in _refusal(late, tmp_path)


_STATISTICS = {n: np.ones(4, np.float32) for n in ("scale", "bias", "mean", "var")}


@pytest.mark.parametrize(
    ("op", "opset", "constants", "attributes"),
    [
        ("BatchNormalization", 8, _STATISTICS, {"spatial": 0}),
        ("LayerNormalization", 17, {"scale": np.ones(4, np.float32)}, {"stash_type": 11}),
        ("QuantizeLinear", 23, {"scale": np.array(0.1, np.float32)}, {"precision": 10}),
    ],
)
def test_another_value_of_an_attribute_is_refused(
    tmp_path: Path, op: str, opset: int, constants: dict[str, Array], attributes: dict[str, Any]
) -> None:
    node = helper.make_node(op, ["x", *constants], ["y"], "node", **attributes)
    kind = "uint8" if op == "QuantizeLinear" else "float32"
    refusal = _refusal(_model([node], {"y": kind}, constants, opset), tmp_path)
    assert f"{op} 'node': it has {next(iter(attributes))}=" in refusal


@pytest.mark.needs_host_gcc
def test_a_batch_normalization_in_training_is_not_folded_into_a_convolution(tmp_path: Path) -> None:
    """It divides by what the image has, not by the statistics of the model."""
    image = {"x": ("float32", (1, 4, 3, 3))}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node(
            "BatchNormalization", ["c", *_STATISTICS], ["y", "m", "v"], training_mode=1
        ),
    ]
    random = np.random.default_rng(3)
    constants = {"w": random.normal(size=(4, 4, 1, 1)).astype(np.float32), **_STATISTICS}
    outputs = {"y": "float32", "m": "float32", "v": "float32"}
    model = _model(nodes, outputs, constants, 15, image)
    x = random.normal(size=(1, 4, 3, 3)).astype(np.float32)
    check_cases([Case("trains", model, (x,))], tmp_path)


def test_outputs_go_by_their_place_where_one_before_them_is_absent(tmp_path: Path) -> None:
    """The last one of a LayerNormalization; a Split whose middle part nobody reads."""
    gain = {"scale": np.ones(4, np.float32)}
    norm = helper.make_node("LayerNormalization", ["x", "scale"], ["y", "", "inverse"])
    model = _model([norm], {"y": "float32", "inverse": "float32"}, gain, 17)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    found = interpreter.run(formats.load(path), [X])
    wanted = run_onnxruntime(model, [X], optimise=False)
    for actual, right in zip(found, wanted, strict=True):
        assert np.allclose(actual, right, rtol=1e-4)
    split = helper.make_node("Split", ["x", "s"], ["a", "", "b"], axis=1)
    parts = _model([split], {"a": "float32", "b": "float32"}, {"s": np.array([1, 2, 1])})
    a, b = compile_case(Case("split", parts, (X,)), tmp_path, 0).expected
    assert np.array_equal(a, X[:, :1])
    assert np.array_equal(b, X[:, 3:])


@pytest.mark.needs_host_gcc
def test_scales_of_blocks(tmp_path: Path) -> None:
    scales = {
        "scale": np.array([[0.1, 0.3], [0.5, 0.2]], np.float32),
        "zero": np.uint8([[3, 7], [0, 9]]),
    }
    node = helper.make_node("QuantizeLinear", ["x", *scales], ["y"], axis=1, block_size=2)
    check_cases([Case("blocks", _model([node], {"y": "uint8"}, scales, 21), (X,))], tmp_path)


def test_an_output_that_is_not_computed_is_a_sentence_not_a_traceback() -> None:
    type_ = TensorType(DType.FLOAT32, X.shape)
    call = Call("Relu", {}, (X,), (type_,), (type_, type_))
    with pytest.raises(McuDeployError, match="A Relu of the model has 2 outputs"):
        evaluate(lookup("", "Relu"), call)


def _constants() -> list[Case]:
    """Nodes that read constants alone, in forms that onnx's own evaluator computes otherwise."""
    rng = np.random.default_rng(5)

    def some(*shape: int) -> Array:
        return rng.standard_normal(shape).astype(np.float32)

    lstm = {"activations": ["Sigmoid", "Relu", "Tanh"], "clip": 0.5, "hidden_size": 2}
    return [
        one_node("LSTM", [], "float32", lstm, _places(some(3, 1, 4), some(1, 8, 4), some(1, 8, 2))),
        one_node("LRN", [], "float32", {"size": 3, "bias": 2.0}, _places(some(1, 5, 1, 2))),
        one_node("GlobalMaxPool", [], "float32", {}, _places(some(2, 2, 4, 3, 4))),
    ]


def _places(*values: Array) -> dict[int, Array]:
    return dict(enumerate(values))


@pytest.mark.needs_host_gcc
def test_constants_are_what_the_operator_gives(tmp_path: Path) -> None:
    check_cases(_constants(), tmp_path)


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("opset", [11, 13])
def test_hardmax_of_one_axis(tmp_path: Path, opset: int) -> None:
    x = np.array([1.0, 3.0, 2.0], np.float32)
    case = one_node("Hardmax", [x], "float32", {"axis": 0}, opset=opset)
    check_cases([case], tmp_path)


@pytest.mark.parametrize("opset", [7, 9, 10, 12])
def test_a_mask_that_nobody_reads(tmp_path: Path, opset: int) -> None:
    """As exporters wrote it for years; before opset 10 ONNX's inference has no type for it."""
    nodes = [
        helper.make_node("Dropout", ["x"], ["d", "mask"], "dropout"),
        helper.make_node("Neg", ["d"], ["y"], "negated"),
    ]
    model = make_model(nodes, {"x": ("float32", X.shape)}, {"y": ("float32", None)}, opset=opset)
    (y,) = compile_case(Case("mask", model, (X,)), tmp_path, 0).expected
    assert np.array_equal(y, -X)
