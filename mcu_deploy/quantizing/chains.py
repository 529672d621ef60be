"""Operators that together compute a function of each element: builds make one table of them.

So there is nothing to round between them: a chain is taken out as one node before onnxruntime's
quantizer sees the model, and put back behind it (`passes/tables.py` has the same notion).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

import onnx
from onnx import numpy_helper

from mcu_deploy import operators
from mcu_deploy.files.arrays import Array
from mcu_deploy.formats.onnx_subgraphs import put
from mcu_deploy.quantizing.net import Net

# What becomes part of the layer before it, with which it rounds once; so no chain begins with it.
_CLAMPS = ("Relu", "Clip")


def is_elementwise(op: str) -> bool:
    """Whether an operator computes each element from that of its first input alone."""
    operator = operators.find("", op)
    return operator is not None and operator.elementwise and not operator.converts


def take_out(net: Net) -> tuple[Net, dict[str, list[onnx.NodeProto]]]:
    """The net with one node in place of each chain of two or more, and the chains by its name."""
    made = net.copy()
    chains: dict[str, list[onnx.NodeProto]] = {}
    sources = _sources(made)
    for node in reversed(list(made.nodes)):
        if not any(node is other for other in made.nodes) or not _operands(made, node):
            continue
        y = node.output[0]
        for x in sources[y][:-1]:
            part = _between(made, x, y)
            if len(part) > 1 and not _is_clamp_of(made, x):
                chains[node.name] = part
                made.replace(part, [made.node("Chain", [x], [y], node.name)])
                break
    return made, chains


def put_back(
    model: onnx.ModelProto, chains: Mapping[str, Sequence[onnx.NodeProto]],
    constants: Mapping[str, Array],
) -> None:  # fmt: skip
    """Replaces the nodes that stand for chains. The quantizer may have renamed their ends.

    constants: those of the net that the chains are from.
    """
    there = {t.name for t in model.graph.initializer}
    nodes: list[onnx.NodeProto] = []
    for node in model.graph.node:
        if node.op_type != "Chain":
            nodes.append(node)
            continue
        part = [copy.deepcopy(inner) for inner in chains[node.name]]
        inside = {name for inner in part[:-1] for name in inner.output}
        ends = {part[-1].output[0]: node.output[0]}
        for inner in part:
            for index, name in enumerate(inner.input):
                if name in constants and name not in there:
                    there.add(name)
                    model.graph.initializer.append(numpy_helper.from_array(constants[name], name))
                elif name and name not in inside and name not in constants:
                    inner.input[index] = node.input[0]
            inner.output[0] = ends.get(inner.output[0], inner.output[0])
        nodes += part
    put(model.graph.node, nodes)


def _operands(net: Net, node: onnx.NodeProto) -> tuple[str, ...]:
    """The tensors of which a node computes its own, element by element; none for other nodes."""
    operator = operators.find(node.domain, node.op_type)
    if operator is None or len(node.output) != 1:
        return ()
    y = node.output[0]
    numbers = [name for name in node.input if name in net.constants]
    found = tuple(name for name in node.input if name and name not in numbers)
    alone = operator.elementwise and not operator.converts and found == tuple(node.input[:1])
    if not (operator.broadcasts or alone) or not net.is_float(y):
        return ()
    if any(net.constants[name].size != 1 for name in numbers):
        return ()
    shape = net.shape(y)
    same = all(net.is_float(name) and net.shape(name) == shape for name in found)
    return found if same and shape is not None else ()


def _is_clamp_of(net: Net, name: str) -> bool:
    """Whether all that reads a tensor is a clamp."""
    reader = net.sole_consumer(name)
    return reader is not None and reader.op_type in _CLAMPS


def _sources(net: Net) -> dict[str, tuple[str, ...]]:
    """Of a tensor those of which each of its elements is a function, the furthest first."""
    found: dict[str, tuple[str, ...]] = {}
    for node in net.nodes:
        operands = _operands(net, node)
        common: tuple[str, ...] = ()
        if operands:
            first, *others = (found.get(name, (name,)) for name in operands)
            common = tuple(name for name in first if all(name in other for other in others))
        for name in node.output:
            found[name] = (*common, name)
    return found


def _between(net: Net, x: str, y: str) -> list[onnx.NodeProto]:
    """The nodes from one tensor to another in their order; none where others see one between."""
    producers, consumers = net.producers(), net.consumers()
    part: dict[str, onnx.NodeProto] = {}
    pending = [y]
    while pending:
        name = pending.pop()
        node = producers.get(name)
        if node is None or not _operands(net, node):
            return []
        if node.name not in part:
            part[node.name] = node
            pending.extend(operand for operand in _operands(net, node) if operand != x)
    for node in part.values():
        name = node.output[0]
        seen = name in net.seen or any(r.name not in part for r in consumers.get(name, ()))
        if seen and name != y:
            return []
    return [node for node in net.nodes if node.name in part]
