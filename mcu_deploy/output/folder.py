"""A build folder, made aside and put in place when it is whole.

The new build is made in a scratch folder on the same file system, and takes the place of the old
one by an exchange of the two folders. Where the system has none, or the folder itself has to stay
(a mount point, the working directory), its files are replaced one by one, with a journal by which
the next start undoes what was interrupted.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import logging
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from mcu_deploy.errors import McuDeployError, ToolError
from mcu_deploy.output import marker
from mcu_deploy.output.file import write_file
from mcu_deploy.output.paths import make_folders, remove_empty, resolved, shown

_LOG = logging.getLogger(__name__)
_PATIENCE = 600.0  # seconds that a build waits for another one
_POLL = 0.1
_NO_LOCKS = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)

# Names in a scratch folder.
_OWNER, _NEW, _OLD, _JOURNAL = "owner", "new", "old", "journal.json"

_SIGNATURE = "The scratch folder of a build by mcu-deploy, which the next build takes away.\n"

_AT_FDCWD = -100  # linux/fcntl.h
_RENAME_EXCHANGE = 2  # linux/fs.h


@dataclass
class OutputFolder:
    """A folder for a build, held by one build at a time.

    path: as it was given, absolute. real: behind all symbolic links. Both are there, be it empty.
    """

    path: Path
    real: Path
    _locks: list[int] = field(default_factory=list)
    _scratches: list[Path] = field(default_factory=list)
    _marker: bytes | None = None

    @contextmanager
    def replaced(self) -> Iterator[Path]:
        """An empty folder aside; what is made in it takes the place of the earlier build.

        After a failure the earlier build is as it was. Raises UsageError where the folder holds
        anything of the user's, ToolError where the file system refuses something.
        """
        with self._sentences():
            scratch = self._scratch()
            self._scratches.append(scratch)
        with self._sentences(scratch / _NEW):
            (scratch / _NEW).mkdir()
            yield scratch / _NEW
            self._put_in_place(scratch)

    def clear_up(self) -> None:
        """Undoes and takes away what is left of builds: of all, since none goes on while the folder
        is locked; where it cannot be, of this one."""
        for scratch in _scratches(self.real) if self._locks else self._scratches:
            _undo(self.real, scratch)
            _discard(scratch)

    def require_pristine(self) -> None:
        """Raises UsageError where the folder holds anything of the user's."""
        with self._sentences():
            marker.require_pristine(self.real, {path.name for path in self._scratches})

    @property
    def state(self) -> str:
        """What is to be said of the folder after Ctrl-C."""
        with suppress(OSError):
            if self._marker == (self.real / marker.MARKER).read_bytes():
                return "holds the new build"
        return "is as it was"

    @contextmanager
    def _sentences(self, aside: Path | None = None) -> Iterator[None]:
        """Errors name the folder, not the one aside, which nobody will find."""
        try:
            yield
        except McuDeployError as error:
            if aside is not None:
                error.args = tuple(
                    str(arg).replace(str(aside), str(self.path)) for arg in error.args
                )
            raise
        except OSError as error:
            name = str(error.filename or self.path)
            if aside is not None:
                name = name.replace(str(aside), str(self.path))
            elif ".mcu-deploy-" in name:
                name = str(self.path)
            room = "make room there, or " if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
            raise ToolError(
                f"{shown(name)} cannot be written ({error.strerror}); {room}choose another output "
                "folder with -o."
            ) from error

    def _scratch(self) -> Path:
        """A new scratch folder: beside the folder, or in it where that itself has to stay."""
        scratch = Path(tempfile.mkdtemp(prefix=".mcu-deploy-", dir=self.real))
        (scratch / _OWNER).write_text(_SIGNATURE)
        if self.real.name and not _is_working_directory(self.real):
            with suppress(OSError):  # another file system, or not ours to write in
                beside = self.real.with_name(f".{self.real.name}{scratch.name}")
                scratch.rename(beside)
                return beside
        return scratch

    def _put_in_place(self, scratch: Path) -> None:
        new, old = scratch / _NEW, scratch / _OLD
        marker.write(new)
        self.require_pristine()
        self._marker = (new / marker.MARKER).read_bytes()
        if scratch.parent != self.real and _owner(new) == _owner(self.real):
            new.chmod(stat.S_IMODE(self.real.stat().st_mode))
            lock = _lock(new)  # nobody gets hold of the new folder before this build has ended
            self._locks += [] if lock is None else [lock]
            new.rename(old)  # what is called old may be of the user, who was quick
            if _exchange(old, self.real):
                return
            old.rename(new)
        _replace_files(self.real, scratch)


@contextmanager
def locked(directory: Path, patience: float = _PATIENCE) -> Iterator[OutputFolder]:
    """Holds a folder for a build; what an interrupted one left half done there is undone.

    The folder is made where it is missing, and taken away again where it stays empty. patience:
    seconds to wait for a build that goes on there. Raises ToolError after that, and where the
    folder cannot be made. A KeyboardInterrupt says how the folder is left.
    """
    made: list[Path] = []
    folder = OutputFolder(directory.absolute(), directory)
    try:
        with folder._sentences():
            folder.real = resolved(directory)
            _wait(folder, made, patience)
            folder.clear_up()
        yield folder
    except KeyboardInterrupt as error:
        error.args = (f"interrupted; {shown(folder.path)} {folder.state}",)
        raise
    finally:
        with suppress(OSError):
            folder.clear_up()
        remove_empty(made)
        for lock in folder._locks:
            os.close(lock)


def settle(directory: Path) -> None:
    """Undoes what an interrupted build left half done in a folder, before it is read."""
    with suppress(OSError):
        real = resolved(directory)
        if any((scratch / _JOURNAL).exists() for scratch in _scratches(real)):
            with locked(real):
                pass


