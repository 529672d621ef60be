"""What a check says: findings, what was looked at, and the exit code that follows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from mcu_deploy.elf.reader import Elf
from mcu_deploy.errors import escaped
from mcu_deploy.output.json_text import picked

_FOR_THIS_BOARD = "Build it for this board (mcu-deploy build --board or --core)."

# Findings of these rules mean that the file could not be read as an object at all: exit code 2.
UNREADABLE_RULES = frozenset({"not-an-object", "truncated", "damaged"})

# What to do about a finding, where it does not depend on what was found.
REMEDIES = {
    "abi-version": "Build the network again with this version of mcu-deploy.",
    "abi-version-clash": "Build all of them with one version of mcu-deploy.",
    "arm-state": "Compile with -mthumb and the core's -mcpu.",
    "common-symbol": "Compile with -fno-common, and make it static and const.",
    "cpu-architecture": _FOR_THIS_BOARD,
    "cpu-clash": "Compile all of them for one core.",
    "damaged": "Build the file again.",
    "descriptor-not-constant": (
        "Declare it const, and compile with -fno-pic (-fno-pie on the host)."
    ),
    "descriptor-not-global": "Declare it without static and without weak.",
    "dsp": _FOR_THIS_BOARD,
    "duplicate-model": "Build one of them with another --name.",
    "duplicate-symbol": "Make it static in all but one of them, or rename it.",
    "enum-size-clash": (
        "Compile all of them with -fshort-enums, or all with -fno-short-enums: a network and its"
        " runtime by mcu-deploy build --core CORE --cflags=-fno-short-enums."
    ),
    "extra-descriptor": "Give each network an object of its own.",
    "float-abi": _FOR_THIS_BOARD,
    "float-abi-clash": "Compile all of them with the same -mfloat-abi.",
    "fpu": _FOR_THIS_BOARD,
    "init-array": "Remove constructors: a network is ready without them.",
    "instruction": "Compile for this core (mcu-deploy build --board or --core).",
    "lto-object": "Compile it without -flto.",
    "machine": "Build it for a board (mcu-deploy build --board or --core).",
    "machine-clash": "Build all of them for one board.",
    "mve": _FOR_THIS_BOARD,
    "no-descriptor": "Build it with mcu-deploy, or leave it out of the networks.",
    "no-mapping-symbols": "Do not strip the object.",
    "not-an-object": "Give the object (.o) of the network.",
    "same-object": "Give the linker one of them.",
    "shared-common": "Compile with -fno-common, and make it static in one of them.",
    "unknown-instruction": (
        "Look for data among the code, `.inst` directives or damage, and build it again."
    ),
    "r9-clash": (
        "Compile all of them without -frwpi (clang) or --apcs=/rwpi (armclang): kernels keep values"
        " in r9 and give it back, but an interrupt between finds no static base in it."
    ),
    "wchar-size-clash": "Compile all of them with -fshort-wchar, or all with -fno-short-wchar.",
    "weak-symbol": "Make it static, or remove it.",
    "writable-data": "Declare constants const, and keep state in the workspace.",
}

_LONGEST_NAME = 120


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: the rule it breaks, where, why it matters, and what to do.

    `message` and `remedy` are whole sentences. `member` is the archive member, `symbol` the symbol
    or section that the finding is about; both are empty where there is none.
    """

    rule: str
    file: str
    message: str
    remedy: str
    member: str = ""
    symbol: str = ""

    @property
    def place(self) -> str:
        """The object's name as a person writes it: file, or file(member)."""
        return f"{self.file}({self.member})" if self.member else self.file


@dataclass(frozen=True)
class LinkUnit:
    """What a linker takes as one piece: an object file, or a member of an archive."""

    file: str
    member: str
    elf: Elf

    @property
    def place(self) -> str:
        return f"{self.file}({self.member})" if self.member else self.file

    def finding(self, rule: str, message: str, symbol: str = "", remedy: str = "") -> Finding:
        """What is wrong here; remedy: where it is not the rule's."""
        return Finding(
            rule, self.file, message, remedy or REMEDIES[rule], self.member, printable(symbol)
        )


