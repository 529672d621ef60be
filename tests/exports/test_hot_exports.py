"""Kernels that run from RAM (--hot-code) in programs with linker scripts of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import export_programs as programs
import pytest
from sampling import first

from mcu_deploy.api.exporting import collect, export
from mcu_deploy.api.folder import open_objects
from mcu_deploy.elf.reader import load_elf
from mcu_deploy.exports import parts
from mcu_deploy.exports.package import About

pytestmark = [pytest.mark.needs_arm_gcc]

RAM = range(0x2000_0000, 0x2040_0000)
MAIN = """
#include <stdio.h>
int hot_example(void);
int main(void);
int main(void) {
    return hot_example() ? 0 : 1;
}
"""


def _linked(folder: Path, sources: list[Path], repository: Path, *flags: str, ram: str) -> Path:
    """A program with a linker script whose .data has `ram` in it, as makers' scripts have it."""
    board = programs.board_files(folder / "board", repository)
    script = folder / "board/board.ld"
    text = script.read_text()
    assert "*(.data*)" in text
    script.write_text(text.replace("*(.data*)", f"*(.data*) {ram}"))
    command = ["arm-none-eabi-gcc", *programs.CORE, *flags, "-O2", "-Wall", "-Wextra", "-Werror"]
    command += ["-ffunction-sections", "-nostartfiles", "--specs=nano.specs", "--specs=nosys.specs"]
    done = subprocess.run(
        [*command, "-I", folder / "board", *sources, *board, "-lm", "-Wl,--gc-sections",
         "-T", script, "-o", folder / "program.elf"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "program.elf"


def _kernels(image: Path) -> dict[str, int]:
    """The kernels of the network and their addresses."""
    symbols = load_elf(image).symbols
    return {s.name: s.value for s in symbols if "_hot_" in s.name and s.name.endswith("_dsp")}


def test_a_network_without_such_kernels_has_no_section(sine: Path) -> None:
    exported = collect(open_objects(sine), About().package("sine"))
    (source,) = parts.network_sources(exported, ".RamFunc", "why").values()
    assert b".RamFunc" not in source


@pytest.mark.needs_qemu
def test_st_s_scripts_take_them_as_they_are(tmp_path: Path, hot: Path, repository: Path) -> None:
    export(hot, "cubeide", tmp_path / "exported")
    (tmp_path / "main.c").write_text(MAIN)
    sources = [tmp_path / "main.c", *(tmp_path / "exported").rglob("*.c")]
    flags = ("-I", str(tmp_path / "exported/Inc"))
    image = _linked(tmp_path, sources, repository, *flags, ram="*(.RamFunc) *(.RamFunc*)")
    kernels = _kernels(image)
    assert kernels and all(address in RAM for address in kernels.values())
    code, said = programs.run(image)
    assert code == 0 and said.startswith("hot: 1 of 1 values as expected")
    assert "section `.RamFunc`" in (tmp_path / "exported/README.md").read_text()


@pytest.mark.needs_qemu
@pytest.mark.parametrize("section", first([".RamFunc", ".text.mcu_hot"]))
def test_a_section_of_the_project_s_own_is_a_definition(
    section: str, tmp_path: Path, hot: Path, repository: Path
) -> None:
    """Without one a script that knows nothing of them has them beside all other code."""
    export(hot, "cmake", tmp_path / "hot")
    sources = [*(tmp_path / "hot/src").rglob("*.c"), tmp_path / "hot/example/main.c"]
    flags = ["-I", str(tmp_path / "hot/include"), "-I", str(tmp_path / "hot/example")]
    if section != ".text.mcu_hot":
        flags.append(f'-DMCU_HOT_SECTION="{section}"')
    image = _linked(tmp_path, sources, repository, *flags, ram="*(.RamFunc*)")
    kernels = _kernels(image)
    assert kernels
    assert {address in RAM for address in kernels.values()} == {section == ".RamFunc"}
    code, said = programs.run(image)
    assert code == 0 and said.startswith("hot: 1 of 1 values as expected")
    assert "MCU_HOT_SECTION" in (tmp_path / "hot/README.md").read_text()
