"""Text from a model on its way into C, linker scripts, file names: the one module it goes through.

A model's names are data of strangers: they may hold comment ends, line continuations, quotes,
trigraphs, format directives, anything.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from pathlib import Path

from mcu_deploy.errors import UsageError, shorten

_LONGEST_NAME = 48
_LONGEST_COMMENT = 100
_LONGEST_VARIABLE = 40

# What a variable of generated C cannot be called, in lower case: keywords up to C23 and of gcc,
# macros and functions of the headers that networks include, types, and what the functions of a
# network declare for themselves.
_RESERVED = re.compile(
    r"""alignas|alignof|asm|auto|bool|break|case|char|const|constexpr|continue|default|do|double
    |else|enum|extern|false|float|for|goto|if|inline|int|long|nullptr|register|restrict|return
    |short|signed|sizeof|static|static_assert|struct|switch|thread_local|true|typedef|typeof
    |typeof_unqual|union|unsigned|void|volatile|while
    |arm|linux|unix|errno|math_errhandling|signgam|mem(?:cpy|move)
    |.*_t|mcu_.*
    |context|entry|instance|manager|piece|pointers|status|ws|(?:pool|round|trips)[0-9]+""",
    re.VERBOSE,
)


def network_name(given: str | None, path: Path) -> str:
    """The network's name: `given` if it is a C identifier's part, else one made of the file name.

    Raises UsageError for a given name that is not letters, digits and underscores, or too long.
    """
    if given is not None:
        if not re.fullmatch(r"[A-Za-z0-9_]+", given) or len(given) > _LONGEST_NAME:
            raise UsageError(
                f"The name {shorten(given)!r} cannot be part of a C symbol: give --name letters, "
                f"digits and underscores, at most {_LONGEST_NAME}."
            )
        return given
    stem = path.stem if path.stem != "model" else path.resolve().parent.name
    return identifier(stem, _LONGEST_NAME)


def identifier(text: str, longest: int = _LONGEST_NAME) -> str:
    """Letters, digits and underscores made of any text; never empty. Not unique."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    words = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")
    return words[:longest].strip("_") or "model"


def variable(text: str, taken: set[str]) -> str:
    """The name of a variable in generated C, made of any text; none of `taken`, and added to it.

    In lower case, as the macros of headers are not.
    """
    stem = identifier(text, _LONGEST_VARIABLE).lower()
    if stem[0].isdigit():
        stem = f"tensor_{stem}"
    if _RESERVED.fullmatch(stem):
        stem = f"{stem}_"
    numbered = (stem if k == 1 else f"{stem}_{k}" for k in itertools.count(1))
    found = next(name for name in numbered if name not in taken)
    taken.add(found)
    return found


def comment(text: str, longest: int = _LONGEST_COMMENT) -> str:
    """Text that is safe inside of a C comment: printable ASCII, no comment marks, one line.

    Backslashes and question marks go too: a backslash at a line's end continues it, and trigraphs
    are replaced before comments are found.
    """
    shown = shorten(text, longest)
    plain = "".join(c if " " <= c <= "~" and c not in "\\?" else "." for c in shown)
    # An asterisk or a slash beside another could open or close a comment, also together with what
    # stands around the text.
    plain = re.sub(r"[*]", ".", plain)
    return re.sub(r"/(?=/)", ".", plain).rstrip("/") or "."


def string(text: str, longest_bytes: int = 63) -> str:
    """A C string literal with these UTF-8 bytes, shortened to whole characters.

    Everything but letters, digits and plain punctuation is written as an octal escape, which ends
    after three digits whatever follows. A zero byte, which would end the string, becomes U+FFFD.
    """
    raw = text.replace("\0", "\ufffd").encode("utf-8", "replace")
    if len(raw) > longest_bytes:
        raw = raw[:longest_bytes].decode("utf-8", "ignore").encode("utf-8")
    safe = set(
        b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:;/()+=<>[]|#@!~^&"
    )
    return '"' + "".join(chr(b) if b in safe else f"\\{b:03o}" for b in raw) + '"'
