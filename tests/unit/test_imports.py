"""How the package hangs together: imports point downwards, in no circle; few modules lie loose, and
none is longer than one reads at one go."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import mcu_deploy

ROOT = Path(mcu_deploy.__file__).parent
PAGE = ROOT.parent / "docs" / "pipeline.md"
MOST_AT_THE_TOP = 12
MOST_LINES = 400
# Of modules imports alone are parsed, as the formatter leaves them: all of each takes long.
_STATEMENT = re.compile(r"^ *((?:from [\w.]+ )?import (?:\([^)]*\)|[^\n]+))", re.MULTILINE)


def _imports(tree: ast.Module, package: str, modules: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a module of a package names in an import, wherever that stands in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            inner = [f"{base}.{alias.name}" for alias in node.names]
            found = [name if name in modules else base for name in inner]
            yield from (name for name in found if name in modules)


def _graph(root: Path) -> dict[str, set[str]]:
    """Which modules of the package in this folder import which."""
    modules = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    graph = {}
    for name, path in modules.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        tree = ast.parse("\n".join(_STATEMENT.findall(path.read_text(encoding="utf-8"))))
        graph[name] = set(_imports(tree, package, modules)) - {name}
    return graph


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    """Of mcu-deploy."""
    return _graph(ROOT)


def _circle(graph: Mapping[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_in_a_circle(graph: dict[str, set[str]]) -> None:
    """Counted are imports in functions and for type checkers, too: they hide circles."""
    assert "mcu_deploy.ir.graph" in graph["mcu_deploy.ir"]
    assert _circle(graph) == []


def _where_things_are() -> str:
    text = PAGE.read_text(encoding="utf-8")
    return text.split("\n## Where things are\n")[1].split("\n## ")[0]


def _layers() -> list[list[list[str]]]:
    """The lists of docs/pipeline.md: rooms of the package, and those of backends/, lowest first."""
    blocks = _where_things_are().split("```text\n")[1:]
    return [[line.split() for line in b.split("\n```")[0].splitlines()] for b in blocks]


def _upwards(
    graph: Mapping[str, set[str]], package: str, layers: Sequence[Sequence[str]]
) -> list[str]:
    """Imports from a room of a package of one that does not stand in a lower layer."""
    heights = {room: height for height, rooms in enumerate(layers) for room in rooms}

    def room(module: str) -> str:
        return module.removeprefix(f"{package}.").split(".")[0]

    return [
        f"{name} imports {other}"
        for name, others in graph.items()
        for other in sorted(others)
        if {room(name), room(other)} <= heights.keys() and room(name) != room(other)
        if heights[room(other)] >= heights[room(name)]
    ]


def test_nothing_imports_what_stands_above_it(graph: dict[str, set[str]]) -> None:
    rooms, backends = _layers()
    assert _upwards(graph, "mcu_deploy", rooms) == []
    assert _upwards(graph, "mcu_deploy.backends", backends) == []
    assert _upwards({"p.a": {"p.b.c"}, "p.b.c": {"p.a", "p.b"}}, "p", [["a"], ["b"]])


def test_every_room_has_its_layer() -> None:
    rooms, backends = _layers()
    there = {path.stem for path in ROOT.glob("[a-z]*.py")}
    there |= {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert sorted(name for layer in rooms for name in layer) == sorted(there)
    folders = {path.parent.name for path in (ROOT / "backends").glob("*/__init__.py")}
    assert sorted(name for layer in backends for name in layer) == sorted(folders)


def test_a_circle_is_found_wherever_the_import_stands(tmp_path: Path) -> None:
    package = tmp_path / "p"
    package.mkdir()
    (package / "__init__.py").write_text("import p.a\n")
    (package / "a.py").write_text("def f():\n    from p import b\n")
    (package / "b.py").write_text("if TYPE_CHECKING:\n    from p.a import f\n")
    assert set(_circle(_graph(package))) == {"p.a", "p.b"}
    (package / "b.py").write_text("from . import a\n")
    assert set(_circle(_graph(package))) == {"p.a", "p.b"}
    (package / "b.py").write_text("from .a import f\n")
    assert set(_circle(_graph(package))) == {"p.a", "p.b"}


def test_few_modules_lie_loose_at_the_top() -> None:
    loose = [path.name for path in ROOT.glob("*.py")]
    assert len(loose) <= MOST_AT_THE_TOP, f"put one of {sorted(loose)} into a folder"


def test_each_module_can_be_read_at_one_go() -> None:
    lines = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in ROOT.rglob("*.py")}
    longer = {str(p.relative_to(ROOT)): n for p, n in lines.items() if n > MOST_LINES}
    assert not longer, f"longer than {MOST_LINES} lines, each wants to be two: {longer}"


def test_the_page_says_where_everything_is() -> None:
    section = _where_things_are()
    there = {path.parent.name + "/" for path in ROOT.glob("*/__init__.py")}
    there |= {path.name for path in ROOT.glob("[a-z]*.py")}
    assert [name for name in sorted(there) if f"`{name}`" not in section] == []
