"""Reads ELF objects and images into plain values.

The bytes come from anywhere, so nothing in them is believed: every offset and size is compared
with the file before it is used, and whatever is wrong ends in `Unreadable`, a sentence.
pyelftools decodes the structures; its section classes are not used, since some of them loop over
counts that they read from the file.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from elftools.common.utils import struct_parse
from elftools.elf import enums
from elftools.elf.elffile import ELFFile

from mcu_deploy.errors import HygieneError, ToolError

SHF_WRITE = 0x1
SHF_ALLOC = 0x2
SHF_EXECINSTR = 0x4
SHF_GROUP = 0x200
SHF_TLS = 0x400

_ELF_HEADER_BYTES = {1: 52, 2: 64}
_SECTION_HEADER_BYTES = {1: 40, 2: 64}
_SYMBOL_FORM = {32: "IIIBBH", 64: "IBBHQQ"}  # Elf32_Sym, Elf64_Sym
# By the class of the file: where the program headers' place and number stand, their layout, and
# which of its numbers are offset, address, load address and size in the file.
_SEGMENTS = {32: ("<I", 28, 44, "<8I", (1, 2, 3, 4)), 64: ("<Q", 32, 56, "<2I6Q", (2, 3, 4, 5))}
_LOAD = 1
_BIND, _TYPE, _WHERE = (
    {number: name for name, number in table.items() if isinstance(number, int)}
    for table in (enums.ENUM_ST_INFO_BIND, enums.ENUM_ST_INFO_TYPE, enums.ENUM_ST_SHNDX)
)
_LONGEST_SYMBOL = 1 << 16
_MOST_NAMES = 1 << 26
_LARGEST_FILE = 1 << 30


class Unreadable(HygieneError):
    """The bytes are no usable object. `rule` is the finding's rule, `remedy` its remedy."""

    def __init__(self, rule: str, message: str, remedy: str) -> None:
        super().__init__(f"{message} {remedy}")
        self.rule = rule
        self.message = message
        self.remedy = remedy


@dataclass(frozen=True)
class Section:
    """A section header: type as pyelftools spells it (SHT_...), sizes, offsets and the alignment of
    its address in bytes."""

    index: int
    name: str
    type: str
    flags: int
    address: int
    offset: int
    size: int
    alignment: int = 1

    @property
    def allocated(self) -> bool:
        """Whether the section takes room on the target."""
        return bool(self.flags & SHF_ALLOC) and self.size > 0

    @property
    def writable(self) -> bool:
        """Whether the program may write to it."""
        return bool(self.flags & SHF_WRITE)

    @property
    def code(self) -> bool:
        """Whether it holds instructions."""
        return bool(self.flags & SHF_EXECINSTR) and self.type != "SHT_NOBITS"


@dataclass(frozen=True)
class Symbol:
    """A symbol: binding, type and section (a number, or SHN_...) as pyelftools spells them."""

    name: str
    value: int
    size: int
    bind: str
    type: str
    section: int | str

    @property
    def undefined(self) -> bool:
        return self.section == "SHN_UNDEF"

    @property
    def common(self) -> bool:
        return self.section == "SHN_COMMON" or self.type == "STT_COMMON"

    @property
    def exported(self) -> bool:
        """Defined here and visible to the linker."""
        return self.bind != "STB_LOCAL" and not self.undefined


@dataclass(frozen=True)
class Segment:
    """A program header: its bytes' place in the file, their address and load address, their size.

    loaded: whether they are put into memory (PT_LOAD)."""

    loaded: bool
    offset: int
    address: int
    load_address: int
    size: int


