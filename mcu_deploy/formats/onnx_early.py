"""Operators that onnxruntime has in ONNX's own domain longer than ONNX: LayerNormalization before
opset 17, as exporters and onnxruntime's own optimizer write it.

Their nodes are set aside into a domain that onnx's checker and inference pass by; their outputs'
types are given here. So is the shape of one element that a GatherND picks, which ONNX's inference
leaves unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from mcu_deploy.formats.onnx_operators import domain_of, set_aside
from mcu_deploy.formats.onnx_subgraphs import all_nodes, subgraphs_below
from mcu_deploy.formats.onnx_types import known_types

DOMAIN = "mcu-deploy.early"
_SINCE = {"LayerNormalization": 17}


def set_aside_early(model: onnx.ModelProto) -> None:
    """Moves the nodes of operators that the model's opset does not define yet."""
    imports = model.opset_import
    set_aside(model.graph.node, imports, DOMAIN, lambda op, opset: _SINCE.get(op, 0) > opset)


def put_back(model: onnx.ModelProto) -> None:
    """Makes the nodes those of ONNX's domain again, which onnxruntime computes."""
    for node in all_nodes(model.graph.node):
        if node.domain == DOMAIN:
            node.domain = ""


def type_outputs(graph: onnx.GraphProto) -> bool:
    """Gives outputs of such nodes types, where those of their inputs are known; whether it did."""
    changed = False
    for scope in (graph, *subgraphs_below(graph)):
        types = known_types(scope)
        made = [value for node in scope.node for value in _typed(node, types)]
        scope.value_info.extend(made)
        changed = changed or bool(made)
    return changed


def type_scalars(graph: onnx.GraphProto) -> bool:
    """Gives the outputs of GatherND that are one element the shape of a scalar; whether it did."""
    changed = False
    for scope in (graph, *subgraphs_below(graph)):
        types = known_types(scope)
        values = {
            value.name: value.type.tensor_type for value in (*scope.value_info, *scope.output)
        }
        for node in scope.node:
            if node.op_type == "GatherND" and not domain_of(node.domain):
                y = values.get(node.output[0])
                if y is not None and not y.HasField("shape") and _picks_one(node, types):
                    y.shape.SetInParent()
                    changed = True
    return changed


def _picks_one(node: onnx.NodeProto, types: dict[str, onnx.TypeProto]) -> bool:
    """Whether the indices are those of one element: as many as its input has axes."""
    x, indices = (types[n].tensor_type if n in types else None for n in node.input[:2])
    if x is None or indices is None or not (x.HasField("shape") and indices.HasField("shape")):
        return False
    return [dim.dim_value for dim in indices.shape.dim] == [len(x.shape.dim)]


def _typed(node: onnx.NodeProto, types: dict[str, onnx.TypeProto]) -> Iterator[onnx.ValueInfoProto]:
    """The outputs without a shape: of the input's, and of its mean and the inverse of its standard
    deviation, which have 1 for the axes that are normalized."""
    x = types.get(node.input[0]) if node.domain == DOMAIN else None
    if x is None or not x.tensor_type.HasField("shape"):
        return
    rank = len(x.tensor_type.shape.dim)
    axis = next((a.i for a in node.attribute if a.name == "axis"), -1)
    for place, name in enumerate(node.output):
        if name and not (name in types and types[name].tensor_type.HasField("shape")):
            value = onnx.ValueInfoProto(name=name)
            value.type.CopyFrom(x)
            for dim in value.type.tensor_type.shape.dim[axis % max(rank, 1) if place else rank :]:
                dim.dim_value = 1
            types[name] = value.type
            yield value
