"""The page's templates, and how they print: whatever a model is called, it stays text.

Each value that a template prints is escaped, one line and of bounded length.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from mcu_deploy.errors import RequestError, one_line, shorten
from mcu_deploy.files import templates
from mcu_deploy.report.page import arena, fusion
from mcu_deploy.report.tables import shown, signed

_FOLDER = Path(__file__).parent
_LONGEST = 600


@contextmanager
def drawing() -> Iterator[None]:
    """Makes an error of a report that does not fit together, as it may have been changed."""
    try:
        yield
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise RequestError(
            f"The build's report.json does not fit together ({one_line(str(error))}): it was "
            "changed after the build. Build again."
        ) from error


def template(name: str) -> jinja2.Template:
    """A template of this folder."""
    return _environment().get_template(name)


def text(name: str) -> Markup:
    """A file of this folder, style or script, as it goes into a page."""
    return Markup((_FOLDER / name).read_text(encoding="utf-8"))


@functools.cache
def _environment() -> jinja2.Environment:
    environment = templates.environment(_FOLDER, autoescape=True, finalize=_one_line)
    environment.filters.update(
        number=shown,
        signed=signed,
        percent=_percent,
        short=lambda text: shorten(text, 60),
        label=lambda text: shorten(text, arena.LONGEST_NAME),
    )
    environment.globals.update(GUTTER=fusion.GUTTER, HEIGHT=fusion.HEIGHT)
    return environment


def _one_line(value: Any) -> Any:
    """What is no markup of the template's own, in one printable line; spaces around it stay."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    before, after = (" " if end.isspace() else "" for end in (value[:1], value[-1:]))
    return f"{before}{one_line(value, _LONGEST)}{after}"


def _percent(value: float | None) -> str:
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{'+' if value > 0 else '−'}{abs(value) / 100:,.0f}×"
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{abs(value):.1f} %"
