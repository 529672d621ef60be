"""Both ends of the protocol: the firmware as a process under sanitizers, the client in front."""

from __future__ import annotations

import dataclasses
import time
import zlib

import numpy as np
import pytest
from device.protocol_lab import LONG_NAME, MODELS, X, Y, mini_layers, noisy_line

from mcu_deploy.device import Device, ExpectedModel, ProtocolError, connect
from mcu_deploy.device.line import link
from mcu_deploy.device.line import wire as wire_module
from mcu_deploy.device.line.codes import Capability, Code, Provoke, RunFlag, TensorKind, Type
from mcu_deploy.device.line.messages import pack_run, pack_tensor
from mcu_deploy.device.line.transfers import write_tensor
from mcu_deploy.errors import DeviceError, UsageError

pytestmark = pytest.mark.needs_host_gcc


def test_hello_and_description(device: Device) -> None:
    assert (device.hello.board, device.hello.core) == ("host", "host")
    assert device.hello.mtu == 1024 and Capability.TEST_COMMANDS in device.hello.capabilities
    mini = device.models[0]
    assert [model.name for model in device.models] == MODELS
    assert mini.source_sha256 == "010203" + "00" * 29
    assert mini.object_sha256 == "040506" + "00" * 29
    assert (mini.num_layers, mini.workspace_bytes, mini.stack_bytes) == (3, 9036, 512)
    x, y = mini.inputs
    assert (x.name, x.dtype, x.shape, x.scale, x.zero_point) == ("x", "i1", (1, 3000), 0.5, -3)
    assert (y.dtype, y.shape, y.scale, y.bytes) == (np.dtype("<f4"), (4,), 0.0, 16)
    assert mini.outputs[0].name == "z é"
    assert device.models[2].outputs[0].name == LONG_NAME[:63]


def test_infer_runs_the_network(device: Device) -> None:
    for _ in range(2):
        z, w = device.infer("mini", [X, Y])
        assert [z.tobytes(), w.tobytes()] == mini_layers(X)[2]
        assert z.shape == (1, 3000) and z.dtype == np.int8
    assert device.infer(1, [np.array([255], np.uint8)]) == [0]
    assert device.resent == 0


def test_models_do_not_disturb_each_other(device: Device) -> None:
    device.write_input("mini", 0, X.tobytes())
    device.write_input("tiny", 0, b"\x07")
    device.write_input("mini", 1, Y.tobytes())
    device.run("tiny")
    device.run("mini")
    assert device.read_output("tiny", 0) == b"\x08"
    assert device.read_output("mini", 0) == mini_layers(X)[2][0]


def test_layers(device: Device) -> None:
    expected = mini_layers(X)
    crcs = device.watch("mini", [X, Y])[0]
    assert [(c.layer, c.output) for c in crcs] == [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1)]
    for crc in crcs:
        tensor = expected[crc.layer][crc.output]
        assert (crc.crc, crc.bytes) == (zlib.crc32(tensor), len(tensor))
        assert device.read_layer_output("mini", [X, Y], crc.layer, crc.output) == tensor
        assert device.tensor_crc("mini", TensorKind.LAYER, crc.layer, crc.output) == crc.crc


def test_a_layer_is_readable_only_while_it_is_there(device: Device) -> None:
    device.read_layer_output("mini", [X, Y], 1)
    device.write_input("tiny", 0, b"\x01")
    with pytest.raises(ProtocolError, match="NOT_THERE") as error:
        device.tensor_crc("mini", TensorKind.LAYER, 1)
    assert error.value.code == Code.NOT_THERE
    device.read_layer_output("tiny", [np.array([1], np.uint8)], 0)
    device._link.request(Type.RUN, pack_run(MODELS.index("tiny"), RunFlag(0), 1, 0, []))
    with pytest.raises(ProtocolError, match="NOT_THERE"):
        device.tensor_crc("tiny", TensorKind.LAYER, 0)


def test_repetitions_say_whether_the_outputs_are_of_use(device: Device) -> None:
    device.write_input("tiny", 0, b"\x29")
    result = device.run("tiny", repeat=5)
    assert (result.repetitions, result.layers) == (5, 1) and result.outputs_valid
    assert 0 < result.counter_least <= result.counter_most
    assert 5 * result.counter_least <= result.counter_total <= 5 * result.counter_most
    assert 0 < result.stack_used < result.stack_size
    device.write_input("mini", 0, X.tobytes())
    device.write_input("mini", 1, Y.tobytes())
    assert not device.run("mini", repeat=2).outputs_valid  # layer 1 overwrites x
    with pytest.raises(UsageError, match="Write input 'x' of model mini before"):
        device.run("mini")


def test_inputs_are_compared_one_by_one_where_a_request_has_no_room(device: Device) -> None:
    device.hello = dataclasses.replace(device.hello, mtu=17)  # mini's run asks with 18 bytes
    z, w = device.infer("mini", [X, Y])
    assert [z.tobytes(), w.tobytes()] == mini_layers(X)[2]
    device.write_inputs("mini", [X, Y])
    write_tensor(device._link, pack_tensor(0, TensorKind.INPUT, 1), bytes(16))
    with pytest.raises(DeviceError, match="Input 'y' of model mini in memory is not the one"):
        device.run("mini")


def test_profile(device: Device) -> None:
    profile = device.profile("mini", [X, Y], repeat=3)
    assert len(profile.layers) == 3 and all(cost > 0 for cost in profile.layers)
    assert sum(profile.layers) <= profile.run.counter_most


