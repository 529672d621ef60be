"""The larger of two models that fits, bit-exact, in each emulator that has a board."""

from __future__ import annotations

from pathlib import Path

import pytest
from models.mlperf import first_samples
from sampling import every_board

from mcu_deploy.api.building import Build, build
from mcu_deploy.api.running import Connection
from mcu_deploy.api.validating import validate
from mcu_deploy.errors import FitError

MODELS = ("mlperf_kws_int8", "tflm_hello_world_int8")
_NEEDS = {"qemu": pytest.mark.needs_qemu, "renode": pytest.mark.needs_renode}
_HELIUM = {board.name for board in every_board() if board.mve and board.renode}
# Those with the least RAM first, of which one is the sample. The MPS2 boards have tests of all
# models.
PLACES = sorted(
    (b.memory_for("data").size, b.name, emulator)
    for b in every_board()
    if not b.is_host and not b.name.startswith("mps")
    for emulator, target in (("qemu", b.qemu), ("renode", b.renode))
    if target is not None
)


def _built(model: Path, board: str, folder: Path) -> Build | None:
    try:
        return build(model, board, folder, name="n")
    except FitError:
        return None


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize(
    ("board", "emulator"),
    [
        pytest.param(
            *place[1:],
            marks=[
                _NEEDS[place[2]],
                *([] if i < 1 else [pytest.mark.matrix]),
                *([pytest.mark.needs_renode_helium] if place[1] in _HELIUM else []),
            ],
        )
        for i, place in enumerate(PLACES)
    ],
)
def test_the_larger_model_that_fits_is_bit_exact(
    board: str, emulator: str, models_dir: Path, tmp_path: Path
) -> None:
    tried = ((m, _built(models_dir / m / "model.onnx", board, tmp_path / m)) for m in MODELS)
    model, built = next((model, built) for model, built in tried if built is not None)
    samples = first_samples(models_dir / model / "io.npz", 2, tmp_path)
    result = validate(built, samples, connection=Connection(emulator=emulator))
    assert result.problems == ()
    assert [each.equal for each in result.oracle] == [1.0] * len(result.oracle)
