"""mcu-deploy boards."""

from __future__ import annotations

import json

from sampling import every_board
from typer.testing import CliRunner

from mcu_deploy import resources
from mcu_deploy.cli import create_app


def test_every_board_has_a_row_with_what_runs_it() -> None:
    result = CliRunner().invoke(create_app(), ["boards"])
    assert result.exit_code == 0
    rows = {line.split()[0]: line for line in result.stdout.splitlines() if line.strip()}
    assert str(resources.boards()) in result.stdout
    assert {board.name for board in every_board()} <= set(rows)
    assert rows["netduinoplus2"].split()[3:7] == ["1", "MiB", "128", "KiB"]
    assert "QEMU" in rows["mps2-an386"] and "Renode" not in rows["mps2-an386"]
    assert all(("untested" in rows[b.name]) is b.untested for b in every_board())
    assert "Renode" in rows["stm32f746"] and "QEMU" not in rows["stm32f746"]


def test_json_has_sizes_in_bytes() -> None:
    result = CliRunner().invoke(create_app(), ["boards", "--json"])
    assert result.exit_code == 0
    by_name = {board["name"]: board for board in json.loads(result.stdout)}
    assert by_name["host"]["memories"] == []
    sram = by_name["netduinoplus2"]["memories"][1]
    assert (sram["name"], sram["kind"], sram["origin"]) == ("sram", "ram", 0x20000000)
    assert sram["size_bytes"] == 128 << 10
    flash = by_name["mps2-an386"]["memories"][0]
    assert flash["timing"] == flash["rated_timing"]
    assert flash["timing"]["wait_states"] == 0 and flash["timing"]["data_cache"] is None
    assert by_name["mps2-an500"]["emulators"] == ["qemu"]
    assert by_name["stm32f746"]["runners"]["jlink"] == {"device": "STM32F746NG"}
    assert "0483:374b" in by_name["stm32f746"]["usb"]
    assert by_name["mps2-an500"]["rated_clock_hz"] is None
    assert by_name["stm32f746"]["rated_clock_hz"] > by_name["stm32f746"]["clock_hz"]
    assert [name for name, board in by_name.items() if board["untested"]] == [
        board.name for board in every_board() if board.untested
    ]
    assert by_name["stm32f746"]["pools"] == [
        {"name": "dtcm", "size_bytes": 64 << 10, "speed": 2},
        {"name": "sram12", "size_bytes": 256 << 10, "speed": 1},
    ]
