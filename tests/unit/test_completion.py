"""What the shell completes: commands, options, and the words that options take."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from mcu_deploy.cli import create_app


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("mcu-deploy val", "validate"),
        ("mcu-deploy build m.onnx --board stm32f7", "stm32f746"),
        ("mcu-deploy check a.o --board rpi_pico2", "rpi_pico2"),
        ("mcu-deploy flash b --board stm32f7", "stm32f746"),
        ("mcu-deploy build m.onnx --core cortex-m5", "cortex-m55"),
        ("mcu-deploy build m.onnx --memory off", "offline"),
        ("mcu-deploy validate b --emulator ren", "renode"),
        ("mcu-deploy flash b --runner st", "stlink"),
    ],
)
def test_words_are_completed(line: str, completed: str) -> None:
    words = line.split()
    shell = {
        "_MCU_DEPLOY_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = CliRunner().invoke(create_app(), env=shell, prog_name="mcu-deploy")
    assert done.stdout.split() == [completed]
