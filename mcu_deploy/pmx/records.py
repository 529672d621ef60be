"""Dataclasses as tables: what a field becomes follows from its type, once for all classes.

A dataclass is the table of the same name (or of the one in `TABLES`), and each of its fields the
table's field of the same name. So a field that is added to a class wants one line in the schema,
and none here. Graphs and what holds them are written by hand, in graphs.py and compiled.py.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from mcu_deploy.backends import workload
from mcu_deploy.backends.layer import Layer
from mcu_deploy.backends.workload import Region
from mcu_deploy.choose.select import Choice, Chosen
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.plan import exposure
from mcu_deploy.plan import model as plan
from mcu_deploy.plan.managers import Configuration
from mcu_deploy.plan.runtime import Take
from mcu_deploy.pmx import pmx_generated as fb
from mcu_deploy.pmx import references
from mcu_deploy.pmx.constants import decode_array, encode_array, numbers
from mcu_deploy.pmx.context import NUMBERED, Reader, Writer
from mcu_deploy.pmx.damage import Damage
from mcu_deploy.pmx.references import Decode, Encode


class EdgeRef(int):
    """Stands for EdgeId where hints are read, so that edges get the ids of the file."""


class NodeRef(int):
    """Stands for NodeId, as EdgeRef does for EdgeId."""


# What is one number in a table.
_NUMBERS = frozenset((int, bool, float, EdgeRef, NodeRef, *NUMBERED))

# What has no name of its own, or one that means two things.
TABLES: Mapping[Any, str] = {
    workload.Constant: "WorkloadConstant",
    exposure.Partition: "RunnablePartition",
    plan.Place: "Place",
    plan.Item: "Item",
    Mapping[int, plan.Place]: "BufferPlace",
    Chosen: "Chosen",
    Mapping[str, tuple[Chosen, ...]]: "ControlBlock",
    Mapping[EdgeRef, plan.Tensor]: "EdgeTensor",
    Mapping[Region, int]: "RegionNumber",
    Mapping[int, tuple[Take, ...]]: "Takes",
    Mapping[int, tuple[tuple[int, int], ...]]: "BufferOffsets",
    tuple[int, int]: "Pair",
    tuple[tuple[str, ...], tuple[str, ...]]: "NamesPair",
    tuple[int, ...]: "Lane",
    Mapping[str, str]: "NamedText",
    Mapping[str, int]: "NamedNumber",
    Mapping[str, tuple[int, ...]]: "NamedShape",
}


@dataclasses.dataclass(frozen=True)
class Kind:
    """How a type is written, and how a field of that type is read.

    reader: of the generated class and the name of the accessor makes what reads the field.
    """

    encode: Encode
    reader: Callable[[type, str], Decode]


class Record:
    """A dataclass and its table."""

    def __init__(self, cls: type[Any]) -> None:
        name = TABLES.get(cls, cls.__name__)
        self.cls = cls
        self.table = getattr(fb, name)
        self._made = getattr(fb, f"{name}T")
        hints = typing.get_type_hints(cls, localns={"EdgeId": EdgeRef, "NodeId": NodeRef})
        fields = dataclasses.fields(cls)
        saved = [f.name for f in fields if hasattr(self.table, upper_camel(f.name))]
        self.unsaved = {f.name: _default(f) for f in fields if f.name not in saved}
        kinds = {name: kind(hints[name]) for name in saved}
        self._encoders = [(n, lower_camel(n), k.encode) for n, k in kinds.items()]
        self._readers = [(n, k.reader(self.table, upper_camel(n))) for n, k in kinds.items()]

    def encode(self, writer: Writer, value: Any) -> Any:
        """The object that packs the table.

        Raises UnsupportedError where a field that the schema does not have is not at its default.
        """
        made = self._made()
        for name, attribute, encode in self._encoders:
            setattr(made, attribute, encode(writer, getattr(value, name)))
        for name, default in self.unsaved.items():
            if getattr(value, name) != default:
                raise UnsupportedError(
                    f"A .pmx file has no place for {name.replace('_', ' ')!r} of a "
                    f"{self.cls.__name__}. Leave out the option that asks for it, or build from "
                    "the model file itself."
                )
        return made

    def decode(self, reader: Reader, table: Any) -> Any:
        """The value of a table."""
        if not self.unsaved:
            return self.cls(*[read(reader, table) for _, read in self._readers])
        return self.cls(**{name: read(reader, table) for name, read in self._readers})


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def record(cls: Any) -> Record:
    """The record of a dataclass, made once."""
    return _record(cls)


@functools.cache
def _record(cls: Any) -> Record:
    return Record(cls)


def upper_camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def lower_camel(name: str) -> str:
    camel = upper_camel(name)
    return camel[0].lower() + camel[1:]


@functools.cache
def kind(hint: Any) -> Kind:
    """What a field of this type becomes. Raises TypeError for a type that has no form here."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return _union(hint, arguments)
    if origin is np.ndarray:
        return _nested(fb.Array, encode_array, decode_array)
    if origin is Sequence or (origin is tuple and arguments[1:] == (...,)):
        return _sequence(arguments[0], tuple)
    if origin is frozenset:
        return _sequence(arguments[0], frozenset)
    if hint in TABLES and issubclass(origin or object, Mapping):
        return _entries(TABLES[hint], *arguments)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _enumeration(hint)
    if hint is Layer:
        return Kind(references.encode_layer, references.read_layer)
    if hint is Choice:
        return Kind(references.encode_choice, references.read_choice)
    if hint is Configuration:
        return _nested(
            fb.Configuration, references.encode_configuration, references.decode_configuration
        )
    if hint in _NUMBERS:
        return _number(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _nested(record(hint).table, *_record_codec(hint))
    raise TypeError(f"there is no table for {hint}")


# ---- Numbers ----


def _same(writer: Writer, value: Any) -> Any:
    return value


def _encode_number(hint: Any) -> Encode:
    if hint is EdgeRef:
        return lambda writer, value: writer.ids.edge(value)
    if hint is NodeRef:
        return lambda writer, value: writer.ids.node(value)
    if hint in NUMBERED:
        return lambda writer, value: writer.number(value)
    return _same


def _number(hint: Any) -> Kind:
    def reader(table: type, name: str) -> Decode:
        get = getattr(table, name)
        if hint in NUMBERED:
            return lambda reader, table: reader.lists[hint][get(table)]
        return lambda reader, table: get(table)

    return Kind(_encode_number(hint), reader)


def _optional_number(hint: Any) -> Kind:
    """-1 stands for None."""
    encode = _encode_number(hint)

    def reader(table: type, name: str) -> Decode:
        get = getattr(table, name)

        def read(reader: Reader, table: Any) -> Any:
            value = get(table)
            if value < 0:
                return None
            return reader.lists[hint][value] if hint in NUMBERED else value

        return read

    return Kind(lambda writer, value: -1 if value is None else encode(writer, value), reader)


def _enumeration(cls: type[enum.Enum]) -> Kind:
    """The number of a member, in the order of their definition."""
    members = tuple(cls)
    numbers = {value: number for number, value in enumerate(members)}

    def reader(table: type, name: str) -> Decode:
        get = getattr(table, name)
        return lambda reader, table: members[get(table)]

    return Kind(lambda writer, value: numbers[value], reader)


# ---- Tables ----


def _record_codec(cls: Any) -> tuple[Encode, Decode]:
    made = record(cls)
    return made.encode, made.decode


def _nested(inner: type[Any], encode: Encode, decode: Decode, *, optional: bool = False) -> Kind:
    """inner: the generated class of what is in the field."""

    def reader(table: type, name: str) -> Decode:
        get = getattr(table, name)
        if hasattr(table, "SizeOf"):  # in a struct, structs are at fixed places, and never absent
            return lambda reader, table: decode(reader, get(table, inner()))

        def read(reader: Reader, table: Any) -> Any:
            found = get(table)
            if found is not None:
                return decode(reader, found)
            if optional:
                return None
            raise Damage(f"{name} of a {type(table).__name__} is missing")

        return read

    return Kind(lambda writer, value: None if value is None else encode(writer, value), reader)


def _union(hint: Any, arguments: tuple[Any, ...]) -> Kind:
    if hint in TABLES:
        return _nested(getattr(fb, TABLES[hint]), *_one_of(TABLES[hint], arguments))
    (inner,) = (a for a in arguments if a is not type(None))
    origin = typing.get_origin(inner)
    if origin is tuple:
        return _sequence(typing.get_args(inner)[0], tuple, optional=True)
    if origin is np.ndarray:
        return _nested(fb.Array, encode_array, decode_array, optional=True)
    if dataclasses.is_dataclass(inner) and inner not in NUMBERED:
        return _nested(record(inner).table, *_record_codec(inner), optional=True)
    return _optional_number(inner)


def _one_of(name: str, classes: tuple[Any, ...]) -> tuple[Encode, Decode]:
    """A table with a field for each class, of which one is there."""
    table, made = getattr(fb, name), getattr(fb, f"{name}T")
    fields = {cls: (lower_camel(_snake(cls)), upper_camel(_snake(cls))) for cls in classes}
    getters = {cls: getattr(table, upper) for cls, (_, upper) in fields.items()}

    def encode(writer: Writer, value: Any) -> Any:
        packed = made()
        setattr(packed, fields[type(value)][0], record(type(value)).encode(writer, value))
        return packed

    def decode(reader: Reader, table: Any) -> Any:
        for cls, get in getters.items():
            inner = get(table)
            if inner is not None:
                return record(cls).decode(reader, inner)
        raise Damage(f"a {name} is of no known kind")

    return encode, decode


def _snake(cls: type[Any]) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in cls.__name__).lstrip("_")


