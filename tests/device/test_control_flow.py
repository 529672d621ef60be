"""Models with control flow the whole way: built, run and profiled on the host and on a board."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from control_cases import BOOL, FLOAT, INT, graph_of, node
from operators import control_models as models
from operators.lab import Case

from mcu_deploy.api.building import build
from mcu_deploy.api.folder import BuildFolder, as_folder
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.running import open_device
from mcu_deploy.api.validating import validate
from mcu_deploy.device.counting import count_instructions
from mcu_deploy.errors import DeviceError

HOST = pytest.param("host", marks=[pytest.mark.needs_host_gcc])
BOARD = pytest.param("mps2-an386", marks=[pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu])


def built(case: Case, board: str, folder: Path) -> BuildFolder:
    model = folder / "model.onnx"
    model.write_bytes(case.model.SerializeToString())
    return as_folder(build(model, board, folder / "build", name="n"))


@pytest.mark.parametrize(
    "board", [pytest.param("host", marks=[*HOST.marks, pytest.mark.matrix]), BOARD]
)
def test_an_lstm_that_a_loop_unrolls_is_onnxruntimes(board: str, tmp_path: Path) -> None:
    folder = built(models.lstm_by_loop(), board, tmp_path)
    result = validate(folder, layers=True)
    assert result.problems == ()
    for number in range(3):
        assert result.oracle[number].relative <= 1e-5
        assert result.onnxruntime[number].relative <= 1e-5
    (entry,) = folder.networks
    assert {row.within for row in entry.layers} == {"loop_1"}
    assert entry.macs == sum(row.macs for row in entry.layers) == 28 * (28 + 20) * 80


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_instructions_are_summed_by_layer(tmp_path: Path) -> None:
    """Inputs of zeros never take the first branch; the other layers run six times each."""
    folder = built(models.if_in_loop(), "mps2-an386", tmp_path)
    measured = profile(folder)
    costs = {layer.name: layer.cost for layer in measured.layers}
    assert costs["Sub_0"] == 0
    others = [cost for name, cost in costs.items() if name != "Sub_0"]
    assert min(others) > 0
    assert all(cost % 6 == 0 for name, cost in costs.items() if name in ("Add_0", "Neg_4"))
    assert sum(others) < measured.total
    counts = count_instructions(folder.board, folder.bench, by_address=True)
    assert tuple(sum(layer.values()) for layer in counts.layers_by_address) == counts.layers
    assert all((layer.cycles or 0) >= layer.cost for layer in measured.layers)


def collecting() -> Case:
    """A loop of as many rounds as a tensor says, whose output has room for four."""
    body = graph_of(
        [node("Identity", "go", "more"), node("Neg", "s", "s1"), node("Identity", "s1", "e")],
        {"i": (INT, []), "go": (BOOL, []), "s": (FLOAT, [3])},
        {"more": (BOOL, []), "s1": (FLOAT, [3]), "e": (FLOAT, [3])},
    )
    return models.case(
        "collecting",
        [models.loop(body, "trips", "", "x", "y all")],
        {"trips": (INT, []), "x": (FLOAT, [3])},
        {"y": (FLOAT, [3]), "all": (FLOAT, [4, 3])},
        {},
        models.number(4), models.random(1, 3),
    )  # fmt: skip


@pytest.mark.parametrize("board", [HOST, BOARD])
def test_other_rounds_than_the_shapes_say_end_a_run(board: str, tmp_path: Path) -> None:
    folder = built(collecting(), board, tmp_path)
    x = models.random(1, 3)
    with open_device(folder) as device:
        for trips in (3, 5, 1 << 40, -1):
            device.write_input("n", 0, np.array(trips, np.int64).tobytes())
            device.write_input("n", 1, x.tobytes())
            with pytest.raises(DeviceError, match="more or fewer rounds"):
                device.run("n")
        device.write_input("n", 0, np.array(4, np.int64).tobytes())
        device.write_input("n", 1, x.tobytes())
        device.run("n")
        rows = np.frombuffer(device.read_output("n", 1), np.float32).reshape(4, 3)
    assert np.array_equal(rows, [-x, x, -x, x])
