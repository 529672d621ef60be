"""What the types of the project's classes become: see the package."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Union

import numpy as np

from mcu_deploy.ir.dtypes import DType
from mcu_deploy.ir.graph import Node, NodeId
from mcu_deploy.records.blobs import Writer, decode_array, encode_array
from mcu_deploy.records.form import (
    PLAIN,
    Form,
    Malformed,
    encode_real,
    enumeration,
    integer,
    listed,
    real,
    shown,
    tabled,
    text,
)


class EdgeRef(int):
    """Stands for EdgeId where hints are read, so that edges may have a form of their own."""


class NodeRef(int):
    """Stands for NodeId, as EdgeRef does for EdgeId."""


_REFERENCES = {"EdgeId": EdgeRef, "NodeId": NodeRef}


class Codec:
    """The forms of all types.

    special: the forms of some types, and of some fields by (class, name), in place of what follows
    from their hints. whole: fields that have their default are written too, for readers that know
    no defaults.
    """

    def __init__(self, *, whole: bool = False) -> None:
        self.whole = whole
        self.special: dict[Any, Form] = {}
        self._forms: dict[Any, Form] = {
            **PLAIN, EdgeRef: PLAIN[int], NodeRef: PLAIN[int], Any: ATTRIBUTE
        }  # fmt: skip

    def form(self, hint: Any) -> Form:
        """The form of a type. Raises TypeError for one that has none."""
        found = self.special.get(hint) or self._forms.get(hint)
        if found is None:
            found = self._forms[hint] = self._made(hint)
        return found

    def record(self, cls: type) -> Form:
        """The form of a dataclass as an object of its fields, where its special one is another."""
        made = Record(self, cls)
        return Form(made.encode, made.decode)

    def fields(self, cls: type) -> dict[str, Form]:
        """The forms of a dataclass' fields, in their order."""
        hints = typing.get_type_hints(cls, localns=_REFERENCES)
        return {
            field.name: self.special.get((cls, field.name)) or self.form(hints[field.name])
            for field in dataclasses.fields(cls)
        }

    def _made(self, hint: Any) -> Form:
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin in (Union, types.UnionType):
            return self._union(arguments)
        if origin is np.ndarray:
            return Form(encode_array, decode_array)
        if origin is tuple and arguments[1:] != (...,):
            return _fixed([self.form(argument) for argument in arguments])
        if origin in (tuple, Sequence):
            return _sequence(self.form(arguments[0]), list, tuple)
        if origin is frozenset:
            return _sequence(self.form(arguments[0]), sorted, frozenset)
        if origin is Mapping:
            key, value = (self.form(argument) for argument in arguments)
            return _table(value) if arguments[0] is str else _pairs(key, value)
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return enumeration(hint)
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            return self.record(hint)
        raise TypeError(f"there is no form for {hint}")

    def _union(self, arguments: Sequence[Any]) -> Form:
        classes = [argument for argument in arguments if argument is not type(None)]
        if len(classes) > 1:
            return _one_of({cls.__name__: (cls, self.record(cls)) for cls in classes})
        inner = self.form(classes[0])
        return Form(
            lambda writer, value: None if value is None else inner.encode(writer, value),
            lambda reader, value: None if value is None else inner.decode(reader, value),
        )


class Record:
    """A dataclass as an object of its fields, without those that have their default."""

    def __init__(self, codec: Codec, cls: type) -> None:
        self._codec = codec
        self._cls = cls

    @cached_property
    def _encoders(self) -> list[tuple[str, Callable[[Any, Any], Any], Any]]:
        defaults = {f.name: _default(f) for f in dataclasses.fields(self._cls)}
        forms = self._codec.fields(self._cls)
        return [(name, form.encode, defaults[name]) for name, form in forms.items()]

    @cached_property
    def _decoders(self) -> dict[str, Callable[[Any, Any], Any]]:
        return {name: form.decode for name, form in self._codec.fields(self._cls).items()}

    def encode(self, writer: Any, value: Any) -> dict[str, Any]:
        made, whole = {}, self._codec.whole
        for name, encode, default in self._encoders:
            item = getattr(value, name)
            try:
                if whole or not _same(item, default):
                    made[name] = encode(writer, item)
            except Malformed as error:
                raise Malformed(f"{name} of a {self._cls.__name__}: {error}") from None
        return made

    def decode(self, reader: Any, value: Any) -> Any:
        if type(value) is not dict:
            raise Malformed(f"{shown(value)} is no {self._cls.__name__}")
        decoders, made, name = self._decoders, {}, ""
        try:
            for name, item in value.items():
                made[name] = decoders[name](reader, item)
            return self._cls(**made)
        except Malformed as error:
            raise Malformed(f"{name} of a {self._cls.__name__}: {error}") from None
        except (KeyError, TypeError):
            strange = [shown(name) for name in value if name not in decoders]
            lacking = [
                name for name, _, default in self._encoders
                if default is dataclasses.MISSING and name not in value
            ]  # fmt: skip
            if strange:
                raise Malformed(f"a {self._cls.__name__} has no {strange[0]}") from None
            if lacking:
                raise Malformed(f"a {self._cls.__name__} lacks its {lacking[0]}") from None
            raise


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _same(value: Any, default: Any) -> bool:
    if type(value) is type(default):
        return bool(value is default or (type(value) is not np.ndarray and value == default))
    return isinstance(default, dict) and not default and not value


