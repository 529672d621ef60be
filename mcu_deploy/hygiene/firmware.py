"""The networks inside of a file: which symbols and bytes are theirs, section by section."""

from __future__ import annotations

from mcu_deploy.hygiene.findings import ModelMap
from mcu_deploy.hygiene.objects import Elf, Symbol
from mcu_deploy.hygiene.symbols import descriptors, read_abi_version


def map_models(elf: Elf) -> tuple[ModelMap, ...]:
    """The map of every network in an object or a linked image.

    A symbol belongs to the network whose prefix `_mcu_<name>_` fits it and is longest (a network
    `kws` may stand beside a `kws_2`). Sizes are those of the symbol table, in bytes; a symbol that
    two names share (as identical code folding makes) is counted once, since only sizes at distinct
    addresses of a section are added.
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
    return tuple(
        ModelMap(name, read_abi_version(elf, symbol), _sections(elf, owned[name]), len(owned[name]))
        for name, symbol in found
    )


def _sections(elf: Elf, symbols: list[Symbol]) -> tuple[tuple[str, int, bool], ...]:
    sizes: dict[int, dict[int, int]] = {}
    for symbol in symbols:
        section = elf.section_of(symbol)
        if section is not None:
            places = sizes.setdefault(section.index, {})
            places[symbol.value] = max(places.get(symbol.value, 0), symbol.size)
    return tuple(
        (section.name, sum(sizes[section.index].values()), section.writable)
        for section in elf.sections
        if section.index in sizes and section.allocated
    )
