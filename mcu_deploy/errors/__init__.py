"""Errors that a user meets. Each message is a sentence: the thing, the reason, the remedy.

The command line prints the message and ends with `exit_code`; a traceback that reaches a user is a
bug, so everything that can go wrong by bad input, a missing tool or a broken device ends in one of
these.
"""

from __future__ import annotations

_LONGEST = 500


class McuDeployError(Exception):
    """The base of all errors that are the input's, the machine's or the device's fault.

    kind: what `--json` calls it. exit_code: 1, what was asked cannot be done; 2, wrong usage.
    ROBOT_SUPPRESS_NAME: Robot Framework then prints the sentence without the name of its class.
    """

    kind = "error"
    exit_code = 1
    ROBOT_SUPPRESS_NAME = True


class UsageError(McuDeployError):
    """The command was called in a way that makes no sense, whatever its files hold."""

    kind = "usage"
    exit_code = 2


class RequestError(UsageError):
    """What was asked makes sense by itself, but not with this model, board, file or device."""

    kind = "request"
    exit_code = 1


class ModelError(McuDeployError):
    """The model file is damaged, or says something that cannot be compiled."""

    kind = "model"


class UnsupportedError(ModelError):
    """The model uses operators, types or shapes that no backend can compile."""

    kind = "unsupported"


class Refusal(UnsupportedError):
    """A list of what hinders: many lines, each of bounded length, with no text of a file that is
    not escaped.

    nodes: all that cannot be computed, each its operator, its name and the reason; problems: what
    else is wrong, sentences. The message has the first of both.
    """

    def __init__(
        self,
        message: str,
        nodes: tuple[tuple[str, str, str], ...] = (),
        problems: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.nodes, self.problems = nodes, problems


class BoardError(McuDeployError):
    """A board file is missing or wrong."""

    kind = "board"


class UnknownBoardError(BoardError, UsageError):
    """There is no board of the name that was typed."""


class FitError(McuDeployError):
    """The network does not fit the board: flash, RAM or stack."""

    kind = "fit"


class ToolError(McuDeployError):
    """A program that is needed (compiler, emulator, flasher) is missing or failed."""

    kind = "tool"


class HygieneError(McuDeployError):
    """An object breaks the rules of the object file."""

    kind = "hygiene"


class DeviceError(McuDeployError):
    """The device did not answer, answered nonsense, or faulted."""

    kind = "device"


class BackendFault(McuDeployError):
    """A backend broke its word: it crashed, hung, or answered nonsense. One line, naming it."""

    kind = "backend"

    def __init__(self, backend: str, message: str) -> None:
        super().__init__(message)
        self.backend = backend

    @classmethod
    def of(cls, backend: str, what: str) -> BackendFault:
        """The sentence for what a backend did, a clause."""
        return cls(
            backend, f"The backend {backend} {what}. Leave it out, or report this to its author."
        )


class FormatFault(McuDeployError):
    """The module of a model format broke its word: it raised, or gave no model."""

    kind = "format"


class Interrupted(McuDeployError):
    """Ctrl-C, on the command line; in Python it stays a KeyboardInterrupt."""

    kind = "interrupted"
    exit_code = 130


class InternalError(McuDeployError):
    """What should have been one of the errors above: a fault of mcu-deploy itself."""

    kind = "internal"

    @classmethod
    def of(cls, error: BaseException) -> InternalError:
        """The sentence for an exception that nobody expected."""
        said = one_line(f"{type(error).__name__}: {error}").rstrip(".: ")
        return cls(
            f"mcu-deploy itself failed ({said}). With MCU_DEPLOY_DEBUG=1 in the environment it "
            "shows where; report that, with the model."
        )


def raised(error: BaseException) -> str:
    """What code of others did, a clause."""
    return one_line(f"it raised {type(error).__name__}: {error}").rstrip(".: ")


def one_line(text: str, longest: int = _LONGEST) -> str:
    """Text from anywhere (a file's name, an exception) as one printable line of bounded length."""
    # Cut before it is looked at: it may be as long as a file.
    start = text[: 2 * longest].strip()
    line = escaped("".join(" " if c.isspace() else c for c in start))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def escaped(text: str) -> str:
    """A text with all that a terminal could take for a command, or not print, escaped."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def shorten(text: str, longest: int = 80) -> str:
    """At most `longest` characters, the middle left out."""
    if len(text) <= longest:
        return text
    half = (longest - 3) // 2
    return f"{text[:half]}...{text[-half:]}"
