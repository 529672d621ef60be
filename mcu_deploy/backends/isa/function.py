"""A kernel in assembler as a C function: naked, by the procedure call standard (AAPCS32).

The compiler adds nothing to such a function and knows nothing of its inside, so that gcc and clang
compile it to the same instructions at every level of optimisation, with and without frame pointers.
It has its own prologue, which saves what it uses of r4-r11, lr and s16-s31.
"""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Iterable, Sequence

from mcu_deploy.backends.interface import CFunction, Parameter
from mcu_deploy.backends.isa.assembly import NOTE, Assembly
from mcu_deploy.backends.isa.soft import soft

_INDENT = len("    __asm__(")
_WIDTH = 100
_ARGUMENTS = 4  # in r0-r3
# Of "vcvt.f32.s32" s32 is a type.
_REGISTER = re.compile(r"(?<![.\w])(?:([rsd])(\d+)(?:-[rsd](\d+))?|(lr))\b")


def kernel(
    stem: str,
    parameters: Sequence[Parameter],
    code: Assembly,
    fpu: bool,
) -> CFunction:
    """The function; the code finds its arguments in r0-r3. fpu: whether the core has one; without,
    its registers are words of the stack (`soft`)."""
    if len(parameters) > _ARGUMENTS:
        raise ValueError(f"{stem} has {len(parameters)} parameters, of which registers hold four")
    lines = framed(code.lines if fpu else soft(code.lines))
    text = "\n".join(_strings(lines))
    body = f'{{\n    __asm__(".syntax unified\\n"\n{text});\n}}'
    return CFunction(stem, tuple(parameters), body, naked=True)


def framed(lines: Iterable[str]) -> list[str]:
    """Statements between a prologue and an epilogue, which returns."""
    code = [*lines]
    core, floats = _saved(tuple(line for line in code if not line.startswith(NOTE)))
    begin = [f"push {{{core}}}"] if core else []
    end = ["bx lr"]
    if core:
        end = [f"pop {{{core[:-2]}pc}}"] if core.endswith("lr") else [f"pop {{{core}}}", *end]
    if floats:
        begin, end = [*begin, f"vpush {{{floats}}}"], [f"vpop {{{floats}}}", *end]
    return [*begin, *code, *end]


def _saved(lines: tuple[str, ...]) -> tuple[str, str]:
    """The lists of registers that statements use and a caller wants back."""
    core: set[int] = set()
    last_float = 0
    calls = any(line.startswith("bl ") for line in lines)
    for line in lines:
        for kind, first, last, is_link in _REGISTER.findall(line):
            if is_link:
                calls = True
            elif kind == "r":
                core.update(range(int(first), int(last or first) + 1))
            else:
                number = int(last or first)
                last_float = max(last_float, number if kind == "s" else 2 * number + 1)
    names = [f"r{n}" for n in sorted(core) if 4 <= n <= 11] + ["lr"] * calls
    if last_float < 16:
        return ", ".join(names), ""
    return ", ".join(names), f"d8-d{last_float // 2}" if last_float > 17 else "d8"


def _strings(lines: Iterable[str]) -> list[str]:
    """A C string literal for each statement, and comments between them."""
    rows: list[str] = []
    at = " " * _INDENT
    for line in lines:
        if line.startswith(NOTE):
            rows += [f"{at}{row}" for row in _comment(line)]
        else:
            rows.append(f'{at}"{line if line.endswith(":") else f"    {line}"}\\n"')
    return rows


@functools.lru_cache(1 << 10)
def _comment(note: str) -> list[str]:
    parts = textwrap.wrap(note[len(NOTE) + 1 : -3], _WIDTH - _INDENT - 6)
    return [f"{NOTE} {part} */" for part in parts]
