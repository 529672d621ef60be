"""Records that were made once, by the fingerprints of their tasks, in a file (docs/cluster.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from mcu_deploy.errors import RequestError
from mcu_deploy.files.given import is_file
from mcu_deploy.output import write_file
from mcu_deploy.tasks.machine import digest, this_machine

FORMAT = "mcu-deploy results 1"


def fingerprint(function: Callable[[Any], Any], task: Any) -> str:
    """The SHA-256 of all that decides a record: the function, its task, this machine's tools."""
    name = f"{function.__module__}.{function.__qualname__}"
    tools = json.dumps(dict(this_machine()), sort_keys=True)
    return digest([(name.encode(), tools.encode(), _plain(task))])


def _plain(value: Any) -> bytes:
    """The same bytes for equal values; other bytes for others. Raises TypeError for what is no
    plain value."""
    rows: list[tuple[bytes, ...]]
    if is_dataclass(value) and not isinstance(value, type):
        rows = [(f.name.encode(), _plain(getattr(value, f.name))) for f in fields(value)]
    elif isinstance(value, Mapping):
        rows = [(_plain(key), _plain(value[key])) for key in value]
    elif isinstance(value, (tuple, list)):
        rows = [(_plain(each),) for each in value]
    elif isinstance(value, bytes):
        rows = [(value,)]
    elif value is None or isinstance(value, (bool, int, float, str)):
        rows = [(repr(value).encode(),)]
    else:
        raise TypeError(f"a task has no {type(value).__name__}: it is made of plain values")
    return f"{type(value).__name__} {digest(rows)}".encode()


class KeptResults:
    """A file with a line of JSON for each record, added as it is made.

    A line that was cut off when a run was killed counts for nothing. Raises RequestError where the
    file is something else.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, Any] = {}
        if not path.exists():
            return
        content = path.read_bytes() if is_file(path) else b""
        head, *lines = content.decode(errors="replace").split("\n")
        if head != json.dumps({"format": FORMAT}):
            raise RequestError(
                f"{path} holds no results of this version of mcu-deploy. Take the file away, or "
                "choose another place."
            )
        for line in lines:
            try:
                entry = json.loads(line)
                self._known[entry["task"]] = entry["record"]
            except (ValueError, LookupError, TypeError, RecursionError):
                continue

    def find(self, task: str) -> Any:
        """The record of a task, by its fingerprint; None where there is none."""
        return self._known.get(task)

    def keep(self, task: str, record: Any) -> None:
        """Adds a record, of what JSON has. Raises ToolError where the file cannot be written."""
        self._known[task] = record
        entry = json.dumps({"task": task, "record": record})
        if not self.path.exists():
            write_file(self.path, json.dumps({"format": FORMAT}).encode(), durable=False)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(f"\n{entry}")  # behind a line that may be cut off
