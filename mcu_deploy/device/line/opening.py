"""A line that is opened, and the device at its other end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcu_deploy.device.line.client import Device
from mcu_deploy.device.line.link import Link
from mcu_deploy.device.line.models import ExpectedModel, refuse_other_models
from mcu_deploy.device.line.transport import DEFAULT_BAUD, Line, Transport
from mcu_deploy.errors import RequestError


def connect(
    url: str | Line,
    *,
    baud: int | None = None,
    expect: Sequence[ExpectedModel] = (),
    latency: float | None = None,
    retries: int | None = None,
    run_timeout: float | None = None,
    emulator: str = "",
    log: Callable[[str], None] = lambda text: None,
) -> Device:
    """Opens a device and greets it.

    url: a device node, a URL of pyserial (`socket://host:port`), or a line that is open already;
    baud: None: 115200. expect: the models that were just built; another firmware is refused.
    latency: seconds that line, operating system and emulator may hold an answer back (None: 3);
    retries: attempts of a request whose frames get damaged, a tenth of it where nothing comes at
    all (None: 100); run_timeout: seconds without a sign of life after which a run is stopped
    (None: 60); emulator: what runs the firmware, where no board does; log: gets the device's log.

    DeviceError: cannot open, no answer (with a diagnosis), or another firmware.
    """
    wait = 3.0 if latency is None else latency
    tries = 100 if retries is None else retries
    limit = 60.0 if run_timeout is None else run_timeout
    if not (0 < wait <= 600 and tries >= 1 and limit > 0):
        raise RequestError(
            f"A latency of {wait:g} s, {tries} retries and a run's time-out of {limit:g} s make no "
            "sense: give 0.001 ... 600 seconds, one attempt at least, and more than 0 seconds."
        )
    line = Transport(url, baud or DEFAULT_BAUD, emulator) if isinstance(url, str) else url
    try:
        link = Link(line, latency=wait, retries=tries, run_timeout=limit, log=log)
        device = Device(link)
        refuse_other_models(device.hello.board, device.models, expect)
    except BaseException:
        line.close()
        raise
    return device
