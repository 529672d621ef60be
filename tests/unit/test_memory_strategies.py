"""Plans with a memory manager or with moves: what they hold, and that wrong ones are refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from graph_cases import Net, random_net
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_cases import move_all_the_time, planned
from sampling import examples

from mcu_deploy.errors import UsageError
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan import (
    Exposure,
    InSlot,
    Kept,
    Partition,
    Plan,
    PlanError,
    check,
    memory_strategies,
)
from mcu_deploy.plan.managers import BlockConfiguration, PageConfiguration
from mcu_deploy.plan.runtime import Managed, Take

AT_RUN_TIME = ("plain", "mru", "bestfit")


@st.composite
def nets(draw: st.DrawFn) -> Graph:
    return random_net(lambda low, high: draw(st.integers(low, high)))


def branches() -> Graph:
    """Seven layers that cannot work in place; the second tensor lives for long."""
    net = Net()
    edges = [net.input(1, 4, 6, 6)]
    for _ in range(4):
        edges.append(pool(net, edges[-1]))
    joined = net.op("Concat", [edges[2], edges[4]], (1, 8, 6, 6), axis=1)
    return net.finish(pool(net, pool(net, joined)))


def pool(net: Net, edge: EdgeId) -> EdgeId:
    attributes = {"kernel_shape": (3, 3), "pads": (1, 1, 1, 1), "strides": (1, 1)}
    return net.op("MaxPool", [edge], net.shape(edge), **attributes)


def exposed(graph: Graph) -> Exposure:
    """The first inner tensor is kept; from the second one on, all can be run alone."""
    named = {graph.edge_name(edge): edge for edge in graph.topology.edges}
    return Exposure(
        kept=(Kept("kept", named["maxpool0_out"]),),
        partitions=(Partition("tail", (named["maxpool1_out"],), graph.outputs),),
    )


def test_all_strategies_are_known_by_name() -> None:
    assert memory_strategies() == ("offline", "compact", "bestfit", "mru", "plain")
    with pytest.raises(UsageError, match="--memory heap is not known; it is one of offline"):
        planned(branches(), "heap")


@settings(max_examples=examples(60), deadline=None)
@given(graph=nets(), memory=st.sampled_from(memory_strategies()), reuse=st.booleans())
def test_plans_of_random_networks_hold(graph: Graph, memory: str, reuse: bool) -> None:
    """`make` has each plan checked, with the addresses that the manager gives."""
    _, _, made = planned(graph, memory, reuse=reuse)
    assert made.memory == memory
    assert made.peak_bytes <= made.arena_bytes
    assert (made.managed is not None) == (memory in AT_RUN_TIME)


@settings(max_examples=30, deadline=None)
@given(graph=nets())
def test_compaction_is_never_larger_than_fixed_places(graph: Graph) -> None:
    _, _, offline = planned(graph, "offline", order=False)
    _, _, made = planned(graph, "compact", order=False)
    assert made.arena_bytes <= offline.arena_bytes
    assert bool(made.moves) == (made.arena_bytes < offline.arena_bytes)


@settings(max_examples=examples(40), deadline=None)
@given(graph=nets())
def test_moves_of_random_networks_hold(graph: Graph) -> None:
    with pytest.MonkeyPatch.context() as patch:
        move_all_the_time(patch)
        planned(graph, "compact")


@pytest.mark.parametrize("memory", AT_RUN_TIME)
def test_inputs_outputs_and_kept_tensors_have_fixed_places(memory: str) -> None:
    graph = branches()
    graph, _, made = planned(graph, memory, exposed(graph))
    for edge in (*graph.inputs, *graph.outputs, *(k.edge for k in made.exposure.kept)):
        assert not isinstance(made.place(edge), InSlot)
    assert any(isinstance(made.place(edge), InSlot) for edge in made.tensors)
    assert made.managed is not None
    assert made.slots == len(set(made.managed.slots.values()))
    assert made.slots < len(made.managed.slots)


@pytest.mark.parametrize("memory", memory_strategies())
def test_partitions_and_kept_tensors_hold(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if memory == "compact":
        move_all_the_time(monkeypatch)
    graph = branches()
    _, _, made = planned(graph, memory, exposed(graph))
    assert len(made.parts) == 1
    assert memory != "compact" or made.moves


@pytest.mark.parametrize("configuration", [PageConfiguration(4), BlockConfiguration(True)])
def test_a_manager_counts_what_it_gives_and_takes_back_nothing_else(
    configuration: PageConfiguration | BlockConfiguration,
) -> None:
    """As the C of crt/ does, which tests/crt compares with it."""
    manager = configuration.manager(1024)
    assert manager is not None
    first, second = manager.allocate(40, 16), manager.allocate(8, 16)
    assert first is not None and second is not None
    most = manager.used
    assert 48 <= most == manager.peak
    manager.free(first)
    for address in (first, second + 4, 4096):
        with pytest.raises(ValueError, match=f"nothing was given at {address}"):
            manager.free(address)
    assert 8 <= manager.used < 40
    manager.free(second)
    assert (manager.used, manager.peak) == (0, most)


def test_the_least_that_a_manager_needs() -> None:
    """A page and its byte of the table; a header of two words and a block of one more of them."""
    pages, blocks = PageConfiguration(4), BlockConfiguration(True)
    assert (pages.rounded(1), pages.rounded(17)) == (17, 34)
    assert (pages.manager(16), blocks.manager(15)) == (None, None)
    for manager in (pages.manager(17), blocks.manager(16)):
        assert manager is not None and manager.allocate(8, 1) is not None


def managed_of(made: Plan) -> Managed:
    assert made.managed is not None
    return made.managed


@pytest.mark.parametrize("memory", AT_RUN_TIME)
def test_wrong_use_of_a_manager_is_refused(memory: str) -> None:
    graph, choices, made = planned(branches(), memory)
    managed = managed_of(made)
    check(graph, choices, made)
    takes, gives = dict(managed.takes), dict(managed.gives)
    early = min(p for p in gives if p > min(takes))
    for text, wrong in (
        ("not held", replace(managed, takes=_shifted(takes, min(takes), 1))),
        ("overwritten|not held", replace(managed, gives=_shifted(gives, early, -1))),
        ("fails", replace(managed, gives={})),
        ("fails", replace(managed, bytes=managed.bytes - 64)),
        ("bytes, not", replace(managed, peak=managed.peak - 1)),
    ):
        with pytest.raises(PlanError, match=text):
            check(graph, choices, replace(made, managed=wrong))


def _shifted(
    table: Mapping[int, tuple[Take, ...]], position: int, by: int
) -> dict[int, tuple[Take, ...]]:
    """What happens at a position happens some layers later."""
    moved = dict(table)
    taken = moved.pop(position)
    moved[position + by] = (*moved.get(position + by, ()), *taken)
    return moved


def test_wrong_moves_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    move_all_the_time(monkeypatch)
    graph, choices, made = planned(branches(), "compact")
    assert len(made.moves) > 3
    for index, move in enumerate(made.moves):
        others = (*made.moves[:index], *made.moves[index + 1 :])
        for wrong in (
            others,  # left out
            (*others, replace(move, before_step=len(made.program) + 1)),  # never
            (*made.moves[:index], replace(move, target=move.target + 16), *made.moves[index + 1 :]),
            (*made.moves[:index], replace(move, target=made.bytes), *made.moves[index + 1 :]),
        ):
            with pytest.raises(PlanError):
                check(graph, choices, replace(made, moves=wrong))
