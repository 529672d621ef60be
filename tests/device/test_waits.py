"""The time on a board: with a flash of wait states, on QEMU's machine of the board's core."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from arm_dsp_convolutions import Case
from arm_dsp_convolutions import model as convolutions
from command_line import call
from sampling import first

from mcu_deploy.api.building import build
from mcu_deploy.api.folder import BuildFolder, open_folder
from mcu_deploy.api.profiling import profile
from mcu_deploy.boards import Board, load_board
from mcu_deploy.device.counting import count_instructions
from mcu_deploy.device.emulators import launcher_named
from mcu_deploy.device.modelling import model_cycles, model_time
from mcu_deploy.device.waiting import memory_lines, used_memories
from mcu_deploy.elf.reader import load_elf
from mcu_deploy.memory_timing import Cache, MemoryTiming
from mcu_deploy.options import Options
from mcu_deploy.toolchain.stand_in import ALIGNMENT, link_stand_in

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

# As the laboratory's page has them: the first two are ST's L4R5, in dual bank and in single bank.
A = MemoryTiming(5, 8, Cache(32, 32, 32, "lru"), Cache(8, 32, 8, "lru"))
B = replace(A, read_bytes=16, prefetch=True)
C = MemoryTiming(5, 16, Cache(64, 16, 64, "lru"), Cache(8, 16, 8, "lru"), prefetch=True)
AT_ONCE = MemoryTiming(0, 4)


def _timed(board: Board, flash: MemoryTiming) -> Board:
    """The board with a flash that answers so, and RAM that answers at once."""
    memories = (
        replace(m, rated_timing=flash if m.kind == "flash" else AT_ONCE) for m in board.memories
    )
    return replace(board, memories=tuple(memories))


def _build(model: Path, board: str | Path, folder: Path) -> BuildFolder:
    build(model, board, folder, name="net")
    return open_folder(folder)


class Laboratory:
    """The plugin in ../shared/lab/flash, and what it says of a bench.elf.

    It counts from the call of the runtime on, so that its clock does not begin inside of a
    straight run, and up to the mark at the end, which follows the second call first."""

    def __init__(self, place: Path, scratch: Path) -> None:
        self.place, self.scratch, self.plugin = place, scratch, scratch / "art.so"
        command = ["gcc", "-O2", "-w", "-fPIC", "-shared", "-o", self.plugin, place / "art.c"]
        subprocess.run(command, check=True)

    def total(self, elf: Path, counts: dict[int, int], timing: MemoryTiming) -> tuple[int, int]:
        """Cycles without and with waiting."""
        histogram, costs = self.scratch / "histogram", self.scratch / "costs"
        histogram.write_text("".join(f"{a:x} {n}\n" for a, n in counts.items()))
        subprocess.run([sys.executable, self.place / "costs.py", "m4", elf, histogram, costs],
                       check=True)  # fmt: skip
        places = {s.name: s.value & ~1 for s in load_elf(elf).symbols}
        code, data = timing.instruction_cache, timing.data_cache
        assert code is not None and data is not None
        arguments = [
            f"file={self.plugin}", f"cost={costs}",
            f"begin={places['mcu_instance_run']:#x}", f"end={places['mcu_bench_end']:#x}",
            f"ws={timing.wait_states}", f"width={timing.read_bytes}",
            f"il={code.lines}", f"ib={code.line_bytes}",
            f"dl={data.lines}", f"db={data.line_bytes}", f"pf={int(timing.prefetch)}",
        ]  # fmt: skip
        command = [
            str(launcher_named("qemu").find().path), "-M", "mps2-an386", "-kernel", str(elf),
            "-display", "none", "-monitor", "none", "-serial", "none",
            "-plugin", ",".join(arguments),
        ]  # fmt: skip
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            said = next((line for line in process.stderr if line.startswith("ART")), "")
            process.kill()
        found = re.search(r"base=(\d+) total=(\d+)", said)
        assert found is not None
        return int(found[1]), int(found[2])


@pytest.fixture
def laboratory(repository: Path, tmp_path: Path) -> Laboratory:
    place = repository.parent / "shared" / "lab" / "flash"
    if not place.is_dir():
        pytest.skip("the laboratory's plugin is not here; put it at ../shared/lab/flash")
    return Laboratory(place, tmp_path)


@pytest.mark.parametrize(
    ("model", "timings"),
    first(
        [
            ("mlperf_ad_int8", (A, B, C)),
            ("tflm_hello_world_int8", (A,)),
            ("mlperf_kws_int8", (A, B, C)),
            ("mlperf_vww_int8", (A, B, C)),
            ("mlperf_ic_int8", (A, B, C)),
        ]
    ),
)
def test_a_flash_is_as_slow_as_in_the_laboratory(
    model: str, timings: tuple[MemoryTiming, ...], models_dir: Path, tmp_path: Path,
    laboratory: Laboratory,
) -> None:  # fmt: skip
    """Built for the board that they are of, and linked again for QEMU's machine."""
    folder = _build(models_dir / model / "model.onnx", "nucleo_l4r5zi", tmp_path / "build")
    (tmp_path / "image").mkdir()
    made = link_stand_in(folder.directory, folder.board, ["net"], tmp_path / "image")
    assert not isinstance(made, str)
    for timing in timings:
        board = _timed(made.board, timing)
        lines = memory_lines(board, made.image)
        counts = count_instructions(board, made.image, by_address=True, memories=lines)
        cycles = model_cycles(board, made.image, counts)
        assert not isinstance(cycles, str)
        time = model_time(board, counts, cycles)
        base, total = laboratory.total(made.image, dict(counts.by_address), timing)
        assert cycles.total == pytest.approx(base, rel=0.01, abs=100)
        # Of a short run the first words count, which one has in its cache and the other not.
        assert time.total.cycles == pytest.approx(total, rel=0.02, abs=100)
        assert time.total.clock_hz == 120_000_000
        inside = sum(layer.cycles for layer in time.layers)
        assert inside == pytest.approx(time.total.cycles, rel=0.01, abs=2000)


