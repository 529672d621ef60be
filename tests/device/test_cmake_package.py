"""`find_package(mcu_deploy)`: a user's project of two networks, with Ninja and with Make.

From the repository, and from a wheel in an environment of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import network_programs as programs
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from sampling import first

from mcu_deploy import formats, resources
from mcu_deploy.api.depfile import _listed
from mcu_deploy.boards import load_core
from mcu_deploy.compiler import compile_model

pytestmark = [pytest.mark.needs_cmake, pytest.mark.needs_arm_gcc]

EXAMPLE = resources.root() / "examples" / "cmake"
KWS = resources.examples() / "kws" / "model.onnx"
NETWORK = "mcu-deploy: network "


@dataclass(frozen=True)
class Project:
    """A copy of examples/cmake, and the commands of the environment that it is built with."""

    source: Path
    build: Path
    commands: Path

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        path = f"{self.commands}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=300, env={**os.environ, "PATH": path},
        )  # fmt: skip

    def configure(self, *options: str | Path) -> subprocess.CompletedProcess[str]:
        folder = self.run("mcu-deploy", "cmake-dir").stdout.strip()
        toolchain = f"{folder}/arm-none-eabi.cmake"
        return self.run(
            "cmake", "-S", self.source, "-B", self.build, "--toolchain", toolchain, *options
        )

    def make(self) -> list[str]:
        """Builds; the networks that were compiled for it."""
        done = self.run("cmake", "--build", self.build)
        assert done.returncode == 0, done.stdout + done.stderr
        return sorted(re.findall(rf"{NETWORK}(\w+)", done.stdout))


def project(folder: Path, commands: Path) -> Project:
    shutil.copytree(EXAMPLE, folder / "a project")
    return Project(folder / "a project", folder / "to build", commands)


def printed_by(model: Path) -> str:
    """What main.c prints, by the oracle: of a model for kws, and of the sine."""
    core = load_core("cortex-m4", "fpv4-sp-d16")
    kws = compile_model(model, core, name="kws")
    sine = compile_model(EXAMPLE / "sine.tflite", core, name="sine")
    zeros = np.zeros(kws.graph.type(kws.graph.inputs[0]).shape, np.int8)
    scores = programs.expected(kws, [zeros])[0].ravel()
    text = f"class {int(scores.argmax())}, score {int(scores.max())}\n"
    for x in range(-128, 128, 64):
        (y,) = programs.expected(sine, [np.full((1, 1), x, np.int8)])
        text += f"sine {x} is {int(y.ravel()[0])}\n"
    return text


def assert_it_follows_the_model(made: Project, generator: str, model: Path) -> None:
    """Builds, runs, builds again; with a network that is made anew where its model is."""
    done = made.configure("-G", generator, f"-DKWS_MODEL={model}")
    assert done.returncode == 0, done.stderr
    assert made.make() == ["kws", "sine"]
    firmware = made.build / "firmware"
    assert programs.run_on_cortex_m4(firmware) == (0, printed_by(model))
    assert made.make() == []
    before = firmware.stat().st_mtime_ns
    model.touch()
    assert made.make() == ["kws"]
    assert firmware.stat().st_mtime_ns > before
    assert made.make() == []


@pytest.fixture
def here(tmp_path: Path) -> Project:
    return project(tmp_path, Path(sys.executable).parent)


@pytest.mark.needs_qemu
@pytest.mark.parametrize("generator", first(["Ninja", "Unix Makefiles"]))
def test_a_project_of_two_networks(here: Project, generator: str, tmp_path: Path) -> None:
    """With a small model in the place of the other; and what does not fit together is found."""
    model = tmp_path / "small.tflite"
    shutil.copy(EXAMPLE / "sine.tflite", model)
    assert_it_follows_the_model(here, generator, model)
    # one runtime for both networks, with the project's flags
    commands = (here.build / "build.ninja").read_text() if generator == "Ninja" else ""
    assert commands.count("crt/src/instance.c.obj: C_COMPILER") == (generator == "Ninja")

    (here.source / "extra.c").write_text(
        "double f(double x);\ndouble f(double x) { return x * x; }"
    )
    with (here.source / "CMakeLists.txt").open("a") as lists:
        lists.write(
            "target_sources(firmware PRIVATE extra.c)\n"
            'set_source_files_properties(extra.c PROPERTIES COMPILE_OPTIONS "-mfpu=fpv5-d16")\n'
        )
    done = here.run("cmake", "--build", here.build)
    assert done.returncode != 0 and NETWORK not in done.stdout
    assert "in f is VMUL.F64, which needs an FPU with double precision; cortex-m4" in done.stdout


_ON_HOST = """\
cmake_minimum_required(VERSION 3.20)
project(on_host LANGUAGES C)
include(CheckPIESupported)
check_pie_supported() # where it is asked for, CMake then says -pie itself
find_package(mcu_deploy REQUIRED)
mcu_deploy_add_network(sine MODEL sine.tflite BOARD host)
add_library(around STATIC around.c)
target_link_libraries(around PRIVATE sine)
add_executable(plain main.c)
target_link_libraries(plain PRIVATE around)
add_executable(pie around.c main.c)
target_link_libraries(pie PRIVATE sine)
set_target_properties(pie PROPERTIES POSITION_INDEPENDENT_CODE ON)
mcu_deploy_check(pie)
"""
_AROUND = """\
#include "network_sine.h"
#include "mcu/runtime.h"
const char *name(void);
const char *name(void) { return mcu_network_sine->run_func ? mcu_network_sine->name : ""; }
"""
_MAIN = """\
#include <stdio.h>
const char *name(void);
int main(void) { return puts(name()) < 0; }
"""


@pytest.mark.matrix
@pytest.mark.needs_host_gcc
def test_a_program_of_this_machine(here: Project) -> None:
    """Where gcc makes position-independent programs by itself, and where they are asked for."""
    (here.source / "CMakeLists.txt").write_text(_ON_HOST)
    (here.source / "around.c").write_text(_AROUND)
    (here.source / "main.c").write_text(_MAIN)
    folder = here.run("mcu-deploy", "cmake-dir").stdout.strip()
    done = here.run("cmake", "-S", here.source, "-B", here.build, f"-Dmcu_deploy_DIR={folder}")
    assert done.returncode == 0, done.stderr
    assert here.make() == ["sine"]
    for program in ("plain", "pie"):
        assert here.run(here.build / program).stdout == "sine\n"


_LARGER = """\
cmake_minimum_required(VERSION 3.20)
project(larger LANGUAGES C CXX)
find_package(mcu_deploy 0.1 REQUIRED)
add_compile_options(-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -O2
  -Wall -Wextra -Wpedantic -Wconversion -Werror $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
add_link_options(-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard
  -nostartfiles --specs=nano.specs -T "${CMAKE_CURRENT_SOURCE_DIR}/mps2-an386.ld")
foreach(scope PUBLIC PRIVATE)
  add_library(library_${scope} STATIC main.c)
  target_link_libraries(library_${scope} ${scope} kws sine_of_ours)
  add_executable(${scope} startup.c)
  target_link_libraries(${scope} PRIVATE library_${scope})
  mcu_deploy_check(${scope})
endforeach()
add_executable(cpp main.cpp startup.c)
target_link_libraries(cpp PRIVATE kws mcu_deploy::arena)
set_target_properties(cpp PROPERTIES LINKER_LANGUAGE C) # which needs no libstdc++
mcu_deploy_check(cpp)
add_subdirectory(networks)
"""
_NETWORKS = """\
mcu_deploy_add_network(kws MODEL ../sine.tflite BOARD mps2-an386)
mcu_deploy_add_network(sine_of_ours NAME sine MODEL ../sine.tflite BOARD mps2-an386
  OPTIONS --memory compact)
"""
_CPP = """\
#include "mcu/runtime.hpp"
#include "network_kws.h"
extern "C" int main(void);
static mcu::Workspace<MCU_KWS_WORKSPACE_SIZE, MCU_KWS_WORKSPACE_ALIGNMENT> workspace;
static mcu::StaticInstance kws;
int main(void) { return kws.init(mcu_network_kws, workspace) == MCU_OK ? 42 : 5; }
"""


@pytest.mark.matrix
@pytest.mark.needs_qemu
@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_libraries_folders_and_cpp(here: Project, generator: str) -> None:
    """Networks for a board, of another folder, through static libraries, strictly, and in C++."""
    (here.source / "networks").mkdir()
    (here.source / "CMakeLists.txt").write_text(_LARGER)
    (here.source / "networks" / "CMakeLists.txt").write_text(_NETWORKS)
    (here.source / "main.cpp").write_text(_CPP)
    done = here.configure("-G", generator)
    assert done.returncode == 0, done.stderr
    assert here.make() == ["kws", "sine"]
    for scope in ("PUBLIC", "PRIVATE"):
        said = programs.run_on_cortex_m4(here.build / scope)
        assert said == (0, printed_by(EXAMPLE / "sine.tflite"))
    assert programs.run_on_cortex_m4(here.build / "cpp") == (42, "")
    assert here.make() == []


@pytest.mark.matrix
@pytest.mark.needs_qemu
@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_from_a_wheel(generator: str, repository: Path, tmp_path: Path) -> None:
    """In a new environment, which sees this one's packages; then with the next version."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(repository)],
        capture_output=True, text=True, check=False, env={**os.environ, "PIP_RETRIES": "1"},
    )  # fmt: skip
    if re.search("no matching distribution|could not find", done.stdout + done.stderr, re.I):
        pytest.skip("pip could not download hatchling, which builds the wheel; check the network")
    assert done.returncode == 0, done.stderr
    environment = tmp_path / "environment"
    programs.run([sys.executable, "-m", "venv", "--without-pip", environment])
    (site,) = environment.glob("lib/python3*/site-packages")
    packages = [path for path in sys.path if path.endswith("site-packages")]
    (site / "packages.pth").write_text("\n".join(packages) + "\n")
    (wheel,) = tmp_path.glob("*.whl")
    python = str(environment / "bin" / "python")
    programs.run([*pip, "--python", python, "install", "--no-deps", wheel])

    made = project(tmp_path, environment / "bin")
    folder = made.run("mcu-deploy", "cmake-dir").stdout.strip()
    assert Path(folder) == site / "mcu_deploy" / "_data" / "cmake" / "package"
    model = tmp_path / "kws.onnx"
    shutil.copy(KWS, model)
    assert_it_follows_the_model(made, generator, model)
    assert str(repository) not in (made.build / "CMakeCache.txt").read_text()

    version = site / "mcu_deploy" / "version.py"
    version.write_text('VERSION = "99.0.1"\n')
    assert made.make() == ["kws", "sine"]
    assert made.make() == []


