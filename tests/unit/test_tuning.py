"""`tune`: what is measured once and kept, what it changes, and what stops it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import onnx
import pytest
from arm_dsp_cases import Case, model
from command_line import call
from onnx import TensorProto, helper
from sampling import first

from mcu_deploy.api import building, flashing, profiling, tuning
from mcu_deploy.api.running import Connection
from mcu_deploy.api.tuning import Tuned, tune
from mcu_deploy.backends import measured
from mcu_deploy.backends.cost import Known
from mcu_deploy.boards import load_board
from mcu_deploy.compiled import Network
from mcu_deploy.errors import DeviceError, FitError, McuDeployError, RequestError, UsageError
from mcu_deploy.options import Options
from mcu_deploy.output.progress import listening

BOARD = "mps2-an386"
SPEED = Options(optimize_for="speed")


class Emulator:
    """In place of one: says of CpuRef's layers that they take few cycles, of all others many."""

    def __init__(self) -> None:
        self.networks: list[Network] = []
        self.fails: dict[int, BaseException] = {}

    def profile(self, network: Network) -> tuple[int, ...]:
        self.networks.append(network)
        if error := self.fails.get(len(self.networks)):
            raise error
        few = (step.choice.workload.backend == "CpuRef" for step in network.plan.steps)
        return tuple(100 if is_few else 10**8 for is_few in few)


