"""Which tensors of a model get 16 bits: those around some layers, where builds compute that.

A tensor is wide with all between which elements only move, and only where everything that computes
of them in integers knows int16: what looks bytes up keeps bytes around it.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import onnx

from mcu_deploy import operators
from mcu_deploy.passes.qdq import OF_16_BITS
from mcu_deploy.quantizing.decomposing import has_integer_form
from mcu_deploy.quantizing.net import Net
from mcu_deploy.quantizing.preparing import output_axis
from mcu_deploy.quantizing.ranges import tied

_CLAMPS = ("Relu", "Clip")
# Of the magnitudes of a sum's weights: times 2**15 they leave an int32 a tenth for its bias.
_MOST_WEIGHTS = 0.9 * 2**16


def wide_tensors(net: Net, layers: Collection[str], borders: bool) -> frozenset[str]:
    """layers: names of the nodes whose inputs and outputs are to have 16 bits. borders: whether
    inputs and outputs of the model may."""
    together = {name: set(group) for group in tied(net) for name in group}
    for node in net.nodes:
        if _is_fused(net, node):
            # What the clamp reads exists no more.
            x, y = node.input[0], node.output[0]
            both = together.get(x, {x}) | together.get(y, {y})
            together |= dict.fromkeys(both, both)
    wanted, refused = set[str](), set() if borders else {*net.inputs, *net.outputs}
    refused |= net.inner
    for node in net.nodes:
        touched = {name for name in (*node.input, *node.output) if net.is_float(name)}
        if node.name in layers:
            wanted |= touched
        if not _computes(net, node):
            refused |= touched
    found = set[str]()
    for name in wanted:
        group = together.get(name, {name})
        if not group & refused:
            found |= group
    return frozenset(found)


def _is_fused(net: Net, node: onnx.NodeProto) -> bool:
    """Whether a clamp becomes part of the operator before it."""
    if node.op_type not in _CLAMPS:
        return False
    before = net.producers().get(node.input[0])
    operator = None if before is None else operators.find(before.domain, before.op_type)
    alone = net.sole_consumer(node.input[0]) is not None
    return alone and operator is not None and operator.takes_clamp


def _computes(net: Net, node: onnx.NodeProto) -> bool:
    """Whether builds compute a node between tensors of int16 as they do between bytes: in integers,
    or, where they have no integer form of it, in float32."""
    operator = operators.find(node.domain, node.op_type)
    if operator is None or _is_fused(net, node) or operator.moves is not None:
        return True
    if operator.has_weights:
        weights = net.constant(node.input[1])
        return node.op_type in OF_16_BITS and weights is not None and _has_room(node, weights)
    return node.op_type in OF_16_BITS or not has_integer_form(node.op_type)


def _has_room(node: onnx.NodeProto, weights: np.ndarray) -> bool:
    """Whether sums of int16 times these weights in 8 bits stay in 32 bits."""
    last = node.op_type == "MatMul"
    filters = np.abs(np.moveaxis(weights, -1 if last else output_axis(node), 0))
    rows = filters.reshape(len(filters), -1).astype(np.float64)
    sums = rows.sum(axis=1) * 127 / np.maximum(rows.max(axis=1, initial=0), 1e-30)
    return bool(sums.max(initial=0) < _MOST_WEIGHTS)
