"""Partitions, kept tensors and states over the wire, on the hand-written network "parts"."""

from __future__ import annotations

import numpy as np
import pytest

from mcu_deploy.device import Device
from mcu_deploy.device.line.codes import TensorKind, Type
from mcu_deploy.device.line.messages import pack_tensor
from mcu_deploy.errors import UsageError

pytestmark = pytest.mark.needs_host_gcc


def byte(value: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.array([value], np.uint8)


def test_the_description_lists_partitions_kept_tensors_and_states(device: Device) -> None:
    parts = device.model("parts")
    names = [(p.name, [t.name for t in p.inputs], [t.name for t in p.outputs])
             for p in parts.partitions]  # fmt: skip
    assert names == [("head", ["in"], ["mid"]), ("tail", ["mid"], ["out", "mid"])]
    assert [t.name for t in parts.kept] == ["mid"]
    assert [(t.name, t.shape, t.dtype) for t in parts.states] == [("sum", (1,), np.dtype("u1"))]
    mini = device.model("mini")
    assert (mini.partitions, mini.kept, mini.states) == ((), (), ())


def test_a_partition_runs_alone(device: Device) -> None:
    assert device.infer("parts", [byte(7)], partition="head") == [byte(8)]
    assert device.state("parts", "sum") == [100]
    assert device.infer("parts", [byte(20)], partition=1) == [byte(120), byte(20)]
    assert device.infer("parts", [byte(7)]) == [byte(128)]
    with pytest.raises(UsageError, match="has no partition 'middle'; it has head, tail"):
        device.infer("parts", [byte(7)], partition="middle")
    with pytest.raises(UsageError, match="Write input 'mid' of partition 'tail' of model parts"):
        device.run("parts", partition="tail")


def test_a_part_takes_what_another_part_has_left_in_place(device: Device) -> None:
    """Both end at the tensor "mid": as the head's output and the tail's input."""
    device.infer("parts", [byte(9)], partition="head")
    assert device.tensor_crc("parts", TensorKind.PARTITION_INPUT, 1, 0) == device.tensor_crc(
        "parts", TensorKind.PARTITION_OUTPUT, 0, 0
    )


def test_a_kept_tensor_is_read_after_the_run(device: Device) -> None:
    device.infer("parts", [byte(41)])
    assert device.kept("parts", "mid") == [42]
    with pytest.raises(UsageError, match="has no kept tensor 'out'; it has 'mid'"):
        device.kept("parts", "out")


def test_a_state_lives_from_run_to_run(device: Device) -> None:
    assert [int(device.infer("parts", [byte(0)])[0][0]) for _ in range(3)] == [101, 102, 103]
    device.set_state("parts", "sum", byte(10))
    assert device.infer("parts", [byte(0)]) == [byte(11)]
    device.infer("tiny", [byte(1)])
    assert device.state("parts", "sum") == [11]
    device.reset_states("parts")
    assert device.state("parts", "sum") == [100]
    with pytest.raises(UsageError, match="State 'sum' of model parts is uint8"):
        device.set_state("parts", "sum", np.array([1], np.int32))
    with pytest.raises(UsageError, match="Model tiny has no state 'sum'; it has none"):
        device.state("tiny", "sum")


def test_a_reset_of_one_model_leaves_the_inputs_of_others(device: Device) -> None:
    device.write_input("tiny", 0, b"\x05")
    device._link.request(Type.RESET_STATE, b"\4\0")
    device.run("tiny")
    assert device.read_output("tiny", 0) == b"\x06"


def test_the_self_test_brings_states_back_to_their_begin(device: Device) -> None:
    device.infer("parts", [byte(0)])
    assert device.self_test() == 0
    assert device.state("parts", "sum") == [100]
    reference = pack_tensor(4, TensorKind.STATE, 0)
    assert device._link.request(Type.DESCRIBE_TENSOR, reference)[-4:] == b"\3sum"
