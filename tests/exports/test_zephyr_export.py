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
    assert kconfig.syms["MAIN_STACK_SIZE"].str_value == "1280"
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


# As much of Zephyr's CMake package as a module and an application see: the version that is asked
# for, the list of modules (cmake/modules/zephyr_module.cmake: the cache, then the environment, then
# what the CMakeLists.txt set, and in each of them both names), and what adds a library.
PACKAGE_VERSION = """
set(PACKAGE_VERSION {version})
if(NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
"""
PACKAGE = """
set(KERNEL_VERSION_MAJOR {major})
set(KERNEL_VERSION_MINOR {minor})
foreach(name {names})
  set(local_${{name}} ${{${{name}}}})
endforeach()
foreach(scope CACHE ENV local)
  foreach(name {names})
    if(scope STREQUAL local)
      set(value ${{local_${{name}}}})
    elseif(scope STREQUAL CACHE)
      set(value $CACHE{{${{name}}}})
    else()
      set(value $ENV{{${{name}}}})
    endif()
    if(value AND NOT DEFINED found)
      set(found "${{value}}")
    endif()
  endforeach()
endforeach()
enable_language(C)
add_library(app STATIC)
set(CONFIG_MCU_DEPLOY_SINE y)
set(CONFIG_MCU_DEPLOY_OTHER y)
set(CONFIG_MCU_DEPLOY_HOT y)
set(CONFIG_XIP y)
set(CONFIG_ARCH_HAS_RAMFUNC_SUPPORT y)
macro(zephyr_include_directories)
endmacro()
macro(zephyr_library_named name)
  add_library(${{name}} STATIC)
  set(library ${{name}})
endmacro()
macro(zephyr_library_compile_definitions)
  target_compile_definitions(${{library}} PRIVATE ${{ARGN}})
  message("${{library}}: with ${{ARGN}}")
endmacro()
macro(zephyr_library_sources)
  target_sources(${{library}} PRIVATE ${{ARGN}})
  message("${{library}}: ${{ARGN}}")
endmacro()
foreach(module ${{found}})
  if(EXISTS "${{module}}/CMakeLists.txt")
    get_filename_component(module "${{module}}" ABSOLUTE)
    string(MD5 folder "${{module}}")
    add_subdirectory("${{module}}" "${{CMAKE_BINARY_DIR}}/${{folder}}")
  else()
    message("another module: ${{module}}")
  endif()
endforeach()
"""


def configured(folder: Path, version: str, app: Path, **environment: str) -> tuple[int, str]:
    """CMake's exit code for an application with such a Zephyr, and what it says, in one line."""
    package = folder / f"zephyr-{version}/share/zephyr-package/cmake"
    package.mkdir(parents=True, exist_ok=True)
    major, minor, _ = version.split(".")
    new = version >= "3.4"
    names = "EXTRA_ZEPHYR_MODULES ZEPHYR_EXTRA_MODULES" if new else "ZEPHYR_EXTRA_MODULES"
    (package / "ZephyrConfigVersion.cmake").write_text(PACKAGE_VERSION.format(version=version))
    text = PACKAGE.format(major=major, minor=minor, names=names)
    (package / "ZephyrConfig.cmake").write_text(text)
    done = subprocess.run(
        ["cmake", "-S", app, "-B", folder / "build", f"-DZephyr_DIR={package}", "-G", "Ninja"],
        env=os.environ | environment, capture_output=True, text=True,
    )  # fmt: skip
    shutil.rmtree(folder / "build", ignore_errors=True)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.mark.needs_cmake
def test_an_older_zephyr_is_a_sentence(tmp_path: Path, module: Path) -> None:
    code, said = configured(tmp_path, "3.3.0", module / "sample")
    assert code != 0
    assert "This sample needs Zephyr 3.4 or newer" in said
    assert "found: 3.3.0" in said
    app = tmp_path / "app"
    app.mkdir()
    (app / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\n"
        f"set(ZEPHYR_EXTRA_MODULES {module})\nfind_package(Zephyr REQUIRED)\nproject(app)\n"
        f"target_sources(app PRIVATE {module}/sample/src/main.c)\n"
    )
    code, said = configured(tmp_path, "3.3.0", app)
    assert code != 0
    assert "mcu_deploy_sine needs Zephyr 3.4 or newer, and this is 3.3." in said
    assert "ZEPHYR_EXTRA_MODULES is called EXTRA_ZEPHYR_MODULES there" in said
    assert configured(tmp_path, "3.4.0", app)[0] == 0


@pytest.mark.needs_cmake
@pytest.mark.parametrize("name", ["ZEPHYR_EXTRA_MODULES", "EXTRA_ZEPHYR_MODULES"])
def test_the_sample_finds_its_module_beside_others_of_the_environment(
    name: str, tmp_path: Path, module: Path
) -> None:
    code, said = configured(tmp_path, "4.2.99", module / "sample", **{name: "/mine"})
    assert code == 0, said
    assert "another module: /mine" in said
    assert "mcu_deploy_sine: src/network_sine.c" in said


@pytest.mark.needs_cmake
def test_kernels_in_ram_lie_where_zephyr_copies_from(tmp_path: Path, hot: Path, sine: Path) -> None:
    for build in (hot, sine):
        export(build, "zephyr", tmp_path / build.name)
    more = str(tmp_path / "hot")
    code, said = configured(tmp_path, "4.2.99", tmp_path / "sine/sample", EXTRA_ZEPHYR_MODULES=more)
    assert code == 0, said
    assert 'mcu_deploy_hot: with MCU_HOT_SECTION=".ramfunc"' in said
    assert "mcu_deploy_sine: with" not in said
    # A network without such kernels says nothing of them.
    assert "Code in RAM" in (tmp_path / "hot/README.md").read_text()
    assert "Code in RAM" not in (tmp_path / "sine/README.md").read_text()


@pytest.mark.needs_cmake
def test_two_modules_have_one_runtime(tmp_path: Path, module: Path, other: Path) -> None:
    export(other, "zephyr", tmp_path / "other")
    code, said = configured(
        tmp_path, "4.2.99", module / "sample", EXTRA_ZEPHYR_MODULES=str(tmp_path / "other")
    )
    assert code == 0, said
    assert "mcu_deploy_sine: " in said
    assert "mcu_deploy_other: " in said
    assert said.count("mcu_deploy_runtime: ") == 1


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
