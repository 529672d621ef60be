"""The exported PlatformIO library: its manifest, and its project, built by PlatformIO.

PlatformIO gets compilers and build scripts from a registry of its own. Here a platform of the test
stands for those, with the compiler of the distribution and the board of the Arduino test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import export_programs as programs
import pytest

from mcu_deploy.api.exporting import export

CORE = Path(__file__).parent / "arduino_board/cores/arduino"

# The manifest by PlatformIO's own schema. Whether a licence has that name it asks of a server.
CHECK = """
import sys
from platformio.package.manifest.parser import ManifestParserFactory
from platformio.package.manifest.schema import ManifestSchema
manifest = ManifestParserFactory.new_from_file(sys.argv[1]).as_dict()
ManifestSchema(exclude=["license"]).load_manifest(manifest)
"""
# Where the build system is that PlatformIO starts, and as which package it looks for it.
SCONS = """
import json, SCons
from pathlib import Path
from platformio.dependencies import get_core_dependencies
print(json.dumps([str(Path(SCons.__file__).parent), get_core_dependencies()["tool-scons"]]))
"""
START = """
import sys
sys.path.insert(0, {folder!r})
from SCons.Script import main
main()
"""
PLATFORM = {
    "name": "emulated",
    "title": "Emulated boards",
    "version": "1.0.0",
    "frameworks": {"arduino": {"script": "builder/arduino.py"}},
    "packages": {},
}
BOARD = {
    "name": "Emulated Cortex-M4",
    "vendor": "none",
    "url": "https://example.com/",
    "frameworks": ["arduino"],
    "build": {"cpu": "cortex-m4", "mcu": "m4"},
    "upload": {"maximum_size": 4194304, "maximum_ram_size": 4194304},
}
MAIN = """
from SCons.Script import AlwaysBuild, Default, DefaultEnvironment
env = DefaultEnvironment()
env.Replace(
    AR="arm-none-eabi-gcc-ar", CC="arm-none-eabi-gcc", CXX="arm-none-eabi-g++",
    LINK="arm-none-eabi-gcc", RANLIB="arm-none-eabi-gcc-ranlib",
    PROGNAME="firmware", PROGSUFFIX=".elf",
)
env.Append(
    CCFLAGS=[*{core}, "-Os", "-Wall", "-Wextra", "-Werror"],
    CXXFLAGS=["-fno-exceptions"],
    LINKFLAGS=[*{core}, "-nostartfiles", "--specs=nano.specs", "--specs=nosys.specs"],
)
Default(AlwaysBuild(env.Alias("buildprog", env.BuildProgram())))
"""
ARDUINO = """
from SCons.Script import DefaultEnvironment
env = DefaultEnvironment()
env.Append(CPPPATH=[{core!r}], LINKFLAGS=["-T", {core!r} + "/board.ld"])
env.BuildSources("$BUILD_DIR/core", {core!r})
"""


def test_the_manifest_names_what_is_there(tmp_path: Path, sine: Path) -> None:
    export(sine, "platformio", tmp_path / "sine")
    manifest = json.loads((tmp_path / "sine/library.json").read_text())
    assert {"name", "version"} <= set(manifest)
    assert all((tmp_path / "sine/include" / header).is_file() for header in manifest["headers"])
    for example in manifest["examples"]:
        base = tmp_path / "sine" / example["base"]
        assert all((base / file).is_file() for file in example["files"])


def pio(*arguments: str | Path, core: Path, cwd: Path) -> str:
    """Runs a program of the environment that PlatformIO is in; what it printed."""
    environment = os.environ | {
        "PLATFORMIO_CORE_DIR": str(core),
        "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "no",
        "PLATFORMIO_SETTING_CHECK_PLATFORMIO_INTERVAL": "365",
    }
    done = subprocess.run(arguments, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.matrix
@pytest.mark.needs_platformio
@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_platformio_builds_the_project_and_it_answers(
    tmp_path: Path, sine: Path, other: Path, quarter: Path, repository: Path
) -> None:
    """With a second library of the kind, which brings the runtime too."""
    program = shutil.which("pio")
    assert program is not None
    python = Path(program).with_name("python")
    home = tmp_path / "core"
    export(sine, "platformio", tmp_path / "sine", data=quarter, author="Me <me@acme.com>")
    export(other, "platformio", tmp_path / "other")
    pio(python, "-c", CHECK, tmp_path / "sine/library.json", core=home, cwd=tmp_path)

    scons, version = json.loads(pio(python, "-c", SCONS, core=home, cwd=tmp_path))
    package = {"type": "tool", "name": "tool-scons", "version": version.removeprefix("~")}
    spec = {"owner": "platformio", "id": None, "name": "tool-scons", "uri": None}
    tool = home / "packages/tool-scons"
    tool.mkdir(parents=True)
    (tool / "scons.py").write_text(START.format(folder=str(Path(scons).parent)))
    (tool / "package.json").write_text(json.dumps(package))
    (tool / ".piopm").write_text(json.dumps(package | {"spec": spec | {"requirements": None}}))

    platform, arduino = tmp_path / "platform", tmp_path / "arduino"
    (platform / "boards").mkdir(parents=True)
    (platform / "builder").mkdir()
    (platform / "platform.json").write_text(json.dumps(PLATFORM))
    (platform / "boards/m4.json").write_text(json.dumps(BOARD))
    (platform / "builder/main.py").write_text(MAIN.format(core=programs.CORE))
    (platform / "builder/arduino.py").write_text(ARDUINO.format(core=str(arduino)))
    shutil.copytree(CORE, arduino)
    programs.board_files(arduino, repository)

    project = tmp_path / "sine/examples/run_sample"
    ini = (project / "platformio.ini").read_text()
    ini = ini.replace("platform = ststm32", f"platform = symlink://{platform}")
    ini += f"    symlink://{tmp_path / 'other'}\n"
    source = project / "src/main.cpp"
    text = source.read_text().replace("void loop() {", "void loop() {" + programs.RUN_OTHER)
    source.write_text('#include "network_other.h"\n' + text)
    (project / "platformio.ini").write_text(ini.replace("board = nucleo_f401re", "board = m4"))
    pio(program, "run", core=home, cwd=project)
    (image,) = (project / ".pio/build").rglob("firmware.elf")
    answers = "".join(f"{n}: 1 of 1 values as expected, value 126\n" for n in ("other", "sine"))
    assert programs.run(image) == (0, answers)
