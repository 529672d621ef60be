"""What a linked image is made of: each network, the runtime, the C library by who needs it, the
rest of the program. From the image and the linker's map, which must be of one link."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from mcu_deploy.elf.link_map import LinkedPiece, LinkMap, load_link_map
from mcu_deploy.elf.reader import Elf, Section
from mcu_deploy.errors import RequestError
from mcu_deploy.hygiene.findings import ImagePart, PartPiece
from mcu_deploy.hygiene.symbols import DESCRIPTOR_PREFIX, Rules

# What comes with the compiler: the C and C++ libraries, libgcc, and start-up files.
_LIBRARY = re.compile(
    r"^(?:lib(?:c|m|g|gcc|nosys|rdimon|stdc\+\+|supc\+\+)(?:_nano)?\.a\(.*\)"
    r"|(?:rdimon-)?crt[\w-]*\.o)$"
)
# One object of all that took part in link-time optimisation.
_JOINED = re.compile(r"\.ltrans\d*(?:\.ltrans)?\.o$")
_FLASH, _RAM = 0, 1  # of pairs of bytes
# Where a network's memory lies in firmwares of our own (codegen/firmware.py).
_WORKSPACE = re.compile(r"^\.bss\.mcu_(?:workspace|pool\.[^.]+)\.(.+)$")


def find_link_map(image: Path) -> Path | None:
    """The map that lies beside an image, or where a build of mcu-deploy has it."""
    names = (image.with_suffix(".map"), image.with_name(f"{image.name}.map"))
    places = (*names, image.parent / "obj" / f"{image.stem}.map")
    return next((path for path in places if path != image and path.is_file()), None)


def divide(
    image: Path, elf: Elf, map_file: Path, rules: Rules
) -> tuple[tuple[ImagePart, ...], bool]:
    """The parts of an image, which add up to it, in bytes; and whether the map says of a function
    of the library all that use it (-Wl,--cref), or only who asked for it first.

    Raises Unreadable where the file is no map, RequestError where it is of another link."""
    link = load_link_map(map_file)
    sections = {section.name: section for section in elf.sections if section.allocated}
    for name, section in sections.items():
        if link.outputs.get(name) != (section.address, section.size):
            raise RequestError(
                f"{map_file} is the map of another link than {image} ({name} differs); give both "
                "of one link."
            )
    return tuple(_Division(elf, link, rules, sections).parts()), link.references is not None


@dataclass
class _Bytes:
    flash: int = 0
    ram: int = 0
    pieces: dict[str, list[int]] = field(default_factory=dict)

    def add(self, name: str, flash: int, ram: int) -> None:
        self.flash += flash
        self.ram += ram
        piece = self.pieces.setdefault(name, [0, 0])
        piece[0] += flash
        piece[1] += ram


class _Division:
    def __init__(
        self, elf: Elf, link: LinkMap, rules: Rules, sections: Mapping[str, Section]
    ) -> None:
        self.elf, self.link, self.sections = elf, link, sections
        joined = {piece.file for piece in link.pieces if _JOINED.search(piece.file)}
        self.networks = {
            symbol.removeprefix(DESCRIPTOR_PREFIX): file
            for symbol, file in sorted(link.definers.items())
            if symbol.startswith(DESCRIPTOR_PREFIX) and file not in joined
        }
        known = link.definers.items()
        self.runtime = {file for name, file in known if name in rules.runtime} - joined
        self.users = self._all_users() if link.references is not None else self._first_users()

    def parts(self) -> Iterator[ImagePart]:
        """Networks, runtime, library by who needs it, the program, what no file brought."""
        found: dict[tuple[str, tuple[str, ...], bool], _Bytes] = {}
        everyone = tuple(self.networks)
        for name in everyone:
            found["network", (name,), False] = _Bytes()
        found["runtime", everyone, False] = _Bytes()
        left = {name: section.size for name, section in self.sections.items()}
        for piece in self.link.pieces:
            if piece.output not in left or not piece.size:
                continue
            left[piece.output] -= piece.size
            key, name = self._owner(piece)
            found.setdefault(key, _Bytes()).add(name, *self._cost(piece.output, piece.size))
        fill = found.setdefault(("fill", (), False), _Bytes())
        for name, size in left.items():
            if size:
                fill.add(name, *self._cost(name, size))
        for name, flash, ram in self._gaps():
            fill.add(name, flash, ram)
        order = ("network", "runtime", "library", "program", "fill")
        for (kind, names, program), held in sorted(
            found.items(), key=lambda item: (order.index(item[0][0]), item[0][2], len(item[0][1]))
        ):
            pieces = tuple(self._piece(kind, name, *sizes) for name, sizes in held.pieces.items())
            yield ImagePart(kind, names, program, held.flash, held.ram, pieces)

    def _owner(self, piece: LinkedPiece) -> tuple[tuple[str, tuple[str, ...], bool], str]:
        """The part that a piece belongs to, and the piece's name in it."""
        if held := _WORKSPACE.match(piece.section):
            fitting = [n for n in self.networks if f"{held[1]}_".startswith(f"{n}_")]
            if fitting:
                return ("network", (max(fitting, key=len),), False), piece.section
        owners = tuple(name for name, file in self.networks.items() if file == piece.file)
        if owners:
            return ("network", owners, False), piece.section
        if piece.file in self.runtime:
            return ("runtime", tuple(self.networks), False), _short(piece.file)
        if _is_library(piece.file):
            return ("library", *self.users.get(piece.file, ((), True))), piece.file
        if piece.file == "linker stubs":
            return ("fill", (), False), piece.output
        return ("program", (), True), _short(piece.file)

    def _piece(self, kind: str, name: str, flash: int, ram: int) -> PartPiece:
        if kind != "library":
            return PartPiece(name, flash, ram)
        by, symbol = self.link.included.get(name, ("", ""))
        return PartPiece(_short(name), flash, ram, symbol, _short(by))

    def _cost(self, output: str, size: int) -> tuple[int, int]:
        """The bytes of flash and of RAM that so many of an output section take."""
        section = self.sections[output]
        if section.type == "SHT_NOBITS":
            return 0, size
        is_data = section.writable and section.type == "SHT_PROGBITS"
        return size, size if is_data or self._is_copied(section) else 0

    def _gaps(self) -> Iterator[tuple[str, int, int]]:
        """The bytes in front of sections that their alignment takes, of flash and of RAM."""
        costs = {name: self._cost(name, section.size) for name, section in self.sections.items()}
        for memory in (_FLASH, _RAM):
            held = (self.sections[name] for name, cost in costs.items() if cost[memory])
            end = 0
            for at, section in sorted(
                (self._load_address(s) if memory == _FLASH else s.address, s) for s in held
            ):
                gap = at - end
                if end and 0 < gap < section.alignment:
                    yield section.name, *((gap, 0) if memory == _FLASH else (0, gap))
                end = at + section.size

    def _is_copied(self, section: Section) -> bool:
        """Whether it runs elsewhere than it is loaded: the start-up copies it to RAM."""
        return self._load_address(section) != section.address

    def _load_address(self, section: Section) -> int:
        for segment in self.elf.segments:
            inside = section.address - segment.address
            if segment.loaded and 0 <= inside < segment.size:
                return segment.load_address + inside
        return section.address

    def _all_users(self) -> dict[str, tuple[tuple[str, ...], bool]]:
        """Of each file the networks that need it, directly or not, and whether the program does."""
        references = self.link.references or {}
        ends = {file for file in references if file not in self.runtime and not _is_library(file)}
        reached = {name: _reached([file], references, ends) for name, file in self.networks.items()}
        program = _reached(list(ends - set(self.networks.values())), references, ends)
        return {
            file: (tuple(name for name in reached if file in reached[name]), file in program)
            for file in program.union(*reached.values())
        }

    def _first_users(self) -> dict[str, tuple[tuple[str, ...], bool]]:
        """The same of who asked first; for the runtime asked all networks."""
        return {file: self._first_user(file) for file in self.link.included}

    def _first_user(self, file: str) -> tuple[tuple[str, ...], bool]:
        seen: set[str] = set()
        while _is_library(file) and file in self.link.included and file not in seen:
            seen.add(file)
            file = self.link.included[file][0]
        if file in self.runtime:
            return tuple(self.networks), False
        names = tuple(name for name, own in self.networks.items() if own == file)
        return names, not names


def _reached(
    start: list[str], references: Mapping[str, frozenset[str]], ends: set[str]
) -> set[str]:
    """The files that these refer to, directly or not; `ends` are not gone through."""
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        more = references.get(waiting.pop(), frozenset()) - found - ends
        found |= more
        waiting += more
    return found


def _is_library(file: str) -> bool:
    return _LIBRARY.match(_short(file)) is not None


def _short(file: str) -> str:
    """A file's name without its folders: `main.o`, `libm.a(expf.o)`."""
    archive, bracket, member = file.partition("(")
    return f"{PurePosixPath(archive).name}{bracket}{member}"
