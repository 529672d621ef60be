"""The second core of mps2-an521: it works, its faults are told, and its instructions are counted.

QEMU's WFE does nothing in this machine (each core has a thread of QEMU's own, and there the
instruction is translated to nothing), so a core that waits spins; and a reset reaches the first
core only, so after a fault of its own the second one is lost until QEMU ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import network_programs as programs
import numpy as np
import pytest
from device.faults.firmware import Line, build, function_at, running, symbol_values
from sampling import every_board, first

from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.device.counting import Counts, count_instructions

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

BOARDS = [board.name for board in every_board() if board.second_core is not None]
HERE = Path(__file__).resolve().parent / "second_core"
UNDEFINED, OVERFLOW = 1, 7  # mcu_fault_cause_t of mcu/platform.h


@pytest.fixture(params=BOARDS)
def elf(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return build(load_board(request.param), (HERE / "second_core.c",), tmp_path)


@pytest.fixture
def line(elf: Path) -> Iterator[Line]:
    with running(load_board(elf.stem), elf) as found:
        yield found


def ask(line: Line, letter: str) -> dict[str, int]:
    line.send(letter.encode())
    words = line.line().split()[1:]
    return {name: int(value, 16) for name, value in (word.split("=") for word in words)}


def test_there_is_a_board_with_a_second_core() -> None:
    assert "mps2-an521" in BOARDS


def test_two_functions_at_once(line: Line, elf: Path) -> None:
    sums = ask(line, "s")
    assert (sums["wrong"], sums["parallel"]) == (0, 100)
    symbols = symbol_values(elf)
    assert symbols["__stack_limit"] <= sums["first"] < symbols["__stack_top"]
    board = load_board(elf.stem)
    assert board.second_core is not None
    begin = symbols["__handler_stack_top"]
    assert begin < sums["second"] <= begin + board.second_core.stack_bytes
    assert 0 < sums["used"] < 512
    # the core is asked again and again, and nothing is left of the last time
    assert ask(line, "n") == {"sum": 4096, "first": 1, "second": 1}  # both on the second core
    assert ask(line, "r") == {"first": 1, "second": 0, "third": 1}
    assert ask(line, "s")["wrong"] == 0


@pytest.mark.parametrize(
    ("letter", "cause", "function"), [("u", UNDEFINED, "stumble"), ("o", OVERFLOW, "sink")]
)
def test_a_fault_of_the_second_core_is_told(
    letter: str, cause: int, function: str, line: Line, elf: Path
) -> None:
    fault = ask(line, letter)
    assert (fault["core"], fault["cause"]) == (1, cause)
    assert function_at(elf, fault["pc"]) == function
    assert line.line() == "ready"
    assert ask(line, "s")["wrong"] == 0  # with one core, or with two


def test_after_a_fault_of_the_first_core_both_work_again(line: Line, elf: Path) -> None:
    assert ask(line, "s")["parallel"] == 100
    fault = ask(line, "U")
    assert (fault["core"], fault["cause"]) == (0, UNDEFINED)
    assert function_at(elf, fault["pc"]) == "stumble"
    assert line.line() == "ready"
    sums = ask(line, "s")
    assert (sums["wrong"], sums["parallel"]) == (0, 100)


# ---- Counting ----

# Loops of known length on both cores: FIRST and SECOND turns of two instructions each.
LANES = """
#include "marks.h"
#include "mcu/parallel.h"
static void loop(unsigned turns) {
    __asm volatile("1: subs %0, #1\\n\\tbne 1b" : "+r"(turns)::"cc", "memory");
}
static void first(void *context) {
    (void)context;
    loop(FIRST);
}
static void second(void *context) {
    (void)context;
    loop(SECOND);
}
void mcu_firmware_main(void);
void mcu_firmware_main(void) {
    _mcu_parallel(first, second, 0);
    mcu_bench_begin();
    for (int i = 0; i < 3; ++i) {
        _mcu_parallel(first, second, 0);
    }
    mcu_bench_end();
    mcu_bench_done();
    for (;;) {
    }
}
"""


def count(board_name: str, folder: Path, sources: list[Path], *flags: str) -> Counts:
    """The instructions of a program between its marks."""
    board = load_board(board_name)
    more = [] if board.second_core else [programs.CRT / "src" / "parallel.c"]
    # a file is one section: all its marks are there where it is
    settings = ["-fno-function-sections", "-ffp-contract=off", f"-Wa,-I{folder}", *flags]
    settings += [f"-I{HERE}", f"-I{folder}"]
    elf = build(board, (*sources, *more), folder, *settings)
    return count_instructions(board, elf, timeout=60)


def count_lanes(board: str, folder: Path, first: int, second: int) -> Counts:
    source = folder / "lanes.c"
    source.write_text(LANES)
    return count(board, folder, [source], f"-DFIRST={first}u", f"-DSECOND={second}u")


@pytest.mark.parametrize(
    ("one", "other"), first([(200_000, 1000), (1000, 200_000), (50_000, 50_000)])
)
def test_waiting_for_the_other_core_is_not_counted(one: int, other: int, tmp_path: Path) -> None:
    counts = count_lanes("mps2-an521", tmp_path, one, other)
    assert len(counts.cores) == 2
    assert counts.cores[0] == counts.total
    # three rounds; what is not a turn of a loop is the hand-shake: some dozens of instructions
    for found, turns in zip(counts.cores, (one, other), strict=True):
        assert 3 * 2 * turns < found < 3 * 2 * turns + 200
    # however the cores' threads interleave, not one instruction more or less
    for _ in range(2):
        assert count_lanes("mps2-an521", tmp_path, one, other) == counts


def test_on_one_core_both_lanes_are_counted_on_it(tmp_path: Path) -> None:
    counts = count_lanes("mps2-an386", tmp_path, 3000, 2000)
    assert counts.cores == (counts.total,)
    assert 3 * 2 * 5000 < counts.total < 3 * 2 * 5000 + 100


@pytest.mark.matrix  # in the sample the lanes of test_schedule.py do so
def test_two_instances_on_two_cores_take_the_time_of_one(models_dir: Path, tmp_path: Path) -> None:
    """They share code and weights, each has its workspace; and each gives what it gives alone."""
    model = models_dir / "mlperf_kws_int8"
    network = compile_model(model / "model.onnx", load_board("mps2-an521"), name="kws")
    programs.write([network], tmp_path)
    rows = [programs.c_array(value) for value in np.load(model / "io.npz")["in0"][[0, 3]]]
    (tmp_path / "samples.h").write_text(
        "#include <stdint.h>\nstatic const int8_t samples[2][490] = {"
        + ", ".join(f"{{{row}}}" for row in rows)
        + "};\n"
    )
    sources = [HERE / "two_inferences.c", tmp_path / "network_kws.c", *programs.RUNTIME]
    alone = count("mps2-an521", tmp_path, sources, "-DALONE")
    together = count("mps2-an521", tmp_path, sources)
    assert alone.cores == (alone.total,)
    assert len(together.cores) == 2
    # the work is the same, but for starting the core and painting its stack; each does half of it
    assert 0 < sum(together.cores) - alone.total < 10_000
    assert max(together.cores) < 0.51 * alone.total
    assert together == count("mps2-an521", tmp_path, sources)
