"""Models for the operators that the model pack has seldom or not at all, to be measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper


class Cases:
    """A model with each operator once as float32 and once between quantized tensors."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: dict[tuple[int, ...], str] = {}
        self.results: list[str] = []
        self.constants: list[onnx.TensorProto] = []
        self.declared: list[onnx.ValueInfoProto] = []
        self._source = np.random.default_rng(1)
        self._tensors = 0

    def tensor(self, value: npt.NDArray[Any] | np.generic) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        self._tensors += 1
        name = f"t{self._tensors}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name, **attributes))
        return name

    def input(self, shape: Sequence[int]) -> str:
        return self.inputs.setdefault(tuple(shape), f"x{len(self.inputs)}")

    def data(self, shape: Sequence[int]) -> str:
        """A computed tensor with values around zero; bench.elf's own inputs are all zero."""
        return self.node("Add", [self.input(shape), self.tensor(self.random(shape))])

    def random(self, shape: Sequence[int]) -> npt.NDArray[np.float32]:
        return self._source.uniform(-2, 2, list(shape)).astype(np.float32)

    def quantized(self, value: str) -> str:
        scale = self.tensor(np.float32(1 / 32))
        zero = self.tensor(np.int8(3))
        return self.node(
            "DequantizeLinear", [self.node("QuantizeLinear", [value, scale, zero]), scale, zero]
        )

    def weights(self, shape: Sequence[int], quantized: bool) -> str:
        if not quantized:
            return self.tensor(self.random(shape))
        value = self._source.integers(-90, 90, list(shape)).astype(np.int8)
        zero = self.tensor(np.int8(0))
        return self.node(
            "DequantizeLinear", [self.tensor(value), self.tensor(np.float32(1 / 64)), zero]
        )

    def both(
        self,
        op: str,
        shapes: Sequence[Sequence[int]],
        weights: Sequence[Sequence[int]] = (),
        constants: Sequence[npt.NDArray[Any]] = (),
        kinds: Sequence[bool] = (False, True),
        **attributes: Any,
    ) -> None:
        """The operator on computed tensors of these shapes, weights, and integer constants."""
        for quantized in kinds:
            data = [self.data(shape) for shape in shapes]
            if quantized:
                data = [self.quantized(value) for value in data]
            inputs = [
                *data,
                *(self.weights(shape, quantized) for shape in weights),
                *(self.tensor(value) for value in constants),
            ]
            result = self.node(op, inputs, **attributes)
            self.results.append(self.quantized(result) if quantized else result)

    def model(self, opset: int = 20) -> onnx.ModelProto:
        """All results, one behind the other, are the one output: the runtime takes 16 tensors."""
        flat = self.tensor(np.array([-1]))
        rows = [self.node("Reshape", [result, flat]) for result in self.results]
        self.nodes.append(helper.make_node("Concat", rows, ["y"], "y", axis=0))
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for shape, name in self.inputs.items()
        ]
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        graph = helper.make_graph(
            self.nodes, "cases", inputs, [output], self.constants, value_info=self.declared
        )
        imports = [helper.make_opsetid("", opset)]
        return helper.make_model(graph, opset_imports=imports, ir_version=9)


_UNARY = (
    "Abs", "Ceil", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu",
    "Neg", "Reciprocal", "Sigmoid", "Softplus", "Softsign", "Sqrt", "Tanh",
)  # fmt: skip


def cases() -> Iterator[onnx.ModelProto]:
    """Models for what the pack has seldom or not at all, in two sizes."""
    for channels, side in ((4, 6), (16, 13)):
        shape = (1, channels, side, side)
        every = Cases()
        for op in _UNARY:
            every.both(op, [shape])
        # What computes the input would take these two in.
        every.results.append(every.node("Relu", [every.input(shape)]))
        bounds = [every.tensor(np.float32(-1)), every.tensor(np.float32(1))]
        every.results.append(every.node("Clip", [every.input(shape), *bounds]))
        for op in ("Add", "Sub", "Mul", "Div"):
            every.both(op, [shape, shape])
            every.both(op, [shape, (1, channels, 1, 1)])
        yield every.model()
        moves = Cases()
        ends = np.array([side - 1, side - 1])
        moves.both("Slice", [shape], constants=[np.array([1, 1]), ends, np.array([2, 3])])
        moves.both("Gather", [shape], constants=[np.array([2, 0, 1])], axis=1)
        moves.both("Gather", [shape], constants=[np.array([2, 0, 1])], axis=3)
        moves.both("Pad", [shape], constants=[np.array([0, 0, 1, 1, 0, 0, 1, 1])])
        moves.both("Concat", [shape, shape], axis=1)
        moves.both("Concat", [shape, shape], axis=2)
        scales = np.array([1, 1, 2, 2], np.float32)
        moves.both("Resize", [shape], constants=[np.zeros(0, np.float32), scales], mode="nearest")
        for perm in ((0, 2, 3, 1), (0, 1, 3, 2), (0, 3, 1, 2)):
            moves.both("Transpose", [shape], perm=perm)
        for size in (2, 3):
            moves.both("MaxPool", [shape], kernel_shape=[size, size], strides=[size, size])
            moves.both("AveragePool", [shape], kernel_shape=[size, size], pads=[1, 1, 1, 1])
            moves.both("MaxPool", [shape], kernel_shape=[size, size], pads=[1, 1, 1, 1])
        moves.both("GlobalMaxPool", [shape])
        moves.both("GlobalAveragePool", [shape])
        for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"):
            moves.both(op, [shape], constants=[np.array([2, 3])], keepdims=1)
            moves.both(op, [shape], constants=[np.array([1])], keepdims=1)
        for axis in (1, 3):
            moves.both("Softmax", [shape], axis=axis)
        yield moves.model()
        sums = Cases()
        for group in (1, 2, channels):
            for pads in ([0, 0, 0, 0], [1, 1, 1, 1]):
                filter_shape = (channels, channels // group, 3, 3)
                sums.both("Conv", [shape], [filter_shape], group=group, pads=pads)
        sums.both("Conv", [shape], [(8, channels, 3, 3)], dilations=[2, 2])
        sums.both("Conv", [shape], [(8, channels, 1, 1)])
        sums.both("Conv", [(1, channels, side * side)], [(8, channels, 5)], pads=[2, 2])
        only_float = (False,)
        sums.both("ConvTranspose", [shape], [(channels, 8, 2, 2)], kinds=only_float, strides=[2, 2])
        sums.both("ConvTranspose", [shape], [(channels, 8, 3, 3)], kinds=only_float)
        sums.both("MatMul", [shape, shape])
        sums.both("MatMul", [shape], [(side, 24)])
        parameters = [np.ones(channels, np.float32)] * 4
        sums.both("BatchNormalization", [shape], constants=parameters, kinds=only_float)
        gains = [np.ones(side, np.float32)] * 2
        sums.both("LayerNormalization", [shape], constants=gains, kinds=only_float)
        for op, gates, ways in (("LSTM", 4, 1), ("GRU", 3, 2), ("RNN", 1, 1)):
            weights = [(ways, gates * channels, side), (ways, gates * channels, channels)]
            direction = ("forward", "bidirectional")[ways - 1]
            sums.both(
                op, [(8, 1, side)], weights, kinds=only_float, direction=direction,
                hidden_size=channels,
            )  # fmt: skip
        yield sums.model()
