"""What programs say of their versions, and which of two is the older one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from mcu_deploy.errors import ToolError, one_line
from mcu_deploy.processes import programs

_NUMBER = re.compile(r"(?:version |\bv)(\d+(?:\.\d+)+)")
_QUOTED = 400


def asked_version(
    program: Path, seconds: float, environment: Mapping[str, str] | None = None
) -> str:
    """The number in what `program --version` prints, such as "7.2.22".

    environment: the whole of it, by default ours. ToolError where the program does not start, does
    not end within `seconds`, fails, or says no number."""
    done = programs.run([program, "--version"], seconds=seconds, environment=environment)
    if done.exhausted:
        raise ToolError(f"{program} --version {done.exhausted}.")
    match = _NUMBER.search(done.stdout)
    if done.returncode != 0 or match is None:
        said = one_line((done.stderr or done.stdout).strip()[-_QUOTED:])
        raise ToolError(f"{program} --version gives no version but: {said or 'nothing'}")
    return match[1]


def is_older(version: str, than: str) -> bool:
    """Whether a version comes before another one; both begin with numbers and points, and only as
    many numbers count as `than` has (12.2.1 is not older than 12.2)."""
    wanted = _numbers(than)
    return _numbers(version)[: len(wanted)] < wanted


def _numbers(version: str) -> list[int]:
    found = re.match(r"\d+(?:\.\d+)*", version)
    return [int(part) for part in found[0].split(".")] if found else []
