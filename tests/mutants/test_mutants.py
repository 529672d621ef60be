"""The sample of mutations is one, and what is said of it is true; `make mutants` tries it."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutants import run
from mutants.mutations import Mutation, mutations
from mutants.rooms import ROOMS

_SOURCE = '''\
def least(values, most):
    """Not -1."""
    if not values or most < 3:
        raise ValueError(f"{most + 1}")
    return min(values[0], most - 1)
'''


@pytest.fixture(scope="module")
def sample(repository: Path) -> list[Mutation]:
    return [mutation for room in ROOMS.values() for mutation in room.mutations(repository)]


def test_the_sample_has_three_hundred_of_all_rooms(sample: list[Mutation]) -> None:
    assert len(sample) == len({mutation.name for mutation in sample}) == 300
    assert len({(mutation.file, mutation.text) for mutation in sample}) == 300


def test_each_is_python_that_compiles(sample: list[Mutation], repository: Path) -> None:
    for mutation in sample:
        assert mutation.text != (repository / mutation.file).read_text(encoding="utf-8")
        if mutation.file.endswith(".py"):
            compile(mutation.text, mutation.file, "exec")


def test_all_tests_of_the_rooms_are_there(repository: Path) -> None:
    for room in ROOMS.values():
        assert all((repository / test.partition("::")[0]).is_file() for test in room.tests)


def test_what_is_explained_is_in_the_sample(sample: list[Mutation]) -> None:
    explained = run.table(run.EXPLAINED)
    assert set(explained) <= {mutation.name for mutation in sample}
    assert all(reason.endswith(".") for reason in explained.values())


def test_what_may_be_wrong_with_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(_SOURCE)
    found = {mutation.name.removeprefix("a.py:least: ") for mutation in mutations(tmp_path, "a.py")}
    assert found >= {
        "not values or most < 3 -> (not values and most < 3)", "not values -> (values)",
        "most < 3 -> most <= 3", "most < 3 -> most >= 3", "3 -> 4", "3 -> 2",
        "min(values[0], most - 1) -> max(values[0], most - 1)", "0 -> 1",
        "most - 1 -> (most + 1)", "return min(values[0], most - 1) -> return None",
        "raise ValueError(f'{most + 1}') -> pass",
    }  # fmt: skip
    texts = {mutation.new: mutation.text for mutation in mutations(tmp_path, "a.py")}
    assert texts["(values)"] == _SOURCE.replace("not values", "(values)")


def test_a_line_above_leaves_the_names_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(_SOURCE)
    names = [mutation.name for mutation in mutations(tmp_path, "a.py")]
    (tmp_path / "a.py").write_text(f"import os\n\n\n{_SOURCE}")
    assert [mutation.name for mutation in mutations(tmp_path, "a.py")] == names


def test_a_room_is_judged_by_what_survives() -> None:
    ten = {f"m{n}": True for n in range(10)}
    assert run.verdict({"room": ten}, {}) == []
    assert run.verdict({"room": {**ten, "m1": False}}, {"m1": "Nothing sees it."}) == []
    (wrong,) = run.verdict({"room": {**ten, "m1": False}}, {})
    assert wrong.startswith("survived: m1\n")
    (wrong,) = run.verdict({"room": ten}, {"m2": "Nothing sees it."})
    assert wrong.startswith("killed, and explained")
    less = {**ten, "m1": False, "m2": False}
    (wrong,) = run.verdict({"room": less}, {"m1": "So.", "m2": "So."})
    assert wrong == "room: 80% are killed, and 90% are to be."
