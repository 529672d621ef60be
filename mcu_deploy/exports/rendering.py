"""Templates: those that formats share, and those that lie beside a format's module."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from mcu_deploy.codegen import names
from mcu_deploy.codegen.constants import elements
from mcu_deploy.codegen.describe import real_value
from mcu_deploy.codegen.text import fill
from mcu_deploy.exports.model import Exported
from mcu_deploy.files import templates


@functools.cache
def _environment() -> jinja2.Environment:
    environment = templates.environment(Path(__file__).parent)
    environment.filters["comment"] = names.comment
    environment.filters["markdown"] = _markdown
    environment.filters["plain"] = _plain
    environment.filters["quoted"] = _quoted
    environment.filters["number"] = "{:,}".format
    environment.globals.update(elements=elements, fill=fill, real_value=real_value)
    return environment


def _markdown(text: str) -> str:
    """A model's name as code in a cell of a table."""
    return "`" + names.comment(text).replace("`", ".").replace("|", ".") + "`"


def _quoted(text: str) -> str:
    """A text in quotes as TOML and CMake have it, none of it a variable of CMake's."""
    return json.dumps(text, ensure_ascii=False)


def _plain(text: str) -> str:
    """A text of the user's in Markdown, of which nothing is markup."""
    return re.sub(r"([\\`*_{}\[\]<>#+!|~&-])", r"\\\1", text)


def render(template: str, exported: Exported, **values: Any) -> bytes:
    """The text of a template, by its path from mcu_deploy/exports; it sees `exported`, and as
    `many` whether that has several networks."""
    many = len(exported.networks) > 1
    found = _environment().get_template(template)
    return found.render(exported=exported, many=many, **values).encode()


def below(folder: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """These files in a folder."""
    return {f"{folder}/{name}": content for name, content in files.items()}
