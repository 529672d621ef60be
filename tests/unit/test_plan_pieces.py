"""Concat, Slice and Split without copies: what they move lies in place, and undisturbed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from plan_cases import Maker, Problem, accepts, moving_problems
from plan_memory import survives
from sampling import dear

from mcu_deploy.backends.interface import Costs, InPlace, Layer, layer_of
from mcu_deploy.ir import DType, GraphEditor, Quantization, TensorType
from mcu_deploy.plan import InPool
from mcu_deploy.plan.alignment import ALIGNMENT
from mcu_deploy.plan.pieces import movable
from mcu_deploy.plan.storage import Storages

QUICK = dear(100, 20)
OPTIONS = st.fixed_dictionaries(
    {
        "goal": st.sampled_from(["ram", "balanced", "speed"]),
        "io": st.sampled_from(["arena", "caller"]),
        "separate_state": st.booleans(),
        "memory": st.sampled_from(["offline", "compact"]),
    }
)


CHANNELS_LAST = (0, 2, 3, 1)


def layer(op: str, *operands: TensorType, results: int = 1, **more: Any) -> Layer:
    """A layer on tensors, the last of them results, of constants given by `constants`."""
    editor = GraphEditor.empty("pieces")
    constants = [np.array(value, np.int64) for value in more.pop("constants", [])]
    edges = [editor.add_edge(f"e{k}", type_) for k, type_ in enumerate(operands)]
    given = [editor.add_constant("c", v, TensorType(DType.INT64, v.shape)) for v in constants]
    editor.inputs, editor.outputs = edges[:-results], edges[-results:]
    editor.add_node(op, [*editor.inputs, *given], editor.outputs, op, more)
    graph = editor.finish()
    return layer_of(graph, next(iter(graph.nodes)))


def int8(*shape: int, layout: tuple[int, ...] | None = None, scale: float = 0.5) -> TensorType:
    return TensorType(DType.INT8, shape, Quantization((scale,), (0,)), layout)


@pytest.mark.parametrize(
    ("moving", "offsets"),
    [
        (layer("Concat", int8(1, 2, 8), int8(1, 4, 8), int8(1, 6, 8), axis=1), [0, 16]),
        (layer("Concat", int8(1, 8, 2), int8(1, 8, 4), int8(1, 8, 6), axis=2), []),
        (layer("Concat", int8(2, 2, 8), int8(2, 2, 8), int8(2, 4, 8), axis=1), []),
        (layer("Concat", int8(1, 2, 4), int8(1, 4, 4), int8(1, 6, 4), axis=1), []),  # at 8
        (layer("Concat", int8(2, 8), int8(2, 8), int8(4, 8, scale=0.25), axis=0), []),
        (
            layer(
                "Concat", int8(1, 8, 2, 1, layout=CHANNELS_LAST),
                int8(1, 8, 4, 1, layout=CHANNELS_LAST), int8(1, 8, 6, 1, layout=CHANNELS_LAST),
                axis=2,
            ),
            [0, 16],
        ),
        (
            layer(
                "Concat", int8(1, 16, 2, 1, layout=CHANNELS_LAST),
                int8(1, 16, 2, 1, layout=CHANNELS_LAST), int8(1, 32, 2, 1, layout=CHANNELS_LAST),
                axis=1,
            ),
            [],
        ),
        (layer("Slice", int8(4, 16), int8(2, 16), constants=[[1], [3], [0]]), [16]),
        (layer("Slice", int8(4, 16), int8(2, 16), constants=[[0], [4], [0], [2]]), []),
        (layer("Slice", int8(3, 4, 16), int8(1, 2, 16), constants=[[1, 2], [2, 4], [0, 1]]), [96]),
        (layer("Slice", int8(3, 4, 16), int8(2, 2, 16), constants=[[1, 2], [3, 4], [0, 1]]), []),
        (layer("Split", int8(1, 48), int8(1, 16), int8(1, 32), results=2, axis=1), [0, 16]),
        (layer("Split", int8(1, 48), int8(1, 24), int8(1, 24), results=2, axis=1), []),
        (layer("Gather", int8(3, 4, 16), int8(4, 16), constants=[2], axis=0), [128]),
        (layer("Gather", int8(3, 4, 16), int8(3, 16), constants=[2], axis=1), []),
    ],
)  # fmt: skip
def test_what_is_one_stretch_of_memory_is_a_piece(moving: Layer, offsets: list[int]) -> None:
    assert [piece.offset for piece in movable(moving)] == offsets


@pytest.mark.parametrize(("cycles", "size", "steps"), [(60, 64, 4), (70, 64, 3), (70, 512, 4)])
def test_the_goal_says_what_a_copy_is_worth(cycles: int, size: int, steps: int) -> None:
    """A piece keeps all of a large tensor alive while another one is needed."""
    maker = Maker()
    large = maker.layer([maker.input(16)], 512)
    (small,) = maker.moving("Slice", large, 16, begin=16)
    (other,) = maker.layer([small], size)
    problem = maker.finish(*maker.layer([other, small], 16))
    assert len(problem.without_copies("ram")[1].steps) == 4
    assert len(problem.without_copies("speed")[1].steps) == 3
    costs = [Costs(cycles=cycles if number == 1 else 1000) for number in range(4)]
    dear = replace(
        problem,
        choices=tuple(
            replace(choice, workload=replace(choice.workload, costs=cost))
            for choice, cost in zip(problem.choices, costs, strict=True)
        ),
    )
    assert len(dear.without_copies("balanced")[1].steps) == steps


def test_a_copy_that_costs_no_byte_less_is_none() -> None:
    """The most is needed elsewhere: 400 bytes and what becomes of them."""
    maker = Maker()
    wide = maker.layer(maker.layer([maker.input(16)], 400), 64)
    problem = maker.finish(*maker.layer(maker.moving("Slice", wide, 32), 16))
    changed, made = problem.without_copies("ram")
    assert made.bytes == problem.plan().bytes == 464
    assert [choice.workload.is_view for choice in changed.choices] == [False, False, True, False]


def test_an_output_on_its_input_counts_from_where_pieces_begin() -> None:
    """A result may start where its input does, wherever these lie in larger ones."""
    maker = Maker()
    x = maker.input(32)
    (behind,) = maker.layer([x], 16, in_place=(InPlace(0, 0),))
    (front,) = maker.layer([behind], 16)
    (whole,) = maker.moving("Concat", [front, behind], 32)
    made = maker.finish(*maker.layer([whole], 16)).without_copies("speed")[1]
    assert (made.bytes, made.offset(whole), made.offset(x)) == (48, 0, 16)
    maker = Maker()
    whole = maker.input(32)
    part = maker.moving("Slice", [whole], 16, begin=16)
    problem = maker.finish(*maker.layer(part, 16, in_place=(InPlace(0, 0),)))
    assert problem.without_copies("speed")[1].bytes == 32
    maker = Maker()
    whole = maker.input(64)
    parts = maker.moving("Split", [whole], 32, 32)
    facts = (InPlace(0, 0), InPlace(1, 0))
    problem = maker.finish(*maker.layer(parts, 64, in_place=facts))
    assert problem.without_copies("speed")[1].bytes == 64


def test_what_is_joined_behind_the_begin_makes_a_storage_longer() -> None:
    storages = Storages()
    storages.write(1, 32)
    storages.write(2, 48)
    storages.join(1, 2, 16)
    assert (storages.at(2), storages.of[2].bytes) == (16, 64)


@given(moving_problems(), OPTIONS)
@QUICK
def test_plans_with_pieces_hold(problem: Problem, options: dict[str, Any]) -> None:
    plain = problem.plan(**{k: v for k, v in options.items() if k != "goal"})
    changed, made = problem.without_copies(**options)  # checks itself; raises PlanError
    if not made.moves:
        assert survives(changed, made)
    assert len(made.steps) <= len(plain.steps)
    if options["goal"] == "ram":
        assert made.arena_bytes <= plain.arena_bytes


@given(moving_problems(), st.data())
@QUICK
def test_moved_pieces_are_judged_as_the_memory_judges_them(
    problem: Problem, data: st.DataObject
) -> None:
    """A tensor elsewhere in its buffer, or a buffer elsewhere: before, inside or behind others."""
    changed, made = problem.without_copies("speed")
    assume(any(t.offset for t in made.tensors.values()))
    nudge = ALIGNMENT * data.draw(st.integers(-3, 3)) + data.draw(st.sampled_from([0, 0, 0, 8]))
    if data.draw(st.booleans()):
        edge = data.draw(st.sampled_from(sorted(made.tensors)))
        tensor = made.tensors[edge]
        tensors = {**made.tensors, edge: replace(tensor, offset=tensor.offset + nudge)}
        attacked = replace(made, tensors=tensors)
    else:
        buffer = data.draw(st.sampled_from(sorted(made.places)))
        place = made.places[buffer]
        assert isinstance(place, InPool)
        places = {**made.places, buffer: InPool(place.pool, place.offset + nudge)}
        attacked = replace(made, places=places)
    assert accepts(changed, attacked) == survives(changed, attacked)