@pytest.fixture
def emulator(monkeypatch: pytest.MonkeyPatch) -> Emulator:
    made = Emulator()
    monkeypatch.setattr(tuning._Tuning, "_profile", lambda _, network: made.profile(network))
    monkeypatch.setattr(tuning, "_require_cycles", lambda *_: None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})  # one at a time
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return model([Case(4, 2, 2, 2), Case(4, 4, 5, 5, 1)], tmp_path / "net.onnx")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Of one layer, which has several kernels."""
    return model([Case(4, 2, 2, 2)], tmp_path / "net.onnx")


def _costs(path: Path) -> dict[str, dict[str, object]]:
    cores = json.loads(measured.file_beside(path).read_text())["cores"]
    return dict(cores["cortex-m4"])


def test_everything_is_measured_once_and_decides(emulator: Emulator, path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    with listening(lambda what, *pair: told.append(pair)):
        found = tune(path, BOARD, options=SPEED)
    costs = _costs(path)
    assert found.measured == len(costs) and found.kept == found.too_large == 0
    assert {(c["unit"], c["known"]) for c in costs.values()} == {("cycles", "counted")}
    assert told[-1] == (len(emulator.networks),) * 2
    # of the two ArmDsp has the 1x1, the depthwise, the chain; CpuRef all, and what moves bytes
    assert {row.backend for row in found.replaced} == {"ArmDsp"}
    assert {row.backend for row in found.replaced_by} == {"CpuRef"}
    assert [row.op for row in found.replaced_by].count("Conv") == 3
    assert found.before is not None and found.after is not None
    assert found.before > 10**8 > found.after
    count = len(emulator.networks)
    written = measured.file_beside(path).read_bytes()
    second = tune(path, BOARD, options=SPEED)
    assert (second.measured, second.kept) == (0, found.measured)
    assert (second.before, second.after) == (found.before, found.after)
    assert (second.replaced, second.replaced_by) == (found.replaced, found.replaced_by)
    assert len(emulator.networks) == count and measured.file_beside(path).read_bytes() == written
    third = tune(path, BOARD, options=SPEED, again=True)
    assert (third.measured, third.kept) == (found.measured, 0)
    assert len(emulator.networks) == 2 * count


def test_costs_of_other_cores_and_other_models_stay(emulator: Emulator, small: Path) -> None:
    other = {"value": 5, "unit": "instructions", "known": "measured"}
    cores = {"cortex-m3": {"0" * 64: other}, "cortex-m4": {"1" * 64: other}}
    content = {"format": measured.FORMAT, "cores": cores}
    measured.file_beside(small).write_text(json.dumps(content))
    tune(small, BOARD, options=SPEED)
    after = json.loads(measured.file_beside(small).read_text())["cores"]
    assert after["cortex-m3"] == cores["cortex-m3"] and after["cortex-m4"]["1" * 64] == other


@pytest.mark.parametrize("stop", first([KeyboardInterrupt(), DeviceError("it is gone")]))
def test_what_is_stopped_goes_on_where_it_was(
    emulator: Emulator, small: Path, stop: BaseException
) -> None:
    emulator.fails[2] = stop
    with pytest.raises(type(stop), match=r"it is gone|the same command goes on"):
        tune(small, BOARD, options=SPEED)
    before = _costs(small)
    first = emulator.networks[0]
    assert {step.choice.workload.fingerprint for step in first.plan.steps} <= before.keys()
    found = tune(small, BOARD, options=SPEED)
    assert found.kept == len(before) and found.measured + found.kept == len(_costs(small))
    resumed = measured.file_beside(small).read_bytes()
    measured.file_beside(small).unlink()
    tune(small, BOARD, options=SPEED)
    assert measured.file_beside(small).read_bytes() == resumed


def test_what_does_not_fit_the_board_is_left_out(emulator: Emulator, small: Path) -> None:
    emulator.fails[2] = FitError("too large")
    found = tune(small, BOARD, options=SPEED)
    assert found.too_large >= 1 and found.measured > 0


def test_instructions_and_counts_do_not_stand_for_measured_cycles(
    emulator: Emulator, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = tune(small, BOARD, options=SPEED)
    assert counted.known is Known.COUNTED
    port = Connection(port="/dev/nothing")
    found = tune(small, BOARD, options=SPEED, connection=port, load=lambda _: None)
    assert (found.known, found.kept, found.measured) == (Known.MEASURED, 0, counted.measured)
    again = tune(small, BOARD, options=SPEED)  # what a chip says is better than a count
    assert (again.kept, again.measured) == (counted.measured, 0)
    content = measured.file_beside(small).read_text().replace('"cycles"', '"instructions"')
    measured.file_beside(small).write_text(content)
    assert tune(small, BOARD, options=SPEED).kept == 0


@pytest.mark.parametrize("unit", ["cycles", "ticks"])
def test_each_firmware_is_loaded_onto_the_board(
    small: Path, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    """With a fake of building, and of a board that says 7 of whatever it counts for each layer."""
    loaded: list[Path] = []

    def on_board(folder: object, network: Network, _: object) -> SimpleNamespace:
        assert len(loaded) > len(asked)
        asked.append(network)
        layers = [SimpleNamespace(cost=7, cycles=None) for _ in network.plan.steps]
        return SimpleNamespace(
            unit=unit, layers=layers, no_cycles="", no_time="", source="the counter of b"
        )

    asked: list[Network] = []
    folder = SimpleNamespace(firmware=Path("firmware.elf"))
    monkeypatch.setattr(building, "write", lambda *_: None)
    monkeypatch.setattr(tuning, "open_folder", lambda _: folder)
    monkeypatch.setattr(profiling, "on_board", on_board)

    def flashed(directory: Path) -> None:
        assert directory == folder.firmware.parent
        loaded.append(folder.firmware)

    monkeypatch.setattr(flashing, "flash", flashed)
    board = replace(load_board(BOARD), runners={"gdb": {"server": "x"}})
    monkeypatch.setattr(tuning, "choose", lambda *asked: chosen.append(asked))
    chosen: list[tuple[object, ...]] = []

    def measure() -> Tuned:
        load = loaded.append if unit == "ticks" else None  # None: as `flash` does
        return tune(small, board, options=SPEED, connection=Connection(port="p"), load=load)

    if unit == "ticks":
        with pytest.raises(DeviceError, match="the counter of b says ticks"):
            measure()
        return
    found = measure()
    assert loaded == [folder.firmware] * len(asked)
    assert chosen == [(BOARD, board.runners)]
    assert found.measured and {c["known"] for c in _costs(small).values()} == {"measured"}


@pytest.mark.parametrize(
    ("board", "connection", "reason"),
    [
        ("host", Connection(), "none of host: nothing counts cycles on the host"),
        (
            "stm32f746",
            Connection(emulator="renode"),
            "by address.* tune for --board mps2-an500 in QEMU instead",
        ),
        (BOARD, Connection(emulator="renode"), "[Rr]enode"),
        (BOARD, Connection(port="/dev/ttyACM0"), "names no tool to flash it with"),
    ],
)
def test_boards_without_cycles_are_refused_before_any_work(
    path: Path, board: str, connection: Connection, reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        tune(path, load_board(board), connection=connection)
    assert not measured.file_beside(path).exists()


def test_a_damaged_file_is_no_reason_to_measure(emulator: Emulator, path: Path) -> None:
    measured.file_beside(path).write_text("{")
    with pytest.raises(McuDeployError, match=r"it is no JSON\. Take the file away"):
        tune(path, BOARD)
    assert emulator.networks == [] and measured.file_beside(path).read_text() == "{"


def test_a_model_of_loops_alone_has_nothing_to_measure(emulator: Emulator, tmp_path: Path) -> None:
    round_ = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["y"]), helper.make_node("Identity", ["go"], ["more"])],
        "round",
        [_value("i", TensorProto.INT64), _value("go", TensorProto.BOOL), _value("x")],
        [_value("more", TensorProto.BOOL), _value("y")],
    )
    nodes = [helper.make_node("Loop", ["count", "", "a"], ["b"], body=round_)]
    count = helper.make_tensor("count", TensorProto.INT64, [], [3])
    graph = helper.make_graph(nodes, "net", [_value("a")], [_value("b")], [count])
    opset = helper.make_opsetid("", 17)
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), path)
    with pytest.raises(RequestError, match="nothing to measure in"):
        tune(path, BOARD)
    assert emulator.networks == []


def _value(name: str, type_: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, type_, [4] if type_ == TensorProto.FLOAT else [])


def test_the_command(emulator: Emulator, small: Path) -> None:
    words = ("tune", small.name, "--board", BOARD, "--optimize-for", "speed")
    done = call(*words, cwd=small.parent)
    assert done.returncode == 0, done.stderr
    assert "net.costs.json: " in done.stdout and "A build changes: " in done.stdout
    shown = json.loads(call(*words, "--json", cwd=small.parent).stdout)
    assert (shown["core"], shown["unit"], shown["known"]) == ("cortex-m4", "cycles", "counted")
    assert shown["measured"] == 0 and shown["kept"] == len(_costs(small))
    assert {row["backend"] for row in shown["replaced_by"]} == {"CpuRef"}
    wrong = call(*words, "--port", "/dev/x", "--load", "load it", cwd=small.parent)
    assert wrong.returncode == 2 and "does not say where the firmware belongs" in wrong.stderr
