"""`profile` on real models: exact, repeatable, and the same in both emulators."""

from __future__ import annotations

from pathlib import Path

import pytest
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.folder import BuildFolder, open_folder
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.running import Connection
from mcu_deploy.options import Options

pytestmark = [pytest.mark.needs_arm_gcc]


def _build(board: str, kws_dir: Path, folder: Path) -> BuildFolder:
    options = Options(backends=("CpuRef",))
    build(kws_dir / "model.onnx", board, folder, name="kws", options=options)
    return open_folder(folder)


@pytest.mark.needs_qemu
@pytest.mark.parametrize(
    "board", first(["mps2-an386", "mps2-an521", "mps2-an385", "mps2-an500", "mps3-an547"], 2)
)
def test_layers_and_total_are_counted_exactly(board: str, kws_dir: Path, tmp_path: Path) -> None:
    folder = _build(board, kws_dir, tmp_path)
    counted, again = profile(folder), profile(folder)
    assert counted == again
    assert counted.unit == "instructions"
    assert [layer.op for layer in counted.layers].count("Conv") == 9
    assert counted.macs == 2_656_768
    assert sum(layer.macs for layer in counted.layers) == counted.macs
    inside = sum(layer.cost for layer in counted.layers)
    # what lies outside of the layers (checks, copies, calls) is a few hundred instructions
    assert 0 < abs(counted.total - inside) < 1_000
    assert all(layer.cost > layer.macs for layer in counted.layers)
    # the bound of the network's own stack, and what bench.elf has around it
    assert counted.stack_bytes is not None
    assert counted.stack_bytes <= folder.report.stack_bytes + 128


@pytest.mark.matrix
@pytest.mark.needs_qemu
@pytest.mark.needs_renode
def test_both_emulators_count_the_same(kws_dir: Path, tmp_path: Path) -> None:
    folder = _build("netduinoplus2", kws_dir, tmp_path)
    in_qemu = profile(folder, connection=Connection(emulator="qemu"))
    in_renode = profile(folder, connection=Connection(emulator="renode"))
    assert in_qemu.total == in_renode.total
    assert [x.cost for x in in_qemu.layers] == [x.cost for x in in_renode.layers]
