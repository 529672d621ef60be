"""The sample of mutations is one, and what is said of it is true; `make mutants` tries it."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutants import run
from mutants.mutations import Mutation, mutations
from mutants.reach import Killer, Reach, Reached
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


def test_who_reaches_the_function_is_tried_the_last_killer_first_and_no_other() -> None:
    reached = Reached(
        {
            "t/test_b.py::x": 2.0,
            "t/test_b.py::y": 1.0,
            "t/test_c.py::z": 0.5,
            "t/test_a.py::w": 9.0,
        },
        {
            "t/test_b.py::x": frozenset({"a.py", "a.py:f"}),
            "t/test_b.py::y": frozenset({"a.py", "a.py:f", "a.py:A.g"}),
            "t/test_c.py::z": frozenset[str](),
            "t/test_a.py::w": frozenset({"a.py", "a.py:f"}),
        },
    )

    def tests(place: str, first: str | None = None) -> str:
        mutation = Mutation("a.py", 1, place, "0", "1", "")
        return "".join(test[-1] for test in reached.tests_of(mutation, first))

    assert tests("f#2") == "wyx", "the file of the module's name, then the cheaper one"
    assert tests("f", "t/test_b.py::x") == "xwy"
    assert tests("A.g", "t/test_gone.py::u") == "y"
    assert tests("") == tests("h") == "wyxz", "what nobody is known to reach all try"
    assert (reached.most_seconds("t/test_a.py::w"), reached.most_seconds("new")) == (36, 20)


def test_a_mutation_is_killed_by_the_test_that_reaches_it(tmp_path: Path) -> None:
    """By pytest in a process of its own, which says who reached what, and who killed."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "least.py").write_text(_SOURCE)
    (tree / "test_least.py").write_text(
        "from least import least\n\n\ndef test_one():\n    assert least([2], 3) == 2\n\n\n"
        "def test_none():\n    assert True\n"
    )
    found = tmp_path / "reach.json"
    assert not run.fails(["test_least.py"], tree, Reach(tree, ["least.py"], found))
    reached = Reached.load(found)
    every = {mutation.name.partition(": ")[2]: mutation for mutation in mutations(tree, "least.py")}
    mutation = every["most - 1 -> (most + 1)"]
    assert reached.tests_of(mutation, None) == ["test_least.py::test_one"]
    (tree / "least.py").write_text(every["return min(values[0], most - 1) -> return None"].text)
    killer = tmp_path / "killer"
    assert run.fails(["test_least.py"], tree, Killer(killer, reached))
    assert "test_one" in killer.read_text()
