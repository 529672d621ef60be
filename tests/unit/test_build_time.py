"""Time to compile is of the order of the layers: four times as many take four times as long.

What grows with their square would take 16 times as long. The test allows 8, since processor time
on a machine that does other work is one quarter longer now and then.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import onnx
from onnx import helper
from operators.lab import make_model

from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model


def _convolutions(count: int, folder: Path) -> Path:
    """A chain of quantized convolutions with clamps, as a QDQ model has it."""
    rng = np.random.default_rng(count)
    constants = {
        "s": np.array(0.05, np.float32), "sw": np.array(0.01, np.float32),
        "sb": np.array(np.float32(0.05) * np.float32(0.01)),
        "z": np.array(0, np.int8), "zb": np.array(0, np.int32),
    }  # fmt: skip
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q0"])]
    for i in range(count):
        constants[f"w{i}"] = rng.integers(-128, 128, (2, 2, 1, 1)).astype(np.int8)
        constants[f"b{i}"] = rng.integers(-99, 99, 2).astype(np.int32)
        nodes += [
            helper.make_node("DequantizeLinear", [f"q{i}", "s", "z"], [f"d{i}"]),
            helper.make_node("DequantizeLinear", [f"w{i}", "sw", "z"], [f"dw{i}"]),
            helper.make_node("DequantizeLinear", [f"b{i}", "sb", "zb"], [f"db{i}"]),
            helper.make_node("Conv", [f"d{i}", f"dw{i}", f"db{i}"], [f"c{i}"]),
            helper.make_node("Relu", [f"c{i}"], [f"r{i}"]),
            helper.make_node("QuantizeLinear", [f"r{i}", "s", "z"], [f"q{i + 1}"]),
        ]
    nodes.append(helper.make_node("DequantizeLinear", [f"q{count}", "s", "z"], ["y"]))
    shape = ("float32", (1, 2, 2, 2))
    path = folder / f"chain{count}.onnx"
    onnx.save(make_model(nodes, {"x": shape}, {"y": shape}, constants), path)
    return path


def test_the_time_to_compile_grows_with_the_layers_and_not_with_their_square(
    tmp_path: Path,
) -> None:
    board = load_board("mps2-an386")
    seconds: dict[int, float] = {}
    for count in (5, 25, 100, 25, 100):  # the first one imports and renders templates
        path = _convolutions(count, tmp_path)
        start = time.process_time()
        network = compile_model(path, board)
        taken = time.process_time() - start
        seconds[count] = min(taken, seconds.get(count, taken))
        assert len(network.plan.steps) <= count + 4  # and two transposes
    assert seconds[100] <= 8 * seconds[25]