def _one_of(classes: Mapping[str, tuple[type, Form]]) -> Form:
    """One of several dataclasses, by its name."""

    def encode(writer: Any, value: Any) -> Any:
        name = type(value).__name__
        return {name: classes[name][1].encode(writer, value)}

    def decode(reader: Any, value: Any) -> Any:
        if len(tabled(value)) != 1:
            raise Malformed(f"{shown(value)} is not one of {', '.join(classes)}")
        ((name, inner),) = value.items()
        if name not in classes:
            raise Malformed(f"{shown(name)} is none of {', '.join(classes)}")
        return classes[name][1].decode(reader, inner)

    return Form(encode, decode)


def _sequence(
    inner: Form, ordered: Callable[[Any], Any], make: Callable[[Iterable[Any]], Any]
) -> Form:
    encode = inner.encode
    return Form(
        lambda writer, values: [encode(writer, value) for value in ordered(values)],
        lambda reader, value: make(inner.all(reader, listed(value))),
    )


def _fixed(inner: Sequence[Form]) -> Form:
    """A tuple of so many."""

    def decode(reader: Any, value: Any) -> tuple[Any, ...]:
        if len(listed(value)) != len(inner):
            raise Malformed(f"{shown(value)} has not {len(inner)} parts")
        return tuple(form.decode(reader, item) for form, item in zip(inner, value, strict=True))

    def encode(writer: Any, value: Any) -> list[Any]:
        return [form.encode(writer, item) for form, item in zip(inner, value, strict=True)]

    return Form(encode, decode)


def _table(inner: Form) -> Form:
    """A mapping of texts."""

    def decode(reader: Any, value: Any) -> dict[str, Any]:
        return dict(zip(tabled(value), inner.all(reader, list(value.values())), strict=True))

    return Form(
        lambda writer, value: {key: inner.encode(writer, item) for key, item in value.items()},
        decode,
    )


def _pairs(key: Form, inner: Form) -> Form:
    """A mapping of anything else, in its own order."""

    def decode(reader: Any, value: Any) -> dict[Any, Any]:
        pairs = listed(value)
        if any(type(pair) is not list or len(pair) != 2 for pair in pairs):
            raise Malformed(f"{shown(value)} are no pairs")
        keys = key.all(reader, [k for k, _ in pairs])
        found = dict(zip(keys, inner.all(reader, [item for _, item in pairs]), strict=True))
        if len(found) != len(pairs):
            raise Malformed("a key is there twice")
        return found

    def encode(writer: Any, value: Any) -> list[Any]:
        return [[key.encode(writer, k), inner.encode(writer, v)] for k, v in value.items()]

    return Form(encode, decode)


# ---- Nodes, and their attributes ----


def nodes_form(codec: Codec) -> Form:
    """Nodes by their ids, as a list: each says its own."""
    node = codec.record(Node)

    def decode(reader: Any, value: Any) -> dict[NodeId, Node]:
        found = {n.id: n for n in node.all(reader, listed(value))}
        if len(found) != len(value):
            raise Malformed("two nodes have one id")
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
        return tuple(_decode_item(reader, item) for item in value)
    if type(value) is dict and "tensor" in value:
        return decode_array(reader, value["tensor"])
    return _decode_item(reader, value)


def _decode_item(reader: Any, value: Any) -> Any:
    if type(value) is str:
        return text(reader, value)
    return integer(reader, value) if type(value) is int else real(reader, value)


ATTRIBUTE = Form(_encode_attribute, _decode_attribute)
