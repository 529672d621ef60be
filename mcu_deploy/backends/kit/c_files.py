"""C functions that a backend keeps in C files, where CMake compiles and tests them natively.

Such a file holds comments and includes, and then one function, whose lines are indented and whose
last brace is the file's last character. A network gets the function's text, and what stands above
it stays behind. So the function may use what the workload's headers declare, and nothing else of
its file's.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from mcu_deploy.backends import file_lists
from mcu_deploy.backends.workload import CFunction, Parameter
from mcu_deploy.errors import RequestError

_ABOVE = re.compile(r"\s+|/\*.*?\*/|//[^\n]*|#include [^\n]*\n", re.DOTALL)
_FUNCTION = re.compile(
    r"(?P<result>\w[\w ]*? \*?)(?P<name>\w+)\((?P<parameters>[\w\s,*]*)\) "
    r"(?P<body>\{\n(?:[ \t][^\n]*\n|\n)*\})\n"
)
_PARAMETER = re.compile(r"(?P<ctype>\w[\w ]*? \*?)(?P<name>\w+)")


def helper(folder: Path, source: str) -> CFunction:
    """The function in a C file of a backend's list, as a helper that is `static inline`.

    source: the file as the list names it ("c/quantize.c"). The function has the file's name, and
    other functions of the backend call it by `$quantize`. Raises UsageError for a file that is not
    in the list, and for one that holds anything else than one function.
    """
    lists = file_lists.read(folder)
    if source not in lists.sources:
        raise RequestError(
            f"{source} is not among the SOURCES of {lists.file}. Add it, so that CMake compiles "
            "what networks are made of."
        )
    return parse(folder / source)


def parse(file: Path) -> CFunction:
    """The one function that a C file holds. Raises UsageError where it holds anything else."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{file} cannot be read as UTF-8. Write it anew.") from error
    start = 0
    while above := _ABOVE.match(text, start):
        start = above.end()
    match = _FUNCTION.fullmatch(text, start)
    if match is None:
        raise RequestError(
            f"{file} is not comments, includes and one function with indented lines. Move "
            "everything else to other files."
        )
    if match["name"] != PurePosixPath(file.name).stem:
        raise RequestError(
            f"{file} holds the function {match['name']}. Give file and function one name."
        )
    return CFunction(
        stem=match["name"],
        parameters=_parameters(file, match["parameters"]),
        body=match["body"],
        result=match["result"].strip(),
        inline=True,
    )


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
