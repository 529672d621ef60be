"""Layers of int16 by weights of 8 bits for ArmDsp, in a model of ONNX and in one of TFLite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import tflite
from onnx import helper, numpy_helper
from tflite_models import Operator, Tensor, constant, write

from mcu_deploy.files.samples import Samples

_HIGH = 2**15 - 1


@dataclass(frozen=True)
class Case:
    """shape: of a convolution channels, rows and columns of the input; of a dense layer its rows
    and their length. group: 0 of a depthwise one. weights: the values that are drawn from, or
    "normal"; clamp: a Relu or a Clip to these bounds in elements of the output; zero: its zero
    point."""

    shape: tuple[int, ...]
    filters: int
    kernel: tuple[int, int] = (1, 1)
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilations: tuple[int, int] = (1, 1)
    is_depthwise: bool = False
    weights: str | tuple[int, ...] = "normal"
    clamp: tuple[int, int] | None = None
    dtype: str = "int16"
    zero: int = 0
    scale: float = 1.0

    @property
    def is_dense(self) -> bool:
        return len(self.shape) == 2

    @property
    def taps(self) -> int:
        depth = self.shape[1] if self.is_dense else 1 if self.is_depthwise else self.shape[0]
        return depth * self.kernel[0] * self.kernel[1]


_SAME = (1, 1, 1, 1)
ROWS = (
    # 1x1: whole tiles of three pixels, with one and with two left; a loop over taps.
    Case((64, 5, 5), 64),
    Case((64, 3, 4), 6, clamp=(0, _HIGH)),
    Case((4, 2, 4), 2, scale=0.01),
    Case((34, 1, 3), 8, weights=(-127, 127), scale=4),
    Case((76, 1, 5), 2, clamp=(-3000, 20000)),
    # An odd number of channels, of filters, and fewer than three pixels.
    Case((5, 3, 3), 4),
    Case((6, 2, 2), 5, dtype="uint8", zero=200),
    Case((24, 1, 2), 6, dtype="int8", zero=-7),
    # Windows.
    Case((1, 9, 7), 8, (10, 4), (2, 2), (4, 1, 5, 1)),
    Case((3, 8, 9), 6, (3, 3), (2, 2), (0, 0, 1, 1), clamp=(0, _HIGH)),
    Case((8, 5, 6), 12, (3, 3), (1, 1), _SAME, dtype="int8", zero=4),
    Case((5, 6, 4), 3, (2, 3), (1, 1), (0, 1, 0, 1)),
    Case((16, 6, 5), 4, (3, 3), (1, 1), (2, 1, 2, 1), (2, 1)),
    Case((6, 5, 5), 2, (5, 5), weights=(-128, -1, 127)),
    Case((8, 4, 4), 2, (1, 1), (2, 2)),
    # Dense.
    Case((1, 64), 12),
    Case((1, 7), 1, scale=0.1),
    Case((2, 66), 10, clamp=(0, _HIGH)),
    Case((7, 40), 6, dtype="uint8", zero=0, clamp=(0, 255)),
    Case((3, 9), 2, weights=(-127, 0, 127)),
    Case((4, 32), 3, clamp=(-20000, 12345)),
    Case((1, 480), 4, weights=(-127, 127), scale=20),
)
DEPTHWISE = (
    Case((64, 5, 5), 64, (3, 3), (1, 1), _SAME, is_depthwise=True, clamp=(0, _HIGH)),
    Case((2, 7, 8), 2, (3, 3), (2, 2), (0, 0, 1, 1), is_depthwise=True),
    Case((4, 9, 7), 4, (5, 3), (1, 2), (2, 1, 2, 1), is_depthwise=True, weights=(-127, 127)),
    Case((6, 6, 6), 6, (3, 3), is_depthwise=True, dtype="int8", zero=9),
    Case((8, 9, 3), 8, (3, 2), (1, 1), (2, 0, 2, 1), (2, 1), is_depthwise=True),
    Case((10, 4, 2), 10, (1, 2), (1, 1), (0, 1, 0, 0), is_depthwise=True, clamp=(-99, 30000)),
    Case((4, 5, 1), 4, (4, 1), (1, 1), (1, 0, 2, 0), is_depthwise=True, dtype="uint8", zero=99),
    Case((300, 3, 4), 300, (3, 3), (1, 1), _SAME, is_depthwise=True),
)
TAKEN = (*ROWS, *DEPTHWISE)
# Windows, pixels with some that are left, one row, and lines of a depthwise one.
GOLDEN = (ROWS[9], ROWS[1], ROWS[15], DEPTHWISE[0])
REFUSED = {
    Case((3, 5, 5), 3, (3, 3), (1, 1), _SAME, is_depthwise=True): (
        "it takes channels by 2 and up to 32 taps"
    ),
    Case((4, 9, 9), 4, (6, 6), (1, 1), is_depthwise=True): (
        "it takes channels by 2 and up to 32 taps"
    ),
    Case((4, 5, 5), 2, (3, 3), (1, 1), _SAME, (1, 2)): (
        "a window of it is all padding, or its columns are apart"
    ),
}


def _weights(case: Case, random: np.random.Generator) -> np.ndarray:
    shape = (case.filters, case.taps)
    if case.weights == "normal":
        return np.clip(random.normal(0, 40, shape), -127, 127).astype(np.int8)
    return random.choice(np.array(case.weights, np.int8), shape)


def _scale(case: Case) -> float:
    """Of the output, whose most elements are then within its range."""
    middling = 40 * np.sqrt(case.taps) * (1 if case.dtype == "int16" else 256)
    return float(case.scale * middling * 0.7)


def model(cases: Sequence[Case], path: Path) -> Path:
    """In QDQ form: one input, and of each type one output, which the cases share."""
    nodes, constants, taken = [], [], 0
    ends: dict[str, list[str]] = {}

    def stored(name: str, value: Any) -> str:
        constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def real(name: str, source: str, scale: np.ndarray, zero: np.ndarray, axis: int) -> str:
        given = [source, stored(f"{name}_scale", scale), stored(f"{name}_zero", zero)]
        nodes.append(helper.make_node("DequantizeLinear", given, [name], axis=axis))
        return name

    for n, case in enumerate(cases):
        random = np.random.default_rng(n)
        weights, bias = _weights(case, random), random.integers(-90000, 90000, case.filters)
        scales = random.uniform(0.5, 2, case.filters).astype(np.float32)
        shape = case.shape if case.is_dense else (1, *case.shape)
        begin, taken = taken, taken + int(np.prod(shape))
        part = ["int16", stored(f"begin{n}", [begin]), stored(f"end{n}", [taken])]
        nodes.append(helper.make_node("Slice", part, [f"part{n}"]))
        wanted = stored(f"shape{n}", np.array(shape))
        nodes.append(helper.make_node("Reshape", [f"part{n}", wanted], [f"x{n}"]))
        x = real(f"rx{n}", f"x{n}", np.float32(1), np.int16(0), 0)
        is_transposed = case.is_dense and n % 2 == 0
        if not case.is_dense:
            weights = weights.reshape(case.filters, -1, *case.kernel)
        stored(f"w{n}", weights.T if is_transposed else weights)
        zeros = np.zeros(case.filters, np.int8)
        w = real(f"rw{n}", f"w{n}", scales, zeros, 1 if is_transposed else 0)
        stored(f"b{n}", bias.astype(np.int32))
        b = real(f"rb{n}", f"b{n}", scales, zeros.astype(np.int32), 0)
        y = f"s{n}"
        if case.is_dense:
            nodes.append(helper.make_node("Gemm", [x, w, b], [y], transB=int(not is_transposed)))
        else:
            group = case.filters if case.is_depthwise else 1
            nodes.append(helper.make_node(
                "Conv", [x, w, b], [y], strides=case.strides, pads=case.pads,
                dilations=case.dilations, group=group,
            ))  # fmt: skip
        scale = np.float32(_scale(case))
        if case.clamp is not None:
            bounds = [
                stored(f"{end}{n}", np.float32((bound - case.zero) * scale))
                for end, bound in zip(("low", "high"), case.clamp, strict=True)
            ]
            nodes.append(helper.make_node("Clip", [y, *bounds], [f"c{n}"]))
            y = f"c{n}"
        kind = np.dtype(case.dtype).type
        how = [stored(f"y{n}_scale", scale), stored(f"y{n}_zero", kind(case.zero))]
        nodes.append(helper.make_node("QuantizeLinear", [y, *how], [f"y{n}"]))
        nodes.append(helper.make_node("Reshape", [f"y{n}", stored(f"f{n}", [-1])], [f"flat{n}"]))
        ends.setdefault(case.dtype, []).append(f"flat{n}")
    outputs = []
    for dtype, names in ends.items():
        nodes.append(helper.make_node("Concat", names, [f"{dtype}_y"], axis=0))
        element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        outputs.append(helper.make_tensor_value_info(f"{dtype}_y", element, None))
    x = helper.make_tensor_value_info("int16", onnx.TensorProto.INT16, (taken,))
    graph = helper.make_graph(nodes, "int16", [x], outputs, constants)
    opset = [helper.make_opsetid("", 21)]
    onnx.save_model(helper.make_model(graph, opset_imports=opset, ir_version=10), path)
    return path


# TFLite's, which pad alike on all sides or not at all.
WIDE = (
    Case((64, 5, 5), 64, clamp=(0, _HIGH)),
    Case((4, 5, 4), 6, (3, 3), pads=_SAME),
    Case((3, 7, 6), 3, (2, 3), (2, 1)),
    Case((1, 48), 12),
    Case((5, 33), 6, clamp=(0, _HIGH)),
    Case((16, 6, 5), 16, (3, 3), pads=_SAME, is_depthwise=True, clamp=(0, _HIGH)),
    Case((4, 6, 7), 4, (3, 3), (2, 2), is_depthwise=True),
)


def tflite_model(cases: Sequence[Case], path: Path) -> Path:
    """The same of TFLite, whose biases have 64 bits, or are not there; channels last."""
    tensors, operators = [], []
    for n, case in enumerate(cases):
        random = np.random.default_rng(n)
        weights = _weights(case, random)
        scales = random.uniform(0.5, 2, case.filters) * 1e-3
        y_scale = _scale(case) * 1e-3 * 0.0013
        activation = tflite.ActivationFunctionType.RELU if case.clamp else 0
        if case.is_dense:
            x_shape, y_shape = case.shape, (case.shape[0], case.filters)
            options = {"FusedActivationFunction": activation}
            kind, table, axis = "FULLY_CONNECTED", "FullyConnectedOptions", 0
        else:
            channels, *image = case.shape
            is_same = any(case.pads)
            size = [
                -(-i // s) if is_same else (i - k) // s + 1
                for i, k, s in zip(image, case.kernel, case.strides, strict=True)
            ]
            x_shape, y_shape = (1, *image, channels), (1, *size, case.filters)
            options = {
                "Padding": tflite.Padding.SAME if is_same else tflite.Padding.VALID,
                "StrideH": case.strides[0], "StrideW": case.strides[1],
                "FusedActivationFunction": activation, "DilationHFactor": 1, "DilationWFactor": 1,
            }  # fmt: skip
            kind, table, axis = "CONV_2D", "Conv2DOptions", 0
            weights = weights.reshape(case.filters, *case.kernel, -1)
            if case.is_depthwise:
                kind, table, axis = "DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", 3
                weights, options = weights.transpose(3, 1, 2, 0), options | {"DepthMultiplier": 1}
        tensors += [
            Tensor(f"x{n}", x_shape, "INT16", (0.0013,), (0,)),
            constant(f"w{n}", weights, scales.tolist(), axis),
            Tensor(f"y{n}", y_shape, "INT16", (y_scale,), (0,)),
        ]
        inputs = [f"x{n}", f"w{n}"]
        if n % 3:
            bias = random.integers(-90000, 90000, case.filters)
            tensors.append(constant(f"b{n}", bias.astype(np.int64)))
            inputs.append(f"b{n}")
        operators.append(Operator(kind, tuple(inputs), (f"y{n}",), table, options))
    names = [[f"{kind}{n}" for n in range(len(cases))] for kind in "xy"]
    path.write_bytes(write(tensors, operators, *names))
    return path


def tflite_samples(cases: Sequence[Case]) -> Samples:
    """Any int16, and the ends of the range alone."""
    random, low, high = np.random.default_rng(1), -(2**15), 2**15 - 1
    shapes = [c.shape if c.is_dense else (1, *c.shape[1:], c.shape[0]) for c in cases]
    some = [random.integers(low, high, s, endpoint=True).astype(np.int16) for s in shapes]
    ends = [random.choice(np.array([low, high], np.int16), s) for s in shapes]
    least = [np.full(s, low, np.int16) for s in shapes]
    return Samples((tuple(some), tuple(ends), tuple(least)), "made here")
