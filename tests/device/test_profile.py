"""`profile` on real models: exact, repeatable, and the same in both emulators."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import call
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.folder import BuildFolder, open_folder
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.running import Connection
from mcu_deploy.device.counting import count_instructions
from mcu_deploy.device.emulators import open_emulator
from mcu_deploy.device.modelling import BoardTime, model_cycles
from mcu_deploy.options import Options
from mcu_deploy.report.profile import LayerCost, Profile

pytestmark = [pytest.mark.needs_arm_gcc]


def _build(board: str, kws_dir: Path, folder: Path) -> BuildFolder:
    options = Options(backends=("CpuRef",))
    build(kws_dir / "model.onnx", board, folder, name="kws", options=options)
    return open_folder(folder)


@pytest.mark.needs_qemu
@pytest.mark.parametrize(
    "board", first(["mps2-an386", "mps2-an521", "mps2-an385", "mps2-an500", "mps3-an547"])
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


@pytest.mark.needs_qemu
@pytest.mark.parametrize(
    ("board", "core"),
    first([("mps2-an386", "m4"), ("mps2-an385", "m3")]),
)
def test_modelled_cycles_are_those_of_the_reference(
    board: str, core: str, kws_dir: Path, tmp_path: Path, repository: Path
) -> None:
    """The reference reads all of objdump's text, and knows nothing of the table."""
    reference = repository.parent / "shared" / "lab" / "harness" / "cycles.py"
    if not reference.is_file():
        pytest.skip("the reference of modelled cycles is not here; put it at ../shared/lab/harness")
    build(kws_dir / "model.onnx", board, tmp_path / "build", name="kws")
    folder = open_folder(tmp_path / "build")
    counts = count_instructions(folder.board, folder.bench, by_address=True)
    modelled = model_cycles(folder.board, folder.bench, counts)
    assert not isinstance(modelled, str)
    histogram = tmp_path / "histogram"
    histogram.write_text("".join(f"{a:x} {n}\n" for a, n in counts.by_address.items()))
    command = [sys.executable, reference, core, folder.bench, histogram]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    instructions, cycles = (int(n) for n in re.findall(r"=(\d+) ", answer))
    assert instructions == counts.total
    assert modelled.total == pytest.approx(cycles, rel=0.01)
    # the layers one by one, which are counted in another run, and what is around them
    assert 0 < modelled.total - sum(modelled.layers) < 2_000
    shown = json.loads(call("profile", folder.directory, "--json").stdout)
    assert (shown["modelled_cycles"], shown["instructions"]) == (modelled.total, counts.total)
    assert shown["profile"]["timings"] == f"cortex-{core}"
    layers = shown["layers"]
    assert [layer["modelled_cycles"] for layer in layers] == [*modelled.layers]
    assert sum(layer["share"] for layer in layers) == pytest.approx(1, abs=0.001)
    convolutions = [layer for layer in layers if layer["macs"]]
    if not folder.board.dsp:
        assert {(layer["floor"], layer["above_floor"]) for layer in convolutions} == {(None, None)}
    else:
        assert all(layer["floor"] == layer["macs"] // 2 for layer in convolutions)
        assert all(layer["above_floor"] > 0 for layer in convolutions)
    table = call("profile", folder.directory).stdout
    assert f"modelled by the timings of the cortex-{core}" in table
    assert f" {convolutions[0]['modelled_cycles']:,} " in table
    assert max(map(len, table.splitlines())) <= 100


@pytest.mark.matrix
@pytest.mark.needs_qemu
@pytest.mark.needs_renode
def test_both_emulators_count_the_same(kws_dir: Path, tmp_path: Path) -> None:
    folder = _build("netduinoplus2", kws_dir, tmp_path)
    in_qemu = profile(folder, connection=Connection(emulator="qemu"))
    in_renode = profile(folder, connection=Connection(emulator="renode"))
    assert in_qemu.total == in_renode.total
    assert [x.cost for x in in_qemu.layers] == [x.cost for x in in_renode.layers]
    assert in_qemu.cycles is not None and in_qemu.cycles > in_qemu.total
    assert (in_renode.cycles, in_renode.no_cycles) == (None, "renode does not count by address")


@pytest.mark.needs_qemu
def test_beside_a_boards_counter_stand_modelled_cycles(tmp_path: Path, kws_dir: Path) -> None:
    """QEMU's board counts ticks at a port; what is modelled does not come from there."""
    build(kws_dir / "model.onnx", "mps2-an386", tmp_path / "build", name="kws")
    folder = open_folder(tmp_path / "build")
    with open_emulator(folder.board, folder.firmware, emulator="qemu") as emulator:
        measured = profile(folder, connection=Connection(port=emulator.url))
    alone = profile(folder)
    assert (measured.unit, alone.unit) == ("ticks", "instructions")
    assert measured.source == "the counter of mps2-an386"
    assert (measured.cycles, measured.timings) == (alone.cycles, "cortex-m4")
    assert [x.cycles for x in measured.layers] == [x.cycles for x in alone.layers]
    assert [x.above_floor for x in measured.layers] == [x.above_floor for x in alone.layers]


def test_what_lies_above_the_floor_is_counted_from_a_boards_own_cycles() -> None:
    layer = LayerCost(0, "conv_1", "conv", "Conv", 1500, 2000, 1.0, cycles=1300, floor=1000)
    assert layer.above_floor == 300
    assert replace(layer, is_measured=True).above_floor == 500


def test_a_table_has_each_figure_under_its_title() -> None:
    """Of two cores, the second of which does what is left of the work."""
    time = BoardTime(2000, 500, 200, 10**6)
    layers = [
        LayerCost(n, f"conv_{n}", "c", "Conv", 1000, 4000, 0.5, 1300, 800, time=time)
        for n in range(2)
    ]
    made = Profile(
        "net", "instructions", "qemu", 1400, 8000, tuple(layers), 0, {}, (1400, 1100), 2600,
        time=replace(time, cycles=4000),
    )  # fmt: skip
    assert (made.work, made.outside, made.overhead) == (2500, 500, 0.2)
    assert made.speed_up == 2000 / 1400
    table = made.table(wide=True)
    assert dict(zip(table.columns, table.rows[1], strict=True)) == {
        "": "1", "layer": "conv_1", "operator": "Conv", "instructions": "1,000", "cycles": "1,300",
        "on board": "2,000", "ms": "2.000", "code": "25.0%", "data": "10.0%", "share": "50.0%",
        "MACs": "4,000", "floor": "800", "above it": "500", "in the model": "c",
    }  # fmt: skip
    assert table.notes[0] == "total 1,400 instructions for 8,000 MACs, 0.17 per MAC"
    assert table.notes[2].endswith(
        "4,000 cycles on board, of which 12.5% wait for code and 5.0% for data"
    )
