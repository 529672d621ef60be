"""How many bytes of flash and RAM a network and an image take, read from the linked ELF.

A network's own size is measured on an image of nothing but it: the linker is told that
`mcu_instance_run` is the entry and that the descriptor is needed, and `--gc-sections` drops all
that these do not reach. What remains is the object, the members of the runtime, and the parts of
libc and libgcc that a run of this network needs; the start-up, the serial port and main() are not
there to be subtracted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.boards import Board, Processor
from mcu_deploy.elf.link_map import parse_link_map
from mcu_deploy.elf.reader import load_elf
from mcu_deploy.errors import ToolError
from mcu_deploy.toolchain.compiler import Toolchain, first_lines, writing
from mcu_deploy.toolchain.firmware import SourceSet
from mcu_deploy.toolchain.fit import MemoryUse
from mcu_deploy.toolchain.flags import runtime_flags

# Everything at address 0, section kinds apart; no board, so that a large network links too.
_SCRIPT = """\
SECTIONS
{
    .hot_code : { *(.text.mcu_hot) }
    .text : { *(.text .text.*) *(.glue_7 .glue_7t .vfp11_veneer .v4_bx) }
    .rodata : { *(.rodata .rodata.*) }
    .ARM.extab : { *(.ARM.extab*) }
    .ARM.exidx : { *(.ARM.exidx*) }
    .data : { *(.data .data.*) }
    .bss (NOLOAD) : { *(.bss .bss.*) *(COMMON) }
}
"""

_STRUCTS = """\
#include "mcu/runtime.h"
mcu_instance_t instance;
DLTensor tensor;
"""

# Code that is copied to RAM, as .data is (docs/backends.md, docs/memory.md): the sections that have
# it in objects and in images.
RAM_FUNCTIONS = (".ramfunc", ".text.mcu_hot", ".hot_code")
# What an image holds, of the sections that the linker kept.
_IN_FLASH = (".text", ".ramfunc", ".rodata", ".data", ".ARM.ex", ".eh_frame")


@dataclass(frozen=True)
class SectionSizes:
    """Bytes of an ELF's sections that are loaded: code, constants, data (both memories), bss."""

    code: int
    constants: int
    data: int
    bss: int

    @property
    def flash(self) -> int:
        return self.code + self.constants + self.data

    @property
    def ram(self) -> int:
        return self.data + self.bss


@dataclass(frozen=True)
class Structs:
    """The bytes of mcu_instance_t and of DLTensor: what a program holds of its own for each
    instance, and for each input and output of a run."""

    instance: int
    tensor: int


@dataclass(frozen=True)
class NetworkSizes:
    """A network and the runtime that it needs, in bytes: the report's flash_bytes and ram_bytes.

    flash_parts add up to flash_bytes: "constants" (the weights), "code", "runtime", "C library",
    and as "alignment" what the linker filled in. ram_bytes = arena_bytes + data_bytes (.data and
    .bss) + stack_bytes, which is of all cores that take part, + instance_bytes + tensors_bytes,
    which are structs that a caller holds."""

    flash_bytes: int
    flash_parts: Mapping[str, int]
    ram_bytes: int
    arena_bytes: int
    data_bytes: int
    stack_bytes: int
    instance_bytes: int
    tensors_bytes: int


@dataclass(frozen=True)
class FirmwareSizes:
    """An image: flash_bytes and ram_bytes (both stacks included), and each memory of the board."""

    flash_bytes: int
    ram_bytes: int
    memories: tuple[MemoryUse, ...]


def object_sizes(file: Path) -> SectionSizes:
    """The bytes of an object's or an image's sections. Raises ToolError for what is no ELF."""
    code = constants = data = bss = 0
    for section in load_elf(file).sections:
        if not section.allocated:
            continue
        if section.type == "SHT_NOBITS":
            bss += section.size
        elif section.code and section.name not in RAM_FUNCTIONS:
            code += section.size
        elif section.writable or section.name in RAM_FUNCTIONS:
            data += section.size
        else:
            constants += section.size
    return SectionSizes(code, constants, data, bss)


