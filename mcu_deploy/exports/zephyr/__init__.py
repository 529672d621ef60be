"""A Zephyr module: CMake, Kconfig, and a sample that west and twister build.

Sources, of zephyrproject-rtos/zephyr: doc/develop/modules.rst and scripts/zephyr_module.py (the
module), scripts/schemas/twister/testsuite-schema.yaml (sample.yaml), arch/Kconfig and
arch/arm/core/cortex_m/Kconfig (FPU, CPU_CORTEX_M4), cmake/gcc-m-cpu.cmake and gcc-m-fpu.cmake (what
these compile for).
"""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.exports import parts
from mcu_deploy.exports.model import Exported
from mcu_deploy.exports.rendering import below, render

NAME = "zephyr"
ARCHIVE = None

# What twister builds the sample for: a board of Zephyr with such a core, and one whose core has its
# options too (FPU, DSP, MVE).
_BOARDS = {
    "cortex-m0": ("qemu_cortex_m0",),
    "cortex-m0plus": ("mps2/an383",),
    "cortex-m3": ("mps2/an385",),
    "cortex-m4": ("mps2/an386",),
    "cortex-m7": ("mps2/an500", "nucleo_f746zg"),
    "cortex-m33": ("mps2/an521/cpu0", "nrf5340dk/nrf5340/cpuapp"),
    "cortex-m55": ("mps3/corstone300/fvp",),
    "cortex-m85": ("mps3/corstone310/fvp",),
}
# The first with EXTRA_ZEPHYR_MODULES, which was ZEPHYR_EXTRA_MODULES before (pull request 57994).
_OLDEST = "3.4"
# main's frame, printk, and what an interrupt pushes.
_STACK_BESIDE_NETWORKS = 1024


def files(exported: Exported) -> Mapping[str, bytes]:
    """The content of each file by its path."""
    symbols = _symbols(exported)
    values = {
        "symbols": symbols,
        "board": _BOARDS[exported.processor.core][-1 if len(symbols) > 1 else 0],
        "stack": _stack(exported),
        "oldest": _OLDEST,
    }

    def text(name: str) -> bytes:
        return render(f"zephyr/{name}.j2", exported, **values)

    return {
        "zephyr/module.yml": text("module.yml"),
        "CMakeLists.txt": text("CMakeLists.txt"),
        "Kconfig": text("Kconfig"),
        "README.md": text("README.md"),
        **parts.library(exported),
        "sample/CMakeLists.txt": text("sample/CMakeLists.txt"),
        "sample/prj.conf": text("sample/prj.conf"),
        "sample/sample.yaml": text("sample/sample.yaml"),
        "sample/src/main.c": render("zephyr/sample/main.c.j2", exported),
        **below("sample/src", parts.samples(exported)),
    }


def _symbols(exported: Exported) -> tuple[str, ...]:
    """The Kconfig symbols without which the networks' instructions are not those of the core."""
    processor = exported.processor
    found = [f"CPU_{processor.core.upper().replace('-', '_')}"]
    if processor.dsp and processor.architecture.startswith("armv8"):
        found.append("ARMV8_M_DSP")
    if processor.mve:
        found.append("ARMV8_1_M_MVEI" if processor.fpu == "none" else "ARMV8_1_M_MVEF")
    if processor.fpu != "none":
        found.append("FPU")
    return tuple(found)


def _stack(exported: Exported) -> int:
    """CONFIG_MAIN_STACK_SIZE of the sample, in bytes."""
    deepest = max(n.report.stack_bytes for n in exported.networks)
    return _STACK_BESIDE_NETWORKS + -(-deepest // 256) * 256
