"""Operators without an integer form, in place of them others that have one.

A rewrite is left out as soon as builds have an integer form of its operator, which they then take.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx

from mcu_deploy import operators
from mcu_deploy.quantizing import centering
from mcu_deploy.quantizing.net import Net, attributes_of

_AXES_AS_INPUT = 18  # of ReduceMean


def has_integer_form(op: str) -> bool:
    """Whether builds compute an operator on quantized tensors in integers, or move their bytes."""
    operator = operators.find("", op)
    return operator is not None and (operator.quantized is not None or operator.moves is not None)


def rewrites() -> tuple[Callable[[Net, onnx.NodeProto], bool], ...]:
    """Those that are needed, each a function that says whether it changed anything."""
    known = {"LayerNormalization": _layer_norm, "Pow": _square}
    return tuple(function for op, function in known.items() if not has_integer_form(op))


def _square(net: Net, node: onnx.NodeProto) -> bool:
    """x to the power of 2 is x times x."""
    exponent = net.constant(node.input[1]) if node.op_type == "Pow" else None
    if exponent is None or exponent.size != 1 or exponent.reshape(-1)[0] != 2:
        return False
    if not net.is_float(node.input[0]) or net.shape(node.input[0]) != net.shape(node.output[0]):
        return False
    x = node.input[0]
    net.replace([node], [net.node("Mul", [x, x], node.output, node.name)])
    return True


def _layer_norm(net: Net, node: onnx.NodeProto) -> bool:
    """Mean, distances from it, their mean square, its root; over the last axis or more."""
    if node.op_type != "LayerNormalization" or any(node.output[1:]):
        return False
    if net.shape(node.input[0]) is None:
        return False
    without_mean = centering.centred(net, node)
    for norm in without_mean or [node]:
        net.replace([norm], _steps(net, norm, bool(without_mean)))
    return True


def _steps(net: Net, node: onnx.NodeProto, without_mean: bool) -> list[onnx.NodeProto]:
    """What a layer normalization consists of. without_mean: its input has none."""
    given, shape = attributes_of(node), net.shape(node.input[0]) or ()
    axes = list(range(int(given.get("axis", -1)) % len(shape), len(shape)))
    epsilon = net.add_constant(f"{node.name}.epsilon", np.float32(given.get("epsilon", 1e-5)))
    x, y, name = node.input[0], node.output[0], node.name
    new: list[onnx.NodeProto] = []

    def step(op: str, what: str, *inputs: str) -> str:
        result = net.fresh(f"{y}.{what}")
        new.append(net.node(op, inputs, [result], net.fresh(f"{name}.{what}")))
        return result

    def mean(what: str, of: str) -> str:
        result = net.fresh(f"{y}.{what}")
        new.append(_mean(net, of, result, axes, f"{name}.{what}"))
        return result

    apart = x if without_mean else step("Sub", "apart", x, mean("mean", x))
    variance = mean("variance", step("Mul", "square", apart, apart))
    root = step("Sqrt", "root", step("Add", "shifted", variance, epsilon))
    result = step("Div", "normal", apart, root)
    for op, parameter in zip(("Mul", "Add"), node.input[1:3], strict=False):
        result = step(op, op.lower(), result, parameter)
    new[-1].output[0] = y
    return new


def _mean(net: Net, x: str, y: str, axes: list[int], name: str) -> onnx.NodeProto:
    if net.opset < _AXES_AS_INPUT:
        return net.node("ReduceMean", [x], [y], net.fresh(name), axes=axes, keepdims=1)
    given = net.add_constant(f"{name}.axes", np.array(axes, np.int64))
    return net.node("ReduceMean", [x, given], [y], net.fresh(name), keepdims=1)
