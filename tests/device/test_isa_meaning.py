"""Each row of what a kernel's instructions mean, against QEMU, in random states."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from isa_statements import STATEMENTS
from isa_vector_statements import VECTOR_STATEMENTS

from mcu_deploy.backends.isa.instruction import Instruction, Item, parsed
from mcu_deploy.backends.isa.interpreter import CoreState, Data, Program
from mcu_deploy.backends.isa.meaning import names
from mcu_deploy.backends.isa.operands import Label
from mcu_deploy.backends.isa.vector_meaning import VECTOR_MEANINGS

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

_DATA_BYTES = 320
_WORDS = 15 + 32 + 1  # r0-r12, lr, APSR; s0-s31; P0
_CORE = [*(f"r{n}" for n in range(13)), "lr"]
# Many states are near what matters: ends of ranges, few bits, floats of middling size.
_SPECIAL = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000,
            0xFFFF_FFFF, 0xFFFF_8000, 0x8000_8000, 0x7FFF_7FFF)  # fmt: skip
_SPECIAL_FLOATS = (0, 0x8000_0000, 0x3F00_0000, 0x3FC0_0000, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0001,
                   0x7F80_0001, 1, 0x807F_FFFF, 0x4F00_0000, 0xCF00_0000)  # fmt: skip


@dataclass(frozen=True)
class Machine:
    """Of QEMU: where data, results and the stack lie. has_vectors: Helium."""

    name: str
    core: str
    directives: str
    data: int
    results: int
    stack: int
    has_vectors: bool = False


M4 = Machine(
    "mps2-an386",
    "cortex-m4",
    ".cpu cortex-m4; .fpu fpv4-sp-d16",
    0x2010_0000,
    0x2000_0000,
    0x2018_0000,
)
M55 = Machine("mps3-an547", "cortex-m55", "", 0x2000_0000, 0x2100_0000, 0x2004_0000, True)


def _states(count: int, machine: Machine) -> np.ndarray:
    """uint32 [count, _WORDS]."""
    random = np.random.default_rng(23)
    words = random.integers(0, 1 << 32, (count, _WORDS), np.uint32)
    few = random.random((count, _WORDS)) < 0.3
    words[few] = random.choice(np.array(_SPECIAL, np.uint32), few.sum())
    floats = random.normal(0, 1, (count, 32)) * 2.0 ** random.integers(-20, 40, (count, 32))
    bits = floats.astype(np.float32).view(np.uint32)
    odd = random.random((count, 32)) < 0.2
    bits[odd] = random.choice(np.array(_SPECIAL_FLOATS, np.uint32), odd.sum())
    words[: count // 2, 15:47] = bits[: count // 2]
    words[:, 12] = machine.data + 64 + 4 * random.integers(0, 16, count)
    words[:, 9] = machine.data + 64 + random.integers(0, 64, count)
    words[:, 11] = random.integers(0, 36, count)
    words[:, 14] &= 0xF80F_0000
    words[:, 47] &= 0xFFFF if machine.has_vectors else 0
    return words


def _items(statement: str) -> list[Item]:
    found: list[Item] = []
    for part in statement.split("; "):
        label, colon, rest = part.rpartition(": ")
        if colon:
            found.append(Label(label))
        if not rest.startswith("."):
            found.append(parsed(rest))
    return found


def _function(number: int, statement: str, machine: Machine) -> str:
    predicate = "ldr r3, [r0, #188]; vmsr p0, r3" if machine.has_vectors else ""
    stored = "vmrs r1, p0" if machine.has_vectors else "movs r1, #0"
    lines = "\n".join(statement.replace(": ", ":\n").split("; "))
    return f"""
    .balign 4
    .thumb_func
