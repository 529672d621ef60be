"""One file, written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mcu_deploy.errors import ToolError, UsageError
from mcu_deploy.output.marker import require_outside
from mcu_deploy.output.paths import make_folders, remove_empty, resolved, shown


def write_file(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Writes a file: whoever looks finds the earlier content or all of this one.

    durable: even where the power fails. Missing folders are made. A symbolic link stays, and what
    it points to is written; the file keeps its permissions. Devices and pipes are written to.
    Raises ToolError where that cannot be; then, and after Ctrl-C, everything is as it was.
    """
    with _in_words(path):
        if _is_device(path):
            path.write_bytes(content)
            return
        target = resolved(path)
        with _beside(target) as stream:
            stream.write(content)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
            Path(stream.name).replace(target)


def require_writable(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Checks, before any work is done, that a result may go to the file `path`, by trying it.

    inputs: what the command reads. Raises UsageError where one of these or a file of a build would
    be overwritten, ToolError where `write_file` would, and warns where the result will be a file of
    the user's in a build folder.
    """
    for source in inputs:
        with suppress(OSError):
            if path.samefile(source):
                raise UsageError(
                    f"{shown(path)} is what the command reads; choose another place for the result."
                )
    require_outside(path)
    with _in_words(path):
        if not _is_device(path):
            with _beside(resolved(path)):
                pass


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ToolError(
            f"{shown(path)} cannot be written ({error.strerror}); choose another place."
        ) from error


@contextmanager
def _beside(target: Path) -> Iterator[BinaryIO]:
    """A new file beside `target`, with its permissions; where it is not renamed, it goes again."""
    made: list[Path] = []
    try:
        make_folders(target.parent, made)
        mode = None
        with suppress(FileNotFoundError), target.open("r+b") as earlier:
            # what is protected refuses to be opened; a mere rename would replace it
            mode = stat.S_IMODE(os.fstat(earlier.fileno()).st_mode)
        temporary = target.with_name(f".mcu-deploy-{secrets.token_hex(8)}")
        try:
            with temporary.open("xb") as stream:
                if mode is not None:
                    os.fchmod(stream.fileno(), mode)
                yield stream
        finally:
            with suppress(OSError):
                temporary.unlink()
    finally:
        remove_empty(made)
