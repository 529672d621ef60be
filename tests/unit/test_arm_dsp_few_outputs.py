"""ArmDsp's fully connected layers of one or two outputs, run by the interpreter of instructions:
the oracle's bits, nothing touched beside what is theirs, and their price."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from arm_dsp_dense_cases import FEW, model
from arm_dsp_tflite_cases import Dense, LayersFile
from kernel_runs import runs

from mcu_deploy import formats
from mcu_deploy.options import Options

_TFLITE = (
    Dense(1, 16, 1, zeros=(-128, 14), scale=2),
    Dense(1, 36, 2, is_per_channel=True, is_extreme=True, scale=20),
    Dense(1, 8, 1, zeros=(0, -128)),
)


def _onnx(folder: Path) -> tuple[Path, int]:
    return model(FEW, folder / "few.onnx"), len(FEW)


def _tflite(folder: Path) -> tuple[Path, int]:
    file = LayersFile()
    for n, case in enumerate(_TFLITE):
        case.add(file, f"y{n}")
    return file.save(folder / "few.tflite"), len(_TFLITE)


@pytest.mark.parametrize("make", [_onnx, _tflite])
def test_kernels_give_the_bits_of_the_oracle(
    make: Callable[[Path], tuple[Path, int]], tmp_path: Path
) -> None:
    path, count = make(tmp_path)
    graph, random = formats.load(path), np.random.default_rng(11)
    types = [graph.type(edge) for edge in graph.inputs]
    for number in range(4):
        inputs = []
        for type_ in types:
            low, high = type_.dtype.range
            kinds = (
                random.integers(low, high + 1, type_.shape), np.full(type_.shape, low),
                np.full(type_.shape, high), random.choice([low, high], type_.shape),
            )  # fmt: skip
            inputs.append(kinds[number].astype(type_.dtype.numpy))
        found = [
            run for run in runs(path, inputs, options=Options(optimize_for="speed"))
            if run.choice.layer.op in ("Gemm", "FullyConnected", "Conv")
        ]  # fmt: skip
        assert len(found) == count
        for run in found:
            taps, outputs = len(run.inputs[0]), len(run.output)
            function, costs = run.choice.workload.function, run.choice.workload.costs
            assert function is not None and function.stem == f"dense_{taps}x{outputs}_dsp"
            assert costs.cycles is not None and costs.cycles < 40 + 2.2 * taps * outputs
            assert run.result() == run.output, run.name
            (place,) = run.choice.workload.in_place
            assert run.result(place) == run.output, run.name
