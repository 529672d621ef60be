"""A stream of sums that only layer normalizations read needs no mean: each takes it away anyway.

So what is added up (dense layers, constants) loses its mean over the features when the model is
made, and the normalizations need neither the mean nor the distances from it, two roundings less
(Ashkboos et al.: SliceGPT, ICLR 2024, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx

from mcu_deploy.files.arrays import Array
from mcu_deploy.quantizing.affine import keeps_last_axis
from mcu_deploy.quantizing.net import Net, attributes_of


@dataclass
class _Stream:
    """The tensors of a stream, the layers and the sums that feed it, and who reads it."""

    tensors: set[str] = field(default_factory=set)
    gemms: dict[str, onnx.NodeProto] = field(default_factory=dict)
    sums: dict[str, onnx.NodeProto] = field(default_factory=dict)
    norms: dict[str, onnx.NodeProto] = field(default_factory=dict)


def centred(net: Net, norm: onnx.NodeProto) -> list[onnx.NodeProto]:
    """All normalizations of the stream that one reads, which have no mean to take away any more;
    none, and nothing is changed, where something else reads the stream or feeds it."""
    stream = _Stream()
    shape = net.shape(norm.input[0])
    if shape is None or not _follow(net, norm.input[0], shape[-1], stream):
        return []
    for gemm in stream.gemms.values():
        axis = 0 if attributes_of(gemm).get("transB", 0) else 1
        _put(net, gemm, 1, _without_mean(net.constants[gemm.input[1]], axis))
        if len(gemm.input) > 2:
            _put(net, gemm, 2, _without_mean(net.constants[gemm.input[2]], 0))
    for node in stream.sums.values():
        for index, name in enumerate(node.input):
            if name in net.constants:
                _put(net, node, index, _without_mean(net.constants[name], -1))
    for name in sorted(stream.tensors):
        net.rename(name)
    return list(stream.norms.values())


def _follow(net: Net, first: str, features: int, stream: _Stream) -> bool:
    producers, consumers = net.producers(), net.consumers()
    pending = [first]
    while pending:
        name = pending.pop()
        if name in stream.tensors:
            continue
        shape = net.shape(name)
        if name in net.seen or shape is None or shape[-1] != features:
            return False
        stream.tensors.add(name)
        for reader in consumers.get(name, []):
            if reader.op_type == "LayerNormalization":
                if not _is_over_features(net, reader):
                    return False
                stream.norms[reader.name] = reader
            elif reader.op_type == "Add" or keeps_last_axis(net, reader, name, features):
                pending.append(reader.output[0])
            else:
                return False
        writer = producers.get(name)
        if writer is None:
            return False
        if writer.op_type == "Gemm":
            if not _is_plain(net, writer):
                return False
            stream.gemms[writer.name] = writer
        elif writer.op_type == "Add":
            for operand in writer.input:
                value = net.constant(operand)
                if value is None:
                    pending.append(operand)
                elif not value.ndim or value.shape[-1] != features:
                    return False
            stream.sums[writer.name] = writer
        elif keeps_last_axis(net, writer, writer.input[0], features):
            pending.append(writer.input[0])
        else:
            return False
    return True


def _is_over_features(net: Net, norm: onnx.NodeProto) -> bool:
    shape = net.shape(norm.input[0]) or ()
    axis = int(attributes_of(norm).get("axis", -1))
    return axis in (-1, len(shape) - 1) and not any(norm.output[1:])


def _is_plain(net: Net, gemm: onnx.NodeProto) -> bool:
    given = attributes_of(gemm)
    plain = given.get("alpha", 1.0) == 1.0 and given.get("beta", 1.0) == 1.0
    return plain and all(name in net.constants for name in gemm.input[1:])


def _without_mean(value: Array, axis: int) -> Array:
    real = value.astype(np.float64)
    return np.asarray(real - real.mean(axis=axis, keepdims=True))


def _put(net: Net, node: onnx.NodeProto, index: int, value: Array) -> None:
    node.input[index] = net.add_constant(node.input[index], value.astype(np.float32))
