"""C functions that a backend keeps in C files, where CMake compiles and tests them.

Such a file holds comments, includes, `#if` and `#endif`, and functions, whose lines are indented
and whose last brace begins a line. A network gets the functions' text, and what stands around them
stays behind. So a function may use what the workload's headers declare, and the functions above it
in its file, but nothing else of its file's.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path, PurePosixPath

from mcu_deploy.backends import file_lists
from mcu_deploy.backends.workload import CFunction, Parameter
from mcu_deploy.errors import RequestError

_AROUND = re.compile(r"\s+|/\*.*?\*/|//[^\n]*|#(?:include|if|endif)\b[^\n]*\n", re.DOTALL)
_FUNCTION = re.compile(
    r"(?:static )?(?:inline )?(?P<result>\w[\w ]*? \*?)(?P<name>\w+)\((?P<parameters>[\w\s,*]*)\) "
    r"(?P<body>\{\n(?:[ \t][^\n]*\n|\n)*\})\n"
)
_PARAMETER = re.compile(r"(?P<ctype>\w[\w ]*? \*?)(?P<name>\w+)")


def helpers(folder: Path, source: str) -> tuple[CFunction, ...]:
    """The functions in a C file of a backend's list, in their order, as `static inline` helpers.

    source: the file as the list names it ("c/quantize.c"). Other functions of the backend call them
    by `$` and their names. Raises UsageError for a file that is not in the list, and for one that
    holds anything else than functions.
    """
    lists = file_lists.read(folder)
    if source not in (*lists.sources, *lists.target_sources):
        raise RequestError(
            f"{source} is not among the SOURCES of {lists.file}. Add it, so that CMake compiles "
            "what networks are made of."
        )
    return parse(folder / source)


def helper(folder: Path, source: str) -> CFunction:
    """The one function of a C file, which has the file's name."""
    found = helpers(folder, source)
    if [function.stem for function in found] != [PurePosixPath(source).stem]:
        raise RequestError(
            f"{folder / source} holds {', '.join(function.stem for function in found)}. Give it "
            "one function, of its name, or take all that it has."
        )
    return found[0]


def parse(file: Path) -> tuple[CFunction, ...]:
    """The functions that a C file holds. Raises UsageError where it holds anything else."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{file} cannot be read as UTF-8. Write it anew.") from error
    found = _functions(file, text)
    if not found:
        raise RequestError(f"{file} holds no function. Take it out of the list.")
    return found


def function_of(text: str) -> CFunction:
    """The `static inline` function that a text is, its last brace at the end."""
    (function,) = _functions(Path("a text"), f"{text}\n")
    return function


def _functions(file: Path, text: str) -> tuple[CFunction, ...]:
    found: list[CFunction] = []
    at = 0
    while at < len(text):
        if around := _AROUND.match(text, at):
            at = around.end()
            continue
        match = _FUNCTION.match(text, at)
        if match is None:
            line = text.count("\n", 0, at) + 1
            raise RequestError(
                f"{file} holds more than comments, includes and functions with indented lines, in "
                f"line {line}. Move everything else to other files."
            )
        at = match.end()
        function = CFunction(
            match["name"], _parameters(file, match["parameters"]), match["body"],
            match["result"].strip(), inline=True,
        )  # fmt: skip
        found.append(_calling(function, found))
    return tuple(found)


def _calling(function: CFunction, others: list[CFunction]) -> CFunction:
    """The function, which calls those above it as a network names them."""
    body = function.body
    for other in others:
        body = re.sub(rf"(?<![\w.>]){other.stem}(?=\()", f"${other.stem}", body)
    return replace(function, body=body)


def _parameters(file: Path, text: str) -> tuple[Parameter, ...]:
    if text.strip() == "void":
        return ()
    parameters = []
    for piece in text.split(","):
        match = _PARAMETER.fullmatch(" ".join(piece.split()))
        if match is None:
            raise RequestError(
                f"{file} has the parameter {piece.strip()!r}. Write a type and a name, as in "
                "'const int8_t *x', and `void` where there is none."
            )
        parameters.append(Parameter(match["ctype"].strip(), match["name"]))
    return tuple(parameters)
