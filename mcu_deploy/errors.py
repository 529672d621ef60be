"""Errors that a user meets. Each message is a sentence: the thing, the reason, the remedy.

The command line prints the message and ends with `exit_code`; a traceback that reaches a user is a
bug, so everything that can go wrong by bad input, a missing tool or a broken device ends in one of
these.
"""

from __future__ import annotations

_LONGEST = 500


class McuDeployError(Exception):
    """The base of all errors that are the input's, the machine's or the device's fault."""

    exit_code = 1


class ModelError(McuDeployError):
    """The model file is damaged, or says something that cannot be compiled."""


class UnsupportedError(ModelError):
    """The model uses operators, types or shapes that no backend can compile."""


class BoardError(McuDeployError):
    """A board file is missing or wrong."""


class FitError(McuDeployError):
    """The network does not fit the board: flash, RAM or stack."""


class ToolError(McuDeployError):
    """A program that is needed (compiler, emulator, flasher) is missing or failed."""


class HygieneError(McuDeployError):
    """An object breaks the rules of the object file."""


class DeviceError(McuDeployError):
    """The device did not answer, answered nonsense, or faulted."""


class BackendFault(McuDeployError):
    """A backend broke its word: it crashed, hung, or answered nonsense. One line, naming it."""

    def __init__(self, backend: str, message: str) -> None:
        super().__init__(message)
        self.backend = backend


class UsageError(McuDeployError):
    """The command was called in a way that makes no sense."""

    exit_code = 2


def one_line(text: str, longest: int = _LONGEST) -> str:
    """Text from anywhere (a file's name, an exception) as one printable line of bounded length."""
    # Cut before it is looked at: it may be as long as a file.
    start = text[: 2 * longest].strip()
    line = "".join(c if c.isprintable() else _escaped(c) for c in start)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _escaped(character: str) -> str:
    return " " if character.isspace() else character.encode("unicode_escape").decode("ascii")
