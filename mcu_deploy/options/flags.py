"""How the command line calls the fields of values: said once, beside the field.

Of these flags the command line makes its parameters, and what is typed becomes the value again; so
do the keywords of Robot Framework and `mcu-deploy.toml`.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple

from mcu_deploy.errors import UsageError
from mcu_deploy.options.checked import require_word


@dataclass(frozen=True)
class Flag:
    """How the command line calls a field.

    words: what the field may be; of a bool the words that stand for False and True. known: what the
    shell offers, where not the words. least, most: of a number. read: one item of a tuple, or a key
    with its value, from a text; read_all: the value from all texts. commas: the items are typed in
    one text. anew: each build of a .pmx file chooses it anew. short: another name, of one letter.
    """

    name: str
    help: str
    metavar: str | None = None
    words: Callable[[], Sequence[str]] | None = None
    known: Callable[[], Iterable[str]] | None = None
    least: float | None = None
    most: float | None = None
    read: Callable[[str], Any] | None = None
    read_all: Callable[[Sequence[str]], Any] | None = None
    commas: bool = False
    anew: bool = False
    short: str = ""

    @property
    def parameter(self) -> str:
        return self.name.lstrip("-").replace("-", "_")


class Flagged(NamedTuple):
    """A field that the command line gives. within: the field that holds it, empty for the value's
    own. hint: its type."""

    flag: Flag
    default: Any
    name: str
    within: str
    hint: Any

    @property
    def is_repeated(self) -> bool:
        """Whether it is given a text for each item."""
        return isinstance(self.default, (tuple, Mapping)) and not self.flag.commas

    @property
    def typed(self) -> Any:
        """The type of what is typed; of what is repeated, of one item."""
        if self.is_repeated or self.flag.commas or self._is_worded:
            return str
        plain = [a for a in typing.get_args(self.hint) if a is not types.NoneType]
        return plain[0] if plain else self.hint

    @property
    def shown(self) -> Any:
        """The default as it would be typed; None where there is none."""
        if self.is_repeated:
            return None
        if self.flag.commas:
            return ",".join(self.default)
        if self._is_worded and self.flag.words is not None:
            return self.flag.words()[self.default]
        return False if isinstance(self.default, bool) else self.default

    @property
    def _is_worded(self) -> bool:
        return isinstance(self.default, bool) and self.flag.words is not None

    def read(self, typed: Any) -> Any:
        """The field's value. Raises UsageError for what is not of its form."""
        flag = self.flag
        if self._is_worded and flag.words is not None:
            require_word(flag.name, typed, flag.words())
            return typed == flag.words()[True]
        if flag.commas:
            parts = tuple(part.strip() for part in typed.split(","))
            if typed and "" in parts:
                raise UsageError(f"{flag.name} {typed} has nothing before or behind a comma.")
            return parts if typed else ()
        if not self.is_repeated:  # a flag without a value says the other thing than the default
            return typed != self.default if self.default is True else typed
        if "" in (typed or ()):
            raise UsageError(f"{flag.name} has an empty value; give {flag.metavar or 'one'}.")
        if flag.read_all is not None:
            return flag.read_all(typed or ())
        read = flag.read or str
        items: tuple[Any, ...] = tuple(read(text) for text in typed or ())
        return items if isinstance(self.default, tuple) else _distinct(flag.name, items)


def option(default: Any, name: str, help: str, **more: Any) -> Any:
    """A field with its flag. default: an empty dict stands for a fresh one each time."""
    metadata = {"flag": Flag(name, help, **more)}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


def flagged_fields(cls: Any, within: str = "") -> Iterator[Flagged]:
    """The fields of a dataclass, and of those in it, that the command line gives."""
    hints = typing.get_type_hints(cls)
    for item in fields(cls):
        flag = item.metadata.get("flag")
        # not cls(): that would check the defaults, for which stages are imported
        default = item.default if item.default_factory is MISSING else item.default_factory()
        if flag is not None:
            yield Flagged(flag, default, item.name, within, hints[item.name])
        elif is_dataclass(default):
            yield from flagged_fields(type(default), item.name)


def made_of(cls: Any, typed: Mapping[str, Any]) -> Any:
    """A value from what the command line gives: texts, numbers, lists of texts, by parameter.

    Raises UsageError for what is not of an option's form, or is not known.
    """
    made: dict[str, dict[str, Any]] = {"": {}}
    for each in flagged_fields(cls):
        if each.flag.parameter in typed:
            value = each.read(typed[each.flag.parameter])
            made.setdefault(each.within, {})[each.name] = value
    hints = typing.get_type_hints(cls)
    own = made.pop("")
    return cls(**own, **{name: hints[name](**values) for name, values in made.items()})


def _distinct(flag: str, items: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in items:
        if found.setdefault(key, value) != value:
            raise UsageError(
                f"{flag} names {key!r} twice, with {found[key]} and {value}; name it once."
            )
    return found
