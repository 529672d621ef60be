"""OpenOCD: most probes, most chips.

Arguments: OpenOCD's manual, "Command-line options" and "Programming using a Debug Adapter"; the
`program` command in src/flash/startup.tcl (github.com/openocd-org/openocd, commit abbbc2e);
Zephyr's scripts/west_commands/runners/openocd.py. What it says: recorded from 0.12.0 without a
probe; src/jtag/drivers/{stlink_usb,jlink,cmsis_dap}.c, src/flash/nor/*.c of that commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mcu_deploy.runners.interface import FlashJob, Key, Runner, Trouble


class OpenOcd(Runner):
    """`openocd -f CONFIG -c "program {ELF} verify reset exit"`."""

    name = "openocd"
    title = "OpenOCD"
    programs = ("openocd",)
    install = "`apt-get install openocd`"
    keys = {
        "config": Key(
            "OpenOCD's own configuration files, separated by spaces (board/..., or interface/... "
            "target/...), or one beside the board's file",
            required=True,
        ),
        "commands": Key("Tcl commands behind these, before the chip is connected to"),
    }
    probe = "by its serial number"
    first_probe = True  # of ST-LINK and CMSIS-DAP; with J-Links it refuses
    unlock = (
        "unlock it (on an STM32: `openocd -f CONFIG -c 'init; reset halt; stm32f2x unlock 0; exit'`"
        " with its flash driver; on an nRF: `-c 'init; nrf5 mass_erase; exit'`)"
    )
    unknown = (
        "correct `config` in [runners.openocd], a file below OpenOCD's scripts folder, or get a "
        "newer OpenOCD"
    )
    troubles = {
        Trouble.ACCESS: (r"LIBUSB_ERROR_(ACCESS|BUSY)", r"[Pp]ermission denied"),
        Trouble.SEVERAL_PROBES: (r"Multiple devices found",),
        Trouble.NO_PROBE: (
            r"^Error: open failed",
            r"unable to find a matching CMSIS-DAP device",
            r"No J-Link device found",
            r"(vid/pid|serial) mismatch",
            r"unable to open CMSIS-DAP device",
        ),
        Trouble.UNKNOWN_CHIP: (r"Can't find \S+",),
        Trouble.LOCKED: (
            r"device protected",
            r"write protected",
            r"sector \d+ is protected",
            r"secured state",
            r"Could not find MEM-AP",
        ),
        Trouble.NO_CHIP: (
            r"unable to connect to the target",
            r"Error connecting DP",
            r"Target not examined",
            r"Unable to reset target",
        ),
        Trouble.VERIFY: (r"\*\* Verify Failed \*\*",),
    }

    def commands(self, job: FlashJob, program: str) -> tuple[tuple[str, ...], ...]:
        line = [program]
        config = job.settings["config"]
        for file in [config] if Path(config).is_absolute() else config.split():
            line += ["-f", file]
        if job.probe:
            line += ["-c", f"adapter serial {job.probe}"]
        if commands := job.settings.get("commands"):
            line += ["-c", commands]
        return ((*line, "-c", f"program {{{job.elf}}} verify reset exit"),)

    def debugging(self, settings: Mapping[str, str]) -> Mapping[str, object]:
        config = settings["config"]
        files = [config] if Path(config).is_absolute() else config.split()
        told = {"servertype": "openocd", "configFiles": files}
        return told | ({"openOCDLaunchCommands": [c]} if (c := settings.get("commands")) else {})


RUNNER = OpenOcd
