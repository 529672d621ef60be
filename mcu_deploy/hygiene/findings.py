"""What a check says: findings, what was looked at, and the exit code that follows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# Findings of these rules mean that the file could not be read as an object at all: exit code 2.
UNREADABLE_RULES = frozenset({"not-an-object", "truncated", "damaged"})

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
class ModelMap:
    """A network in a file: bytes of its symbols by section, and its descriptor's ABI version.

    `sections` are (section name, bytes, writable) in the order of the file. `abi_version` is None
    where the descriptor's bytes could not be read.
    """

    name: str
    abi_version: int | None
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
class FileReport:
    """What was read of one file.

    `kind` is "network", "object", "archive", "firmware" or "unreadable"; `members` counts the
    objects of an archive; `target` names what the objects were built for; `core` is the board's
    core that they were checked against, empty where no board was given; `instructions` counts the
    disassembled ones; `notes` say what could not be checked, and why.
    """

    file: str
    kind: str
    target: str = ""
    core: str = ""
    members: int = 0
    instructions: int = 0
    models: tuple[ModelMap, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
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
            "name": model.name,
            "abi_version": model.abi_version,
            "flash_bytes": model.flash_bytes,
            "ram_bytes": model.ram_bytes,
            "symbols": model.symbols,
            "sections": [
                {"name": name, "bytes": size, "writable": writable}
                for name, size, writable in model.sections
            ],
        }
        for model in file.models
    ]
    return value


def _finding_as_json(finding: Finding) -> dict[str, Any]:
    keys = ("rule", "file", "member", "symbol", "message", "remedy")
    return {key: getattr(finding, key) for key in keys}


def printable(name: str) -> str:
    """A name out of a file, safe to print: control characters escaped, a long one cut."""
    text = escaped(name)
    if len(text) > _LONGEST_NAME:
        return f"{text[: _LONGEST_NAME - 3]}..."
    return text


def escaped(text: str) -> str:
    """A text with all that a terminal could take for a command, or not print, escaped."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def listed(names: list[str], most: int = 4) -> str:
    """Names as a person lists them: "a, b and c", or "a, b, c, d and 7 more"."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    if len(names) > 1:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return "".join(names)
