"""docs/backends.md as a reader has it: its listings as files, its commands as a shell runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "backends.md"
TEXT = PAGE.read_text(encoding="utf-8")
LISTINGS = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?\n)```$", TEXT, re.M | re.S))
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))


def commands(section: str) -> str:
    """The commands of a section, one after the other."""
    return "\n".join(re.findall(r"^```sh\n(.*?)^```$", SECTIONS[section], re.M | re.S))


def without_pip(script: str) -> str:
    """Commands for a reader `with_project`: without the one that installs it."""
    line = "pip install ./add_project\n"
    assert script.count(line) == 1
    return script.replace(line, "")


def write(folder: Path, *names: str) -> None:
    """Writes listings of the page into a folder, by their names."""
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(LISTINGS[name], encoding="utf-8")


@dataclass(frozen=True)
class Reader:
    """Somebody who types what the page says, in a folder of their own."""

    folder: Path
    path: str = ""  # PYTHONPATH

    def types(self, script: str) -> str:
        """Runs commands, each of which must succeed, and returns what they print."""
        output, code = self.tries(script)
        assert code == 0, f"{script}\n{output}"
        return output

    def tries(self, script: str) -> tuple[str, int]:
        """Runs commands until one fails: what they print, and the last exit code."""
        environment = {
            **os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": self.path, "COLUMNS": "1000", "LC_ALL": "C.UTF-8",
            "MCU_DEPLOY_DYNAMIC_BACKENDS": "", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script], cwd=self.folder, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300,
        )  # fmt: skip
        return done.stdout, done.returncode

    def with_project(self, *modules: str, entries: str = "") -> Reader:
        """After `pip install ./add_project`, without pip, which would want an index for hatchling.

        What an installed package is for mcu-deploy: modules on the path, and their entry points.
        entries: what the page says in place of those in pyproject.toml.
        """
        target = self.folder / "site"
        write(self.folder / "add_project", "pyproject.toml", *modules)
        project = tomllib.loads(LISTINGS["pyproject.toml"])
        assert project["tool"]["hatch"]["build"]["targets"]["wheel"] == {"include": ["*.py"]}
        write(target, *modules)
        found = project["project"] | (tomllib.loads(entries)["project"] if entries else {})
        info = target / "example_add_backend-1.0.0.dist-info"
        info.mkdir()
        head = f"Name: {found['name']}\nVersion: {found['version']}\n"
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\n{head}")
        lines = []
        for group, points in found["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        return Reader(self.folder, str(target))
