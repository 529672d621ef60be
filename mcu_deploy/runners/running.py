"""Runs the command lines of a runner, and turns what goes wrong into one sentence."""

from __future__ import annotations

import re
import shlex

from mcu_deploy.errors import ToolError, one_line
from mcu_deploy.processes import programs
from mcu_deploy.runners.choosing import Chosen
from mcu_deploy.runners.interface import Runner, Trouble

_SECONDS = 300.0
_VERSION_SECONDS = 20.0
_QUOTED = 300


def run(chosen: Chosen, lines: tuple[tuple[str, ...], ...]) -> None:
    """Runs each command line to its end. ToolError, with cause and remedy, where one fails."""
    for line in lines:
        done = programs.run(line, seconds=_SECONDS)
        said = f"{done.stdout}\n{done.stderr}"
        if done.exhausted:
            raise ToolError(
                f"{chosen.runner.title} {done.exhausted}: the probe or the chip hangs; plug the "
                "board out and in, and try again."
            )
        if done.returncode or (chosen.runner.fails_silently and diagnose(chosen.runner, said)):
            # The files that a line reads are gone by then.
            again = "run what `mcu-deploy flash --dry-run` prints."
            raise ToolError(explain(chosen.runner, done.returncode, said, again))


def diagnose(runner: Runner, said: str) -> tuple[Trouble, str] | None:
    """The first trouble whose pattern is in what a tool said, and the line that it is in."""
    lines = [line.strip() for line in said.splitlines()]
    for trouble in Trouble:
        for pattern in runner.troubles.get(trouble, ()):
            for line in lines:
                if re.search(pattern, line):
                    return trouble, line
    return None


def explain(runner: Runner, code: int, said: str, again: str) -> str:
    """The sentence for a command line that failed: which tool, why, what to do. again: how all that
    a tool says is seen, where its trouble is not known."""
    found = diagnose(runner, said)
    if found is not None:
        trouble, quoted = found
        return runner.sentence(trouble, one_line(quoted, _QUOTED))
    lines = [one_line(text, _QUOTED) for text in said.splitlines() if text.strip()]
    last = " | ".join(lines[-3:]) or "nothing"
    return f"{runner.title} ended with exit code {code} and said: {last}; to see all of it, {again}"


def version(chosen: Chosen) -> str:
    """The first line of what the program says of its version, for a report; "" for none. ToolError
    where it does not run, or does not end in time."""
    if not chosen.runner.version or not chosen.installed:
        return ""
    command = [chosen.program, *chosen.runner.version]
    done = programs.run(command, seconds=_VERSION_SECONDS)
    if done.exhausted:
        raise ToolError(f"{shlex.join(command)} {done.exhausted}.")
    if done.returncode:
        again = f"run {shlex.join(command)} yourself."
        raise ToolError(explain(chosen.runner, done.returncode, done.stderr, again))
    lines = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines()]
    return one_line(next((line for line in lines if line), ""), 80)
