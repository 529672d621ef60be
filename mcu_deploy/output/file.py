"""One file, written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from mcu_deploy.errors import ToolError, UsageError
from mcu_deploy.output import marker
from mcu_deploy.output.paths import make_folders, remove_empty, resolved, shown


def write_file(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Writes a file: whoever looks finds the earlier content or all of this one.

    durable: even where the power fails. Missing folders are made. A symbolic link stays, and what
    it points to is written; the file keeps its permissions. Devices and pipes are written to.
    Raises ToolError where that cannot be; then, and after Ctrl-C, everything is as it was.
    """
    made: list[Path] = []
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(content)
            return
        target = resolved(path)
        make_folders(target.parent, made)
        _write(target, content, durable)
    except BaseException as error:
        remove_empty(made)
        if isinstance(error, OSError):
            raise ToolError(
                f"{shown(path)} cannot be written ({error.strerror}); choose another place."
            ) from error
        raise


def _write(target: Path, content: bytes, durable: bool) -> None:
    mode = None
    with suppress(FileNotFoundError), target.open("r+b") as earlier:
        # what is protected refuses to be opened; a mere rename would replace it
        mode = stat.S_IMODE(os.fstat(earlier.fileno()).st_mode)
    temporary = target.with_name(f".mcu-deploy-{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as stream:
            if mode is not None:
                os.fchmod(stream.fileno(), mode)
            stream.write(content)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def require_writable(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Checks, before any work is done, that a result may go to `path`.

    inputs: what the command reads. Raises UsageError where one of these or a file of a build would
    be overwritten, and warns where the result will be a file of the user's in a build folder.
    """
    for source in inputs:
        with suppress(OSError):
            if path.samefile(source):
                raise UsageError(
                    f"{shown(path)} is what the command reads; choose another place for the result."
                )
    marker.require_outside(path)
