"""Refusals name what is wrong: the operator, the attribute, the type, and what to do instead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tflite_models import Operator, Tensor, write

from mcu_deploy import compile_model
from mcu_deploy.boards import load_board
from mcu_deploy.errors import McuDeployError

node = helper.make_node


def refusal(
    path: Path,
    nodes: Sequence[onnx.NodeProto],
    shape: Sequence[int],
    result: Sequence[int] | None = None,
    dtype: int = TensorProto.FLOAT,
    constants: dict[str, np.ndarray] | None = None,
    gives: int = TensorProto.FLOAT,
) -> str:
    """What is said of a model whose nodes make y of x, in one line."""
    graph = helper.make_graph(
        list(nodes), "g",
        [helper.make_tensor_value_info("x", dtype, shape)],
        [helper.make_tensor_value_info("y", gives, result)],
        [numpy_helper.from_array(v, n) for n, v in (constants or {}).items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    path.write_bytes(
        helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    )
    return said(path)


def said(path: Path, board: str = "host") -> str:
    with pytest.raises(McuDeployError) as caught:
        compile_model(path, load_board(board))
    return " ".join(str(caught.value).split())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.onnx"


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        (
            {"coordinate_transformation_mode": "tf_crop_and_resize"},
            "its coordinate_transformation_mode is 'tf_crop_and_resize'; of these there are",
        ),
        (
            {"mode": "linear", "coordinate_transformation_mode": "tf_half_pixel_for_nn"},
            "its coordinate_transformation_mode is 'tf_half_pixel_for_nn'; of these there are",
        ),
        ({"mode": "quintic"}, "its mode is 'quintic'; of these there are 'nearest', 'linear' and"),
    ],
)
def test_a_resize_is_told_by_the_attribute_that_is_wrong(
    attributes: dict[str, str], wanted: str, path: Path
) -> None:
    is_cropped = "tf_crop_and_resize" in attributes.values()
    inputs = ["x", "roi" if is_cropped else "", "", "sizes"]
    constants = {"sizes": np.array([1, 1, 4, 4], np.int64)}
    if is_cropped:
        constants["roi"] = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.float32)
    resize = node("Resize", inputs, ["y"], "r", **attributes)
    told = refusal(path, [resize], [1, 1, 8, 8], [1, 1, 4, 4], constants=constants)
    assert f"Resize 'r': CpuRef: {wanted}" in told


def test_a_quantized_operator_without_a_scale_of_its_output_is_told_so(path: Path) -> None:
    """And not that no backend has it, which has it where the output is quantized."""
    scale, zero = np.array(0.5, np.float32), np.array(0, np.int8)
    constants = {"s": scale, "z": zero, "w": np.ones((4, 2), np.int8)}
    gemm = node("QGemm", ["x", "s", "z", "w", "s", "z"], ["y"], "g", domain="com.microsoft")
    told = refusal(path, [gemm], [1, 4], [1, 2], TensorProto.INT8, constants)
    assert "QGemm 'g': it has no scale for its output, which is float32 then" in told


def test_a_form_of_an_operator_that_is_read_in_others_is_told_so(path: Path) -> None:
    """And not that no backend has it."""
    constants = {"w": np.ones((4, 12), np.float32), "past": np.ones((2, 1, 2, 3, 2), np.float32)}
    inputs = ["x", "w", "", "", "past"]
    attend = node("Attention", inputs, ["y"], "a", domain="com.microsoft", num_heads=2)
    told = refusal(path, [attend], [1, 2, 4], [1, 2, 4], constants=constants)
    assert "Attention 'a': its attributes and the sizes and types of its tensors" in told


@pytest.mark.parametrize(
    ("op", "attributes"), [("MaxPool", {"dilations": [3, 3]}), ("MaxPool", {}), ("Conv", {})]
)
def test_a_kernel_that_is_too_large_is_told_with_its_dilations_and_pads(
    op: str, attributes: dict[str, list[int]], path: Path
) -> None:
    constants = {"w": np.ones((1, 1, 3, 3), np.float32)} if op == "Conv" else {}
    is_dilated = bool(attributes)
    size = 6 if is_dilated else 2
    inputs = ["x", "w"] if op == "Conv" else ["x"]
    window = node(op, inputs, ["y"], "p", kernel_shape=[3, 3], **attributes)
    told = refusal(path, [window], [1, 1, size, size], [1, 1, 1, 1], constants=constants)
    dilated = ", [7, 7] with its dilations," if is_dilated else ""
    assert f"its kernel [3, 3]{dilated} is larger than its input [{size}, {size}]" in told


@pytest.mark.parametrize(("op", "dilation"), [("MaxPool", 4), ("Conv", 4), ("Conv", 1)])
def test_a_kernel_that_is_too_large_is_told_where_the_output_has_no_shape(
    op: str, dilation: int, path: Path
) -> None:
    constants = {"w": np.ones((1, 1, 7, 7), np.float32)} if op == "Conv" else {}
    inputs = ["x", "w"] if op == "Conv" else ["x"]
    window = node(op, inputs, ["y"], "p", kernel_shape=[7, 7], dilations=[dilation] * 2)
    told = refusal(path, [window], [1, 1, 5, 5], None, constants=constants)
    dilated = ", with its dilations [4, 4]," if dilation > 1 else ""
    assert f"'p': its kernel{dilated} is larger than its input, of which the output would" in told


def test_a_bound_of_a_clip_is_a_single_number(path: Path) -> None:
    clip = node("Clip", ["x", "low"], ["y"], "c")
    low = {"low": np.zeros((1, 2), np.float32)}
    told = refusal(path, [clip], [2, 2], [2, 2], constants=low)
    assert "Clip 'c' of the model cannot be computed: a bound of it is no single number" in told


def test_an_operator_that_the_reader_of_tflite_lacks_is_told_so(tmp_path: Path) -> None:
    """BITCAST is ONNX's BitCast, which backends have."""
    path = tmp_path / "m.tflite"
    tensors = [Tensor("a", (1, 4)), Tensor("b", (1, 4)), Tensor("y", (1, 4))]
    path.write_bytes(write(tensors, [Operator("BITCAST", ("a", "b"), ("y",))], ["a", "b"], ["y"]))
    told = said(path)
    assert "BITCAST 'y': it is not read from TFLite files" in told
    assert "backend has" not in told