@pytest.mark.parametrize(
    ("call", "said"),
    first(
        [
            ("kws CORE cortex-m4", "which model? Give MODEL and a file"),
            ("kws MODEL a.onnx", "give BOARD or CORE, and not both"),
            ("kws MODEL a.onnx BOARD host CORE cortex-m4", "give BOARD or CORE, and not both"),
            ("kws MODEL a.onnx BOARD host FPU fpv5-d16", "FPU and CFLAGS are for CORE"),
            ("kws MODEL a.onnx CORE cortex-m4 SIZE", "not understood, or lack a value: SIZE"),
            ("kws MODEL a.onnx CORE cortex-m4", "Correct MODEL; where the build makes this file"),
            ("kws MODEL a.onnx DEPENDS x CORE cortex-m4", "Add C to the LANGUAGES of the project"),
        ],
        2,
    ),
)
def test_a_wrong_call_is_a_sentence(here: Project, call: str, said: str) -> None:
    (here.source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(wrong LANGUAGES NONE)\n"
        f"find_package(mcu_deploy REQUIRED)\nmcu_deploy_add_network({call})\n"
    )
    done = here.run(
        "cmake", "-S", here.source, "-B", here.build, f"-Dmcu_deploy_DIR={resources.cmake()}"
    )
    assert done.returncode != 0
    assert said in " ".join(done.stderr.split())


