"""What values of a type hint become in a file, and how they are read: once for all hints."""

from __future__ import annotations

import dataclasses
import enum
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from mcu_deploy.schema.keys import UNIONS, Keys, keys_of, parts, require_keys
from mcu_deploy.schema.misfit import Misfit, Unfit
from mcu_deploy.schema.plain import Form, each, enumeration, people, same, unfit, word


class Schema:
    """The forms of all types.

    special: the forms of some types, and of some fields by (class, name), in place of what follows
    from their hints. whole: fields that have their default are written too, for readers that know
    no defaults.
    """

    def __init__(self, plain: Mapping[Any, Form], *, whole: bool = False) -> None:
        """plain: the forms of what is no more than a number or a text."""
        self.whole = whole
        self.special: dict[Any, Form] = {}
        self._forms = dict(plain)

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

    def hints(self, cls: type) -> Mapping[str, Any]:
        """The type hints of a dataclass' fields."""
        return keys_of(cls).hints

    def fields(self, cls: type) -> dict[str, Form]:
        """The forms of a dataclass' fields, in their order."""
        return {
            name: self.special.get((cls, name)) or self.form(hint)
            for name, hint in self.hints(cls).items()
        }

    def _made(self, hint: Any) -> Form:
        bare, rules, origin, arguments = parts(hint)
        if rules:
            return self._ruled(bare, rules)
        if origin in UNIONS:
            return self._union(arguments)
        if origin is tuple and arguments[1:] != (...,):
            return _fixed([self.form(argument) for argument in arguments])
        if origin in (tuple, Sequence):
            return _sequence(self.form(arguments[0]), list, tuple)
        if origin is frozenset:
            return _sequence(self.form(arguments[0]), sorted, frozenset)
        if origin is Mapping:
            key, value = (self.form(argument) for argument in arguments)
            return _table(key, value) if _is_text(arguments[0]) else _pairs(key, value)
        if origin is Literal:
            return word(arguments)
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return enumeration(hint)
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            return self.record(hint)
        raise TypeError(f"there is no form for {hint}")

    def _ruled(self, hint: Any, rules: Sequence[Any]) -> Form:
        if isinstance(rules[0], Keys):
            forms = {name: self.form(inner) for name, inner in rules[0].hints.items()}
            return Form(same, lambda r, value: _by_key(forms.__getitem__, r, tabled(value)))
        inner = UNBOUNDED.form(hint)

        def decode(reader: Any, value: Any) -> Any:
            value = inner.decode(reader, value)
            for rule in rules:
                value = rule(value)
            return value

        return Form(inner.encode, decode)

    def _union(self, arguments: Sequence[Any]) -> Form:
        classes = [argument for argument in arguments if argument is not types.NoneType]
        if len(classes) > 1:
            return _one_of({cls.__name__: (cls, self.record(cls)) for cls in classes})
        inner = self.form(classes[0])
        return Form(
            lambda writer, value: None if value is None else inner.encode(writer, value),
            lambda reader, value: None if value is None else inner.decode(reader, value),
        )


# What a rule is about has no other bound.
UNBOUNDED = Schema(people(None))


class Record:
    """A dataclass as an object of its fields, without those that have their default."""

    def __init__(self, schema: Schema, cls: type) -> None:
        self._schema = schema
        self._cls = cls

    @cached_property
    def _encoders(self) -> list[tuple[str, Callable[[Any, Any], Any], Any]]:
        defaults = {f.name: _default(f) for f in dataclasses.fields(self._cls)}
        return [(name, form.encode, defaults[name]) for name, form in self._forms.items()]

    @cached_property
    def _forms(self) -> dict[str, Form]:
        return self._schema.fields(self._cls)

    def encode(self, writer: Any, value: Any) -> dict[str, Any]:
        made, whole, name = {}, self._schema.whole, ""
        try:
            for name, encode, default in self._encoders:
                item = getattr(value, name)
                if whole or not _same(item, default):
                    made[name] = encode(writer, item)
        except Misfit as misfit:
            misfit.inside(name)
            raise
        return made

    def decode(self, reader: Any, value: Any) -> Any:
        if isinstance(value, self._cls):
            return value
        if not isinstance(value, Mapping):
            raise unfit(f"a table or a value of {self._cls.__name__}", value)
        try:
            return self._cls(**_by_key(self._forms.__getitem__, reader, value))
        except (KeyError, TypeError):
            own = keys_of(self._cls)
            require_keys([(Keys(dict.fromkeys(own.hints, Any), own.required), value, "")])
            raise


def _by_key(form: Callable[[str], Form], reader: Any, value: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a table, each by the form of its key."""
    made, name = {}, ""
    try:
        for name, item in value.items():
            made[name] = form(name).decode(reader, item)
    except Misfit as misfit:
        misfit.inside(name)
        raise
    return made


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _same(value: Any, default: Any) -> bool:
    if type(value) is type(default):
        return bool(value is default or (not hasattr(value, "dtype") and value == default))
    return isinstance(default, dict) and not default and not value


def _is_text(hint: Any) -> bool:
    bare, _, origin, _ = parts(hint)
    return bare is str or origin is Literal


def listed(value: Any) -> Sequence[Any]:
    """The value, a list."""
    if type(value) is not list and (isinstance(value, str) or not isinstance(value, Sequence)):
        raise unfit("a list", value)
    return value


def tabled(value: Any) -> Mapping[Any, Any]:
    """The value, an object."""
    if not isinstance(value, Mapping):
        raise unfit("a table", value)
    return value


def _one_of(classes: Mapping[str, tuple[type, Form]]) -> Form:
    """One of several dataclasses, by its name."""

    def encode(writer: Any, value: Any) -> Any:
        name = type(value).__name__
        return {name: classes[name][1].encode(writer, value)}

    def decode(reader: Any, value: Any) -> Any:
        if len(tabled(value)) != 1 or next(iter(value)) not in classes:
            raise unfit(f"a table of one of {', '.join(classes)}", value)
        ((name, inner),) = value.items()
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
            raise Unfit(f"must have {len(inner)} items, not {value!r:.200}")
        forms = iter(inner)
        return tuple(each(lambda reader, item: next(forms).decode(reader, item), reader, value))

    def encode(writer: Any, value: Any) -> list[Any]:
        return [form.encode(writer, item) for form, item in zip(inner, value, strict=True)]

    return Form(encode, decode)


def _table(key: Form, inner: Form) -> Form:
    """A mapping of texts."""

    def decode(reader: Any, value: Any) -> dict[str, Any]:
        try:
            given = {key.decode(reader, k): item for k, item in tabled(value).items()}
        except Unfit as misfit:
            misfit.before = "a key of " if isinstance(value, Mapping) else ""
            raise
        return _by_key(lambda _: inner, reader, given)

    return Form(
        lambda writer, value: {k: inner.encode(writer, item) for k, item in value.items()}, decode
    )


def _pairs(key: Form, inner: Form) -> Form:
    """A mapping of anything else, in its own order."""

    def decode(reader: Any, value: Any) -> dict[Any, Any]:
        pairs = listed(value)
        if any(type(pair) is not list or len(pair) != 2 for pair in pairs):
            raise unfit("a list of pairs", value)
        keys = key.all(reader, [k for k, _ in pairs])
        found = dict(zip(keys, inner.all(reader, [item for _, item in pairs]), strict=True))
        if len(found) != len(pairs):
            raise Unfit("has a key twice")
        return found

    def encode(writer: Any, value: Any) -> list[Any]:
        return [[key.encode(writer, k), inner.encode(writer, v)] for k, v in value.items()]

    return Form(encode, decode)