def test_a_type_is_told_with_what_it_lacks() -> None:
    """Not "it computes int8, not int8": what lacks a scale, or is another than the first."""
    from mcu_deploy.backends.quantized.layers import types_refusal
    from mcu_deploy.ir import DType, Quantization, TensorType

    scaled = TensorType(DType.INT8, (1, 4), Quantization((0.5,), (0,)))
    bare, real = TensorType(DType.INT8, (1, 4)), TensorType(DType.FLOAT32, (1, 4))
    assert not types_refusal(scaled, scaled)
    told = "it computes int8 and uint8 that have a scale, not"
    assert types_refusal(scaled, bare) == f"{told} int8[1,4] without one"
    assert types_refusal(scaled, real) == f"{told} float32[1,4]"


@pytest.mark.parametrize(
    ("nodes", "constants", "wanted"),
    [
        (
            [node("Gemm", ["x", "w", "b"], ["y"])],
            {"w": np.ones((4, 2), np.float32), "b": np.ones(3, np.float32)},
            "its bias of the shape [3] does not fit [1, 2]",
        ),
        (
            [node("LayerNormalization", ["x", "w"], ["y"])],
            {"w": np.ones(3, np.float32)},
            "a parameter of the shape [3] does not fit [1, 4]",
        ),
        (
            [node("BatchNormalization", ["x", "b", "b", "b", "b"], ["y"])],
            {"b": np.ones(3, np.float32)},
            "a parameter has the shape [3] instead of [4]",
        ),
    ],
)
def test_a_shape_that_does_not_fit_is_told_with_what_it_should_fit(
    nodes: list[onnx.NodeProto], constants: dict[str, np.ndarray], wanted: str, path: Path
) -> None:
    result = [1, 2] if nodes[0].op_type == "Gemm" else [1, 4]
    assert wanted in refusal(path, nodes, [1, 4], result, constants=constants)
