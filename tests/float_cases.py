"""Layers of float32 for kernels in assembler in one model: convolutions, products, sums, pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper


@dataclass(frozen=True)
class Case:
    """A node: the shape of its input, without its batch where that is 1 (`batch`); the shapes of
    its constants, of which None is an operand of the input's shape; its attributes; the bounds of
    the Clip behind it, of which (0, inf) is a Relu; whether its weights are int8; the shape of a
    second input."""

    op: str
    shape: tuple[int, ...]
    constants: tuple[tuple[int, ...] | None, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict, hash=False)
    clamp: tuple[float, float] | None = None
    batch: int = 1
    weights8: bool = False
    right: tuple[int, ...] | None = None


INF = float("inf")
RELU, RELU6 = (0.0, INF), (0.0, 6.0)


def conv(
    shape: tuple[int, ...], filters: int, kernel: tuple[int, ...], strides: Sequence[int] = (1, 1),
    pads: Sequence[int] | None = None, dilations: Sequence[int] = (1, 1), group: int = 1,
    clamp: tuple[float, float] | None = None, batch: int = 1, bias: bool = True,
) -> Case:  # fmt: skip
    """pads: by default those that keep the size of a stride of 1."""
    axes = len(kernel)
    same = [(k - 1) * d // 2 for k, d in zip(kernel, dilations, strict=False)]
    attributes = {
        "strides": strides[:axes], "dilations": dilations[:axes], "group": group,
        "pads": [*same, *same] if pads is None else pads, "kernel_shape": kernel,
    }  # fmt: skip
    weights = (filters, shape[0] // group, *kernel)
    return Case("Conv", shape, (weights, (filters,))[: 1 + bias], attributes, clamp, batch)


# Bytes over an emulator's line are what takes long: layers behind so many floats of the input read
# it from its first again.
_INPUTS = 8_000


class _Model:
    """Of one input and one output, which all layers share."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(3)
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._taken = self._inputs = 0
        self._ends: list[str] = []

    def _constant(self, value: Any) -> str:
        name = f"constant{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def _node(self, op: str, inputs: Sequence[str], name: str = "", **attributes: Any) -> str:
        output = f"of{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, inputs, [output], name or output, **attributes))
        return output

    def _input(self, shape: Sequence[int]) -> str:
        begin = self._taken
        self._taken = end = begin + int(np.prod(shape))
        self._inputs = max(self._inputs, end)
        part = self._node("Slice", ["x", self._constant([begin]), self._constant([end])])
        return self._node("Reshape", [part, self._constant(np.array(shape))])

    def add(self, case: Case, name: str) -> None:
        if self._taken > _INPUTS:
            self._taken = 0
        shape = case.shape if case.op in ("Gemm", "MatMul") else (case.batch, *case.shape)
        operands = [self._input(of) for of in (shape, case.right) if of is not None]
        for constant in case.constants:
            if constant is None:
                operands.append(self._input(shape))
            elif case.weights8 and len(operands) == 1:
                operands.append(self._bytes(case, constant))
            else:
                values = self._random.normal(0, 1, constant).astype(np.float32)
                operands.append(self._constant(values))
        y = self._node(case.op, operands, name, **case.attributes)
        if case.clamp == RELU:
            y = self._node("Relu", [y])
        elif case.clamp is not None:
            y = self._node("Clip", [y, *(self._constant(np.float32(b)) for b in case.clamp)])
        self._ends.append(self._node("Reshape", [y, self._constant([-1])]))

    def _bytes(self, case: Case, shape: Sequence[int]) -> str:
        """Weights of int8, with a scale for each filter and no zero point, or with one of both."""
        of_rows = case.op == "Conv" or case.attributes.get("transB", 0)
        axis = 0 if of_rows else len(shape) - 1
        has_one = bool(shape[axis] % 2)
        low, high = (-7, 127) if has_one else (-128, 128)
        values = self._random.integers(low, high, shape).astype(np.int8)
        scales = self._random.uniform(0.002, 0.01, 1 if has_one else shape[axis])
        zeros = np.full(scales.shape, 99 if has_one else 0, np.int8)
        given = [np.squeeze(of) if has_one else of for of in (scales.astype(np.float32), zeros)]
        names = [self._constant(of) for of in (values, *given)]
        return self._node("DequantizeLinear", names, **({} if has_one else {"axis": axis}))

    def save(self, path: Path) -> Path:
        self._nodes.append(helper.make_node("Concat", self._ends, ["y"], axis=0))
        kind = onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            self._nodes, "floats", [helper.make_tensor_value_info("x", kind, (self._inputs,))],
            [helper.make_tensor_value_info("y", kind, None)], self._constants,
        )  # fmt: skip
        opset = [helper.make_opsetid("", 17)]
        onnx.save_model(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
        return path


def model(cases: Sequence[Case], path: Path) -> Path:
    made = _Model()
    for number, case in enumerate(cases):
        made.add(case, f"layer{number}")
    return made.save(path)


def sample(path: Path) -> Path:
    """One for such a model, beside it."""
    (shape,) = onnx.load(path).graph.input[0].type.tensor_type.shape.dim
    values = np.random.default_rng(5).normal(0, 1, (1, shape.dim_value)).astype(np.float32)
    np.savez(path.with_suffix(".npz"), x=values)
    return path.with_suffix(".npz")


_NONE = (0, 0, 0, 0)
CONVOLUTIONS = (
    conv((64, 5, 25), 64, (1, 1), clamp=RELU),
    conv((3, 5, 7), 5, (1, 1), clamp=RELU6),
    conv((1, 49, 10), 12, (10, 4), (2, 2), (4, 1, 5, 1), clamp=RELU),
    conv((16, 8, 8), 16, (3, 3), clamp=(-1.0, 1.5)),
    conv((3, 12, 12), 8, (3, 3), (2, 2), (0, 0, 1, 1)),
    conv((3, 9, 8), 5, (7, 7), (2, 3), (3, 2, 3, 4)),
    conv((4, 6, 9), 2, (1, 3)),
    conv((5, 6, 5), 4, (3, 3), bias=False),
    conv((8, 9, 9), 8, (1, 1), (2, 2)),
    conv((16, 9, 11), 4, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2)),
    conv((3, 11, 9), 2, (3, 2), (2, 1), (0, 2, 3, 0), (2, 3)),
    conv((2, 1, 2), 4, (3, 5), (1, 1), (1, 3, 1, 2)),
    conv((2, 3, 3), 4, (3, 3), (1, 1), (4, 4, 4, 4)),
    conv((4, 6, 5), 30, (6, 5), (1, 1), _NONE),
    conv((20, 1, 1), 7, (1, 1)),
    conv((7, 31), 6, (5,), (2,), (2, 2)),
    conv((4, 5, 5), 6, (3, 3), group=2),
    conv((9, 7, 5), 15, (3, 3), (2, 1), group=3, clamp=RELU),
    conv((6, 4, 4), 12, (1, 1), group=3),
    conv((5, 6, 6), 10, (3, 3), group=5),
    conv((6, 3, 4), 9, (1, 1), batch=3),
    conv((40, 3, 3), 8, (3, 3)),
    conv((130, 2, 3), 6, (3, 3)),
    conv((4, 9, 3), 30, (3, 3), (1, 1), (1, 0, 1, 0)),
    conv((3, 4, 5), 6, (1, 1), (1, 1), (1, 1, 1, 1)),
)
DENSE = (
    Case("Gemm", (1, 33), ((33, 19), (19,))),
    Case("Gemm", (1, 64), ((12, 64), (12,)), {"transB": 1}, RELU),
    Case("Gemm", (6, 17), ((17, 9), (1,)), {"beta": 0.5}),
    Case("Gemm", (1, 8), ((8, 1),)),
    Case("MatMul", (2, 3, 10), ((10, 8),)),
    Case("MatMul", (1, 1100), ((1100, 6),)),
)

