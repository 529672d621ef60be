"""Pages of docs/ as a reader has them: listings as files, commands as a shell runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


class Page:
    """listings: by the names of their files; sections: by their titles."""

    def __init__(self, name: str) -> None:
        self.path = REPOSITORY / "docs" / name
        self.text = self.path.read_text(encoding="utf-8")
        files = r"^`([\w./]+)`:\n\n```\w+\n(.*?\n)```$"
        self.listings = dict(re.findall(files, self.text, re.M | re.S))
        parts = r"^## (.*?)\n(.*?)(?=^## |\Z)"
        self.sections = dict(re.findall(parts, self.text, re.M | re.S))

    def fences(self, section: str, language: str) -> list[str]:
        """The listings of a section that are in a language."""
        found: list[str] = re.findall(
            rf"^```{language}\n(.*?)^```$", self.sections[section], re.M | re.S
        )
        return found

    def commands(self, section: str) -> str:
        """The commands of a section, one after the other."""
        return "\n".join(self.fences(section, "sh"))

    def write(self, folder: Path, *names: str) -> None:
        """Writes listings into a folder, by their names."""
        for name in names:
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.listings[name], encoding="utf-8")

    def check_links(self) -> None:
        """Files that it names, and sections of its own and of other pages."""
        for target in re.findall(r"\]\(([^)]+)\)", self.text):
            file, _, anchor = target.partition("#")
            path = self.path.parent / file if file else self.path
            assert path.exists(), target
            if anchor:
                heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
                known = {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in heads}
                assert anchor in known, target


BACKENDS = Page("backends.md")
TEXT, LISTINGS, SECTIONS = BACKENDS.text, BACKENDS.listings, BACKENDS.sections
commands, write = BACKENDS.commands, BACKENDS.write


def without_pip(script: str, project: str = "add_project") -> str:
    """Commands for a reader `with_project`: without the one that installs it."""
    line = f"pip install ./{project}\n"
    assert script.count(line) == 1
    return script.replace(line, "")


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

    def with_project(
        self,
        *modules: str,
        entries: str = "",
        page: Page = BACKENDS,
        project: str = "add_project",
    ) -> Reader:
        """After `pip install` of a project, without pip, which would want an index for hatchling.

        What an installed package is for mcu-deploy: modules on the path, and their entry points.
        entries: what the page says in place of those in pyproject.toml.
        """
        target = self.folder / "site"
        page.write(self.folder / project, "pyproject.toml", *modules)
        described = tomllib.loads(page.listings["pyproject.toml"])
        assert described["tool"]["hatch"]["build"]["targets"]["wheel"] == {"include": ["*.py"]}
        page.write(target, *modules)
        found = described["project"] | (tomllib.loads(entries)["project"] if entries else {})
        stem = f"{found['name'].replace('-', '_')}-{found['version']}"
        info = target / f"{stem}.dist-info"
        info.mkdir()
        head = f"Name: {found['name']}\nVersion: {found['version']}\n"
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\n{head}")
        lines = []
        for group, points in found["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        return Reader(self.folder, str(target))
