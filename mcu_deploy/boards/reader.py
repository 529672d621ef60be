"""Typed look-ups in a TOML table that end in one good sentence where the file is wrong."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from mcu_deploy.errors import BoardError, one_line
from mcu_deploy.files.given import is_file

_SIZE = re.compile(r"(\d+)\s*([KMG]?)", re.ASCII)
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_ADDRESS_LIMIT = 1 << 32


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of an error sentence: the nearest known word, or all of them."""
    words = list(known)
    plain = {known.lower(): known for known in words}
    near = difflib.get_close_matches(word.lower(), plain, n=1)
    if near:
        return f"did you mean {plain[near[0]]!r}?"
    return f"known here: {', '.join(words) or 'nothing'}"


class BoardTable:
    """One table of a board file, whose keys `require_keys` has looked at."""

    def __init__(self, values: dict[str, Any], where: str, path: Path) -> None:
        self._values = values
        self._where = where
        self._path = path

    def fail(self, sentence: str) -> NoReturn:
        """Raises a BoardError that names the file and the table."""
        place = f" [{self._where}]" if self._where else ""
        raise BoardError(f"{self._path}{place}: {one_line(sentence)}")

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self._values

    def is_beside(self, name: str) -> bool:
        """Whether a file lies beside the board file."""
        return is_file(self._path.parent / name)

    def _get(self, key: str, default: Any) -> Any:
        return self._values.get(key, default)

    def string(self, key: str, default: str | None = None) -> str:
        """A non-empty text without control characters."""
        value = self._get(key, default)
        if not isinstance(value, str) or (not value and default != ""):
            self.fail(f"{key} must be a text in quotes, not {value!r}")
        if any(ord(c) < 32 or ord(c) == 127 for c in value):
            self.fail(f"{key} must not hold control characters")
        return value

    def choice(self, key: str, choices: Iterable[str], default: str | None = None) -> str:
        """One of the given words."""
        value = self.string(key, default)
        words = list(choices)
        if value not in words:
            self.fail(f"{key} = {value!r} is not known; {did_you_mean(value, words)}")
        return value

    def boolean(self, key: str, default: bool | None = None) -> bool:
        """true or false."""
        value = self._get(key, default)
        if not isinstance(value, bool):
            self.fail(f"{key} must be true or false, not {value!r}")
        return value

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number, low <= number < high."""
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(f"{key} must be a whole number, not {value!r}")
        if not low <= value < high:
            self.fail(f"{key} = {value} is out of range; it must be {low} to {high - 1}")
        return value

    def address(self, key: str, alignment: int) -> int:
        """A 32-bit address with the given alignment in bytes."""
        value = self.integer(key, 0, _ADDRESS_LIMIT)
        if value % alignment:
            self.fail(f"{key} = {value:#x} must be a multiple of {alignment}")
        return value

    def size(self, key: str, default: str | None = None) -> int:
        """A number of bytes: a whole number, or a text such as "512K" or "1M" (powers of 1024)."""
        value = self._get(key, default)
        if isinstance(value, int) and not isinstance(value, bool):
            size = value
        else:
            match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
            if match is None:
                self.fail(f'{key} must be a size such as 8192 or "512K", not {value!r}')
            size = int(match[1]) * _UNITS[match[2]]
        if not 0 < size <= _ADDRESS_LIMIT:
            self.fail(f"{key} = {value!r} is out of range; it must be 1 byte to 4G")
        return size

    def strings(self, key: str, *, may_be_empty: bool = False) -> tuple[str, ...]:
        """A list of texts; () when the key is not there."""
        value = self._get(key, [])
        if not isinstance(value, list) or not all(
            isinstance(v, str) and (v or may_be_empty) for v in value
        ):
            self.fail(f"{key} must be a list of texts, not {value!r}")
        return tuple(value)

    def table(self, key: str, required: bool = True) -> BoardTable:
        """A table inside this one; an empty one when it is not required and not there."""
        value = self._get(key, None if required else {})
        where = f"{self._where}.{key}" if self._where else key
        if not isinstance(value, dict):
            self.fail(f"{key} must be a table, [{where}], not {value!r}")
        return BoardTable(value, where, self._path)

    def tables(self, key: str) -> tuple[BoardTable, ...]:
        """A list of tables; () when the key is not there."""
        value = self._get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            self.fail(f"{key} must be a list of tables, not {value!r}")
        where = f"{self._where}.{key}" if self._where else key
        return tuple(BoardTable(v, f"{where}[{i}]", self._path) for i, v in enumerate(value))

    def over(self, below: BoardTable) -> BoardTable:
        """This table with the keys of another one, where it has none of its own."""
        return BoardTable({**below._values, **self._values}, self._where, self._path)

    def names(self) -> tuple[str, ...]:
        """All keys in the order of the file, for tables whose keys are names."""
        return tuple(self._values)