# ---- Several ----


def _sequence(inner: Any, make: Callable[[Iterable[Any]], Any], *, optional: bool = False) -> Kind:
    """A vector. Sets are written in order. Absent is None, and not the same as empty."""
    members = typing.get_args(inner)
    is_optional_number = type(None) in members
    hint = next(a for a in members if a is not type(None)) if is_optional_number else inner
    if hint in _NUMBERS:
        encode = (_optional_number if is_optional_number else _number)(hint).encode
        read_all = functools.partial(_number_list, hint, is_optional_number)
    else:
        encode, decode = element(hint)
        read_all = functools.partial(_tables, decode)

    def write(writer: Writer, values: Any) -> Any:
        if values is None:
            return None
        ordered = sorted(values) if isinstance(values, frozenset) else values
        made = [encode(writer, value) for value in ordered]
        return made if made or optional else None

    def reader(table: type, name: str) -> Decode:
        read = read_all(table, name)
        if not optional:
            return lambda reader, table: make(read(reader, table))
        is_none = getattr(table, f"{name}IsNone")
        return lambda reader, table: None if is_none(table) else make(read(reader, table))

    return Kind(write, reader)


def element(hint: Any) -> tuple[Encode, Decode]:
    """How one of several tables is written and read."""
    origin = typing.get_origin(hint)
    if origin is tuple:
        return _list(hint) if typing.get_args(hint)[1:] == (...,) else _pair(hint)
    if origin in (Union, types.UnionType):
        return _one_of(TABLES[hint], typing.get_args(hint))
    return _record_codec(hint)


