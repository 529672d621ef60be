"""Whether a core can run an object: by its build attributes and by its instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mcu_deploy.elf.reader import Elf, Section, Unit
from mcu_deploy.hygiene.attributes import Attributes
from mcu_deploy.hygiene.features import (
    ARCHITECTURES,
    FEATURE_NAMES,
    Core,
    Feature,
    architecture_title,
)
from mcu_deploy.hygiene.findings import Finding, listed, printable
from mcu_deploy.hygiene.instructions import (
    CodeRange,
    Instruction,
    code_ranges,
    disassemble,
    needed_features,
)

_FLOATING_POINT = Feature.FPU | Feature.FP_REGISTERS | Feature.HALF


@dataclass
class _Uses:
    """The first instruction that breaks a rule, and how many there are."""

    first: Instruction
    section: Section
    count: int = 0


@dataclass
class Disassembly:
    """What the code of one object asks of a core."""

    instructions: int = 0
    floating_point: bool = False
    lacking: dict[Feature, _Uses] = field(default_factory=dict)
    unknown: _Uses | None = None
    a32: list[Section] = field(default_factory=list)
    unmapped: list[Section] = field(default_factory=list)


def disassemble_units(units: Sequence[tuple[Unit, Core | None]]) -> list[Disassembly]:
    """Disassembles the code of Arm objects, all in one go, each against its core.

    An object without a core is only looked at for instructions that nobody knows.
    """
    results = [Disassembly() for _ in units]
    pieces: list[CodeRange] = []
    owners: list[int] = []
    for number, (unit, _) in enumerate(units):
        if not unit.elf.is_arm or not unit.elf.little_endian:
            continue
        ranges, results[number].unmapped = code_ranges(unit.elf)
        for piece in ranges:
            if piece.state == "a":
                results[number].a32.append(piece.section)
            else:
                pieces.append(piece)
                owners.append(number)
    known: dict[tuple[str, str, bool], Feature] = {}
    for instruction in disassemble(pieces):
        number = owners[instruction.range]
        _note(
            results[number],
            instruction,
            pieces[instruction.range].section,
            units[number][1],
            known,
        )
    return results


def _note(
    result: Disassembly,
    instruction: Instruction,
    section: Section,
    core: Core | None,
    known: dict[tuple[str, str, bool], Feature],
) -> None:
    result.instructions += 1
    if not instruction.mnemonic:
        result.unknown = result.unknown or _Uses(instruction, section)
        result.unknown.count += 1
        return
    # Operands matter for what starts with v only; leaving them out makes the table short.
    operands = instruction.operands if instruction.mnemonic[0] == "v" else ""
    wide = len(instruction.encoding) > 4
    key = (instruction.mnemonic, operands, wide)
    if key not in known:
        known[key] = needed_features(*key)
    needs = known[key]
    result.floating_point |= bool(needs & _FLOATING_POINT)
    if core is None:
        return
    for feature in needs & ~core.features:
        uses = result.lacking.setdefault(feature, _Uses(instruction, section))
        uses.count += 1


def check_instructions(unit: Unit, core: Core | None, code: Disassembly) -> list[Finding]:
    """Findings about the instructions of an object."""
    found = []
    for feature, uses in code.lacking.items():
        found.append(
            _finding(
                unit,
                "instruction",
                _function(unit.elf, uses),
                f"{_where(unit.elf, uses)} is {uses.first.mnemonic.upper()}{_more(uses)}, which"
                f" needs {FEATURE_NAMES[feature]}; {_lacks(feature, core)}.",
                "Compile for this core (mcu-deploy build --board).",
            )
        )
    if code.unknown is not None:
        found.append(
            _finding(
                unit,
                "unknown-instruction",
                _function(unit.elf, code.unknown),
                f"{_where(unit.elf, code.unknown)} is {code.unknown.first.text}"
                f"{_more(code.unknown)}, which no Cortex-M instruction has as its encoding.",
                "Look for data among the code, `.inst` directives or damage, and build it again.",
            )
        )
    if code.a32:
        names = sorted({printable(section.name) for section in code.a32})
        found.append(
            _finding(
                unit,
                "arm-state",
                names[0],
                f"{listed(names)} holds code of the A32 (Arm) state, and Cortex-M runs Thumb only.",
                "Compile with -mthumb and the core's -mcpu.",
            )
        )
    return found


def check_attributes(
    unit: Unit, attributes: Attributes, core: Core, floating_point: bool
) -> list[Finding]:
    """Findings about an object's build attributes, compared with a board's core.

    floating_point: whether the object has FPU instructions. Attributes tell what the compiler was
    allowed to use; an object without any FPU instruction runs whatever its FPU attribute says, so
    integer code made for a Cortex-M7 fits a Cortex-M4.
    """
    found = []
    own, title = attributes.features(), core.title
    if not attributes.m_profile:
        if not unit.elf.linked and not any(section.code for section in unit.elf.sections):
            return []
        return [
            _clash(
                unit,
                "cpu-architecture",
                f"It is built for {attributes.architecture}, and {title} is"
                f" {architecture_title(core.architecture)}.",
            )
        ]
    if ARCHITECTURES[attributes.architecture] & ~core.features:
        found.append(
            _clash(
                unit,
                "cpu-architecture",
                f"It is built for {architecture_title(attributes.architecture)}, and {title} is"
                f" {architecture_title(core.architecture)}.",
            )
        )
    if floating_point and attributes.has_fpu:
        lacking = own & ~core.features
        reasons = [
            FEATURE_NAMES[feature]
            for feature in (Feature.FPU, Feature.FPV5, Feature.DOUBLE)
            if feature in lacking
        ]
        if reasons:
            found.append(
                _clash(
                    unit,
                    "fpu",
                    f"It is built for {attributes.fp_name} and has floating point instructions:"
                    f" that takes {listed(reasons)}, and {title} lacks it.",
                )
            )
    for feature, rule in ((Feature.MVE, "mve"), (Feature.DSP, "dsp")):
        inherent = ARCHITECTURES[attributes.architecture]
        if feature in own & ~core.features & ~inherent:
            found.append(
                _clash(
                    unit,
                    rule,
                    f"It is built with {FEATURE_NAMES[feature]}, and {title} lacks it.",
                )
            )
    hard = attributes.hard_float
    if hard is not None and core.hard_float is not None and hard != core.hard_float:
        mine, theirs = ("hard", "soft") if hard else ("soft", "hard")
        found.append(
            _clash(
                unit,
                "float-abi",
                f"It passes floats the {mine}-float way, and the board's code the {theirs}-float"
                " way; the linker refuses to join them.",
            )
        )
    return found


def check_unmapped(unit: Unit, code: Disassembly) -> list[Finding]:
    """A network whose code cannot be told from its data cannot be checked."""
    if not code.unmapped:
        return []
    name = printable(code.unmapped[0].name)
    return [
        _finding(
            unit,
            "no-mapping-symbols",
            name,
            f"Section {name} has no mapping symbols ($t, $d), so its instructions cannot be"
            " checked.",
            "Do not strip the object.",
        )
    ]


def _function(elf: Elf, uses: _Uses) -> str:
    """The name of the function that an instruction lies in, or of its section."""
    best, at = None, -1
    for symbol in elf.symbols:
        if symbol.section == uses.section.index and symbol.type == "STT_FUNC":
            start = elf.offset_in_section(symbol, uses.section) & ~1
            if at < start <= uses.first.offset:
                best, at = symbol.name, start
    return best if best is not None else uses.section.name


def _where(elf: Elf, uses: _Uses) -> str:
    return f"At {uses.section.name}+0x{uses.first.offset:x} in {printable(_function(elf, uses))}"


def _lacks(feature: Feature, core: Core | None) -> str:
    if feature is Feature.NOT_M:
        return "no Cortex-M core has it"
    if core is None or not core.board:
        return "the object's own build attributes do not promise that"
    return f"{core.title} lacks that"


def _more(uses: _Uses) -> str:
    if uses.count < 2:
        return ""
    return f" (and {uses.count - 1} more like it)"


def _clash(unit: Unit, rule: str, message: str) -> Finding:
    return _finding(unit, rule, "", message, "Build it for this board (mcu-deploy build --board).")


def _finding(unit: Unit, rule: str, symbol: str, message: str, remedy: str) -> Finding:
    return Finding(rule, unit.file, message, remedy, unit.member, printable(symbol))
