"""GDB with a server: QEMU's, Renode's, a Black Magic Probe's, OpenOCD's, J-Link's.

Arguments: GDB's manual, "Invocation", "Connecting" (target extended-remote), "Memory" (load,
compare-sections). Tried with gdb-multiarch 13.1 on the servers of QEMU 7.2 and Renode 1.16.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.errors import RequestError
from mcu_deploy.runners.interface import FlashJob, Key, Runner, Trouble


class Gdb(Runner):
    """`gdb-multiarch -batch -ex "target extended-remote SERVER" -ex load -ex compare-sections`.

    Where the board's table has no `after`, the program is started as a reset would: the stack
    pointer and the program counter come from its vector table.
    """

    name = "gdb"
    title = "GDB"
    programs = ("gdb-multiarch", "arm-none-eabi-gdb")
    install = "`apt-get install gdb-multiarch`"
    keys = {
        "server": Key("the server's address (localhost:3333) or its serial device"),
        "before": Key("GDB commands before loading, separated by ';', such as monitor reset halt"),
        "after": Key("GDB commands that start the program, such as monitor reset run"),
    }
    probe = "as its server's address (localhost:3333) or serial device"
    unknown = "build for the board that is behind the server"
    words = {
        Trouble.NO_PROBE: (
            "reached no server",
            "start it (QEMU -gdb tcp::3333, Renode machine StartGdbServer 3333, a probe `openocd "
            "-f CONFIG`), and say with --probe where it listens",
        ),
    }
    fails_silently = True
    troubles = {
        Trouble.NO_PROBE: (
            r"Connection refused",
            r"could not connect",
            r"Connection timed out",
            r"No such file or directory\.$",
            r"Remote communication error",
            r"Connection closed",
            r"Ignoring packet error",
        ),
        Trouble.UNKNOWN_CHIP: (r"[Rr]emote 'g' packet reply is too long", r"warning: .*mismatch"),
        Trouble.LOCKED: (r"Error erasing flash", r"[Ww]rite protected"),
        Trouble.NO_CHIP: (r"[Tt]arget .*does not support", r"The program is not being run"),
        Trouble.VERIFY: (r"MIS-MATCHED!", r"Load failed", r"Cannot access memory at address"),
    }

    def commands(self, job: FlashJob, program: str) -> tuple[tuple[str, ...], ...]:
        server = job.probe or job.settings.get("server")
        if server is None:
            raise RequestError(
                "GDB has to know its server; say with --probe where it listens (localhost:3333) or "
                "which serial device it is, or give [runners.gdb] a server."
            )
        start = (
            f"set $sp = *(unsigned int *) {job.vectors:#x}; "
            f"set $pc = *(unsigned int *) {job.vectors + 4:#x} & ~1; set $xpsr = 0x01000000; detach"
        )
        said = (
            f"target extended-remote {server}",
            *_several(job.settings.get("before", "")),
            "load",
            "compare-sections",
            *_several(job.settings.get("after", start)),
        )
        return ((program, "-nx", "-batch", *(w for c in said for w in ("-ex", c)), str(job.elf)),)

    def debugging(self, settings: Mapping[str, str]) -> Mapping[str, object] | None:
        server = settings.get("server")
        return {"servertype": "external", "gdbTarget": server} if server else None


def _several(commands: str) -> list[str]:
    return [command.strip() for command in commands.split(";") if command.strip()]


RUNNER = Gdb
