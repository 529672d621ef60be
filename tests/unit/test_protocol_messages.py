"""Messages: total parsers, the texts of errors, faults and their functions."""

from __future__ import annotations

import copy
import enum
import re
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcu_deploy import resources
from mcu_deploy.device.line import codes, messages
from mcu_deploy.device.line.fault import (
    DeviceFault,
    FaultCause,
    FaultReport,
    describe_fault,
    function_at,
    unpack_fault,
)
from mcu_deploy.device.line.framing import Frame
from mcu_deploy.device.line.messages import RunResult
from mcu_deploy.device.line.models import (
    ExpectedModel,
    ModelInfo,
    find_tensor,
    refuse_other_models,
)
from mcu_deploy.device.line.watching import LayerCrcs, LayerTimes
from mcu_deploy.errors import DeviceError, RequestError, ToolError

UNPACKERS: list[Callable[[bytes], Any]] = [
    messages.unpack_error,
    messages.unpack_hello,
    messages.unpack_describe,
    messages.unpack_partition,
    messages.unpack_tensor,
    messages.unpack_read,
    messages.unpack_crc,
    messages.unpack_run,
    messages.unpack_self_test,
    messages.unpack_layer_crc,
    messages.unpack_layer_time,
    unpack_fault,
]


@pytest.mark.parametrize("unpack", UNPACKERS)
@given(data=st.one_of(st.binary(max_size=200), st.binary(max_size=3).map(lambda b: b * 70)))
def test_unpackers_take_any_bytes(unpack: Callable[[bytes], Any], data: bytes) -> None:
    try:
        unpack(data)
    except DeviceError as error:
        assert str(error)


def hello(**changes: Any) -> bytes:
    values = {
        "version": 2,
        "kind": 3,
        "mtu": 1024,
        "window": 4096,
        "can": 0x80000015,
        "abi": 1,
        "clock": 25_000_000,
        "baud": 115200,
        "stack": 8192,
        "models": 2,
    } | changes
    return struct.pack("<BBHIIIIIIH", *values.values()) + b"\4mps2\tcortex-m4"


def test_hello_ignores_what_a_newer_firmware_appends() -> None:
    value = messages.unpack_hello(hello() + b"more")
    assert (value.board, value.core, value.num_models) == ("mps2", "cortex-m4", 2)
    assert value.counter_kind is codes.CounterKind.TICKS
    assert value.capabilities == codes.Capability(0x15)


@pytest.mark.parametrize("changes", [{"mtu": 0}, {"mtu": 65535}, {"kind": 9}])
def test_hello_refuses_nonsense(changes: dict[str, int]) -> None:
    with pytest.raises(DeviceError, match="makes no sense"):
        messages.unpack_hello(hello(**changes))


def test_tensor() -> None:
    data = struct.pack("<BBHIfi2I", 0, 8, 2, 30, 0.5, -3, 1, 30) + b"\2in"
    tensor = messages.unpack_tensor(data)
    assert tensor == messages.TensorInfo("in", np.dtype("i1"), (1, 30), 0.5, -3, 30)
    with pytest.raises(DeviceError, match="shape"):
        messages.unpack_tensor(data.replace(b"\x1e", b"\x1f", 1))
    with pytest.raises(DeviceError, match="element type 3 of 8 bits"):
        messages.unpack_tensor(b"\3" + data[1:])


def test_error_names_request_and_code() -> None:
    error = messages.unpack_error(struct.pack("<HHi", 4, 6, 2) + "fewer models é".encode())
    assert (error.code, error.request, error.detail) == (codes.Code.NO_SUCH_MODEL, 6, 2)
    assert "WRITE: fewer models é (NO_SUCH_MODEL, 2)" in str(error)
    assert "number 77: x (number 99, -1)" in str(
        messages.unpack_error(struct.pack("<HHi", 99, 77, -1) + b"x")
    )