def test_echo_of_every_size(device: Device) -> None:
    data = bytes(range(256)) * 4
    for size in (*range(0, 1025, 61), 253, 254, 255, 256, 508, 1023, 1024):
        assert device.echo(data[:size]) == data[:size]
        assert device.echo(bytes(size)) == bytes(size)


def test_self_test(device: Device) -> None:
    device.write_input("tiny", 0, b"\x01")
    assert device.self_test() == 0
    assert device.read_output("tiny", 0) == b"\xfe"  # the inverse pattern, in the byte behind
    with pytest.raises(UsageError, match="Write input"):
        device.run("tiny")


def test_wrong_arguments_are_said_before_anything_is_sent(device: Device) -> None:
    with pytest.raises(
        UsageError, match="no model 'vww'; it has mini, tiny, failing, slow, parts, sized"
    ):
        device.infer("vww", [])
    with pytest.raises(UsageError, match="takes 2 inputs, 1 were given"):
        device.infer("mini", [X])
    with pytest.raises(UsageError, match=r"'y' of model mini is float32 of shape \(4,\); float64"):
        device.infer("mini", [X, Y.astype(np.float64)])
    with pytest.raises(UsageError, match="has 3000 bytes, 2 were given"):
        device.write_input("mini", 0, b"xx")
    with pytest.raises(UsageError, match="no output 2; it has 2"):
        device.read_output("mini", 2)


def test_a_failed_run_names_the_reason(device: Device) -> None:
    with pytest.raises(ProtocolError) as error:
        device.infer("failing", [np.array([1], np.uint8)])
    assert (error.value.code, error.value.detail) == (Code.RUN_FAILED, -13)
    assert "RUN: " in str(error.value) and "RUN_FAILED, -13" in str(error.value)
    assert device.infer("tiny", [np.array([1], np.uint8)]) == [2]


def test_a_long_run_keeps_the_line_alive(url: str) -> None:
    """By a BUSY at its begin, and one behind 100 ms: behind each second of 6 layers of 60 ms."""
    with connect(url, latency=0.02) as device:
        began, events = time.monotonic(), []
        device.write_input("slow", 0, b"\x08")
        run = pack_run(MODELS.index("slow"), RunFlag(0), 1, 0, [])
        device._link.request(Type.RUN, run, on_event=events.append, patient=True)
        assert time.monotonic() - began > 0.3
        assert len(events) >= 4 and {event.type for event in events} == {Type.BUSY}
        assert device.read_output("slow", 0) == b"\x09"
        assert device.resent == 0


def test_log(url: str) -> None:
    said: list[str] = []
    with connect(url, log=said.append) as device:
        device.provoke(Provoke.LOG)
        with pytest.raises(ProtocolError, match="RUN_FAILED"):
            device.infer("failing", [np.array([1], np.uint8)])
    assert said == ["test", "0123456789abcdef" * 6]  # and no more than an event holds


def test_what_the_device_computes_is_no_time_on_the_line(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long run would let the next lost frame be waited for as long."""
    noted: list[float] = []
    monkeypatch.setattr(wire_module.Wire, "note_round_trip", lambda _, s: noted.append(s))
    device.self_test()
    assert noted == []
    device.echo(b"quick")
    assert len(noted) == 1


def test_no_more_is_on_the_way_than_the_device_can_keep(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait, most = link._Exchange._wait, 0

    def bounded(exchange: link._Exchange) -> None:
        nonlocal most
        sizes = [len(piece.line) for piece in exchange._on_way]
        assert len(sizes) == 1 or sum(sizes) <= exchange._link.window
        most = max(most, sum(sizes[1:]))
        wait(exchange)

    monkeypatch.setattr(link._Exchange, "_wait", bounded)
    device._link.piece_bytes, device._link.window = 128, 1000
    write_tensor(device._link, pack_tensor(0, TensorKind.INPUT, 0), bytes(3000))
    assert most > 500  # and no less than it can


def test_reset_forgets_what_was_written(device: Device) -> None:
    device.write_input("tiny", 0, b"\x01")
    before = device.tensor_crc("tiny", TensorKind.INPUT, 0)
    device.reset()
    assert device.tensor_crc("tiny", TensorKind.INPUT, 0) == zlib.crc32(b"\0") != before


def test_another_build_is_refused(url: str) -> None:
    good = ExpectedModel("tiny", "07" + "00" * 31, "08" + "00" * 31)
    with connect(url, expect=[good]):
        pass
    with pytest.raises(DeviceError, match="another build of the same model file"):
        connect(url, expect=[good, ExpectedModel("mini", "010203" + "00" * 29, "11" * 32)])


def test_everything_arrives_over_a_noisy_line(url: str) -> None:
    """Through a socket; test_protocol_damage.py has the many."""
    with noisy_line(url, 3, 0.002) as noisy, connect(noisy) as device:
        expected = mini_layers(X)
        for _ in range(2):
            z, w = device.infer("mini", [X, Y])
            assert [z.tobytes(), w.tobytes()] == expected[2]
        crcs = {(c.layer, c.output): c.crc for c in device.watch("mini", [X, Y])[0]}
        wanted = {(i, j): zlib.crc32(t) for i, ts in enumerate(expected) for j, t in enumerate(ts)}
        assert crcs == wanted
        assert device.read_layer_output("mini", [X, Y], 1) == expected[1][0]
        assert device.resent > 0
