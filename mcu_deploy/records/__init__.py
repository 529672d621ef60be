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
types, or some fields, in a way of its own (`Codec`). Decoding trusts nothing: what is not of its
type raises `Malformed`, which says where. What the values mean is for their users to check.
"""

from __future__ import annotations

from mcu_deploy.records.blobs import Reader, Writer
from mcu_deploy.records.codec import Codec, EdgeRef, NodeRef, is_attribute, nodes_form
from mcu_deploy.records.form import Form, Malformed, integer

__all__ = [
    "Codec",
    "EdgeRef",
    "Form",
    "Malformed",
    "NodeRef",
    "Reader",
    "Writer",
    "integer",
    "is_attribute",
    "nodes_form",
]
