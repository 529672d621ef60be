"""The counting plugin for QEMU: the C files of plugin/, compiled for this machine.

It is compiled on first use, or by `python -m mcu_deploy.device.emulators.qemu_plugin`, and kept in
the cache (files/cache.py); the package itself is never written to.
"""

from __future__ import annotations

import platform
import shutil
import tempfile
from pathlib import Path

from mcu_deploy.errors import ToolError
from mcu_deploy.files import cache
from mcu_deploy.processes import programs

_FOLDER = Path(__file__).resolve().parent / "plugin"
_SOURCES = tuple(_FOLDER / name for name in ("mcu_count.c", "memories.c"))
_HEADERS = (_FOLDER / "memories.h",)
_FLAGS = ("-std=gnu99", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-fvisibility=hidden")
_NO_ROOM = "No space left on device"


def plugin(folder: Path) -> Path:
    """The compiled plugin, in `folder`; compiled now where it is not kept yet.

    ToolError: no gcc, or it cannot compile the plugin, or there is no room for it.
    """
    path = folder / "mcu_count.so"
    texts = [source.read_bytes() for source in (*_SOURCES, *_HEADERS)]
    key = cache.key([path.name, platform.machine(), *_FLAGS, *texts])
    compiled = cache.kept(key, lambda: _compiled(path))
    try:
        path.write_bytes(compiled)
    except OSError as error:
        raise _full(error.strerror or _NO_ROOM) from error
    return path


def _full(reason: str = _NO_ROOM) -> ToolError:
    return ToolError(
        f"the counting plugin for QEMU cannot be written ({reason}); make room in "
        f"{tempfile.gettempdir()}, or name another folder in TMPDIR"
    )


def _compiled(path: Path) -> bytes:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise ToolError(
            "The counting plugin for QEMU needs gcc for this machine. "
            "Install it with `apt-get install gcc libc6-dev` (or `make setup` in the repository)."
        )
    done = programs.run([compiler, *_FLAGS, "-o", path, *_SOURCES])
    if done.returncode != 0:
        reason = done.exhausted or done.stderr.strip()[-600:]
        if _NO_ROOM in reason:
            raise _full()
        raise ToolError(f"{compiler} cannot compile the counting plugin for QEMU: {reason}")
    return path.read_bytes()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        plugin(Path(scratch))
