"""probe-rs: CMSIS-DAP, ST-LINK and J-Link probes.

Arguments: probe-rs-tools/src/bin/probe-rs/cmd/{download,reset}.rs and util/common_options.rs
(github.com/probe-rs/probe-rs, commit 67993c4); Zephyr's scripts/west_commands/runners/probe_rs.py.
What it says: the errors in common_options.rs, probe-rs/src/flashing/error.rs and src/session.rs of
that commit; it was not run here.
"""

from __future__ import annotations

from mcu_deploy.runners.interface import FlashJob, Key, Runner, Trouble


class ProbeRs(Runner):
    """`probe-rs download --chip CHIP --verify ELF`, then `probe-rs reset --chip CHIP`."""

    name = "probe-rs"
    title = "probe-rs"
    programs = ("probe-rs",)
    install = "`cargo install probe-rs-tools --locked`, or see https://probe.rs"
    keys = {"chip": Key("the chip's name, as `probe-rs chip list` has it", required=True)}
    probe = "as VID:PID:SERIAL"
    listing = "`probe-rs list`"
    unlock = "unlock it with `probe-rs erase --chip CHIP --allow-erase-all`"
    unknown = "`probe-rs chip list` lists the names; correct `chip` in [runners.probe-rs]"
    troubles = {
        Trouble.ACCESS: (r"Probe is already in use", r"[Pp]ermission denied", r"access denied"),
        Trouble.SEVERAL_PROBES: (r"\d+ probes were found", r"interactive probe index selection"),
        Trouble.NO_PROBE: (r"No connected probes were found", r"^(Error: )?Probe not found"),
        Trouble.UNKNOWN_CHIP: (r"The chip '.*' was not found in the database",),
        Trouble.LOCKED: (r"required permissions were not given", r"lacked the permission"),
        Trouble.NO_CHIP: (
            r"Connecting to the chip was unsuccessful",
            r"Target device did not respond",
        ),
        Trouble.VERIFY: (r"Flash content verification failed",),
    }

    def commands(self, job: FlashJob, program: str) -> tuple[tuple[str, ...], ...]:
        which = ("--probe", job.probe) if job.probe else ()
        chip = ("--non-interactive", "--chip", job.settings["chip"], *which)
        return (
            (program, "download", *chip, "--verify", str(job.elf)),
            (program, "reset", *chip),
        )


RUNNER = ProbeRs
