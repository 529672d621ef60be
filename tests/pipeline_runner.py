"""What a runner of GitHub or GitLab does with a pipeline's file, without a container.

The steps are executed as they stand there, by the shell that the provider documents. What is no
step of ours is replaced by what it does: actions/checkout clones, setup-python makes an
environment, upload-artifact copies. GitHub itself is a `gh` that keeps one comment.

GitHub: docs.github.com, "Workflow syntax for GitHub Actions" (shells, `if`), "Workflow commands"
(GITHUB_ENV, GITHUB_PATH, GITHUB_STEP_SUMMARY). GitLab: the shell that gitlab-runner writes,
gitlab.com/gitlab-org/gitlab-runner, shells/bash.go.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_SHELLS = {
    "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"],
    None: ["bash", "-e"],
}

# A `gh api` that knows one comment: it is listed, changed, or made.
_GH = """\
#!/usr/bin/env bash
set -eu
echo "$*" >> "$COMMENTS/calls"
case "$*" in
*--paginate*issues/7/comments\\ *startswith*)
    if grep -q -F '<!-- mcu-deploy ci -->' "$COMMENTS/11" 2> /dev/null; then echo 11; fi ;;
*--method\\ PATCH*issues/comments/11*body=@*) cp "${!##body=@}" "$COMMENTS/11" ;;
*issues/7/comments*body=@*) test ! -e "$COMMENTS/11"; cp "${!##body=@}" "$COMMENTS/11" ;;
*) exit 1 ;;
esac
"""


@dataclass
class Run:
    """What came of a pipeline. steps: exit codes by the names of the steps that ran."""

    steps: dict[str, int] = field(default_factory=dict)
    log: str = ""
    summary: str = ""

    @property
    def passed(self) -> bool:
        return not any(self.steps.values())


class Runner:
    """A machine with the system's packages, and a Python with what mcu-deploy needs."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self.repository = repository
        self.workspace = folder / "workspace"
        self.artifacts = folder / "artifacts"
        self.comments = folder / "comments"
        self.temporary = folder / "temporary"
        self.python = folder / "python"
        for made in (self.comments, self.temporary, folder / "home", folder / "bin"):
            made.mkdir()
        gh = folder / "bin" / "gh"
        gh.write_text(_GH)
        gh.chmod(0o755)
        self.environment = {
            **os.environ,
            "CI": "true",
            "COMMENTS": str(self.comments),
            "HOME": str(folder / "home"),
            "PATH": f"{gh.parent}{os.pathsep}{os.environ['PATH']}",
            "PIP_NO_INDEX": "1",  # what is missing would be fetched
            "RUNNER_TEMP": str(self.temporary),
        }

    @property
    def comment(self) -> str:
        return (self.comments / "11").read_text(encoding="utf-8")

    def run(self, provider: str) -> Run:
        """Runs the pipeline of a provider."""
        return self.github() if provider == "github" else self.gitlab()

    def github(self) -> Run:
        """Runs the workflow for pull request 7 of me/models."""
        self._checkout()
        text = (self.workspace / ".github/workflows/mcu-deploy.yml").read_text(encoding="utf-8")
        workflow = yaml.safe_load(text)
        (job,) = workflow["jobs"].values()
        shell = workflow.get("defaults", {}).get("run", {}).get("shell")
        environment = {**self.environment, **workflow["env"], "GITHUB_REPOSITORY": "me/models"}
        run = Run()
        for step in job["steps"]:
            if not _is_wanted(step.get("if"), run):
                continue
            name = step.get("name", step.get("uses"))
            if "uses" in step:
                self._action(step["uses"], step.get("with", {}), environment)
                run.steps[name] = 0
                continue
            files = {
                f"GITHUB_{key}": self.temporary / key
                for key in ("ENV", "PATH", "OUTPUT", "STEP_SUMMARY")
            }
            for file in files.values():
                file.write_text("")
            own = {key: _evaluated(value) for key, value in step.get("env", {}).items()}
            given = {**environment, **own, **{key: str(file) for key, file in files.items()}}
            done = self._bash(_evaluated(step["run"]), _SHELLS[step.get("shell", shell)], given)
            run.steps[name] = done.returncode
            run.log += done.stdout
            run.summary += files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
            for line in files["GITHUB_ENV"].read_text().splitlines():
                key, _, value = line.partition("=")
                environment[key] = value
            for line in files["GITHUB_PATH"].read_text().splitlines():
                environment["PATH"] = f"{line}{os.pathsep}{environment['PATH']}"
        return run

    def gitlab(self) -> Run:
        """Runs the job, in what its image has."""
        self._checkout()
        text = (self.workspace / ".gitlab-ci.yml").read_text(encoding="utf-8")
        (job,) = yaml.safe_load(text).values()
        variables = {
            name: value.replace("$CI_PROJECT_DIR", str(self.workspace))
            for name, value in job["variables"].items()
        }
        environment = {**self.environment, **variables, "CI_PROJECT_DIR": str(self.workspace)}
        self._python(environment)
        script = "\n".join(["set -o pipefail", *job["before_script"], *job["script"]])
        done = self._bash(script, ["bash", "-e"], environment)
        assert job["artifacts"]["when"] == "always"
        for path in job["artifacts"]["paths"]:
            self._keep(path)
        return Run({"script": done.returncode}, done.stdout)

    def _action(self, uses: str, given: Mapping[str, Any], environment: dict[str, str]) -> None:
        name, _, version = uses.partition("@")
        assert re.fullmatch(r"v\d+", version)
        if name == "actions/setup-python":
            self._python(environment)
        elif name == "actions/upload-artifact":
            self._keep(given["path"])
        else:
            assert name in ("actions/checkout", "actions/cache"), f"{name} is not known here"

    def _checkout(self) -> None:
        shutil.rmtree(self.workspace, ignore_errors=True)
        command = ["git", "clone", "-q", str(self.repository), str(self.workspace)]
        subprocess.run(command, check=True)

    def _python(self, environment: dict[str, str]) -> None:
        """An environment without mcu-deploy, that finds other packages where these tests do."""
        if not self.python.exists():
            venv = [sys.executable, "-m", "venv", "--without-pip", str(self.python)]
            subprocess.run(venv, check=True)
            (site,) = self.python.glob("lib/python3*/site-packages")
            others = [path for path in sys.path if path.endswith("site-packages")]
            (site / "others.pth").write_text("\n".join(others) + "\n")
        environment["PATH"] = f"{self.python / 'bin'}{os.pathsep}{environment['PATH']}"

    def _keep(self, path: str) -> None:
        """Stores what an artifact names."""
        source = self.workspace / path
        if source.exists():
            shutil.copytree(source, self.artifacts / path, dirs_exist_ok=True)

    def _bash(
        self, script: str, shell: list[str], environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        file = self.temporary / "step.sh"
        file.write_text(script)
        return subprocess.run(
            [*shell, str(file)], cwd=self.workspace, env=dict(environment), check=False, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
        )  # fmt: skip


_CONTEXT = {
    "github.repository": "me/models",
    "github.event.pull_request.head.repo.full_name": "me/models",
    "github.event.pull_request.number": "7",
    "github.token": "secret",
}


def _evaluated(text: str) -> str:
    """A text with its expressions evaluated; KeyError for one that is not known here."""
    return re.sub(r"\$\{\{\s*(.+?)\s*\}\}", lambda found: _CONTEXT[found[1]], text)


def _is_wanted(condition: str | None, run: Run) -> bool:
    """Whether a step runs: without a condition where nothing has failed."""
    if condition is None:
        return run.passed
    inner = re.fullmatch(r"\$\{\{\s*(.+?)\s*\}\}", condition.strip())
    assert inner, condition
    return all(_holds(" ".join(term.split())) for term in inner[1].split("&&"))


def _holds(term: str) -> bool:
    if term == "!cancelled()":
        return True
    left, right = term.split(" == ")
    return _CONTEXT[left] == _CONTEXT[right]
