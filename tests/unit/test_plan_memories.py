"""A network's buffers and constants in several memories: who goes where, and the checker's view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from graph_cases import Net, planned

from mcu_deploy.backends.interface import CFunction, Constant, Workload, layer_of
from mcu_deploy.errors import FitError, UsageError
from mcu_deploy.ir import EdgeId, Graph
from mcu_deploy.plan import (
    Copy,
    InPool,
    Memories,
    Plan,
    PlanError,
    check,
    control,
    hot,
    make,
    planner,
    traffic,
)
from mcu_deploy.plan.control import Branch, End, Otherwise, Repeat
from mcu_deploy.plan.lifetimes import analyse
from mcu_deploy.plan.model import Step
from mcu_deploy.plan.pools import Pool
from mcu_deploy.selection import Choice

SLOW, MIDDLE, FAST = Pool("slow", None, 1), Pool("middle", 1024, 2), Pool("fast", 1024, 3)


def _convolution() -> tuple[Graph, dict[str, EdgeId]]:
    """A convolution whose output is added to a second input."""
    net = Net()
    x, other = net.input(1, 1, 8, 8), net.input(1, 4, 8, 8)
    weights = net.constant(np.arange(36, dtype=np.float32).reshape(4, 1, 3, 3))
    y = net.op("Conv", [x, weights], (1, 4, 8, 8), pads=[1, 1, 1, 1])
    z = net.op("Add", [y, other], (1, 4, 8, 8))
    return net.finish(z), {"x": x, "other": other, "weights": weights, "y": y, "z": z}


def _plan(memories: Memories) -> tuple[Plan, dict[str, EdgeId], Graph, tuple[Choice, ...]]:
    graph, edges = _convolution()
    graph, choices, _ = planned(graph)
    made = make(graph, choices, planner.Planning(memories=memories))
    return made, edges, graph, choices


def _memory(plan: Plan, edge: EdgeId) -> str:
    place = plan.place(edge)
    assert isinstance(place, InPool)
    return plan.pools[place.pool].memory


def test_a_factor_is_read_for_each_multiplication() -> None:
    graph, _ = _convolution()
    graph, choices, _ = planned(graph)
    lives = analyse(graph, choices)
    found = traffic.of_buffers(lives)
    convolution = next(c for c in choices if c.layer.macs)
    macs = 8 * 8 * 4 * 9
    assert convolution.layer.macs == macs
    source = convolution.layer.input(0).edge
    own = found[lives.tensors[source].buffer]
    assert macs * 4 <= own <= macs * 4 + 3 * 256, "and it may be converted before"
    weights = convolution.workload.constants
    reads = traffic.of_constants(convolution.layer, weights)
    largest = max(range(len(weights)), key=lambda i: weights[i].value.nbytes)
    assert reads[largest] == macs * 4
    assert all(reads[i] == 4 * 64 * 4 for i in range(len(weights)) if i != largest)


def test_what_is_no_factor_is_read_once() -> None:
    net = Net()
    x, y, z = net.input(4, 8), net.input(8, 16), net.input(16)
    graph, choices, _ = planned(net.finish(net.op("Gemm", [x, y, z], (4, 16))))
    lives = analyse(graph, choices)
    found = traffic.of_buffers(lives)
    macs = 4 * 8 * 16
    assert [found[lives.tensors[e].buffer] for e in (x, y, z)] == [4 * macs, 4 * macs, 4 * 16]


def test_scratch_is_written_once_and_read_once() -> None:
    net = Net()
    graph = net.finish(net.op("Neg", [net.input(64)], (64,)))
    (node,) = graph.nodes
    workload = Workload("Test", CFunction("f", (), "{\n}"), scratch_bytes=100)
    lives = analyse(graph, [Choice(layer_of(graph, node), workload)])
    (step,) = lives.program
    assert isinstance(step, Step)
    assert step.scratch is not None
    assert traffic.of_buffers(lives)[step.scratch] == 200


def test_what_a_loop_holds_counts_once_a_round() -> None:
    ten, five = Repeat(1, None, 10, None, None), Repeat(2, None, None, None, 5)
    program = (
        Copy(0, 1),
        ten,
        Copy(0, 1),
        five,
        Copy(0, 1),
        End(2),
        Copy(0, 1),
        End(1),
        Copy(0, 1),
    )
    assert control.times(program) == [1, 10, 10, 50, 50, 50, 10, 10, 1]
    ways = (Branch(1, 0), Copy(0, 1), Otherwise(1), Copy(0, 1), End(1))
    assert control.times(ways) == [1] * 5


def test_what_is_read_most_gets_the_fast_memory() -> None:
    small = replace(FAST, capacity=256)  # the convolution's input, and nothing else
    made, edges, _, _ = _plan(Memories((SLOW, small), spread=True))
    assert _memory(made, edges["x"]) == "fast"
    assert _memory(made, edges["other"]) == "slow"
    assert [pool.name for pool in made.pools] == ["workspace", "fast"]


def test_if_the_fast_memory_has_room_for_all_it_is_the_workspace() -> None:
    made, _, _, _ = _plan(Memories((SLOW, replace(FAST, capacity=None)), spread=True))
    assert [(pool.name, pool.memory) for pool in made.pools] == [("workspace", "fast")]


def test_a_pin_moves_its_tensor_alone() -> None:
    for name in ("x", "other"):
        edges = _convolution()[1]
        made, _, _, _ = _plan(Memories((SLOW, FAST), pinned={edges[name]: "fast"}))
        buffer = made.tensors[edges[name]].buffer
        for tensor in made.tensors.values():
            expected = "fast" if tensor.buffer == buffer else "slow"
            assert _memory(made, tensor.edge) == expected


def test_pools_are_the_workspace_and_then_the_fastest_first() -> None:
    edges = _convolution()[1]
    pinned = {edges["x"]: "middle", edges["other"]: "fast"}
    for memories in ((SLOW, MIDDLE, FAST), (SLOW, FAST, MIDDLE)):
        made, _, _, _ = _plan(Memories(memories, pinned=pinned))
        assert [pool.name for pool in made.pools] == ["workspace", "fast", "middle"]
        assert [pool.memory for pool in made.pools] == ["slow", "fast", "middle"]


def test_pins_that_cannot_be_are_refused() -> None:
    _, edges = _convolution()
    with pytest.raises(UsageError, match="cannot lie in 'itcm': there is no such memory here"):
        _plan(Memories((SLOW, FAST), pinned={edges["x"]: "itcm"}))
    with pytest.raises(FitError, match=r"'in1' \(1024 bytes\) does not fit into 'fast', which has"):
        _plan(Memories((SLOW, replace(FAST, capacity=512)), pinned={edges["other"]: "fast"}))
    with pytest.raises(UsageError, match="is no tensor that a run computes"):
        _plan(Memories((SLOW, FAST), pinned={edges["weights"]: "fast"}))
    net = Net()
    a = net.input(4)
    b = net.op("Relu", [a], (4,))
    graph, choices, _ = planned(net.finish(b))
    memories = Memories((SLOW, FAST), pinned={a: "slow", b: "fast"})
    with pytest.raises(UsageError, match=r"puts 'in0' into slow and '.*' into fast, but one is"):
        make(graph, choices, planner.Planning(memories=memories))


def test_more_pools_than_the_runtime_takes() -> None:
    net = Net()
    inputs = [net.input(64) for _ in range(5)]
    graph, choices, _ = planned(net.finish(net.op("Concat", inputs, (320,), axis=0)))
    pools = (SLOW, *(Pool(f"fast{i}", 256, 9 - i) for i in range(4)))
    with pytest.raises(UsageError, match="would lie in 5 pools; the runtime takes 4"):
        make(graph, choices, planner.Planning(memories=Memories(pools, spread=True)))


# ---- Constants in RAM ----


def _with_constants(*lists: Sequence[Constant]) -> tuple[Graph, list[Choice]]:
    """Layers in a row, each with these constants, as no kernel of ours has them."""
    net = Net()
    edge = net.input(64)
    for _ in lists:
        edge = net.op("Neg", [edge], (64,))
    graph = net.finish(edge)
    function = CFunction("f", (), "{\n}")
    return graph, [
        Choice(layer_of(graph, node), Workload("Test", function, constants=tuple(constants)))
        for node, constants in zip(graph.nodes, lists, strict=True)
    ]


def _constant(stem: str, size: int, value: int = 1, alignment: int = 4) -> Constant:
    return Constant(stem, np.full(size, value, np.int8), alignment)


def _hot(graph: Graph, choices: Sequence[Choice], budget: int) -> Plan:
    memories = Memories((SLOW, FAST), hot_bytes=budget)
    return make(graph, choices, planner.Planning(memories=memories))


def test_the_densest_come_first_and_equal_ones_once() -> None:
    small, large = _constant("small", 20), _constant("large", 300)
    graph, choices = _with_constants([large, small], [_constant("other", 20)])
    plan = _hot(graph, choices, 100)
    places = {(h.step, h.constant): (h.place.offset, h.bytes) for h in plan.hot}
    assert places == {(0, 1): (0, 20), (1, 0): (0, 20)}, "of equal bytes, so one"
    assert (plan.pools[1].name, plan.pools[1].bytes, plan.pools[1].memory) == ("hot", 32, "fast")
    assert len(_hot(graph, choices, 400).hot) == 3


def test_what_cannot_lie_in_a_pool_stays_in_flash() -> None:
    graph, choices = _with_constants(
        [_constant("wide", 32, alignment=64), _constant("none", 0), _constant("large", 900, 2, 16)]
    )
    assert _hot(graph, choices, 800).hot == ()
    assert [h.constant for h in _hot(graph, choices, 912).hot] == [2]


def test_the_bound_counts_them() -> None:
    graph, choices = _with_constants([_constant("weights", 100)])
    assert _hot(graph, choices, 112).lower_bound == _hot(graph, choices, 0).lower_bound + 112


def test_the_checker_finds_constants_that_are_not_safe() -> None:
    graph, choices = _with_constants([_constant("a", 32), _constant("b", 32, 2)])
    plan = _hot(graph, choices, 64)
    first, second = plan.hot
    check(graph, choices, plan)

    def require(message: str, *, pools: Sequence[int] = (), **changes: object) -> None:
        moved = replace(second, **changes)  # type: ignore[arg-type]
        sizes = [
            replace(p, bytes=p.bytes + extra)
            for p, extra in zip(plan.pools, pools or (0, 0), strict=True)
        ]
        with pytest.raises(PlanError, match=message):
            check(graph, choices, replace(plan, hot=(first, moved), pools=tuple(sizes)))

    require("is not what is copied to its place", place=first.place)
    require("is not what is copied to its place", bytes=16)
    require("overlaps", place=InPool(1, 16))
    require("where it is not aligned", place=InPool(1, 40), pools=(0, 64))
    require("lies outside of the hot", place=InPool(1, 48))
    require("lies in pool 2, of which there is none", place=InPool(2, 0))
    require("overlaps the constant 'b'", place=InPool(0, 0))


def test_hot_size_of_nothing_is_nothing() -> None:
    assert hot.size(()) == 0
    assert hot.choose((), 100) == ()