@dataclass(frozen=True)
class Elf:
    """One ELF file: `type` is "ET_REL" for an object, "ET_EXEC" or "ET_DYN" for an image."""

    machine: str
    type: str
    bits: int
    little_endian: bool
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    data: bytes = field(repr=False)

    @property
    def is_arm(self) -> bool:
        return self.machine == "EM_ARM"

    @property
    def linked(self) -> bool:
        return self.type != "ET_REL"

    @property
    def has_code(self) -> bool:
        return any(section.code for section in self.sections)

    @cached_property
    def _by_index(self) -> dict[int, Section]:
        return {section.index: section for section in self.sections}

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """What a linked image places in memory. Unreadable where the table is not in the file."""
        where, start, count, layout, fields = _SEGMENTS[self.bits]
        (first,) = struct.unpack_from(where, self.data, start)
        (number,) = struct.unpack_from("<H", self.data, count)
        each = struct.calcsize(layout)
        if first + number * each > len(self.data):
            raise truncated("The file ends inside of its table of segments.")
        rows = (struct.unpack_from(layout, self.data, first + i * each) for i in range(number))
        return tuple(Segment(row[0] == _LOAD, *(row[field] for field in fields)) for row in rows)

    def section_of(self, symbol: Symbol) -> Section | None:
        """The section that a symbol lives in; None for absolute, common and undefined ones."""
        if isinstance(symbol.section, int):
            return self._by_index.get(symbol.section)
        return None

    def offset_in_section(self, symbol: Symbol, section: Section) -> int:
        """Where in its section a symbol lies (images hold addresses, objects offsets)."""
        return symbol.value - section.address if self.linked else symbol.value

    def content(self, section: Section) -> bytes:
        """The section's bytes; empty where it has none in the file."""
        if section.type == "SHT_NOBITS":
            return b""
        return self.data[section.offset : section.offset + section.size]


def read_file(path: Path) -> bytes:
    """The bytes of a regular file, or Unreadable."""
    try:
        if not path.is_file():
            kinds = ("is a folder", path.is_dir()), ("is no regular file", path.exists())
            reason = next((kind for kind, it_is in kinds if it_is), "is not there")
            remedy = "Give object files, archives or an ELF image."
        elif path.stat().st_size > _LARGEST_FILE:
            reason = f"is larger than {_LARGEST_FILE >> 20} MiB"
            remedy = "Give object files for a microcontroller."
        else:
            return path.read_bytes()
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise Unreadable(
            "not-an-object", f"The file cannot be read: {said}.", "Check its name and its rights."
        ) from error
    raise Unreadable("not-an-object", f"{path} {reason}.", remedy)


def load_elf(path: Path) -> Elf:
    """An ELF file that a build has made. Raises ToolError where it is none, or is damaged."""
    try:
        return read_elf(read_file(path))
    except Unreadable as error:
        reason = error.message.removeprefix(f"{path} ").rstrip(".")
        raise ToolError(
            f"{path} cannot be read as an ELF file ({reason}); build it again."
        ) from error


def read_elf(data: bytes) -> Elf:
    """Decodes an ELF file. Raises Unreadable for anything that is not a whole, sound one."""
    if not data.startswith(b"\x7fELF"):
        raise _no_elf(data)
    elf_class = data[4] if len(data) > 4 else 1
    if elf_class not in _ELF_HEADER_BYTES or (len(data) > 5 and data[5] not in (1, 2)):
        raise _damaged("its identification bytes name no known class or byte order")
    if len(data) < _ELF_HEADER_BYTES[elf_class]:
        raise truncated("The file ends inside of its ELF header.")
    try:
        return _decode(data, elf_class)
    except Unreadable:
        raise
    except Exception as error:
        # pyelftools meets damage with many kinds of exception (ELFError, construct's own,
        # ValueError, IndexError ...); each means the same here.
        raise _damaged(f"its structures cannot be decoded ({type(error).__name__})") from error


