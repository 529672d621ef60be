"""ArmDsp's conversions between float32 and bytes on the cores: the oracle's bits, and cycles."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_conversion_cases import INSTRUCTIONS, MODELS, Conversion, model, samples
from kernel_builds import MARKS, right
from sampling import first, part

from mcu_deploy.api.profiling import profile

pytestmark = MARKS


@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500", "mps2-an505"]))
@pytest.mark.parametrize("name", first([*MODELS]))
def test_every_conversion_gives_the_bits_of_the_oracle(
    name: str, board: str, tmp_path: Path
) -> None:
    cases = part(MODELS[name], 3, MODELS[name][:1])
    path = model(cases, tmp_path / name)
    built = right(path, board, tmp_path, "speed", samples=samples(cases, path))
    backends = sorted(layer.backend for layer in built.report.layers)
    assert backends == sorted("CpuRef" if case.is_refused else "ArmDsp" for case in cases)
    if board == "mps2-an386":
        cost = max(layer.cost for layer in profile(built.directory).layers)
        least, most = (count * cases[0].elements for count in INSTRUCTIONS[name])
        assert least < cost <= most


@pytest.mark.matrix
@pytest.mark.filterwarnings("error")
def test_a_subnormal_scale_has_no_reciprocal_and_needs_none(tmp_path: Path) -> None:
    cases = [Conversion(6, 1e-44, 3, is_back=True)]
    path = model(cases, tmp_path / "subnormal.onnx")
    built = right(path, "mps2-an386", tmp_path, "speed", samples=samples(cases, path))
    assert [layer.backend for layer in built.report.layers] == ["ArmDsp"]
