"""The exported folders in projects with the makefiles that STM32CubeIDE and CubeMX generate.

Their form is that of Debug/makefile, Debug/Core/Src/subdir.mk and Makefile, as they are in public
projects (GNU Tools for STM32 10.3 to 14.3).
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import export_programs as programs
import pytest

from mcu_deploy.api.exporting import export

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]

# With two exports, each of which brings the runtime.
MAIN = """
int sine_example(void);
int other_example(void);
int main(void);
int main(void) {
    return sine_example() & other_example() ? 0 : 1;
}
"""
LINK = "-nostartfiles --specs=nosys.specs --specs=nano.specs -Wl,--gc-sections -T{script}"

# Of one folder of sources. `{core}` has the flags at the places where the IDE has them.
SUBDIR = """
C_SRCS += \\
{sources}

OBJS += \\
{objects}

{folder}/%.o {folder}/%.su: ../{folder}/%.c {folder}/subdir.mk
\tarm-none-eabi-gcc "$<" -std=gnu11 -g3 -DDEBUG -c -I../Core/Inc -O0 -ffunction-sections \
-fdata-sections -Wall -Wextra -Werror -fstack-usage -MMD -MP -MF"$(@:%.o=%.d)" \
-MT"$@" --specs=nano.specs {core} -o "$@"
"""
MAKEFILE = """
{includes}

all: main-build
main-build: program.elf
program.elf: $(OBJS)
\tarm-none-eabi-gcc -o "program.elf" @"objects.list" {core} {link} -static \
-Wl,--start-group -lc -lm -Wl,--end-group
"""

# CubeMX's: all objects in one folder.
CUBEMX = """
BUILD_DIR = build
C_SOURCES =  \\
Core/Src/main.c \\
Core/Src/sine_example.c \\
Core/Src/other_example.c \\
Core/Src/startup.c \\
Core/Src/syscalls.c

include sine.mk
include other.mk

OBJECTS = $(addprefix $(BUILD_DIR)/,$(notdir $(C_SOURCES:.c=.o)))
vpath %.c $(sort $(dir $(C_SOURCES)))

all: $(BUILD_DIR)/program.elf
$(BUILD_DIR)/%.o: %.c Makefile | $(BUILD_DIR)
\tarm-none-eabi-gcc -c {core} -ICore/Inc -Og -Wall -fdata-sections -ffunction-sections $< -o $@
$(BUILD_DIR)/program.elf: $(OBJECTS) Makefile
\tarm-none-eabi-gcc $(OBJECTS) {core} {link} -lc -lm -o $@
$(BUILD_DIR):
\tmkdir $@
"""


@pytest.fixture
def project(tmp_path: Path, sine: Path, other: Path, quarter: Path, repository: Path) -> Path:
    """A project with a program of its own, into which the folders of two exports were copied."""
    core = tmp_path / "Core"
    programs.board_files(core / "Src", repository)
    (core / "Src/main.c").write_text(MAIN)
    for build in (sine, other):
        exported = tmp_path / "exported" / build.name
        export(build, "cubeide", exported, data=quarter)
        shutil.copytree(exported / "Src", core / "Src", dirs_exist_ok=True)
        shutil.copytree(exported / "Inc", core / "Inc", dirs_exist_ok=True)
        shutil.copytree(exported / "Example", core / "Src", dirs_exist_ok=True)
    return tmp_path


def make(folder: Path) -> None:
    done = subprocess.run(["make", "-j2", "all"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def check(image: Path) -> None:
    said = "".join(f"{n}: 1 of 1 values as expected, value 126\n" for n in ("sine", "other"))
    assert programs.run(image) == (0, said)


def test_stm32cubeide_s_makefile_takes_the_folders(project: Path) -> None:
    debug = project / "Debug"
    core, link = " ".join(programs.CORE), LINK.format(script="../Core/Src/board.ld")
    includes, objects = [], []
    for folder in sorted({source.parent for source in (project / "Core").rglob("*.c")}):
        name = folder.relative_to(project).as_posix()
        stems = [f"{name}/{source.stem}" for source in sorted(folder.glob("*.c"))]
        text = SUBDIR.format(
            folder=name, core=core,
            sources=" \\\n".join(f"../{stem}.c" for stem in stems),
            objects=" \\\n".join(f"./{stem}.o" for stem in stems),
        )  # fmt: skip
        (debug / name).mkdir(parents=True)
        (debug / name / "subdir.mk").write_text(text)
        includes.append(f"-include {name}/subdir.mk")
        objects += [f'"./{stem}.o"' for stem in stems]
    (debug / "objects.list").write_text("\n".join(objects))
    text = MAKEFILE.format(includes="\n".join(includes), core=core, link=link)
    (debug / "makefile").write_text(text)
    make(debug)
    check(debug / "program.elf")


@pytest.mark.matrix
def test_cubemx_s_makefile_takes_the_list(project: Path) -> None:
    link = LINK.format(script="Core/Src/board.ld")
    text = CUBEMX.format(core=" ".join(programs.CORE), link=link)
    (project / "Makefile").write_text(text)
    for name in ("sine", "other"):
        shutil.copy(project / f"exported/{name}/{name}.mk", project)
    make(project)
    check(project / "build/program.elf")
