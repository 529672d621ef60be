"""ArmDsp's clamps: for which layers a kernel has one behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_clamp_cases import TAKEN, Clamped, model
from arm_dsp_proposals import proposals_for


@pytest.mark.parametrize("case", [TAKEN[0], Clamped("Conv", (8, 5, 7), (-128, 127))])
def test_only_what_the_range_of_bytes_does_not_clamp_has_a_pass(
    case: Clamped, tmp_path: Path
) -> None:
    found = proposals_for(model([case], tmp_path / "m.onnx")).proposals
    mine = [p for p in found if any(node.op == "Conv" for node in p.part.nodes)]
    assert mine
    is_narrower = case is TAKEN[0]
    assert {p.title.endswith(", clamped") for p in mine} == {is_narrower}
    passes_ = [[key for key in p.price.code if key.startswith("clamp_")] for p in mine]
    assert all(len(keys) == is_narrower for keys in passes_)
