"""How the C hangs together: of the runtime, the firmware and the start-up no files call each other
in a circle."""

from __future__ import annotations

from dataclasses import replace
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from sampling import chosen

from mcu_deploy.boards import load_board
from mcu_deploy.elf.reader import load_elf
from mcu_deploy.toolchain.compiler import Toolchain
from mcu_deploy.toolchain.firmware import Firmware

# What the start-up and the fault handler call of the program, whichever it is.
DOORS = {"mcu_firmware_main", "mcu_fault_report"}


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize(
    "name", chosen(["host", "mps2-an386", "mps2-an521"], ("mps2-an521",))
)  # the last has two cores
def test_no_files_call_each_other_in_a_circle(name: str, tmp_path: Path) -> None:
    board = load_board(name)
    if not board.is_host:  # who calls whom is the same on each core, and this one's is compiled
        board = replace(board, cflags=load_board("mps2-an386").cflags)
    firmware = Firmware.of(board)
    toolchain = Toolchain.for_board(board)
    defined: dict[str, str] = {}
    needed: dict[str, set[str]] = {}
    for sources in (firmware.runtime, *firmware.platform, firmware.main):
        for made in toolchain.compile_set(sources, tmp_path):
            symbols = load_elf(made).symbols
            needed[made.stem] = {s.name for s in symbols if s.undefined} - DOORS
            functions = [s for s in symbols if s.exported and s.type == "STT_FUNC"]
            defined |= {s.name: made.stem for s in functions}
    calls = {file: {defined[n] for n in names & defined.keys()} for file, names in needed.items()}
    assert "tensor" in calls["instance"] and "cobs" in calls["message"]
    TopologicalSorter(calls).prepare()  # raises CycleError, which names the files
