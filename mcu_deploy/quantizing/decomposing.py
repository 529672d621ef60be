"""Operators without an integer form, in place of them others that have one."""

from __future__ import annotations

import numpy as np
import onnx

from mcu_deploy import operators
from mcu_deploy.quantizing.net import Net


def has_integer_form(op: str) -> bool:
    """Whether builds compute an operator on quantized tensors in integers, or move their bytes."""
    operator = operators.find("", op)
    return operator is not None and (operator.quantized is not None or operator.moves is not None)


def square(net: Net, node: onnx.NodeProto) -> bool:
    """x to the power of 2 is x times x. Whether it is one."""
    exponent = net.constant(node.input[1]) if node.op_type == "Pow" else None
    if exponent is None or exponent.size != 1 or exponent.reshape(-1)[0] != 2:
        return False
    if not net.is_float(node.input[0]) or net.shape(node.input[0]) != net.shape(node.output[0]):
        return False
    x = node.input[0]
    net.replace([node], [net.node("Mul", [x, x], node.output, node.name)])
    return True


def slopes(net: Net, node: onnx.NodeProto) -> bool:
    """A PRelu of one slope is a LeakyRelu; of one a channel, what is above 0 plus the rest times
    the slopes. Whether it is one."""
    slope = net.constant(node.input[1]) if node.op_type == "PRelu" else None
    if slope is None or not net.is_float(node.input[0]):
        return False
    x, y = node.input[0], node.output[0]
    if slope.size == 1:
        alpha = float(slope.reshape(-1)[0])
        net.replace([node], [net.node("LeakyRelu", [x], [y], node.name, alpha=alpha)])
        return True
    zero = net.add_constant(f"{x}.zero", np.zeros((), np.float32))
    above, below, scaled = (net.fresh(y) for _ in range(3))
    net.replace([node], [
        net.node("Relu", [x], [above], net.fresh(node.name)),
        net.node("Clip", [x, "", zero], [below], net.fresh(node.name)),
        net.node("Mul", [below, node.input[1]], [scaled], net.fresh(node.name)),
        net.node("Add", [above, scaled], [y], node.name),
    ])  # fmt: skip
    return True
