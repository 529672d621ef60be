"""Every listing of every page is run or compiled as it stands there, from top to bottom.

A listing is a fence with a language: `sh`, `python`, `pycon`, `c` and `cpp` are run or compiled, in
a folder of the page where the README's first build is; `json` is read, `text` only shown. What
cannot be run has a comment before it that says why:

    <!-- not run: the reason -->
    <!-- compiled after: C -->               C of a function's body, behind these declarations
    <!-- within 5 %: the reason -->          numbers from 100 on, or with a point, may be so far off
"""

from __future__ import annotations

import doctest
import json
import os
import pkgutil
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import call

from mcu_deploy import resources

REPOSITORY = Path(__file__).resolve().parents[2]
BY_ANOTHER_TEST = {  # tests/dynamic/test_docs_*.py
    "docs/backends.md",
    "docs/kernels.md",
}
PAGES = sorted(
    str(path.relative_to(REPOSITORY))
    for path in (
        *REPOSITORY.glob("*.md"),
        *(REPOSITORY / "docs").glob("*.md"),
        *(REPOSITORY / "examples").glob("*/README.md"),
        *(REPOSITORY / "mcu_deploy" / "examples").glob("*/*.md"),
    )
)
NO_PYTHON = {
    "mcu_deploy.strategies",  # a group of entry points
    "mcu_deploy.float_factors",  # keys of an ONNX file
    "mcu_deploy.float_tensors",
}
STUBS = Path(__file__).parent / "docs_stubs"
RUN = {"sh", "python", "pycon", "c", "cpp", "json"}
HEAVY = {
    "docs/check.md",
    "docs/ci.md",
    "docs/memory.md",
    "docs/notebook.md",
    "docs/partial.md",
    "docs/pmx.md",
    "docs/schedules.md",
    "examples/dynamic_backend/README.md",
}
_FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)


@dataclass(frozen=True)
class Listing:
    """A fence of a page. line: of its first line; mark: of the comment before it, or empty."""

    page: str
    line: int
    language: str
    mark: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def is_run(self) -> bool:
        """Whether it can be run here and now."""
        return self.language in RUN and not self.mark.startswith("not run: ")


def listings(page: str) -> list[Listing]:
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    return [
        Listing(
            page, text.count("\n", 0, m.start("text")), m["language"], m["mark"] or "", m["text"]
        )
        for m in _FENCE.finditer(text)
    ]


class About(doctest.OutputChecker):
    """Compares what is printed but for numbers that another compiler makes a little otherwise."""

    _NUMBER = r"\d[\d,]*(?:\.\d+)?"

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        parts = re.split(rf"(\.\.\.| +|{self._NUMBER})", want)
        numbers = [part for part in parts if re.fullmatch(self._NUMBER, part)]
        pattern = "".join(
            ".*?" if part == "..." else " +" if part.isspace() and "\n" not in part
            else f"({self._NUMBER})" if part in numbers else re.escape(part)
            for part in parts
        )  # fmt: skip
        found = re.fullmatch(pattern, got, re.S)
        return found is not None and all(map(self._near, numbers, found.groups()))

    @staticmethod
    def _near(want: str, got: str) -> bool:
        wanted, found = (float(text.replace(",", "")) for text in (want, got))
        may = 0.05 * wanted if wanted >= 100 or "." in want else 0.0
        return abs(found - wanted) <= may


