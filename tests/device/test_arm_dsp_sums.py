"""ArmDsp's sums, differences and products on the cores: the oracle's bits, and instructions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from arm_dsp_sum_cases import (
    BROADCAST,
    EXCITED,
    LARGE,
    LARGE_PRODUCT,
    REFUSED,
    SHIFTED,
    TAKEN,
    model,
)
from quantized_layers import extremes
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.backends.ArmDsp import pairs
from mcu_deploy.backends.interface import Layer, LayoutRule
from mcu_deploy.backends.quantized.walks import Walk, walks
from mcu_deploy.options import Options

pytestmark = [
    pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu, pytest.mark.usefixtures("any_order"),
]  # fmt: skip


@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an500"]))
def test_every_pair_gives_the_bits_of_the_oracle(board: str, tmp_path: Path) -> None:
    path = model([*TAKEN, *REFUSED], tmp_path / "sums.onnx")
    options = Options(backends=("ArmDsp", "CpuRef"))
    built = build(path, board, tmp_path / "build", options=options)
    backends = {layer.name: layer.backend for layer in built.report.layers}
    answers = [backends[f"sum{n}"] for n in range(len(TAKEN) + len(REFUSED))]
    assert answers == ["ArmDsp"] * len(TAKEN) + ["CpuRef"] * len(REFUSED)
    assert validate(built, extremes(path)).passed
    if board == "mps2-an386":
        counts = {layer.name: layer.cost for layer in profile(built.directory).layers}
        # of each element two multiplications and what saturates it
        assert 3 * LARGE.elements < counts["sum0"] <= 5.7 * LARGE.elements
        product = counts[f"sum{TAKEN.index(LARGE_PRODUCT)}"]
        assert 3 * LARGE_PRODUCT.elements < product <= 6.1 * LARGE_PRODUCT.elements


@pytest.mark.parametrize(
    ("board", "rule"),
    first(
        [
            ("mps2-an386", LayoutRule.CHANNELS_LAST), ("mps2-an386", LayoutRule.NATURAL),
            ("mps2-an500", LayoutRule.CHANNELS_LAST), ("mps2-an505", LayoutRule.CHANNELS_LAST),
        ]
    ),
)  # fmt: skip
def test_every_broadcast_gives_the_bits_of_the_oracle(
    monkeypatch: pytest.MonkeyPatch, board: str, rule: LayoutRule, tmp_path: Path
) -> None:
    """In one order of the axes, where that has a kernel."""

    def of_one(layer: Layer) -> Sequence[Walk] | str:
        found = walks(layer)
        return [w for w in found if not isinstance(w, str) and w.rule is rule] or found

    monkeypatch.setattr(pairs, "walks", of_one)
    path = model(BROADCAST, tmp_path / "broadcast.onnx")
    built = build(path, board, tmp_path / "build", options=Options(backends=("ArmDsp", "CpuRef")))
    backends = {layer.name: layer.backend for layer in built.report.layers}
    assert {backends[f"sum{n}"] for n in range(len(BROADCAST))} == {"ArmDsp"}
    assert validate(built, extremes(path)).passed
    if (board, rule) == ("mps2-an386", LayoutRule.CHANNELS_LAST):
        profiled = {layer.name: layer for layer in profile(built.directory).layers}
        prices = {layer.name: layer.cost for layer in built.report.layers}
        for case in (EXCITED, SHIFTED):
            name = f"sum{BROADCAST.index(case)}"
            price = prices[name]
            assert 3 * 64 * 256 < profiled[name].cost <= 7 * 64 * 256
            assert price is not None and price.value == pytest.approx(
                profiled[name].cycles, rel=0.02
            )
