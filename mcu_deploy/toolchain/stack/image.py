"""A linked ELF as the stack analysis sees it: functions, code, words, call frame information."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.dwarf.callframe import FDE
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import ARMAttributesSection, SymbolTableSection

from mcu_deploy.errors import ToolError
from mcu_deploy.toolchain.stack.effects import Instruction, disassemble

_SP = 13
_EXECINSTR = 0x4
_V8_1M_MAIN = 21  # Tag_CPU_arch of the ARM ABI's addenda: Armv8.1-M Mainline


@dataclass(frozen=True)
class Function:
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
class Image:
    """What was read from a linked ELF.

    `frames` holds, by a function's address, the largest CFA offset from SP in `.debug_frame`.
    """

    path: Path
    functions: tuple[Function, ...]
    instructions: dict[int, Instruction]
    frames: dict[int, int]
    segments: tuple[tuple[int, bytes], ...]
    objects: dict[str, int]

    def function_at(self, address: int) -> Function | None:
        """The function that holds `address` (without the Thumb bit)."""
        index = bisect.bisect_right(self.functions, address, key=lambda item: item.address) - 1
        if index >= 0 and address < self.functions[index].end:
            return self.functions[index]
        return None

    def entry_at(self, address: int) -> Function | None:
        """The function that begins at `address`."""
        function = self.function_at(address)
        return function if function is not None and function.address == address else None

    def find(self, name: str) -> tuple[Function, ...]:
        """All functions of that name: one, or several static ones."""
        return tuple(item for item in self.functions if name in item.names)

    def word(self, address: int) -> int | None:
        """The 32-bit word at `address`, where the ELF has bytes there."""
        for start, data in self.segments:
            if start <= address and address + 4 <= start + len(data):
                return int.from_bytes(data[address - start : address - start + 4], "little")
        return None


def read_image(elf: Path, *, objdump: str) -> Image:
    """Reads a linked 32-bit Arm ELF with its symbols. Raises ToolError for anything else."""
    try:
        with elf.open("rb") as stream:
            file = ELFFile(stream)
            if file["e_machine"] != "EM_ARM":
                raise ToolError(f"{elf.name} is no program for Arm; its stack cannot be read.")
            symbols = file.get_section_by_name(".symtab")
            if not isinstance(symbols, SymbolTableSection):
                raise ToolError(f"{elf.name} has no symbols; link it without -s.")
            code = [
                (section["sh_addr"], section["sh_addr"] + section["sh_size"])
                for section in file.iter_sections()
                if section["sh_flags"] & _EXECINSTR
            ]
            functions, objects = _read_symbols(symbols, code)
            frames = _read_debug_frame(file, {item.address for item in functions})
            segments = tuple(
                (segment["p_vaddr"], segment.data())
                for segment in file.iter_segments()
                if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]
            )
            machine = "armv8.1-m.main" if _architecture(file) == _V8_1M_MAIN else None
    except (ELFError, OSError) as error:
        raise ToolError(
            f"{elf} cannot be read as an ELF file ({error}); build it again."
        ) from error
    instructions: dict[int, Instruction] = {}
    for start, end in code:
        inside = [item for item in functions if start <= item.address < end]
        if inside:
            instructions |= disassemble(
                elf,
                inside[0].address,
                max(item.end for item in inside),
                machine=machine,
                objdump=objdump,
            )
    return Image(elf, functions, instructions, frames, segments, objects)


def _architecture(file: ELFFile) -> int | None:
    section = file.get_section_by_name(".ARM.attributes")
    if not isinstance(section, ARMAttributesSection):
        return None
    for subsection in section.iter_subsections():
        for group in subsection.iter_subsubsections():
            for attribute in group.iter_attributes("TAG_CPU_ARCH"):
                return int(attribute.value)
    return None


def _read_symbols(
    symbols: SymbolTableSection, code: Sequence[tuple[int, int]]
) -> tuple[tuple[Function, ...], dict[str, int]]:
    found: dict[int, list[tuple[bool, str, str, int]]] = {}
    objects: dict[str, int] = {}
    file = ""
    for symbol in symbols.iter_symbols():
        kind, address = symbol["st_info"]["type"], symbol["st_value"]
        if kind == "STT_FILE":
            file = symbol.name
        elif kind == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF":
            local = symbol["st_info"]["bind"] == "STB_LOCAL"
            entry = (local, symbol.name, file if local else "", symbol["st_size"])
            found.setdefault(address & ~1, []).append(entry)
        elif kind == "STT_OBJECT":
            objects[symbol.name] = address
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
            Function(address, end, tuple(name for _, name, _, _ in names), names[0][2])
        )
    return tuple(functions), objects


def _read_debug_frame(file: ELFFile, addresses: set[int]) -> dict[int, int]:
    """The deepest CFA of each function that `.debug_frame` describes relative to SP alone."""
    frames: dict[int, int] = {}
    if file.get_section_by_name(".debug_frame") is None:
        return frames
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
