"""Which kernels run from RAM (--hot-code), how C says it, and where a board has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from graph_cases import Net, planned
from onnx import utils

from mcu_deploy.backends.interface import CFunction, Fetched, Parameter, Target
from mcu_deploy.backends.isa import Assembly, kernel
from mcu_deploy.boards import load_board, render_linker_script
from mcu_deploy.codegen.symbols import Symbols
from mcu_deploy.compiler import compile_model
from mcu_deploy.errors import BoardError, RequestError
from mcu_deploy.memory_timing import AT_ONCE, USUAL_FLASH
from mcu_deploy.options import Options
from mcu_deploy.plan import Plan, hot_code, make, planner
from mcu_deploy.plan.control import End, Repeat


def _function(stem: str, bytes_: int, cycles: int) -> CFunction:
    return CFunction(stem, (), "{ }", fetched=Fetched(bytes_, cycles))


def _plan(functions: Sequence[CFunction | None]) -> Plan:
    """Sums one after the other, each of which waits for these functions; None: for none."""
    net = Net()
    edge = net.input(8)
    for n in range(len(functions)):
        edge = net.op("Add", [edge, net.constant(np.full(8, n, np.float32))], (8,))
    graph, choices, _ = planned(net.finish(edge))
    waiting = [
        choice if function is None
        else replace(choice, workload=replace(choice.workload, helpers=(function,)))
        for choice, function in zip(choices, functions, strict=True)
    ]  # fmt: skip
    return make(graph, waiting, planner.Planning())


def _hot(plan: Plan, budget: int) -> list[str]:
    return [k.function.stem for k in hot_code.choose(plan, budget) if k.is_hot]


def test_the_kernels_that_wait_longest_for_a_byte_are_hot() -> None:
    plan = _plan([_function("a", 400, 800), None, _function("b", 100, 900), _function("c", 48, 60)])
    assert [k.function.stem for k in hot_code.choose(plan, 0)] == ["b", "a", "c"]
    assert _hot(plan, 0) == []
    assert _hot(plan, 99) == ["c"]
    assert _hot(plan, 100) == ["b"]
    # One that is too large for what is left is passed over.
    assert _hot(plan, 148) == ["b", "c"]
    assert _hot(plan, 499) == ["b", "c"]
    assert _hot(plan, 548) == ["b", "a", "c"]


def test_layers_that_share_a_kernel_wait_for_it_together() -> None:
    plan = _plan([_function("a", 102, 30), _function("b", 100, 50), _function("a", 102, 70)])
    first, second = hot_code.choose(plan, 1000)
    assert (first.function.stem, first.layers, first.bytes, first.cycles) == ("a", (0, 2), 104, 100)
    assert (second.layers, second.cycles) == ((1,), 50)


def test_a_kernel_in_a_loop_waits_in_each_round() -> None:
    plan = _plan([_function("a", 100, 30), _function("b", 100, 50)])
    looped = (*plan.program[:1], Repeat(0, None, 10, None, 10), *plan.program[1:], End(0))
    found = hot_code.choose(replace(plan, program=looped), 0)
    assert {k.function.stem: k.cycles for k in found} == {"a": 30, "b": 500}


def test_a_hot_kernel_has_a_section_of_its_own() -> None:
    hot, cold = _function("one", 4, 4), _function("other", 4, 4)
    symbols = Symbols("n", [hot_code.anonymous(hot)])
    assert symbols.kernel((), hot) == symbols.kernel((), replace(hot, fetched=None)) == "_mcu_n_one"
    symbols.kernel((), cold)
    assert [("section(MCU_HOT_SECTION)" in f.text) for f in symbols.functions] == [True, False]


def _loop(times: int) -> Assembly:
    """A loop that no cache of 1 KB holds."""
    code = Assembly()
    x, y = code.arguments("x y")
    with code.repeat(times):
        for _ in range(1000):
            code.add(y, y, x)
        code.subs(x, x, 1)
    return code


def test_a_kernel_says_how_long_it_waits_for_its_code() -> None:
    flash = replace(USUAL_FLASH, read_bytes=8, prefetch=False)
    waiting = Target("cortex-m4", True, True, False, flash)
    parameters = (Parameter("uint32_t", "x"), Parameter("uint32_t", "y"))
    once, again, twice = (
        kernel("loop", parameters, _loop(times), waiting, calls).fetched
        for times, calls in ((10, 1), (20, 1), (10, 2))
    )
    assert once is not None and again is not None and twice is not None
    assert 2000 <= once.bytes < 4100
    assert again.cycles == pytest.approx(2 * once.cycles, rel=0.05)
    assert twice.cycles == 2 * once.cycles
    at_once = replace(waiting, memory=AT_ONCE)
    assert kernel("loop", parameters, _loop(10), at_once).fetched is None


def test_layers_get_the_kernels_that_are_best_in_ram(kws_dir: Path, tmp_path: Path) -> None:
    """The price of each is that of where it will lie, and so one that waits long in flash wins."""
    whole, path = kws_dir / "model.onnx", tmp_path / "first_two_layers.onnx"
    model, board = onnx.load(whole), load_board("nucleo_l4r5zi")
    third = [node for node in model.graph.node if node.op_type == "Conv"][2]
    utils.extract_model(str(whole), str(path), [model.graph.input[0].name], [third.input[0]])
    cold, hot = (
        compile_model(path, board, options=Options(hot_code=budget)) for budget in (0, 4096)
    )
    assert cold.target.hot == frozenset()
    in_ram = [k for k in hot.sources.kernels.values() if k.is_hot]
    assert sum(k.bytes for k in in_ram) <= 4096
    # What the prices took for hot is hot, so that they are right.
    assert hot.target.hot is not None and hot.target.hot <= hot_code.digests(in_ram)
    others = hot_code.correction(hot.sources.kernels.values(), hot.target.hot)
    assert others == -sum(k.cycles for k in in_ram if k.digest not in hot.target.hot)
    saved = sum(k.cycles for k in cold.sources.kernels.values())
    assert hot.plan.cycles + others < cold.plan.cycles - saved
    # The depthwise kernel is another one than in flash, and waits there longer than all of these.
    assert in_ram[0].cycles > 2 * saved


def test_prices_are_corrected_by_what_lies_elsewhere() -> None:
    plan = _plan([_function("a", 100, 800), _function("b", 100, 900)])
    kernels = [replace(k, digest=k.function.stem) for k in hot_code.choose(plan, 100)]
    assert [k.is_hot for k in kernels] == [True, False]  # b, a
    assert hot_code.correction(kernels, frozenset()) == -900
    assert hot_code.correction(kernels, frozenset("b")) == 0
    assert hot_code.correction(kernels, frozenset("a")) == 800 - 900
    assert hot_code.correction(kernels, None) == 800
    # What the prices take for hot comes first.
    (b, a) = hot_code.choose(_plan([
        CFunction("a", (), "{ }", fetched=Fetched(100, 800, "a")), _function("b", 100, 900)
    ]), 100, frozenset("a"))  # fmt: skip
    assert (a.is_hot, b.is_hot) == (True, False)


def test_hot_code_lies_in_the_fastest_ram_that_holds_code() -> None:
    """Not in the F407's CCM, which no fetch reaches; in the F746's ITCM, and never at address 0."""
    boards = {
        "stm32f407": "sram", "stm32f746": "itcm", "nucleo_l476rg": "sram2", "mps2-an386": "ssram23",
    }  # fmt: skip
    for name, memory in boards.items():
        board = load_board(name)
        assert board.roles.hot_code == memory
        assert f"}} > {memory} AT > {board.roles.weights}" in render_linker_script(board)
    itcm = load_board("stm32f746").memory("itcm")
    assert itcm.origin > 0 and not itcm.is_for_tensors


def test_a_board_may_say_where_hot_code_lies(tmp_path: Path) -> None:
    def with_role(memory: str) -> Path:
        file = tmp_path / f"{memory}.toml"
        file.write_text(f'inherits = "stm32f407"\nname = "own"\n[roles]\nhot_code = "{memory}"\n')
        return file

    assert load_board(with_role("sram")).roles.hot_code == "sram"
    with pytest.raises(BoardError, match="hot_code = 'ccm' is no memory of kind ram that holds"):
        load_board(with_role("ccm"))
    file = tmp_path / "flash.toml"
    file.write_text('inherits = "stm32f407"\nname = "own"\n[memories.flash]\nholds = "code"\n')
    with pytest.raises(BoardError, match="holds is for memories of kind ram"):
        load_board(file)
    file.write_text('inherits = "stm32f407"\nname = "own"\n[memories.sram]\nholds = "code"\n')
    with pytest.raises(BoardError, match="data = 'sram' is no memory of kind ram"):
        load_board(file)


def test_a_board_without_ram_for_code_is_told(tmp_path: Path, models_dir: Path) -> None:
    file = tmp_path / "board.toml"
    file.write_text('inherits = "stm32f407"\nname = "own"\n[memories.sram]\nholds = "data"\n')
    board = load_board(file)
    assert board.roles.hot_code == ""
    model = models_dir / "tflm_hello_world_int8" / "model.onnx"
    with pytest.raises(RequestError, match="--hot-code needs RAM that code may run from"):
        compile_model(model, board, options=Options(hot_code=100))
