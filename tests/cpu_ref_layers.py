"""Layers of each family of CpuRef's kernels, at two or three sizes: for what they cost.

They stand side by side in one model, so that one firmware counts them all. What they read is noise
that the model adds to its inputs, as an inference that is counted starts from zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from mcu_deploy.ir import DType

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Q:
    """How a tensor lies on the integers."""

    scale: float = 0.05
    zero: int = 3
    dtype: str = "int8"


class Layers:
    """A model in which the layers of cases stand side by side; their names are the cases'."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._ends: list[str] = []
        self._noise: dict[tuple[object, ...], str] = {}
        self._random = np.random.default_rng(5)

    def _new(self, word: str) -> str:
        return f"{word}_{len(self._nodes)}_{len(self._constants)}"

    def constant(self, value: Any) -> str:
        name = self._new("constant")
        self._constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(
        self, op: str, inputs: Sequence[str], outputs: int = 1, name: str = "", **attributes: Any
    ) -> str:
        """Adds an operator, and gives its first output; the others are outputs of the model."""
        made = [self._new(f"{op.lower()}{k}") for k in range(outputs)]
        self._nodes.append(helper.make_node(op, inputs, made, name or made[0], **attributes))
        self._ends += made[1:]
        return made[0]

    def weights(self, *shape: int) -> Array:
        return self._random.normal(0, 1, shape).astype(np.float32)

    def real(self, *shape: int) -> str:
        """A computed tensor of float32, normally distributed."""
        if shape not in self._noise:
            size = self.constant(np.array(shape))
            flat = self.node("Expand", ["x", size])
            self._noise[shape] = self.node("Add", [flat, self.constant(self.weights(*shape))])
        return self._noise[shape]

    def integers(self, kind: str, *shape: int) -> str:
        """A computed tensor of integers that stand for themselves."""
        if (kind, shape) not in self._noise:
            wide = self.node("Mul", [self.real(*shape), self.constant(np.float32(40))])
            code = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
            self._noise[kind, shape] = self.node("Cast", [wide], to=code)
        return self._noise[kind, shape]

    def byte(self, *shape: int, q: Q = Q()) -> str:
        """A computed tensor on 8 bits, as a real one."""
        if (q, shape) not in self._noise:
            self._noise[q, shape] = self.quantized(self.real(*shape), q)
        return self._noise[q, shape]

    def quantized(self, value: str, q: Q, name: str = "", back: bool = False) -> str:
        """A real tensor, rounded; name: of the conversion, or where `back` of the one back."""
        zero = self.constant(np.array(q.zero, q.dtype))
        scale = self.constant(np.float32(q.scale))
        inner = self.node("QuantizeLinear", [value, scale, zero], name="" if back else name)
        return self.node("DequantizeLinear", [inner, scale, zero], name=name if back else "")

    def matrix(self, *shape: int, axis: int | None = None) -> str:
        """Constant weights of int8, as real ones."""
        value = self._random.integers(-127, 128, shape, np.int8)
        count = 1 if axis is None else shape[axis]
        scales = np.linspace(0.01, 0.02, count).astype(np.float32)
        scale = self.constant(scales if axis is not None else scales[0])
        zero = self.constant(np.zeros(count, np.int8) if axis is not None else np.int8(0))
        more = {} if axis is None else {"axis": axis}
        return self.node("DequantizeLinear", [self.constant(value), scale, zero], **more)

    def halves(self, depth: int, columns: int, block: int) -> str:
        """A constant matrix of int4 with blocks along the first axis, as real numbers."""
        value = self._random.integers(-8, 8, (depth, columns)).astype(DType.INT4.numpy)
        scale = self.constant(np.full((depth // block, columns), 0.05, np.float32))
        more = {"axis": 0, "block_size": block}
        return self.node("DequantizeLinear", [self.constant(value), scale], **more)

    def end(self, value: str, q: Q | None = None) -> None:
        """Makes a tensor an output; of 8 bits, one that was real."""
        self._ends.append(value if q is None else self.quantized(value, q))

    def save(self, path: Path) -> Path:
        """The model; of each of its ends the largest element is a part of its output."""
        flat = []
        for end in self._ends:
            real = self.node("Cast", [end], to=onnx.TensorProto.FLOAT)
            flat.append(self.node("ReduceMax", [real], keepdims=0))
        ends = [self.node("Reshape", [f, self.constant(np.array([1]))]) for f in flat]
        self._nodes.append(helper.make_node("Concat", ends, ["y"], "ends", axis=0))
        one = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, (1,))
        y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (len(ends),))
        graph = helper.make_graph(self._nodes, "layers", [one], [y], self._constants)
        opset = [helper.make_opsetid("", 21)]
        onnx.save_model(helper.make_model(graph, opset_imports=opset, ir_version=10), path)
        return path


Make = Callable[[Layers, str], None]


def convolution(
    channels: int, filters: int, plane: int, kernel: int, stride: int = 1, pad: int = 0,
    group: int = 1, quantized: bool = True,
) -> Make:  # fmt: skip
    def make(model: Layers, name: str) -> None:
        shape = (1, channels, plane, plane)
        x = model.byte(*shape) if quantized else model.real(*shape)
        w_shape = (filters, channels // group, kernel, kernel)
        w = model.matrix(*w_shape, axis=0) if quantized else model.constant(model.weights(*w_shape))
        y = model.node("Conv", [x, w], name=name, strides=[stride] * 2, pads=[pad] * 4, group=group)
        model.end(y, Q(0.9) if quantized else None)

    return make


def float_by_bytes(op: str, *w_shape: int, plane: int = 1) -> Make:
    """float32 by weights of 8 bits."""

    def make(model: Layers, name: str) -> None:
        w = model.matrix(*w_shape, axis=0 if op == "Conv" else 1)
        shape = (1, w_shape[1], plane, plane) if op == "Conv" else (plane, w_shape[0])
        model.end(model.node(op, [model.real(*shape), w], name=name))

    return make


def float_by_halves(rows: int, depth: int, columns: int, block: int) -> Make:
    """float32 by weights of 4 bits, a scale for each block of a column."""

    def make(model: Layers, name: str) -> None:
        x = model.real(rows, depth)
        model.end(model.node("MatMul", [x, model.halves(depth, columns, block)], name=name))

    return make


def transposed(
    channels: int, filters: int, plane: int, kernel: int, stride: int, quantized: bool = False
) -> Make:
    def make(model: Layers, name: str) -> None:
        shape, w_shape = (1, channels, plane, plane), (channels, filters, kernel, kernel)
        x = model.byte(*shape) if quantized else model.real(*shape)
        w = model.matrix(*w_shape, axis=1) if quantized else model.constant(model.weights(*w_shape))
        y = model.node("ConvTranspose", [x, w], name=name, strides=[stride] * 2)
        model.end(y, Q(0.9) if quantized else None)

    return make


def resized(
    dtype: str, shape: tuple[int, ...], scales: tuple[float, ...], mode: str = "linear",
    scale: float = 0.05,
) -> Make:  # fmt: skip
    """To new elements. scale: of the output, that of the input is 0.05."""

    def make(model: Layers, name: str) -> None:
        x = model.byte(*shape) if dtype == "int8" else model.real(*shape)
        given = model.constant(np.array(scales, np.float32))
        y = model.node("Resize", [x, "", given], name=name, mode=mode)
        model.end(y, Q(scale) if dtype == "int8" else None)

    return make


def dense(rows: int, depth: int, columns: int, quantized: bool, packed: bool = True) -> Make:
    def make(model: Layers, name: str) -> None:
        a = model.byte(rows, depth) if quantized else model.real(rows, depth)
        if not packed:
            b = model.byte(depth, columns) if quantized else model.real(depth, columns)
        elif quantized:
            b = model.matrix(depth, columns)
        else:
            b = model.constant(model.weights(depth, columns))
        model.end(model.node("MatMul", [a, b], name=name), Q(0.9) if quantized else None)

    return make


def pool(op: str, channels: int, plane: int, kernel: int, stride: int, pad: int, q: bool) -> Make:
    def make(model: Layers, name: str) -> None:
        shape = (1, channels, plane, plane)
        x = model.byte(*shape) if q else model.real(*shape)
        if op.startswith("Global"):
            y = model.node(op, [x], name=name)
        else:
            y = model.node(
                op, [x], name=name, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                pads=[pad] * 4,
            )  # fmt: skip
        same = "Max" in op
        model.end(y, (Q() if same else Q(0.03)) if q else None)

    return make


def on_elements(
    op: str, shape: Sequence[int], q: bool = False, constant: Any = None, output: Q = Q(0.07),
    **attributes: Any,
) -> Make:  # fmt: skip
    """A function of one tensor, or of one and a constant."""

    def make(model: Layers, name: str) -> None:
        x = model.byte(*shape) if q else model.real(*shape)
        more = [] if constant is None else [model.constant(constant)]
        y = model.node(op, [x, *more], name=name, **attributes)
        model.end(y, output if q else None)

    return make


def of_two(op: str, left: Sequence[int], right: Sequence[int], kind: str = "float32") -> Make:
    """kind: "float32", "quantized" or integers."""

    def make(model: Layers, name: str) -> None:
        operands = []
        for k, shape in enumerate((left, right)):
            if kind == "float32":
                operands.append(model.real(*shape))
            elif kind == "quantized":
                operands.append(model.byte(*shape, q=Q(0.05 + 0.01 * k, 3 - k)))
            else:
                operands.append(model.integers(kind, *shape))
        y = model.node(op, operands, name=name)
        model.end(y, Q(0.1) if kind == "quantized" else None)

    return make


def integers(op: str, kind: str, shape: Sequence[int], **attributes: Any) -> Make:
    def make(model: Layers, name: str) -> None:
        model.end(model.node(op, [model.integers(kind, *shape)], name=name, **attributes))

    return make


def moved(
    op: str, kind: str, shape: Sequence[int], *constants: Any, outputs: int = 1, **attributes: Any
) -> Make:
    """An operator that moves elements of a tensor; None: an operand that is absent."""

    def make(model: Layers, name: str) -> None:
        x = {"int8": model.byte, "float32": model.real}.get(kind)
        value = model.integers(kind, *shape) if x is None else x(*shape)
        more = ["" if c is None else model.constant(c) for c in constants]
        y = model.node(op, [value, *more], outputs, name, **attributes)
        model.end(y, Q() if kind == "int8" else None)

    return make


def nearest(kind: str, shape: Sequence[int], *scales: float) -> Make:
    return moved("Resize", kind, shape, None, np.array(scales, np.float32), mode="nearest")


def split(kind: str, shape: Sequence[int], axis: int) -> Make:
    def make(model: Layers, name: str) -> None:
        value = model.real(*shape) if kind == "float32" else model.integers(kind, *shape)
        model.end(model.node("Split", [value], 2, name, axis=axis, num_outputs=2))

    return make


def concatenated(kind: str, axis: int, *shapes: Sequence[int]) -> Make:
    def make(model: Layers, name: str) -> None:
        if kind == "int8":
            parts = [model.byte(*s, q=Q()) for s in shapes]
        else:
            parts = [model.real(*s) for s in shapes]
        y = model.node("Concat", parts, name=name, axis=axis)
        model.end(y, Q() if kind == "int8" else None)

    return make


def conversion(shape: Sequence[int], dtype: str, back: bool) -> Make:
    def make(model: Layers, name: str) -> None:
        q = Q(0.05, 128 if dtype == "uint8" else 3, dtype)
        model.end(model.quantized(model.real(*shape), q, name, back=back))

    return make


def gathered(op: str, kind: str, index: str, shape: Sequence[int], count: int, axis: int) -> Make:
    """Indices that are computed."""

    def make(model: Layers, name: str) -> None:
        value = model.byte(*shape) if kind == "int8" else model.real(*shape)
        where = [count] if op == "Gather" else [*shape]
        if op == "GatherElements":
            where[axis] = count
        indices = model.integers(index, *where)
        y = model.node(op, [value, indices], name=name, axis=axis)
        model.end(y, Q() if kind == "int8" else None)

    return make


def scattered(op: str, shape: Sequence[int], count: int, **attributes: Any) -> Make:
    def make(model: Layers, name: str) -> None:
        x = model.real(*shape)
        if op == "ScatterND":
            rows = np.arange(count, dtype=np.int64)[:, None] % shape[0]
            updates = model.real(count, *shape[1:])
        else:
            rows = np.resize(np.arange(shape[0], dtype=np.int64), (count, *shape[1:]))
            updates = model.real(count, *shape[1:])
        y = model.node(op, [x, model.constant(rows), updates], name=name, **attributes)
        model.end(y)

    return make


def rescaled(shape: Sequence[int]) -> Make:
    """Another scale for the same values: an Identity, which is a table."""

    def make(model: Layers, name: str) -> None:
        model.end(model.quantized(model.byte(*shape, q=Q(0.06)), Q(0.05), name))

    return make


def recurrent(op: str, steps: int, inputs: int, hidden: int, by_bytes: bool = False) -> Make:
    def make(model: Layers, name: str) -> None:
        gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
        w, r = (
            model.matrix(1, gates * hidden, count, axis=1) if by_bytes
            else model.constant(model.weights(1, gates * hidden, count) * 0.3)
            for count in (inputs, hidden)
        )  # fmt: skip
        y = model.node(op, [model.real(steps, 1, inputs), w, r], name=name, hidden_size=hidden)
        model.end(y)

    return make


def normalized(op: str, shape: Sequence[int], quantized: bool = False) -> Make:
    def make(model: Layers, name: str) -> None:
        size = shape[-1] if op == "LayerNormalization" else shape[1]
        ones = [model.constant(model.weights(size) + 2) for _ in range(2)]
        if op == "BatchNormalization":
            ones += [model.constant(model.weights(size)), model.constant(np.ones(size, np.float32))]
        x = model.byte(*shape) if quantized else model.real(*shape)
        model.end(model.node(op, [x, *ones], name=name), Q() if quantized else None)

    return make


def softmax(shape: Sequence[int], q: bool, op: str = "Softmax") -> Make:
    def make(model: Layers, name: str) -> None:
        x = model.byte(*shape) if q else model.real(*shape)
        y = model.node(op, [x], name=name, axis=-1)
        model.end(y, Q(1 / 256, -128) if q else None)

    return make


def where(shape: Sequence[int]) -> Make:
    def make(model: Layers, name: str) -> None:
        x = model.real(*shape)
        flag = model.node("Less", [x, model.constant(np.float32(0))])
        model.end(model.node("Where", [flag, x, model.node("Neg", [x])], name=name))

    return make


def write(cases: Mapping[str, Make], path: Path) -> Path:
    """A model of these, whose layers bear their names."""
    model = Layers()
    for name, make in cases.items():
        make(model, name)
    return model.save(path)