@pytest.mark.parametrize(
    "board",
    first(
        [
            "nucleo_l4r5zi",
            "rpi_pico",
            "mimxrt1064_evk",
            "stm32f103",
            "nucleo_h753zi",
            "rpi_pico2",
            "nrf52840dk",
            "sam_e70_xplained",
        ]
    ),
)
def test_an_image_for_qemus_machine_is_the_boards_moved(
    board: str, models_dir: Path, tmp_path: Path
) -> None:
    folder = _build(models_dir / "tflm_hello_world_int8" / "model.onnx", board, tmp_path / "build")
    before = {path: path.stat().st_mtime_ns for path in folder.directory.rglob("*")}
    (tmp_path / "image").mkdir()
    made = link_stand_in(folder.directory, folder.board, ["net"], tmp_path / "image")
    assert not isinstance(made, str)
    assert {path: path.stat().st_mtime_ns for path in folder.directory.rglob("*")} == before
    assert all(move % ALIGNMENT == 0 for move in made.moves.values())
    own, moved = load_elf(folder.bench), load_elf(made.image)
    places = {symbol.name: symbol.value for symbol in moved.symbols}
    code = folder.board.roles.code
    functions = [s for s in own.symbols if s.type == "STT_FUNC" and s.name.startswith("_mcu_net")]
    assert functions
    for symbol in functions:
        assert places[symbol.name] == symbol.value + made.moves[code]
    counts = count_instructions(made.board, made.image)
    assert counts.total == sum(counts.cores) > sum(counts.layers) > 0


