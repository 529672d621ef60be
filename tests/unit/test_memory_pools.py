"""What --pools, --pool and --hot-weights ask for, and the sentence for each wish that cannot be."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from graph_cases import Net

from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import FitError, McuDeployError, UsageError
from mcu_deploy.options import Options, PoolRequests, Requests, from_typed
from mcu_deploy.plan import Exposure, Kept, memory_pools
from mcu_deploy.toolchain.fit import MemoryUse, check_fit

STM32F746 = load_board("stm32f746")


def _refused(kws_dir: Path, board: str, options: Options) -> str:
    with pytest.raises(McuDeployError) as caught:
        compile_model(kws_dir / "model.onnx", load_board(board), options=options)
    return str(caught.value)


def test_the_options_of_the_command_line() -> None:
    typed = {"pools": "auto", "pool": ["a=b=dtcm", "c=sram12"], "hot_weights": 100}
    asked = from_typed(typed).pools
    assert asked == PoolRequests(True, {"a=b": "dtcm", "c": "sram12"}, 100)
    assert PoolRequests(**asdict(asked)) == asked


@pytest.mark.parametrize(
    ("texts", "hot", "expected"),
    [
        (["a"], 0, "--pool a is not of the form TENSOR=NAME."),
        (["=dtcm"], 0, "--pool =dtcm is not of the form TENSOR=NAME."),
        (["a="], 0, "--pool a= is not of the form TENSOR=NAME."),
        (["a=b", "a=c"], 0, "--pool names 'a' twice, with b and c; name it once."),
        ([], -1, "--hot-weights = -1 is out of range; it must be 0 or more."),
    ],
)
def test_what_is_wrong_there_is_said(texts: list[str], hot: int, expected: str) -> None:
    with pytest.raises(UsageError, match=re.escape(expected)):
        from_typed({"pools": "off", "pool": texts, "hot_weights": hot})


@pytest.mark.parametrize(
    ("board", "options", "expected"),
    [
        ("host", Options(pools=PoolRequests(True)), "--pools auto needs a board with memories"),
        ("host", Options(pools=PoolRequests(pinned={"x": "dtcm"})), "--pool needs a board with"),
        (
            "stm32f746",
            Options(pools=PoolRequests(pinned={"x": "flash"})),
            "--pool x=flash: the board stm32f746 has no RAM of this name; it has dtcm, sram12.",
        ),
        (
            "stm32f746",
            Options(pools=PoolRequests(True), memory="mru"),
            "--pools auto and --memory mru do not go together",
        ),
        (
            "stm32f746",
            Options(pools=PoolRequests(pinned={"x": "dtcm"}), arena="shared"),
            "--pool and --arena shared do not go together",
        ),
        (
            "stm32f746",
            Options(pools=PoolRequests(pinned={"x": "dtcm"})),
            "--pool x=dtcm names 'x', but the model has no tensor of this name.",
        ),
    ],
)
def test_wishes_that_a_board_cannot_grant(
    board: str, options: Options, expected: str, kws_dir: Path
) -> None:
    assert expected in _refused(kws_dir, board, options)


def test_a_callers_buffer_is_where_the_caller_wants_it(kws_dir: Path) -> None:
    options = Options(io="caller", pools=PoolRequests(pinned={"input_1": "dtcm"}))
    expected = "--pool input_1=dtcm: 'input_1' lies in a buffer of the caller (--io caller)"
    assert expected in _refused(kws_dir, "stm32f746", options)


def test_weights_that_fit_no_memory(kws_dir: Path) -> None:
    full = {"dtcm": 60_000, "sram12": 240_000}
    options = Options(pools=PoolRequests(hot_weights=20_000, taken=full))
    with pytest.raises(FitError, match=r"no memory with room for 19\d\d\d bytes of weights"):
        compile_model(kws_dir / "model.onnx", STM32F746, options=options)


def test_tensors_that_fit_no_memory(kws_dir: Path) -> None:
    full = {"dtcm": 60_000, "sram12": 256 << 10}
    options = Options(pools=PoolRequests(True, taken=full))
    with pytest.raises(
        FitError, match=r"There is no room for 'functional_1/.*'sram12' has 0 bytes"
    ):
        compile_model(kws_dir / "model.onnx", STM32F746, options=options)


def test_a_full_pool_is_not_the_boards_fault() -> None:
    uses = [MemoryUse("dtcm", "ram", (64 << 10) + 8, 64 << 10)]
    with pytest.raises(FitError) as caught:
        check_fit(STM32F746.divided(), uses)
    assert "ram dtcm needs 65,544 bytes and has 65,536: 8 bytes are missing" in str(caught.value)
    assert "less in dtcm (--pools off, other --pool options" in str(caught.value)
    assert "a board with" not in str(caught.value)


def test_the_planner_is_told_what_is_left_of_each_memory() -> None:
    asked = PoolRequests(True, taken={"dtcm": 1000})
    known = memory_pools.memories(STM32F746, asked, {})
    stacks = STM32F746.stack_bytes + STM32F746.handler_stack_bytes
    assert [(p.name, p.capacity, p.speed) for p in known.pools] == [
        ("sram12", (256 - 12) << 10, 1),
        ("dtcm", (64 << 10) - stacks - 1000, 2),
    ]
    assert known.is_divided
    assert not memory_pools.memories(STM32F746, PoolRequests(hot_weights=5), {}).is_divided
    assert memory_pools.memories(load_board("host"), PoolRequests(hot_weights=5), {}).pools == ()


def test_constants_and_lost_tensors_cannot_be_pinned() -> None:
    net = Net()
    x = net.input(4)
    weights = net.constant(np.ones(4, np.float32))
    y = net.op("Add", [x, weights], (4,))
    graph = net.finish(y)
    name = graph.edge_name(weights)
    with pytest.raises(UsageError, match="a constant of the model, which lies in flash"):
        memory_pools.find(graph, PoolRequests(pinned={name: "dtcm"}))
    asked = PoolRequests(pinned={graph.edge_name(y): "dtcm"})
    found = memory_pools.find(graph, asked)
    assert memory_pools.settle(graph, Exposure(), found, asked) == {y: "dtcm"}
    with pytest.raises(UsageError, match=r"not there any more after optimisation.*--keep add0_out"):
        memory_pools.settle(graph, Exposure(), {graph.edge_name(y): 99}, asked)
    kept = Exposure(kept=(Kept(graph.edge_name(y), x),))
    assert memory_pools.settle(graph, kept, found, asked) == {x: "dtcm"}
    both = PoolRequests(pinned={"a": "dtcm", "b": "sram12"})
    with pytest.raises(UsageError, match="another name of the same tensor"):
        memory_pools.settle(graph, Exposure(), {"a": x, "b": x}, both)


def test_a_tensor_that_is_kept_can_be_pinned_by_its_name(kws_dir: Path) -> None:
    graph = compile_model(kws_dir / "model.onnx", STM32F746).graph
    inner = graph.edge_name(next(graph.nodes).writes[0])
    options = Options(requests=Requests(keep=(inner,)), pools=PoolRequests(pinned={inner: "dtcm"}))
    made = compile_model(kws_dir / "model.onnx", STM32F746, options=options).plan
    place = made.places[made.tensors[made.exposure.kept[0].edge].buffer]
    assert made.pools[place.pool].memory == "dtcm"  # type: ignore[union-attr]
