"""Templates of text, in a folder: how jinja reads them is the same for all."""

from __future__ import annotations

from pathlib import Path

import jinja2

from mcu_deploy.files import cache


def environment(folder: Path, *, keep_trailing_newline: bool = True) -> jinja2.Environment:
    """The templates of a folder, by their paths in it. A name that a template is not given is an
    error, and a line with nothing but a statement leaves none."""
    return jinja2.Environment(
        bytecode_cache=cache.templates(),
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=keep_trailing_newline,
    )
