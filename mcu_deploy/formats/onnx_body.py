"""What a body of an operator is written in: nodes, one after another."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from mcu_deploy.arithmetic import Array

Shape = tuple[int, ...]


class NoBody(Exception):
    """A node of a form that has no body here."""


def require(holds: object) -> None:
    """Raises NoBody where a condition does not hold."""
    if not holds:
        raise NoBody


class Body:
    """The nodes of a body, one after another. Each call adds one and gives its output's name.

    shapes, values: of the node's inputs; None where one is not static or absent, and where one is
    no constant. dtype: the element type of the first.
    """

    def __init__(
        self,
        node: onnx.NodeProto,
        shapes: Sequence[Shape | None],
        values: Sequence[Array | None],
        dtype: int,
        opset: int,
    ) -> None:
        self.inputs = list(node.input)
        self.outputs = list(node.output)
        self.shapes = shapes
        self.values = values
        self.attributes: dict[str, Any] = {
            a.name: helper.get_attribute_value(a) for a in node.attribute
        }
        self.element = helper.tensor_dtype_to_np_dtype(dtype)
        self.opset = opset
        self.nodes: list[onnx.NodeProto] = []
        self.prefix = ""

    def inner(self, prefix: str) -> Body:
        """For the nodes of a graph that a node holds, whose tensors have names with a prefix."""
        made = copy.copy(self)
        made.nodes, made.prefix = [], prefix
        return made

    @property
    def shape(self) -> Shape:
        """Of the first input."""
        assert self.shapes[0] is not None
        return self.shapes[0]

    def number(self, index: int) -> int | None:
        """A constant input of one integer; None where it is absent or computed."""
        value = self.values[index] if index < len(self.values) else None
        return None if value is None else int(value.reshape(-1)[0])

    def axis(self, default: int) -> int:
        """The attribute `axis`, counted from the first."""
        return int(self.attributes.get("axis", default)) % max(1, len(self.shape))

    def __call__(self, op: str, *inputs: str, **attributes: Any) -> str:
        output = f"{self.prefix}{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], **attributes))
        return output

    def constant(self, value: Any, dtype: Any = None) -> str:
        array = np.asarray(value, self.element if dtype is None else dtype)
        return self("Constant", value=numpy_helper.from_array(array))

    def real(self, value: Any) -> str:
        """A constant of float32."""
        return self.constant(value, np.float32)

    def cast(self, x: str, to: int = onnx.TensorProto.FLOAT) -> str:
        return self("Cast", x, to=to)

    def ints(self, *values: int) -> str:
        return self.constant(values, np.int64)

    def reshape(self, x: str, shape: Sequence[int]) -> str:
        return self("Reshape", x, self.ints(*shape))

    def transpose(self, x: str, order: Sequence[int]) -> str:
        return x if list(order) == sorted(order) else self("Transpose", x, perm=list(order))

    def reduced(self, op: str, x: str, axes: Sequence[int], keepdims: int = 1) -> str:
        """A reduction; axes became an input with opset 18, of ReduceSum with 13."""
        if self.opset >= (13 if op == "ReduceSum" else 18):
            return self(op, x, self.ints(*axes), keepdims=keepdims)
        return self(op, x, axes=list(axes), keepdims=keepdims)
