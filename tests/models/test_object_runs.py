"""The eight MLPerf Tiny models' C: without warnings for both compilers, clean under sanitizers."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import network_programs as programs
import numpy as np
import pytest
from models.mlperf import FLOAT32, INT8, MODELS, compiled
from sampling import chosen

from mcu_deploy.boards import load_board
from mcu_deploy.codegen.network import ABI
from mcu_deploy.compiled import Network

_TWO = (INT8[0], FLOAT32[0])


def short(model: str) -> str:
    return model.removeprefix("mlperf_")


def networks_of(models_dir: Path, board: str, models: Sequence[str] = MODELS) -> list[Network]:
    return [compiled(models_dir / m / "model.onnx", board, short(m)) for m in models]


@pytest.mark.needs_host_gcc
@pytest.mark.parametrize(
    "models", [(*INT8, FLOAT32[0]), pytest.param(FLOAT32[1:], marks=pytest.mark.matrix)]
)
def test_all_eight_run_under_sanitizers_and_give_the_oracle_s_values(
    models: Sequence[str], models_dir: Path, tmp_path: Path
) -> None:
    """Compiled with -Werror and AddressSanitizer and UBSan, the workspace of exactly its size."""
    networks = networks_of(models_dir, "host", models)
    program = programs.host_program(networks, tmp_path, flags=programs.SANITIZERS)
    inputs = [np.load(models_dir / model / "io.npz")["in0"][1] for model in models]
    raw = programs.run([program], given=b"".join(i.tobytes() for i in inputs))
    answers = programs.split(raw, networks)
    for network, value, actual in zip(networks, inputs, answers, strict=True):
        programs.assert_equal(actual, programs.expected(network, [value]))


@pytest.mark.needs_arm_gcc
@pytest.mark.parametrize("models", chosen([_TWO, MODELS], [_TWO]))
def test_all_eight_compile_without_warnings_for_cortex_m(
    models: Sequence[str], models_dir: Path, tmp_path: Path
) -> None:
    names = programs.write(networks_of(models_dir, "mps2-an386", models), tmp_path)
    flags = ["arm-none-eabi-gcc", *load_board("mps2-an386").cflags, "-O2"]
    programs.compile_all(names, tmp_path, [*flags, "-std=c99"], ["-Wstrict-prototypes"])
    for standard in ("c99", "c11"):
        syntax = [*flags, f"-std={standard}", *programs.WARNINGS, f"-I{programs.CRT / 'include'}"]
        sources = [tmp_path / f"network_{name}.c" for name in names]
        programs.run([*syntax, "-fsyntax-only", *sources])


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_host_gcc
@pytest.mark.parametrize("models", chosen([_TWO, MODELS], [_TWO]))
def test_the_headers_are_c_and_cpp_and_refuse_another_abi(
    models: Sequence[str], models_dir: Path, tmp_path: Path
) -> None:
    names = programs.write(networks_of(models_dir, "mps2-an386", models), tmp_path)
    networks = ", ".join(f"mcu_network_{name}" for name in names)
    lines = [
        *(f'#include "network_{name}.h"' for name in [*names, *names]),
        "const mcu_model_t *const *all_networks(void);",
        "const mcu_model_t *const *all_networks(void) {",
        f"    static const mcu_model_t *const all[] = {{{networks}}};",
        "    return all;",
        "}",
    ]
    for name in names:
        size = f"[MCU_{name.upper()}_WORKSPACE_SIZE];"
        lines.append(f"MCU_ALIGNED(MCU_{name.upper()}_WORKSPACE_ALIGNMENT)")
        lines.append(f"extern uint8_t workspace_{name}{size}")
        lines.append(f"uint8_t workspace_{name}{size}")
    (tmp_path / "all.c").write_text("\n".join(lines) + "\n")
    include = [f"-I{programs.CRT / 'include'}", f"-I{tmp_path}"]
    for prefix in ("", "arm-none-eabi-"):
        for language, standard in (("c", "c99"), ("c", "c11"), ("c++", "c++11"), ("c++", "c++17")):
            gcc = [f"{prefix}gcc", "-x", language, f"-std={standard}", *programs.WARNINGS]
            if prefix and language == "c++":
                gcc.append("-nostdinc++")
            programs.run([*gcc, *include, "-fsyntax-only", tmp_path / "all.c"])

    other = tmp_path / "other" / "mcu"
    other.mkdir(parents=True)
    for header in (programs.CRT / "include" / "mcu").iterdir():
        text = header.read_text()
        if header.name == "model.h":
            text, count = re.subn(r"(define MCU_MODEL_ABI_MAJOR +)\d+U", r"\g<1>99U", text)
            assert count == 1
        (other / header.name).write_text(text)
    refused = subprocess.run(
        ["gcc", "-std=c99", f"-I{other.parent}", f"-I{tmp_path}", "-c", f"network_{names[0]}.c"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert refused.returncode != 0
    sentence = f"network_{names[0]} is for ABI {ABI[0]}.{ABI[1]} of mcu/model.h: build it again"
    assert f'#error "{sentence}"' in refused.stderr
