"""Several pools: everything legal and within its pool, the fast one for what earns most."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placement_cases import UNIT, from_lives, problems, violations
from sampling import examples

from mcu_deploy.errors import FitError, UsageError
from mcu_deploy.plan.placement import PlacementProblem, solve
from mcu_deploy.plan.pools import Pool, PoolPlacement, assign, part_of

DTCM, SRAM = Pool("dtcm", 256, 2.0), Pool("sram", None, 1.0)


def require_legal(
    problem: PlacementProblem, pools: list[Pool], pinned: dict[int, str], found: PoolPlacement
) -> None:
    for number, pool in enumerate(pools):
        members = [b for b, p in enumerate(found.pools) if p == number]
        offsets = [found.offsets[b] for b in members]
        assert violations(part_of(problem, members), offsets) == []
        ends = [o + problem.sizes[b] for o, b in zip(offsets, members, strict=True)]
        assert found.bytes[number] == max(ends, default=0)
        assert pool.capacity is None or found.bytes[number] <= pool.capacity
    assert all(pools[found.pools[b]].name == name for b, name in pinned.items())
    assert all(o >= 0 and o % UNIT == 0 for o in found.offsets)


@st.composite
def divisions(draw: st.DrawFn) -> tuple[PlacementProblem, list[int], list[Pool], dict[int, str]]:
    problem = draw(problems(8, 8))
    count = len(problem.sizes)
    benefits = draw(st.lists(st.integers(0, 500), min_size=count, max_size=count))
    pools = [
        Pool("slow", draw(st.sampled_from([None, 300, 600])), 1.0),
        Pool("fast", draw(st.integers(0, 20)) * UNIT, 3.0),
        Pool("medium", draw(st.integers(0, 320)), 2.0),
    ]
    buffers = st.integers(0, count - 1)
    pinned = draw(st.dictionaries(buffers, st.sampled_from(["slow", "fast"]), max_size=2))
    return problem, benefits, pools, pinned


@settings(max_examples=examples(150), deadline=None)
@given(divisions())
def test_every_division_is_legal(
    case: tuple[PlacementProblem, list[int], list[Pool], dict[int, str]],
) -> None:
    problem, benefits, pools, pinned = case
    try:
        found = assign(problem, benefits, pools, pinned)
    except FitError:
        assert pools[0].capacity is not None or pinned, "an unlimited pool has room for all"
        return
    require_legal(problem, pools, pinned, found)
    assert found == assign(problem, benefits, pools, pinned)


@settings(max_examples=examples(60), deadline=None)
@given(problems(5, 6), st.lists(st.integers(1, 99), min_size=5, max_size=5), st.integers(1, 12))
def test_the_fast_pool_earns_the_most_that_it_can(
    problem: PlacementProblem, benefits: list[int], units: int
) -> None:
    fast = Pool("fast", units * UNIT, 2.0)
    found = assign(problem, benefits, [fast, SRAM], {})
    most = 0
    for inside in product([False, True], repeat=len(problem.sizes)):
        members = [b for b, chosen in enumerate(inside) if chosen]
        if solve(part_of(problem, members)).bytes <= units * UNIT:
            most = max(most, sum(benefits[b] for b in members))
    assert sum(benefits[b] for b, pool in enumerate(found.pools) if pool == 0) == most


def test_what_fits_into_the_fastest_pool_stays_there() -> None:
    problem = from_lives([128, 128, 128, 64], [(0, 1), (1, 2), (2, 3), (3, 4)])
    found = assign(problem, [1, 0, 0, 0], [SRAM, DTCM], {})
    assert found.pools == (1, 1, 1, 1)
    assert found.bytes == (0, 256)


def test_a_small_buffer_with_much_traffic_comes_before_a_large_one_with_more() -> None:
    problem = from_lives([256, 64, 128], [(0, 1), (0, 1), (0, 1)])
    found = assign(problem, [1000, 800, 700], [DTCM, SRAM], {})
    assert found.pools == (1, 0, 0)
    assert found.bytes == (192, 256)


def test_two_that_live_at_other_times_share_the_fast_pool() -> None:
    problem = from_lives([256, 256, 256], [(0, 3), (0, 1), (2, 3)])
    found = assign(problem, [500, 300, 300], [DTCM, SRAM], {})
    assert found.pools == (1, 0, 0)


def test_a_buffer_lies_where_it_is_pinned() -> None:
    problem = from_lives([64, 64], [(0, 1), (0, 1)])
    found = assign(problem, [10, 20], [DTCM, SRAM], {1: "sram"})
    assert found == PoolPlacement((0, 1), (0, 0), (64, 64))


def test_a_pool_with_room_for_more_is_filled_as_low_as_can_be() -> None:
    """That all fit is known of a placement of 256 bytes; the smallest has 176."""
    sizes, highs = (80, 16, 96, 80, 80, 96, 80), (16, 96, 80, 80, 96, 80)
    pairs = [(i, i + 1, -sizes[i], high) for i, high in enumerate(highs)]
    found = assign(PlacementProblem(sizes, pairs, UNIT), [1] * 7, [DTCM, SRAM], {})
    assert found.bytes == (176, 0)


def test_overlaps_count_inside_of_a_pool_only() -> None:
    problem = PlacementProblem((256, 256), [(0, 1, -256, 0)], UNIT)
    assert assign(problem, [1, 1], [DTCM, SRAM], {}).pools == (0, 0)
    assert assign(problem, [1, 1], [DTCM, SRAM], {1: "sram"}).pools == (0, 1)


def test_earning_less_is_better_than_leaving_something_without_room() -> None:
    """The fast pool would rather have both small ones, but nobody else has room for the large."""
    problem = from_lives([256, 64, 64], [(0, 0)] * 3)
    found = assign(problem, [1, 500, 500], [DTCM, Pool("sram", 128, 1.0)], {})
    assert found.pools == (0, 1, 1)


def test_what_fits_nowhere_is_named_with_the_pools() -> None:
    problem = from_lives([256, 512], [(0, 1), (1, 2)])
    pools = [Pool("sram", 384, 1.0), DTCM]
    with pytest.raises(FitError) as raised:
        assign(problem, [5, 5], pools, {}, ["input", "conv_out"])
    assert str(raised.value) == (
        "There is no room for 'conv_out' (512 bytes) beside what lives at the same time: 'dtcm' "
        "has 256 bytes, 'sram' has 384 bytes. Use a board with more memory, or a smaller model."
    )


def test_pins_that_cannot_be_kept_are_named() -> None:
    problem = from_lives([256] * 6, [(0, 1)] * 6)
    with pytest.raises(UsageError, match=r"'x' cannot lie in 'itcm'.*choose one of: dtcm, sram"):
        assign(problem, [0] * 6, [DTCM, SRAM], {0: "itcm"}, list("xyzuvw"))
    message = r"'x' \(256 bytes\) and 'y' \(256 bytes\) do not fit together into 'dtcm', which has"
    with pytest.raises(FitError, match=message):
        assign(problem, [0] * 6, [DTCM, SRAM], {0: "dtcm", 1: "dtcm"}, list("xyzuvw"))
    with pytest.raises(FitError, match=r"buffer 3 \(256 bytes\) and 2 others do not fit"):
        assign(problem, [0] * 6, [DTCM, SRAM], dict.fromkeys(range(6), "dtcm"))