@dataclass(frozen=True)
class ModelMap:
    """A network in a file: bytes of its symbols by section, and its descriptor's ABI version.

    `sections` are (section name, bytes, writable) in the order of the file. `abi_version` and
    `workspace_bytes`, which a caller gives it, are None where the descriptor's bytes could not be
    read.
    """

    name: str
    abi_version: int | None
    workspace_bytes: int | None
    sections: tuple[tuple[str, int, bool], ...]
    symbols: int

    @property
    def flash_bytes(self) -> int:
        """Bytes of code and constants."""
        return sum(size for _, size, writable in self.sections if not writable)

    @property
    def ram_bytes(self) -> int:
        """Bytes of writable data."""
        return sum(size for _, size, writable in self.sections if writable)


@dataclass(frozen=True)
class PartPiece:
    """Bytes of a part of an image.

    `name` is a network's input section, an object file, or for fill an output section. Of a member
    of the C library, `symbol` is what was asked for and `asked_by` the file that did so first.
    """

    name: str
    flash_bytes: int
    ram_bytes: int
    symbol: str = ""
    asked_by: str = ""


@dataclass(frozen=True)
class ImagePart:
    """A part of a linked image; all parts add up to it.

    `kind` is "network", "runtime", "library" (what comes with the compiler), "program" (everything
    else that was linked) or "fill" (alignment, stacks and the like, veneers: no file brought
    them). `networks` are those that it is, or that need it; `program`: the program is it, or needs
    it too. `flash_bytes` are those in the image, `ram_bytes` those where the program runs; what the
    start-up copies is in both.
    """

    kind: str
    networks: tuple[str, ...]
    program: bool
    flash_bytes: int
    ram_bytes: int
    pieces: tuple[PartPiece, ...]


@dataclass(frozen=True)
class FileReport:
    """What was read of one file.

    `kind` is "network", "object", "archive", "firmware" or "unreadable"; `members` counts the
    objects of an archive; `target` names what the objects were built for; `core` is the board's
    core that they were checked against, empty where no board was given; `instructions` counts the
    disassembled ones; `notes` say what could not be checked, and why. `parts` are those of an image
    with the linker's map `map`.
    """

    file: str
    kind: str
    target: str = ""
    core: str = ""
    members: int = 0
    instructions: int = 0
    models: tuple[ModelMap, ...] = ()
    notes: tuple[str, ...] = ()
    map: str = ""
    parts: tuple[ImagePart, ...] = ()


@dataclass(frozen=True)
class CheckReport:
    """The result of checking some files together."""

    files: tuple[FileReport, ...]
    findings: tuple[Finding, ...]

    @property
    def exit_code(self) -> int:
        """0: clean. 1: findings. 2: one of the files is no object, or is damaged."""
        if any(finding.rule in UNREADABLE_RULES for finding in self.findings):
            return 2
        return 1 if self.findings else 0

    def as_json(self) -> dict[str, Any]:
        """The report as plain values: files, findings, exit_code."""
        return {
            "files": [_file_as_json(file) for file in self.files],
            "findings": [_finding_as_json(finding) for finding in self.findings],
            "exit_code": self.exit_code,
        }


def _file_as_json(file: FileReport) -> dict[str, Any]:
    value = asdict(file)
    value["notes"] = list(file.notes)
    value["models"] = [
        {
            **picked(
                model, "name", "abi_version", "workspace_bytes", "flash_bytes", "ram_bytes",
                "symbols",
            ),
            "sections": [
                {"name": name, "bytes": size, "writable": writable}
                for name, size, writable in model.sections
            ],
        }
        for model in file.models
    ]  # fmt: skip
    return value


def _finding_as_json(finding: Finding) -> dict[str, Any]:
    return picked(finding, "rule", "file", "member", "symbol", "message", "remedy")


def printable(name: str) -> str:
    """A name out of a file, safe to print: control characters escaped, a long one cut."""
    text = escaped(name)
    if len(text) > _LONGEST_NAME:
        return f"{text[: _LONGEST_NAME - 3]}..."
    return text


def listed(names: list[str], most: int = 4) -> str:
    """Names as a person lists them: "a, b and c", or "a, b, c, d and 7 more"."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    if len(names) > 1:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return "".join(names)
