"""Values of the project's dataclasses as JSON, and arrays beside it: one codec for .pmx files and
for the workers of dynamic backends.

What a value becomes follows from its type hint, once for all classes:

    bool, int, float, str    as they are; a float that JSON has no word for is {"float": "inf"}
    X | None                 null, or X
    an enumeration           the name of its member, in small letters
    tuple, frozenset         a list; of a set, in order
    Mapping                  an object, or where the keys are no texts a list of [key, value]
    a dataclass              an object of its fields, without those that have their default
    A | B, dataclasses       an object with one member, whose name is that of the class
    an array                 [element type, shape, the number of its bytes among the blobs]
    Any, in attributes       a number, a text, a list of these, or {"tensor": array}

So a field that is added to a class needs nothing here. Whoever keeps such values may write some
types, or some fields, in a way of its own (`Codec`, a `mcu_deploy.schema.Schema`). Decoding trusts
nothing: what is not of its type raises `Misfit`, which says where. What the values mean is for
their users to check.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Any

import numpy as np

from mcu_deploy.ir.dtypes import DType
from mcu_deploy.ir.graph import Node, NodeId
from mcu_deploy.records.blobs import Reader, Writer, decode_array, encode_array
from mcu_deploy.records.form import PLAIN, encode_real, integer, real, text
from mcu_deploy.schema import Form, Schema, Unfit, each, keys_of, listed, parts

__all__ = [
    "Codec", "EdgeRef", "NodeRef", "Reader", "Writer", "integer", "is_attribute", "nodes_form",
]  # fmt: skip


class EdgeRef(int):
    """Stands for EdgeId where hints are read, so that edges may have a form of their own."""


class NodeRef(int):
    """Stands for NodeId, as EdgeRef does for EdgeId."""


_REFERENCES = {"EdgeId": EdgeRef, "NodeId": NodeRef}


class Codec(Schema):
    """The schema of the project's own values."""

    def __init__(self, *, whole: bool = False) -> None:
        plain = {**PLAIN, EdgeRef: PLAIN[int], NodeRef: PLAIN[int], Any: ATTRIBUTE}
        super().__init__(plain, whole=whole)

    def hints(self, cls: type) -> Mapping[str, Any]:
        """Without rules: what values mean is for their users to check."""
        hints = typing.get_type_hints(cls, localns=_REFERENCES)
        return {name: hints[name] for name in keys_of(cls).hints}

    def _made(self, hint: Any) -> Form:
        _, _, origin, _ = parts(hint)
        if origin is np.ndarray:
            return Form(encode_array, decode_array)
        return super()._made(hint)


# ---- Nodes, and their attributes ----


def nodes_form(codec: Codec) -> Form:
    """Nodes by their ids, as a list: each says its own."""
    node = codec.record(Node)

    def decode(reader: Any, value: Any) -> dict[NodeId, Node]:
        found = {n.id: n for n in node.all(reader, listed(value))}
        if len(found) != len(value):
            raise Unfit("have two nodes of one id")
        return found

    return Form(lambda writer, nodes: [node.encode(writer, n) for n in nodes.values()], decode)


_NUMBER = int | float | np.number | np.bool_
_DTYPES = frozenset(dtype.value for dtype in DType)


def is_attribute(value: Any) -> bool:
    """Whether an attribute can be written: numbers, texts, lists of these, tensors."""
    if isinstance(value, np.ndarray):
        return value.dtype.name in _DTYPES
    values = value if isinstance(value, tuple | list) else (value,)
    return all(isinstance(item, str | _NUMBER) for item in values)


def _encode_attribute(writer: Writer, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"tensor": encode_array(writer, value)}
    if isinstance(value, tuple | list):
        return [_encode_item(item) for item in value]
    return _encode_item(value)


def _encode_item(value: Any) -> Any:
    if isinstance(value, str):
        return value
    whole = isinstance(value, int | np.integer | np.bool_)
    return int(value) if whole else encode_real(None, value)


def _decode_attribute(reader: Any, value: Any) -> Any:
    if type(value) is list:
        return tuple(each(_decode_item, reader, value))
    if type(value) is dict and "tensor" in value:
        return decode_array(reader, value["tensor"])
    return _decode_item(reader, value)


def _decode_item(reader: Any, value: Any) -> Any:
    if type(value) is str:
        return text(reader, value)
    return integer(reader, value) if type(value) is int else real(reader, value)


ATTRIBUTE = Form(_encode_attribute, _decode_attribute)