def _number_list(hint: Any, is_optional: bool, table: type, name: str) -> Decode:
    get = getattr(table, f"{name}AsNumpy")

    def read(reader: Reader, table: Any) -> list[Any]:
        values = numbers(get(table))
        if hint in NUMBERED:
            known = reader.lists[hint]
            return [known[value] for value in values]
        return [None if v < 0 else v for v in values] if is_optional else values

    return read


def _tables(decode: Decode, table: type, name: str) -> Decode:
    get, length = getattr(table, name), getattr(table, f"{name}Length")
    return lambda reader, table: [decode(reader, get(table, i)) for i in range(length(table))]


def _pair(hint: Any) -> tuple[Encode, Decode]:
    """Two values: a table with the fields `first` and `second`."""
    made, table = getattr(fb, f"{TABLES[hint]}T"), getattr(fb, TABLES[hint])
    first, second = (kind(argument) for argument in typing.get_args(hint))
    read_first, read_second = first.reader(table, "First"), second.reader(table, "Second")

    def encode(writer: Writer, value: tuple[Any, Any]) -> Any:
        packed = made()
        packed.first, packed.second = (
            first.encode(writer, value[0]),
            second.encode(writer, value[1]),
        )
        return packed

    return encode, lambda reader, table: (read_first(reader, table), read_second(reader, table))


def _list(hint: Any) -> tuple[Encode, Decode]:
    """Some of many: a table with the field `values`."""
    made, table = getattr(fb, f"{TABLES[hint]}T"), getattr(fb, TABLES[hint])
    values = kind(hint)
    read = values.reader(table, "Values")

    def encode(writer: Writer, value: Any) -> Any:
        packed = made()
        packed.values = values.encode(writer, value)
        return packed

    return encode, read


def _entries(name: str, key: Any, value: Any) -> Kind:
    """A mapping as a vector of tables with the fields `key` and `value`, in its own order."""
    made, entry = getattr(fb, f"{name}T"), getattr(fb, name)
    keys, values = kind(key), kind(value)
    read_key, read_value = keys.reader(entry, "Key"), values.reader(entry, "Value")

    def encode(writer: Writer, item: tuple[Any, Any]) -> Any:
        packed = made()
        packed.key, packed.value = keys.encode(writer, item[0]), values.encode(writer, item[1])
        return packed

    def reader(table: type, field: str) -> Decode:
        read = _tables(lambda r, t: (read_key(r, t), read_value(r, t)), table, field)
        return lambda reader, table: dict(read(reader, table))

    return Kind(lambda w, mapping: [encode(w, item) for item in mapping.items()], reader)
