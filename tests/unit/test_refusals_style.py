"""Every refusal in the code has the form of the others: what is raised is a reason and a remedy,
what a backend says is a clause about the layer or about itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "mcu_deploy"
RAISED = {"ModelError", "UnsupportedError"}


def text(node: ast.expr) -> str | None:
    """A string as it stands in the code, {} for what is put in; None for another expression."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join("{}" if (part := text(v)) is None else part for v in node.values)
    return None


def calls(folder: str) -> Iterator[tuple[str, ast.Call]]:
    """Each call in the modules of a folder, with its place."""
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node


def name(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


@pytest.mark.parametrize("folder", ["formats", "operators", "passes"])
def test_what_is_raised_is_a_reason_and_a_remedy(folder: str) -> None:
    found = 0
    for place, call in calls(folder):
        if name(call) not in RAISED or not call.args or (said := text(call.args[0])) is None:
            continue
        found += 1
        if said.endswith("is {}"):
            continue  # the reason and the remedy are made elsewhere
        assert said.endswith((".", ".{}")), f"{place}: no end of a sentence: {said}"
        _, divided, remedy = said.rpartition(". ")
        assert divided and len(remedy) > 8, f"{place}: no remedy behind the reason: {said}"
        assert remedy[0].isupper() or remedy[0] in "{`-", f"{place}: {remedy}"
    assert found or folder == "passes"


def test_what_the_reader_of_tflite_refuses_has_a_remedy() -> None:
    found = 0
    for place, call in calls("formats/tflite_ops"):
        said = [text(argument) for argument in call.args]
        if name(call) == "unsupported" and len(said) == 2 and said[0] and said[1]:
            found += 1
            clause, remedy = said
            assert clause[0].islower() and not clause.endswith("."), f"{place}: {clause}"
            assert remedy[0].isupper() or remedy.startswith("mcu-deploy "), f"{place}: {remedy}"
            assert remedy.endswith("."), f"{place}: {remedy}"
        if name(call) == "damaged" and said[0]:
            assert said[0].startswith(("it ", "its ", "a ", "the computed ")), f"{place}: {said[0]}"
    assert found > 15


def test_what_a_backend_refuses_is_a_clause() -> None:
    found = 0
    for place, call in calls("backends/CpuRef"):
        if name(call) == "no" and call.args and (clause := text(call.args[0])):
            found += 1
            assert clause.startswith(("it ", "its ", "a ", "an ", "{}")), f"{place}: {clause}"
            assert not clause.endswith("."), f"{place}: {clause}"
    assert found > 50
