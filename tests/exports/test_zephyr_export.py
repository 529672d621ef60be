"""The exported Zephyr module: its Kconfig by Kconfiglib, and the sample by Zephyr itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import kconfiglib
import pytest
import yaml

from mcu_deploy.api.exporting import export

# What Zephyr's own Kconfig has of a core: its arch/Kconfig and arch/arm/core/cortex_m/Kconfig.
ZEPHYR = """
config CPU_{core}
	def_bool y
config CPU_HAS_FPU
	def_bool {fpu}
config FPU
	bool "Floating point unit (FPU)"
	depends on CPU_HAS_FPU
config FPU_SHARING
	bool "FPU register sharing"
	depends on FPU
config MAIN_STACK_SIZE
	int "Size of stack for initialization and main thread"
	default 1024
source "{module}/Kconfig"
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory, sine: Path, quarter: Path) -> Path:
    folder = tmp_path_factory.mktemp("zephyr") / "sine"
    export(sine, "zephyr", folder, data=quarter)
    return folder


@pytest.mark.parametrize(
    ("core", "fpu", "expected"),
    [("CORTEX_M4", "y", "y"), ("CORTEX_M4", "n", "n"), ("CORTEX_M3", "n", "n")],
)
def test_the_network_can_be_chosen_on_its_core_alone(
    tmp_path: Path, module: Path, core: str, fpu: str, expected: str
) -> None:
    (tmp_path / "Kconfig").write_text(ZEPHYR.format(core=core, fpu=fpu, module=module))
    kconfig = kconfiglib.Kconfig(str(tmp_path / "Kconfig"), warn_to_stderr=False)
    kconfig.load_config(str(module / "sample/prj.conf"))
    assert kconfig.syms["MCU_DEPLOY_SINE"].str_value == expected
    assert kconfig.syms["FPU_SHARING"].str_value == expected
    assert kconfig.syms["MAIN_STACK_SIZE"].str_value == "1536"
    assert not [w for w in kconfig.warnings if "undefined symbol" in w]


def test_what_zephyr_and_twister_read_names_what_is_there(module: Path) -> None:
    described = yaml.safe_load((module / "zephyr/module.yml").read_text())
    build = described["build"]
    assert (module / build["cmake"] / "CMakeLists.txt").is_file()
    assert (module / build["kconfig"]).is_file()
    [sample] = described["samples"]
    scenarios = yaml.safe_load((module / sample / "sample.yaml").read_text())
    assert list(scenarios["tests"]) == ["sample.mcu_deploy.sine"]
    [expected] = scenarios["common"]["harness_config"]["regex"]
    assert re.search(expected, "sine: 1 of 1 values as expected, value 126")
    named = re.findall(r"src/\S+\.c", (module / "CMakeLists.txt").read_text())
    assert sorted(named) == sorted(
        str(p.relative_to(module)) for p in (module / "src").rglob("*.c")
    )


@pytest.mark.matrix
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.skipif(
    "ZEPHYR_BASE" not in os.environ or shutil.which("west") is None,
    reason="Zephyr is not there; set ZEPHYR_BASE to the folder zephyr of a west workspace, with "
    "west and Zephyr's requirements in the environment",
)
def test_west_builds_the_sample_and_it_answers(tmp_path: Path, module: Path) -> None:
    compiler = Path(str(shutil.which("arm-none-eabi-gcc"))).resolve()
    environment = {
        "ZEPHYR_TOOLCHAIN_VARIANT": "gnuarmemb",
        "GNUARMEMB_TOOLCHAIN_PATH": str(compiler.parent.parent),
        **os.environ,
    }
    built = subprocess.run(
        ["west", "build", "-b", "mps2/an386", "-d", tmp_path / "build", module / "sample"],
        cwd=os.environ["ZEPHYR_BASE"], env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    assert "warning: " not in built.stdout + built.stderr
    with subprocess.Popen(
        ["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none",
         "-kernel", tmp_path / "build/zephyr/zephyr.elf"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    ) as emulator:  # fmt: skip
        assert emulator.stdout is not None
        said = [emulator.stdout.readline() for _ in range(2)]  # Zephyr's banner is the first
        emulator.kill()
    assert said[1] == "sine: 1 of 1 values as expected, value 126\n"
