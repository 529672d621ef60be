"""Kernels for cores whose instructions have 16 bits (Armv6-M), which name r0 to r7."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.allocation import AllocationError
from mcu_deploy.backends.isa.function import framed
from mcu_deploy.backends.isa.instruction import Instruction, Item, printed
from mcu_deploy.backends.isa.interpreter import Data, call
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.isa.operands import Kind

_FILTERS, _TAPS = 2, 6


def _assembly() -> Assembly:
    return Assembly(MODELS["cortex-m0plus"])


def _products() -> list[Item]:
    """Sums of products of int8, of two filters: nine names live in the loop, of which the output's
    address and the end are only copied and compared, as r8 and up may be."""
    code = _assembly()
    x, weights, y = code.arguments("x weights y")
    end, kept = code.registers("end kept")
    sums = code.registers("sum_a sum_b")
    value, weight, zero = code.registers("value weight zero")
    code.mov(kept, y)
    code.mov(end, x)
    code.movs(value, _TAPS)
    code.add(end, end, value)
    code.movs(zero, 0)
    for acc in sums:
        code.movs(acc, 0)
    with code.repeat(_TAPS):
        for n, acc in enumerate(sums):
            code.movs(weight, n)
            code.ldrsb(weight, weights[weight])
            code.ldrsb(value, x[zero])
            code.muls(weight, value, weight)
            code.adds(acc, acc, weight)
        code.adds(x, x, 1)
        code.adds(weights, weights, _FILTERS)
        code.cmp(x, end)
    code.mov(value, kept)
    code.stmia(value.moving, sums)
    return framed(code.items)


def test_what_only_moves_reach_is_all_that_lies_high() -> None:
    items = _products()
    high = {r.place for i in items if isinstance(i, Instruction) for r in i.registers
            if r.kind is Kind.CORE and r.place is not None and r.place > 7}  # fmt: skip
    assert {12, 14} <= high <= {12, 13, 14, 15}  # SP and PC by PUSH and POP


def test_a_kernel_computes_what_its_source_says() -> None:
    random = np.random.default_rng(5)
    x = random.integers(-128, 128, _TAPS).astype(np.int8)
    weights = random.integers(-128, 128, (_TAPS, _FILTERS)).astype(np.int8)
    memory = Data()
    memory.lay(0x1000, x.tobytes(), is_constant=True)
    memory.lay(0x2000, weights.tobytes(), is_constant=True)
    y = memory.lay(0x3000, bytes(4 * _FILTERS))
    call(_products(), (0x1000, 0x2000, 0x3000), memory)
    wanted = x.astype(np.int32) @ weights.astype(np.int32)
    assert np.frombuffer(y, np.int32).tolist() == wanted.tolist()


@pytest.mark.needs_arm_gcc
def test_the_assembler_takes_it_for_a_core_without_thumb_2(tmp_path: Path) -> None:
    source = tmp_path / "kernel.s"
    source.write_text("\n".join((".syntax unified", ".thumb", *_directed(_products()), "")))
    command = ["arm-none-eabi-as", "-mcpu=cortex-m0plus", "-o", "kernel.o", "kernel.s"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _directed(items: list[Item]) -> list[str]:
    """Lines in which branches say where their label is: all of this kernel's go back."""
    return [f"{line}b" if line.startswith("bne ") and line[-1].isdigit() else line
            for line in printed(items)]  # fmt: skip


def test_nine_names_that_must_be_low_are_one_too_many() -> None:
    code = _assembly()
    names = code.registers(" ".join(f"n{i}" for i in range(9)))
    for name in names:
        code.movs(name, 1)
    for name in names:
        code.adds(names[0], names[0], name)
    with pytest.raises(AllocationError) as error:
        code.items  # noqa: B018
    assert "no register of r0 to r7 is left for `n8`: behind `movs n8, #1` there are n0, n1" in str(
        error.value
    )


@pytest.mark.parametrize(
    ("mnemonic", "operands"),
    [
        ("add", ("y", "x", "z")), ("adds", ("x", "x", 300)), ("muls", ("y", "x", "z")),
        ("eors", ("y", "x", "z")),
    ],
)  # fmt: skip
def test_what_has_no_encoding_of_16_bits_is_an_error(
    mnemonic: str, operands: tuple[str | int, ...]
) -> None:
    code = _assembly()
    names = dict(zip("xyz", code.arguments("x y z"), strict=True))
    code.adds(names["x"], names["x"], names["y"])
    getattr(code, mnemonic)(*(names[o] if isinstance(o, str) else o for o in operands))
    for name in names.values():
        code.str(name, names["x"][0])
    with pytest.raises(AllocationError, match=f"`{mnemonic} .*` has no encoding of 16 bits"):
        code.items  # noqa: B018
    wider = Assembly()
    for item in code._items:
        assert isinstance(item, Instruction)
        wider.add_instruction(item)
    assert len(wider.items) == len(code._items)
