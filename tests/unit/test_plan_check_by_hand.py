"""What the plan's checker says of plans that were spoilt by hand, sentence by sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from plan_cases import REGIONS, Maker, Problem, moved
from plan_memory import survives

from mcu_deploy.backends.interface import InPlace, Region
from mcu_deploy.plan import InSlot, Partition, PlacedTensor, Plan, PlanError, PlannedPart, check
from mcu_deploy.plan.alignment import ALIGNMENT


def accepts(problem: Problem, plan_: Plan) -> bool:
    try:
        check(problem.graph, problem.choices, plan_)
    except PlanError:
        assert not survives(problem, plan_)
        return False
    assert survives(problem, plan_)
    return True


def pair(regions: tuple[Region, ...] = ()) -> Problem:
    """in (32) -> a (32, may replace it) -> b (16), with scratch; all in separate places."""
    maker = Maker()
    x = maker.input(32)
    (a,) = maker.layer([x], 32, regions=regions)
    (b,) = maker.layer([a], 16, in_place=(InPlace(0, 0),), scratch_bytes=20)
    return maker.finish(b)


def test_a_right_plan_by_hand_is_accepted() -> None:
    problem = pair()
    made = problem.plan()
    assert accepts(problem, made)
    assert (made.bytes, made.lower_bound) == (64, 80)  # b lies in a's place, x where scratch does
    assert made.offset(1) >= made.offset(2)


def test_what_is_missing_is_refused() -> None:
    problem = pair(REGIONS[:3])
    made = problem.plan()
    scratch, private = made.steps[1].scratch, made.private
    assert scratch is not None and private is not None
    attacks: dict[str, dict[str, Any]] = {
        r"edges \[1\] have no place": {"tensors": {e: made.tensors[e] for e in (0, 2)}},
        "has 32 bytes, not 16": {"tensors": {**made.tensors, 1: PlacedTensor(1, 1, 16)}},
        "which has no place": {"places": {b: p for b, p in made.places.items() if b != scratch}},
        "edge . lies outside of the workspace": {"pools": (replace(made.pools[0], bytes=48),)},
        "behind pointer 3 of 0": {"places": {**made.places, 0: InSlot(3)}},
        "are called, but": {"program": made.program[:1]},
        "overwritten before": {
            "program": (replace(made.steps[1], index=0), replace(made.steps[0], index=1))
        },
        "not numbered": {"program": made.program[::-1]},
        "needs 20 bytes of scratch": {
            "program": (made.steps[0], replace(made.steps[1], scratch=None))
        },
        "'state' of Test has no place": {"private_offsets": {REGIONS[2]: 0}},
        "lies outside of the private memory": {"private_offsets": {REGIONS[0]: 0, REGIONS[2]: 48}},
        "overlaps the region 'state'": {"private_offsets": {REGIONS[0]: 0, REGIONS[2]: 0}},
        "'flag' of Test lies at .*, which is no multiple": {
            "private_offsets": {REGIONS[0]: 0, REGIONS[2]: 8}
        },
        "needs 33 bytes of scratch": {
            "program": (replace(made.steps[0], regions={}), made.steps[1])
        },
    }  # fmt: skip
    for sentence, change in attacks.items():
        with pytest.raises(PlanError, match=sentence):
            check(problem.graph, problem.choices, replace(made, **change))
    for sentence, offsets in {
        "edge 0 lies outside of the workspace": {0: -ALIGNMENT},
        "no multiple of 16": {0: 8},
        "edge 0 overlaps the region": {private: made.offset(0)},
    }.items():
        with pytest.raises(PlanError, match=sentence):
            check(problem.graph, problem.choices, moved(made, offsets))


@pytest.mark.parametrize(
    ("size", "output", "shift", "distance", "good"),
    [
        (64, 0, 0, 0, True),
        (16, 0, 0, 0, True),
        (64, 1, 0, 0, False),  # the pair that nobody allows
        (80, 0, 0, 0, True),  # longer, from the same start
        (16, 0, 16, 0, False),  # further on
        (64, 0, -16, 0, True),
        (64, 0, 0, 4, False),
        (64, 0, -16, 4, True),
        (64, 0, -16, 17, False),
        (64, 0, 16, -16, True),
        (64, 0, 32, -16, False),
        (64, 0, 48, -64, True),
    ],
)
def test_an_output_on_an_input(
    size: int, output: int, shift: int, distance: int, good: bool
) -> None:
    assert judged(size, output, shift, InPlace(0, 0, distance)) == good


@pytest.mark.parametrize(
    ("size", "shift", "good"),
    [
        (64, 0, True),
        (16, 0, True),
        (80, 0, True),
        (64, -16, False),
        (16, 48, False),
        (64, 16, False),
        (64, 64, True),
        (64, -64, True),
        (80, -64, False),
    ],
)
def test_an_output_exactly_on_an_input(size: int, shift: int, good: bool) -> None:
    assert judged(size, 0, shift, InPlace(0, 0, exactly=True)) == good


@pytest.mark.parametrize(
    ("fact", "shift", "good"),
    [
        (InPlace(0, None, 17), -32, True),
        (InPlace(0, None, 17), -16, False),
        (InPlace(0, None, -16), 16, True),
        (InPlace(0, None, -16), 32, False),
        (InPlace(0, None, exactly=True), 0, True),
        (InPlace(0, None, exactly=True), -16, False),
        (InPlace(0, 0), 0, False),
        (InPlace(1, None), 0, False),
        (InPlace(1, None), 64, True),
    ],
)
def test_scratch_on_an_input(fact: InPlace, shift: int, good: bool) -> None:
    """Of two inputs only that of the fact, only where nothing needs it later, and no output."""
    for later, kept in ((False, False), (True, False), (False, True)):
        maker = Maker()
        x, other = maker.input(64), maker.input(64)
        (y,) = maker.layer([x, other], 16, scratch_bytes=64, in_place=(fact,))
        (z,) = maker.layer([y, x] if later else [y], 16)
        problem = maker.finish(z, *([x] if kept else []))
        made = problem.plan(reuse=False)
        scratch = made.steps[0].scratch
        assert scratch is not None
        number = {edge: made.tensors[edge].buffer for edge in (x, other, y, z)}
        offsets = {number[x]: 256, number[other]: 512, number[y]: 640, number[z]: 704}
        pools = (replace(made.pools[0], bytes=1024),)
        near = moved(made, offsets | {scratch: 256 + shift}, pools=pools)
        assert accepts(problem, near) == (good and (shift == 64 or not (later or kept)))
        on_output = moved(made, offsets | {scratch: 640}, pools=pools)
        assert not accepts(problem, on_output)


def judged(size: int, output: int, shift: int, fact: InPlace) -> bool:
    """Whether one of two outputs may start so many bytes behind the begin of an input of 64."""
    maker = Maker()
    x = maker.input(64)
    outputs = maker.layer([x], size, size, in_place=(fact,))
    problem = maker.finish(*outputs)
    made = problem.plan(reuse=False)
    # input, both outputs: far enough from each other that nothing else meets
    offsets = {made.tensors[x].buffer: 256}
    for number, edge in enumerate(outputs):
        offsets[made.tensors[edge].buffer] = 512 + 128 * number
    offsets[made.tensors[outputs[output]].buffer] = 256 + shift
    apart = moved(made, offsets, pools=(replace(made.pools[0], bytes=1024),))
    return accepts(problem, apart)


def test_a_table_of_pointers_has_a_place() -> None:
    problem = pair()
    made = problem.plan(io="caller")
    table = made.table
    assert table is not None and accepts(problem, made)
    without = {buffer: place for buffer, place in made.places.items() if buffer != table}
    for attacked in (replace(made, places=without), replace(made, table=None)):
        with pytest.raises(PlanError, match="the table of pointers has no place"):
            check(problem.graph, problem.choices, attacked)


def test_only_its_owners_lie_where_a_state_is() -> None:
    """Even behind its last reader: a run that fails half-way must leave the state as it was."""
    maker = Maker()
    x, state = maker.input(32), maker.input(32)
    (after,) = maker.layer([x, state], 32, in_place=(InPlace(1, 0, 16),))
    (y,) = maker.layer([after], 16, scratch_bytes=32)
    problem = maker.finish(y, states=[(state, after)])
    made = problem.plan()
    scratch = made.steps[1].scratch
    assert scratch is not None
    with pytest.raises(PlanError, match="the scratch of 'l1' overlaps the state 's1'"):
        check(problem.graph, problem.choices, moved(made, {scratch: made.offset(state)}))


def test_an_edge_that_is_read_twice_is_shared_only_by_both_facts() -> None:
    for facts, good in (
        ((InPlace(0, 0), InPlace(1, 0)), True),
        ((InPlace(0, 0),), False),
        ((InPlace(0, 0), InPlace(1, 0, 16)), False),
        ((InPlace(0, 0), InPlace(1, 0, exactly=True)), True),
        ((InPlace(0, 0, -32), InPlace(1, 0, exactly=True)), True),
        ((InPlace(0, 0, exactly=True), InPlace(1, 0, 16)), False),
        ((InPlace(0, 0, exactly=True),), False),
    ):
        maker = Maker()
        x = maker.input(32)
        (y,) = maker.layer([x, x], 32, in_place=facts)
        problem = maker.finish(y)
        made = problem.plan(reuse=False)
        attacked = moved(made, {made.tensors[y].buffer: made.offset(x)})
        assert accepts(problem, attacked) == good
        assert (problem.plan().bytes == 32) == good


def test_a_view_elsewhere_than_its_source_is_refused() -> None:
    maker = Maker()
    x = maker.input(16)
    view = maker.view(x)
    problem = maker.finish(*maker.layer([view], 16))
    made = problem.plan()
    tensors = {**made.tensors, view: PlacedTensor(view, made.tensors[2].buffer, 16)}
    with pytest.raises(PlanError, match="lies elsewhere"):
        check(problem.graph, problem.choices, replace(made, tensors=tensors))


def test_a_kept_tensor_and_an_input_of_a_part_stay() -> None:
    """x -> a -> b -> c: alone, c needs b; with a kept, nobody may write over a."""

    def chain(**exposed: Any) -> Problem:
        maker = Maker()
        edges = [maker.input(32)]
        for _ in range(3):
            edges += maker.layer([edges[-1]], 32)
        return maker.finish(edges[-1], **exposed)

    made = chain().plan()
    assert made.bytes == 64
    kept = chain(kept=[1]).plan()
    assert kept.bytes == 96
    assert not accepts(chain(kept=[1]), moved(kept, {3: kept.offset(1)}))
    # a and c are inputs of a part together, so they must not share, though they do else
    assert made.offset(0) == made.offset(2)
    part = Partition("both", (0, 2), (3,))
    assert not accepts(chain(partitions=[part]), replace(made, parts=(_last_layer(part),)))
    assert accepts(chain(partitions=[part]), chain(partitions=[part]).plan())


def test_a_part_brings_what_it_computes_to_where_it_is_kept() -> None:
    """A kept tensor in the model's order of axes is a copy; the part runs that, and no other."""
    maker = Maker()
    x = maker.input(32)
    (a,) = maker.layer([x], 32)
    (b,) = maker.layer([a], 32)
    copies = []
    for edge in (a, b):
        copies.append(maker.edge(32))
        node = maker.editor.add_node("Reorder", [edge], copies[-1:], f"k{edge}", {}, "mcu")
        maker.workloads[node] = maker.workloads[0]
    problem = maker.finish(b, kept=copies, partitions=[Partition("head", (x,), (a,))])
    made = problem.plan()
    (part,) = made.parts
    names = {made.steps[position].choice.layer.name for position in part.items}
    assert names == {"l0", f"k{a}"}
    assert accepts(problem, made)


def _last_layer(partition: Partition) -> PlannedPart:
    return PlannedPart(
        partition.name, partition.inputs, partition.outputs, frozenset({2}), frozenset({3})
    )


def test_a_state_is_joined_with_its_next_value_or_copied() -> None:
    def accumulator(fact: InPlace) -> tuple[Problem, Plan]:
        maker = Maker()
        x, state = maker.input(32), maker.input(32)
        (after,) = maker.layer([x, state], 32, in_place=(fact,))
        problem = maker.finish(*maker.layer([after], 16), states=[(state, after)])
        return problem, problem.plan()

    for fact in (InPlace(1, 0), InPlace(1, 0, exactly=True)):
        joined, made = accumulator(fact)
        assert made.offset(1) == made.offset(2)
        assert accepts(joined, made)
    copied, made = accumulator(InPlace(1, 0, 16))
    assert made.offset(1) != made.offset(2)
    assert accepts(copied, made)
    assert not accepts(copied, moved(made, {made.tensors[2].buffer: made.offset(1)}))
    without = replace(made, program=made.program[:-1])
    with pytest.raises(PlanError, match="copies other edges"):
        check(copied.graph, copied.choices, without)
