"""clang for Arm, where this machine has it: Debian's package brings no C library of its own."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path


@functools.cache
def clang() -> tuple[str, ...] | None:
    """The command, with the headers of the C library that arm-none-eabi-gcc has; None: no clang."""
    program = next(filter(None, map(shutil.which, ("clang", *_VERSIONS))), None)
    if program is None or shutil.which("arm-none-eabi-gcc") is None:
        return None
    told = subprocess.run(
        ["arm-none-eabi-gcc", "-xc", "-E", "-v", "-"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    ).stderr  # fmt: skip
    folders = [Path(line.strip()) for line in told.splitlines() if line.startswith(" /")]
    found = next((f for f in folders if (f / "_newlib_version.h").exists()), None)
    return found and (program, "--target=arm-none-eabi", "-isystem", str(found))


_VERSIONS = tuple(f"clang-{n}" for n in range(22, 13, -1))
