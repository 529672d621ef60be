"""How C text is laid out, and how constants are written as arrays."""

from __future__ import annotations

import itertools
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sampling import CHARACTERS, examples

from mcu_deploy import resources
from mcu_deploy.backends.interface import CFunction, Constant, Parameter
from mcu_deploy.codegen import constants, text
from mcu_deploy.codegen.symbols import Symbols

ITEMS = st.lists(st.text("abc", min_size=1, max_size=40), min_size=1, max_size=12)


@given(st.text("f", min_size=1, max_size=50), ITEMS)
def test_wrapped_calls_fit_and_lose_nothing(head: str, items: list[str]) -> None:
    wrapped = text.wrap(f"    {head}(", items, ");")
    assert "".join(wrapped.split()) == f"{head}({','.join(items)});"
    lines = wrapped.split("\n")
    assert all(len(line) <= 100 for line in lines)
    assert len({len(line) - len(line.lstrip()) for line in lines[1:]}) <= 1


def test_wrapping_is_that_of_clang_format() -> None:
    assert text.wrap("    f(", ["a", "b"], ");") == "    f(a, b);"
    assert text.wrap("f(", [], ")") == "f()"
    assert text.wrap("    f(", ["a" * 60, "b" * 60], ");") == (
        f"    f({'a' * 60},\n      {'b' * 60});"
    )
    four = ["a" * 40, "b" * 40, "c" * 40, "d" * 40]
    assert text.wrap(f"    {'f' * 50}(", four, ");") == (
        f"    {'f' * 50}(\n        {four[0]}, {four[1]},\n        {four[2]}, {four[3]});"
    )
    assert text.wrap(f"    {'f' * 60}(", ["a" * 50, "b"], ");") == (
        f"    {'f' * 60}(\n        {'a' * 50}, b);"
    )


def test_tables_are_aligned() -> None:
    rows = [("a", "1", "x"), ("bbb", "1000", "")]
    assert text.table(rows, right=(1,)) == ["a       1  x", "bbb  1000"]
    assert text.table(rows, gap=1) == ["a   1    x", "bbb 1000"]
    assert text.table([]) == []


_WORD = st.text(CHARACTERS, min_size=1, max_size=30)


@settings(max_examples=examples(100, 8), deadline=None)
@given(st.lists(_WORD.filter(lambda s: "\n" not in s), min_size=1))
def test_a_wrapped_command_is_the_same_command(words: list[str]) -> None:
    quoted = [shlex.quote(word) for word in words]
    lines = text.shell_lines(quoted, 96)
    assert shlex.split("\n".join(lines).replace(" \\\n", " ")) == words
    for line, following in itertools.pairwise(lines):
        assert len(line) <= 96 or line.removesuffix(" \\").strip() in quoted
        assert len(line) + 1 + len(following.removesuffix(" \\").strip()) > 80


ARRAYS = st.sampled_from(
    ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64",
     "bool"]
).flatmap(lambda kind: hnp.arrays(np.dtype(kind), st.integers(1, 40)))  # fmt: skip


def _named(index: int, value: npt.NDArray[Any]) -> tuple[Symbols, str]:
    symbols = Symbols("t")
    return symbols, symbols.constant(Constant(f"c{index}", value), f"layer{index}")


@pytest.mark.needs_host_gcc
@settings(max_examples=examples(8, 4), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(ARRAYS, min_size=20, max_size=40))
def test_arrays_in_c_have_the_bytes_of_the_constants(values: list[npt.NDArray[Any]]) -> None:
    """Extremes, infinities, denormals, negative zero and quiet NaNs included."""
    ends = [
        np.array([np.iinfo(k).min, np.iinfo(k).max, 0], k) for k in ("int32", "int64", "uint64")
    ]
    for kind in (np.float32, np.float64):
        info = np.finfo(kind)
        odd = [info.max, -info.max, info.tiny, info.smallest_subnormal, -0.0, np.inf, -np.inf]
        ends.append(np.array([*odd, np.nan, -np.nan, 0.1, 1 / 3], kind))
    values = [*ends, *values]
    definitions, prints = [], []
    for index, value in enumerate(values):
        if value.dtype.kind == "f":  # a compiler may make any NaN of a signalling one
            value[np.isnan(value)] = np.nan
        symbols, symbol = _named(index, value)
        definitions.append(constants.array(symbols.constants[0]))
        prints.append(f"    fwrite({symbol}, 1, sizeof {symbol}, stdout);")
    source = "\n".join(
        ["#include <stdint.h>", "#include <stdio.h>", '#include "mcu/runtime.h"', *definitions,
         "int main(void) {", *prints, "    return 0;", "}\n"]
    )  # fmt: skip
    assert all(len(line) <= 100 for line in source.splitlines())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "main.c"
        path.write_text(source)
        warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
        include = f"-I{resources.crt() / 'include'}"
        command = ["gcc", "-std=c99", *warnings, include, str(path), "-o", f"{folder}/main"]
        built = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert built.returncode == 0, built.stderr[:3000]
        printed = subprocess.run([f"{folder}/main"], capture_output=True, check=True).stdout
    assert printed == b"".join(v.tobytes() for v in values)


