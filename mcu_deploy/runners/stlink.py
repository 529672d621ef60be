"""st-flash of the open source stlink tools: the ST-LINK on ST's own boards.

Arguments: `st-flash --help` of 1.7.0, doc/man/st-flash.md (github.com/stlink-org/stlink, commit
733893a). It reads no ELF, so it gets Intel HEX. What it says: recorded from 1.7.0 without a probe;
src/stlink-lib/common_flash.c, src/st-flash/flash.c of that commit.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.runners.images import intel_hex
from mcu_deploy.runners.interface import FlashJob, Key, Runner, Trouble


class StLink(Runner):
    """`st-flash --reset --format ihex write firmware.hex`; it verifies by itself."""

    name = "stlink"
    title = "st-flash"
    programs = ("st-flash",)
    install = "`apt-get install stlink-tools`"
    keys = {
        "flash": Key("the flash's real size, such as 128k, where a chip tells less than it has")
    }
    needs_table = "it writes to STM32 chips alone"
    probe = "by its serial number"
    first_probe = True
    listing = "`st-info --probe`"
    unlock = (
        "unlock it with `st-flash --connect-under-reset erase`, or ST's own STM32CubeProgrammer"
    )
    unknown = "take another --runner"
    troubles = {
        Trouble.ACCESS: (r"LIBUSB_ERROR_(ACCESS|BUSY)", r"[Cc]ould not open USB device"),
        Trouble.NO_PROBE: (r"Couldn't find any ST-Link", r"Couldn't find ST-Link"),
        Trouble.UNKNOWN_CHIP: (r"unknown (chip ?id|coreid)", r"unrecognized flash type"),
        Trouble.LOCKED: (r"write protected", r"read.?protect", r"[Ff]ailed to unlock flash"),
        Trouble.NO_CHIP: (
            r"Failed to connect to target",
            r"Failed to halt the core",
            r"[Ff]ailed to enter SWD mode",
            r"Can not connect to target",
        ),
        Trouble.VERIFY: (r"Verification of flash failed", r"Failed to verify"),
    }

    def commands(self, job: FlashJob, program: str) -> tuple[tuple[str, ...], ...]:
        image = job.folder / "firmware.hex"
        image.write_text(intel_hex(job.elf))
        which = ("--serial", job.probe) if job.probe else ()
        size = (f"--flash={job.settings['flash']}",) if "flash" in job.settings else ()
        return ((program, "--reset", *which, *size, "--format", "ihex", "write", str(image)),)

    def debugging(self, settings: Mapping[str, str]) -> Mapping[str, object]:
        return {"servertype": "stutil"}  # st-util, of the same tools


RUNNER = StLink