form{number}:
    push {{r4-r11, lr}}
    vpush {{s16-s31}}
    ldr r2, =keep
    str r1, [r2]
    add r3, r0, #60
    vldmia r3, {{s0-s31}}
    {predicate}
    ldr r3, [r0, #56]
    msr APSR_nzcvqg, r3
    ldr lr, [r0, #52]
    ldmia r0, {{r0-r12}}
{lines}
    vpush {{s0-s31}}
    push {{r0-r12, lr}}
    mrs r1, apsr
    ldr r2, =keep
    ldr r2, [r2]
    pop {{r3-r12}}
    stmia r2!, {{r3-r12}}
    pop {{r3-r6}}
    stmia r2!, {{r3-r6}}
    str r1, [r2], #4
    vpop {{s0-s31}}
    vstmia r2!, {{s0-s31}}
    {stored}
    str r1, [r2]
    vpop {{s16-s31}}
    pop {{r4-r11, pc}}
    .ltorg
"""


def _program(count: int, statements: tuple[str, ...], folder: Path, machine: Machine) -> str:
    functions = "".join(_function(n, s, machine) for n, s in enumerate(statements))
    table = "\n".join(f"    .word form{n}" for n in range(len(statements)))
    result = 4 * _WORDS + _DATA_BYTES
    return f"""
    .syntax unified
    {machine.directives}
    .thumb
    .word {machine.stack:#x}
    .word start + 1
    .thumb_func
start:
    ldr r0, =0xE000ED88
    ldr r1, =0xF00000
    str r1, [r0]
    dsb
    isb
    ldr r1, =open
    movs r0, #1
    bkpt 0xAB
    ldr r1, =write
    str r0, [r1]
    ldr r8, =table
next_form:
    ldr r9, =states
    ldr r10, =results
    ldr r11, ={count}
next_state:
    ldr r0, =data
    ldr r1, ={machine.data:#x}
    add r2, r1, #{_DATA_BYTES}
1:  ldr r3, [r0], #4
    str r3, [r1], #4
    cmp r1, r2
    bne 1b
    mov r0, r9
    mov r1, r10
    ldr r2, [r8]
    blx r2
    add r1, r10, #{4 * _WORDS}
    ldr r0, ={machine.data:#x}
    add r2, r0, #{_DATA_BYTES}
1:  ldr r3, [r0], #4
    str r3, [r1], #4
    cmp r0, r2
    bne 1b
    mov r10, r1
    add r9, r9, #{4 * _WORDS}
    subs r11, r11, #1
    bne next_state
    ldr r1, =write
    movs r0, #5
    bkpt 0xAB
    add r8, r8, #4
    ldr r0, =table_end
    cmp r8, r0
    bne next_form
    movs r0, #0x18
    ldr r1, =0x20026
    bkpt 0xAB
    b .
    .ltorg
    .balign 4
open: .word name, 4, {len(str(folder / "out"))}
name: .asciz "{folder / "out"}"
    .balign 4
table:
{table}
table_end:
states: .incbin "{folder / "states"}"
data: .incbin "{folder / "data"}"
{functions}
    .bss
keep: .space 4
write: .space 12
results: .space {count * result}
"""


def _answers(
    folder: Path,
    statements: tuple[str, ...],
    states: np.ndarray,
    data: bytes,
    machine: Machine,
) -> np.ndarray:
    """uint32 [statement, state, word]: registers, APSR, floats, P0, data."""
    (folder / "states").write_bytes(states.tobytes())
    (folder / "data").write_bytes(data)
    source = _program(len(states), statements, folder, machine)
    size = len(states) * (4 * _WORDS + _DATA_BYTES)
    source = source.replace(
        "write: .space 12", f"    .data\nwrite: .word 0, results, {size}\n    .bss"
    )
    (folder / "all.s").write_text(source)
    at = f"-Ttext=0,-Tdata={machine.results:#x}"
    link = f"-Wl,{at},--entry=0,--no-warn-rwx-segments"
    flags = [f"-mcpu={machine.core}", "-mthumb", "-mfloat-abi=hard", "-nostdlib", link]
    build = ["arm-none-eabi-gcc", *flags, "all.s", "-o", "all.elf"]
    subprocess.run(build, cwd=folder, check=True)
    devices = ["-nographic", "-monitor", "none", "-serial", "none"]
    hosting = ["-semihosting-config", "enable=on,target=native"]
    run = ["qemu-system-arm", "-M", machine.name, *devices, *hosting, "-kernel", "all.elf"]
    subprocess.run(run, cwd=folder, check=True, timeout=300, stdin=subprocess.DEVNULL)
    found = np.fromfile(folder / "out", np.uint32)
    return found.reshape(len(statements), len(states), _WORDS + _DATA_BYTES // 4)


def _expected(program: Program, words: np.ndarray, data: bytes, machine: Machine) -> Iterator[int]:
    registers = dict(zip(_CORE, words[:14].tolist(), strict=True))
    registers |= {f"s{n}": int(word) for n, word in enumerate(words[15:47])}
    psr = int(words[14])
    flags = {flag: psr >> bit & 1 for flag, bit in zip("nzcvq", (31, 30, 29, 28, 27), strict=True)}
    memory = Data()
    held = memory.lay(machine.data, data)
    memory.lay(machine.stack - 1024, bytes(1024))
    flags |= {"ge": psr >> 16 & 15, "p0": int(words[47])}
    start = CoreState(registers | {"sp": machine.stack - 256}, flags)
    end = program.run(start, memory)
    assert end.registers["sp"] == start.registers["sp"]
    yield from (end.registers[name] for name in _CORE)
    yield sum(end.flags[f] << b for f, b in zip("nzcvq", (31, 30, 29, 28, 27), strict=True)) | (
        end.flags["ge"] << 16
    )
    yield from (end.registers[f"s{n}"] for n in range(32))
    yield end.flags["p0"]
    yield from struct.unpack(f"<{_DATA_BYTES // 4}I", held)


def test_every_row_has_a_statement() -> None:
    used = {i.name for s in STATEMENTS for i in _items(s) if isinstance(i, Instruction)}
    assert set(names()) - used <= {n for n in names() if n.startswith("it")}
    assert {"vmov", "it", "itt", "ite", "itttt"} <= used
    used = {i.name for s in VECTOR_STATEMENTS for i in _items(s) if isinstance(i, Instruction)}
    assert set(VECTOR_MEANINGS) <= used


@pytest.mark.parametrize(
    ("machine", "statements"),
    [(M4, STATEMENTS), (M55, VECTOR_STATEMENTS)],
    ids=["cortex-m4", "helium"],
)
def test_rows_do_what_qemu_does(
    tmp_path: Path,
    request: pytest.FixtureRequest,
    machine: Machine,
    statements: tuple[str, ...],
) -> None:
    states = _states(1000 if request.config.getoption("--all") else 25, machine)
    data = np.random.default_rng(7).integers(0, 256, _DATA_BYTES, np.uint8).tobytes()
    found = _answers(tmp_path, statements, states, data, machine)
    wrong = []
    for statement, answers in zip(statements, found, strict=True):
        program = Program(_items(statement))
        # Where code lies is nobody's business: an address of it is in no result.
        is_address = np.zeros(answers.shape[1], bool)
        is_address[[1] if "adr" in statement else [13] if "bl 1b" in statement else []] = True
        for words, answer in zip(states, answers, strict=True):
            wanted = np.array([*_expected(program, words, data, machine)], np.uint32)
            if ((wanted != answer) & ~is_address).any():
                at = int(((wanted != answer) & ~is_address).argmax())
                wrong.append(f"{statement}: word {at}: {wanted[at]:#x}, QEMU has {answer[at]:#x}")
                break
    assert not wrong, "\n".join(wrong)
