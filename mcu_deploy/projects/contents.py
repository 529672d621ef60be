"""The files of a small firmware project for a board, as a value."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jinja2

from mcu_deploy import resources
from mcu_deploy.boards import Board, common, platform_defines, render_linker_script, startup_sources
from mcu_deploy.codegen.constants import elements
from mcu_deploy.codegen.names import comment, identifier, string
from mcu_deploy.codegen.text import fill
from mcu_deploy.device.emulators import launchers_for
from mcu_deploy.exports.model import Value
from mcu_deploy.files import templates
from mcu_deploy.pipelines import first
from mcu_deploy.pipelines.configuration import FILE
from mcu_deploy.pipelines.provider import pipeline_text, provider_named
from mcu_deploy.projects.debugging import launch_text
from mcu_deploy.projects.labels import Labels
from mcu_deploy.projects.vectors import exceptions, interrupts
from mcu_deploy.version import VERSION

_PLAIN = re.compile(r"[A-Za-z0-9_=+.,/-]+")
_INCLUDED = re.compile(rb'^#include "(\S+\.c)"', re.MULTILINE)


@dataclass(frozen=True)
class Subject:
    """What the firmware runs: a model, one sample of it with the oracle's answer, and its classes.

    name: of the network. suffix: of the model's file; model: its bytes; source: a page of where it
    is from, or none. origin: of the sample.
    """

    name: str
    suffix: str
    model: bytes
    source: bytes | None
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    origin: str
    labels: Labels | None

    @property
    def says(self) -> str:
        """How the line begins that the firmware prints where all is well."""
        values = sum(value.elements for value in self.outputs)
        return f"{self.name}: {values} of {values} values as expected"


def emulators_of(board: Board) -> tuple[str, ...]:
    """The emulators that have the board, by their titles, the preferred one first."""
    return tuple(launcher.title for launcher in launchers_for(board))


def project_files(name: str, board: Board, subject: Subject) -> Mapping[str, bytes]:
    """The content of each file of a project by its path. name: of the project, any text.

    The start-up is for one core: what starts a second one would bring its own _mcu_parallel.
    """
    board = replace(board, second_core=None)
    own = {} if board.document.is_shipped else board.document.copies()
    board_files = _board_files(board)
    values: dict[str, Any] = {
        "name": identifier(name),
        "board": board,
        "title": comment(board.title),
        "cflags": [_cmake(flag) for flag in board.cflags],
        "subject": subject,
        "model": f"model/{subject.name}{subject.suffix}",
        "target": '"${CMAKE_CURRENT_SOURCE_DIR}/board/board.toml"' if own else board.name,
        "emulators": emulators_of(board),
        "sources": [_source(n) for n in sorted(board_files) if _is_compiled(n, board)],
        "exceptions": exceptions(board),
        "interrupts": interrupts(board),
        "defines": [_define(flag) for flag in platform_defines(board)],
        "version": VERSION,
    }
    provider = provider_named("github")
    source = first.installed_from()
    jobs = first.configuration_text(
        {subject.name: Path(values["model"])}, ["board/board.toml" if own else board.name]
    )
    pipeline = pipeline_text(
        provider,
        source.spec,
        renode=first.needs_renode(board),
        firmware=True,
        emulated=bool(values["emulators"]),
    )
    rendered = {
        file: _render(f"{template}.j2", values)
        for file, template in (
            ("CMakeLists.txt", "CMakeLists.txt"),
            ("CMakePresets.json", "CMakePresets.json"),
            ("README.md", "README.md"),
            (".gitignore", "gitignore"),
            (".vscode/tasks.json", "tasks.json"),
            ("main.c", "main.c"),
            ("sample.h", "sample.h"),
            *((("labels.h", "labels.h"),) if subject.labels else ()),
            *((("test/emulate.py", "emulate.py"),) if values["emulators"] else ()),
            ("board/board.cmake", "board.cmake"),
            ("board/config.h", "config.h"),
            ("board/vectors.c", "vectors.c"),
        )
    }
    files = {
        values["model"]: subject.model,
        **({} if subject.source is None else {"model/SOURCE.md": subject.source}),
        "board/link.ld": render_linker_script(board).encode(),
        **{f"board/{file}": content for file, content in {**board_files, **own}.items()},
        **rendered,  # its vector table in the place of the protocol's
        "board/LICENSE": (resources.root() / "LICENSE").read_bytes(),
        ".vscode/launch.json": launch_text(board).encode(),
        provider.file: pipeline.encode(),
        FILE: jobs.encode(),
    }
    return dict(sorted(files.items()))


def _board_files(board: Board) -> dict[str, bytes]:
    """The start-up, the drivers, and what these include, by their names in the project."""
    found: dict[str, bytes] = {}
    for path in startup_sources(board):
        ours = path.is_relative_to(common())
        found[path.relative_to(common()).as_posix() if ours else path.name] = path.read_bytes()
    for content in list(found.values()):
        for included in _INCLUDED.findall(content):
            found[included.decode()] = (common() / included.decode()).read_bytes()
    for header in ("board.h", "cortexm.h"):
        found[header] = (common() / header).read_bytes()
    platform = "mcu/platform.h"
    return found | {platform: (resources.crt() / "include" / platform).read_bytes()}


def _is_compiled(name: str, board: Board) -> bool:
    """Whether a file is C that is compiled by itself, and not a header or included by another."""
    return Path(name).name in {path.name for path in startup_sources(board)}


def _cmake(word: str) -> str:
    """A word as an argument in a CMakeLists.txt."""
    return word if _PLAIN.fullmatch(word) else f'"{_escaped(word)}"'


def _source(name: str) -> str:
    """A file of the board as a source in its board.cmake."""
    return f'"${{CMAKE_CURRENT_LIST_DIR}}/{_escaped(name)}"'


def _escaped(text: str) -> str:
    """A text inside of CMake's quotes."""
    return re.sub(r'([\\"$])', r"\\\1", text)


def _define(flag: str) -> tuple[str, str]:
    key, _, value = flag.removeprefix("-D").partition("=")
    return key, value


@functools.cache
def _environment() -> jinja2.Environment:
    environment = templates.environment(Path(__file__).parent / "templates")
    environment.globals.update(elements=elements, fill=fill)
    environment.filters.update(comment=comment, string=string)
    return environment


def _render(template: str, values: Mapping[str, Any]) -> bytes:
    return _environment().get_template(template).render(values).encode()
