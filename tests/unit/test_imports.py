"""How the package hangs together: no modules import each other in a circle, few lie at the top."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import mcu_deploy

ROOT = Path(mcu_deploy.__file__).parent
MOST_AT_THE_TOP = 12


def _imports(tree: ast.Module, modules: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a module names in an import, wherever that stands in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in modules else node.module for name in inner)


def _graph(root: Path) -> dict[str, set[str]]:
    """Which modules of the package in this folder import which."""
    modules = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {
        name: set(_imports(ast.parse(path.read_text(encoding="utf-8")), modules)) - {name}
        for name, path in modules.items()
    }


def _circle(graph: Mapping[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Counted are imports in functions and for type checkers, too: they hide circles."""
    graph = _graph(ROOT)
    assert "mcu_deploy.ir.graph" in graph["mcu_deploy.ir"]
    assert _circle(graph) == []


@pytest.mark.parametrize(
    ("room", "below"),
    [
        ("quantized", ("isa", "ArmDsp", "CpuRef")),  # it names no register
        ("isa", ("ArmDsp", "CpuRef")),
        ("kit", ("quantized", "isa", "ArmDsp", "CpuRef")),
    ],
)
def test_rooms_of_kernels_import_what_stands_below(room: str, below: tuple[str, ...]) -> None:
    graph = _graph(ROOT)
    backends = "mcu_deploy.backends."
    own = [name for name in graph if f"{name}.".startswith(f"{backends}{room}.")]
    assert own
    for name in own:
        wrong = {m for m in graph[name] for b in below if f"{m}.".startswith(f"{backends}{b}.")}
        assert not wrong, f"{name} imports {wrong}"


def test_a_circle_is_found_wherever_the_import_stands(tmp_path: Path) -> None:
    package = tmp_path / "p"
    package.mkdir()
    (package / "__init__.py").write_text("import p.a\n")
    (package / "a.py").write_text("def f():\n    from p import b\n")
    (package / "b.py").write_text("if TYPE_CHECKING:\n    from p.a import f\n")
    assert set(_circle(_graph(package))) == {"p.a", "p.b"}


def test_few_modules_lie_loose_at_the_top() -> None:
    loose = [path.name for path in ROOT.glob("*.py")]
    assert len(loose) <= MOST_AT_THE_TOP, f"put one of {sorted(loose)} into a folder"


def test_the_page_says_where_everything_is() -> None:
    text = (ROOT.parent / "docs" / "pipeline.md").read_text(encoding="utf-8")
    section = text.split("\n## Where things are\n")[1].split("\n## ")[0]
    there = {path.parent.name + "/" for path in ROOT.glob("*/__init__.py")}
    there |= {path.name for path in ROOT.glob("[a-z]*.py")}
    assert [name for name in sorted(there) if f"`{name}`" not in section] == []
