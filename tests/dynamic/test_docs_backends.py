"""docs/backends.md: its listings are built, its commands are run, its tables and links are true."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from backend_cases import Only
from dynamic.page_cases import (
    BACKENDS,
    LISTINGS,
    REPOSITORY,
    SECTIONS,
    TEXT,
    Reader,
    commands,
    without_pip,
    write,
)
from graph_cases import Net

from mcu_deploy import choose
from mcu_deploy.backends.interface import API_VERSION
from mcu_deploy.dynamic.naming import why_not
from mcu_deploy.dynamic.version import is_compatible
from mcu_deploy.passes import optional

pytestmark = pytest.mark.needs_host_gcc


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    """Has come as far as the model."""
    write(tmp_path, "tiny.py", "abs_backend.c", "in_process.py")
    made = Reader(tmp_path)
    made.types(commands("A model to try"))
    return made


def rows(section: str, head: str) -> list[list[str]]:
    """The rows of a table of the page, by the begin of its head."""
    table = SECTIONS[section].split(f"\n| {head} |")[1].split("\n\n")[0]
    return [[c.strip() for c in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]


@pytest.mark.matrix
def test_the_shared_object(reader: Reader) -> None:
    section = "A shared object in C"
    output = reader.types(commands(section))
    assert re.search(r"^AbsC +1\.2 +300 +all ", output, re.M)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", SECTIONS[section], re.M | re.S)
    printed = {line.strip() for line in output.splitlines()}
    for line in shown.splitlines():
        assert line.strip() in printed, output
    assert output.endswith("passed\n")
    assert "warning" not in output


@pytest.mark.matrix  # pip installs a package for it
def test_the_package(reader: Reader) -> None:
    reader = reader.with_project("add_backend.py")
    output = reader.types(without_pip(commands("A Python package")))
    assert re.search(r"^AddPython +1\.0 +300 +all +1$", output, re.M)
    assert re.search(r"^AddPython, from package example-add-backend 1", output, re.M)
    assert re.search(r"^ *4 +add_1 +\d+ +Add +AddPython +cost", output, re.M)
    assert "\npassed\n" in output
    assert "\nAdd AddPython\n" in output
    assert output.endswith("True\n")
    assert "warning" not in output


def test_a_replacement_in_python() -> None:
    found: dict[str, Any] = {}
    exec(compile(LISTINGS["neg_abs.py"], "neg_abs.py", "exec"), found)
    net = Net()
    graph = net.finish(net.op("Abs", [net.op("Neg", [net.input(1, 4)], (1, 4))], (1, 4)))
    backend = Only(ops=None, optimizes=found["optimize_subgraph"])
    made, _ = choose.assign(graph, [backend])
    assert [node.op for node in made.nodes] == ["Abs"]


@pytest.mark.matrix
def test_the_proposals(reader: Reader) -> None:
    write(reader.folder, "chains.py", "propose.h")
    output = reader.types(commands("Proposals"))
    assert "['CpuRef', 'Chains', 'CpuRef', 'CpuRef', 'CpuRef'] passed\n" in output
    assert re.search(r"^ *\d+ +\w+ +\d+ +Magnitude +AbsC +made by AbsC", output, re.M), output
    assert "warning" not in output
    assert output.endswith("passed\n")


@pytest.mark.matrix
def test_the_proposals_of_a_package(reader: Reader) -> None:
    (entry,) = re.findall(r"^`(chains = .*)`\.", SECTIONS["Proposals"], re.M)
    entries = f'[project.entry-points."mcu_deploy.backends"]\n{entry}\n'
    reader = reader.with_project("chains.py", entries=entries)
    output = reader.types("mcu-deploy build tiny.onnx --board host -o build/package --explain")
    assert re.search(r"^ *\d+ +\w+ +\d+ +Magnitude +Chains +made by Chains", output, re.M), output
    assert "warning" not in output
    assert reader.types("mcu-deploy validate build/package").endswith("passed\n")


def _passes(reader: Reader, section: str, backend: str) -> tuple[Reader, str]:
    """What a section's commands print, where its backend is installed beside the page's first."""
    (entries,) = re.findall(r"^```toml\n(.*?)^```$", SECTIONS[section], re.M | re.S)
    reader = reader.with_project("add_backend.py", backend, entries=entries)
    output = reader.types(without_pip(commands(section)))
    assert "\npassed\n" in output
    return reader, output


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_the_optional_parts(reader: Reader) -> None:
    reader, output = _passes(reader, "Optional parts", "counting_backend.py")
    (quoted,) = re.findall(r"`(AddCounting: layers 1, instructions )[\d,]+`", TEXT)
    assert re.search(rf"^{quoted}[\d,]+$", output, re.M)
    source = (reader.folder / "build" / "counting" / "network_tiny.c").read_text()
    assert source.count("_mcu_tiny_add_begin(") == 2  # defined, and called in each run
    assert source.count("counts[1]++;") == 1


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_the_driver(reader: Reader) -> None:
    """A unit that is not on would end the run."""
    reader, _ = _passes(reader, "An accelerator and its driver", "driven_backend.py")
    source = (reader.folder / "build" / "driven" / "network_tiny.c").read_text()
    assert source.count("_mcu_tiny_unit_start()") == 1


@pytest.mark.matrix
@pytest.mark.needs_cmake
def test_the_folder(reader: Reader, tmp_path: Path) -> None:
    """In a copy of the repository."""
    root = tmp_path / "repository"
    shutil.copytree(
        REPOSITORY / "mcu_deploy", root / "mcu_deploy",
        ignore=shutil.ignore_patterns("__pycache__"),
    )  # fmt: skip
    folders = ("crt", "boards", "cmake", "renode", "examples", "tests")
    for name in (*folders, "CMakeLists.txt", "LICENSE"):
        (root / name).symlink_to(REPOSITORY / name)
    shutil.copy(reader.folder / "tiny.onnx", root)
    names = [n for n in LISTINGS if re.match(r"backend\.cmake|c/|test/|__init__", n)]
    assert len(names) == 5
    write(root / "mcu_deploy" / "backends" / "NegFolder", *names)
    output = Reader(root, str(root)).types(commands("A folder in mcu_deploy/backends"))
    assert re.search(r"^ *1 +neg_1 +0 +Neg +NegFolder +cost", output, re.M)
    assert "\npassed\n" in output
    assert "NegFolder.test_negated" in output
    assert "100% tests passed" in output
    assert "$negated" in LISTINGS["__init__.py"]
    assert (
        "_mcu_tiny_negated(x[i])"
        in (root / "build" / "host" / "tiny" / "network_tiny.c").read_text()
    )


def test_every_listing_is_of_a_kind_that_the_tests_here_use() -> None:
    """A file by its name, the commands of a section that is followed above, or what is shown."""
    used = {"tiny.py", "abs_backend.c", "in_process.py", "pyproject.toml", "add_backend.py"}
    used |= {"chains.py", "counting_backend.py", "backend.cmake", "c/negated.h", "c/negated.c"}
    used |= {"test/test_negated.c", "__init__.py", "neg_abs.py", "propose.h", "driven_backend.py"}
    assert set(LISTINGS) == used
    followed = {"A model to try", "A shared object in C", "A Python package", "Optional parts"}
    followed |= {"A folder in mcu_deploy/backends", "Proposals", "An accelerator and its driver"}
    for title, section in SECTIONS.items():
        for language, text in re.findall(r"^```(\w*)\n(.*?)^```$", section, re.M | re.S):
            is_entry = language == "toml" and title in followed
            is_command = language == "sh" and title in followed
            assert language == "text" or is_entry or is_command or text in LISTINGS.values()


def test_its_rules_of_names_and_versions() -> None:
    for names, tried in rows("A shared object in C", "file"):
        for name in re.findall(r"`(.*?)`", names):
            reason = why_not(name)
            expected = "yes" if reason is None else f"no: {reason}"
            assert tried == expected
    versions = rows("A shared object in C", "backend")
    assert len(versions) == 5
    for backend, ours, loaded in versions:
        pair = [tuple(map(int, text.split("."))) for text in (backend, ours)]
        assert is_compatible(*pair) == loaded.startswith("yes")  # type: ignore[arg-type]
    assert f"now {API_VERSION[0]}.{API_VERSION[1]}." in TEXT


def test_what_it_names_is_there() -> None:
    BACKENDS.check_links()
    for name in optional.names():
        assert f"`{name}`" in TEXT
