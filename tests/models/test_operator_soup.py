"""torch_opsoup_a: 29 nodes of comparisons, selections, gathers and scans, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from operators.lab import Array, Case, build_on_host, compile_case, relative_error, run_turns
from sanitizers import SANITIZED

from mcu_deploy import interpreter
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model, write_network

MODEL = "torch_opsoup_a"
SAMPLES = 16


def _agree(actual: Array, wanted: Array) -> bool:
    if wanted.dtype.kind == "f":
        return relative_error(actual, wanted) <= 1e-6
    return np.array_equal(actual, wanted)


@pytest.mark.needs_host_gcc
def test_oracle_and_host_agree_with_onnxruntime(models_dir: Path, tmp_path: Path) -> None:
    """All four outputs of all samples, under sanitizers."""
    model = onnx.load(models_dir / MODEL / "model.onnx")
    data = np.load(models_dir / MODEL / "io.npz")
    samples = [(data["in0"][k], data["in1"][k]) for k in range(SAMPLES)]
    network = compile_case(Case("soup", model, samples[0]), tmp_path, 0)
    program = build_on_host([network], tmp_path, SANITIZED)
    turns = run_turns(program, [network], [[inputs] for inputs in samples])
    for k, (inputs, ((status, device),)) in enumerate(zip(samples, turns, strict=True)):
        assert status == 0
        oracle = interpreter.run(network.graph, list(inputs))
        for who, outputs in (("oracle", oracle), ("host", device)):
            for index, actual in enumerate(outputs):
                assert _agree(actual, data[f"ort{index}"][k]), f"{who}, sample {k}, output {index}"


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize("board", ["mps2-an385", "mps2-an386"])
def test_its_object_is_clean(board: str, models_dir: Path, tmp_path: Path) -> None:
    """With an FPU and without one: nothing undefined but what objects may ask for."""
    chosen = load_board(board)
    network = compile_model(models_dir / MODEL / "model.onnx", chosen, name="soup")
    assert write_network(network, chosen, tmp_path).is_file()
