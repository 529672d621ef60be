"""The type of a quantized model's inputs and outputs: float32, int8, uint8 or int16."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper

from mcu_deploy import operators
from mcu_deploy.quantizing.net import Net

_TO_UINT8 = 128


def with_borders(model: onnx.ModelProto, borders: str) -> onnx.ModelProto:
    """The model with inputs and outputs of one of options.quantizing.BORDERS; those that are not
    quantized stay."""
    net = Net(model)
    if borders != "float":
        for name in list(net.inputs):
            _input(net, name)
        for name in list(net.outputs):
            _output(net, name)
    if borders == "uint8":
        for name in (*net.inputs, *net.outputs):
            if net.types[name].type.tensor_type.elem_type == TensorProto.INT8:
                _as_uint8(net, name)
    return net.model()


def _input(net: Net, name: str) -> None:
    """Takes the QuantizeLinear behind an input away: who runs the model quantizes."""
    readers = [n for n in net.nodes if name in n.input]
    if name in net.inner or [n.op_type for n in readers] != ["QuantizeLinear"]:
        return
    (first,) = readers
    net.nodes = [n for n in net.nodes if n is not first]
    net.rename_reads({first.output[0]: name})
    _set_type(net, name, first)


def _output(net: Net, name: str) -> None:
    """Takes the DequantizeLinear before an output away."""
    last = net.producers().get(name)
    if name in net.inner or last is None or last.op_type != "DequantizeLinear":
        return
    integers = last.input[0]
    writer = net.producers().get(integers)
    if writer is None or integers in net.outputs:
        return
    real = net.fresh(name)
    readers = [n for n in net.nodes if name in n.input]
    net.rename_reads({name: real, integers: name})
    writer.output[list(writer.output).index(integers)] = name
    if readers:
        last.output[0] = real
    else:
        net.nodes = [n for n in net.nodes if n is not last]
    _set_type(net, name, last)


def _set_type(net: Net, name: str, converter: onnx.NodeProto) -> None:
    """Gives a border the type of the integers that a node makes or takes."""
    dtype = net.constants[converter.input[2]].dtype
    net.set_type(name, helper.np_dtype_to_tensor_dtype(dtype))


def _as_uint8(net: Net, name: str) -> None:
    """Gives an int8 tensor, and all that builds copy bytes from or to, the type uint8."""
    producers, consumers = net.producers(), net.consumers()
    pending, done = [name], set()
    while pending:
        integers = pending.pop()
        if integers in done:
            continue
        done.add(integers)
        border = net.types.get(integers)
        if integers in (*net.inputs, *net.outputs) and border is not None:
            net.set_type(integers, TensorProto.UINT8)
        writer = producers.get(integers)
        if writer is not None and writer.op_type == "QuantizeLinear":
            _shift(net, writer)
            pending += _moved(net, producers.get(writer.input[0]))
        for reader in consumers.get(integers, ()):
            if reader.op_type != "DequantizeLinear":
                continue
            _shift(net, reader)
            for mover in consumers.get(reader.output[0], ()):
                pending += _moved(net, mover)


def _moved(net: Net, node: onnx.NodeProto | None) -> list[str]:
    """The int8 tensors at all ends of a node that only moves elements; none of others."""
    operator = None if node is None else operators.find(node.domain, node.op_type)
    if node is None or operator is None or operator.moves is None:
        return []
    producers, consumers = net.producers(), net.consumers()
    found = []
    for real in list(node.input)[operator.moves]:
        source = producers.get(real)
        if source is not None and source.op_type == "DequantizeLinear":
            found.append(source.input[0])
    for real in node.output:
        for reader in consumers.get(real, ()):
            if reader.op_type == "QuantizeLinear":
                found.append(reader.output[0])
    return found


def _shift(net: Net, node: onnx.NodeProto) -> None:
    """Moves a node's zero point from int8 to uint8, in a constant of its own."""
    zero = net.constants[node.input[2]]
    if zero.dtype == np.int8:
        moved = (zero.astype(np.int16) + _TO_UINT8).astype(np.uint8)
        node.input[2] = net.add_constant(node.input[2], moved)
