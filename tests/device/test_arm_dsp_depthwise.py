"""ArmDsp's depthwise convolutions of any kernel on the cores: the oracle's bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tflite
from arm_dsp_convolutions import model
from arm_dsp_depthwise_cases import REFUSED, TAKEN
from kernel_builds import MARKS, right
from sampling import first
from tflite_models import Operator, constant, int8, write

from mcu_deploy import formats, passes
from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.backends.interface import Target, layer_of
from mcu_deploy.backends.quantized.dense_product import shift
from mcu_deploy.backends.quantized.layers import Convolution, read
from mcu_deploy.backends.quantized.requantization import accumulate
from mcu_deploy.options import Options

M4 = Target("cortex-m4", fpu=True, dsp=True)
pytestmark = MARKS


@pytest.mark.parametrize(
    ("board", "goal", "every"),
    first(
        [
            ("mps2-an386", "speed", 10), ("mps2-an386", "speed", 1), ("mps2-an386", "size", 1),
            ("mps2-an500", "speed", 1), ("mps2-an505", "speed", 1),
        ]
    ),
)  # fmt: skip
def test_every_shape_gives_the_bits_of_the_oracle(
    board: str, goal: str, every: int, tmp_path: Path
) -> None:
    """In the sample of every tenth shape."""
    taken = TAKEN[::every]
    path = model([*taken, *REFUSED], tmp_path / "shapes.onnx")
    built = right(path, board, tmp_path, goal, onnxruntime=False)
    mine = [layer for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert len(mine) == len(taken)
    # onnxruntime convolves no int8 to uint8.
    if (board, goal, every) != ("mps2-an386", "speed", 1):
        return
    counted = {layer.name: layer.cycles or 0 for layer in profile(built.directory).layers}
    largest = [layer for layer in mine if layer.macs > 20_000]
    assert len(largest) == 4
    for layer in largest:
        assert layer.cost is not None
        assert 0.9 * counted[layer.name] < layer.cost.value < 1.1 * counted[layer.name]
        # Of 3, 5 and 7 taps in a row; the 5x1 one has two filters a channel of nine.
        assert counted[layer.name] < (3 if layer.macs == 95_040 else 1.65) * layer.macs


def test_twice_rounded_sums_are_the_oracles(tmp_path: Path) -> None:
    """Where elements of both signs are left, hardly a filter of TFLite's has an integer scale."""
    random = np.random.default_rng(0)
    window = {"Padding": tflite.Padding.SAME, "StrideH": 1, "StrideW": 1}
    tensors, operators = [int8("x", (1, 9, 7, 8), 0.05, 3)], []
    for name, source, kernel, filters, zero, scale in (
        ("b", "x", (3, 3), 8, -10, 0.03), ("c", "b", (5, 5), 8, -128, 0.03),
        # Factors of a half and more are not shifted.
        ("d", "c", (2, 2), 8, 0, 0.99), ("y", "d", (3, 1), 16, 7, 0.03),
    ):  # fmt: skip
        scales = random.uniform(0.001, 0.03, filters).tolist()
        scales[:3] = random.uniform(0.55, 1, 3) * scale
        weights = random.integers(-128, 128, (1, *kernel, filters)).astype(np.int8)
        bias = random.integers(-900, 900, filters).astype(np.int32)
        tensors += [constant(f"{name}_w", weights, scales, 3), constant(f"{name}_b", bias)]
        tensors.append(int8(name, (1, 9, 7, filters), 0.5, zero))
        attributes = {"DepthMultiplier": filters // 8, "DilationHFactor": 1, "DilationWFactor": 1}
        inputs = (source, f"{name}_w", f"{name}_b")
        operators.append(
            Operator(
                "DEPTHWISE_CONV_2D", inputs, (name,), "DepthwiseConv2DOptions",
                {**window, **attributes},
            )
        )  # fmt: skip
    path = tmp_path / "twice.tflite"
    path.write_bytes(write(tensors, operators, ["x"], ["y"]))
    graph = passes.run(formats.load(path))
    layers = [read(layer_of(graph, node, M4)) for node in graph.nodes if node.op == "Conv"]
    solved = [
        accumulate(layer.channel(n), 1, shift(layer)) is not None
        for layer in layers if isinstance(layer, Convolution)
        for n in range(layer.weights.shape[0])
    ]  # fmt: skip
    assert 0 < sum(solved) < len(solved) == 40
    goal = Options(backends=("ArmDsp", "CpuRef"), optimize_for="speed")
    built = build(path, "mps2-an386", tmp_path / "build", options=goal)
    assert [layer.backend for layer in built.report.layers if layer.op == "Conv"] == ["ArmDsp"] * 4
    assert validate(built).passed
