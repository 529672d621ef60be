"""docs/arithmetic.md speaks of every operator that the oracle knows."""

from __future__ import annotations

import re
from pathlib import Path

from mcu_deploy.operators import registry

PAGE = Path(__file__).resolve().parents[2] / "docs" / "arithmetic.md"


def documented() -> set[str]:
    """The operators in the bold beginnings of the page's paragraphs."""
    heads = re.findall(r"^\*\*([^*]+)\.\*\*", PAGE.read_text(), re.MULTILINE)
    return {name.strip() for head in heads for name in head.replace("\n", " ").split(",")}


def test_the_page_counts_the_node_tests_as_the_list_does() -> None:
    listed = PAGE.parents[1].joinpath("tests/operators/node_tests_passed.txt").read_text().split()
    plain = [name for name in listed if "_expanded" not in name]
    text = " ".join(PAGE.read_text().split())
    assert f"{len(listed):,} compile and pass" in text
    assert f"{len(plain)} of these are plain tests" in text


def test_every_operator_has_its_paragraph() -> None:
    known = {name for _, name in registry()}
    assert known - documented() == set()


def test_the_page_names_no_operator_that_is_not_there() -> None:
    others = {"Rounding", "NaN", "Shapes that depend on values"}
    # Dropout is read, and becomes an Identity.
    assert documented() - {name for _, name in registry()} == {*others, "Dropout"}
