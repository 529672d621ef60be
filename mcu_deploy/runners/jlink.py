"""J-Link Commander of SEGGER: J-Link probes, and those on boards of Nordic, Renesas and others.

Arguments and script: Zephyr's scripts/west_commands/runners/jlink.py (commit 0071cd3), which also
says that old versions end with exit code 0 whatever happens. What it says: Zephyr's pull request
38595 and questions at devzone.nordicsemi.com; it was not run here.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.runners.images import intel_hex
from mcu_deploy.runners.interface import FlashJob, Key, Runner, Trouble


class JLink(Runner):
    """`JLinkExe -if swd -speed auto -device DEVICE -CommanderScript flash.jlink`, with a script
    that loads Intel HEX, which every version reads; `loadfile` verifies by itself."""

    name = "jlink"
    title = "J-Link Commander"
    programs = ("JLinkExe",)
    install = "the J-Link Software Pack of https://www.segger.com/downloads/jlink"
    keys = {
        "device": Key("the chip's name, as J-Link knows it", required=True),
        "interface": Key("swd or jtag; swd by default"),
        "speed": Key("in kHz, or auto, which is the default"),
    }
    probe = "by its serial number"
    listing = "`JLinkExe` and its command ShowEmuList"
    unlock = "unlock it: `JLinkExe -device DEVICE -if swd -autoconnect 1`, then `unlock` or `erase`"
    unknown = "https://www.segger.com/supported-devices lists the names; correct `device`"
    version = ()
    fails_silently = True
    troubles = {
        Trouble.SEVERAL_PROBES: (r"[Mm]ultiple (J-Links|probes|emulators)",),
        Trouble.NO_PROBE: (
            r"Connecting to J-Link via USB\.\.\.\s*FAILED",
            r"Cannot connect to (the )?(J-Link|probe)",
        ),
        Trouble.UNKNOWN_CHIP: (r"[Uu]nknown device",),
        Trouble.LOCKED: (r"(is|read|be) (secured|unsecured|protected)", r"read protect"),
        Trouble.NO_CHIP: (
            r"(Cannot|[Ff]ailed to|Could not) connect to (the )?target",
            r"Target connection not established",
        ),
        Trouble.VERIFY: (
            r"[Vv]erif\w* (failed|error)",
            r"Writing failed",
            r"Error while programming flash",
        ),
    }

    def commands(self, job: FlashJob, program: str) -> tuple[tuple[str, ...], ...]:
        image, script = job.folder / "firmware.hex", job.folder / "flash.jlink"
        image.write_text(intel_hex(job.elf))
        script.write_text(f'ExitOnError 1\nr\nloadfile "{image}"\nr\ng\nq\n')
        which = ("-USB", job.probe) if job.probe else ()
        return (
            (
                program, *which, "-nogui", "1",
                "-if", job.settings.get("interface", "swd"),
                "-speed", job.settings.get("speed", "auto"),
                "-device", job.settings["device"],
                "-CommanderScript", str(script),
            ),
        )  # fmt: skip

    def debugging(self, settings: Mapping[str, str]) -> Mapping[str, object]:
        interface = settings.get("interface", "swd")
        return {"servertype": "jlink", "device": settings["device"], "interface": interface}


RUNNER = JLink