def test_equal_constants_are_stored_once_and_aligned() -> None:
    symbols = Symbols("n")
    ones = np.ones(3, np.int8)
    first = symbols.constant(Constant("weights", ones, alignment=1), "a")
    assert symbols.constant(Constant("weights", ones.copy(), alignment=1), "b") == first
    assert symbols.constant(Constant("weights", ones.view(np.uint8), alignment=1), "b") != first
    bias = symbols.constant(Constant("bias", np.ones(2, np.int32), alignment=1), "c")
    wide = symbols.constant(Constant("weights", ones, alignment=16), "d")
    assert wide != first, "the one that is there is not aligned enough"
    by_name = {c.symbol: c for c in symbols.constants}
    assert (by_name[first].offset, by_name[bias].offset, by_name[wide].offset) == (0, 8, 16)
    assert symbols.alignment == 16
    assert len(symbols.weights) == 19
    assert constants.array(by_name[wide]).startswith("MCU_ALIGNED(16) static const int8_t ")
    again = symbols.constant(Constant("bias", np.zeros(2, np.int32)), "c")
    assert again == f"{bias}_2", "two constants of a layer have one stem"
    assert constants.array(symbols.constants[-1]).startswith("static const int32_t ")
    symbols.constant(Constant("pairs", np.ones(2, np.int16), alignment=4), "e")
    assert constants.array(symbols.constants[-1]).startswith("MCU_ALIGNED(4) static ")


def test_functions_are_emitted_once_and_helpers_keep_their_names() -> None:
    symbols = Symbols("n")
    helper = CFunction("clamp", (Parameter("float", "x"),), "{ return x; }", "float", inline=True)
    user = CFunction("relu", (Parameter("float *", "y"),), "{ y[0] = $clamp(y[0]); }")
    other = CFunction("relu", (Parameter("float *", "y"),), "{ y[1] = $clamp(y[1]); }")
    assert [symbols.kernel([helper], f) for f in (user, other, user)] == [
        "_mcu_n_relu", "_mcu_n_relu_2", "_mcu_n_relu",
    ]  # fmt: skip
    assert [f.text for f in symbols.functions] == [
        "static inline float _mcu_n_clamp(float x) { return x; }",
        "MCU_FUNCTION void _mcu_n_relu(float *y) { y[0] = _mcu_n_clamp(y[0]); }",
        "MCU_FUNCTION void _mcu_n_relu_2(float *y) { y[1] = _mcu_n_clamp(y[1]); }",
    ]
    # the template's own names stay free
    assert symbols.function(CFunction("layers", (), "{ }", inline=True)) == "_mcu_n_layers_2"
    assert symbols.function(CFunction("piece7", (), "{ }")) == "_mcu_n_piece7_2"


def test_attributes_stand_before_the_result() -> None:
    symbols = Symbols("n")
    inline = CFunction("low", (), "{ }", inline=True, attributes=("always_inline",))
    own = CFunction("high", (), "{ $low(); }", attributes=("aligned(8)", 'section(".ramfunc")'))
    symbols.kernel((inline, own), CFunction("top", (), "{ $high(); }"))
    assert [f.text for f in symbols.functions] == [
        "static inline __attribute__((always_inline)) void _mcu_n_low(void) { }",
        'MCU_FUNCTION __attribute__((aligned(8), section(".ramfunc"))) void _mcu_n_high(void) '
        "{ _mcu_n_low(); }",
        "MCU_FUNCTION void _mcu_n_top(void) { _mcu_n_high(); }",
    ]


def test_numbers_that_are_arguments() -> None:
    for ctype, value, written in (
        ("int32_t", -(2**31), "(-2147483647 - 1)"), ("int32_t", 7.0, "7"),
        ("uint32_t", 2**32 - 1, "4294967295U"), ("float", -0.1, "-0.1F"),
    ):  # fmt: skip
        assert constants.scalar(ctype, value) == written


def test_two_workloads_may_have_helpers_of_one_name() -> None:
    symbols = Symbols("n")
    one = CFunction("clamp", (), "{ return 1; }", "int", inline=True)
    two = CFunction("clamp", (), "{ return 2; }", "int", inline=True)
    user = CFunction("use", (), "{ return $clamp(); }", "int")
    assert symbols.kernel((one,), user) == "_mcu_n_use"
    assert symbols.kernel((two,), user) == "_mcu_n_use_2"
    assert symbols.kernel((one,), user) == "_mcu_n_use", "equal functions are emitted once"
    assert len(symbols.functions) == 4


def test_places_in_a_naked_function_have_its_name_and_functions_have_owners() -> None:
    symbols = Symbols("n")
    helper = CFunction("low", (), "{ }")
    first, second = (
        CFunction("jump", (), f'{{ __asm__("{n}: bx r1\\n" "$.to1: bl $low\\n"); }}', naked=True)
        for n in (1, 2)
    )
    assert symbols.kernel([helper], first, "One") == "_mcu_n_jump"
    assert symbols.kernel([helper], second, "Two") == "_mcu_n_jump_2"
    assert "_mcu_n_jump.to1: bl _mcu_n_low" in symbols.functions[1].text
    assert "_mcu_n_jump_2.to1: bl _mcu_n_low" in symbols.functions[2].text
    assert symbols.owners == {
        "_mcu_n_low": {"One", "Two"}, "_mcu_n_jump": {"One"}, "_mcu_n_jump_2": {"Two"},
    }  # fmt: skip
