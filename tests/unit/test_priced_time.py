"""The time that a build states by the prices of its layers, and why there is none elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import report_values
from arm_dsp_cases import Case, model

from mcu_deploy.backends.cost import Costs
from mcu_deploy.boards import load_board, load_core
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options
from mcu_deploy.plan import Step
from mcu_deploy.report.model import PricedTime
from mcu_deploy.report.prices import depends_on_values, is_kept, joint, of_layer, of_network


def test_it_is_the_sum_of_the_layers_at_the_rated_clock(tmp_path: Path) -> None:
    board = load_board("nucleo_l4r5zi")
    path = model([Case(8, 8, 4, 4), Case(8, 16, 4, 4, 1)], tmp_path / "net.onnx")
    network = compile_model(path, board)
    time, reason = of_network(board, network)
    assert time is not None and reason == ""
    costs = [step.choice.workload.costs.cycles for step in network.plan.steps]
    assert time.cycles == sum(cost for cost in costs if cost is not None)
    assert (time.clock_hz, time.milliseconds) == (120_000_000, time.cycles / 120_000)
    # The flash that the price is of is the one that was said.
    at_once = compile_model(path, board, options=Options(flash_wait=0))
    quick, _ = of_network(board, at_once)
    assert quick is not None and quick.cycles < time.cycles
    unknown = replace(network, target=replace(network.target, memory=None))
    silent = replace(board, memories=tuple(
        replace(memory, rated_timing=None) for memory in board.memories
    ))  # fmt: skip
    assert of_network(silent, unknown) == (
        None, "the file of board nucleo_l4r5zi does not say how its flash answers (`timing`)"
    )  # fmt: skip


def test_what_runs_from_ram_and_was_priced_in_flash_waits_for_no_code(tmp_path: Path) -> None:
    board = load_board("nucleo_l4r5zi")
    path = model([Case(8, 8, 4, 4), Case(8, 16, 4, 4, 1)], tmp_path / "net.onnx")
    network = compile_model(path, board)
    waiting = network.sources.kernels
    hot = {symbol: replace(kernel, is_hot=True) for symbol, kernel in waiting.items()}
    moved = replace(network, sources=replace(network.sources, kernels=hot))
    (before, _), (after, _) = of_network(board, network), of_network(board, moved)
    assert before is not None and after is not None
    assert before.cycles - after.cycles == sum(kernel.cycles for kernel in hot.values()) > 0


def test_what_caches_hold_whole_is_not_waited_for(tmp_path: Path) -> None:
    """As `profile` counts a run that is not the first. STM32F746: 4 KB for each of the two."""
    board = load_board("stm32f746")
    path = model([Case(8, 8, 4, 4), Case(8, 16, 4, 4, 1)], tmp_path / "net.onnx")
    network = compile_model(path, board)
    memory = network.target.memory
    assert is_kept(memory, {"code": 3000, "runtime": 1096, "constants": 4096})
    assert not is_kept(memory, {"code": 3000, "runtime": 1097, "constants": 4096})
    assert not is_kept(memory, {"code": 3000, "runtime": 1096, "constants": 4097})
    assert memory is not None and memory.data_cache is not None
    smaller = replace(memory.data_cache, lines=memory.data_cache.lines // 2)
    for constants in (2048, 2049):
        flash = {"code": 4096, "runtime": 0, "constants": constants}
        assert is_kept(replace(memory, data_cache=smaller), flash) == (constants == 2048)
    unified = load_board("nucleo_u575zi").memory("flash").rated_timing  # 8 KB
    assert is_kept(unified, {"code": 8000, "runtime": 0, "constants": 192})
    assert not is_kept(unified, {"code": 8000, "runtime": 0, "constants": 193})
    # Without what it waits it takes what it would at once, in kernels for this flash.
    first, _ = of_network(board, network)
    again, _ = of_network(board, network, kept=True)
    assert first is not None and again is not None
    costs = [step.choice.workload.costs for step in network.plan.steps]
    layers = [of_layer(cost, kept=True) for cost in costs]
    assert again.cycles == sum(cost.value for cost in layers if cost is not None)
    assert first.cycles - again.cycles == sum(cost.waits for cost in costs) > 0
    assert all(cost.waits > 0 for cost in costs if cost.cycles)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("host", "nothing is modelled of the host"),
        ("microbit", "there are no timings of the cortex-m0"),
    ],
)
def test_where_there_is_none_a_clause_says_why(name: str, reason: str, models_dir: Path) -> None:
    board = load_board(name)
    network = compile_model(models_dir / "tflm_hello_world_int8" / "model.onnx", board)
    time, why = of_network(board, network)
    assert time is None and why.startswith(reason)


def test_floats_have_none_without_an_fpu(models_dir: Path) -> None:
    board = load_board("mps2-an385")
    network = compile_model(models_dir / "tflm_hello_world_f32" / "model.onnx", board)
    time, why = of_network(board, network)
    assert time is None and why.startswith("much of it is float32, which this cortex-m3 has no FPU")
    time, why = of_network(
        board, compile_model(models_dir / "mlperf_ad_int8" / "model.onnx", board)
    )
    assert time is not None and why == ""
    assert time.cycles == pytest.approx(953_690, rel=0.05)  # as `profile` counts it


def test_more_than_a_tenth_of_float32_is_too_much(models_dir: Path) -> None:
    path = models_dir / "digits_cnn_qdq_s8s8_pc" / "model.onnx"
    network = compile_model(path, load_board("mps2-an385"))
    conversion, convolution, *_ = network.plan.steps

    def taking(step: Step, cycles: int) -> Step:
        workload = replace(step.choice.workload, costs=Costs(cycles=cycles))
        return replace(step, choice=replace(step.choice, workload=workload))

    for floats, is_much in ((100, False), (101, True)):
        program = taking(conversion, floats), taking(convolution, 1000 - floats)
        plan = replace(network.plan, program=program)
        assert depends_on_values(replace(network, plan=plan)) == is_much


def test_networks_of_a_firmware_run_one_after_the_other() -> None:
    (network,) = report_values.report().networks
    timed = replace(network, priced_time=PricedTime(1000, 1.0, 10**6))
    assert joint([timed, timed]) == (PricedTime(2000, 2.0, 10**6), "")
    untimed = replace(network, priced_time=None, no_priced_time="nobody knows")
    assert joint([timed, untimed]) == (None, "nobody knows")


def test_a_core_alone_has_no_clock(models_dir: Path) -> None:
    core = load_core("cortex-m4", "fpv4-sp-d16")
    network = compile_model(models_dir / "tflm_hello_world_int8" / "model.onnx", core)
    time, why = of_network(core, network)
    assert time is None and why.startswith("no board is named")
