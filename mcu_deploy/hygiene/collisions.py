"""What goes wrong when several objects are linked together: they are compared before the link,
since the linker merges build attributes silently."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from mcu_deploy.elf.reader import SHF_GROUP, Symbol, Unit
from mcu_deploy.hygiene.attributes import Attributes
from mcu_deploy.hygiene.features import Feature, features_title
from mcu_deploy.hygiene.findings import Finding, escaped, listed, printable
from mcu_deploy.hygiene.symbols import DESCRIPTOR_PREFIX, descriptors, read_abi_version

_MOST_SYMBOLS = 100

# An object of an Arm machine, with its attributes where it has any.
Piece = tuple[Unit, Attributes | None]


def check_collisions(pieces: Sequence[Piece]) -> list[Finding]:
    """Findings about objects that do not fit together. Linked images must not be among them."""
    units = [unit for unit, _ in pieces]
    return [
        *_duplicates(units),
        *_machines(units),
        *_abi_versions(units),
        *_clashes(pieces),
        *_cores(pieces),
    ]


def _duplicates(units: Sequence[Unit]) -> Iterator[Finding]:
    strong: dict[str, list[Unit]] = {}
    common: dict[str, list[Unit]] = {}
    for unit in units:
        for symbol in unit.elf.symbols:
            if symbol.exported and symbol.bind == "STB_GLOBAL" and not _folded(unit, symbol):
                (common if symbol.common else strong).setdefault(symbol.name, []).append(unit)
    reported = 0
    for name, owners in strong.items():
        if len(owners) < 2:
            continue
        reported += 1
        if reported <= _MOST_SYMBOLS:
            yield _duplicate(name, owners)
    if reported > _MOST_SYMBOLS:
        yield Finding(
            "duplicate-symbol",
            units[0].file,
            f"{reported - _MOST_SYMBOLS} more symbols are exported more than once.",
            "Check fewer files at a time to see them.",
        )
    for name, owners in common.items():
        if len(owners) + len(strong.get(name, [])) > 1:
            everyone = _places([*owners, *strong.get(name, [])])
            yield Finding(
                "shared-common",
                owners[0].file,
                f"{printable(name)} is a common symbol in {everyone}: the linker silently makes"
                " one variable of them.",
                "Compile with -fno-common, and make it static in one of them.",
                owners[0].member,
                printable(name),
            )


def _folded(unit: Unit, symbol: Symbol) -> bool:
    """Whether the linker keeps one copy of equal definitions (C++ inline functions)."""
    section = unit.elf.section_of(symbol)
    return section is not None and bool(section.flags & SHF_GROUP)


def _duplicate(name: str, owners: list[Unit]) -> Finding:
    shown, place = printable(name), owners[0]
    if name.startswith(DESCRIPTOR_PREFIX):
        model = printable(name.removeprefix(DESCRIPTOR_PREFIX))
        return Finding(
            "duplicate-model",
            place.file,
            f"The model name {model} is used by {_places(owners)}.",
            "Build one of them with another --name.",
            place.member,
            shown,
        )
    return Finding(
        "duplicate-symbol",
        place.file,
        f"{shown} is exported by {_places(owners)}: the linker refuses to join them.",
        "Make it static in all but one of them, or rename it.",
        place.member,
        shown,
    )


def _machines(units: Sequence[Unit]) -> Iterator[Finding]:
    yield from _group(
        units,
        lambda unit: (unit.elf.machine, unit.elf.bits, unit.elf.little_endian),
        "machine-clash",
        "are for different machines",
        lambda key: (
            f"{key[0].removeprefix('EM_')} {key[1]}-bit {'little' if key[2] else 'big'}-endian"
        ),
        "Build all of them for one board.",
    )


def _abi_versions(units: Sequence[Unit]) -> Iterator[Finding]:
    networks = []
    versions: dict[str, int] = {}
    for unit in units:
        for _, symbol in descriptors(unit.elf)[:1]:
            version = read_abi_version(unit.elf, symbol)
            if version is not None:
                networks.append(unit)
                versions[unit.place] = version
    yield from _group(
        networks,
        lambda unit: versions[unit.place],
        "abi-version-clash",
        "have descriptors of different ABI versions",
        lambda key: f"version {key}",
        "Build all of them with one version of mcu-deploy.",
    )


def _clashes(pieces: Sequence[Piece]) -> Iterator[Finding]:
    found = {unit.place: attributes for unit, attributes in pieces if attributes is not None}
    units = [unit for unit, attributes in pieces if attributes is not None]
    yield from _group(
        units,
        lambda unit: found[unit.place].hard_float,
        "float-abi-clash",
        "pass floats in different ways; the linker refuses to join them",
        lambda key: "hard-float" if key else "soft-float",
        "Compile all of them with the same -mfloat-abi.",
    )
    yield from _group(
        units,
        lambda unit: found[unit.place].enum_bytes,
        "enum-size-clash",
        "disagree about the size of an enum",
        lambda key: "as small as fits" if key == "short" else "an int",
        "Compile all of them with -fshort-enums, or all with -fno-short-enums.",
    )
    yield from _group(
        units,
        lambda unit: found[unit.place].wchar_bytes,
        "wchar-size-clash",
        "disagree about the size of wchar_t",
        lambda key: f"{key} bytes",
        "Compile all of them with -fshort-wchar, or all with -fno-short-wchar.",
    )


def _cores(pieces: Sequence[Piece]) -> Iterator[Finding]:
    """No object's own core runs all of them: for example Cortex-M4 and Cortex-M33 without DSP."""
    profiles: dict[str, str] = {}
    needs: dict[Feature, tuple[Unit, Attributes]] = {}
    units = []
    for unit, attributes in pieces:
        if attributes is None or not any(section.code for section in unit.elf.sections):
            continue
        units.append(unit)
        profiles[unit.place] = "Cortex-M" if attributes.m_profile else attributes.architecture
        if attributes.m_profile:
            needs.setdefault(attributes.features(), (unit, attributes))
    mixed = list(
        _group(
            units,
            lambda unit: profiles[unit.place],
            "cpu-clash",
            "are for different processors",
            str,
            "Compile all of them for one core.",
        )
    )
    if mixed:
        yield from mixed
        return
    together = Feature(0)
    for features in needs:
        together |= features
    if needs and together not in needs:
        parts = [
            f"{unit.place} for {features_title(attributes.architecture, features)}"
            for features, (unit, attributes) in needs.items()
        ]
        first = next(iter(needs.values()))[0]
        yield Finding(
            "cpu-clash",
            first.file,
            f"No core that these objects are made for runs all of them: {listed(parts)}.",
            "Compile all of them for one core.",
            first.member,
        )


def _group(
    units: Sequence[Unit],
    key: Callable[[Unit], Hashable],
    rule: str,
    verb: str,
    describe: Callable[..., str],
    remedy: str,
) -> Iterator[Finding]:
    """One finding where the units' keys differ; a key of None fits everything."""
    groups: dict[Hashable, list[Unit]] = {}
    for unit in units:
        value = key(unit)
        if value is not None:
            groups.setdefault(value, []).append(unit)
    if len(groups) < 2:
        return
    parts = [f"{describe(value)}: {_places(members)}" for value, members in groups.items()]
    # The smallest group is most likely the odd one.
    odd = min(groups.values(), key=len)[0]
    yield Finding(rule, odd.file, f"The objects {verb}: {'; '.join(parts)}.", remedy, odd.member)


def _places(units: Sequence[Unit]) -> str:
    """The objects' names; many members of one archive are counted, not named."""
    members: dict[str, list[Unit]] = {}
    for unit in units:
        members.setdefault(unit.file, []).append(unit)
    names = []
    for file, inside in members.items():
        if len(inside) > 3:
            names.append(f"{len(inside)} members of {escaped(file)}")
        else:
            names += [escaped(unit.place) for unit in inside]
    return listed(names)
