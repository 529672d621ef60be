"""Layers of a quantized model that stay in float32 are named, with the reason and bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from operators.lab import Case, compile_case, make_model
from operators.sandwich import Q, Sandwich, quantized_conv, quantized_gemm

from mcu_deploy import pmx
from mcu_deploy.boards import load_board
from mcu_deploy.cli.console import float_lines
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.options import Options
from mcu_deploy.report.floats import FloatLayer, float_layers, is_quantized
from mcu_deploy.session import Session


def _large_bias() -> Case:
    case = quantized_conv("c", Q((1, 3, 5, 5)), (4, 3, 3, 3))
    for tensor in case.model.graph.initializer:
        if tensor.name == "b":
            tensor.CopyFrom(numpy_helper.from_array(np.full(4, 2**31 - 1, np.int32), "b"))
    return case


def _scaled() -> Case:
    case = quantized_gemm("g", 2, 8, 4)
    gemm = next(n for n in case.model.graph.node if n.op_type == "Gemm")
    gemm.attribute.append(helper.make_attribute("alpha", 0.5))
    return case


def _one(op: str, dtype: str = "int8") -> Callable[[], Case]:
    def make() -> Case:
        sandwich = Sandwich()
        x = sandwich.input(Q((1, 4, 3)), np.zeros((1, 4, 3), np.int8))
        return sandwich.finish("case", op, [x], Q(None, dtype), opset=21)

    return make


def _open(op: str, elements: int = TensorProto.FLOAT) -> Callable[[], Case]:
    """The operator at the end of a model, with nothing behind it."""

    def make() -> Case:
        case = _one(op)()
        del case.model.graph.node[-1:]
        y = helper.make_tensor_value_info("real", elements, None)
        del case.model.graph.output[:]
        case.model.graph.output.append(y)
        return case

    return make


_REASONS = {
    "its sums could leave 32 bits": _large_bias,
    "its alpha or beta is not 1": _scaled,
    "there is no integer form of LogSoftmax": _one("LogSoftmax"),
    "Sigmoid has no integer form of 16 bits": _one("Sigmoid", "int16"),
    "its output is quantized to uint16": _one("Sigmoid", "uint16"),
    "the model has it in float: there is no QuantizeLinear behind it": _open("Sigmoid"),
}


@pytest.mark.parametrize("reason", _REASONS)
def test_a_layer_in_float_says_why(reason: str, tmp_path: Path) -> None:
    network = compile_case(_REASONS[reason](), tmp_path, 0).network
    assert is_quantized(network)
    (layer,) = [found for found in float_layers(network) if "Reorder" not in found.op]
    assert reason in layer.reason
    assert layer.tensor_bytes == 4 * network.graph.type(network.outputs[0]).elements


def test_truth_values_of_real_numbers_are_no_float_tensors(tmp_path: Path) -> None:
    network = compile_case(_open("IsInf", TensorProto.BOOL)(), tmp_path, 0).network
    assert [(layer.op, layer.tensor_bytes) for layer in float_layers(network)] == [("IsInf", 0)]


def test_only_the_weights_are_quantized(models_dir: Path) -> None:
    board = load_board("mps2-an386")
    network = compile_model(models_dir / "mlperf_kws_dynrange/model.onnx", board, name="n")
    found = float_layers(network)
    assert len(found) == len(network.plan.steps) == 12
    assert sum("only its weights" in layer.reason for layer in found) == 5
    depthwise = next(layer for layer in found if layer.short == "depthwise_1")
    assert depthwise.constant_bytes == 4 * (9 * 64 + 64)
    options = Options(backends=("CpuRef",))  # whose int8 weights lie beside bias and scale
    plain = compile_model(models_dir / "mlperf_kws_dynrange/model.onnx", board, options=options)
    pointwise = next(layer for layer in float_layers(plain) if layer.short == "conv_2")
    assert pointwise.constant_bytes == 4 * (64 + 1)


def test_whole_integer_models_and_float_models_have_no_such_layers(
    kws_dir: Path, tmp_path: Path
) -> None:
    board = load_board("mps2-an386")
    options = Options(no_float=True)
    network = compile_model(kws_dir / "model.onnx", board, name="n", options=options)
    assert is_quantized(network) and not float_layers(network)
    node = helper.make_node("Sigmoid", ["x"], ["y"], "sigmoid")
    model = make_model([node], {"x": ("float32", (1, 4))}, {"y": ("float32", None)})
    plain = compile_case(Case("f", model, (np.zeros((1, 4), np.float32),)), tmp_path, 0).network
    assert not is_quantized(plain)


def test_no_float_is_an_error_that_names_them(tmp_path: Path) -> None:
    case, board = _scaled(), load_board("mps2-an386")
    path = tmp_path / "model.onnx"
    path.write_bytes(case.model.SerializeToString())
    with pytest.raises(UnsupportedError, match=r"1 of 3 layers .*\n  dense_1 \(Gemm\): its alpha"):
        compile_model(path, board, options=Options(no_float=True))
    with Session() as session:
        saved = tmp_path / "model.pmx"
        saved.write_bytes(pmx.pack(compile_model(path, board, session=session), session))
    with pytest.raises(UnsupportedError, match=r"dense_1 \(Gemm\): its alpha or beta is not 1"):
        compile_model(saved, board, options=Options(no_float=True))


def test_the_lines_of_a_build() -> None:
    layers = [
        FloatLayer("kws", i, f"conv_{i}", "Conv", "its sums could leave 32 bits", 1000, 20)
        for i in range(14)
    ]
    lines = float_lines(layers[:1], 20, "kws")
    assert lines == [
        "1 of 20 layers of this quantized model (kws) runs in float, with 1,000 bytes of float "
        "constants:",
        "  conv_0 (Conv): its sums could leave 32 bits; it writes 20 bytes of float tensors",
    ]
    assert float_lines(layers, 20, "kws")[-1] == "  and 2 more; --json lists them all"
    assert float_lines([], 20, "kws") == []
