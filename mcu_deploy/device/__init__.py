"""Devices that run the test firmware: real boards, emulated ones, and the serial protocol.

from mcu_deploy.device import connect
with connect("/dev/ttyACM0") as device:
    print(device.hello.board, [model.name for model in device.models])
"""

from __future__ import annotations

from mcu_deploy.device.line.client import Device
from mcu_deploy.device.line.fault import (
    DeviceFault,
    EndlessRun,
    FaultCause,
    FaultReport,
    describe_fault,
)
from mcu_deploy.device.line.messages import LayerCrc, ProtocolError
from mcu_deploy.device.line.models import ExpectedModel
from mcu_deploy.device.line.opening import connect
