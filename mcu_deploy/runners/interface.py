"""What a runner is: capabilities as data, and a method that makes its command lines.

How a runner is asked for, run, and read: `choosing`, `running`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import ClassVar

from mcu_deploy.discovery import modules


class Trouble(Enum):
    """What goes wrong with every tool: the reason in words, and the remedy. The first one whose
    pattern is found in what the tool says is told, so causes stand before what they lead to.

    In a remedy {list}, {probe} and {unlock} are what the runner says of itself."""

    ACCESS = (
        "may not open the debug probe",
        "give yourself the right to it (udev rules come with most tools: copy them to "
        "/etc/udev/rules.d, then `udevadm control --reload` and plug the board in anew), and close "
        "other programs that use it",
    )
    SEVERAL_PROBES = (
        "found several debug probes",
        "say which with --probe, {probe}; {list} shows them, or leave one board connected",
    )
    NO_PROBE = (
        "found no debug probe",
        "connect the board's debug port with a cable that carries data, and see that you may use "
        "it (udev rules); {list} shows what there is",
    )
    UNKNOWN_CHIP = ("does not know the chip or the board", "{unknown}")
    LOCKED = ("says that the chip is protected", "{unlock}; that erases all of its flash")
    NO_CHIP = (
        "found the probe, but the chip behind it does not answer",
        "look at its power and at the wires, hold its reset button while it begins, and see that "
        "no program on it sleeps or takes the debug pins",
    )
    VERIFY = (
        "read something else back than it had written",
        "try again; if it stays, the chip is not the one of the board file, its power is weak, or "
        "its flash is worn out",
    )


@dataclass(frozen=True)
class Key:
    """A key of a table [runners.<name>]: what it means, and whether the runner needs it."""

    meaning: str
    required: bool = False


@dataclass(frozen=True)
class FlashJob:
    """What is to be flashed: the image, the address of its vector table, what the board's table
    says, a folder for files of the runner, and which probe is meant."""

    elf: Path
    vectors: int
    settings: Mapping[str, str]
    folder: Path
    probe: str | None = None


class Runner(ABC):
    """A tool for flashing. A subclass is data and one method; it is never changed once made.

    name: on the command line and in a board's file; title: in sentences; programs: what it is
    called on the PATH, the first one there is taken; install: how to get it; keys: of the board's
    table; needs_table: why a board's file has to name the tool though no key is needed; probe: what
    --probe names; first_probe: takes the first of several probes and says nothing; listing: the
    command that shows probes; unlock, unknown: remedies; words: reasons and remedies in place of a
    trouble's own; troubles: patterns (`re`, each line by itself) of what the tool prints;
    fails_silently: ends with exit code 0 whatever happens, so the patterns decide; version:
    arguments that make the program say its version, none where there are no such.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    programs: ClassVar[tuple[str, ...]]
    install: ClassVar[str]
    keys: ClassVar[Mapping[str, Key]] = {}
    needs_table: ClassVar[str] = ""
    probe: ClassVar[str]
    first_probe: ClassVar[bool] = False
    listing: ClassVar[str] = "`lsusb`"
    unlock: ClassVar[str] = "unlock it with the tool of the chip's maker"
    unknown: ClassVar[str] = "correct the name in the board's file"
    words: ClassVar[Mapping[Trouble, tuple[str, str]]] = {}
    troubles: ClassVar[Mapping[Trouble, tuple[str, ...]]] = {}
    fails_silently: ClassVar[bool] = False
    version: ClassVar[tuple[str, ...]] = ("--version",)

    @abstractmethod
    def commands(self, job: FlashJob, program: str) -> tuple[tuple[str, ...], ...]:
        """The command lines that flash, verify and start the image, in their order; writes what
        they read to `job.folder`. ToolError where something for them is missing."""

    def is_ready(self) -> bool:
        """Whether the installed tool can be used now, as far as a look tells; else another one of
        the board's is preferred."""
        return True

    def debugging(self, settings: Mapping[str, str]) -> Mapping[str, object] | None:
        """What cortex-debug of VS Code has to be told to debug with this tool, beside the program:
        keys of its launch.json (github.com/Marus/cortex-debug, commit 428af02, package.json and
        src/frontend/configprovider.ts). None for a tool that it cannot use."""
        return None

    @property
    def needs(self) -> tuple[str, ...]:
        """The keys that the board's table must have."""
        return tuple(name for name, key in self.keys.items() if key.required)

    def sentence(self, trouble: Trouble, said: str) -> str:
        """What is wrong, by which answer, and what to do, in this tool's words."""
        reason, remedy = self.words.get(trouble, trouble.value)
        remedy = remedy.format(
            list=self.listing, probe=self.probe, unlock=self.unlock, unknown=self.unknown
        )
        return f"{self.title} {reason} (it said: {said}); {remedy}."


@cache
def runners() -> Mapping[str, Runner]:
    """Every runner that there is a module for, by its name."""
    found = (m.RUNNER() for _, m in modules("mcu_deploy.runners") if hasattr(m, "RUNNER"))
    return {runner.name: runner for runner in sorted(found, key=lambda r: r.name)}
