"""The rated clock where an emulator has the chip's clock registers: its steps come to their end.

No emulator here runs faster or slower for it: what is tried are the addresses and the waits, not
that a flash keeps up."""

from __future__ import annotations

from pathlib import Path

import pytest
from device.faults.firmware import build, fault_sources, running
from sampling import every_board

from mcu_deploy.boards import load_board

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_renode, pytest.mark.matrix]

RATED = [b.name for b in every_board() if b.renode is not None and "rated" in b.document.values]


@pytest.mark.parametrize("name", RATED)
def test_a_firmware_with_the_rated_clock_starts_and_restarts(name: str, tmp_path: Path) -> None:
    board = load_board(name, clock="rated")
    with running(board, build(board, fault_sources(board), tmp_path), "renode") as line:
        line.send(b"n")
        starts = line.line()
        line.send(b"z")
        assert line.line() == "ready"
        line.send(b"n")
        assert int(line.line().split()[1], 16) == int(starts.split()[1], 16) + 1


def test_a_rated_clock_is_no_slower() -> None:
    for name in RATED:
        assert load_board(name, clock="rated").clock_hz >= load_board(name).clock_hz
