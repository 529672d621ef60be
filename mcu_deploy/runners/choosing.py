"""Which runner flashes a board: by the board's tables, by what is installed, or as asked for."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from mcu_deploy.errors import RequestError, ToolError, UsageError
from mcu_deploy.resources import page
from mcu_deploy.runners.interface import Runner, runners


@dataclass(frozen=True)
class Chosen:
    """A runner, its program (a path, or a bare name where it is not installed), what the board's
    table tells it, and why it was taken, in one sentence."""

    runner: Runner
    program: str
    settings: Mapping[str, str]
    reason: str
    installed: bool = True


def choose(
    board: str,
    tables: Mapping[str, Mapping[str, str]],
    requested: str | None = None,
    *,
    only_installed: bool = True,
) -> Chosen:
    """The requested runner, or the first one of the board's tables that can be used now.

    only_installed: False takes the first of the tables where none is installed, for a dry run.
    UsageError for an unknown name; RequestError where the board's tables do not say enough;
    ToolError, with how to get them, where nothing is installed.
    """
    if requested is not None:
        names = [requested]
        _require_known(requested)
        _require_told(board, tables, requested)
    else:
        names = list(tables)
    if not names:
        raise RequestError(
            f"The board file of {board} names no tool to flash it with; give it a table such as "
            f"[runners.openocd] ({page('flashing')} has them all), or use --runner gdb with "
            "--probe."
        )
    known = [runners()[name] for name in names]
    installed = [(runner, path) for runner in known if (path := _installed(runner))]
    if installed:
        runner, path = next((pair for pair in installed if pair[0].is_ready()), installed[0])
        others = f", the first of {', '.join(tables)} that can be used now"
        reason = "as asked for" if requested else f"as {board} says{others * (len(tables) > 1)}"
        return Chosen(runner, path, tables.get(runner.name, {}), f"{runner.title}, {reason}")
    if not only_installed:
        runner = known[0]
        told = tables.get(runner.name, {})
        reason = f"{runner.title}, which is not installed"
        return Chosen(runner, runner.programs[0], told, reason, installed=False)
    ways = "; ".join(f"{' or '.join(r.programs)} ({r.install})" for r in known)
    which = "one of " * (len(names) > 1)
    raise ToolError(f"{board} cannot be flashed: its tools are not installed; get {which}{ways}.")


def _installed(runner: Runner) -> str | None:
    return next((path for name in runner.programs if (path := shutil.which(name))), None)


def _require_known(name: str) -> None:
    known = sorted(runners())
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"use one of: {', '.join(known)}"
        raise UsageError(f"There is no runner called {name!r}; {hint}")


def _require_told(board: str, tables: Mapping[str, Mapping[str, str]], name: str) -> None:
    runner = runners()[name]
    if name not in tables and (runner.needs or runner.needs_table):
        keys = ", ".join(f"{key} ({runner.keys[key].meaning})" for key in runner.needs)
        one = f"one with {keys}" if keys else f"one, which may be empty: {runner.needs_table}"
        has = ", ".join(tables) or "none"
        raise RequestError(
            f"The board file of {board} has no table [runners.{name}] (it has {has}); {name} needs "
            f'{one}. A file with `inherits = "{board}"` and this table is enough.'
        )