def link_network(board: Processor, directory: Path, network: Path, symbol: str) -> Path:
    """Links one network to an image of its own, obj/<network>.elf, which is to be measured.

    directory: the build folder with libmcu_crt.a. network: its object. symbol: its descriptor. On
    the host the C library is left out. Raises ToolError where the link fails."""
    directory = directory.resolve()
    toolchain = Toolchain.for_board(board)
    elf = directory / "obj" / f"{network.stem}.elf"
    options = ["-nostartfiles", "-Wl,--entry=mcu_instance_run", f"-Wl,--require-defined={symbol}"]
    script, libraries = None, ["-lm"]
    if board.is_host:
        options += ["-no-pie", "-static", "-nostdlib", "-Wl,--unresolved-symbols=ignore-all"]
        libraries = []
    else:
        script = directory / "obj" / "network.ld"
        with writing(script):
            script.write_text(_SCRIPT, encoding="utf-8")
    inputs = [network, directory / "libmcu_crt.a"]
    result = toolchain.link(
        inputs, elf, cwd=directory, script=script, options=options, libraries=libraries
    )
    if result.returncode != 0:
        raise ToolError(
            f"{network.name} does not link with the runtime: {first_lines(result.stderr)}"
        )
    return elf


def measure_network(
    image: Path, *, arena_bytes: int, stack_bytes: int, structs: Structs, tensors: int
) -> NetworkSizes:
    """Measures one network on the image that link_network gave.

    arena_bytes: its workspace; stack_bytes: its stack bound, the sum of those of all cores that
    take part. structs: of which a caller holds one instance and so many tensors."""
    total = object_sizes(image)
    parts = _flash_parts(image.with_suffix(".map"), image.with_suffix(".o").name, total)
    held = tensors * structs.tensor
    ram = arena_bytes + total.ram + stack_bytes + structs.instance + held
    return NetworkSizes(
        total.flash, parts, ram, arena_bytes, total.ram, stack_bytes, structs.instance, held
    )  # fmt: skip


def measure_structs(board: Processor, directory: Path) -> Structs:
    """Asks the board's compiler for the sizes; directory: the build folder.

    Raises ToolError where it fails."""
    folder = directory.resolve() / "obj"
    source = folder / "structs.c"
    with writing(source):
        folder.mkdir(parents=True, exist_ok=True)
        source.write_text(_STRUCTS, encoding="utf-8")
    alike = SourceSet("structs", folder, (source.name,), runtime_flags(board))
    (made,) = Toolchain.for_board(board).compile_set(alike, directory)
    sizes = {symbol.name: symbol.size for symbol in load_elf(made).symbols}
    return Structs(sizes["instance"], sizes["tensor"])


def _flash_parts(map_file: Path, network: str, total: SectionSizes) -> dict[str, int]:
    flash = dict.fromkeys(("constants", "code", "runtime", "C library"), 0)
    for piece in parse_link_map(map_file.read_text(encoding="utf-8", errors="replace")).pieces:
        section = piece.section
        if not section.startswith(_IN_FLASH):
            continue
        if piece.file == network:
            part = "code" if section.startswith((".text", *RAM_FUNCTIONS)) else "constants"
        else:
            part = "runtime" if "libmcu_crt.a(" in piece.file else "C library"
        flash[part] += piece.size
    return flash | {"alignment": total.flash - sum(flash.values())}


def measure_firmware(board: Board, elf: Path) -> FirmwareSizes:
    """What an image takes of each memory of its board, from the ELF's sections.

    A memory's use reaches from its start to the last byte in it, gaps for alignment included. On
    the host there are no memories, and the sizes are the sections'."""
    if board.is_host:
        sizes = object_sizes(elf)
        return FirmwareSizes(sizes.flash, sizes.ram, ())
    ends = {memory.name: memory.origin for memory in board.memories}
    for address, size in _extents(elf):
        for memory in board.memories:
            if memory.origin <= address < memory.end:
                ends[memory.name] = max(ends[memory.name], address + size)
    uses = tuple(
        MemoryUse(memory.name, memory.kind, ends[memory.name] - memory.origin, memory.size)
        for memory in board.memories
    )
    return FirmwareSizes(_sum(uses, "flash"), _sum(uses, "ram"), uses)


def _sum(uses: Sequence[MemoryUse], kind: str) -> int:
    return sum(use.used_bytes for use in uses if use.kind == kind)


def _extents(file: Path) -> list[tuple[int, int]]:
    """(address, size) of each loaded section, where it runs and where it is loaded from."""
    elf = load_elf(file)
    extents = [(section.address, section.size) for section in elf.sections if section.allocated]
    return extents + [(s.load_address, s.size) for s in elf.segments if s.loaded and s.size]
