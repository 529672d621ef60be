"""ArmDsp's trees on the cores: the oracle's bits; and a forest of digits, which other tools' code
is larger for, or slower."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arm_dsp_tree_cases import TAKEN, digits, model
from kernel_builds import MARKS, right
from sampling import first, part

from mcu_deploy.api.profiling import profile
from mcu_deploy.elf.reader import load_elf

pytestmark = MARKS


@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547"]))
def test_every_case_gives_the_bits_of_the_oracle(board: str, tmp_path: Path) -> None:
    cases = part(TAKEN, 3)
    path, samples = model(cases, tmp_path / "trees.onnx")
    built = right(path, board, tmp_path, "speed", samples=samples)
    assert [layer.backend for layer in built.report.layers] == ["ArmDsp"] * len(cases)


@pytest.mark.parametrize("dtype", first(["uint8", "int8", "int16"]))
def test_a_forest_is_smaller_and_quicker_than_emlearns(
    dtype: str, models_dir: Path, tmp_path: Path
) -> None:
    """emlearn's takes 783 instructions a row, for votes alone, and 19,929 bytes. The loop over rows
    is 28 bytes."""
    path = tmp_path / "digits.onnx"
    rows = digits(models_dir / "sk_rf_digits", path, dtype)
    built = right(path, "mps2-an386", tmp_path, samples=_zeros(path, rows, dtype))
    stated = next(layer for layer in built.report.layers if layer.op == "TreeEnsemble")
    counted = next(x for x in profile(built.directory).layers if x.index == stated.index)
    assert stated.backend == "ArmDsp" and stated.cost is not None and counted.cycles is not None
    assert 600 * rows < counted.cost < 783 * rows
    assert abs(stated.cost.value - counted.cycles) < 0.15 * counted.cycles
    symbols = load_elf(built.directory / "network_digits.o").symbols
    assert 15_000 < sum(s.size for s in symbols if "tree" in s.name) < 19_929 + 28


def _zeros(path: Path, rows: int, dtype: str) -> Path:
    np.savez(samples := path.with_suffix(".npz"), zeros=np.zeros((1, rows, 64), dtype))
    return samples
