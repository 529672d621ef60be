"""The start-up of RP2040 and RP2350 in a machine made for it: their memories, their UART, and the
registers that it waits for, with what they hold when clocks run and resets are over (names and
addresses: raspberrypi/pico-sdk, commit a1438df, hardware/regs). No emulator has these chips: this
shows that the steps end and the port speaks, not that a chip's oscillators do."""

from __future__ import annotations

from pathlib import Path

import pytest
from device.faults.firmware import ECHO, build, running

from mcu_deploy.boards import load_board

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_renode, pytest.mark.matrix]

PLATFORM = """
nvic: IRQControllers.NVIC @ sysbus 0xE000E000
    IRQ -> cpu@0

cpu: CPU.CortexM @ sysbus
    cpuType: "{core}"
    nvic: nvic

flash: Memory.MappedMemory @ sysbus 0x10000000
    size: {flash:#x}

sram: Memory.MappedMemory @ sysbus 0x20000000
    size: {sram:#x}

uart0: UART.PL011 @ sysbus {uart:#x}
    -> nvic@{irq}

sysbus:
    init:
"""
FACTS = {
    "rpi_pico": {
        "core": "cortex-m0+", "flash": 2 << 20, "sram": 0x42000, "uart": 0x40034000, "irq": 20,
    },
    "rpi_pico2": {
        "core": "cortex-m33", "flash": 4 << 20, "sram": 0x82000, "uart": 0x40070000, "irq": 33,
    },
}  # fmt: skip
XOSC = {"rpi_pico": 0x40024000, "rpi_pico2": 0x40048000}
CLOCKS = {"rpi_pico": 0x40008000, "rpi_pico2": 0x40010000}
RESETS = {"rpi_pico": 0x4000C000, "rpi_pico2": 0x40020000}


def _platform(name: str) -> str:
    registers = {
        XOSC[name] + 0x04: 0x8000_0000,  # STATUS: stable
        CLOCKS[name] + 0x38: 1 << 2,  # CLK_REF_SELECTED: the crystal
        CLOCKS[name] + 0x44: 1 << 0,  # CLK_SYS_SELECTED: CLK_REF
        RESETS[name] + 0x08: 0x1FFF_FFFF,  # RESET_DONE
    }
    tags = "".join(
        f'        Tag <{at:#x}, {at + 3:#x}> "R{at:X}" {value:#x}\n'
        for at, value in registers.items()
    )
    return PLATFORM.format(**FACTS[name]) + tags


@pytest.mark.parametrize("name", FACTS)
def test_the_steps_end_and_the_port_speaks(name: str, tmp_path: Path) -> None:
    (tmp_path / "chip.repl").write_text(_platform(name))
    path = tmp_path / "board.toml"
    path.write_text(
        f'inherits = "{name}"\n[emulators.renode]\nplatform = "chip.repl"\nuart = "uart0"\n'
    )
    board = load_board(path)
    with running(board, build(board, ECHO, tmp_path / "out"), "renode") as line:
        data = bytes(range(256)) * 4
        line.send(data)
        assert line.read(len(data)) == data