def _wait(folder: OutputFolder, made: list[Path], patience: float) -> None:
    """Makes the folder and locks it."""
    deadline = time.monotonic() + patience
    told = False
    while True:
        make_folders(folder.real, made)
        try:
            lock = _lock(folder.real)
        except FileNotFoundError:  # whoever made it has just taken it away again
            continue
        except BlockingIOError:
            holder = _holder(folder.real)
            if time.monotonic() > deadline:
                raise ToolError(
                    f"{shown(folder.path)} has been locked by {holder}, which builds there, for "
                    f"{patience:g} seconds; wait for it, end it, or choose another folder with -o."
                ) from None
            if not told:
                _LOG.warning("%s is being built by %s; waiting for it", shown(folder.path), holder)
            told = True
            time.sleep(_POLL)
            continue
        if lock is not None:
            folder._locks.append(lock)
        return


def _lock(folder: Path) -> int | None:
    """Locks a folder, for as long as the descriptor is open. None where the system cannot.

    Raises BlockingIOError where another has it, FileNotFoundError where the folder was replaced or
    taken away in the meantime."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(descriptor), folder.stat()):
            raise FileNotFoundError(errno.ENOENT, "it was replaced", str(folder))
    except OSError as error:
        os.close(descriptor)
        if error.errno in _NO_LOCKS:  # NFS locks files only
            return None
        raise
    return descriptor


def _holder(folder: Path) -> str:
    """Who has a folder locked, as proc(5) says it in /proc/locks."""
    with suppress(OSError):
        inode = folder.stat().st_ino
        for line in Path("/proc/locks").read_text().splitlines():
            _, kind, *_, process, place, _, _ = line.split()
            if kind == "FLOCK" and place.endswith(f":{inode}") and int(process) > 0:
                return f"process {process}"
    return "another process"


def _scratches(folder: Path) -> list[Path]:
    """The scratch folders of builds into a folder: those in it and those beside it."""
    beside = rf"\.{re.escape(folder.name)}\.mcu-deploy-\w{{8}}"
    found = [*_named(folder, r"\.mcu-deploy-\w{8}"), *_named(folder.parent, beside)]
    return [path for path in found if _is_scratch(path)]


def _named(folder: Path, pattern: str) -> list[Path]:
    with suppress(OSError), os.scandir(folder) as entries:
        return sorted(Path(entry.path) for entry in entries if re.fullmatch(pattern, entry.name))
    return []


def _is_scratch(path: Path) -> bool:
    """Whether a folder was made by a build, which says so in it before it does anything else.

    Of one that was ended while it said so there is a part of the sentence, and no other file."""
    with suppress(OSError):
        if path.is_symlink() or not path.is_dir():
            return False
        names = [entry.name for entry in path.iterdir()]
        if not names:
            return True
        said = (path / _OWNER).read_text(errors="replace")
        return said == _SIGNATURE or (names == [_OWNER] and _SIGNATURE.startswith(said))
    return False


def _discard(scratch: Path) -> None:
    """Takes a scratch folder away, and an earlier build in it; what anybody put there stays."""
    new, old = scratch / _NEW, scratch / _OLD
    with suppress(OSError):
        if (scratch / _JOURNAL).exists():
            return  # the next start undoes it
        is_whole = (new / marker.MARKER).exists()
        for build in (old, *([new] if is_whole else [])):
            if build.exists() and not marker.remove(build):
                _LOG.warning("%s holds what is not of a build; it is left there", shown(build))
                return
        if new.exists():  # never finished; its compilers may live on for a moment
            shutil.rmtree(new)
        shutil.rmtree(scratch)


def _replace_files(folder: Path, scratch: Path) -> None:
    """Replaces the files of the build in a folder by those in scratch, or leaves all as it was."""
    old, new = marker.files_of(folder), marker.files_of(scratch / _NEW)
    journal = scratch / _JOURNAL
    write_file(journal, json.dumps({"old": old, "new": new}).encode())
    try:
        for name in reversed(old):
            _move(folder / name, scratch / _OLD / name)
        for name in new:
            _move(scratch / _NEW / name, folder / name)
        journal.unlink()  # from here on the new build is in place
    except BaseException:
        _undo(folder, scratch)
        raise
    remove_empty(folder / above for above in marker.folders(old))


def _undo(folder: Path, scratch: Path) -> None:
    """Puts back what _replace_files moved before it was interrupted; may itself be interrupted."""
    journal = scratch / _JOURNAL
    if not journal.exists():
        return
    content = json.loads(journal.read_bytes())
    for name in reversed(content["new"]):
        if not os.path.lexists(scratch / _NEW / name) and os.path.lexists(folder / name):
            _move(folder / name, scratch / _NEW / name)
    for name in content["old"]:
        if os.path.lexists(scratch / _OLD / name):
            _move(scratch / _OLD / name, folder / name)
    remove_empty(folder / above for above in marker.folders(content["new"]))
    remove_empty(
        [*(scratch / _OLD / above for above in marker.folders(content["old"])), scratch / _OLD]
    )
    journal.unlink()


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "there is another file in its place", str(target))
    source.rename(target)


def _owner(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_uid, status.st_gid


def _is_working_directory(folder: Path) -> bool:
    """Whether this process works in a folder or below it, so that it has to stay what it is."""
    with suppress(OSError):
        return Path.cwd().resolve().is_relative_to(folder)
    return False


def _exchange(one: Path, other: Path) -> bool:
    """Exchanges two folders in one step. False where the system cannot."""
    renameat2 = getattr(ctypes.CDLL(None), "renameat2", None)
    if renameat2 is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    done = renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], ctypes.c_uint(_RENAME_EXCHANGE))
    return bool(done == 0)