class Reader:
    """Somebody who follows a page, in a folder with what the repository holds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._variables = {"PWD": str(folder)}
        self._names: dict[str, object] = {}
        for name in ("mcu_deploy", "crt", "boards", "examples", "cmake", "tests", "CMakeLists.txt"):
            (folder / name).symlink_to(REPOSITORY / name)

    def follow(self, listing: Listing) -> None:
        """Does what a listing says that is no C."""
        if listing.language == "sh":
            for line in listing.text.replace("\\\n", " ").splitlines():
                self._type(line.strip(), listing.place)
        elif listing.language == "python":
            with_name = compile(listing.text, listing.place, "exec")
            exec(with_name, {"__name__": "__main__"})
        elif listing.language == "pycon":
            test = doctest.DocTestParser().get_doctest(
                listing.text, self._names, listing.place, listing.page, listing.line
            )
            said: list[str] = []
            checker = About() if listing.mark.startswith("within 5 %: ") else None
            runner = doctest.DocTestRunner(checker, optionflags=doctest.ELLIPSIS)
            runner.run(test, out=said.append, clear_globs=False)
            self._names.update(test.globs)
            assert not said, "".join(said)

        elif listing.language == "json":
            json.loads(listing.text)

    def _type(self, line: str, place: str) -> None:
        assignment = re.fullmatch(r"([A-Z_]+)=(\S+)", line)
        if assignment:
            self._variables[assignment[1]] = assignment[2]
        elif line.startswith("mcu-deploy "):
            words = re.sub(r"\$(\w+)", lambda name: self._variables[name[1]], line)
            done = call(*shlex.split(words)[1:], cwd=self.folder)
            assert done.returncode == 0, f"{place}: {line}\n{done.stdout}{done.stderr}"
        elif line and not line.startswith("#"):
            subprocess.run(
                ["bash", "-euc", line], cwd=self.folder, check=True,
                env={**os.environ, **self._variables},
            )  # fmt: skip


def compile_all(found: list[Listing], folder: Path) -> None:
    """Checks all C of a page in one call each of gcc and g++, against the headers of its builds."""
    levels = ("build/*/include", "build/*/*/include")
    made = [path for level in levels for path in folder.glob(f"{level}/network_*.h")]
    headers = [f"-I{path.parent}" for path in sorted(made)]
    includes = [f"-I{resources.crt() / 'include'}", f"-I{STUBS}", *headers]
    for language, command in (("c", ["gcc", "-std=c99"]), ("cpp", ["g++", "-std=c++11"])):
        files = []
        for listing in found:
            if listing.language != language:
                continue
            text = f'#line {listing.line + 1} "{listing.page}"\n{listing.text}'
            if listing.mark.startswith("compiled after: "):
                before = listing.mark.removeprefix("compiled after: ")
                used = re.findall(r"#include \S+", before)
                head = "\n".join(used)
                rest = re.sub(r"#include \S+", "", before)
                text = f"{head}\nvoid example(void);\nvoid example(void) {{\n{rest}\n{text}}}\n"
            files.append(folder / f"listing{listing.line}.{language}")
            files[-1].write_text(text)
        if files:
            done = subprocess.run(
                [*command, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *includes, *files],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def kws_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the README's first command builds, for the pages that go on from there."""
    folder = tmp_path_factory.mktemp("readme")
    (build,) = re.findall(
        r"^mcu-deploy (build \$EXAMPLE.*)$", (REPOSITORY / "README.md").read_text(), re.M
    )
    example = str(resources.examples() / "kws")
    done = call(*shlex.split(build.replace("$EXAMPLE", example)), cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "build" / "mps2-an386" / "kws"


@pytest.mark.parametrize("page", PAGES)
def test_every_listing_has_a_language_and_every_mark_a_reason(page: str) -> None:
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    found = listings(page)
    assert text.count("\n```") + text.startswith("```") == 2 * len(found)
    for listing in found:
        assert listing.language, listing.place
        if page not in BY_ANOTHER_TEST and listing.language not in {*RUN, "text"}:
            assert listing.mark.startswith("not run: "), listing.place
        known = r"not run: \w+ .*\w+|compiled after: |within 5 %: \w+"
        assert not listing.mark or re.match(known, listing.mark), f"{listing.place}: {listing.mark}"
        if listing.language in ("c", "cpp"):
            calls = re.findall(r"(?i)\b\w*assert\(([^;]*\w\([^;]*)\);", listing.text)
            assert not calls, f"{listing.place}: an assertion may be empty: {calls[0]}"
        if listing.language == "text":
            assert not listing.mark
            assert not re.search(
                r"^(mcu-deploy [a-z]+ [^A-Z\[]*$|make |\$ )", listing.text, re.M
            ), f"{listing.place} shows a command as text: make it sh, so that it is run"
    rest = _FENCE.sub("", text)
    indented = re.findall(r"(?:\A|\n)\n( {4,}(?![-*|]|\d\.).*)", rest)
    assert not indented, f"{page}: a listing without a fence: {indented[0]}"


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page: str) -> None:
    """Of Python what begins with the package's name, and files by their paths."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    for name in re.findall(r"`(mcu_deploy(?:\.\w+)+)", text):
        assert name in NO_PYTHON or _exists(name), f"{page}: there is no {name}"
    for path in re.findall(r"`((?:mcu_deploy|tests|crt|cmake|renode|scripts)/[\w./-]+)`", text):
        made = f"In\n`{path}`:" in text  # by the page's reader
        assert made or (REPOSITORY / path).exists(), f"{page}: there is no {path}"


def _exists(name: str) -> bool:
    """Whether there is a module, or something in one, that Python calls so."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.needs_host_gcc
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.matrix] if page in HEAVY else [])
        for page in PAGES
        if page not in BY_ANOTHER_TEST and any(listing.is_run for listing in listings(page))
    ],
)
def test_the_page_can_be_followed(
    page: str, kws_build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    builds = tmp_path / "build" / "mps2-an386"
    builds.mkdir(parents=True)
    if page != "README.md":
        (builds / "kws").symlink_to(kws_build)
    found = [listing for listing in listings(page) if listing.is_run]
    for listing in found:
        reader.follow(listing)
    compile_all(found, tmp_path)
