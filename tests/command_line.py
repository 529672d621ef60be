"""The command line, called in this process: what a person types, and what they get to see."""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from mcu_deploy.cli import main


@dataclass(frozen=True)
class Done:
    """A command that has ended: its exit code, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def call(*arguments: str | Path, cwd: Path | None = None) -> Done:
    """Runs `mcu-deploy ARGUMENTS`, in another folder if one is named."""
    out, err = io.StringIO(), io.StringIO()
    code: str | int | None = 0
    with (
        mock.patch.object(sys, "argv", ["mcu-deploy", *map(str, arguments)]),
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    assert code is None or isinstance(code, int)
    return Done(code or 0, out.getvalue(), err.getvalue())
