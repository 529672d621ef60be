"""What goes wrong when several objects are linked together: they are compared before the link,
since the linker merges build attributes silently."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mcu_deploy.backends.isa.table import Feature
from mcu_deploy.elf.reader import SHF_GROUP, Symbol
from mcu_deploy.errors import escaped
from mcu_deploy.hygiene.attributes import Attributes
from mcu_deploy.hygiene.features import features_title
from mcu_deploy.hygiene.findings import Finding, LinkUnit, listed, printable
from mcu_deploy.hygiene.symbols import DESCRIPTOR_PREFIX, descriptors, read_abi_version

_MOST_SYMBOLS = 100

# An object of an Arm machine, with its attributes where it has any.
Piece = tuple[LinkUnit, Attributes | None]


def check_collisions(pieces: Sequence[Piece]) -> list[Finding]:
    """Findings about objects that do not fit together. Linked images must not be among them."""
    found, pieces = _without_copies(pieces)
    units = [unit for unit, _ in pieces]
    return [
        *found,
        *_duplicates(units),
        *_machines(units),
        *_abi_versions(units),
        *_clashes(pieces),
        *_cores(pieces),
    ]


def _without_copies(pieces: Sequence[Piece]) -> tuple[list[Finding], list[Piece]]:
    """Objects that are there twice, byte for byte, and all objects once.

    One finding, where each of their symbols would be another; none for members of archives alone,
    of which the linker takes the first."""
    copies: dict[bytes, list[Piece]] = {}
    for piece in pieces:
        copies.setdefault(piece[0].elf.data, []).append(piece)
    found = []
    for same in copies.values():
        units = [unit for unit, _ in same]
        names = [symbol.name for symbol in units[0].elf.symbols if symbol.exported]
        if len(units) > 1 and names and not all(unit.member for unit in units):
            message = f"This is one object, byte for byte: {_places(units)}."
            found.append(units[0].finding("same-object", message, names[0]))
    return found, [same[0] for same in copies.values()]


def _duplicates(units: Sequence[LinkUnit]) -> Iterator[Finding]:
    strong: dict[str, list[LinkUnit]] = {}
    common: dict[str, list[LinkUnit]] = {}
    for unit in units:
        for symbol in unit.elf.symbols:
            if symbol.exported and symbol.bind == "STB_GLOBAL" and not _folded(unit, symbol):
                (common if symbol.common else strong).setdefault(symbol.name, []).append(unit)
    twice = [(name, owners) for name, owners in strong.items() if len(owners) > 1]
    for name, owners in twice[:_MOST_SYMBOLS]:
        if name.startswith(DESCRIPTOR_PREFIX):
            model = printable(name.removeprefix(DESCRIPTOR_PREFIX))
            message = f"The model name {model} is used by {_places(owners)}."
            yield owners[0].finding("duplicate-model", message, name)
        else:
            message = (
                f"{printable(name)} is exported by {_places(owners)}: the linker refuses to join"
                " them."
            )
            yield owners[0].finding("duplicate-symbol", message, name)
    if len(twice) > _MOST_SYMBOLS:
        yield Finding(
            "duplicate-symbol",
            units[0].file,
            f"{len(twice) - _MOST_SYMBOLS} more symbols are exported more than once.",
            "Check fewer files at a time to see them.",
        )
    for name, owners in common.items():
        everyone = [*owners, *strong.get(name, [])]
        if len(everyone) > 1:
            message = (
                f"{printable(name)} is a common symbol in {_places(everyone)}: the linker silently"
                " makes one variable of them."
            )
            yield owners[0].finding("shared-common", message, name)


def _folded(unit: LinkUnit, symbol: Symbol) -> bool:
    """Whether the linker keeps one copy of equal definitions (C++ inline functions)."""
    section = unit.elf.section_of(symbol)
    return section is not None and bool(section.flags & SHF_GROUP)


def _machines(units: Sequence[LinkUnit]) -> Iterator[Finding]:
    def machine(unit: LinkUnit) -> str:
        order = "little" if unit.elf.little_endian else "big"
        return f"{unit.elf.machine.removeprefix('EM_')} {unit.elf.bits}-bit {order}-endian"

    yield from _group("machine-clash", "are for different machines", _by(units, machine))


def _abi_versions(units: Sequence[LinkUnit]) -> Iterator[Finding]:
    def version(unit: LinkUnit) -> str | None:
        for _, symbol in descriptors(unit.elf)[:1]:
            found = read_abi_version(unit.elf, symbol)
            return None if found is None else f"version {found >> 16}"
        return None

    verb = "have descriptors of different major ABI versions"
    yield from _group("abi-version-clash", verb, _by(units, version))


def _clashes(pieces: Sequence[Piece]) -> Iterator[Finding]:
    floats = {None: None, True: "hard-float", False: "soft-float"}
    enums = {None: None, "short": "as small as fits", "int": "an int"}
    keys: dict[str, tuple[str, Callable[[Attributes], str | None]]] = {
        "float-abi-clash": (
            "pass floats in different ways; the linker refuses to join them",
            lambda own: floats[own.hard_float],
        ),
        "enum-size-clash": (
            "disagree about the size of an enum",
            lambda own: enums[own.enum_bytes],
        ),
        "wchar-size-clash": (
            "disagree about the size of wchar_t",
            lambda own: f"{own.wchar_bytes} bytes" if own.wchar_bytes else None,
        ),
    }
    coded = [(unit, own.r9) for unit, own in pieces if own is not None and unit.elf.has_code]
    yield from _group("r9-clash", "take r9 for different things", coded)
    for rule, (verb, key) in keys.items():
        found = [(unit, key(own)) for unit, own in pieces if own is not None]
        yield from _group(rule, verb, found)


def _cores(pieces: Sequence[Piece]) -> Iterator[Finding]:
    """No object's own core runs all of them: for example Cortex-M4 and Cortex-M33 without DSP."""
    made_for = [(unit, own) for unit, own in pieces if own is not None and unit.elf.has_code]
    profiles = [(unit, "Cortex-M" if own.m_profile else own.architecture) for unit, own in made_for]
    mixed = list(_group("cpu-clash", "are for different processors", profiles))
    if mixed:
        yield from mixed
        return
    needs: dict[Feature, tuple[LinkUnit, Attributes]] = {}
    together = Feature(0)
    for unit, own in made_for:
        if own.m_profile:
            needs.setdefault(own.features(), (unit, own))
            together |= own.features()
    if needs and together not in needs:
        parts = [
            f"{unit.place} for {features_title(own.architecture, features)}"
            for features, (unit, own) in needs.items()
        ]
        message = f"No core that these objects are made for runs all of them: {listed(parts)}."
        yield next(iter(needs.values()))[0].finding("cpu-clash", message)


