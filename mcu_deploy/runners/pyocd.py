"""pyOCD: CMSIS-DAP, ST-LINK and J-Link probes.

Arguments: `pyocd flash --help` of 0.46.0; Zephyr's scripts/west_commands/runners/pyocd.py. What it
says: recorded from 0.46.0 without a probe; pyocd/core/helpers.py, pyocd/board/board.py,
pyocd/target/family/target_nRF52.py (github.com/pyocd/pyOCD, commit d1974ff).
"""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.runners.interface import FlashJob, Key, Runner, Trouble


class PyOcd(Runner):
    """`pyocd flash --no-wait --target TARGET ELF`; it resets the chip at the end, and compares
    nothing: that the firmware is whole is what its hello and its self test say."""

    name = "pyocd"
    title = "pyOCD"
    programs = ("pyocd",)
    install = "`pip install pyocd`"
    keys = {"target": Key("the target's name, as `pyocd list --targets` has it", required=True)}
    probe = "by its unique id, or a part of it"
    listing = "`pyocd list`"
    unlock = "unlock it with `pyocd erase --chip -t TARGET -O auto_unlock=true`"
    unknown = (
        "`pyocd list --targets` lists what it knows, `pyocd pack find NAME` and `pyocd pack "
        "install NAME` add chips"
    )
    troubles = {
        Trouble.ACCESS: (r"[Aa]ccess denied", r"[Pp]ermission denied", r"\[Errno 13\]"),
        Trouble.SEVERAL_PROBES: (
            r"Enter the number of the debug probe",
            r"More than one debug probe matches",
        ),
        Trouble.NO_PROBE: (r"No connected debug probe", r"No available debug probes"),
        Trouble.UNKNOWN_CHIP: (r"Target type \S+ not recognized",),
        Trouble.LOCKED: (r"APPROTECT enabled", r"secure state: not automatically unlocking"),
        Trouble.NO_CHIP: (r"No ACK", r"No cores were discovered", r"Memory transfer fault"),
        Trouble.VERIFY: (r"flash program page failure", r"FlashProgramFailure", r"[Vv]erify fail"),
    }

    def commands(self, job: FlashJob, program: str) -> tuple[tuple[str, ...], ...]:
        which = ("--uid", job.probe) if job.probe else ()
        target = job.settings["target"]
        return ((program, "flash", "--no-wait", "--target", target, *which, str(job.elf)),)

    def debugging(self, settings: Mapping[str, str]) -> Mapping[str, object]:
        return {"servertype": "pyocd", "targetId": settings["target"]}


RUNNER = PyOcd
