"""Operators without an integer form, in place of them others that have one."""

from __future__ import annotations

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
