"""ArmDsp's convolutions by Winograd: the oracle's bits on the cores, and a price that is true."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tflite
from arm_dsp_convolutions import BLOCK, Case, model
from arm_dsp_winograd_cases import TAKEN
from kernel_builds import MARKS, right
from sampling import first, part
from tflite_models import Operator, constant, int8, write

from mcu_deploy import formats, passes
from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.backends.ArmDsp import ArmDsp
from mcu_deploy.backends.ArmDsp.kernels import convolution, winograd
from mcu_deploy.backends.ArmDsp.kernels.winograd import Winograd
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView, Target, layer_of
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.ir.view import view_of_all
from mcu_deploy.options import Options

M4 = Target("cortex-m4", fpu=True, dsp=True)
pytestmark = MARKS


@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500", "mps2-an505"]))
def test_every_shape_gives_the_bits_of_the_oracle(
    board: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(convolution, "propose", lambda view, layer: "")
    cases = part(TAKEN, 3, [BLOCK])
    path = model(cases, tmp_path / "shapes.onnx")
    built = right(path, board, tmp_path, "speed", onnxruntime=False)
    mine = [layer for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert len(mine) == len(cases)
    # onnxruntime convolves no int8 to uint8.
    if board != "mps2-an386":
        return
    counted = {layer.name: layer for layer in profile(built.directory).layers}
    (block,) = (layer.cost for layer in counted.values() if layer.macs == 1024 * 16 * 144)
    assert 1_000_000 < block <= 1_117_000
    graph = passes.run(formats.load(path))
    for proposal in ArmDsp().propose(view_of_all(graph), M4).proposals:
        (node,) = proposal.part.nodes
        price, cycles = proposal.price.costs.cycles, counted[node.name].cycles
        assert price is not None and cycles is not None
        assert 0.97 * cycles < price < 1.03 * cycles, node.name


def _passes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its short loops, whatever the code of all positions in a row would take."""
    made = winograd._proposal

    def proposal(view: SubgraphView, node: Layer, kernel: Winograd) -> Proposal:
        return made(view, node, replace(kernel, has_passes=True))

    monkeypatch.setattr(winograd, "_proposal", proposal)


@pytest.mark.matrix
@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500", "mps2-an505"]))
def test_short_loops_give_the_same(
    board: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _passes_alone(monkeypatch)
    monkeypatch.setattr(convolution, "propose", lambda view, layer: "")
    cases = part(TAKEN, 3)
    path = model(cases, tmp_path / "shapes.onnx")
    built = right(path, board, tmp_path, "speed", flash_wait=5, onnxruntime=False)
    mine = [layer for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert len(mine) == len(cases)


def test_short_loops_wait_for_little_and_their_prices_know_it(tmp_path: Path) -> None:
    """They are what is taken for a board with a cache of 1 KB."""
    path = model([BLOCK, Case((64, 8, 9), 32)], tmp_path / "large.onnx")
    built = build(path, "nucleo_l4r5zi", tmp_path / "build", options=Options(optimize_for="speed"))
    counted = {layer.name: layer for layer in profile(built.directory).layers}
    (network,) = (made.network for made in built.networks)
    mine = [step.choice for step in network.plan.steps if step.choice.layer.op == "Conv"]
    for choice in mine:
        function, price = choice.workload.function, choice.workload.costs.cycles
        time = counted[choice.layer.name].time
        assert function is not None and price is not None and time is not None
        assert function.stem.startswith("winograd") and "a pass" in " ".join(function.comment)
        assert 0.95 * time.cycles < price < 1.05 * time.cycles
        assert time.code_share < 0.04
    assert len(mine) == 2


@pytest.mark.parametrize("flash_wait", first([5, None]))
def test_twice_rounded_sums_are_the_oracles(
    flash_wait: int | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where elements of both signs are left, hardly a filter of TFLite's has an integer scale."""
    monkeypatch.setattr(convolution, "propose", lambda view, layer: "")
    if flash_wait:
        _passes_alone(monkeypatch)
    random = np.random.default_rng(0)
    window = {"Padding": tflite.Padding.SAME, "StrideH": 1, "StrideW": 1}
    options = {**window, "DilationHFactor": 1, "DilationWFactor": 1}
    tensors, operators = [int8("x", (1, 7, 5, 8), 0.05, 3)], []
    for name, source, filters, channels, zero in (("c", "x", 12, 8, -128), ("y", "c", 4, 12, 7)):
        scales = random.uniform(0.001, 0.03, filters).tolist()
        weights = random.integers(-128, 128, (filters, 3, 3, channels)).astype(np.int8)
        bias = random.integers(-900, 900, filters).astype(np.int32)
        tensors += [constant(f"{name}_w", weights, scales), constant(f"{name}_b", bias)]
        tensors.append(int8(name, (1, 7, 5, filters), 0.5, zero))
        inputs = (source, f"{name}_w", f"{name}_b")
        operators.append(Operator("CONV_2D", inputs, (name,), "Conv2DOptions", options))
    path = tmp_path / "twice.tflite"
    path.write_bytes(write(tensors, operators, ["x"], ["y"]))
    graph = passes.run(formats.load(path))
    layers = [read(layer_of(graph, node, M4)) for node in graph.nodes if node.op == "Conv"]
    kernels = [Winograd(layer) for layer in layers if isinstance(layer, Convolution)]
    solved = [pair.is_solved for kernel in kernels for pair in kernel.pairs]
    assert 0 < sum(solved) < len(solved)
    how = {"optimize_for": "speed", "flash_wait": flash_wait}
    goal = Options(backends=("ArmDsp", "CpuRef"), **how)  # type: ignore[arg-type]
    built = build(path, "mps2-an386", tmp_path / "build", options=goal)
    assert [layer.backend for layer in built.report.layers if layer.op == "Conv"] == ["ArmDsp"] * 2
    assert validate(built).passed
