"""Faults of a process under sanitizers, and runs that do not end: what reaches the client."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from device.protocol_lab import X, Y, mini_layers

from mcu_deploy.device import (
    Device,
    DeviceFault,
    EndlessRun,
    FaultCause,
    ProtocolError,
    connect,
    describe_fault,
)
from mcu_deploy.device.line import wire as wire_module
from mcu_deploy.device.line.codes import Provoke

pytestmark = pytest.mark.needs_host_gcc


FAULTS = {
    Provoke.UNDEFINED_INSTRUCTION: FaultCause.UNDEFINED_INSTRUCTION,
    Provoke.BAD_READ: FaultCause.BAD_READ,
    Provoke.BAD_WRITE: FaultCause.BAD_WRITE,
    Provoke.BAD_JUMP: FaultCause.BAD_JUMP,
    Provoke.STACK_OVERFLOW: FaultCause.STACK_OVERFLOW,
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_reaches_the_host_and_the_device_restarts(
    device: Device, elf: Path, what: Provoke
) -> None:
    with pytest.raises(DeviceFault) as fault:
        device.provoke(what)
    report = fault.value.report
    assert report.cause == FAULTS[what]
    assert report.layer is None
    text = describe_fault(report, elf)
    assert "LR" not in text and "CFSR" not in text  # a process has none
    if what in (Provoke.UNDEFINED_INSTRUCTION, Provoke.BAD_READ, Provoke.BAD_WRITE):
        assert " provoke+0x" in text
    device.await_restart()
    assert device.infer("tiny", [np.array([1], np.uint8)]) == [2]


def test_a_fault_in_a_layer_names_the_layer(device: Device) -> None:
    device.provoke(Provoke.BAD_READ, model=0, layer=1)
    with pytest.raises(DeviceFault, match="in layer 1 of model 0") as fault:
        device.infer("mini", [X, Y])
    assert (fault.value.report.model, fault.value.report.layer) == (0, 1)
    device.await_restart()
    z, _ = device.infer("mini", [X, Y])
    assert z.tobytes() == mini_layers(X)[2][0]


def test_a_run_that_does_not_end_is_stopped_and_its_layer_named(url: str) -> None:
    with connect(url, latency=0.5, run_timeout=0.5) as device:
        device.provoke(Provoke.ENDLESS, model=0, layer=1)
        with pytest.raises(EndlessRun, match=r"No layer ended for 0\.5 s") as fault:
            device.infer("mini", [X, Y])
        assert fault.value.report.cause == FaultCause.STOPPED
        assert (fault.value.report.model, fault.value.report.layer) == (0, 1)
        device.await_restart()
        z, _ = device.infer("mini", [X, Y])
        assert z.tobytes() == mini_layers(X)[2][0]
        with pytest.raises(ProtocolError):
            device.provoke(Provoke.ENDLESS)  # outside of a layer nothing would stop it


def test_who_interrupts_a_run_ends_it_on_the_device(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with connect(url, latency=0.5, run_timeout=0.5) as device:
        device.provoke(Provoke.ENDLESS, model=0, layer=1)
        device.write_inputs("mini", [X, Y])
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(device._link.wire, "next_frame", interrupted)
            device.run("mini")
        with pytest.raises(DeviceFault, match="in layer 1 of model 0") as fault:
            device.echo(b"is it there?")
        assert fault.value.report.cause == FaultCause.STOPPED


def test_a_fault_on_the_way_to_the_stop_is_told_as_it_is(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(url, latency=0.5, run_timeout=0.5) as device:
        with pytest.raises(DeviceFault) as real:
            device.provoke(Provoke.BAD_READ)
        device.await_restart()

        def stop(wire: wire_module.Wire) -> None:
            """The device has just come to a fault of its own."""

            def fault(*_: object) -> None:
                raise real.value

            monkeypatch.setattr(wire, "next_frame", fault)

        device.provoke(Provoke.ENDLESS, model=0, layer=1)
        monkeypatch.setattr(wire_module.Wire, "stop", stop)
        with pytest.raises(DeviceFault) as told:
            device.infer("mini", [X, Y])
        assert told.value is real.value


def test_a_run_that_was_asked_often_can_still_be_stopped(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More has come than the firmware keeps while it runs: the rest is dropped, and read."""
    monkeypatch.setattr(wire_module, "_STOP", b"\x01" * 5000 + wire_module._STOP)
    with connect(url, latency=0.5, run_timeout=0.5) as device:
        device.provoke(Provoke.ENDLESS, model=0, layer=1)
        with pytest.raises(EndlessRun, match="in layer 1 of model 0"):
            device.infer("mini", [X, Y])
