"""Small quantized networks, written by hand as the passes leave them: integer nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, Quantization, TensorType

Array = npt.NDArray[Any]


def quantized(shape: Sequence[int], scale: float, zero: int, dtype: str = "int8") -> TensorType:
    """The type of a tensor that is quantized per tensor."""
    return TensorType(DType(dtype), tuple(shape), Quantization((scale,), (zero,)))


class QuantizedNet:
    """Writes a network of one input, in ONNX's arithmetic or in TFLite's."""

    def __init__(self, shape: Sequence[int], zero: int = -3, dtype: str = "int8") -> None:
        self.editor = GraphEditor.empty("net")
        self.dtype = dtype
        self.domain = ""
        self.x = self.editor.add_edge("x", quantized(shape, 0.05, zero, dtype))
        self.editor.inputs.append(self.x)

    def op(
        self, op: str, inputs: Sequence[EdgeId], type_: TensorType, domain: str | None = None,
        **attributes: Any,
    ) -> EdgeId:  # fmt: skip
        """A node of one output."""
        name = f"{op.lower()}_{len(self.editor.nodes)}"
        edge = self.editor.add_edge(f"{name}_out", type_)
        known = self.domain if domain is None else domain
        self.editor.add_node(op, inputs, [edge], name, attributes, known)
        return edge

    def shape(self, edge: EdgeId) -> tuple[int, ...]:
        return self.editor.types[edge].shape

    def like(self, edge: EdgeId, shape: Sequence[int]) -> TensorType:
        """A type with the scale of a tensor."""
        scaling = self.editor.types[edge].scaling
        return quantized(shape, scaling.scale[0], scaling.zero_point[0], self.dtype)

    def constant(self, value: Array, quantization: Quantization | None = None) -> EdgeId:
        type_ = TensorType(DType.of(value.dtype), value.shape, quantization)
        return self.editor.add_constant(f"constant_{len(self.editor.edges)}", value, type_)

    def _weights(self, value: Array, scales: Array, axis: int, bias: Array | None) -> list[EdgeId]:
        made = [self.constant(value, Quantization.from_arrays(scales, [0] * scales.size, axis))]
        if bias is not None:
            says = Quantization.from_arrays(scales * 0.05, [0] * scales.size, 0)
            made.append(self.constant(bias.astype(np.int32), says))
        return made

    def conv(
        self, x: EdgeId, weights: Array, bias: Array | None = None, *, pad: int = 0,
        stride: int = 1, group: int = 1, zero: int = -3, relu: bool = True, scale: float = 0.05,
    ) -> EdgeId:  # fmt: skip
        """weights: int8, (filters, channels of a group, rows, columns); a scale for each filter."""
        filters, rows, columns = weights.shape[0], *weights.shape[2:]
        sizes = zip(self.shape(x)[2:], (rows, columns), strict=True)
        spatial = [(n + 2 * pad - k) // stride + 1 for n, k in sizes]
        scales = np.linspace(0.01, 0.02, filters).astype(np.float32)
        attributes: dict[str, Any] = {"activation": (0.0, float("inf"))} if relu else {}
        return self.op(
            "Conv", [x, *self._weights(weights, scales, 0, bias)],
            quantized((1, filters, *spatial), scale, zero, self.dtype),
            kernel_shape=(rows, columns), pads=(pad,) * 4, strides=(stride,) * 2, group=group,
            **attributes,
        )  # fmt: skip

    def dense(
        self, x: EdgeId, weights: Array, bias: Array | None = None, op: str = "Gemm"
    ) -> EdgeId:
        """weights: int8, (depth, columns)."""
        scales = np.linspace(0.01, 0.02, weights.shape[1]).astype(np.float32)
        result = quantized((1, weights.shape[1]), 0.1, 5, self.dtype)
        if self.domain:
            turned = np.ascontiguousarray(weights.T)
            return self.op("FullyConnected", [x, *self._weights(turned, scales, 0, bias)], result)
        return self.op(op, [x, *self._weights(weights, scales, 1, bias)], result)

    def flatten(self, x: EdgeId) -> EdgeId:
        """A Reshape to (1, elements)."""
        shape = (1, int(np.prod(self.shape(x))))
        given = self.constant(np.array(shape, np.int64))
        return self.op("Reshape", [x, given], self.like(x, shape), "")

    def add(self, a: EdgeId, b: EdgeId) -> EdgeId:
        return self.op("Add", [a, b], quantized(self.shape(a), 0.07, -3, self.dtype))

    def pool(self, x: EdgeId, op: str, size: int = 2) -> EdgeId:
        """An AveragePool or a MaxPool of size x size, of stride 1."""
        spatial = [n - size + 1 for n in self.shape(x)[2:]]
        domain = "" if op == "MaxPool" else None
        attributes = {"kernel_shape": (size, size), "strides": (1, 1), "pads": (0,) * 4}
        result = self.like(x, (*self.shape(x)[:2], *spatial))
        return self.op(op, [x], result, domain, **attributes)

    def finish(self, *outputs: EdgeId) -> Graph:
        self.editor.outputs = list(outputs)
        return self.editor.finish(opset=17)
