"""A network's C by other compilers and options than ours: the oracle's bits from all of them.

Its kernels are functions in assembly by the procedure call standard, in which a compiler has no
say. What could go wrong is how they are called, and what a compiler makes of arguments of which it
sees no use.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import network_programs as programs
import numpy as np
import pytest
from clang import clang

from mcu_deploy import interpreter
from mcu_deploy.boards import load_board
from mcu_deploy.compiler import compile_model
from mcu_deploy.options import Options

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

_MODELS = ("kws", "vww", "ic", "ad")
MAIN = """
#include <string.h>
#include "mcu/runtime.h"
#include "network_@NAME@.h"

MCU_ALIGNED(16) static uint8_t workspace[MCU_@UPPER@_WORKSPACE_SIZE];
static const int8_t sample[] = {@SAMPLE@};
static const int8_t expected[] = {@EXPECTED@};

int main(void) {
    mcu_instance_t instance;
    DLTensor input, output;
    int32_t status =
        mcu_instance_init(&instance, mcu_network_@NAME@, workspace, sizeof workspace);
    for (int run = 0; run < 2 && status == MCU_OK; run++) {
        mcu_instance_input(&instance, 0, &input);
        mcu_instance_output(&instance, 0, &output);
        memcpy(input.data, sample, sizeof sample);
        status = mcu_instance_run(&instance, &input, 1, &output, 1);
        if (status == MCU_OK && memcmp(output.data, expected, sizeof expected) != 0) {
            return 50 + run;
        }
    }
    return status == MCU_OK ? 7 : 100 - (int)status;
}
"""
_LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os", "-Og")
_FRAMES = ("-fomit-frame-pointer", "-fno-omit-frame-pointer")
_PARTITIONS = ("none", "one", "balanced", "1to1", "max")
_EVERY = [
    *(pytest.param("clang", (level, frame), marks=pytest.mark.needs_clang)
      for level, frame in product(_LEVELS, _FRAMES)),
    *(("gcc", (level, frame)) for level, frame in product(_LEVELS, _FRAMES)),
    *(("gcc", (level, "-flto", f"-flto-partition={how}"))
      for level in ("-O2", "-O3", "-Os") for how in _PARTITIONS),
    *(("gcc", (level, "-flto", _FRAMES[1])) for level in ("-O0", "-O1", "-Og")),
    ("gcc", ("-Os", "-mlong-calls")),
    pytest.param("clang", ("-Oz", _FRAMES[1]), marks=pytest.mark.needs_clang),
]  # fmt: skip
_M4, _M7 = "mps2-an386", "mps2-an500"
_SOME = [
    *(pytest.param("clang", (level, _FRAMES[1]), marks=pytest.mark.needs_clang)
      for level in _LEVELS),
    *(("gcc", (level, "-flto", _FRAMES[1])) for level in ("-O0", "-O2", "-O3")),
]  # fmt: skip
_FEW = [
    pytest.param(_M4, "kws", "clang", ("-O2", _FRAMES[1]), marks=pytest.mark.needs_clang),
    (_M4, "kws", "gcc", ("-O0", _FRAMES[1])),
    (_M4, "kws", "gcc", ("-O3", "-flto", "-flto-partition=none")),
]


def _cases() -> list[object]:
    every = [
        pytest.param(
            board, name, *getattr(case, "values", case),
            marks=[pytest.mark.matrix, *getattr(case, "marks", ())],
        )
        for board, cases in ((_M4, _EVERY), (_M7, _SOME)) for name in _MODELS for case in cases
    ]  # fmt: skip
    return [*_FEW, *every]


@functools.cache
def _program(models_dir: Path, board: str, name: str) -> tuple[dict[str, bytes], str]:
    """The sources of a network, and a program that runs it."""
    model = models_dir / f"mlperf_{name}_int8"
    options = Options(weights="array")
    network = compile_model(model / "model.onnx", load_board(board), name=name, options=options)
    sample = np.load(model / "io.npz")["in0"][0]
    (output,) = interpreter.run(network.graph, [sample])
    main = MAIN.replace("@NAME@", name).replace("@UPPER@", name.upper())
    main = main.replace("@SAMPLE@", programs.c_array(sample))
    return dict(network.sources.files), main.replace("@EXPECTED@", programs.c_array(output))


@pytest.mark.parametrize(("board", "name", "compiler", "options"), _cases())
def test_every_compiler_makes_the_same_bits(
    models_dir: Path, tmp_path: Path, board: str, name: str, compiler: str, options: Sequence[str]
) -> None:
    files, main = _program(models_dir, board, name)
    for file, content in files.items():
        (tmp_path / file).write_bytes(content)
    (tmp_path / "main.c").write_text(main)
    flags = [*load_board(board).cflags, "-std=c99", "-ffp-contract=off"]
    gcc = ["arm-none-eabi-gcc", *flags]
    other = gcc
    if compiler == "clang":
        other = [*(clang() or ()), *flags]
    include = [f"-I{programs.CRT / 'include'}"]
    source = f"network_{name}.c"
    programs.run(
        [*other, *programs.WARNINGS, *options, *include, "-c", source, "-o", "network.o"],
        cwd=tmp_path,
    )
    own = options if compiler == "gcc" else ["-O2"]
    programs.run(
        [*gcc, *own, *include, "-nostartfiles", "--specs=nano.specs", "-T",
         programs.TARGET / "mps2-an386.ld", programs.TARGET / "startup.c", "main.c", "network.o",
         *programs.RUNTIME, "-lm", "-o", "program.elf"],
        cwd=tmp_path,
    )  # fmt: skip
    assert programs.run_on_cortex_m4(tmp_path / "program.elf", machine=board) == (7, "")
