"""The networks inside of a file: which symbols and bytes are theirs, section by section."""

from __future__ import annotations

from mcu_deploy.elf.reader import Elf, Symbol
from mcu_deploy.hygiene.findings import ModelMap
from mcu_deploy.hygiene.symbols import descriptors, read_abi_version, read_workspace_bytes


def map_models(elf: Elf) -> tuple[ModelMap, ...]:
    """The map of every network in an object or a linked image.

    A symbol belongs to the network whose prefix `_mcu_<name>_` fits it and is longest (a network
    `kws` may stand beside a `kws_2`). Sizes are in bytes. An object that exports nothing but one
    descriptor is the network's as a whole, as `size` counts it. Elsewhere a byte is the network's
    where a symbol covers it, however many do: a blob of weights and the arrays in it, two names of
    one function.
    """
    found = descriptors(elf)
    prefixes = {name: f"_mcu_{name}_" for name, _ in found}
    owned: dict[str, list[Symbol]] = {name: [symbol] for name, symbol in found}
    for symbol in elf.symbols:
        if symbol.bind != "STB_LOCAL":
            continue  # another network's descriptor, or `_mcu_run_begin` beside a network `run`
        fitting = [name for name, prefix in prefixes.items() if symbol.name.startswith(prefix)]
        if fitting:
            owned[max(fitting, key=len)].append(symbol)
    exported = sum(symbol.exported for symbol in elf.symbols)
    is_whole = not elf.linked and len(found) == exported == 1
    return tuple(
        ModelMap(
            name,
            read_abi_version(elf, symbol),
            read_workspace_bytes(elf, symbol),
            _whole_sections(elf) if is_whole else _covered(elf, owned[name]),
            len(owned[name]),
        )
        for name, symbol in found
    )


def _whole_sections(elf: Elf) -> tuple[tuple[str, int, bool], ...]:
    return tuple((s.name, s.size, s.writable) for s in elf.sections if s.allocated)


def _covered(elf: Elf, symbols: list[Symbol]) -> tuple[tuple[str, int, bool], ...]:
    """Of each section the bytes that symbols cover, each once."""
    sizes: dict[int, int] = {}
    ends: dict[int, int] = {}
    for symbol in sorted(symbols, key=lambda symbol: symbol.value):
        section = elf.section_of(symbol)
        if section is not None:
            end = symbol.value + symbol.size
            start = max(symbol.value, ends.get(section.index, 0))
            sizes[section.index] = sizes.get(section.index, 0) + max(0, end - start)
            ends[section.index] = max(end, ends.get(section.index, 0))
    return tuple(
        (section.name, sizes[section.index], section.writable)
        for section in elf.sections
        if section.index in sizes and section.allocated
    )
