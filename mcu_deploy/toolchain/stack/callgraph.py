"""Reads what gcc writes with `-fcallgraph-info=su`: a `.ci` file beside each object.

The format is VCG text: a node per function with its frame in bytes and whether the frame is
`static`, `dynamic` (alloca, a variable-length array) or `dynamic,bounded`; an edge per call. A
static function's title is `<source as given to gcc>:<name>`, a global one's its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mcu_deploy.errors import ToolError

#: The title that gcc gives to the target of a call through a pointer.
INDIRECT_CALL = "__indirect_call"

_NODE = re.compile(r'^node: \{ title: "(?P<title>[^"]*)" label: "(?P<label>[^"]*)"')
_EDGE = re.compile(
    r'^edge: \{ sourcename: "(?P<source>[^"]*)" targetname: "(?P<target>[^"]*)"'
    r'(?: label: "(?P<place>[^"]*)")?'
)
_FRAME = re.compile(r"\\n(?P<bytes>\d+) bytes \((?P<kind>[a-z,]+)\)")

# _mcu_layer_event calls the hook, and nothing else in that header calls through a pointer.
_HOOK = re.compile(r"(?:^|/)mcu/internal\.h:\d+:\d+$")


def is_hook(place: str) -> bool:
    """Whether a call through a pointer, at `file:line:column`, is a network's call of the hook."""
    return _HOOK.search(place) is not None


@dataclass(frozen=True)
class CompiledFunction:
    """A function that gcc compiled: `file` is empty for a global one, `frame` is in bytes.

    pointers: where it calls through a pointer, as `file:line:column`.
    """

    title: str
    name: str
    file: str
    frame: int
    dynamic: bool
    calls: tuple[str, ...]
    pointers: tuple[str, ...] = ()


def read_callgraphs(files: Iterable[Path]) -> tuple[CompiledFunction, ...]:
    """The functions of all `.ci` files, in the order of the files.

    Raises ToolError where a file is missing or is no call graph of gcc.
    """
    return tuple(function for file in files for function in _read_callgraph(file))


def _read_callgraph(file: Path) -> list[CompiledFunction]:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise ToolError(
            f"The call graph {file} cannot be read ({error.strerror}); "
            "build the objects again with -fcallgraph-info=su."
        ) from error
    if not lines or not lines[0].startswith("graph: {"):
        raise ToolError(f"{file} is no call graph of gcc; build the objects again.")
    if lines[-1] != "}":
        raise ToolError(
            f"The call graph {file} ends in its middle, as on a full disk, so the stack has no "
            "bound; make room there and build the objects again."
        )
    frames: dict[str, tuple[int, bool]] = {}
    calls: dict[str, list[str]] = {}
    pointers: dict[str, list[str]] = {}
    for line in lines:
        if node := _NODE.match(line):
            if frame := _FRAME.search(node["label"]):
                # "dynamic,bounded": gcc knows the most that it can be, and says that number.
                frames[node["title"]] = (int(frame["bytes"]), frame["kind"] == "dynamic")
        elif edge := _EDGE.match(line):
            calls.setdefault(edge["source"], []).append(edge["target"])
            if edge["target"] == INDIRECT_CALL:
                pointers.setdefault(edge["source"], []).append(edge["place"] or "")
    return [
        CompiledFunction(
            title=title,
            name=title.rpartition(":")[2],
            file=PurePosixPath(title.rpartition(":")[0]).name,
            frame=frame,
            dynamic=dynamic,
            calls=tuple(dict.fromkeys(calls.get(title, ()))),
            pointers=tuple(dict.fromkeys(pointers.get(title, ()))),
        )
        for title, (frame, dynamic) in frames.items()
    ]