def test_a_machine_that_stands_in_counts_what_the_boards_own_does(
    models_dir: Path, tmp_path: Path
) -> None:
    model = models_dir / "tflm_hello_world_int8" / "model.onnx"
    folder = _build(model, "netduinoplus2", tmp_path / "build")
    (tmp_path / "image").mkdir()
    made = link_stand_in(folder.directory, folder.board, ["net"], tmp_path / "image")
    assert not isinstance(made, str) and made.board.qemu is not None
    assert made.board.qemu.machine == "mps2-an386"
    own = count_instructions(folder.board, folder.bench, emulator="qemu", by_address=True)
    moved = count_instructions(made.board, made.image, by_address=True)
    assert (moved.total, moved.layers, moved.stack_bytes) == (
        own.total, own.layers, own.stack_bytes,
    )  # fmt: skip
    delta = made.moves[folder.board.roles.code]
    assert dict(moved.by_address) == {a + delta: n for a, n in own.by_address.items()}


BOARD = """
inherits = "nucleo_l4r5zi"
name = "slow"
title = "As a user describes it"
[memories.sram.timing]
wait_states = 0
read_bytes = 4
source = "a test"
[rated.timing.flash]
wait_states = 5
read_bytes = 8
source = "a test"
instruction_cache = { lines = 32, line_bytes = 32, policy = "lru" }
data_cache = { lines = 8, line_bytes = 32, policy = "lru" }
"""


def test_profile_shows_the_time_on_a_board_that_qemu_lacks(
    models_dir: Path, tmp_path: Path
) -> None:
    file = tmp_path / "board.toml"
    file.write_text(BOARD)
    folder = _build(models_dir / "mlperf_ad_int8" / "model.onnx", file, tmp_path / "build")
    shown = json.loads(call("profile", folder.directory, "--json").stdout)
    assert shown["profile"]["source"].endswith(" on mps2-an386")
    assert (shown["profile"]["clock_hz"], shown["profile"]["no_time"]) == (120_000_000, "")
    share = shown["code_wait_share"] + shown["data_wait_share"]
    on_board = shown["modelled_board_cycles"]
    assert 0.2 < share < 0.9
    assert on_board * (1 - share) == pytest.approx(shown["modelled_cycles"], abs=1)
    assert shown["modelled_milliseconds"] == pytest.approx(on_board / 120_000)
    priced = shown["priced_time"]
    assert (priced["clock_hz"], shown["no_priced_time"]) == (120_000_000, "")
    assert priced["cycles"] == pytest.approx(on_board, rel=0.1)
    assert priced["milliseconds"] == pytest.approx(priced["cycles"] / 120_000)
    layers = shown["layers"]
    assert sum(layer["modelled_board_cycles"] for layer in layers) == pytest.approx(
        on_board, rel=0.01
    )
    assert sum(layer["share"] for layer in layers) == pytest.approx(1, abs=0.01)
    assert all(x["modelled_board_cycles"] > x["modelled_cycles"] for x in layers)
    table = call("profile", folder.directory).stdout
    assert "on board: modelled with wait states at 120 MHz, its rated clock;" in table
    assert f"{layers[0]['modelled_board_cycles']:,}  {layers[0]['modelled_milliseconds']:.3f}" in (
        re.sub(" +", "  ", table)
    )
    assert f"modelled time {shown['modelled_milliseconds']:.3f} ms at 120 MHz" in table
    assert max(len(line) for line in table.splitlines() if "modelled time" not in line) <= 100
    assert profile(folder) == profile(folder)


# Of a few filters and of groups, whose loops have to leave room for what gathers; 1x1; depthwise.
_LAYERS = (
    Case((8, 24, 24), 8), Case((16, 16, 16), 16, group=2, zeros=(-128, -128)),
    Case((16, 20, 20), 16, strides=(2, 2)), Case((64, 25, 5), 64, (1, 1), pads=(0, 0, 0, 0)),
    Case((144, 14, 14), 144, strides=(2, 2), pads=(0, 0, 1, 1), group=144),
)  # fmt: skip
_SLOWER = MemoryTiming(7, 16, Cache(16, 32, 16, "lru"), Cache(4, 32, 4, "lru"), prefetch=True)
_FASTER = MemoryTiming(3, 16, Cache(64, 16, 64, "lru"), Cache(8, 16, 8, "lru"))


