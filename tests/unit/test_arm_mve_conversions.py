"""ArmMve's conversions between float32 and bytes, run by the interpreter of instructions: the
oracle's bits for numbers of all kinds, wherever the output may lie on the input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arm_dsp_conversion_cases import MODELS, model, samples
from kernel_runs import runs
from sampling import first, part

from mcu_deploy.backends.quantized import conversions
from mcu_deploy.options import Options

_OPTIONS = Options(backends=("ArmMve", "CpuRef"), optimize_for="speed")


def test_a_fused_product_is_rounded_once() -> None:
    """Just below the middle of two float32, which is what a float64 makes of it."""
    odd, below = np.float32([1 + 2**-23]), np.float32([1 - 2**-23])
    fused = conversions._fused(below, np.float32((1 + 2**-23) * 2**-24), odd)
    assert fused == odd


@pytest.mark.parametrize("name", first([*MODELS], 2))
def test_conversions_give_the_oracles_bits(name: str, tmp_path: Path) -> None:
    cases = part(MODELS[name], 2, MODELS[name][:1])
    path = model(cases, tmp_path / name)
    rows = np.load(samples(cases, path))
    seen, tight = 0, 0
    for row in range(len(rows["x0"])):
        inputs = [rows[f"x{n}"][row] for n in range(len(cases))]
        for run in runs(path, inputs, board="mps3-an547", options=_OPTIONS):
            if run.choice.workload.backend != "ArmMve":
                continue
            assert run.result() == run.output, run.name
            seen += 1
            for place in run.choice.workload.in_place:
                assert run.result(place) == run.output, f"{run.name}: {place}"
                tight += run.fails(place, run.output, 96)
    assert seen == len(rows["x0"]) * sum(not case.is_refused for case in cases)
    assert tight, "no distance is nearly as small as it may be"
