"""Sizes that runs decide over the wire, on the hand-written network "sized"."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from device.protocol_lab import noisy_line

from mcu_deploy.device import Device, ProtocolError, connect
from mcu_deploy.device.line.codes import Capability, Code, TensorKind, Type
from mcu_deploy.device.line.messages import RunSize, pack_read, pack_resize, pack_tensor, pack_write
from mcu_deploy.errors import DeviceError, UsageError

pytestmark = pytest.mark.needs_host_gcc

LEAST, MOST = 2, 9


def _given(size: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    return np.arange(2 * size, dtype=np.uint8).reshape(2, size) * np.uint8(7)


def _check(device: Device, size: int) -> None:
    x = _given(size)
    out, half = device.infer("sized", [x])
    np.testing.assert_array_equal(out, x + np.uint8(1))
    np.testing.assert_array_equal(half, x[0, ::2])


def test_every_size_runs_as_its_input_has_it(device: Device) -> None:
    assert device.model("sized").size == RunSize(LEAST, MOST, 0, 1)
    assert device.model("mini").size is None
    for size in (MOST, *range(LEAST, MOST + 1), LEAST):
        _check(device, size)
        info = device.model("sized")
        shapes = [t.shape for t in (*info.inputs, *info.outputs)]
        assert shapes == [(2, size), (2, size), ((size + 1) // 2,)]
    assert device.resent == 0


def test_a_size_is_set_for_tensors_as_for_runs(device: Device) -> None:
    """What a WRITE may reach, what a READ gives, and what is between the two."""
    assert device.resize("sized", 3).inputs[0].bytes == 6
    x = pack_tensor(5, TensorKind.INPUT, 0)
    with pytest.raises(ProtocolError, match="OUT_OF_RANGE, 6"):
        device._link.request(Type.WRITE, pack_write(x, 5, b"ab"))
    with pytest.raises(ProtocolError, match="OUT_OF_RANGE, 6"):
        device._link.request(Type.READ, pack_read(x, 0, 7))
    with pytest.raises(UsageError, match="has 6 bytes, 18 were given"):
        device.write_input("sized", 0, bytes(18))
    device.write_input("sized", 0, _given(3).tobytes())
    device.resize("sized", 4)
    with pytest.raises(UsageError, match="Write input 'in' of model sized before"):
        device.run("sized")


def test_a_size_that_is_refused_leaves_the_one_before(device: Device) -> None:
    device.resize("sized", 3)
    for size in (0, 1, 10, 1 << 31):
        with pytest.raises(ProtocolError) as error:
            device._link.request(Type.RESIZE, pack_resize(5, size))
        assert (error.value.code, error.value.detail) == (Code.BAD_SIZE, MOST)
    _check(device, 3)


def test_layers_are_those_of_the_largest_place(device: Device) -> None:
    """The first bytes of a layer's output are what it is at the size that is set."""
    x = _given(4)
    raw = device.read_layer_output("sized", [x], 0)
    assert raw[:8] == (x + np.uint8(1)).tobytes() and len(raw) == 2 * MOST
    assert [(c.layer, c.bytes) for c in device.watch("sized", [x])[0]] == [(0, 18), (0, 5)]
    device.read_layer_output("sized", [x], 0)
    device.resize("sized", 5)
    with pytest.raises(ProtocolError, match="NOT_THERE"):
        device.tensor_crc("sized", TensorKind.LAYER, 0)


def test_what_has_no_such_size_is_said(device: Device) -> None:
    with pytest.raises(UsageError, match="runs for sizes from 2 to 9, not for 10"):
        device.infer("sized", [_given(10)])
    with pytest.raises(UsageError, match="runs for sizes from 2 to 9, not for 1"):
        device.resize("sized", 1)
    with pytest.raises(UsageError, match="Model mini has one size alone"):
        device.resize("mini", 4)
    with pytest.raises(UsageError, match=r"uint8 of shape \(2, 9\); uint8 of shape \(3, 9\)"):
        device.infer("sized", [np.zeros((3, 9), np.uint8)])
    with pytest.raises(UsageError, match=r"uint8 of shape \(2, 9\); uint8 of shape \(4,\)"):
        device.infer("sized", [np.zeros(4, np.uint8)])


def test_who_greets_the_device_finds_the_largest_size(device: Device) -> None:
    """As a host that knows of no sizes expects."""
    device.resize("sized", 2)
    device._greet()
    assert device.model("sized").inputs[0].shape == (2, MOST)
    _check(device, MOST)
    device.resize("sized", 2)
    device.reset()
    assert device.model("sized").inputs[0].shape == (2, MOST)


def test_an_older_firmware_is_told_of(device: Device) -> None:
    """One that has no RESIZE, and whose DESCRIBE ends with the name."""
    can = device.hello.capabilities & ~Capability.RESIZE
    device.hello = dataclasses.replace(device.hello, capabilities=can)
    device.models = tuple(dataclasses.replace(m, size=None) for m in device.models)
    with pytest.raises(DeviceError, match=r"host knows no request that sets a size .* \[2, 9\]"):
        device.infer("sized", [_given(3)])
    out, _ = device.infer("sized", [_given(MOST)])
    np.testing.assert_array_equal(out, _given(MOST) + np.uint8(1))


def test_sizes_over_a_noisy_line(url: str) -> None:
    with noisy_line(url, 5, 0.01) as noisy, connect(noisy) as device:
        for size in (3, 9, 2, 7):
            _check(device, size)
        assert device.resent > 0