def test_fault_has_only_the_registers_that_are_sent() -> None:
    head = struct.pack("<4I", 0b100101, FaultCause.UNALIGNED, 6, 0x20001F00)
    report = unpack_fault(head + struct.pack("<IIHH", 0x1234, 0x01000000, 1, 7))
    assert report == FaultReport(
        FaultCause.UNALIGNED, 6, 0x20001F00, pc=0x1234, cfsr=0x01000000, model=1, layer=7
    )
    assert report.lr is report.hfsr is report.address is None
    assert "an unaligned access in layer 7 of model 1 at PC 0x00001234" in str(DeviceFault(report))
    with pytest.raises(DeviceError, match="only 20 bytes"):
        unpack_fault(head + bytes(4))
    unknown = struct.pack("<4I", 0, 4000, 3, 0)
    assert unpack_fault(unknown).cause is FaultCause.UNKNOWN


@pytest.mark.needs_arm_gcc
def test_describe_fault_names_the_functions(tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text(
        "int first(int a) { return a * 3 + 1; }\n"
        "static int second(int (*f)(int)) { return f(2) + 5; }\n"
        "void _start(void) { for (;;) { (void)second(first); } }\n"
        '__asm(".thumb_func\\n.type bare, %function\\nbare: bx lr\\n"\n'
        '".thumb_func\\n.type outer, %function\\nouter: nop\\n"\n'
        '".thumb_func\\n.type inner, %function\\ninner: nop\\n bx lr\\n"\n'
        '".size outer, . - outer\\n.size inner, . - inner\\n");\n'
    )
    elf = tmp_path / "two.elf"
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O0", "-nostdlib"),
            *("-Ttext=0x8000", source, "-o", elf),
        ],
        check=True,
    )
    names = subprocess.run(
        ["arm-none-eabi-nm", str(elf)], capture_output=True, text=True, check=True
    ).stdout
    address = {line.split()[2]: int(line.split()[0], 16) for line in names.splitlines()}
    report = FaultReport(
        FaultCause.BAD_READ, 5, 0x20000100, address["first"] + 4, (address["second"] + 8) | 1
    )
    text = describe_fault(report, elf)
    assert f"PC      0x{address['first'] + 4:08x}  first+0x4" in text
    assert "second+0x6" in text  # the call before the return address
    assert "CFSR" not in text and "HFSR" not in text and "address" not in text.splitlines()[-1]
    assert function_at(elf, 0x40000000) is None
    assert function_at(elf, address["bare"]) == "bare+0x0"  # as assembler leaves it, without a size
    assert function_at(elf, address["inner"] + 2) == "inner+0x2"  # and not outer+0x4
    with pytest.raises(ToolError, match="cannot be read as an ELF file"):
        describe_fault(report, source)
    with pytest.raises(ToolError, match="cannot be read as an ELF file"):
        describe_fault(report, tmp_path / "missing.elf")


def test_layers_that_do_not_run_are_not_waited_for() -> None:
    crcs, result = LayerCrcs(), RunResult(0, False, True, 1, 1, 9, 9, 9, 0, 0)
    for output, is_complete in ((0, False), (1, True)):
        payload = struct.pack("<4H2I", 0, 1, output, 2, 4, 0)
        crcs.note(Frame(codes.Type.LAYER_CRC, 1, payload))
        assert copy.deepcopy(crcs).is_complete(result, num_layers=2) == is_complete


def test_times_of_layers_are_had_from_repetitions_that_lost_others() -> None:
    times, result = LayerTimes(), RunResult(0, False, True, 2, 2, 9, 9, 9, 0, 0)
    for layer in range(2):
        payload = struct.pack("<4HQ", 0, layer, layer, 0, 5 + layer)
        times.note(Frame(codes.Type.LAYER_TIME, 1, payload))
    assert times.is_complete(result, num_layers=2) and times.costs(2) == (5, 6)