@pytest.mark.matrix
@pytest.mark.parametrize("flash", [A, C, _SLOWER, _FASTER], ids=["a", "c", "slower", "faster"])
def test_layers_take_as_long_as_their_prices_say_and_wait_little_for_code(
    flash: MemoryTiming, tmp_path: Path
) -> None:
    """Each built for the flash that it is counted behind. In 512 bytes not all loops fit."""
    board = _timed(load_board("nucleo_l4r5zi"), flash)
    built = build(
        convolutions(_LAYERS, tmp_path / "layers.onnx"), board, tmp_path / "build", name="net",
        options=Options(optimize_for="speed"),
    )  # fmt: skip
    folder = replace(open_folder(built.directory), board=board)
    prices = {layer.name: layer.cost.value for layer in built.report.layers if layer.cost}
    counted = [layer for layer in profile(folder).layers if layer.macs]
    assert len(counted) == len(_LAYERS)
    for layer in counted:
        assert layer.time is not None
        assert layer.time.cycles == pytest.approx(prices[layer.name], rel=0.1), layer.name
        assert layer.time.code < 0.1 * layer.time.cycles or flash is _SLOWER, layer.name


def test_what_is_not_known_is_not_said_and_what_answers_at_once_takes_no_time(
    models_dir: Path, tmp_path: Path
) -> None:
    model = models_dir / "tflm_hello_world_int8" / "model.onnx"
    folder = _build(model, "mps2-an386", tmp_path / "build")
    board = _timed(folder.board, AT_ONCE)
    at_once = profile(replace(folder, board=board))
    assert at_once.time is not None
    assert (at_once.time.cycles, at_once.waits) == (at_once.cycles, False)
    assert [x.time.cycles for x in at_once.layers if x.time] == [x.cycles for x in at_once.layers]
    assert (at_once.no_time, at_once.assumed) == ("", ())
    for kind in ("flash", "ram"):
        memories = tuple(
            replace(m, rated_timing=None) if m.kind == kind else m for m in board.memories
        )
        counted = profile(replace(folder, board=replace(board, memories=memories)))
        assert counted.cycles == at_once.cycles
        if kind == "ram":
            assert (counted.time, counted.assumed) == (at_once.time, ("ssram23",))
        else:
            assert counted.time is None and counted.no_time == (
                "the file of board mps2-an386 does not say how its ssram1 answers (`timing`)"
            )


@pytest.mark.matrix
def test_a_memory_is_known_where_the_parts_are_that_an_image_is_in(
    models_dir: Path, tmp_path: Path
) -> None:
    """Of the STM32F746's RAM the first part, DTCM, is known to answer at once, and the rest is
    not."""
    model = models_dir / "tflm_hello_world_int8" / "model.onnx"
    folder = _build(model, "stm32f746", tmp_path / "build")
    assert folder.board.memory("sram").rated_timing is None
    made = profile(folder)
    assert made.time is not None and made.cycles is not None
    # It is smaller than its warm caches: what is left is one line that the mark before it shares.
    assert made.time.cycles - made.cycles < 10
    assert "at 216 MHz" in str(made)
    elf = load_elf(folder.bench)
    assert [m.name for m in used_memories(folder.board, elf)] == ["flash", "dtcm"]


def test_what_only_boot_code_reads_does_not_matter(models_dir: Path, tmp_path: Path) -> None:
    """The RP2040's second boot stage lies in a memory of its own."""
    model = models_dir / "tflm_hello_world_int8" / "model.onnx"
    folder = _build(model, "rpi_pico", tmp_path / "build")
    elf = load_elf(folder.bench)
    assert any(s.name == ".boot_boot2" and s.size for s in elf.sections)
    assert [m.name for m in used_memories(folder.board, elf)] == ["flash", "sram"]
    assert profile(folder).time is not None
