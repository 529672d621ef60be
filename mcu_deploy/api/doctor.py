"""`doctor`: what of this machine can build, emulate, flash and talk, and what keeps it from it."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from mcu_deploy.api.running import port_of
from mcu_deploy.boards import Board, load_board
from mcu_deploy.device import ExpectedModel, connect
from mcu_deploy.device.emulators import launchers, launchers_for
from mcu_deploy.device.emulators.interface import Launcher
from mcu_deploy.device.line.ports import ports
from mcu_deploy.device.line.transport import DEFAULT_BAUD
from mcu_deploy.device.line.wire import Echo, NoAnswer
from mcu_deploy.errors import DeviceError, McuDeployError, ToolError
from mcu_deploy.formats import skipped
from mcu_deploy.processes.versions import is_older
from mcu_deploy.resources import page
from mcu_deploy.runners.choosing import choose
from mcu_deploy.runners.interface import Runner, runners
from mcu_deploy.runners.running import version
from mcu_deploy.session import Session
from mcu_deploy.toolchain import Toolchain, gcc_number
from mcu_deploy.toolchain.compiler import TRIED
from mcu_deploy.version import VERSION

BAUDS = (115200, 9600, 19200, 38400, 57600, 230400, 460800, 921600, 1_000_000)
# A compiler is looked for by the flags of a board whose libraries come with every newlib.
_TYPICAL = "mps2-an386"
_LIBRARIES = ("libc_nano.a", "libm.a", "nano.specs")
_USB = Path("/sys/bus/usb/devices")
# In the name that a probe gives itself.
_PROBE = re.compile("CMSIS-DAP|ST-?LINK|J-Link|DAPLink|EDBG|Debug Probe|Black Magic", re.IGNORECASE)
_LINE_SECONDS, _LINE_TRIES = 0.5, 4  # a little more than a second of silence


@dataclass(frozen=True)
class Diagnosis:
    """One thing that was looked at. state: "good"; "absent", which only some uses need; "wrong",
    which has to be mended. said: what was found; remedy: what to do, "" where it is good."""

    subject: str
    state: Literal["good", "absent", "wrong"]
    said: str
    remedy: str = ""


def doctor(
    board: Board | None = None,
    port: str | None = None,
    baud: int | None = None,
    expect: Sequence[ExpectedModel] = (),
) -> Iterator[Diagnosis]:
    """Looks at compilers, emulators, runners, probes and ports, one finding after the other.

    board: what it needs is told from what it does not. port: is listened at, "auto" for the board's
    own; it must belong to nobody else. expect: the models that its firmware should hold.
    """
    yield Diagnosis("mcu-deploy", "good", f"{VERSION}, Python {platform.python_version()}")
    yield from _own_parts()
    yield from _compilers(board)
    emulators = list(_emulators(board))
    yield from emulators
    is_emulated = any(finding.state == "good" for finding in emulators)
    yield from _runners(board, is_needed=not is_emulated)
    yield from probes()
    yield from _ports(board)
    if port is not None:
        yield line(port, baud, board, expect)


def _own_parts() -> Iterator[Diagnosis]:
    """The backends and model formats, which anybody may add to, and those that cannot be used."""
    lines: list[str] = []
    with Session(report=lines.append) as session:
        yield Diagnosis("backends", "good", ", ".join(session.registry.ids) or "none")
    lines += [f"The model format {name} was skipped: {why}." for name, why in skipped().items()]
    for said in lines:
        yield Diagnosis("add-on", "wrong", said, "mend it, or take it away")


def _compilers(board: Board | None) -> Iterator[Diagnosis]:
    for each in [board] if board else [load_board(_TYPICAL), load_board("host")]:
        subject = "compiler of this machine" if each.is_host else "compiler for Cortex-M"
        needed = board is not None or not each.is_host
        try:
            toolchain = Toolchain.for_board(each)
        except ToolError as error:
            yield Diagnosis(subject, "wrong" if needed else "absent", str(error))
            continue
        lacking = [] if each.is_host else [n for n in _LIBRARIES if toolchain.file(n) is None]
        if lacking:
            yield Diagnosis(
                subject, "wrong",
                f"{toolchain.version}, but {', '.join(lacking)} of its libraries is missing",
                "sudo apt install libnewlib-arm-none-eabi",
            )  # fmt: skip
            continue
        said = f"{toolchain.version} ({toolchain.gcc})"
        try:
            toolchain.try_out()
        except ToolError as error:
            yield Diagnosis(subject, "wrong" if needed else "absent", f"{said}: {error}")
            continue
        yield _dated(subject, said, gcc_number(toolchain.version), TRIED)


def _dated(subject: str, said: str, version: str, tried: Sequence[str]) -> Diagnosis:
    """A program that runs: good unless it is older than the oldest that was tried."""
    oldest = tried[0]
    if is_older(version, oldest):
        return Diagnosis(
            subject, "wrong", f"{said} is older than {oldest}, the oldest that was tried",
            f"install one of those that were: {', '.join(tried)}, or a newer one",
        )  # fmt: skip
    return Diagnosis(subject, "good", f"{said}; tried: {', '.join(tried)}")


def _emulators(board: Board | None) -> Iterator[Diagnosis]:
    able = launchers_for(board) if board else launchers()
    found = [_emulator(launcher) for launcher in able if launcher.name != "host"]
    yield from _needed(found) if board else found
    if not able and board:
        yield Diagnosis("emulators", "absent", f"none has a machine like {board.name}")


def _needed(found: Sequence[Diagnosis]) -> Iterator[Diagnosis]:
    """The findings about tools of which a board needs one: where none is there, that is wrong."""
    is_there = any(finding.state != "absent" for finding in found)
    for finding in found:
        yield finding if is_there else replace(finding, state="wrong")


def _emulator(launcher: Launcher) -> Diagnosis:
    try:
        program = launcher.find()
    except ToolError as error:
        return Diagnosis(launcher.title, "absent", str(error))
    try:
        version = launcher.version(program)
    except ToolError as error:
        return Diagnosis(launcher.title, "wrong", str(error), "install it anew")
    said = f"{version} ({program.path}, {program.found})"
    return _dated(launcher.title, said, version, launcher.tried)


def _runners(board: Board | None, *, is_needed: bool) -> Iterator[Diagnosis]:
    named = list(board.runners) if board else list(runners())
    if board and not board.is_host and not named:
        yield Diagnosis("runners", "absent", f"{board.name} names none ({page('flashing')})")
    found = [_runner(runners()[name]) for name in named]
    yield from _needed(found) if board and is_needed else found
    if board and any(finding.state == "good" for finding in found):
        chosen = choose(board.name, board.runners)
        yield Diagnosis(f"mcu-deploy flash, {board.name}", "good", f"takes {chosen.reason}")


def _runner(runner: Runner) -> Diagnosis:
    subject = f"runner {runner.name}"
    try:
        chosen = choose("any board", {runner.name: {}}, runner.name)
    except ToolError:
        return Diagnosis(subject, "absent", f"{runner.title} is not installed", runner.install)
    try:
        return Diagnosis(subject, "good", f"{chosen.program} {version(chosen)}".strip())
    except ToolError as error:
        return Diagnosis(subject, "wrong", str(error), runner.install)


def probes(devices: Path = _USB, nodes: Path = Path("/dev/bus/usb")) -> Iterator[Diagnosis]:
    """The debug probes on USB (Linux), and whether this user may open them.

    devices, nodes: as the kernel's Documentation/ABI/testing/sysfs-bus-usb and usbfs have them.
    """
    count = 0
    for folder in sorted(devices.glob("*")):
        name = _read(folder / "product")
        if not _PROBE.search(name):
            continue
        count += 1
        node = nodes / _read(folder / "busnum").zfill(3) / _read(folder / "devnum").zfill(3)
        said = f"{name}, {_read(folder / 'idVendor')}:{_read(folder / 'idProduct')}"
        if serial := _read(folder / "serial"):
            said += f", serial number {serial}"
        if os.access(node, os.R_OK | os.W_OK):
            yield Diagnosis("debug probe", "good", said)
        else:
            yield Diagnosis(
                "debug probe", "wrong", f"{said}: you may not open {node}",
                "copy the udev rules of your tool to /etc/udev/rules.d (OpenOCD's are "
                "60-openocd.rules), then `sudo udevadm control --reload`, and plug it in anew",
            )  # fmt: skip
    if not count:
        yield Diagnosis("debug probes", "absent", "none is on USB")


def _read(file: Path) -> str:
    try:
        return file.read_text(errors="replace").strip()
    except OSError:
        return ""


def _ports(board: Board | None) -> Iterator[Diagnosis]:
    known = ports()
    for port in known:
        own = f" (an id of {board.name})" if board and port.usb in board.usb else ""
        if os.access(port.device, os.R_OK | os.W_OK):
            yield Diagnosis("serial port", "good", f"{port}{own}")
        else:
            yield Diagnosis(
                "serial port", "wrong", f"{port}{own}: you may not open it",
                f"sudo usermod -aG {_group(Path(port.device))} $USER, then log in anew",
            )  # fmt: skip
    if not known:
        yield Diagnosis("serial ports", "absent", "there is none")


def _group(device: Path) -> str:
    try:
        return device.group()
    except (OSError, KeyError):
        return "dialout"


def line(
    port: str,
    baud: int | None,
    board: Board | None = None,
    expect: Sequence[ExpectedModel] = (),
) -> Diagnosis:
    """What is behind a port: the firmware, another one, another speed, another program, a fault,
    or nothing.

    Where nothing is understood at the speed that is expected, the usual ones are tried.
    """
    expected = baud or (board.serial.baud if board else DEFAULT_BAUD)
    subject = f"line {port}"
    try:
        device = port_of(board, port) if board else port
        return Diagnosis(subject, "good", _greet(device, expected, expect))
    except NoAnswer as error:
        first = error
    except McuDeployError as error:
        return Diagnosis(subject, "wrong", str(error))
    if isinstance(first, Echo):
        return Diagnosis(subject, "wrong", str(first))
    if "://" not in device:
        for other in BAUDS:
            if other == expected:
                continue
            try:
                said = _greet(device, other, expect)
            except NoAnswer:
                continue
            except DeviceError as error:
                said = str(error)
            return Diagnosis(
                subject, "wrong", f"it speaks {other} baud, not {expected}: {said}",
                f"give --baud {other}, or `baud` in the board's file",
            )  # fmt: skip
    return Diagnosis(subject, "wrong", str(first))


def _greet(device: str, baud: int, expect: Sequence[ExpectedModel]) -> str:
    with connect(
        device, baud=baud, expect=expect, latency=_LINE_SECONDS, retries=_LINE_TRIES
    ) as found:
        models = ", ".join(model.name for model in found.models) or "no network"
        return f"{found.hello.board} answers at {baud} baud, with {models}"
