"""`monitor`: what a board says, line by line, until somebody has seen enough."""

from __future__ import annotations

from collections.abc import Iterator

from mcu_deploy.api.folder import BuildFolder
from mcu_deploy.api.running import explain_fault
from mcu_deploy.device import DeviceFault
from mcu_deploy.device.line.fault import FaultReport
from mcu_deploy.device.line.monitor import Monitor
from mcu_deploy.device.line.transport import Transport

_IDLE_SECONDS = 0.3


def monitor(
    line: Transport, folder: BuildFolder | None = None, *, asks: bool = True
) -> Iterator[str]:
    """Each line of text that comes, without an end.

    folder: the build that the board should run: names in a fault report come from it, and another
    firmware is said to be one. asks: whether to greet the device; else nothing is sent. LineClosed
    where the other end goes away.
    """

    def fault(report: FaultReport) -> str:
        found = DeviceFault(report)
        return str(found) if folder is None else explain_fault(folder, found)

    expect = () if folder is None else folder.expected()
    words = Monitor(fault, asks=asks, expect=expect)
    while True:
        if asked := words.to_send():
            line.write(asked)
        data = line.read(_IDLE_SECONDS)
        yield from words.feed(data) if data else words.flush()
