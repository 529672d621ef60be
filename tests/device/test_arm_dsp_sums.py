"""ArmDsp's sums and products of operands that are broadcast, on the cores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from arm_dsp_sum_cases import BROADCAST, EXCITED, SHIFTED, model
from kernel_builds import MARKS, right
from sampling import first, part

from mcu_deploy.api.profiling import profile
from mcu_deploy.backends.ArmDsp import pairs
from mcu_deploy.backends.interface import Layer, LayoutRule
from mcu_deploy.backends.quantized.walks import Walk, walks

pytestmark = MARKS


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
    cases = part(BROADCAST, 3, (EXCITED, SHIFTED))
    path = model(cases, tmp_path / "broadcast.onnx")
    built = right(path, board, tmp_path)
    backends = {layer.name: layer.backend for layer in built.report.layers}
    assert {backends[f"sum{n}"] for n in range(len(cases))} == {"ArmDsp"}
    if (board, rule) == ("mps2-an386", LayoutRule.CHANNELS_LAST):
        profiled = {layer.name: layer for layer in profile(built.directory).layers}
        prices = {layer.name: layer.cost for layer in built.report.layers}
        for case in (EXCITED, SHIFTED):
            name = f"sum{cases.index(case)}"
            price = prices[name]
            assert 3 * 64 * 256 < profiled[name].cost <= 7 * 64 * 256
            assert price is not None and price.value == pytest.approx(
                profiled[name].cycles, rel=0.02
            )
