"""Whether a graph's attributes have the types that ONNX's definitions of the operators want.

Files in ONNX are held to them by its own checker; a graph that a format makes is looked at by
nobody else, and a text where a list of integers belongs would end in an error of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx

from mcu_deploy.errors import shorten
from mcu_deploy.ir import Graph, Node

_Kind = onnx.defs.OpSchema.AttrType


def _is_int(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return _is_int(value) or isinstance(value, (float, np.floating))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _each(is_one: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, tuple) and all(map(is_one, value))


# What an attribute of each kind holds in a graph, and its name in a sentence. Subgraphs are no
# attributes here.
_KINDS: Mapping[Any, tuple[Callable[[object], bool], str]] = {
    _Kind.INT: (_is_int, "an integer"),
    _Kind.INTS: (_each(_is_int), "a tuple of integers"),
    _Kind.FLOAT: (_is_number, "a number"),
    _Kind.FLOATS: (_each(_is_number), "a tuple of numbers"),
    _Kind.STRING: (_is_text, "a text"),
    _Kind.STRINGS: (_each(_is_text), "a tuple of texts"),
    _Kind.TENSOR: (lambda value: isinstance(value, np.ndarray), "an array"),
}


def wrong_attribute(graph: Graph) -> str | None:
    """A clause about the first attribute in a graph, or in one that it holds, that ONNX does not
    define so; None where all are as defined, or the operator is none of ONNX's."""
    for node in graph.nodes:
        held = graph.subgraphs(node.id).values()
        clause = _of_node(graph, node) or next(filter(None, map(wrong_attribute, held)), None)
        if clause:
            return clause
    return None


def _of_node(graph: Graph, node: Node) -> str | None:
    try:
        schema = onnx.defs.get_schema(node.op, graph.opset, node.domain)
    except onnx.defs.SchemaError:
        return None
    given = graph.attributes(node.id)
    for name, defined in schema.attributes.items():
        if defined.type not in _KINDS:
            continue
        fits, wanted = _KINDS[defined.type]
        if name in given and not fits(given[name]):
            what = f"is {shorten(repr(given[name]))} and not {wanted}"
        elif name not in given and defined.required:
            what = f"is missing; ONNX wants {wanted}"
        else:
            continue
        return f"the attribute {name} of its {node.op} {shorten(node.name)!r} {what}"
    return None
