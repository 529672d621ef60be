"""Real objects for the tests of the hygiene check: small C sources, compiled in batches."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy import resources
from mcu_deploy.hygiene import Finding

M0 = ("-mcpu=cortex-m0", "-mthumb", "-mfloat-abi=soft")
M3 = ("-mcpu=cortex-m3", "-mthumb", "-mfloat-abi=soft")
M4 = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=soft")
M4F = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
M7 = ("-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=soft")
M7SP = ("-mcpu=cortex-m7", "-mthumb", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard")
M7DP = ("-mcpu=cortex-m7", "-mthumb", "-mfpu=fpv5-d16", "-mfloat-abi=hard")
M33F = ("-mcpu=cortex-m33", "-mthumb", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard")
M55 = ("-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard")


@dataclass(frozen=True)
class FakeBoard:
    """The fields of a board that the check looks at, for cores that no shipped board has."""

    core: str
    architecture: str
    fpu: str = "none"
    float_abi: str = "soft"
    dsp: bool = False
    mve: bool = False


ON_M0 = FakeBoard("cortex-m0", "armv6s-m")
ON_M3 = FakeBoard("cortex-m3", "armv7-m")
ON_M4 = FakeBoard("cortex-m4", "armv7e-m", dsp=True)
ON_M4F = FakeBoard("cortex-m4", "armv7e-m", "fpv4-sp-d16", "hard", dsp=True)
ON_M7SP = FakeBoard("cortex-m7", "armv7e-m", "fpv5-sp-d16", "hard", dsp=True)
ON_M7DP = FakeBoard("cortex-m7", "armv7e-m", "fpv5-d16", "hard", dsp=True)
ON_M33F = FakeBoard("cortex-m33", "armv8-m.main", "fpv5-sp-d16", "hard", dsp=True)
ON_M55 = FakeBoard("cortex-m55", "armv8.1-m.main", "fp-armv8-d16", "hard", dsp=True, mve=True)


def network(
    name: str = "kws",
    extra: str = "",
    *,
    body: str = "",
    abi: str = "MCU_MODEL_ABI_VERSION",
    const: str = "const",
) -> str:
    """A network's source that keeps every rule, with more code at its end and in its function."""
    return f"""
#include "mcu/internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const int8_t _mcu_{name}_weights[64] = {{1, -2, 3}};
static int32_t _mcu_{name}_run(void *args, void *ids, int32_t n, void *r, void *c, void *h);
static const mcu_tensor_info_t _mcu_{name}_tensors[1] = {{
    {{"x", NULL, {{0, 0, 64}}, 0.1f, 0, 1, {{0, 8, 1}}}}}};
extern {const} mcu_model_t _mcu_network_{name};
{const} mcu_model_t _mcu_network_{name} = {{
    _mcu_{name}_run, 1, 1, {abi}, 64, 8, 1, "{name}",
    _mcu_{name}_tensors, _mcu_{name}_tensors, NULL, NULL}};
{extra}
static int32_t _mcu_{name}_run(void *args, void *ids, int32_t n, void *r, void *c, void *h) {{
    int32_t status = _mcu_run_begin(&_mcu_network_{name}, NULL, args, ids, n, h);
    int8_t *x = (int8_t *)((mcu_instance_t *)h)->workspace;
    int32_t sum = 0;
    (void)r;
    (void)c;
    for (int i = 0; i < 64; i++) {{
        sum += x[i] * _mcu_{name}_weights[i];
    }}
    {body}
    x[0] = (int8_t)sum;
    return status == 0 ? _mcu_run_end(&_mcu_network_{name}, NULL, args, h) : status;
}}
"""


def build(
    folder: Path, sources: dict[str, str], *flags: str, compiler: str = "arm-none-eabi-gcc"
) -> dict[str, Path]:
    """Compiles sources ("name.c" or "name.s": text) in one run; returns the object of each name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in sources.items():
        (folder / name).write_text(text)
    include = f"-I{resources.crt() / 'include'}"
    run([compiler, "-c", "-O2", "-w", include, *flags, *sources], folder)
    return {Path(name).stem: folder / f"{Path(name).stem}.o" for name in sources}


def run(command: list[str], folder: Path) -> None:
    """Runs a tool, and shows what it printed where it fails."""
    result = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stderr


def rules(findings: Iterable[Finding]) -> set[str]:
    return {finding.rule for finding in findings}


def symbols(findings: Iterable[Finding], rule: str) -> set[str]:
    return {finding.symbol for finding in findings if finding.rule == rule}
