"""Objects for link-time optimisation: what they define, of which their own symbols say nothing."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from mcu_deploy.elf.reader import Elf
from mcu_deploy.hygiene.symbols import DESCRIPTOR_PREFIX, descriptors

_GCC, _LLVM = ".gnu.lto_", ".llvm.lto"
# gcc writes a table of symbols for the linker's plugin (gcc/lto-streamer-out.cc, write_symbol):
# name and comdat group, each with a NUL, kind, visibility, size, slot. Kinds: include/plugin-api.h.
_GCC_SYMBOLS = ".gnu.lto_.symtab."
_GCC_REST = struct.Struct("<BBQI")
_UNDEFINED = (2, 3)


def is_lto(elf: Elf) -> bool:
    """Whether the linker compiles an object anew."""
    return any(section.name.startswith((_GCC, _LLVM)) for section in elf.sections)


def may_be_network(elf: Elf) -> bool:
    """Whether such an object defines a network's descriptor, or does not say what it defines."""
    tables = [s for s in elf.sections if s.name.startswith(_GCC_SYMBOLS)]
    if not tables and any(s.name.startswith(_GCC) for s in elf.sections):
        return True
    try:
        names = [n for t in tables for n in _defined(elf.data[t.offset : t.offset + t.size])]
    except (ValueError, struct.error):
        return True
    return bool(descriptors(elf)) or any(n.startswith(DESCRIPTOR_PREFIX) for n in names)


def _defined(table: bytes) -> Iterator[str]:
    """The names that a table of gcc's defines. ValueError, struct.error where it is damaged."""
    at = 0
    while at < len(table):
        end = table.index(b"\0", at)
        rest = table.index(b"\0", end + 1) + 1
        if _GCC_REST.unpack_from(table, rest)[0] not in _UNDEFINED:
            yield table[at:end].decode("utf-8", "replace")
        at = rest + _GCC_REST.size
