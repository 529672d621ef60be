"""Reads what GNU ld writes of a link (-Wl,-Map=FILE): which bytes of the image are from which file,
and why a member of an archive is in it.

The map is text for people, in columns (binutils, ld/ldlang.c and ld/ldcref.c); a name that is
longer than its column stands on a line of its own. A file is named as the linker names it: a path,
or `path/lib.a(member.o)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.elf.reader import Unreadable, read_file

_INCLUDED = "Archive member included to satisfy reference by file (symbol)"
_MEMORY = "Linker script and memory map"
_CROSS = "Cross Reference Table"
_INCLUDED_COLUMN, _CROSS_COLUMN = 30, 50
# What a file is called while the plugin for link-time optimisation has it.
_PLUGIN = " (symbol from plugin)"

_OUTPUT = re.compile(
    r"^(?P<name>[^\s(]\S*)\s+0x(?P<address>[0-9a-f]+)\s+0x(?P<size>[0-9a-f]+)"
    r"(?:\s+load address 0x[0-9a-f]+)?$"
)
_INPUT = re.compile(
    r"^ (?P<name>[^\s*]\S*)\s+0x(?P<address>[0-9a-f]+)\s+0x(?P<size>[0-9a-f]+)\s(?P<file>\S.*)$"
)
_SYMBOL = re.compile(r"^ {16}\s*0x[0-9a-f]+\s{2,}(?P<name>[^\s.].*)$")
_ALONE = re.compile(r"^ ?[^\s*(]\S*$")


@dataclass(frozen=True)
class LinkedPiece:
    """A section of a file, in an output section of the image; sizes and addresses in bytes."""

    output: str
    section: str
    address: int
    size: int
    file: str


@dataclass(frozen=True)
class LinkMap:
    """A link.

    outputs: address and size of each output section. pieces: the input sections that were kept, in
    their order. definers: of each global symbol in these the file. included: of each member of an
    archive the file that first asked for it, and the symbol that it asked for. references: of each
    file those that it refers to; None where the map has no table of them (-Wl,--cref).
    """

    outputs: Mapping[str, tuple[int, int]]
    pieces: tuple[LinkedPiece, ...]
    definers: Mapping[str, str]
    included: Mapping[str, tuple[str, str]]
    references: Mapping[str, frozenset[str]] | None


def load_link_map(path: Path) -> LinkMap:
    """The map in a file. Raises Unreadable where it is none of GNU ld, or cannot be read."""
    text = read_file(path).decode("utf-8", "replace")
    if _MEMORY not in text:
        raise Unreadable(
            "not-a-map",
            f"{path} is no map of GNU ld.",
            "Link with -Wl,-Map=FILE, and LC_ALL=C where the linker speaks another language.",
        )
    return parse_link_map(text)


def parse_link_map(text: str) -> LinkMap:
    """The map in a text; what is not understood in it is left out."""
    head, _, rest = text.partition(_MEMORY)
    memory, cross, table = rest.partition(f"\n{_CROSS}")
    outputs: dict[str, tuple[int, int]] = {}
    pieces: list[LinkedPiece] = []
    definers: dict[str, str] = {}
    output = ""
    for line in _joined(memory.splitlines()):
        if mapped := _INPUT.match(line):
            size, address = int(mapped["size"], 16), int(mapped["address"], 16)
            pieces.append(LinkedPiece(output, mapped["name"], address, size, mapped["file"]))
        elif mapped := _OUTPUT.match(line):
            output = mapped["name"]
            outputs[output] = (int(mapped["address"], 16), int(mapped["size"], 16))
        elif pieces and (symbol := _SYMBOL.match(line)) and " = " not in symbol["name"]:
            definers.setdefault(symbol["name"], pieces[-1].file)
    included = dict(_included(head.partition("\nDiscarded input sections")[0]))
    references = _references(table.splitlines(), definers) if cross else None
    return LinkMap(outputs, tuple(pieces), definers, included, references)


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """The lines, each name that stands alone put before the line that goes on."""
    pending = ""
    for line in lines:
        if pending and line.startswith(" " * 16):
            yield f"{pending} {line.lstrip()}"
            pending = ""
        elif _ALONE.match(line):
            pending = line
        else:
            pending = ""
            yield line


def _included(text: str) -> Iterator[tuple[str, tuple[str, str]]]:
    member = ""
    for line in text.partition(_INCLUDED)[2].splitlines():
        if line.startswith(" " * _INCLUDED_COLUMN):
            reason = line.strip()
        elif line[_INCLUDED_COLUMN - 2 : _INCLUDED_COLUMN] == "  ":
            member, reason = line[:_INCLUDED_COLUMN].strip(), line[_INCLUDED_COLUMN:].strip()
        else:
            member, reason = line.strip(), ""
        if member and reason:
            by, _, symbol = reason.rpartition("(")
            yield member, (by.strip().removesuffix(_PLUGIN), symbol.removesuffix(")"))
            member = ""


def _references(lines: Iterable[str], definers: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Of each file those whose symbols it uses: a symbol's first file is the one that has it."""
    found: dict[str, set[str]] = {}
    definer = ""
    for line in lines:
        symbol, file = line[:_CROSS_COLUMN].strip(), line[_CROSS_COLUMN:].strip()
        if line[_CROSS_COLUMN - 1 : _CROSS_COLUMN].strip():  # a name that fills its column
            symbol, _, file = line.rpartition(" ")
        file = file.removesuffix(_PLUGIN)
        if symbol:
            definer = file if definers.get(symbol.strip()) == file else ""
        elif definer and file:
            found.setdefault(file, set()).add(definer)
    return {file: frozenset(used) for file, used in found.items()}
