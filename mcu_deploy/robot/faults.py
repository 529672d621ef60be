"""Faults by the names that tests give them: those of causes, and of the processor's exceptions."""

from __future__ import annotations

from enum import IntEnum

from mcu_deploy.boards import Board
from mcu_deploy.device import FaultCause, FaultReport
from mcu_deploy.device.emulators.renode import not_raised
from mcu_deploy.device.line.codes import Provoke
from mcu_deploy.errors import RequestError
from mcu_deploy.resources import page

_NONE = "none"
_EXCEPTIONS = {
    "nmi": 2,
    "hard fault": 3,
    "memmanage fault": 4,
    "bus fault": 5,
    "usage fault": 6,
}


def _named(value: IntEnum) -> str:
    return value.name.lower().replace("_", " ")


_CAUSES = {_named(cause): cause for cause in FaultCause}
_PROVOKED = {_named(what): what for what in Provoke if what is not Provoke.LOG}


def require_known(name: str) -> None:
    """RequestError for a name that is neither a cause nor an exception."""
    if _plain(name) not in _CAUSES.keys() | _EXCEPTIONS.keys():
        known = ", ".join((_NONE, *_EXCEPTIONS, *_CAUSES))
        raise RequestError(f"There is no fault called {name!r}; use one of: {known}.")


def matches(name: str, report: FaultReport) -> bool:
    """Whether a fault is called so, by its cause or its exception. Errors: see `require_known`."""
    require_known(name)
    asked = _plain(name)
    return report.exception == _EXCEPTIONS.get(asked) or report.cause is _CAUSES.get(asked)


def provoked(name: str) -> Provoke:
    """What the firmware is to do. RequestError for what it cannot provoke."""
    asked = _plain(name)
    if asked in _PROVOKED:
        return _PROVOKED[asked]
    raise RequestError(f"No fault {name!r} can be provoked; use one of: {', '.join(_PROVOKED)}.")


def require_raised(what: Provoke, emulator: str, board: Board) -> None:
    """RequestError for what an emulator lets pass, where a chip stops. emulator: its name."""
    if emulator == "renode" and (instead := not_raised(what, board)):
        raise RequestError(
            f"Renode does not raise {_named(what)!r} on {board.name}: {instead} "
            f"({page('emulators')}). Provoke it on a board that QEMU has, under plain `robot`."
        )


def is_none(name: str) -> bool:
    """Whether no fault at all is meant."""
    return _plain(name) == _NONE


def called(report: FaultReport) -> str:
    """The names of a fault: of its exception, if it has one, and of its cause."""
    exception = [n for n, number in _EXCEPTIONS.items() if number == report.exception]
    return ", ".join([*exception, _named(report.cause)])


def _plain(name: str) -> str:
    return " ".join(name.lower().replace("_", " ").replace("-", " ").split())
