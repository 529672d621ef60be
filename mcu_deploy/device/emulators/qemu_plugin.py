"""The counting plugin for QEMU: plugin/mcu_count.c, compiled for this machine.

It is compiled on first use, or by `python -m mcu_deploy.device.emulators.qemu_plugin`, into the
user's cache folder ($XDG_CACHE_HOME or ~/.cache); the package itself is never written to. The
file's name holds a digest of the source, so that no older plugin is ever taken.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import tempfile
from pathlib import Path

from mcu_deploy.errors import ToolError
from mcu_deploy.processes import programs

_SOURCE = Path(__file__).resolve().parent / "plugin" / "mcu_count.c"
_FLAGS = ("-std=gnu99", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-fvisibility=hidden")


def plugin(folder: Path) -> Path:
    """The compiled plugin, compiled now where it is not there yet.

    folder: takes it where the user's cache folder cannot be written. ToolError: no gcc, or it
    cannot compile the plugin.
    """
    for cache in (_cache(), folder):
        path = cache / _name()
        if path.is_file():
            return path
        try:
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache) as workshop:
                made = Path(workshop) / path.name
                _compile(made)
                made.replace(path)  # whole or not at all, whoever else compiles it too
        except OSError:
            continue
        return path
    raise ToolError(f"the counting plugin for QEMU cannot be written to {_cache()} or {folder}")


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "mcu-deploy"


def _name() -> str:
    digest = hashlib.sha256(_SOURCE.read_bytes() + " ".join(_FLAGS).encode()).hexdigest()
    return f"mcu_count-{platform.machine()}-{digest[:16]}.so"


def _compile(output: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise ToolError(
            "the counting plugin for QEMU needs gcc for this machine; "
            "install it with `apt-get install gcc libc6-dev` (or `make setup` in the repository)"
        )
    done = programs.run([compiler, *_FLAGS, "-o", output, _SOURCE])
    if done.returncode != 0:
        reason = done.exhausted or done.stderr.strip()[-600:]
        raise ToolError(f"{compiler} cannot compile the counting plugin for QEMU: {reason}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(plugin(Path(scratch)))
