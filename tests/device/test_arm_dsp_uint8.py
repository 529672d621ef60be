"""ArmDsp's convolutions with weights of uint8 on the cores: the oracle's bits, and instructions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from arm_dsp_convolutions import UNSIGNED, UNSIGNED_REFUSED, Case, model
from kernel_builds import MARKS, right
from sampling import first, part

from mcu_deploy.api.profiling import profile

pytestmark = MARKS

# As in the network for keyword spotting: 1x1, after a depthwise one.
SPEECH = (
    Case((64, 25, 5), 64, (1, 1), (1, 1), (0, 0, 0, 0), dtypes=("uint8", "uint8"), zeros=(0, 0)),
    Case((64, 25, 5), 64, group=64, dtypes=("uint8", "uint8"), zeros=(0, 0)),
)


@pytest.mark.parametrize(
    ("board", "goal"),
    first(
        [
            ("mps2-an386", "balanced"), ("mps2-an386", "speed"), ("mps2-an500", "speed"),
            ("mps2-an505", "size"),
        ]
    ),
)  # fmt: skip
def test_every_shape_gives_the_bits_of_the_oracle(board: str, goal: str, tmp_path: Path) -> None:
    taken = part(UNSIGNED, 2)
    path = model([*taken, *UNSIGNED_REFUSED], tmp_path / "shapes.onnx")
    built = right(path, board, tmp_path, goal, onnxruntime=False)
    mine = [layer for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert len(mine) == len(taken)


@pytest.mark.matrix
def test_they_take_hardly_more_than_those_of_int8(tmp_path: Path) -> None:
    counts = []
    for middle in (None, 111):
        cases = [replace(case, middle=middle) for case in SPEECH]
        folder = tmp_path / str(middle)
        folder.mkdir()
        built = right(model(cases, folder / "m.onnx"), "mps2-an386", folder, "speed")
        counts.append({layer.macs: layer.cost for layer in profile(built.directory).layers})
    for case in SPEECH:
        macs = case.filters * 125 * (9 if case.group > 1 else 64)
        assert counts[1][macs] <= 1.06 * counts[0][macs]
