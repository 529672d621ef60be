"""The plan's checker, attacked: it must agree with a simulation of the memory, byte by byte."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from plan_cases import Problem, accepts, problems
from plan_memory import run_part, survives
from sampling import dear, examples

from mcu_deploy.plan import InPool, InSlot, Place, Plan, memory_strategies
from mcu_deploy.plan.alignment import ALIGNMENT, aligned
from mcu_deploy.plan.lifetimes import analyse

QUICK = dear(100, 20)
OPTIONS = st.fixed_dictionaries(
    {
        "reuse": st.booleans(),
        "io": st.sampled_from(["arena", "caller"]),
        "separate_state": st.booleans(),
    }
)


@given(problems(), OPTIONS)
@QUICK
def test_the_planner_makes_plans_that_hold(problem: Problem, options: dict[str, Any]) -> None:
    made = problem.plan(**options)  # checks itself; raises PlanError
    assert survives(problem, made)
    for number, pool in enumerate(made.pools):
        ends = [
            place.offset + aligned(made.buffers[buffer].bytes)
            for buffer, place in made.places.items()
            if isinstance(place, InPool) and place.pool == number
        ]
        assert pool.bytes == max(ends, default=0)
    assert all(isinstance(p, InPool) for p in made.places.values()) or options["io"] == "caller"
    if not options["reuse"]:
        _assert_all_apart(made)


@given(problems(), st.sampled_from(memory_strategies()[1:]), OPTIONS)
@QUICK
def test_plans_with_a_manager_or_with_moves_hold(
    problem: Problem, memory: str, options: dict[str, Any]
) -> None:
    assert problem.plan(memory=memory, **options).memory == memory  # each is checked


def _assert_all_apart(made: Plan) -> None:
    """Whatever was written is there at the end, so the places of distinct values are apart."""
    taken = sorted(
        (place.pool, place.offset, made.tensors[e].bytes)
        for e in {t.buffer: e for e, t in made.tensors.items()}.values()
        if isinstance(place := made.place(e), InPool)
    )
    assert all(p != q or a + size <= b for (p, a, size), (q, b, _) in itertools.pairwise(taken))


@given(problems(), OPTIONS)
@QUICK
def test_a_part_goes_on_where_another_has_ended(problem: Problem, options: dict[str, Any]) -> None:
    """What one part leaves in place, the next one takes without a copy."""
    made = problem.plan(**options)
    for first, second in itertools.permutations(range(len(made.parts)), 2):
        if set(made.parts[second].inputs) <= set(made.parts[first].outputs):
            if problem.exposure.states:
                continue  # which value a state has by then is the order's business
            run_part(problem, made, second, run_part(problem, made, first))


@given(problems(), OPTIONS, st.data())
@settings(QUICK, max_examples=examples(120, 20))
def test_moved_buffers_are_judged_as_the_memory_judges_them(
    problem: Problem, options: dict[str, Any], data: st.DataObject
) -> None:
    """Up to three buffers go anywhere: before, inside, behind, to another pool, aligned or not."""
    made = problem.plan(**options)
    places = dict(made.places)
    for buffer in data.draw(st.lists(st.sampled_from(made.buffers), min_size=1, max_size=3)):
        places[buffer.id] = _elsewhere(made, made.places[buffer.id], data)
    attacked = replace(made, places=places)
    assert accepts(problem, attacked) == survives(problem, attacked)


def _elsewhere(made: Plan, place: Place, data: st.DataObject) -> Place:
    if isinstance(place, InSlot):
        return InSlot(data.draw(st.integers(0, made.slots)), caller=True)
    pool = data.draw(st.sampled_from([place.pool] * 4 + list(range(len(made.pools)))))
    steps = st.integers(-1, made.pools[pool].bytes // ALIGNMENT)
    nudge = data.draw(st.sampled_from([0] * 8 + [1, 8]))
    return InPool(pool, ALIGNMENT * data.draw(steps) + nudge)


@given(problems(), st.data())
@settings(QUICK, max_examples=examples(120, 20))
def test_an_output_on_its_input_is_judged_as_the_memory_judges_it(
    problem: Problem, data: st.DataObject
) -> None:
    """Everything apart, but one output or scratch near one input of its layer, at any distance."""
    made = problem.plan(reuse=False)
    pairs = [
        (written, i.edge)
        for step in made.steps
        for written in (
            *(made.tensors[o.edge].buffer for o in step.choice.layer.outputs),
            *([] if step.scratch is None else [step.scratch]),
        )
        for i in step.choice.layer.inputs
        if i is not None and written != made.tensors[i.edge].buffer
    ]
    assume(pairs)
    written, source = data.draw(st.sampled_from(pairs))
    offset = made.offset(source) + ALIGNMENT * data.draw(st.integers(-7, 7))
    places = {**made.places, written: InPool(0, offset)}
    attacked = replace(made, places=places)
    assert accepts(problem, attacked) == survives(problem, attacked)


@given(problems(sharing=False), st.data())
@QUICK
def test_two_live_buffers_in_one_place_are_refused(problem: Problem, data: st.DataObject) -> None:
    made = problem.plan(order=False)
    lives = analyse(problem.graph, problem.choices, exposure=problem.exposure)
    assert made.buffers == lives.buffers
    assume(lives.conflicts)
    first, second = data.draw(st.sampled_from(sorted(lives.conflicts)))
    attacked = replace(made, places={**made.places, first: made.places[second]})
    assert not accepts(problem, attacked)
