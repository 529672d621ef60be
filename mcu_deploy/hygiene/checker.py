"""Puts the checks together: reads the files, checks each object, then all of them as a whole."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mcu_deploy.boards import Processor
from mcu_deploy.elf.archive import is_archive, read_archive
from mcu_deploy.elf.reader import Unreadable, read_elf, read_file
from mcu_deploy.errors import RequestError, escaped
from mcu_deploy.hygiene.attributes import Attributes, MalformedAttributes, read_attributes
from mcu_deploy.hygiene.collisions import check_collisions
from mcu_deploy.hygiene.core_checks import (
    Disassembly,
    check_attributes,
    check_instructions,
    check_unmapped,
    disassemble_units,
)
from mcu_deploy.hygiene.features import CheckedCore, core_of_board, features_title
from mcu_deploy.hygiene.findings import (
    CheckReport,
    FileReport,
    Finding,
    LinkUnit,
    listed,
    printable,
)
from mcu_deploy.hygiene.firmware import map_models
from mcu_deploy.hygiene.lto import is_lto, may_be_network
from mcu_deploy.hygiene.parts import divide, find_link_map
from mcu_deploy.hygiene.symbols import (
    Rules,
    check_abi_version,
    check_network,
    descriptors,
    load_rules,
)

_MACHINES = {"x86_64": "EM_X86_64", "amd64": "EM_X86_64", "aarch64": "EM_AARCH64"}


@dataclass
class _File:
    """A file on its way through the checks. lto: how many objects the linker will compile anew."""

    name: str
    archive: bool = False
    lto: int = 0
    units: list[LinkUnit] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class _Job:
    """An object with what its own checks need."""

    file: _File
    unit: LinkUnit
    attributes: Attributes | None
    core: CheckedCore | None
    code: Disassembly = field(default_factory=Disassembly)


def check_object(
    path: Path, *, board: Processor | None = None, expected_name: str | None = None
) -> tuple[Finding, ...]:
    """Checks one object against all rules for a network.

    path: an object file; board: the board whose core must be able to run it (without one, the core
    is that of the object's build attributes); expected_name: the network's name. Returns the
    findings, none for a clean object; a file that cannot be read is a finding too. Raises ToolError
    where arm-none-eabi-objdump is missing or fails.
    """
    return _check([path], board, strict=True, expected_name=expected_name).findings


def check_files(
    paths: Sequence[Path],
    board: Processor | None = None,
    *,
    strict: bool = False,
    link_map: Path | None = None,
) -> CheckReport:
    """Checks objects, archives and linked images, each alone and all together.

    Objects that define a `_mcu_network_*` descriptor are held to the rules for networks; the others
    only to those that any object must keep (collisions, ABI, core). strict: hold every object that
    is given as a file of its own to the rules for networks. A file that is given twice, or by two
    names, is checked once, with a note. link_map: what the linker wrote of the one image among the
    files; without it, the map that lies beside an image (parts.py). Raises ToolError where
    arm-none-eabi-objdump is missing or fails, RequestError for a map that is not the image's.
    """
    once, notes = _distinct(paths)
    report = _check(once, board, strict=strict, expected_name=None)
    files = tuple(
        replace(file, notes=(*file.notes, *notes.get(path, ())))
        for path, file in zip(once, report.files, strict=True)
    )
    return replace(report, files=_with_parts(once, files, link_map))


def _distinct(paths: Sequence[Path]) -> tuple[list[Path], dict[Path, tuple[str, ...]]]:
    """The files, each once, and a note on those that were given more than once."""
    names: dict[tuple[int, int] | Path, list[Path]] = {}
    for path in paths:
        try:
            found = path.stat()
            names.setdefault((found.st_dev, found.st_ino), []).append(path)
        except (OSError, ValueError):
            names.setdefault(path, []).append(path)
    notes: dict[Path, tuple[str, ...]] = {}
    for given in names.values():
        if len(given) > 1:
            others = [str(path) for path in dict.fromkeys(given) if path != given[0]]
            also = f", also as {listed([escaped(name) for name in others])}" if others else ""
            notes[given[0]] = (
                f"given {len(given)} times{also}, and checked once: give it to the linker once",
            )
    return [given[0] for given in names.values()], notes


def _with_parts(
    paths: Sequence[Path], files: Sequence[FileReport], link_map: Path | None
) -> tuple[FileReport, ...]:
    """The reports, those of images with what they are made of, where there is a map."""
    images = [file for file in files if file.kind == "firmware"]
    if link_map is not None and len(images) != 1:
        raise RequestError(
            f"--map is what the linker wrote of one image, and {len(images)} linked images were "
            "given; give the map's image."
        )
    return tuple(
        _divided(path, file, link_map) if file.kind == "firmware" else file
        for path, file in zip(paths, files, strict=True)
    )


def _divided(image: Path, file: FileReport, given: Path | None) -> FileReport:
    found = given or find_link_map(image)
    if found is None:
        return file
    try:
        parts, is_known = divide(image, read_elf(read_file(image)), found, load_rules())
    except (Unreadable, RequestError) as error:
        if given is not None:
            raise RequestError(str(error)) from None
        return replace(file, notes=(*file.notes, f"not divided into parts: {error}"))
    notes = list(file.notes)
    apart = {name for part in parts if part.kind == "network" for name in part.networks}
    if joined := [printable(m.name) for m in file.models if m.name not in apart]:
        notes.append(
            f"{listed(joined)} took part in link-time optimisation, which leaves one object of all:"
            " what it takes is counted to the program"
        )
    if not is_known:
        notes.append(
            "the map names only who asked for a function of the C library first, and that is who"
            " it is counted to: link with -Wl,--cref as well to see who else uses it"
        )
    return replace(file, map=str(found), parts=parts, notes=tuple(notes))


def _check(
    paths: Sequence[Path], board: Processor | None, *, strict: bool, expected_name: str | None
) -> CheckReport:
    rules = load_rules()
    files = [_load(path, strict) for path in paths]
    core = core_of_board(board) if board is not None else None
    jobs = [_prepare(file, unit, core) for file in files for unit in file.units]
    code = disassemble_units([(job.unit, job.core) for job in jobs])
    for job, disassembly in zip(jobs, code, strict=True):
        job.code = disassembly
        job.file.findings += _check_machine(job.unit, board, core)
        job.file.findings += _check_core(job, core)
        job.file.findings += _check_unit(job, rules, strict, expected_name)
    together = check_collisions(
        [(job.unit, job.attributes) for job in jobs if not job.unit.elf.linked]
    )
    reports = tuple(_report(file, [j for j in jobs if j.file is file], core) for file in files)
    found = [finding for file in files for finding in file.findings]
    return CheckReport(reports, tuple(found + together))


def _load(path: Path, strict: bool) -> _File:
    file = _File(os.fsencode(path).decode("utf-8", "backslashreplace"))
    try:
        data = read_file(path)
        file.archive = is_archive(data)
        if not file.archive:
            _take(file, "", data, strict)
            return file
        for member, body in read_archive(data):
            _take(file, member, body, strict=False)
        if not (file.units or file.findings or file.lto):
            file.notes.append("the archive is empty")
    except Unreadable as error:
        file.findings.append(_unreadable(file.name, "", error))
    return file


def _take(file: _File, member: str, data: bytes, strict: bool) -> None:
    try:
        elf = read_elf(data)
    except Unreadable as error:
        file.findings.append(_unreadable(file.name, member, error))
        return
    unit = LinkUnit(file.name, member, elf)
    if not is_lto(elf):
        file.units.append(unit)
    elif not strict and not may_be_network(elf):
        file.lto += 1
        file.notes.append(
            f"{printable(member) or 'it'} is for link-time optimisation: the linker compiles it"
            " anew, and what becomes of it is checked in the image alone"
        )
    else:
        message = (
            "This is an object for link-time optimisation: it is not usable, since the linker"
            " would compile it anew, and what was checked is not what runs."
        )
        file.findings.append(unit.finding("lto-object", message))


def _unreadable(name: str, member: str, error: Unreadable) -> Finding:
    return Finding(error.rule, name, error.message, error.remedy, printable(member))


def _prepare(file: _File, unit: LinkUnit, core: CheckedCore | None) -> _Job:
    attributes = None
    if unit.elf.is_arm:
        try:
            attributes = read_attributes(unit.elf)
        except MalformedAttributes as error:
            message = f"The build attributes (.ARM.attributes) are damaged: {error}."
            file.findings.append(unit.finding("damaged", message))
        if attributes is None and unit.elf.has_code:
            file.notes.append(f"{unit.member or 'it'} has no build attributes: its ABI is unknown")
        if core is None and attributes is not None:
            core = attributes.core()
    return _Job(file, unit, attributes, core)


def _check_machine(
    unit: LinkUnit, board: Processor | None, core: CheckedCore | None
) -> list[Finding]:
    """Whether the object is for the board's kind of machine, or any that there are boards of."""
    own = _MACHINES.get(platform.machine().lower())
    if board is None:
        wanted = {"EM_ARM", *_MACHINES.values()}
        reason = "there is no board with such a processor"
    elif core is not None:
        wanted, reason = {"EM_ARM"}, f"{core.title} is a little-endian Arm"
    else:
        wanted = {own} if own else {unit.elf.machine}
        reason = "the board is this computer"
    if unit.elf.machine in wanted and unit.elf.little_endian:
        return []
    order = "little" if unit.elf.little_endian else "big"
    machine = unit.elf.machine.removeprefix("EM_")
    message = f"It is for the machine {machine}, {order}-endian, and {reason}."
    return [unit.finding("machine", message)]


def _check_core(job: _Job, core: CheckedCore | None) -> list[Finding]:
    if not job.unit.elf.is_arm:
        return []
    found: list[Finding] = []
    if core is not None and job.attributes is not None:
        found += check_attributes(job.unit, job.attributes, core, job.code.floating_point)
    return [*found, *check_instructions(job.unit, job.core, job.code)]


def _check_unit(job: _Job, rules: Rules, strict: bool, expected_name: str | None) -> list[Finding]:
    unit, found = job.unit, descriptors(job.unit.elf)
    if unit.elf.linked:
        if expected_name is not None:
            return [unit.finding("not-an-object", "This is a linked image, not an object.")]
        if job.code.unmapped and unit.elf.is_arm:
            job.file.notes.append("stripped: its instructions could not be checked")
        findings = []
        for name, symbol in found:
            findings += check_abi_version(unit, symbol, printable(name), rules)
        return findings
    if found or expected_name is not None or (strict and not job.file.archive):
        return check_network(unit, rules, expected_name) + check_unmapped(unit, job.code)
    if job.code.unmapped:
        job.file.notes.append(
            f"{unit.member or 'the object'} is stripped: its instructions could not be checked"
        )
    return []


def _report(file: _File, jobs: list[_Job], core: CheckedCore | None) -> FileReport:
    units = file.units
    models = tuple(model for unit in units for model in map_models(unit.elf))
    if file.archive:
        kind = "archive"
    elif not units:
        kind = "object" if file.lto else "unreadable"
    elif units[0].elf.linked:
        kind = "firmware"
    else:
        kind = "network" if models else "object"
    targets = dict.fromkeys(_target(job) for job in jobs)
    return FileReport(
        file=file.name,
        kind=kind,
        target="; ".join(targets),
        core=core.title if core is not None and units else "",
        members=len(units) + file.lto if file.archive else 0,
        instructions=sum(job.code.instructions for job in jobs),
        models=models,
        notes=tuple(file.notes),
    )


def _target(job: _Job) -> str:
    elf = job.unit.elf
    attributes = job.attributes
    if attributes is None:
        return f"{elf.machine.removeprefix('EM_')} {elf.bits}-bit"
    if not attributes.m_profile:
        return attributes.architecture
    title = features_title(attributes.architecture, attributes.features())
    return f"{title}, hard-float" if attributes.hard_float else title
