"""Operators without an integer form, in place of them others that have one.

A rewrite is left out as soon as builds have an integer form of its operator, which they then take.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx

from mcu_deploy import operators
from mcu_deploy.files.arrays import Array
from mcu_deploy.quantizing import centering
from mcu_deploy.quantizing.net import Net, attributes_of

_AXES_AS_INPUT = 18  # of ReduceMean


def has_integer_form(op: str) -> bool:
    """Whether builds compute an operator on quantized tensors in integers, or move their bytes."""
    operator = operators.find("", op)
    return operator is not None and (operator.quantized is not None or operator.moves is not None)


def rewrites() -> tuple[Callable[[Net, onnx.NodeProto], bool], ...]:
    """Those that are needed, each a function that says whether it changed anything."""
    known = {
        "LayerNormalization": _layer_norm, "ConvTranspose": _conv_transpose, "Pow": _square
    }  # fmt: skip
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


def _conv_transpose(net: Net, node: onnx.NodeProto) -> bool:
    """A transposed convolution of two axes: an output pixel at place q of a step of s reads taps
    q, q + s, q + 2s, ... of the kernel, so one Conv computes the s*s outputs of each step as
    channels, and a transposition puts them side by side."""
    shape = net.shape(node.input[0])
    weights = net.constant(node.input[1]) if node.op_type == "ConvTranspose" else None
    bias = net.constant(node.input[2]) if len(node.input) > 2 else None
    result = net.shape(node.output[0])
    if weights is None or shape is None or result is None or len(shape) != 4:
        return False
    given = attributes_of(node)
    strides = list(given.get("strides", [1, 1]))
    pads = list(given.get("pads", [0] * 4))
    automatic = given.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID")
    if given.get("group", 1) != 1 or any(d != 1 for d in given.get("dilations", [1, 1])):
        return False
    if automatic or "output_shape" in given or (len(node.input) > 2 and bias is None):
        return False
    grid, before, after, kernel = _phases(weights, shape, result, strides, pads)
    if min(*before, *after) < 0:
        return False
    outputs, (rows, columns) = weights.shape[1], strides
    x, y, name = node.input[0], node.output[0], node.name
    inputs = [x, net.add_constant(f"{name}.weight", kernel)]
    if bias is not None:
        inputs.append(net.add_constant(f"{name}.bias", np.tile(bias, rows * columns)))
    product, split, turned, joined = (net.fresh(y) for _ in range(4))
    whole = [shape[0], outputs, grid[0] * rows, grid[1] * columns]
    apart = np.array([shape[0], rows, columns, outputs, *grid], np.int64)
    new = [
        net.node("Conv", inputs, [product], name, kernel_shape=list(kernel.shape[2:]),
                 pads=[*before, *after], strides=[1, 1]),
        net.node("Reshape", [product, net.add_constant(y, apart)], [split], net.fresh(name)),
        net.node("Transpose", [split], [turned], net.fresh(name), perm=[0, 3, 4, 1, 5, 2]),
        net.node("Reshape", [turned, net.add_constant(y, np.array(whole, np.int64))], [joined],
                 net.fresh(name)),
    ]  # fmt: skip
    if whole[2:] == list(result[2:]):
        new[-1].output[0] = y
    else:
        ends = [net.add_constant(y, np.array(v, np.int64)) for v in ([0, 0], result[2:], [2, 3])]
        new.append(net.node("Slice", [joined, *ends], [y], net.fresh(name)))
    net.replace([node], new)
    return True


def _phases(
    weights: Array, shape: tuple[int, ...], result: tuple[int, ...], strides: list[int],
    pads: list[int],
) -> tuple[list[int], list[int], list[int], Array]:  # fmt: skip
    """The steps of the output, the padding of the Conv before and after, and its kernel
    [s*s*M, C, ...].

    Output o = s*g + p is at o + pad = s*i + k: of input i = g + j the tap k = p + pad - s*j.
    """
    grid, before, after, taps = [], [], [], []
    for axis in (0, 1):
        s, pad, size = strides[axis], pads[axis], weights.shape[2 + axis]
        steps = -(-result[2 + axis] // s)
        least = -((size - 1 - pad) // s)  # the smallest j that any place has a tap for
        most = (s - 1 + pad) // s
        grid.append(steps)
        before.append(-least)
        after.append(steps - 1 + most - (shape[2 + axis] - 1))
        taps.append([[p + pad - s * j for j in range(least, most + 1)] for p in range(s)])
    count, outputs = weights.shape[:2]
    kernel = np.zeros(
        (strides[0], strides[1], outputs, count, len(taps[0][0]), len(taps[1][0])), weights.dtype
    )
    for p, ks in enumerate(taps[0]):
        for q, ls in enumerate(taps[1]):
            for a, k in enumerate(ks):
                for b, tap in enumerate(ls):
                    if 0 <= k < weights.shape[2] and 0 <= tap < weights.shape[3]:
                        kernel[p, q, :, :, a, b] = weights[:, :, k, tap].T
    return grid, before, after, kernel.reshape(-1, count, *kernel.shape[4:])
