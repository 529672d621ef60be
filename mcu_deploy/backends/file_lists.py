"""The lists of C files that CMake builds, read from the same files that CMake reads.

A backend's folder has a `backend.cmake`, a folder of code that several backends share has a
`common.cmake`, and the C runtime has a `sources.cmake`. Each of them holds one call, and may hold
comments:

    mcu_backend(CpuRef
        SOURCES c/quantize.c
        TEST_SOURCES test/test_quantize.c
        COMMON SomeCommon)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath

from mcu_deploy.errors import RequestError

_FILES = ("SOURCES", "TEST_SOURCES", "TARGET_SOURCES", "TARGET_TEST_SOURCES")
# file: (the call that it holds, the keywords that the call takes)
_CALLS = {
    "backend.cmake": ("mcu_backend", (*_FILES, "COMMON")),
    "common.cmake": ("mcu_common", _FILES),
    "sources.cmake": ("mcu_runtime", ("SOURCES",)),
}
_CALL = re.compile(r"\s*(?P<command>\w+)\s*\((?P<words>[^()]*)\)\s*")
_WORD = re.compile(r"[A-Za-z0-9_./+-]+")


@dataclass(frozen=True)
class FileLists:
    """What a folder's list says: its id, and C files as paths relative to the folder.

    target_sources: those that only the target's compiler understands; their tests are emulated.
    common: the ids of the folders of shared code that a backend builds on.
    """

    file: Path
    id: str
    sources: tuple[str, ...] = ()
    test_sources: tuple[str, ...] = ()
    target_sources: tuple[str, ...] = ()
    target_test_sources: tuple[str, ...] = ()
    common: tuple[str, ...] = ()


def read(folder: Path) -> FileLists:
    """The lists of a backend's folder, of a folder of shared code, or of the runtime.

    Raises UsageError with a sentence where the folder has no list, where the list is more than the
    one call, where the call's id is not the folder's name, and where a file does not exist or is
    named twice.
    """
    file = _list_file(folder)
    command, keywords = _CALLS[file.name]
    words = _words(file, command)
    if not words or words[0] != folder.name:
        given = f"has the id {words[0]!r}" if words else "has no id"
        raise RequestError(
            f"{command} in {file} {given}. Make it {folder.name!r}, the name of its folder."
        )
    lists = _by_keyword(file, words[1:], keywords)
    seen: set[str] = set()
    for source in chain.from_iterable(lists.get(keyword, ()) for keyword in _FILES):
        path = PurePosixPath(source)
        if path.is_absolute() or ".." in path.parts or not (folder / source).is_file():
            raise RequestError(
                f"{file} names {source}, which is no file inside of its folder. Add the file, or "
                "take it out of the list."
            )
        if source in seen:
            raise RequestError(f"{file} names {source} twice. Take one of them out.")
        seen.add(source)
    return FileLists(file, words[0], **{key.lower(): files for key, files in lists.items()})


def _list_file(folder: Path) -> Path:
    found = [folder / name for name in _CALLS if (folder / name).is_file()]
    if len(found) != 1:
        how_many = "more than one" if found else "none"
        raise RequestError(
            f"{folder} has {how_many} of {', '.join(_CALLS)}. Give it the one that says what the "
            "folder is: a backend, code that backends share, or the runtime."
        )
    return found[0]


def _words(file: Path, command: str) -> list[str]:
    """The words between the parentheses of the file's one call."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise RequestError(f"{file} cannot be read ({reason}). Write it anew.") from error
    match = _CALL.fullmatch(re.sub(r"#[^\n]*", "", text))
    if match is None or match["command"] != command:
        raise RequestError(
            f"{file} is not one call of {command}(...). Keep the call and comments, and take "
            "everything else out: Python reads the list as well as CMake."
        )
    words = match["words"].split()
    for word in words:
        if not _WORD.fullmatch(word):
            raise RequestError(
                f"{file} holds {word!r}, which is neither a plain name nor a plain path. Write it "
                "out, without quotes and variables."
            )
    return words


def _by_keyword(
    file: Path, words: list[str], keywords: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    given: dict[str, list[str]] = {}
    current: list[str] | None = None
    for word in words:
        if word in keywords:
            if word in given:
                raise RequestError(f"{file} has {word} twice. Put both lists behind one of them.")
            current = given.setdefault(word, [])
        elif current is None:
            raise RequestError(
                f"{file} has {word!r} before any of {', '.join(keywords)}. Put it behind one."
            )
        else:
            current.append(word)
    return {key: tuple(values) for key, values in given.items()}