def test_another_firmware_is_refused_in_a_sentence() -> None:
    on_device = [
        messages.ModelHeader(0, "kws", "ab" * 32, "cd" * 32, 0, 0, 3, 0, 0, 0, 10, 0, 1, size=None)
    ]
    refuse_other_models("b", on_device, [ExpectedModel("kws", "ab" * 32, "cd" * 32)])
    for expected, reason in [
        (ExpectedModel("vww", "ab" * 32, "cd" * 32), "has kws, not vww"),
        (ExpectedModel("kws", "00" * 32, "cd" * 32), "another model file .SHA-256 abababababab"),
        (ExpectedModel("kws", "ab" * 32, "00" * 32), "another build of the same model file"),
    ]:
        with pytest.raises(DeviceError, match=reason) as error:
            refuse_other_models("b", on_device, [expected])
        assert "load firmware.elf of this build" in str(error.value)


NUMBERS: list[tuple[type[enum.IntEnum], str, str]] = [
    (codes.Type, "protocol.h", "MCU_"),
    (codes.Code, "protocol.h", "MCU_PROTOCOL_"),
    (codes.Capability, "protocol.h", "MCU_CAN_"),
    (codes.TensorKind, "protocol.h", "MCU_TENSOR_"),
    (codes.RunFlag, "protocol.h", "MCU_RUN_"),
    (codes.CounterKind, "platform.h", "MCU_COUNTER_"),
    (FaultCause, "platform.h", "MCU_FAULT_"),
]


def test_a_device_knows_63_bytes_of_a_name() -> None:
    known, whole = "n" * 63, "n" * 70
    model = messages.ModelHeader(0, known, "ab", "cd", 0, 0, 3, 0, 0, 0, 10, 0, 1, size=None)
    refuse_other_models("b", [model], [ExpectedModel(whole, "ab", "cd")])
    one, other = (messages.TensorInfo(n, np.dtype("i1"), (1,), 0.0, 0, 1) for n in (known, "o"))
    assert find_tensor([other, one], whole, "None") == 1
    with pytest.raises(RequestError, match="2 tensors of the model have names that begin like"):
        find_tensor([one, one], whole, "None")


def test_a_firmware_that_sets_no_sizes_runs_the_largest_alone() -> None:
    x = messages.TensorInfo("x", np.dtype("i1"), (2, 9), 0.0, 0, 18)
    ones = (1,) * 9
    info = ModelInfo(0, "m", "", "", *ones, size=None, inputs=(x,), outputs=())
    info.refuse_sizes([np.zeros((2, 9))], "b")
    info.refuse_sizes([np.zeros(9)], "b")  # axes that are missing are another mistake
    with pytest.raises(DeviceError, match=r"with its input 'x' of shape \[2, 9\] alone"):
        info.refuse_sizes([np.zeros((2, 5))], "b")


@pytest.mark.parametrize(
    ("kind", "header", "prefix"), NUMBERS, ids=lambda v: getattr(v, "__name__", "")
)
def test_numbers_are_those_of_the_firmware(
    kind: type[enum.IntEnum], header: str, prefix: str
) -> None:
    text = (resources.crt() / "include" / "mcu" / header).read_text()
    found = re.findall(r"\b(MCU_\w+) = (?:(\d+)U << (\d+)|(0x\w+|\d+))", text)
    there = {n: int(base) << int(by) if base else int(v, 0) for n, base, by, v in found}
    for member in kind.__members__.values():
        names = (f"{prefix}{part}{member.name}" for part in ("", "EVENT_", "REPLY_"))
        assert member.value in [there[n] for n in names if n in there], member


def test_the_faults_on_request_are_numbered_as_in_the_firmware() -> None:
    text = (resources.crt() / "firmware" / "provoke.c").read_text()
    names = re.findall(r"\w+", text.partition("enum {")[2].partition("}")[0].replace("= 0", ""))
    assert [what.value for what in codes.Provoke] == [*range(len(names))]
