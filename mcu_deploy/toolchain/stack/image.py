"""A linked ELF as the stack analysis sees it: functions, code, words, call frame information."""

from __future__ import annotations

import bisect
import functools
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.dwarf.callframe import FDE
from elftools.elf.elffile import ELFFile

from mcu_deploy.elf.disassembly import Disassembled, code_ranges, disassemble
from mcu_deploy.elf.reader import Elf, load_elf
from mcu_deploy.errors import ToolError

_SP = 13
_LABEL = re.compile(r"(?P<function>.+)\.to\d+")


@dataclass(frozen=True)
class ImageFunction:
    """A function of the image: all the names at one address; `file` for a static one, else ''.

    `end` is the address after its last byte.
    """

    address: int
    end: int
    names: tuple[str, ...]
    file: str

    @property
    def name(self) -> str:
        return self.names[0]


@dataclass(frozen=True)
class LinkedImage:
    """What was read from a linked ELF.

    `frames` holds, by a function's address, the largest CFA offset from SP in `.debug_frame`.
    `labels`: by a function's address, where it says that its computed jumps go: local symbols
    `<function>.to<number>`, as Assembly.target places them.
    """

    path: Path
    functions: tuple[ImageFunction, ...]
    instructions: dict[int, Disassembled]
    frames: dict[int, int]
    segments: tuple[tuple[int, bytes], ...]
    objects: dict[str, int]
    labels: dict[int, tuple[int, ...]]

    def function_at(self, address: int) -> ImageFunction | None:
        """The function that holds `address` (without the Thumb bit)."""
        index = bisect.bisect_right(self.functions, address, key=lambda item: item.address) - 1
        if index >= 0 and address < self.functions[index].end:
            return self.functions[index]
        return None

    def entry_at(self, address: int) -> ImageFunction | None:
        """The function that begins at `address`."""
        return self._entries.get(address)

    @functools.cached_property
    def _entries(self) -> dict[int, ImageFunction]:
        return {f.address: f for f in self.functions if f.address < f.end}

    def find(self, name: str) -> tuple[ImageFunction, ...]:
        """All functions of that name: one, or several static ones."""
        return tuple(item for item in self.functions if name in item.names)

    def word(self, address: int) -> int | None:
        """The 32-bit word at `address`, where the ELF has bytes there."""
        return self.number(address, 4)

    def number(self, address: int, width: int) -> int | None:
        """The number of so many bytes at `address`, where the ELF has bytes there."""
        for start, data in self.segments:
            if start <= address and address + width <= start + len(data):
                return int.from_bytes(data[address - start : address - start + width], "little")
        return None


def read_image(path: Path) -> LinkedImage:
    """Reads a linked 32-bit Arm ELF with its symbols. Raises ToolError for anything else."""
    elf = load_elf(path)
    if not elf.is_arm:
        raise ToolError(f"{path.name} is no program for Arm; its stack cannot be read.")
    if not elf.symbols:
        raise ToolError(f"{path.name} has no symbols; link it without -s.")
    functions, objects = _read_symbols(elf)
    try:
        frames = _read_debug_frame(elf, {item.address for item in functions})
    except ELFError as error:
        raise ToolError(
            f"{path} has damaged debug information ({error}); build it again."
        ) from error
    code = [piece for piece in code_ranges(elf)[0] if piece.state == "t"]
    return LinkedImage(
        path,
        functions,
        {instruction.address: instruction for _, instruction in disassemble(code)},
        frames,
        tuple((s.address, elf.data[s.offset :][: s.size]) for s in elf.segments if s.loaded),
        objects,
        _read_labels(elf, functions),
    )


def _read_labels(elf: Elf, functions: Iterable[ImageFunction]) -> dict[int, tuple[int, ...]]:
    """The labels that functions state: a name counts inside of the function that it names alone."""
    places: dict[str, set[int]] = {}
    for symbol in elf.symbols:
        found = _LABEL.fullmatch(symbol.name)
        if found is not None and symbol.type == "STT_NOTYPE" and symbol.bind == "STB_LOCAL":
            places.setdefault(found["function"], set()).add(symbol.value & ~1)
    stated = {}
    for function in functions:
        own = set().union(*(places.get(name, set()) for name in function.names))
        inside = sorted(at for at in own if function.address <= at < function.end)
        if inside:
            stated[function.address] = tuple(inside)
    return stated


def _read_symbols(elf: Elf) -> tuple[tuple[ImageFunction, ...], dict[str, int]]:
    code = [(s.address, s.address + s.size) for s in elf.sections if s.code]
    found: dict[int, list[tuple[bool, str, str, int]]] = {}
    objects: dict[str, int] = {}
    file = ""
    for symbol in elf.symbols:
        if symbol.type == "STT_FILE":
            file = symbol.name
        elif symbol.type == "STT_FUNC" and not symbol.undefined:
            local = symbol.bind == "STB_LOCAL"
            entry = (local, symbol.name, file if local else "", symbol.size)
            found.setdefault(symbol.value & ~1, []).append(entry)
        elif symbol.type == "STT_OBJECT":
            objects[symbol.name] = symbol.value
    functions = []
    starts = sorted(found)
    for index, address in enumerate(starts):
        names = sorted(found[address])
        size = max(size for *_, size in names)
        limit = next((end for start, end in code if start <= address < end), address + size)
        if index + 1 < len(starts):
            limit = min(limit, starts[index + 1])
        # Assembly functions may carry no size: they reach to the next function.
        end = min(limit, address + size) if size else limit
        functions.append(
            ImageFunction(address, end, tuple(name for _, name, _, _ in names), names[0][2])
        )
    return tuple(functions), objects


def _read_debug_frame(elf: Elf, addresses: set[int]) -> dict[int, int]:
    """The deepest CFA of each function that `.debug_frame` describes relative to SP alone."""
    frames: dict[int, int] = {}
    if all(section.name != ".debug_frame" for section in elf.sections):
        return frames
    file = ELFFile(io.BytesIO(elf.data))
    for entry in file.get_dwarf_info(relocate_dwarf_sections=False).CFI_entries():
        if not isinstance(entry, FDE):
            continue
        start = entry["initial_location"] & ~1
        # A function that the linker dropped leaves its description behind, at address 0.
        if start == 0 or start not in addresses:
            continue
        rules = [row["cfa"] for row in entry.get_decoded().table if row.get("cfa") is not None]
        if rules and all(rule.reg == _SP for rule in rules):
            frames[start] = max(frames.get(start, 0), *(rule.offset for rule in rules))
    return frames
