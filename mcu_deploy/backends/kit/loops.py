"""Loops and indices in the text of kernels: what has one step leaves neither loop nor term.

A template declares the variable of a loop, writes the loop around its body, indented as in C, and
adds up indices:

    {% set r = counter('r', rows) %}
    {% call each(r) %}
        *y++ = x[{{ plus(times(r, columns), 'n') }}];
    {% endcall %}
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from mcu_deploy.backends.kit.literals import signed

_PRODUCT = re.compile(r"(\w+) \* (\d+)")


class Counter(str):
    """The variable of a loop from `first` to before `end`, by `by`; empty where that is 0 alone.
    step: what is done with each increment."""

    first: str
    end: str
    by: int = 1
    step: str = ""


def counter(name: str, end: int | str, first: str = "0", by: int = 1) -> Counter:
    """The variable of a loop, whose bounds are numbers or C expressions."""
    made = Counter(name if (first, end) != ("0", 1) else "")
    made.first, made.end, made.by = first, str(end), by
    return made


def step(variable: Counter, done: str) -> Counter:
    """The variable of the same loop, in which this is done with each increment.

    Without a loop there is no step either: nothing behind it may count on it.
    """
    made = counter(variable, variable.end, variable.first, variable.by)
    made.step = done
    return made


def counters(name: str, extents: Iterable[int]) -> tuple[Counter, ...]:
    """The variables of loops in one another, outermost first: the name, numbered."""
    number = itertools.count()
    return tuple(counter(f"{name}{next(number)}" if e != 1 else "", e) for e in extents)


def each(variable: Counter, done: str = "", *, caller: Callable[[], str]) -> str:
    """A loop around the body, which is indented for it; done: its `step`."""
    if not variable:
        return _block("", caller())
    done = done or variable.step
    bounds = f"int32_t {variable} = {variable.first}; {variable} < {variable.end}"
    more = "++" if variable.by == 1 else f" += {variable.by}"
    return _block(f"for ({bounds}; {variable}{more}{f', {done}' if done else ''})", caller())


def when(condition: str, *, caller: Callable[[], str]) -> str:
    """An `if` around the body, which is indented for it; none where there is no condition."""
    return _block(condition and f"if ({condition})", caller())


def _block(head: str, body: str) -> str:
    if not head:
        return "".join(line.removeprefix("    ") for line in body.splitlines(keepends=True))
    pad = body[: len(body) - len(body.lstrip(" ")) - 4]
    return f"{pad}{head} {{\n{body}{pad}}}\n"


def nest(name: str, extents: Iterable[int], *, caller: Callable[[], str]) -> str:
    """Loops of `counters` around the body, which is indented as for the outermost alone."""
    return around(counters(name, extents), caller=caller)


def around(*loops: Counter | Sequence[Counter], caller: Callable[[], str]) -> str:
    """Loops in one another around the body, which is indented as for the outermost alone."""
    variables = [v for one in loops for v in ([one] if isinstance(one, Counter) else one)]
    text = _block("", caller())
    for variable in filter(None, reversed(variables)):
        text = each(variable, caller=partial(textwrap.indent, text, "    "))
    return text


def times(factor: str, number: int) -> str:
    """`factor * number` in C, without the multiplication by one; nothing where that is 0."""
    if factor in ("", "0") or number == 0:
        return ""
    if number < 0:
        return f"-{times(factor, -number)}"
    if number == 1:
        return factor
    if product := _PRODUCT.fullmatch(factor):
        return f"{product[1]} * {int(product[2]) * number}"
    return f"({factor}) * {number}" if " " in factor else f"{factor} * {number}"


def plus(*terms: str | int) -> str:
    """A sum in C without what is nothing or 0, numbers behind the rest; 0 where nothing is left."""
    shown = (term for term in terms if isinstance(term, str) and term not in ("", "0"))
    text = " + ".join(shown).replace("+ -", "- ")
    number = sum(term for term in terms if isinstance(term, int))
    return f"{text}{signed(number)}" if text else str(number)
