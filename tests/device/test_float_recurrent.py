"""LSTM, GRU and RNN of float32 by ArmDsp and ArmMve on their cores, with weights of float32 and of
int8: the oracle's numbers, and the cycles that they may take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from kernel_builds import MARKS
from onnx import helper, numpy_helper
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.operators.recurrent import GATES
from mcu_deploy.options import Options

pytestmark = MARKS
_STEPS, _BATCH, _INPUTS, _HIDDEN = 4, 2, 7, 5
_WAYS = {"direction": "bidirectional"}
# Each with weights of both kinds: the operator, its attributes, and the inputs behind its weights.
_NODES: tuple[tuple[str, Mapping[str, Any], str], ...] = (
    ("LSTM", {}, "B"),
    ("LSTM", {**_WAYS, "clip": 0.4}, "BLHCP"),
    ("LSTM", {"direction": "reverse", "input_forget": 1}, ""),
    ("GRU", _WAYS, "BLH"),
    ("GRU", {**_WAYS, "linear_before_reset": 1, "clip": 0.3}, "BLH"),
    ("GRU", {"linear_before_reset": 1}, ""),
    ("RNN", {**_WAYS, "activations": ["Relu", "Tanh"]}, "BH"),
)


def _model(path: Path) -> Path:
    """Of one input, the nodes one beside the other: all that they write, as one row."""
    random, constants = np.random.default_rng(7), {}
    nodes, ends = [], []
    for number, (op, attributes, given) in enumerate(_NODES * 2):
        ways, rows = 1 + ("bidirectional" in attributes.values()), GATES[op] * _HIDDEN
        values = {
            "W": random.normal(0, 0.5, (ways, rows, _INPUTS)),
            "R": random.normal(0, 0.5, (ways, rows, _HIDDEN)),
            "B": random.normal(size=(ways, 2 * rows)), "L": np.array([4, 2]),
            "H": random.normal(size=(ways, _BATCH, _HIDDEN)),
            "C": random.normal(size=(ways, _BATCH, _HIDDEN)),
            "P": random.normal(size=(ways, 3 * _HIDDEN)),
        }  # fmt: skip
        places = []
        for name in "WRBLHCP" if op == "LSTM" else "WRBLH":
            is_there = name in "WR" or name in given
            places.append(f"{name}{number}" if is_there else "")
            if is_there:
                kind = np.int32 if name == "L" else np.float32
                constants[places[-1]] = values[name].astype(kind)
        for name in places[:2] if number >= len(_NODES) else ():
            scales = random.uniform(0.005, 0.02, rows).astype(np.float32)
            constants |= {f"{name}s": scales, f"{name}z": np.zeros(rows, np.int8)}
            bytes_ = np.rint(constants.pop(name) / scales[:, None]).clip(-128, 127)
            constants[f"{name}q"] = bytes_.astype(np.int8)
            of = [f"{name}{part}" for part in "qsz"]
            nodes.append(helper.make_node("DequantizeLinear", of, [name], axis=1))
        y, y_h = f"y{number}", f"h{number}"
        nodes.append(
            helper.make_node(
                op, ["x", *places], [y, y_h], f"node{number}", hidden_size=_HIDDEN, **attributes
            )
        )
        for of in (y, y_h):
            nodes.append(helper.make_node("Reshape", [of, "flat"], [f"{of}_flat"]))
            ends.append(f"{of}_flat")
    constants["flat"] = np.array([-1])
    nodes.append(helper.make_node("Concat", ends, ["all"], axis=0))
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, (_STEPS, _BATCH, _INPUTS))
    y = helper.make_tensor_value_info("all", onnx.TensorProto.FLOAT, None)
    held = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "recurrent", [x], [y], held)
    opset = [helper.make_opsetid("", 17)]
    onnx.save_model(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path


_BOARDS = [
    ("mps2-an386", "ArmDsp"), ("mps3-an547", "ArmMve"), ("mps2-an500", "ArmDsp"),
    ("mps2-an505", "ArmDsp"),
]  # fmt: skip


@pytest.mark.parametrize("board, backend", first(_BOARDS, 2))
def test_layers_agree_with_the_oracle(board: str, backend: str, tmp_path: Path) -> None:
    path = _model(tmp_path / "recurrent.onnx")
    options = Options(backends=(backend, "CpuRef"), optimize_for="speed")
    built = build(path, board, tmp_path / "build", options=options)
    backends = [layer.backend for layer in built.report.layers if layer.name[:4] == "node"]
    assert backends == [backend] * len(_NODES) * 2
    values = np.random.default_rng(8).normal(size=(1, _STEPS, _BATCH, _INPUTS))
    np.savez(tmp_path / "sample.npz", x=values.astype(np.float32))
    found = validate(built, tmp_path / "sample.npz")
    assert found.passed
    assert found.oracle[0].relative < 1e-6


_CYCLES = {
    ("tflm_mnist_lstm_int8", "mps2-an386"): 835_000, ("torch_lstm_ts", "mps2-an386"): 1_990_000,
    ("torch_lstm_ts", "mps2-an500"): 1_050_000, ("torch_lstm_ts", "mps2-an505"): 1_840_000,
    ("tflm_mnist_lstm_int8", "mps3-an547"): 418_000, ("torch_lstm_ts", "mps3-an547"): 1_155_000,
}  # fmt: skip


@pytest.mark.parametrize("model, board", first(list(_CYCLES)))
def test_models_take_their_cycles(
    model: str, board: str, models_dir: Path, tmp_path: Path
) -> None:  # fmt: skip
    built = build(models_dir / model / "model.onnx", board, tmp_path / "build")
    found = profile(built.directory)
    assert found.cycles is not None and found.cycles < _CYCLES[model, board]
    costs = [layer.cost for layer in built.report.layers]
    cycles = sum(cost.value for cost in costs if cost is not None)
    assert abs(cycles - found.cycles) < 0.08 * found.cycles
