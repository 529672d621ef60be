"""Templates of text, in a folder: how jinja reads them is the same for all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2

from mcu_deploy.files import cache


def environment(
    *folders: Path, keep_trailing_newline: bool = True, autoescape: bool = False,
    finalize: Callable[[Any], Any] | None = None,
) -> jinja2.Environment:  # fmt: skip
    """The templates of folders, by their paths in the first that has them. A name that a
    template is not given is an error, and a line with nothing but a statement leaves none.

    autoescape: what is printed is text, where the template is HTML. finalize: makes of each value
    what is printed.
    """
    return jinja2.Environment(
        bytecode_cache=cache.templates(),
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=keep_trailing_newline,
        autoescape=autoescape,
        finalize=finalize,
    )
