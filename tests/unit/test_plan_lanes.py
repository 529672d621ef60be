"""Plans with lanes: no interleaving of two cores disturbs a value, and what could is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from graph_cases import random_net
from hypothesis import assume, given
from hypothesis import strategies as st
from memory_cases import chosen
from plan_cases import REGIONS, Maker, Problem, moved
from plan_lanes import CHEAP, COSTLY, branchy, fork, run_on_two_cores
from plan_memory import Corrupt
from sampling import dear

from mcu_deploy import plan
from mcu_deploy.backends.interface import InPlace, RegionKind
from mcu_deploy.errors import UsageError
from mcu_deploy.plan import InPool, Parallel, Partition, Plan, PlanError, check
from mcu_deploy.plan.alignment import ALIGNMENT
from mcu_deploy.plan.concurrency import clash

QUICK = dear(100, 20)
OPTIONS = st.fixed_dictionaries(
    {
        "reuse": st.sampled_from([True, True, True, False]),
        "io": st.sampled_from(["arena", "arena", "caller"]),
        "separate_state": st.booleans(),
    }
)


def in_parallel(problem: Problem, **options: Any) -> Plan:
    return problem.plan(schedule="parallel", **options)


def judge(problem: Problem, made: Plan) -> None:
    check(problem.graph, problem.choices, made)


def accepts(problem: Problem, made: Plan) -> bool:
    try:
        judge(problem, made)
    except PlanError:
        return False
    return True


def survives(problem: Problem, made: Plan, seed: int) -> bool:
    try:
        run_on_two_cores(problem, made, seed)
    except Corrupt:
        return False
    return True


def test_what_two_cores_use_at_one_time_clashes() -> None:
    """Under marks of (stretch, lane)."""
    assert clash([(0, 0)], [(0, 1)]) and clash([(0, 0), (0, 1)], [(0, 0)])
    assert clash([(0, 0), (0, 1)], [(0, 0), (0, 1)])
    assert not clash([(0, 0)], [(0, 0)]) and not clash([(0, 0)], [(1, 1)]) and not clash([], [])


# ---- The planner's plans ----


@given(branchy(), OPTIONS, st.integers(0, 1000))
@QUICK
def test_no_interleaving_disturbs_a_value(
    problem: Problem, options: dict[str, Any], seed: int
) -> None:
    made = in_parallel(problem, **options)  # checks itself; raises PlanError
    assume(made.parallel)
    for number in range(3):
        run_on_two_cores(problem, made, seed + number)


@given(branchy(), OPTIONS)
@QUICK
def test_lanes_are_a_stretch_each_and_what_is_private_is_in_none(
    problem: Problem, options: dict[str, Any]
) -> None:
    made = in_parallel(problem, **options)
    seen: set[int] = set()
    for stretch in made.parallel:
        positions = stretch.positions
        assert positions == tuple(range(positions[0], positions[-1] + 1))
        assert not seen & set(positions)
        seen |= set(positions)
    for position, step in enumerate(made.steps):
        if any(r.kind is RegionKind.PRIVATE for r in step.choice.workload.regions):
            assert position not in seen


@given(st.data())
@QUICK
def test_networks_of_real_layers_are_planned_too(data: st.DataObject) -> None:
    """Small layers are not worth a lane by themselves; so every one is said to be costly."""
    net = random_net(lambda low, high: data.draw(st.integers(low, high)))
    graph, choices = chosen(net)
    costly = tuple(
        replace(c, workload=replace(c.workload, costs=COSTLY)) if not c.workload.is_view else c
        for c in choices
    )
    options = plan.Planning(schedule="parallel", pointer_bytes=8)
    assert plan.make(graph, costly, options) == plan.make(graph, costly, options)


def test_a_fork_by_hand() -> None:
    problem = fork(2, 1)
    made = in_parallel(problem)
    assert made.parallel == (Parallel(((0, 1), (2,))),)
    # the input is read by both lanes, so neither may write over it; within a lane memory is reused
    assert made.bytes == 32 + 2 * 32 + 32
    assert fork(2, 1).plan().bytes == 3 * 32


def test_a_layer_with_private_memory_is_alone() -> None:
    maker = Maker()
    x = maker.input(32)
    (a,) = maker.layer([x], 32, costs=COSTLY, regions=(REGIONS[0],))
    (b,) = maker.layer([x], 32, costs=COSTLY)
    (c,) = maker.layer([x], 32, costs=COSTLY)
    problem = maker.finish(*maker.layer([a, b, c], 16, costs=COSTLY))
    made = in_parallel(problem)
    assert made.parallel == (Parallel(((1,), (2,))),)
    assert made.steps[0].choice.layer.name == "l0"
    with pytest.raises(PlanError, match="'l0' has private memory, but does not run alone"):
        judge(problem, replace(made, parallel=(Parallel(((0,), (1, 2))),)))


def test_cheap_layers_are_not_sent_to_another_core() -> None:
    maker = Maker()
    x = maker.input(32)
    ends = [maker.layer([x], 32, costs=CHEAP)[0] for _ in range(2)]
    problem = maker.finish(*maker.layer(ends, 16, costs=COSTLY))
    assert in_parallel(problem).parallel == ()


# ---- Attacks ----


@given(branchy(), st.data())
@QUICK
def test_what_the_checker_accepts_survives(problem: Problem, data: st.DataObject) -> None:
    """Up to three buffers go anywhere; what is still accepted is right in every interleaving."""
    made = in_parallel(problem)
    assume(made.parallel)
    offsets = {}
    for buffer in data.draw(st.lists(st.sampled_from(made.buffers), min_size=1, max_size=3)):
        offsets[buffer.id] = ALIGNMENT * data.draw(st.integers(0, made.bytes // ALIGNMENT))
    attacked = moved(made, offsets)
    if accepts(problem, attacked):
        for seed in range(3):
            run_on_two_cores(problem, attacked, seed)


@given(branchy(), st.data())
@QUICK
def test_lanes_that_meet_are_refused(problem: Problem, data: st.DataObject) -> None:
    """What one lane writes is put upon what another lane reads, writes, or has as scratch."""
    made = in_parallel(problem)
    assume(made.parallel)
    lanes = data.draw(st.permutations(data.draw(st.sampled_from(made.parallel)).lanes))
    writes, uses = (
        {b for position in lane for b in _buffers(made, position, reads)}
        for lane, reads in zip(lanes, (False, True), strict=True)
    )
    first = data.draw(st.sampled_from(sorted(writes)))
    second = data.draw(st.sampled_from(sorted(uses)))
    assert first != second
    place = made.places[second]
    assert isinstance(place, InPool)
    assert not accepts(problem, moved(made, {first: place.offset}))


def _buffers(made: Plan, position: int, reads: bool) -> set[int]:
    """What the layer at a position writes, with scratch; with `reads` also what it reads."""
    step = made.steps[position]
    operands = [*step.choice.layer.outputs, *(step.choice.layer.inputs if reads else ())]
    found = {made.tensors[o.edge].buffer for o in operands if o is not None}
    return (
        found | {*step.regions.values()} | ({step.scratch} if step.scratch is not None else set())
    )


def test_scratch_of_two_lanes_in_one_place_is_refused_and_goes_wrong() -> None:
    """One after the other they may share it: only two cores at once get in each other's way."""
    problem = fork(1, 1, scratch_bytes=40)
    made = in_parallel(problem)
    first, second, _ = (step.scratch for step in made.steps)
    assert first is not None
    assert second is not None
    place = made.places[first]
    assert isinstance(place, InPool)
    attacked = moved(made, {second: place.offset})
    with pytest.raises(PlanError, match=r"lane \(0,\) writes bytes .* another lane uses at the"):
        judge(problem, attacked)
    assert accepts(problem, replace(attacked, parallel=()))
    assert not all(survives(problem, attacked, seed) for seed in range(20))
    assert all(survives(problem, made, seed) for seed in range(20))


