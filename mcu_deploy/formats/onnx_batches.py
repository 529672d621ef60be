"""Scan of opset 8, which scans each item of a batch: a Scan of opset 9 over the batch, in which
another one scans an item."""

from __future__ import annotations

from collections.abc import Iterable

import onnx
from onnx import helper

from mcu_deploy.formats.onnx_operators import domain_of, opset_of
from mcu_deploy.formats.onnx_subgraphs import all_nodes, subgraphs_of


def nest_scans(model: onnx.ModelProto) -> None:
    """Writes these Scans as those of opset 9, which the model has then. One whose items have
    lengths of their own stays, and with it the model's opset."""
    found = [node for node in all_nodes(model.graph.node) if _is_scan(node)]
    if not found or opset_of(model.opset_import) != 8:
        return
    if not all(len(node.input) > 1 and not node.input[0] for node in found):
        return
    for index, node in enumerate(found):
        _nest(node, f"{node.name or node.op_type}_{index}/item")
    for used in model.opset_import:
        if not domain_of(used.domain):
            used.version = 9


def _is_scan(node: onnx.NodeProto) -> bool:
    return node.op_type == "Scan" and not domain_of(node.domain) and "body" in subgraphs_of(node)


def _nest(node: onnx.NodeProto, name: str) -> None:
    body = subgraphs_of(node)["body"]
    del node.input[0]
    inner = onnx.NodeProto()
    inner.CopyFrom(node)
    inner.name = name
    for attribute in inner.attribute:
        if attribute.name == "directions":
            attribute.name = "scan_input_directions"
    inner.input[:] = [f"{name}/input_{k}" for k in range(len(node.input))]
    inner.output[:] = [f"{name}/output_{k}" for k in range(len(node.output))]
    states = len(node.input) - sum(a.i for a in node.attribute if a.name == "num_scan_inputs")
    item = helper.make_graph(
        [inner],
        name,
        _infos(inner.input, body.input, states),
        _infos(inner.output, body.output, states),
    )
    del node.attribute[:]
    node.attribute.append(helper.make_attribute("num_scan_inputs", len(node.input)))
    node.attribute.append(helper.make_attribute("body", item))


def _infos(
    names: Iterable[str], elements: Iterable[onnx.ValueInfoProto], states: int
) -> list[onnx.ValueInfoProto]:
    """Of an item: states as the body has them, and sequences of its elements."""
    found = []
    for k, (name, element) in enumerate(zip(names, elements, strict=False)):
        info = onnx.ValueInfoProto()
        info.CopyFrom(element)
        info.name = name
        if k >= states:
            info.type.tensor_type.ClearField("shape")
        found.append(info)
    return found
