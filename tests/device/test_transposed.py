"""Transposed convolutions of ArmDsp and ArmMve on the cores: the oracle's bits, and prices."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_builds import MARKS, right
from sampling import first
from transposed_cases import APART, OVERLAPPING, REFUSED, TAKEN, model

from mcu_deploy.api.profiling import profile
from mcu_deploy.backends.ArmDsp.kernels import conv_transpose

pytestmark = MARKS
_WAYS = 3


@pytest.mark.parametrize(
    ("board", "way"),
    first([(b, w) for b in ("mps2-an386", "mps2-an500", "mps2-an505") for w in range(_WAYS)], 2),
)
def test_every_shape_gives_the_bits_of_the_oracle(
    monkeypatch: pytest.MonkeyPatch, board: str, way: int, tmp_path: Path
) -> None:
    """way: of those that a layer has, or its last one."""
    ways_of = conv_transpose._ways

    def one(*of: object) -> list[conv_transpose.Rows] | str:
        ways = ways_of(*of)  # type: ignore[arg-type]
        return ways if isinstance(ways, str) else ways[way : way + 1] or ways[-1:]

    monkeypatch.setattr(conv_transpose, "_ways", one)
    path = model([*TAKEN, *REFUSED], tmp_path / "up.onnx")
    built = right(path, board, tmp_path, "speed")
    mine = {layer.name: layer for layer in built.report.layers if layer.backend == "ArmDsp"}
    assert {name for name in mine if name.startswith("up_")} == {
        f"up_{number}" for number in range(len(TAKEN))
    }
    if board == "mps2-an386":
        counted = {layer.name: layer.cycles or 0 for layer in profile(built.directory).layers}
        for name, layer in mine.items():
            assert layer.cost is not None
            assert 0.8 * counted[name] < layer.cost.value < 1.2 * counted[name], name
        if way == 0:
            assert counted[f"up_{TAKEN.index(APART)}"] < 1.5 * 32 * 16 * 256
            assert counted[f"up_{TAKEN.index(OVERLAPPING)}"] < 2.1 * 16 * 8 * 9 * 256


@pytest.mark.parametrize("board", first(["mps3-an547"], 1))
def test_helium_gives_the_bits_of_the_oracle(board: str, tmp_path: Path) -> None:
    """By ArmMve's own kernels of convolutions."""
    path = model([*TAKEN, *REFUSED], tmp_path / "up.onnx")
    built = right(path, board, tmp_path, "speed", backend="ArmMve")
    mine = {layer.name: layer for layer in built.report.layers if layer.backend == "ArmMve"}
    assert {name for name in mine if name.startswith("up_")} == {
        f"up_{number}" for number in range(len(TAKEN))
    }
    counted = {layer.name: layer.cycles or 0 for layer in profile(built.directory).layers}
    for name, layer in mine.items():
        assert layer.cost is not None
        assert 0.8 * counted[name] < layer.cost.value < 1.2 * counted[name], name
    assert counted[f"up_{TAKEN.index(APART)}"] < 0.25 * 32 * 16 * 256
    assert counted[f"up_{TAKEN.index(OVERLAPPING)}"] < 0.3 * 16 * 8 * 9 * 256
