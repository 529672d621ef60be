"""A board file with what it inherits: one table of values, and the files that these name."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcu_deploy import resources
from mcu_deploy.errors import BoardError, one_line, shorten
from mcu_deploy.files.given import is_file
from mcu_deploy.schema import did_you_mean

BOARD_FILE = "board.toml"

_LARGEST_FILE = 1 << 20
_MOST_PARENTS = 8
# The keys whose value may be a file beside the board file, and how such a name ends.
_FILE_KEYS = {
    ("serial", "driver"): ".c",
    ("second_core", "driver"): ".c",
    ("boot",): ".c",
    ("emulators", "renode", "platform"): ".repl",
    ("runners", "openocd", "config"): ".cfg",
}


@dataclass(frozen=True)
class Document:
    """What a board file says.

    values: its keys, over those that it inherits; a file that lies beside the board file which
    names it is an absolute path. files: these, without any of mcu-deploy's own. read: the file, and
    those that it inherits from."""

    path: Path
    values: Mapping[str, Any]
    files: tuple[Path, ...]
    read: tuple[Path, ...]
    is_changed: bool = False

    @property
    def is_shipped(self) -> bool:
        """Whether this comes with mcu-deploy, so that its name is enough to find it again."""
        return _ships(self.path) and not self.is_changed

    def with_clock(self, clock: str) -> Document:
        """The document with another value of the key `clock`."""
        values = {**self.values, "clock": clock}
        return replace(self, values=values, is_changed=values != self.values)

    def copies(self) -> dict[str, bytes]:
        """Files that say the same from any folder, by their names there; board.toml is the first.

        BoardError where two of the board's files have one name."""
        text = "".join(f"{key} = {_toml(value)}\n" for key, value in self.values.items())
        copies = {BOARD_FILE: text}
        for file in self.files:
            if file.name in copies:
                raise BoardError(f"{self.path} names two files called {file.name}. Rename one.")
            copies[BOARD_FILE] = copies[BOARD_FILE].replace(_toml(str(file)), _toml(file.name))
            copies[file.name] = file.read_text(encoding="utf-8")
        return {name: content.encode() for name, content in copies.items()}


def shipped_boards() -> dict[str, Path]:
    """The board files that come with mcu-deploy, by the boards' names."""
    return {f.parent.name: f for f in sorted(resources.boards().glob(f"*/{BOARD_FILE}"))}


def read_document(path: Path) -> Document:
    """Reads a board file and those that it inherits from (`inherits`: a chip of boards/chips, a
    board, or a path from the file's folder).

    BoardError where one of them cannot be read, or inherits from itself."""
    merged: dict[str, Any] = {}
    seen: list[Path] = []
    at: Path | None = path
    while at is not None:
        if at.resolve() in seen or len(seen) == _MOST_PARENTS:
            chain = " -> ".join(str(p) for p in (*seen, at))
            raise BoardError(f"{path} inherits from itself or too deeply ({chain}). End the chain.")
        seen.append(at.resolve())
        values = _read(at)
        at = _parent(values.pop("inherits", None), at)
        merged = _over(_with_files(values, at=seen[-1].parent), merged)
    files = tuple(dict.fromkeys(f for f in map(Path, _files(merged)) if not _ships(f)))
    return Document(path, merged, files, tuple(seen))


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.exists() and not is_file(path):  # a pipe or a device may have no end
            raise BoardError(f"The board file {path} is no file. Give the path of a board.toml.")
        if path.stat().st_size > _LARGEST_FILE:
            raise BoardError(f"{path} is no board file: it has more than {_LARGEST_FILE:,} bytes.")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BoardError(
            f"The board file {path} does not exist. Give a board's name or an existing file."
        ) from None
    except OSError as error:
        raise BoardError(
            f"The board file {shorten(str(path), 1000)} cannot be read ({error.strerror}). Check "
            "its name and its rights."
        ) from None
    except RecursionError:
        raise BoardError(f"{path} is nested too deeply. Correct its brackets.") from None
    except ValueError as error:  # of TOML, of UTF-8, and of numbers with thousands of digits
        raise BoardError(
            f"{path} is not valid TOML ({one_line(str(error), 200)}). Correct that line."
        ) from None


def _parent(name: object, path: Path) -> Path | None:
    """The file that `inherits = name` means in the file `path`."""
    if name is None:
        return None
    if not isinstance(name, str) or not name:
        raise BoardError(
            f"{path}: inherits must be a text in quotes, not {one_line(repr(name), 200)}"
        )
    if name.endswith(".toml"):
        return path.parent / name
    known = {f.stem: f for f in sorted((resources.boards() / "chips").glob("*.toml"))}
    known |= shipped_boards()
    own = path.resolve()
    if (shipped := known.get(own.parent.name)) and shipped.resolve() == own:
        del known[own.parent.name]
    if name not in known:
        raise BoardError(
            f"{path}: inherits = {one_line(repr(name), 200)} is no chip, board or .toml file; "
            f"{did_you_mean(name, sorted(known))}"
        )
    return known[name]


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two tables in one: tables of tables likewise, of anything else what stands above."""
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        both = isinstance(value, Mapping) and isinstance(under, Mapping)
        merged[key] = _over(under, value) if both and under is not None else value
    return merged


def _holding(values: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Of each key of _FILE_KEYS that is there the table that has it, the key, and the suffix."""
    for (*tables, key), suffix in _FILE_KEYS.items():
        holder: Any = values
        for name in tables:
            holder = holder.get(name) if isinstance(holder, dict) else None
        if isinstance(holder, dict) and key in holder:
            yield holder, key, suffix


def _with_files(values: dict[str, Any], at: Path) -> dict[str, Any]:
    """The values with an absolute path for each file that lies in the folder `at`."""
    for table, key, suffix in _holding(values):
        value = table[key]
        if isinstance(value, list):
            table[key] = [_beside(v, suffix, at) for v in value]
        else:
            table[key] = _beside(value, suffix, at)
    return values


def _beside(value: Any, suffix: str, folder: Path) -> Any:
    is_there = isinstance(value, str) and value.endswith(suffix) and is_file(folder / value)
    return str((folder / value).resolve()) if is_there else value


def _files(values: Mapping[str, Any]) -> Iterator[str]:
    """The absolute paths among the values of _FILE_KEYS."""
    for table, key, _ in _holding(values):
        value = table[key]
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and Path(each).is_absolute():
                yield each


def _ships(path: Path) -> bool:
    return path.resolve().is_relative_to(resources.boards().resolve())


def _toml(value: object) -> str:
    """A value of a TOML file, on one line; what JSON writes of texts and numbers is TOML too."""
    if isinstance(value, Mapping):
        members = (f"{json.dumps(str(key))} = {_toml(v)}" for key, v in value.items())
        return f"{{ {', '.join(members)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps(str(value), ensure_ascii=False)
