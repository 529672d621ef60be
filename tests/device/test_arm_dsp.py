"""ArmDsp's kernels on the cores: the oracle's bits, and the instructions that they may take."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_dsp_cases import ALONE, DEPTHWISE, REFUSED, STRIPS, TAKEN, model
from kernel_builds import MARKS, right
from sampling import first, part

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.validating import validate
from mcu_deploy.backends.ArmDsp.kernels import (
    depthwise,
    pointwise,
    pointwise_depthwise,
    pointwise_shared,
)

pytestmark = MARKS

_CORES = ("mps2-an386", "mps2-an500", "mps2-an505")
# In the sample every ninth shape on one core.
_BOARDS = first([("mps2-an386", 9), ("mps2-an386", 1), ("mps2-an500", 1), ("mps2-an505", 1)])


@pytest.mark.parametrize(("board", "every"), _BOARDS)
def test_every_shape_gives_the_bits_of_the_oracle(board: str, every: int, tmp_path: Path) -> None:
    cases = [*TAKEN[::every], ALONE, DEPTHWISE, *REFUSED]
    path = model(cases, tmp_path / "shapes.onnx")
    built = right(path, board, tmp_path, "speed")
    layers = built.report.layers
    mine = [layer for layer in layers if layer.backend == "ArmDsp"]
    others = [la for la in layers if la.op == "Conv" and la.backend != "ArmDsp"]
    # where the depthwise layer is refused the 1x1 convolution behind it is taken
    assert len(others) == len(REFUSED)
    if board == "mps2-an386":
        counts = {layer.name: layer.cost for layer in profile(built.directory).layers}
        by_size = {layer.macs: counts[layer.name] for layer in mine}
        assert by_size[64 * 64 * 125] <= 407_591 * 1.02
        assert by_size[9 * 64 * 125] <= 98_664 * 1.02
        assert by_size[64 * 64 * 125] > 300_000, "less than SMLAD can do"


@pytest.mark.parametrize(
    ("board", "kind", "every"),
    first(
        [
            ("mps2-an386", "any_small_real", 4), ("mps2-an386", "any", 2),
            *((board, kind, 1) for board in _CORES for kind in pointwise_shared.WAYS),
        ]
    ),
)  # fmt: skip
def test_shared_functions_give_the_bits_of_the_oracle(
    monkeypatch: pytest.MonkeyPatch, board: str, kind: str, every: int, tmp_path: Path
) -> None:
    """In the sample of some shapes, those of uint8 among them."""
    way = pointwise_shared.WAYS[kind]
    monkeypatch.setattr(pointwise_shared, "WAYS", {kind: way})
    for module in (pointwise, pointwise_depthwise):
        monkeypatch.setattr(module, "propose", lambda view, layer: "")
    monkeypatch.setattr(depthwise.Kernel, "of", depthwise.Kernel.of_any)
    path = model([*TAKEN[every - 1 :: every], ALONE], tmp_path / "shapes.onnx")
    goal = "size" if way.is_real else "speed"
    built = right(path, board, tmp_path, goal)
    assert all(layer.backend == "ArmDsp" for layer in built.report.layers if layer.op == "Conv")
    (source,) = built.directory.glob("network_*.c")
    functions = source.read_text().count(f"MCU_KERNEL void _mcu_shapes_conv1x1_{kind}_dsp")
    # of int8 with two shifts, and of uint8; those that round in float32 know the zero point
    assert functions > 1 if way.is_real else functions == 3


def test_strips_give_the_bits_of_the_oracle(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for alone in (depthwise, pointwise):
        monkeypatch.setattr(alone, "propose", lambda view, layer: "")
    cases = part(STRIPS, 2)
    path = model(cases, tmp_path / "strips.onnx")
    built = right(path, "mps2-an386", tmp_path)
    mine = [layer.op for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert mine == ["PointwiseDepthwise"] * len(cases)


@pytest.mark.parametrize(
    "board",
    [
        "mps2-an386",
        pytest.param("stm32f746", marks=[pytest.mark.needs_renode, pytest.mark.matrix]),
    ],
)
def test_keyword_spotting_gives_the_bits_of_the_oracle(
    board: str, kws_dir: Path, tmp_path: Path
) -> None:
    built = build(kws_dir / "model.onnx", board, tmp_path / "build")
    others = {layer.op for layer in built.report.layers if layer.backend != "ArmDsp"}
    assert others == {"Softmax"}
    assert validate(built).passed
