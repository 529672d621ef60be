"""Schedules: every job once, after what it needs, and in lanes that do not need each other."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import examples

from mcu_deploy.errors import UsageError
from mcu_deploy.plan import schedules
from mcu_deploy.plan.schedules import Job, Stage, parallel, sequential
from mcu_deploy.plan.schedules.parallel import LEAST_COST

MUCH = 10 * LEAST_COST
QUICK = settings(max_examples=examples(300), deadline=None, derandomize=True)


@st.composite
def random_jobs(draw: st.DrawFn) -> tuple[Job, ...]:
    """Up to 14 jobs that need some of the few before them; cheap, costly and lonely ones."""
    jobs = []
    for number in range(draw(st.integers(0, 14))):
        reach = st.integers(max(0, number - 5), number - 1) if number else st.nothing()
        needs = draw(st.frozensets(reach, max_size=3)) if number else frozenset()
        cost = draw(st.sampled_from([0, 1, LEAST_COST - 1, LEAST_COST, MUCH, 3 * MUCH]))
        jobs.append(Job(needs, cost, alone=draw(st.integers(0, 9)) == 0))
    return tuple(jobs)


def cost(jobs: Sequence[Job], lane: Sequence[int]) -> int:
    return sum(jobs[n].cost for n in lane)


@pytest.mark.parametrize("name", schedules.names())
@given(jobs=random_jobs())
@QUICK
def test_every_job_runs_once_after_what_it_needs(name: str, jobs: tuple[Job, ...]) -> None:
    stages = schedules.find(name)(jobs)
    assert sorted(n for s in stages for lane in s.lanes for n in lane) == list(range(len(jobs)))
    done: set[int] = set()
    for stage in stages:
        assert stage.lanes
        assert all(stage.lanes)
        for lane in stage.lanes:
            before = set(done)  # nothing of another lane of this stage
            for number in lane:
                assert jobs[number].needs <= before
                before.add(number)
        done.update(n for lane in stage.lanes for n in lane)
        if len(stage.lanes) > 1:
            assert not any(jobs[n].alone for lane in stage.lanes for n in lane)


@given(jobs=random_jobs())
@QUICK
def test_two_lanes_are_worth_it_and_the_answer_is_always_the_same(jobs: tuple[Job, ...]) -> None:
    stages = parallel.arrange(jobs)
    assert stages == parallel.arrange(tuple(jobs))
    for stage in stages:
        assert len(stage.lanes) <= 2
        if len(stage.lanes) == 2:
            assert min(cost(jobs, lane) for lane in stage.lanes) >= LEAST_COST
    # what runs on one core is one stage, however many layers that is
    assert not any(len(a.lanes) == len(b.lanes) == 1 for a, b in itertools.pairwise(stages))


@given(jobs=random_jobs())
@QUICK
def test_sequential_is_the_given_order(jobs: tuple[Job, ...]) -> None:
    every = tuple(range(len(jobs)))
    assert sequential.arrange(jobs) == ((Stage((every,)),) if jobs else ())


# ---- Shapes ----


def wired(*needs: Sequence[int], costs: dict[int, int] | None = None) -> list[Job]:
    """Costly jobs, the k-th of which needs those of `needs[k]`."""
    return [Job(frozenset(n), (costs or {}).get(k, MUCH)) for k, n in enumerate(needs)]


def lanes(jobs: Sequence[Job]) -> list[list[list[int]]]:
    return [[list(lane) for lane in stage.lanes] for stage in parallel.arrange(jobs)]


def test_a_chain_is_one_lane() -> None:
    assert lanes(wired([], [0], [1], [2])) == [[[0, 1, 2, 3]]]
    assert lanes([]) == []


def test_a_fork_becomes_two_lanes_until_it_joins() -> None:
    assert lanes(wired([], [0], [0], [1, 2], [3])) == [[[0]], [[1], [2]], [[3, 4]]]


def test_several_forks_become_several_stages() -> None:
    jobs = wired([], [0], [0], [1, 2], [3], [4], [4], [6], [5, 7])
    assert lanes(jobs) == [[[0]], [[1], [2]], [[3, 4]], [[6, 7], [5]], [[8]]]


def test_of_nested_forks_the_outer_one_is_divided() -> None:
    """Both cores are busy already: an inner fork stays in its lane."""
    jobs = wired([], [0], [1], [1], [2, 3], [0], [5], [4, 6])
    assert lanes(jobs) == [[[0]], [[1, 2, 3, 4], [5, 6]], [[7]]]


def test_a_fork_within_a_branch_is_divided_once_the_cheap_branch_is_done() -> None:
    """A shortcut that costs nothing is no lane; what is left of the network forks again."""
    jobs = wired([], [0], [0], [2], [2], [3, 4], [1, 5], costs={1: 10})
    assert lanes(jobs) == [[[0, 1, 2]], [[3], [4]], [[5, 6]]]


def test_branches_that_never_join_run_to_their_ends() -> None:
    assert lanes(wired([], [0], [0], [1], [2])) == [[[0]], [[1, 3], [2, 4]]]
    assert lanes(wired([], [])) == [[[0], [1]]]


def test_crossed_branches_run_beside_each_other_until_one_needs_both() -> None:
    jobs = wired([], [0], [0], [1, 2], [2], [3, 4])
    assert lanes(jobs) == [[[0]], [[2, 4], [1]], [[3, 5]]]


def test_three_branches_are_balanced_by_their_cost() -> None:
    """The costliest to one lane, the two others to the other one."""
    fork = [[], [0], [0], [0], [1, 2, 3]]
    costs = {1: MUCH, 2: 2 * MUCH, 3: MUCH}
    assert lanes(wired(*fork, costs=costs)) == [[[0]], [[2], [1, 3]], [[4]]]
    assert lanes(wired(*fork, costs={})) == [[[0]], [[1, 3], [2]], [[4]]]


def test_a_part_that_costs_less_than_a_hand_over_is_no_lane() -> None:
    def fork(least: int) -> list[Job]:
        return wired([], [0], [0], [1, 2], costs={1: least})

    assert lanes(fork(LEAST_COST - 1)) == [[[0, 1, 2, 3]]]
    assert lanes(fork(LEAST_COST)) == [[[0]], [[2], [1]], [[3]]]


def test_a_lonely_job_runs_alone_and_what_follows_is_divided() -> None:
    jobs = wired([], [0], [0], [1], [2], [3, 4])
    jobs[1] = Job(jobs[1].needs, MUCH, alone=True)
    assert lanes(jobs) == [[[0, 1]], [[2, 4], [3]], [[5]]]


# ---- The registry ----


def test_schedules_are_known_by_name() -> None:
    assert schedules.names()[0] == schedules.SEQUENTIAL == "sequential"
    assert "parallel" in schedules.names()
    assert schedules.find("parallel") is parallel.arrange


def test_an_unknown_name_is_a_sentence() -> None:
    with pytest.raises(UsageError) as caught:
        schedules.find("chaotic")
    assert str(caught.value) == (
        f"--schedule chaotic is not known; it is {' or '.join(schedules.names())}."
    )


def test_a_new_file_is_a_new_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the file is called does not matter; one without NAME is none."""
    (tmp_path / "some_file.py").write_text(
        "from mcu_deploy.plan.schedules.model import Stage\n\n"
        'NAME = "one-by-one"\n\n\n'
        "def arrange(jobs):\n"
        "    return tuple(Stage(((n,),)) for n in range(len(jobs)))\n"
    )
    (tmp_path / "helper.py").write_text("WORD = 1\n")
    monkeypatch.setattr(schedules, "__path__", [*schedules.__path__, str(tmp_path)])
    try:
        assert schedules.names() == ("sequential", "one-by-one", "parallel")
        assert schedules.find("one-by-one")(wired([], [0])) == (Stage(((0,),)), Stage(((1,),)))
    finally:
        for name in ("some_file", "helper"):
            sys.modules.pop(f"{schedules.__name__}.{name}", None)
