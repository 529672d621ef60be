"""ArmDsp's convolutions on the cores: the oracle's bits, and instructions that they may take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from arm_dsp_convolutions import BLOCK, GROUPS, HALVED, LINES, REFUSED, SHARED, SPEECH, TAKEN, model
from kernel_builds import MARKS, right
from sampling import first

from mcu_deploy import compiler
from mcu_deploy.api.profiling import profile
from mcu_deploy.backends.ArmDsp.kernels import convolution
from mcu_deploy.backends.isa.dsp import frames
from mcu_deploy.backends.isa.dsp.bordered import Bordered
from mcu_deploy.memory_timing import USUAL_FLASH

pytestmark = MARKS


@pytest.mark.parametrize(
    ("board", "every", "copies"),
    first(
        [
            ("mps2-an386", 14, False), ("mps2-an386", 1, False), ("mps2-an386", 1, True),
            ("mps2-an500", 1, False), ("mps2-an500", 1, True),
        ]
    ),
)  # fmt: skip
def test_every_shape_gives_the_bits_of_the_oracle(
    board: str, every: int, copies: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In the sample of some shapes. copies: whether small images may be copied with their padding,
    which is cheaper than what else the borders of most of these take."""
    if not copies:
        monkeypatch.setattr(Bordered, "refusal", staticmethod(lambda layer: "here there is none"))
    taken = [*[*TAKEN, *SHARED, *LINES, *GROUPS][::every], SPEECH, BLOCK]
    path = model([*taken, *REFUSED], tmp_path / "shapes.onnx")
    # onnxruntime convolves no int8 to uint8
    built = right(path, board, tmp_path, onnxruntime=False)
    mine = [layer for layer in built.report.layers if layer.backend == "ArmDsp"]
    assert len(mine) == len(taken)
    if board == "mps2-an386":
        counts = {layer.name: layer.cost for layer in profile(built.directory).layers}
        by_size = {layer.macs: counts[layer.name] for layer in mine}
        assert 230_000 < by_size[64 * 40 * 125] <= (277_000 if copies else 291_500)
        assert 1_700_000 < by_size[16 * 144 * 1024] <= 1_930_000


@pytest.mark.parametrize(
    ("board", "late"), first([("mps2-an386", False), ("mps2-an386", True), ("mps2-an500", False)])
)
def test_images_that_are_copied_in_halves_give_the_bits_of_the_oracle(
    board: str, late: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """late: for a memory whose waiting is not emulated."""
    proposals, target_of = convolution.proposals, compiler.target_of
    monkeypatch.setattr(
        convolution, "proposals",
        lambda *layer: [p for p in proposals(*layer) if p.title.endswith("halves")],
    )  # fmt: skip
    if late:
        monkeypatch.setattr(
            compiler, "target_of", lambda *board: replace(target_of(*board), memory=USUAL_FLASH)
        )
    built = right(model(HALVED, tmp_path / "m.onnx"), board, tmp_path, onnxruntime=False)
    assert {layer.backend for layer in built.report.layers if layer.macs} == {"ArmDsp"}
    code = (built.directory / "network_m.c").read_text()
    assert code.count("What a half of the output needs") == len(HALVED)


@pytest.mark.matrix
@pytest.mark.parametrize("board", ["mps2-an386", "mps2-an500", "mps2-an505"])
def test_kernels_for_a_late_memory_give_the_bits_of_the_oracle(
    board: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its waiting is not emulated."""
    target_of = compiler.target_of
    monkeypatch.setattr(
        compiler, "target_of", lambda *board: replace(target_of(*board), memory=USUAL_FLASH)
    )
    path = model([*TAKEN, *SHARED, *GROUPS, BLOCK, SPEECH], tmp_path / "shapes.onnx")
    right(path, board, tmp_path, onnxruntime=False)


@pytest.mark.matrix
def test_numbers_that_are_words_give_the_bits_of_the_oracle(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As in layers of larger images than tests have."""
    monkeypatch.setattr(frames, "are_words", lambda taken: True)
    path = model([*TAKEN, *SHARED], tmp_path / "shapes.onnx")
    right(path, "mps2-an386", tmp_path, onnxruntime=False)


@pytest.mark.parametrize("every", first([4, 1]))
def test_code_that_layers_share_gives_the_bits_of_the_oracle(every: int, tmp_path: Path) -> None:
    """The smallest build has one function for all taps, or one with and one without patches."""
    cases = [case for case in (*TAKEN, *SHARED) if case.shape[0] % 4 == 0][::every]
    path = model(cases, tmp_path / "m.onnx")
    built = right(path, "mps2-an386", tmp_path, "size", onnxruntime=False)
    code = (built.directory / "network_m.c").read_text()
    assert "_conv_dsp(" in code
