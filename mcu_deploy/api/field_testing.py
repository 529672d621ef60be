"""`field-test`: flash, greet, validate and profile a board, and all of it as one value to send."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from mcu_deploy.agreement.metrics import Metrics
from mcu_deploy.api import flashing, profiling
from mcu_deploy.api.folder import BuildFolder
from mcu_deploy.api.running import Connection, open_device, port_of
from mcu_deploy.api.validating import Validation, validate
from mcu_deploy.device.line.messages import Hello
from mcu_deploy.errors import DeviceError, McuDeployError
from mcu_deploy.options.means import Flasher
from mcu_deploy.output.json_text import picked
from mcu_deploy.report.profile import Profile
from mcu_deploy.resources import page
from mcu_deploy.version import VERSION


@dataclass(frozen=True)
class NetworkTest:
    """What came of one network. milliseconds: of one inference, by the board's counter and the
    clock that the device says it has; None where nothing counts."""

    name: str
    source_sha256: str
    object_sha256: str
    validation: Validation | None = None
    profile: Profile | None = None
    milliseconds: float | None = None


@dataclass
class FieldTest:
    """What a field test did and found; `failures` holds a sentence for each thing that went wrong,
    and the test has passed where there is none."""

    board: str
    title: str
    core: str
    tools: dict[str, str]
    flash: flashing.Flashing | None = None
    port: str = ""
    hello: Hello | None = None
    self_test: int | None = None
    resent: int = 0
    networks: list[NetworkTest] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.failures


def field_test(
    folder: BuildFolder,
    connection: Connection,
    flasher: Flasher,
    *,
    flash: bool = True,
) -> FieldTest:
    """Flashes the board (unless it is), greets it, validates and profiles each network.

    Raises nothing that a board, a probe or a cable can cause: that is in `failures`, and what
    cannot be tried without it is left out.
    """
    board = folder.board
    date = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    machine = {"date": date, "host": platform.platform(), "Python": platform.python_version()}
    tools = {"mcu-deploy": VERSION, **machine, **folder.report.tools}
    found = FieldTest(board.name, board.title, board.core, tools)
    try:
        if flash:
            found.flash = flashing.flash(folder, flasher)
        found.port = port_of(board, connection.port or "auto")
        reached = replace(connection, port=found.port)
        _greet(found, folder, reached)
    except McuDeployError as error:
        found.failures.append(str(error))
        return found
    for expected in folder.expected():
        test = NetworkTest(expected.name, expected.source_sha256, expected.object_sha256)
        found.networks.append(_test(found, test, folder, reached))
    return found


def _greet(found: FieldTest, folder: BuildFolder, reached: Connection) -> None:
    with open_device(folder, reached) as device:
        found.hello = device.hello
        found.self_test = device.self_test()
        found.resent = device.resent
    if found.self_test:
        raise DeviceError(
            f"The device's self test failed (bits {found.self_test:#x}; {page('protocol')}, "
            "SELF_TEST): its memory is not what the board file says, or damaged."
        )


def _test(
    found: FieldTest, test: NetworkTest, folder: BuildFolder, reached: Connection
) -> NetworkTest:
    try:
        result = validate(folder, model=test.name, connection=reached)
        test = replace(test, validation=result)
        found.failures += [f"{test.name}: {problem}" for problem in result.problems]
    except McuDeployError as error:
        found.failures.append(f"{test.name} could not be validated: {error}")
    try:
        network = folder.compile_again(test.name)
        measured = profiling.on_board(folder, network, reached)
        return replace(test, profile=measured, milliseconds=_milliseconds(found.hello, measured))
    except McuDeployError as error:
        found.failures.append(f"{test.name} could not be profiled: {error}")
    return test


def _milliseconds(hello: Hello | None, measured: Profile) -> float | None:
    """Of one inference: the counter counts nanoseconds, or clocks of the core."""
    if measured.unit == "nanoseconds":
        return measured.total / 1e6
    if hello is None or not hello.clock_hz:
        return None
    return measured.total * 1e3 / hello.clock_hz


def as_json(found: FieldTest) -> dict[str, object]:
    """The whole value for machines."""
    return {
        **picked(found, "passed", "failures", "board", "title", "core", "tools", "port"),
        "flash": None if found.flash is None else found.flash.as_json(),
        "hello": None if found.hello is None else {
            **picked(found.hello, "board", "clock_hz"),
            "counter": found.hello.counter_kind.name.lower(),
            "protocol_version": found.hello.protocol_version,
            "resent": found.resent,
        },
        "networks": [_network_as_json(test) for test in found.networks],
    }  # fmt: skip


def _network_as_json(test: NetworkTest) -> dict[str, object]:
    result, measured = test.validation, test.profile
    return {
        **picked(test, "name", "source_sha256", "object_sha256"),
        "validation": None if result is None else {
            **picked(result, "verdict", "samples", "reference"),
            "stack_used_bytes": result.stack_used,
            "oracle": {name: m.as_json() for name, m in outputs(result)},
        },
        "profile": None if measured is None else {
            **picked(measured, "unit", "total"),
            "milliseconds": test.milliseconds,
            "macs": measured.macs,
            "layers": [
                {"layer": x.short, "op": x.op, "macs": x.macs, measured.unit: x.cost}
                for x in measured.layers
            ],
        },
    }  # fmt: skip


def outputs(result: Validation) -> list[tuple[str, Metrics]]:
    """Each output beside the oracle's."""
    return list(zip(result.outputs, result.oracle, strict=True))