@pytest.mark.parametrize(
    ("lanes", "sentence"),
    [
        (((0,), (1, 2)), r"lane \(0,\) writes .* another lane uses"),  # 1 reads what 0 writes
        (((0, 1), (2, 3)), r"lane \(0, 1\) writes .* another lane uses"),  # 3 joins both branches
        (((1, 0), (2,)), "are no stretch of the program"),
        (((1,), (0,)), "are no stretch of the program|another lane uses"),
        (((0,), (2,)), "are no stretch of the program"),
    ],
)
def test_lanes_that_are_none_are_refused(lanes: tuple[tuple[int, ...], ...], sentence: str) -> None:
    problem = fork(2, 1)
    made = in_parallel(problem, reuse=False)
    judge(problem, made)
    with pytest.raises(PlanError, match=sentence):
        judge(problem, replace(made, parallel=(Parallel(lanes),)))


def test_a_copy_is_in_no_lane() -> None:
    maker = Maker()
    x, state = maker.input(32), maker.input(32)
    (after,) = maker.layer([x, state], 32, in_place=(InPlace(1, 0, 16),))
    problem = maker.finish(*maker.layer([x], 16), states=[(state, after)])
    made = problem.plan()
    assert len(made.steps) == 2 < len(made.program)
    with pytest.raises(PlanError, match="position 2 of a lane is no layer"):
        judge(problem, replace(made, parallel=(Parallel(((1,), (2,))),)))


# ---- What does not go together ----


def test_what_is_for_one_core_is_refused_in_a_sentence() -> None:
    problem = fork(1, 1)
    with pytest.raises(UsageError, match="--schedule parallel and --memory compact do not go"):
        in_parallel(problem, memory="compact")
    part = Partition("p", (0,), (1,))
    shown = replace(problem, exposure=replace(problem.exposure, partitions=(part,)))
    with pytest.raises(UsageError, match="--schedule parallel and --partition do not go together"):
        in_parallel(shown)
    with pytest.raises(UsageError, match="--schedule chaotic is not known"):
        problem.plan(schedule="chaotic")
