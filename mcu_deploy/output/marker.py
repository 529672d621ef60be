"""The marker of a build folder: a file that lists the build's files with their SHA-256.

What a build folder holds beside these, and what was changed since, is the user's.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import stat
from collections.abc import Container, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path, PurePosixPath

from mcu_deploy.errors import RequestError
from mcu_deploy.output.json_text import json_text
from mcu_deploy.output.paths import resolved, shown

MARKER = ".mcu-deploy-build.json"
_VERSION = 1
_LOG = logging.getLogger(__name__)


def write(folder: Path) -> None:
    """Writes the marker of a build that is whole. Its files are on the disk when this returns."""
    made = [(name, path) for name, path in _walk(folder) if path.is_file()]
    # A file system does many of these in the time of one where they come together.
    with ThreadPoolExecutor(max_workers=16) as pool:
        digests = list(pool.map(_settled, [path for _, path in made]))
    files = {name: digest for (name, _), digest in zip(made, digests, strict=True)}
    text = json_text({"version": _VERSION, "files": files}) + "\n"
    with (folder / MARKER).open("xb") as stream:
        stream.write(text.encode())
        stream.flush()
        os.fsync(stream.fileno())


def _settled(path: Path) -> str:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read(folder: Path) -> Mapping[str, str] | None:
    """The files of the build in a folder with their digests; None where there is no build.

    Raises UsageError for the marker of another version."""
    try:
        if not stat.S_ISREG(os.lstat(folder / MARKER).st_mode):
            return None
        content = json.loads((folder / MARKER).read_bytes())
        version, files = content["version"], content["files"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    if version != _VERSION:
        raise RequestError(
            f"{shown(folder)} was built by another version of mcu-deploy; choose another folder, "
            "or remove this one yourself."
        )
    return files if isinstance(files, dict) else None


def files_of(folder: Path) -> list[str]:
    """The files of a build that are there, the marker as the last."""
    listed = read(folder)
    if listed is None:
        return []
    found = [name for name, path in _walk(folder, folders(listed)) if name in listed]
    return [*found, MARKER]


def require_pristine(folder: Path, ignored: Container[str]) -> None:
    """Raises UsageError, which names the first, where a folder holds anything of the user's.

    ignored: names at its top that count for nothing. A folder that is empty is nobody's."""
    listed = read(folder)
    strange = _strange(folder, listed or {}, ignored)
    if found := [shown(name) for name in islice(strange, 4)]:
        names = ", ".join(found[:3]) + (", ..." if found[3:] else "")
        reason = (
            "holds what no build of this version made"
            if listed is None
            else "holds what was added to the build, or changed since"
        )
        raise RequestError(
            f"{shown(folder)} {reason}: {names}. Nothing in it was touched; choose another folder "
            "with -o, or move these elsewhere."
        )


def remove(folder: Path) -> bool:
    """Takes away a build that was replaced: the files that it lists, as it made them.

    Returns False where something else was in the folder; that stays, with the marker."""
    listed = read(folder) or {}
    for name, path in _walk(folder):
        is_marker = name == MARKER and listed
        if not (is_marker or _is_folder(path) or _is_pristine(path, listed.get(name))):
            return False
    for name in files_of(folder)[:-1]:
        (folder / name).unlink()
    shutil.rmtree(folder)  # with the marker, without which the files would be the user's
    return True


def require_outside(path: Path) -> None:
    """Raises UsageError where `path` is a file of a build, and warns where it lies beside one."""
    try:
        target = resolved(path)
    except OSError:
        return  # whoever writes says it
    for above in target.parents:
        listed = read(above)
        if listed is None:
            continue
        name = target.relative_to(above).as_posix()
        if name == MARKER or name in listed:
            raise RequestError(
                f"{shown(path)} is a file of the build in {shown(above)}; choose another place."
            )
        _LOG.warning(
            "%s lies in the build folder %s: it is yours, and nothing is built there again while "
            "it is there",
            shown(path), shown(above),
        )  # fmt: skip


def _strange(folder: Path, listed: Mapping[str, str], ignored: Container[str]) -> Iterator[str]:
    """What is in a folder and not as listed; of a folder that is not the build's, its name."""
    own = folders(listed)
    for name, path in _walk(folder, own):
        if name in ignored or (name == MARKER and listed):
            continue
        if _is_folder(path):
            if name not in own:
                yield f"{name}/"
        elif not _is_pristine(path, listed.get(name)):
            yield name


def folders(listed: Iterable[str]) -> frozenset[str]:
    """The folders below the build's own that its files lie in."""
    return frozenset(
        str(above) for name in listed for above in PurePosixPath(name).parents if above.name
    )


def _is_pristine(path: Path, digest: str | None) -> bool:
    if digest is None or path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == digest


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _walk(
    folder: Path, entered: Container[str] | None = None, above: str = ""
) -> Iterator[tuple[str, Path]]:
    """Everything below a folder by its name relative to it, in the order of the names.

    entered: the folders that are gone into; all by default."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        name = above + path.name
        yield name, path
        if _is_folder(path) and (entered is None or name in entered):
            yield from _walk(path, entered, f"{name}/")