# Of matrices that are both computed.
PRODUCTS = (
    Case("MatMul", (4, 25, 16), right=(4, 16, 25)),
    Case("MatMul", (2, 1, 5, 7), right=(3, 7, 30), clamp=RELU),
    Case("MatMul", (1, 33), right=(33, 19)),
    Case("MatMul", (6, 5), right=(5, 1)),
    Case("MatMul", (3, 4, 8), right=(8, 6), clamp=(-1.0, 1.5)),
)


def _depthwise(
    channels: int, size: tuple[int, ...], kernel: tuple[int, ...], **more: Any
) -> Case:  # fmt: skip
    return conv((channels, *size), channels, kernel, group=channels, **more)


DEPTHWISE = (
    _depthwise(64, (25, 5), (3, 3), clamp=RELU),
    _depthwise(16, (12, 12), (3, 3), strides=(2, 2), pads=(0, 0, 1, 1), clamp=RELU6),
    _depthwise(7, (9, 7), (3, 3), clamp=(-0.5, INF)),
    _depthwise(130, (4, 5), (3, 3)),
    _depthwise(6, (8, 9), (5, 5)),
    _depthwise(5, (9, 9), (3, 3), pads=_NONE, dilations=(2, 2)),
    _depthwise(8, (11, 13), (3, 3), strides=(2, 1), pads=(3, 2, 3, 4), dilations=(3, 2)),
    _depthwise(4, (13, 11), (3, 3), strides=(3, 3)),
    _depthwise(3, (10, 10), (2, 2), strides=(2, 2), pads=_NONE),
    _depthwise(8, (30, 1), (9, 1), pads=_NONE),
    _depthwise(4, (1, 50), (1, 13)),
    _depthwise(40, (31,), (9,), pads=(8, 0)),
    _depthwise(9, (3, 3), (3, 3), pads=(4, 4, 4, 4), bias=False),
    _depthwise(4, (6, 11), (7, 7), strides=(1, 2)),
    _depthwise(6, (3, 8), (1, 3), pads=(1, 1, 1, 1)),
)
_POOL = {"kernel_shape": (2, 2), "strides": (2, 2)}
_ONE = (1, 1, 1, 1)
POOLS = (
    Case("AveragePool", (64, 25, 5), (), {"kernel_shape": (25, 5)}),
    Case("GlobalAveragePool", (19, 7, 9)),
    Case("AveragePool", (6, 8, 9), (), _POOL, RELU),
    Case("AveragePool", (6, 8, 9), (), {"kernel_shape": (3, 3), "pads": _ONE}),
    Case("AveragePool", (5, 7, 6), (), {"kernel_shape": (3, 2), "pads": (2, 1, 0, 0),
                                        "strides": (2, 1)}),
    Case("AveragePool", (4, 6, 6), (), {"kernel_shape": (3, 3), "pads": _ONE,
                                        "count_include_pad": 1}),
    Case("MaxPool", (16, 12, 10), (), _POOL),
    Case("MaxPool", (7, 9, 9), (), {"kernel_shape": (3, 3), "strides": (2, 2), "pads": _ONE}),
    Case("MaxPool", (130, 4, 6), (), {"kernel_shape": (3, 3), "dilations": (1, 2)}),
    Case("GlobalMaxPool", (10, 5, 3)),
    Case("GlobalAveragePool", (3, 40, 61)),
    Case("MaxPool", (1, 6, 7), (), {"kernel_shape": (3, 3), "pads": _ONE}),
    Case("AveragePool", (1, 5, 9), (), {"kernel_shape": (2, 3), "pads": _ONE}),
    Case("ReduceMean", (13, 6, 5), (), {"axes": (2, 3), "keepdims": 0}),
    Case("ReduceMean", (4, 21), (), {"axes": (-1,)}),
    Case("MaxPool", (8, 21), (), {"kernel_shape": (3,), "strides": (2,)}),
)  # fmt: skip
SUMS = (
    Case("Add", (3, 5, 7), (None,)),
    Case("Add", (16, 4, 4), (None,), clamp=RELU),
    Case("Sub", (1, 9), (None,), clamp=RELU6),
    Case("Mul", (2, 3), (None,)),
    Case("Mul", (35,), ((1,),), clamp=(-0.5, 0.25)),
    Case("Add", (4, 11), ((),)),
)
ACTIVATIONS = (
    Case("Relu", (3, 5, 7)),
    Case("LeakyRelu", (41,), (), {"alpha": 0.3}),
    Case("HardSigmoid", (2, 9), (), {"alpha": 0.4}),
    Case("HardSwish", (6, 5, 5)),
    Case("Clip", (33,), ((), ())),
)
CHANNELS = (
    Case("Add", (8, 5, 6), ((8, 1, 1),), clamp=RELU),
    Case("Mul", (7, 4, 3), ((1, 7, 1, 1),)),
    Case("Sub", (5, 6), ((6,),), batch=3),
    Case("Mul", (35,), ((35,),), clamp=(-0.5, 0.25)),
)


