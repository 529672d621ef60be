"""Operators that ONNX defines as functions of others: their bodies in their places.

The bodies are those that the onnx package ships, for the model's opset. What the interpreter knows
itself stays one node. A node of a body bears the name of the node that it was in.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from typing import Any

import onnx
from onnx import numpy_helper

from mcu_deploy.formats.onnx_bodies import NAMES, body
from mcu_deploy.formats.onnx_operators import domain_of, opset_of, text_of
from mcu_deploy.formats.onnx_subgraphs import all_nodes, put, rename, subgraphs_below, subgraphs_of
from mcu_deploy.formats.onnx_training import trains
from mcu_deploy.formats.onnx_types import known_types
from mcu_deploy.operators import find, label

# Their bodies draw random numbers, or loop over sequences: what is told of the operator says more.
_LEFT = {"Bernoulli", "SequenceMap"}
# Where ONNX tries operators out, all in their first version.
_PREVIEW = "ai.onnx.preview"
_ML, _ML_VERSION = "ai.onnx.ml", 5

Types = Mapping[str, onnx.TypeProto]
Constants = Mapping[str, onnx.TensorProto]


@functools.cache
def names() -> tuple[str, ...]:
    """The operators that are read as what they are made of."""
    schemas: Any = onnx.defs.get_all_schemas_with_history()
    defined = {
        label(schema.domain, schema.name)
        for schema in schemas
        if schema.domain in ("", _PREVIEW)
        and (schema.has_function or schema.has_context_dependent_function)
    }
    return tuple(sorted(name for name in {*defined, *NAMES} - _LEFT if find("", name) is None))


def inline_functions(model: onnx.ModelProto) -> bool:
    """Puts bodies in the places of nodes whose inputs' types are known; whether there were any."""
    changed = _inline(model.graph, {}, {}, opset_of(model.opset_import))
    if changed:
        for imported in model.opset_import:
            if imported.domain == _ML:  # bodies have ensembles of trees in their newest form
                imported.version = max(imported.version, _ML_VERSION)
    return changed


def _inline(graph: onnx.GraphProto, outer: Types, outer_constants: Constants, opset: int) -> bool:
    constants = {**outer_constants, **{t.name: t for t in graph.initializer}}
    types = {**outer, **known_types(graph)}
    nodes: list[onnx.NodeProto] = []
    changed = inside = False
    for index, node in enumerate(graph.node):
        for inner in subgraphs_of(node).values():
            inside = _inline(inner, types, constants, opset) or inside
        found = _body(node, types, constants, opset)
        if found is None:
            nodes.append(node)
            continue
        changed = True
        named = node.name or f"{text_of(node.op_type)}_{index}"
        nodes += _placed(node, found, f"{graph.name}/{named}" if outer else named, opset)
    if changed:
        put(graph.node, nodes)
    return changed or inside


def _body(
    node: onnx.NodeProto, types: Types, constants: Constants, opset: int
) -> onnx.FunctionProto | None:
    """The body of a node; None where it has none, and where a type that it depends on is unknown.

    Of several bodies of one version of an operator the newest one that the opset has.
    """
    op, domain = text_of(node.op_type), domain_of(node.domain)
    schema = _schema(op, domain, opset)
    if trains(node):
        return _own_body(node, types, constants, opset)
    if schema is None or op in _LEFT or find(domain, op):
        return _own_body(node, types, constants, opset) if domain else None
    contextual = schema.context_dependent_function_opset_versions
    plain = max((v for v in schema.function_opset_versions if v <= opset), default=0)
    built = max((v for v in contextual if v <= opset), default=0)
    if not plain and not built:
        return _own_body(node, types, constants, opset)
    if plain >= built:
        return _function(schema.get_function_with_opset_version(plain))
    if any(name and not _is_ranked(types.get(name)) for name in node.input):
        return None
    given = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
    complete = _complete(node, schema).SerializeToString()
    found = _function(
        schema.get_context_dependent_function_with_opset_version(built, complete, given)
    )
    return found if found.node else None


def _schema(op: str, domain: str, opset: int) -> Any:  # some of its methods have no type hints
    """What ONNX says of an operator; None where it has none."""
    version = opset if not domain else 1
    if domain not in ("", _PREVIEW) or not onnx.defs.has(op, version, domain):
        return None
    return onnx.defs.get_schema(op, version, domain)


def _own_body(
    node: onnx.NodeProto, types: Types, constants: Constants, opset: int
) -> onnx.FunctionProto | None:
    """A body that onnx does not have."""
    if label(domain_of(node.domain), text_of(node.op_type)) not in NAMES:
        return None
    given = [types.get(name, onnx.TypeProto()).tensor_type for name in node.input]
    shapes = [
        tuple(d.dim_value for d in tensor.shape.dim)
        if tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim)
        else None
        for tensor in given
    ]
    tensors = [constants.get(name) for name in node.input]
    values = [None if t is None else numpy_helper.to_array(t) for t in tensors]
    return body(node, shapes, values, given[0].elem_type, opset) if given else None


def _function(text: bytes) -> onnx.FunctionProto:
    function = onnx.FunctionProto()
    function.ParseFromString(text)
    return function


def _is_ranked(type_: onnx.TypeProto | None) -> bool:
    return type_ is not None and type_.tensor_type.HasField("shape")


def _complete(node: onnx.NodeProto, schema: onnx.defs.OpSchema) -> onnx.NodeProto:
    """The node with the defaults of the attributes that it leaves out."""
    complete = copy.deepcopy(node)
    known = {a.name for a in node.attribute}
    complete.attribute.extend(
        a.default_value
        for name, a in schema.attributes.items()
        if name not in known and a.default_value.name
    )
    return complete


def _placed(
    node: onnx.NodeProto, function: onnx.FunctionProto, name: str, opset: int
) -> list[onnx.NodeProto]:
    """The body's nodes, which read the node's inputs, write its outputs and have its attributes."""
    attributes = {a.name: a for a in (*function.attribute_proto, *node.attribute)}
    schema = _schema(text_of(node.op_type), domain_of(node.domain), opset)
    if schema is not None:
        attributes |= {a.name: a for a in _complete(node, schema).attribute}
    graph = onnx.GraphProto(node=function.node)
    for index, inner in enumerate(all_nodes(graph.node)):
        inner.name = f"{name}/{inner.op_type}_{index}"
        _take_attributes(inner, attributes)
    scopes = (graph, *subgraphs_below(graph))
    own = {output for scope in scopes for inner in scope.node for output in inner.output if output}
    own |= {named.name for scope in scopes for named in (*scope.input, *scope.initializer)}
    names = {tensor: f"{name}/{tensor}" for tensor in own}
    given, taken = [*node.input], [*node.output]
    for index, tensor in enumerate(function.input):
        names[tensor] = given[index] if index < len(given) else ""
    for index, tensor in enumerate(function.output):
        if index < len(taken) and taken[index]:
            names[tensor] = taken[index]
    rename(graph, names)
    return list(graph.node)


def _take_attributes(inner: onnx.NodeProto, attributes: Mapping[str, onnx.AttributeProto]) -> None:
    """Puts the values of the function's attributes where the body names them."""
    taken = []
    for attribute in inner.attribute:
        if attribute.ref_attr_name:
            given = attributes.get(attribute.ref_attr_name)
            if given is None:
                continue
            value = copy.deepcopy(given)
            value.name = attribute.name
            taken.append(value)
        else:
            taken.append(attribute)
    put(inner.attribute, taken)