def test_two_networks_of_one_name_are_refused(here: Project) -> None:
    (here.source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(wrong LANGUAGES C)\n"
        "find_package(mcu_deploy REQUIRED)\nadd_executable(firmware main.c)\n"
        "mcu_deploy_add_network(kws MODEL sine.tflite CORE cortex-m4)\n"
        "mcu_deploy_add_network(sine MODEL sine.tflite NAME kws CORE cortex-m4)\n"
        "target_link_libraries(firmware PRIVATE kws sine)\nmcu_deploy_check(firmware)\n"
    )
    done = here.configure()
    assert done.returncode != 0
    assert "two of its networks are called kws." in " ".join(done.stderr.split())


def test_what_a_build_depends_on(tmp_path: Path) -> None:
    data = numpy_helper.from_array(np.arange(400, dtype=np.float32), "w")
    node = helper.make_node("Add", ["x", "w"], ["y"])
    value = [helper.make_tensor_value_info(name, 1, [400]) for name in "xy"]
    graph = helper.make_graph([node], "g", value[:1], value[1:], [data])
    path = tmp_path / "m.onnx"
    onnx.save(
        helper.make_model(graph), path, save_as_external_data=True, location="m.data",
        size_threshold=0,
    )  # fmt: skip
    assert formats.data_files(path) == (tmp_path / "m.data",)
    assert formats.data_files(EXAMPLE / "sine.tflite") == ()
    assert _listed([Path("/a b/c#d/$e")]) == "/a\\ b/c\\#d/$$e"
