"""A factor or a shift a feature, before a Gemm, as part of the Gemm: what a LayerNormalization ends
with. Each is one rounding less."""

from __future__ import annotations

import numpy as np
import onnx

from mcu_deploy.files.arrays import Array
from mcu_deploy.quantizing.net import Net, attributes_of


def into_gemms(net: Net, node: onnx.NodeProto) -> bool:
    """Takes a Mul or Add by a constant of the last axis into the Gemms that read it, behind
    whatever keeps that axis, or the gain and the bias of a LayerNormalization; whether it did."""
    if node.op_type == "LayerNormalization":
        return _gain_into_gemms(net, node)
    if node.op_type not in ("Mul", "Add"):
        return False
    constants = [net.constant(name) for name in node.input]
    if (constants[0] is None) == (constants[1] is None):
        return False
    value = constants[0] if constants[1] is None else constants[1]
    x = node.input[1] if constants[1] is None else node.input[0]
    y, shape = node.output[0], net.shape(node.output[0])
    assert value is not None
    if shape is None or net.shape(x) != shape or value.size != shape[-1] or value.size < 2:
        return False
    if value.shape[-1] != value.size:
        return False
    between: list[str] = []
    gemms = _gemms(net, y, shape[-1], between)
    if not gemms:
        return False
    for name in between:
        net.rename(name)
    for gemm in gemms:
        _take_in(net, gemm, node.op_type, value.reshape(-1).astype(np.float64))
    net.nodes = [other for other in net.nodes if other is not node]
    net.rename_reads({y: x})
    return True


def _gain_into_gemms(net: Net, norm: onnx.NodeProto) -> bool:
    """Leaves a normalization of the last axis a gain of 1, which all its features share."""
    y, shape = norm.output[0], net.shape(norm.output[0])
    values = [v for name in norm.input[1:] if (v := net.constant(name)) is not None]
    if shape is None or any(norm.output[1:]) or len(values) < len(norm.input) - 1:
        return False
    if any(value.shape != shape[-1:] for value in values):
        return False
    if len(values) == 1 and (values[0] == 1).all():
        return False
    between: list[str] = []
    gemms = _gemms(net, y, shape[-1], between)
    if not gemms:
        return False
    for gemm in gemms:
        for op, value in reversed(list(zip(("Mul", "Add"), values, strict=False))):
            _take_in(net, gemm, op, value.astype(np.float64))
    ones = net.add_constant(norm.input[1], np.ones(shape[-1], np.float32))
    norm.input[:] = [norm.input[0], ones]
    for name in (y, *between):
        net.rename(name)
    return True


def _gemms(net: Net, name: str, features: int, between: list[str]) -> list[onnx.NodeProto]:
    """The Gemms in which all that is read of a tensor ends; none where some does not. between: the
    tensors on the way there are added to it."""
    if name in net.seen:
        return []
    found = []
    for reader in net.consumers().get(name, []):
        if reader.op_type == "Gemm" and _takes(net, reader, name, features):
            found.append(reader)
            continue
        if not keeps_last_axis(net, reader, name, features):
            return []
        between.append(reader.output[0])
        behind = _gemms(net, reader.output[0], features, between)
        if not behind:
            return []
        found += behind
    return found


def _takes(net: Net, gemm: onnx.NodeProto, name: str, features: int) -> bool:
    weights = net.constant(gemm.input[1])
    if weights is None or list(gemm.input).count(name) != 1 or gemm.input[0] != name:
        return False
    given = attributes_of(gemm)
    plain = given.get("alpha", 1.0) == 1.0 and given.get("beta", 1.0) == 1.0
    bias = net.constant(gemm.input[2]) if len(gemm.input) > 2 else np.zeros(1)
    rows = weights.shape[1 if given.get("transB", 0) else 0]
    return plain and bias is not None and not given.get("transA", 0) and rows == features


def keeps_last_axis(net: Net, node: onnx.NodeProto, name: str, features: int) -> bool:
    """Whether a node that reads a tensor computes along its other axes only, or moves elements."""
    given, shape, result = attributes_of(node), net.shape(name), net.shape(node.output[0])
    if shape is None or result is None or node.input[0] != name or result[-1] != features:
        return False
    if node.op_type == "Reshape":
        return True
    if node.op_type == "Transpose":
        perm = given.get("perm", list(range(len(shape)))[::-1])
        return bool(perm[-1] == len(shape) - 1)
    if node.op_type == "ReduceMean":
        axes = net.constant(node.input[1]) if len(node.input) > 1 else None
        listed = given.get("axes") if axes is None else [int(a) for a in axes.reshape(-1)]
        return bool(listed) and all(axis % len(shape) != len(shape) - 1 for axis in listed or ())
    return False


def _take_in(net: Net, gemm: onnx.NodeProto, op: str, value: Array) -> None:
    weights = net.constants[gemm.input[1]].astype(np.float64)
    turned = bool(attributes_of(gemm).get("transB", 0))
    matrix = weights.T if turned else weights
    if op == "Mul":
        scaled = matrix * value[:, None]
        gemm.input[1] = net.add_floats(gemm.input[1], scaled.T if turned else scaled)
        return
    shift = value @ matrix
    if len(gemm.input) > 2:
        old = gemm.input[2]
        gemm.input[2] = net.add_floats(old, net.constants[old].astype(np.float64) + shift)
    else:
        gemm.input.append(net.add_floats(f"{gemm.name}.bias", shift))
