"""The protocol on emulated boards: transfers, layers, every fault, restart."""

from __future__ import annotations

import contextlib
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from device.protocol_lab import MODELS, NETWORKS, X, Y, mini_layers

from mcu_deploy.boards import Board, load_board
from mcu_deploy.device import (
    Device,
    DeviceFault,
    EndlessRun,
    FaultCause,
    connect,
    describe_fault,
)
from mcu_deploy.device.emulators import open_emulator
from mcu_deploy.device.line.codes import Provoke, TensorKind
from mcu_deploy.toolchain import Firmware, build_crt, link_firmware

pytestmark = pytest.mark.needs_arm_gcc

QEMU_BOARDS = [
    pytest.param("mps2-an386", marks=pytest.mark.needs_qemu),
    *(
        pytest.param(name, marks=[pytest.mark.needs_qemu, pytest.mark.matrix])
        for name in (
            "mps2-an385",
            "mps2-an500",
            "mps2-an505",
            "mps2-an521",
            "mps3-an547",
            "netduinoplus2",
        )
    ),
]


def build(board: Board, folder: Path) -> Path:
    shutil.copy(NETWORKS, folder / "firmware_models.c")
    firmware = Firmware.of(board)
    build_crt(board, folder)
    return link_firmware(firmware, folder, firmware.main)


@pytest.fixture(scope="module", params=QEMU_BOARDS)
def board(request: pytest.FixtureRequest) -> Board:
    return load_board(str(request.param))


