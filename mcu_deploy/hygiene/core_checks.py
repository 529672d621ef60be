"""Whether a core can run an object: by its build attributes and by its instructions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from mcu_deploy.backends.isa.table import Feature, needed_features
from mcu_deploy.elf.disassembly import CodeRange, Disassembled, code_ranges, disassemble
from mcu_deploy.elf.reader import Elf, Section
from mcu_deploy.hygiene.attributes import Attributes
from mcu_deploy.hygiene.features import (
    ARCHITECTURES,
    FEATURE_NAMES,
    CheckedCore,
    architecture_title,
)
from mcu_deploy.hygiene.findings import Finding, LinkUnit, listed, printable

_FLOATING_POINT = Feature.FPU | Feature.FP_REGISTERS | Feature.HALF


@dataclass
class _Uses:
    """The first instruction that breaks a rule, and how many there are."""

    first: Disassembled
    piece: CodeRange
    count: int = 0

    @property
    def place(self) -> str:
        offset = self.piece.offset + self.first.address - self.piece.address
        return f"{self.piece.section.name}+0x{offset:x}"

    @property
    def more(self) -> str:
        return f" (and {self.count - 1} more like it)" if self.count > 1 else ""


@dataclass
class Disassembly:
    """What the code of one object asks of a core."""

    instructions: int = 0
    floating_point: bool = False
    lacking: dict[Feature, _Uses] = field(default_factory=dict)
    unknown: _Uses | None = None
    a32: list[Section] = field(default_factory=list)
    unmapped: list[Section] = field(default_factory=list)


def disassemble_units(units: Sequence[tuple[LinkUnit, CheckedCore | None]]) -> list[Disassembly]:
    """Disassembles the code of Arm objects, all in one go, each against its core.

    An object without a core is only looked at for instructions that nobody knows.
    """
    results = [Disassembly() for _ in units]
    pieces: list[CodeRange] = []
    owners: dict[int, int] = {}
    for number, (unit, _) in enumerate(units):
        if not unit.elf.is_arm or not unit.elf.little_endian:
            continue
        ranges, results[number].unmapped = code_ranges(unit.elf)
        results[number].a32 = [piece.section for piece in ranges if piece.state == "a"]
        thumb = [piece for piece in ranges if piece.state == "t"]
        owners |= {id(piece): number for piece in thumb}
        pieces += thumb
    known = cache(needed_features)
    for piece, instruction in disassemble(pieces):
        number = owners[id(piece)]
        _note(results[number], instruction, piece, units[number][1], known)
    return results


def _note(
    result: Disassembly,
    instruction: Disassembled,
    piece: CodeRange,
    core: CheckedCore | None,
    known: Callable[[str, str, bool], Feature],
) -> None:
    result.instructions += 1
    if not instruction.mnemonic:
        result.unknown = result.unknown or _Uses(instruction, piece)
        result.unknown.count += 1
        return
    # Operands matter for what starts with v only; leaving them out makes the table short.
    operands = instruction.operands if instruction.mnemonic[0] == "v" else ""
    needs = known(instruction.mnemonic, operands, instruction.size > 2)
    result.floating_point |= bool(needs & _FLOATING_POINT)
    if core is None:
        return
    for feature in needs & ~core.features:
        uses = result.lacking.setdefault(feature, _Uses(instruction, piece))
        uses.count += 1


def check_instructions(
    unit: LinkUnit, core: CheckedCore | None, code: Disassembly
) -> Iterator[Finding]:
    """Findings about the instructions of an object."""
    for feature, uses in code.lacking.items():
        function = _function(unit.elf, uses)
        message = (
            f"At {uses.place} in {printable(function)} is {uses.first.mnemonic.upper()}{uses.more},"
            f" which needs {FEATURE_NAMES[feature]}; {_lacks(feature, core)}."
        )
        yield unit.finding("instruction", message, function)
    if code.unknown is not None:
        uses = code.unknown
        function = _function(unit.elf, uses)
        encoding = uses.first.encoding.replace(" ", "")
        message = (
            f"At {uses.place} in {printable(function)} is 0x{encoding}{uses.more}, which no"
            " Cortex-M instruction has as its encoding."
        )
        yield unit.finding("unknown-instruction", message, function)
    if code.a32:
        names = sorted({printable(section.name) for section in code.a32})
        message = (
            f"{listed(names)} holds code of the A32 (Arm) state, and Cortex-M runs Thumb only."
        )
        yield unit.finding("arm-state", message, names[0])


def check_attributes(
    unit: LinkUnit, attributes: Attributes, core: CheckedCore, floating_point: bool
) -> Iterator[Finding]:
    """Findings about an object's build attributes, compared with a board's core.

    floating_point: whether the object has FPU instructions. Attributes tell what the compiler was
    allowed to use; an object without any FPU instruction runs whatever its FPU attribute says, so
    integer code made for a Cortex-M7 fits a Cortex-M4.
    """
    title, architecture = core.title, architecture_title(core.architecture)
    if not attributes.m_profile:
        if unit.elf.linked or unit.elf.has_code:
            message = f"It is built for {attributes.architecture}, and {title} is {architecture}."
            yield unit.finding("cpu-architecture", message)
        return
    inherent = ARCHITECTURES[attributes.architecture]
    lacking = attributes.features() & ~core.features
    if inherent & ~core.features:
        own = architecture_title(attributes.architecture)
        message = f"It is built for {own}, and {title} is {architecture}."
        yield unit.finding("cpu-architecture", message)
    if floating_point and attributes.has_fpu:
        reasons = [
            FEATURE_NAMES[feature]
            for feature in (Feature.FPU, Feature.FPV5, Feature.DOUBLE)
            if feature in lacking
        ]
        if reasons:
            message = (
                f"It is built for {attributes.fp_name} and has floating point instructions: that"
                f" takes {listed(reasons)}, and {title} lacks it."
            )
            yield unit.finding("fpu", message)
    for feature, rule in ((Feature.MVE, "mve"), (Feature.DSP, "dsp")):
        if feature in lacking & ~inherent:
            message = f"It is built with {FEATURE_NAMES[feature]}, and {title} lacks it."
            yield unit.finding(rule, message)
    hard = attributes.hard_float
    if hard is not None and core.hard_float is not None and hard != core.hard_float:
        mine, theirs = ("hard", "soft") if hard else ("soft", "hard")
        message = (
            f"It passes floats the {mine}-float way, and the board's code the {theirs}-float way;"
            " the linker refuses to join them."
        )
        yield unit.finding("float-abi", message)


def check_unmapped(unit: LinkUnit, code: Disassembly) -> list[Finding]:
    """A network whose code cannot be told from its data cannot be checked."""
    if not code.unmapped:
        return []
    name = printable(code.unmapped[0].name)
    message = (
        f"Section {name} has no mapping symbols ($t, $d), so its instructions cannot be checked."
    )
    return [unit.finding("no-mapping-symbols", message, name)]


def _function(elf: Elf, uses: _Uses) -> str:
    """The name of the function that an instruction lies in, or of its section."""
    section = uses.piece.section
    best, at = section.name, -1
    for symbol in elf.symbols:
        if symbol.section == section.index and symbol.type == "STT_FUNC":
            start = symbol.value & ~1
            if at < start <= uses.first.address:
                best, at = symbol.name, start
    return best


def _lacks(feature: Feature, core: CheckedCore | None) -> str:
    if feature is Feature.NOT_M:
        return "no Cortex-M core has it"
    if core is None or not core.board:
        return "the object's own build attributes do not promise that"
    return f"{core.title} lacks that"
