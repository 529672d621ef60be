"""Models of opsets before 7: onnx's own converter brings them to 7.

Before opset 7 an operand said by attributes how it is broadcast: `broadcast`, and `axis` for the
axis of the other operand that its first axis is. The converter of onnx 1.23 moves such an operand
to other axes, without a word, and lets a slope of PRelu stand that is one number a channel. So both
get the axes of 1 behind theirs that numpy's rules want, before it is asked. And it knows constants
as inputs alone, as IR version 3 lists them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import onnx
from onnx import helper

from mcu_deploy.errors import ModelError, shorten
from mcu_deploy.formats.onnx_operators import domain_of, text_of
from mcu_deploy.formats.onnx_reasons import SIGNS_OF_DAMAGE, reason
from mcu_deploy.formats.onnx_subgraphs import put, static_shapes

OLDEST = 7
"""The oldest opset that is read as it is."""


def converted(model: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    """The model in an opset that is read. Raises ModelError where the converter fails."""
    known = (o.version for o in model.opset_import if not domain_of(o.domain))
    opset = min(known, default=OLDEST)
    if opset >= OLDEST:
        return model
    from onnx.version_converter import ConvertError, convert_version  # few models need it

    try:
        _list_constants(model.graph)
        _align_operands(model, path, opset)
        made: onnx.ModelProto = convert_version(model, OLDEST)
    except (*SIGNS_OF_DAMAGE, ConvertError) as error:
        raise ModelError(
            f"{path} uses ONNX opset {opset}; mcu-deploy reads opset {OLDEST} and later, and "
            f"onnx.version_converter fails on it ({reason(error)}). Export it to a newer opset."
        ) from error
    return made


def _list_constants(graph: onnx.GraphProto) -> None:
    listed = {i.name for i in graph.input}
    graph.input.extend(
        helper.make_tensor_value_info(t.name, t.data_type, t.dims)
        for t in graph.initializer
        if t.name not in listed
    )


def _align_operands(model: onnx.ModelProto, path: Path, opset: int) -> None:
    """Writes an Unsqueeze before each operand whose place is said otherwise."""
    if not any(_first_axis(node, 0) is not None for node in model.graph.node):
        return
    shapes = static_shapes(onnx.shape_inference.infer_shapes(model).graph)
    nodes = [n for node in model.graph.node for n in _aligned(node, shapes, path, opset)]
    put(model.graph.node, nodes)


def _aligned(
    node: onnx.NodeProto, shapes: Mapping[str, Sequence[int]], path: Path, opset: int
) -> Iterator[onnx.NodeProto]:
    if _first_axis(node, 0) is not None:
        x, operand = (shapes.get(name) for name in node.input[:2])
        if x is None or operand is None:
            raise ModelError(
                f"{path} uses ONNX opset {opset}, and its {text_of(node.op_type)} "
                f"{shorten(text_of(node.name or node.output[0]))!r} broadcasts along an axis of a "
                f"tensor without a shape. Export it to opset {OLDEST} or newer."
            )
        first = _first_axis(node, len(x)) or 0
        behind = len(x) - first - len(operand)
        if behind > 0:
            axes = range(len(operand), len(operand) + behind)
            aligned = f"{node.output[0]} {node.input[1]} aligned"
            yield helper.make_node("Unsqueeze", [node.input[1]], [aligned], axes=list(axes))
            node.input[1] = aligned
        put(node.attribute, [a for a in node.attribute if a.name != "axis"])
    yield node


def _first_axis(node: onnx.NodeProto, rank: int) -> int | None:
    """The axis of the first operand, of so many, that the first of the second one is; None where
    they are aligned at the end already."""
    if domain_of(node.domain) or len(node.input) != 2:
        return None
    if node.op_type == "PRelu":
        return 1
    given = {a.name: int(a.i) for a in node.attribute}
    if not {"axis", "broadcast"} <= set(given):
        return None
    return given["axis"] + (rank if given["axis"] < 0 else 0)
