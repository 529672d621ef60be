"""What goals weigh against what, by the ways that there are for one node."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from partition_cases import candidate, wired

from mcu_deploy.backends.interface import Costs, Price, Proposal
from mcu_deploy.choose import Candidate, Problem
from mcu_deploy.choose.strategies import cost
from mcu_deploy.ir import view


def test_a_small_network_gets_8_kilobytes_for_what_they_buy() -> None:
    """Besides what all need the layer has 1,000 bytes: a quarter more is 647 bytes."""

    def taken(*ways: tuple[int, int]) -> int:
        """Of ways, each its time and its flash, the one that is chosen."""
        found = tuple(
            replace(candidate("AB"[k > 0], time), costs=Costs(instructions=time, flash=flash))
            for k, (time, flash) in enumerate(((1000, 1000), *ways))
        )
        problem = Problem(wired([[]]), {0: found}, goal="balanced")
        return cost.choose(problem).chosen[0]

    assert taken((970, 1600)) == 1  # within the quarter whatever it buys
    assert taken((700, 9000)) == 1  # 15 times 512 bytes for 30 %
    assert taken((990, 9000)) == 0
    assert taken((900, 9000)) == 0
    assert taken((100, 9300)) == 0  # more than 8 KB
    assert taken((700, 3000), (650, 9000)) == 1  # the last 6,000 bytes for 5 %
    assert taken((700, 3000), (500, 9000)) == 2


def test_a_tenth_more_memory_must_save_twice_as_much_time() -> None:
    graph = wired([[]])
    around = sum(graph.type(edge).bytes for edge in (*graph.inputs, *graph.outputs))

    def way(backend: str, time: int, peak: int) -> Candidate:
        price = Price(Costs(instructions=time), scratch_bytes=peak - around)
        proposal = Proposal(view(graph, [0]), price, lambda *_: ())
        return replace(candidate(backend, time), proposal=proposal)

    def taken(*ways: tuple[int, int]) -> int:
        """Of ways, each its time and its peak, the one that is chosen."""
        found = tuple(way("AB"[k > 0], *one) for k, one in enumerate(((1000, 1000), *ways)))
        return cost.choose(Problem(graph, {0: found}, goal="ram")).chosen[0]

    assert taken((1, 1101)) == 0  # more than a tenth
    assert taken((820, 1100)) == 1
    assert taken((830, 1100)) == 0  # 17 % for 10 %
    assert taken((985, 1010)) == 0
    assert taken((975, 1010)) == 1
    assert taken((900, 1010), (850, 1100)) == 1


def of_one_node(goal: str, *ways: tuple[int, int, int], **more: Any) -> Problem:
    """Ways to compute it: of each its time, its flash, and its scratch."""
    graph = wired([[]])
    found = []
    for backend, (time, flash, scratch) in zip("ABC", ways, strict=False):
        price = Price(Costs(instructions=time, flash=flash), scratch_bytes=scratch)
        proposal = Proposal(view(graph, [0]), price, lambda *_: ())
        found.append(replace(candidate(backend), costs=price.costs, proposal=proposal))
    return Problem(graph, {0: tuple(found)}, goal=goal, **more)


def test_the_planner_is_asked_about_the_shortest_kernels_for_ram() -> None:
    """The guess, which knows of no overlap, has them need more memory."""
    planned = {"A": 1000, "B": 500}
    ways = (10, 900, 0), (20, 100, 800)
    problem = of_one_node("ram", *ways, peak=lambda cover: planned[cover[0]])
    assert cost.choose(problem)[0] == "B"


def test_balanced_weighs_time_flash_and_memory() -> None:
    def taken(*ways: tuple[int, int, int]) -> str:
        return cost.choose(of_one_node("balanced", *ways))[0]

    assert taken((1000, 100, 64), (1020, 100, 0)) == "B"  # within 2 % the least memory
    assert taken((1000, 100, 64), (1021, 100, 0)) == "A"
    # Of equals a hundredth of the flash for two thousandths of the time.
    assert taken((10_000, 10_100, 0), (10_019, 10_000, 0)) == "B"
    assert taken((10_000, 10_100, 0), (10_022, 10_000, 0)) == "A"