def _decode(data: bytes, elf_class: int) -> Elf:
    size = _SECTION_HEADER_BYTES[elf_class]
    order = "little" if data[5] == 1 else "big"
    where = 32 if elf_class == 1 else 40
    start = int.from_bytes(data[where : where + elf_class * 4], order)  # type: ignore[arg-type]
    # Checked before ELFFile looks for the section names there.
    if start > len(data) - size:
        raise truncated("The file ends before its table of sections.")
    stream = io.BytesIO(data)
    elf = ELFFile(stream)
    header = elf.header
    if header["e_type"] not in ("ET_REL", "ET_EXEC", "ET_DYN"):
        raise _damaged(f"its type is {header['e_type']}, not an object or an image")
    if start == 0 or header["e_shentsize"] != size:
        raise _damaged("it has no usable table of sections")
    count = elf.num_sections()
    if start + count * size > len(data):
        raise truncated("The file ends inside of its table of sections.")
    raw = [struct_parse(elf.structs.Elf_Shdr, stream, start + i * size) for i in range(count)]
    held = [entry for entry in raw if entry["sh_type"] not in ("SHT_NOBITS", "SHT_NULL")]
    if any(entry["sh_offset"] + entry["sh_size"] > len(data) for entry in held):
        raise truncated("The file ends inside of a section.")
    # Sections that share bytes could make a small file expand to any size further on.
    if sum(entry["sh_size"] for entry in held) > len(data):
        raise _damaged("its sections overlap")
    strings = elf.get_shstrndx()
    if strings >= count:
        raise _damaged("its section names are missing")
    sections = tuple(
        Section(
            index=index,
            name=_string(data, raw[strings], entry["sh_name"]),
            type=str(entry["sh_type"]),
            flags=entry["sh_flags"],
            address=entry["sh_addr"],
            offset=entry["sh_offset"],
            size=entry["sh_size"],
            alignment=entry["sh_addralign"],
        )
        for index, entry in enumerate(raw)
        if index > 0
    )
    return Elf(
        machine=str(header["e_machine"]),
        type=header["e_type"],
        bits=elf.elfclass,
        little_endian=elf.little_endian,
        sections=sections,
        symbols=_symbols(data, elf, raw),
        data=data,
    )


def _symbols(data: bytes, elf: ELFFile, raw: list[dict[str, Any]]) -> tuple[Symbol, ...]:
    table = next((entry for entry in raw if entry["sh_type"] == "SHT_SYMTAB"), None)
    if table is None:
        return ()
    if table["sh_entsize"] != struct.calcsize(f"<{_SYMBOL_FORM[elf.elfclass]}") or table[
        "sh_link"
    ] >= len(raw):
        raise _damaged("its symbol table is malformed")
    names = raw[table["sh_link"]]
    if names["sh_type"] != "SHT_STRTAB":
        raise _damaged("its symbol table has no names")
    # By struct: for tables as long as an image's, pyelftools takes a tenth of a build's time.
    form = struct.Struct(("<" if elf.little_endian else ">") + _SYMBOL_FORM[elf.elfclass])
    start, count = table["sh_offset"] + form.size, table["sh_size"] // form.size - 1
    symbols, characters = [], 0
    for fields in form.iter_unpack(data[start : start + max(count, 0) * form.size]):
        if elf.elfclass == 32:
            at, value, size, info, _, where = fields
        else:
            at, info, _, where, value, size = fields
        name = _string(data, names, at)
        characters += len(name)
        if characters > _MOST_NAMES:
            raise _damaged("its symbols' names overlap")
        bind, type_ = _BIND.get(info >> 4, str(info >> 4)), _TYPE.get(info & 15, str(info & 15))
        section = _WHERE.get(where, where)
        symbols.append(Symbol(name, value, size, bind, type_, section))
    return tuple(symbols)


def _string(data: bytes, table: dict[str, Any], offset: int) -> str:
    start = table["sh_offset"] + offset
    limit = min(table["sh_offset"] + table["sh_size"], len(data), start + _LONGEST_SYMBOL)
    if table["sh_type"] == "SHT_NOBITS" or start >= limit:
        return ""
    end = data.find(b"\0", start, limit)
    return data[start : limit if end < 0 else end].decode("utf-8", "backslashreplace")


def _no_elf(data: bytes) -> Unreadable:
    if data.startswith((b"BC\xc0\xde", b"\xde\xc0\x17\x0b")):
        return Unreadable(
            "lto-object",
            "This is LLVM bitcode, an object for link-time optimisation: it is not usable, since"
            " it holds no machine code that could be checked.",
            "Compile it without -flto.",
        )
    what = "The file is empty." if not data else "This is no ELF file."
    return Unreadable(
        "not-an-object", what, "Give object files (.o), archives (.a) or an ELF image."
    )


def truncated(message: str) -> Unreadable:
    """The finding of a file that is cut off."""
    return Unreadable("truncated", message, "Copy or build the file again: it is cut off.")


def _damaged(reason: str) -> Unreadable:
    return Unreadable("damaged", f"The ELF file is damaged: {reason}.", "Build the file again.")