def of_bytes(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The same with weights of int8."""
    return tuple(replace(case, weights8=True) for case in cases)


FAMILIES = {
    "activations": ACTIVATIONS, "channels": CHANNELS,
    "convolutions": CONVOLUTIONS, "dense": DENSE, "depthwise": DEPTHWISE, "pools": POOLS,
    "products": PRODUCTS, "sums": SUMS,
    "convolutions of bytes": of_bytes(CONVOLUTIONS), "dense of bytes": of_bytes(DENSE),
    "depthwise of bytes": of_bytes(DEPTHWISE),
}  # fmt: skip
# Whose cycles are asserted: of the keyword spotting, image classification and anomaly detection
# models.
POINTWISE = CONVOLUTIONS[0]
SPEECH = conv((1, 49, 10), 64, (10, 4), (2, 2), (4, 1, 5, 1), clamp=RELU)
BLOCK = conv((16, 32, 32), 16, (3, 3), clamp=RELU)
ROW = Case("Gemm", (1, 640), ((640, 128), (128,)), clamp=RELU)
STRIPS = DEPTHWISE[0]
GOLDEN = {
    "activation": [ACTIVATIONS[3]],
    "convolution": [conv((6, 5, 6), 7, (3, 3), clamp=RELU6)],
    "dense": [Case("Gemm", (1, 18), ((18, 21), (21,)), clamp=RELU)],
    "depthwise": [_depthwise(6, (5, 6), (3, 3), clamp=RELU)],
    "pool": [Case("AveragePool", (6, 4, 6), (), _POOL), Case("MaxPool", (6, 4, 6), (), _POOL)],
    "sum": [Case("Add", (3, 5, 7), (None,), clamp=RELU)],
}