@pytest.fixture(scope="module")
def elf(board: Board, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(board, tmp_path_factory.mktemp(board.name))


@pytest.fixture(scope="module")
def device(board: Board, elf: Path) -> Iterator[Device]:
    with (
        open_emulator(board, elf, emulator="qemu") as emulator,
        connect(emulator.url, latency=2.0) as device,
    ):
        yield device


def test_hello_names_the_board(device: Device, board: Board) -> None:
    assert (device.hello.board, device.hello.core) == (board.name, board.core)
    assert (device.hello.clock_hz, device.hello.baud) == (board.clock_hz, board.serial.baud)
    assert device.hello.stack_bytes == board.stack_bytes
    assert [model.name for model in device.models] == MODELS


def test_infer_and_layers(device: Device) -> None:
    expected = mini_layers(X)
    z, w = device.infer("mini", [X, Y])
    assert [z.tobytes(), w.tobytes()] == expected[2]
    crcs = {(c.layer, c.output): c.crc for c in device.watch("mini", [X, Y])[0]}
    assert crcs == {
        (i, j): zlib.crc32(tensor) for i, out in enumerate(expected) for j, tensor in enumerate(out)
    }
    assert device.read_layer_output("mini", [X, Y], 1, 0) == expected[1][0]
    assert device.tensor_crc("mini", TensorKind.LAYER, 1, 1) == crcs[1, 1]
    assert device.resent == 0


def test_each_run_decides_a_size(device: Device) -> None:
    for size in (2, 5, 9):
        x = np.arange(2 * size, dtype=np.uint8).reshape(2, size)
        out, half = device.infer("sized", [x])
        np.testing.assert_array_equal(out, x + np.uint8(1))
        np.testing.assert_array_equal(half, x[0, ::2])


def test_stack_and_counter(device: Device) -> None:
    device.write_input("slow", 0, b"\x05")
    result = device.run("slow")
    assert 0 < result.stack_used < result.stack_size
    assert result.counter_least >= 6 * 0.06 * device.hello.clock_hz  # six layers of 60 ms
    assert len(device.profile("slow", [np.array([5], np.uint8)]).layers) == 6


FAULTS = {
    Provoke.UNDEFINED_INSTRUCTION: FaultCause.UNDEFINED_INSTRUCTION,
    Provoke.BAD_READ: FaultCause.BAD_READ,
    Provoke.BAD_WRITE: FaultCause.BAD_WRITE,
    Provoke.BAD_JUMP: FaultCause.BAD_JUMP,
    Provoke.UNALIGNED: FaultCause.UNALIGNED,
    Provoke.DIVIDE_BY_ZERO: FaultCause.DIVIDE_BY_ZERO,
    Provoke.STACK_OVERFLOW: FaultCause.STACK_OVERFLOW,
    Provoke.INVALID_STATE: FaultCause.INVALID_STATE,
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults_reach_the_host_and_the_device_restarts(
    device: Device, elf: Path, what: Provoke
) -> None:
    with pytest.raises(DeviceFault) as fault:
        device.provoke(what)
    report = fault.value.report
    text = describe_fault(report, elf)
    assert report.cause == FAULTS[what], text
    assert report.layer is None
    assert report.cfsr is not None and report.hfsr is not None
    if what not in (Provoke.BAD_JUMP, Provoke.STACK_OVERFLOW):
        assert " provoke+0x" in text or " mcu_provoke_request+0x" in text, text
    assert ("PC " in text) == (report.pc is not None)
    device.await_restart()
    assert device.infer("tiny", [np.array([1], np.uint8)]) == [2]


def test_a_fault_in_a_layer_names_the_layer(device: Device, elf: Path) -> None:
    device.provoke(Provoke.UNALIGNED, model=0, layer=2)
    with pytest.raises(DeviceFault, match="an unaligned access in layer 2 of model 0") as fault:
        device.infer("mini", [X, Y])
    assert "layer   2 of model 0" in describe_fault(fault.value.report, elf)
    device.await_restart()
    assert device.infer("tiny", [np.array([1], np.uint8)]) == [2]


@contextlib.contextmanager
def impatient(device: Device) -> Iterator[None]:
    """Half a second for a layer: an emulated one that does not end takes a whole core."""
    link = device._link
    before = link.run_timeout, link.wire.latency
    link.run_timeout, link.wire.latency = 0.1, 0.4
    try:
        yield
    finally:
        link.run_timeout, link.wire.latency = before


def test_a_run_that_does_not_end_is_stopped_and_its_layer_named(device: Device, elf: Path) -> None:
    device.provoke(Provoke.ENDLESS, model=0, layer=2)
    with (
        impatient(device),
        pytest.raises(EndlessRun, match="in layer 2 of model 0 at PC ") as fault,
    ):
        device.infer("mini", [X, Y])
    assert fault.value.report.cause == FaultCause.STOPPED
    assert " provoke+0x" in describe_fault(fault.value.report, elf)
    device.await_restart()
    assert device.infer("tiny", [np.array([1], np.uint8)]) == [2]


def test_zeros_stop_nothing_but_a_run(device: Device) -> None:
    """Neither before the first run nor behind it."""
    device.reset()
    for _ in range(2):
        device._link.wire.stop()
        assert device.infer("tiny", [np.array([1], np.uint8)]) == [2]


def test_reset_and_self_test(device: Device) -> None:
    device.write_input("tiny", 0, b"\x01")
    device.reset()
    assert device.tensor_crc("tiny", TensorKind.INPUT, 0) == zlib.crc32(b"\0")
    assert device.self_test() == 0


@pytest.mark.matrix  # test_pools_on_boards.py speaks with the board in Renode
@pytest.mark.needs_renode
def test_renode(tmp_path: Path) -> None:
    """Renode has faults for an undefined instruction and a stack overflow only."""
    board = load_board("stm32f746")
    elf = build(board, tmp_path)
    with (
        open_emulator(board, elf, emulator="renode") as emulator,
        connect(emulator.url, latency=3.0) as device,
    ):
        z, w = device.infer("mini", [X, Y])
        assert [z.tobytes(), w.tobytes()] == mini_layers(X)[2]
        assert device.read_layer_output("mini", [X, Y], 1, 0) == mini_layers(X)[1][0]
        device.provoke(Provoke.UNDEFINED_INSTRUCTION, model=0, layer=1)
        with pytest.raises(DeviceFault, match="undefined instruction in layer 1 of model 0"):
            device.infer("mini", [X, Y])
        device.await_restart()
        device.provoke(Provoke.ENDLESS, model=0, layer=1)
        with impatient(device), pytest.raises(EndlessRun, match="in layer 1 of model 0"):
            device.infer("mini", [X, Y])
        device.await_restart()
        with pytest.raises(DeviceFault, match="a stack overflow"):
            device.provoke(Provoke.STACK_OVERFLOW)
        device.await_restart()
        device.reset()
        assert device.infer("tiny", [np.array([1], np.uint8)]) == [2]