def _by(
    units: Sequence[LinkUnit], key: Callable[[LinkUnit], str | None]
) -> list[tuple[LinkUnit, str | None]]:
    return [(unit, key(unit)) for unit in units]


def _group(rule: str, verb: str, units: Sequence[tuple[LinkUnit, str | None]]) -> Iterator[Finding]:
    """One finding where the units' words differ; None fits everything."""
    groups: dict[str, list[LinkUnit]] = {}
    for unit, words in units:
        if words is not None:
            groups.setdefault(words, []).append(unit)
    if len(groups) > 1:
        parts = [f"{words}: {_places(members)}" for words, members in groups.items()]
        # The smallest group is most likely the odd one.
        odd = min(groups.values(), key=len)[0]
        yield odd.finding(rule, f"The objects {verb}: {'; '.join(parts)}.")


def _places(units: Sequence[LinkUnit]) -> str:
    """The objects' names; many members of one archive are counted, not named."""
    members: dict[str, list[LinkUnit]] = {}
    for unit in units:
        members.setdefault(unit.file, []).append(unit)
    names = []
    for file, inside in members.items():
        if len(inside) > 3:
            names.append(f"{len(inside)} members of {escaped(file)}")
        else:
            names += [escaped(unit.place) for unit in inside]
    return listed(names)
