"""The platform of each board at work: serial line, sleep, restart, counter, stack, and faults.

What the emulators do not do: QEMU reports the bus fault of every store precisely (on a chip it may
be imprecise, and then has no address). Renode has no fault for an unaligned LDRD, a division by
zero and most addresses where nothing answers, so only two faults are tried there, and on Armv8-M
one: it compares no stack with PSPLIM. The frame of a
stack overflow is never written on Armv7-M, so PC and LR are absent there. Armv6-M has one fault for
everything, and of an overflow it knows nothing but where its stack pointer is.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from device.faults.firmware import (
    ECHO,
    Line,
    build,
    fault_sources,
    function_at,
    running,
    symbol_values,
)
from sampling import by_core, by_driver, every_board, on_renode

from mcu_deploy.boards import Board, load_board

pytestmark = pytest.mark.needs_arm_gcc

QEMU_BOARDS = [board.name for board in every_board() if board.qemu is not None]

# mcu_fault_cause_t of mcu/platform.h
UNKNOWN = 0
UNDEFINED, INVALID_STATE, NO_COPROCESSOR, UNALIGNED, DIVISION, OVERFLOW = 1, 2, 4, 5, 6, 7
BAD_READ, BAD_WRITE, BAD_JUMP = 8, 9, 10
# MCU_FAULT_HAS_*
PC, LR, CFSR, HFSR, ADDRESS = 1, 2, 4, 8, 16
REGISTERS = PC | LR | CFSR | HFSR
MEM_MANAGE, BUS_FAULT, USAGE_FAULT = 4, 5, 6

# letter: (cause, exception, function of the PC, address)
PLAIN_FAULTS = {
    "u": (UNDEFINED, USAGE_FAULT, "undefined_instruction", None),
    "r": (BAD_READ, BUS_FAULT, "bad_read", 0xF0000000),
    "w": (BAD_WRITE, BUS_FAULT, "bad_write", 0xF0000000),
    "R": (BAD_READ, BUS_FAULT, "bad_wide_read", 0xF0000010),
    "W": (BAD_WRITE, BUS_FAULT, "bad_wide_write", 0xF00007D0),
    "m": (BAD_READ, BUS_FAULT, "bad_multiple_read", 0xF0000000),
    "M": (BAD_WRITE, BUS_FAULT, "bad_multiple_write", 0xF0000000),
    "t": (INVALID_STATE, USAGE_FAULT, "undefined_instruction", None),  # the target of the jump
    "a": (UNALIGNED, USAGE_FAULT, "unaligned_ldrd", None),
    "f": (NO_COPROCESSOR, USAGE_FAULT, "no_coprocessor", None),
    "d": (DIVISION, USAGE_FAULT, "divide_by_zero", None),
}


# Encodings of loads and of stores, a letter each; with an FPU two more stores and a load.
LOADS, STORES = "0123456", "789:;<="
FPU_STORES, FPU_LOADS = ">?", "@"

# Of Armv6-M, each with the one exception and without a cause: letter: function of the PC
ARMV6M_FAULTS = {
    "u": "undefined_instruction",
    "r": "bad_read",
    "w": "bad_write",
    "m": "bad_multiple_read",
    "M": "bad_multiple_write",
    "t": "undefined_instruction",
    "l": "unaligned_ldr",
}
HARD_FAULT = 3


def _is_armv6m(board: Board) -> bool:
    return board.architecture == "armv6s-m"


def _fault(line: Line, letter: str) -> dict[str, int]:
    """Provokes a fault, checks that the device restarts, and returns what it reported."""
    words = line.ask(letter)
    assert words, f"{letter!r} did not fault"
    assert line.line() == "ready", f"no restart after {letter!r}"
    fault = {name: int(word, 16) for name, word in words.items() if word != "-"}
    bits = {"pc": PC, "lr": LR, "cfsr": CFSR, "hfsr": HFSR, "address": ADDRESS}
    for name, bit in bits.items():
        assert (name in fault) == bool(fault["valid"] & bit), f"{name} of {words}"
    return fault


def _check_faults(line: Line, elf: Path, board: Board) -> None:
    if _is_armv6m(board):
        for letter, function in ARMV6M_FAULTS.items():
            fault = _fault(line, letter)
            assert (fault["cause"], fault["exception"]) == (UNKNOWN, HARD_FAULT), letter
            assert fault["valid"] == PC | LR, letter
            assert function_at(elf, fault["pc"]) == function, letter
        return
    for letter, (cause, exception, function, address) in PLAIN_FAULTS.items():
        fault = _fault(line, letter)
        assert (fault["cause"], fault["exception"]) == (cause, exception), letter
        assert fault["valid"] == REGISTERS | (ADDRESS if address is not None else 0), letter
        assert function_at(elf, fault["pc"]) == function, letter
        assert fault.get("address") == address, letter
        assert fault["cfsr"] != 0, letter
    has_fpu = board.float_abi == "hard"
    loads, stores = LOADS + FPU_LOADS * has_fpu, STORES + FPU_STORES * has_fpu
    for letter in loads + stores:
        fault = _fault(line, letter)
        cause = BAD_READ if letter in loads else BAD_WRITE
        assert (fault["cause"], fault["address"]) == (cause, 0xF0000000), letter
        assert function_at(elf, fault["pc"]) == "access", letter
    jump = _fault(line, "j")
    assert (jump["cause"], jump["exception"], jump["pc"]) == (BAD_JUMP, MEM_MANAGE, 0xF0000000)
    assert function_at(elf, jump["lr"] & ~1) == "bad_jump"


def _check_overflow(line: Line, elf: Path, letter: str, board: Board) -> None:
    limit = symbol_values(elf)["__stack_limit"]
    fault = _fault(line, letter)
    assert fault["cause"] == OVERFLOW, letter
    if _is_armv6m(board):
        assert (fault["exception"], fault["valid"]) == (HARD_FAULT, 0)
    elif board.has_psplim:
        assert fault["exception"] == USAGE_FAULT and "address" not in fault
        # The frame of `recurse` has no room any more; before `big_frame` took its own, it had.
        assert ("pc" in fault) == (letter == "b")
    else:
        assert fault["exception"] == (MEM_MANAGE if board.has_mpu else BUS_FAULT)
        assert limit - 64 * 1024 <= fault["address"] < limit
        assert "pc" not in fault and "lr" not in fault
        # An access with all of the stack left may be a frame's that reaches far, up to 64 KB.
        assert _fault(line, "o")["cause"] == OVERFLOW


def _check_platform(line: Line, board: Board) -> None:
    line.send(b"i")
    assert line.line() == "constructed 00000012", "each once, by priority"
    if not _is_armv6m(board):
        line.send(b"l")
        assert line.line() == "did 55443322", "an unaligned LDR is legal"
    line.send(b"c")
    kind, first, second = (int(word, 16) for word in line.line().split()[1:])
    assert kind == 3, "no emulator has a cycle counter: SysTick"
    assert 0 < first < second < first + 10_000_000
    line.send(b"p")
    used, size = (int(word, 16) for word in line.line().replace(" of", "").split()[1:])
    assert size == board.stack_bytes
    assert 32 < used < 512
    line.send(b"n")
    starts = int(line.line().split()[1], 16)
    line.send(b"z")
    assert line.line() == "ready"
    line.send(b"n")
    assert int(line.line().split()[1], 16) == starts + 1, ".noinit lives through a restart"


@pytest.mark.needs_qemu
@pytest.mark.parametrize("name", by_core(QEMU_BOARDS))
def test_every_fault_in_qemu_is_told_apart_and_followed_by_a_restart(
    name: str, tmp_path: Path
) -> None:
    board = load_board(name)
    elf = build(board, fault_sources(board), tmp_path)
    with running(board, elf, "qemu") as line:
        _check_platform(line, board)
        _check_faults(line, elf, board)
        _check_overflow(line, elf, "s", board)
        _check_overflow(line, elf, "b", board)
        _check_platform(line, board)


@pytest.mark.matrix  # test_protocol_emulated.py has the sample's
@pytest.mark.needs_renode
@pytest.mark.parametrize("name", on_renode())
def test_undefined_instruction_and_overflow_in_renode(name: str, tmp_path: Path) -> None:
    board = load_board(name)
    elf = build(board, fault_sources(board), tmp_path)
    with running(board, elf, "renode") as line:
        fault = _fault(line, "u")
        told = (UNKNOWN, PC | LR) if _is_armv6m(board) else (UNDEFINED, REGISTERS)
        assert (fault["cause"], fault["valid"]) == told
        assert function_at(elf, fault["pc"]) == "undefined_instruction"
        if board.stack_guard_bytes > 0:  # the MPU; no fault of PSPLIM, nor where nothing answers
            cause = _fault(line, "s")["cause"]
            # As if an Armv6-M had MemManage, which our handler does not know there.
            assert cause == (UNKNOWN if _is_armv6m(board) else OVERFLOW)
        _check_platform(line, board)


@pytest.mark.needs_host_gcc
def test_signals_of_the_host_are_faults_and_the_connection_survives(tmp_path: Path) -> None:
    board = load_board("host")
    elf = build(board, fault_sources(board), tmp_path)
    expected = {
        "u": (UNDEFINED, "undefined_instruction"),
        "r": (BAD_READ, "bad_read"),
        "w": (BAD_WRITE, "bad_write"),
        "j": (BAD_JUMP, None),
        "d": (DIVISION, "divide_by_zero"),
        "s": (OVERFLOW, "recurse"),
    }
    with running(board, elf) as line:
        for letter, (cause, function) in expected.items():
            fault = _fault(line, letter)
            assert fault["cause"] == cause, letter
            assert not fault["valid"] & (CFSR | HFSR | LR)
            if function is not None:
                assert function_at(elf, fault["pc"]) == function
        line.send(b"p")
        used, size = (int(word, 16) for word in line.line().replace(" of", "").split()[1:])
        assert 0 < used < size == board.stack_bytes


def _check_echo(line: Line, buffer_bytes: int) -> None:
    data = random.Random(7).randbytes(buffer_bytes)
    line.send(data)
    assert line.read(len(data)) == data
    for byte in range(256):  # one by one: each must wake the sleeping processor
        line.send(bytes([byte]))
        assert line.read(1) == bytes([byte])


@pytest.mark.needs_qemu
@pytest.mark.parametrize("name", by_driver(QEMU_BOARDS))
def test_the_serial_line_in_qemu_loses_no_byte(name: str, tmp_path: Path) -> None:
    board = load_board(name)
    with running(board, build(board, ECHO, tmp_path), "qemu") as line:
        _check_echo(line, board.serial.buffer_bytes)


@pytest.mark.matrix
@pytest.mark.needs_renode
@pytest.mark.parametrize("name", on_renode())
def test_the_serial_line_in_renode_loses_no_byte(name: str, tmp_path: Path) -> None:
    board = load_board(name)
    with running(board, build(board, ECHO, tmp_path), "renode") as line:
        _check_echo(line, board.serial.buffer_bytes)


@pytest.mark.needs_host_gcc
def test_the_line_of_the_host_loses_no_byte(tmp_path: Path) -> None:
    board = load_board("host")
    with running(board, build(board, ECHO, tmp_path)) as line:
        _check_echo(line, board.serial.buffer_bytes)
