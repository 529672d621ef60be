"""Fully connected layers of several rows by the kernels of 1x1 convolutions, on the interpreter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from arm_dsp_dense_cases import TAKEN, Dense, model
from kernel_runs import first_sample, runs
from quantized_layers import extremes
from sampling import first, part

from mcu_deploy import compiler
from mcu_deploy.backends.ArmDsp.kernels import fully_connected
from mcu_deploy.backends.interface import Target
from mcu_deploy.memory_timing import USUAL_FLASH

M4 = Target("cortex-m4", fpu=True, dsp=True)
LATE = replace(M4, memory=USUAL_FLASH)
# Of whole tiles and of rests; those that one row would be are another kernel's.
_ROWS = (
    Dense(4, 32, 64, is_per_channel=True),
    Dense(5, 16, 8, zeros=(-128, 127)),
    Dense(7, 20, 6, dtype="uint8", zeros=(255, 0)),
    Dense(6, 24, 10, is_matmul=True, is_per_channel=True),
)
_LARGE = Dense(12, 48, 32, is_matmul=True)


@pytest.mark.parametrize("target", first([M4, replace(LATE, fpu=False), LATE], 2), ids=str)
def test_rows_are_pixels(target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "target_of", lambda *_: target)
    monkeypatch.setattr(fully_connected, "propose", lambda view, layer: "")
    path = model([*_ROWS, *part(TAKEN, 4)], tmp_path / "rows.onnx")
    inputs = first_sample(path, extremes(path))
    seen = 0
    for run in runs(path, inputs):
        function = run.choice.workload.function
        if function is None or run.choice.layer.op not in ("Gemm", "MatMul"):
            continue
        if not function.stem.startswith("conv1x1"):
            continue
        assert run.result() == run.output, run.name
        (place,) = run.choice.workload.in_place
        assert run.result(place) == run.output, f"{run.name}: {place}"
        seen += 1
    assert seen >= len(_ROWS)


@pytest.mark.parametrize("target", [M4, LATE], ids=["at once", "late"])
def test_they_are_taken_where_they_are_quicker(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one row no pixels are made; of several they save a fifth of what is waited for too."""
    monkeypatch.setattr(compiler, "target_of", lambda *_: target)
    path = model([_LARGE, Dense(1, 48, 32)], tmp_path / "rows.onnx")

    def chosen() -> dict[int, tuple[str, int]]:
        inputs = first_sample(path, extremes(path))
        found = {}
        for run in runs(path, inputs):
            workload = run.choice.workload
            if run.choice.layer.op in ("Gemm", "MatMul"):
                function, cycles = workload.function, workload.costs.cycles
                assert function is not None and cycles is not None
                found[run.choice.layer.macs] = function.stem, cycles
        return found

    with_rows = chosen()
    monkeypatch.setattr("mcu_deploy.backends.ArmDsp.kernels.dense_rows.propose", lambda *_: "")
    without = chosen()
    assert with_rows[48 * 32] == without[48 * 32]
    (stem, cycles), (_, before) = with_rows[12 * 48 * 32], without[12 * 48 * 32]
    assert stem.startswith("conv1x1")
    assert cycles < (0.8 if target.memory else 1) * before
